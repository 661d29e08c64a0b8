//! What may be reached through the network door.

use std::fmt;
use std::str::FromStr;

const NAME_BYTES_MAX: usize = 253;

/// One host and one port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub host: String,
    pub port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not HOST:PORT: {why}")]
pub struct BadGrant {
    pub text: String,
    pub why: &'static str,
}

impl FromStr for Grant {
    type Err = BadGrant;

    fn from_str(text: &str) -> Result<Self, BadGrant> {
        let bad = |why| BadGrant { text: text.to_owned(), why };
        let (host, port) = text.rsplit_once(':').ok_or_else(|| bad("there is no port"))?;
        let port = port
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| port.parse::<u16>().ok())
            .flatten()
            .filter(|port| *port != 0)
            .ok_or_else(|| bad("the port is not a number from 1 to 65535"))?;
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inner) => inner
                .parse::<std::net::Ipv6Addr>()
                .map_err(|_| bad("this is no address"))?
                .to_string(),
            None => name(host).ok_or_else(|| bad("this is no name of a host"))?,
        };
        Ok(Self { host, port })
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Letters, digits, dots and hyphens; numbers alone must be an address as everybody writes it.
fn name(host: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_name = !host.is_empty()
        && host.len() <= NAME_BYTES_MAX
        && host.bytes().all(is_plain)
        && !host.starts_with(['.', '-']);
    let looks_like_number = host
        .rsplit('.')
        .next()
        .is_some_and(|last| last.starts_with(|letter: char| letter.is_ascii_digit()));
    if !is_name || (looks_like_number && host.parse::<std::net::Ipv4Addr>().is_err()) {
        return None;
    }
    Some(host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_one_host_and_one_port() {
        let grant: Grant = "API.example.com:443".parse().unwrap();
        assert_eq!((grant.host.as_str(), grant.port), ("api.example.com", 443));
        assert_eq!("[::1]:80".parse::<Grant>().unwrap().to_string(), "[::1]:80");
        for bad in [
            "host",
            "host:",
            "host:0",
            "host:65536",
            ":80",
            "a@b:80",
            "a b:80",
            "a\0b:80",
            "*:80",
            "-a:80",
            "127.1:80",
            "0x7f000001:80",
            "1:80",
            "[::1:80",
            "host:+80",
            "a/b:80",
            "é:80",
        ] {
            assert!(bad.parse::<Grant>().is_err(), "{bad}");
        }
    }
}
