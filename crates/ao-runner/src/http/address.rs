//! Where a runner listens.

use std::fmt;
use std::str::FromStr;

use ao_guard::cell::Grant;

use crate::endpoint::{Endpoint, Wire};

const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;
const TEXT_BYTES_MAX: usize = 2048;

/// A scheme, one host and one port, and what stands before every path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub scheme: Scheme,
    pub place: Grant,
    /// Empty, or begins with a slash and does not end with one.
    pub base: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

/// What was taken for an address is not repeated: a key may have been typed into it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no endpoint, such as https://host/v1: {0}")]
pub struct BadAddress(pub &'static str);

impl From<Endpoint> for Address {
    fn from(endpoint: Endpoint) -> Self {
        let scheme = match endpoint.wire {
            Wire::Plain => Scheme::Http,
            Wire::Tls => Scheme::Https,
        };
        Self { scheme, place: endpoint.grant, base: endpoint.path }
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let text = text.trim();
        if text.len() > TEXT_BYTES_MAX {
            return Err(BadAddress("it is too long"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) || text.contains('\\') {
            return Err(BadAddress("it holds what an address cannot"));
        }
        let (scheme, rest) = text.split_once("://").ok_or(BadAddress("it names no scheme"))?;
        let (scheme, port) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Scheme::Http, HTTP_PORT),
            "https" => (Scheme::Https, HTTPS_PORT),
            _ => return Err(BadAddress("its scheme is neither http nor https")),
        };
        if rest.contains(['?', '#']) {
            return Err(BadAddress("it holds a question or a fragment"));
        }
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err(BadAddress("a name or a key stands before its host; keep it in the vault"));
        }
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
        let place = if has_port { authority.to_owned() } else { format!("{authority}:{port}") };
        let place =
            place.parse().map_err(|_| BadAddress("it has no host, or no port that can be"))?;
        if path.split('/').any(|part| part == "." || part == "..") {
            return Err(BadAddress("its path goes up"));
        }
        Ok(Self { scheme, place, base: path.trim_end_matches('/').to_owned() })
    }
}

impl Address {
    /// As the header `Host` has it.
    pub(super) fn host(&self) -> String {
        let usual = match self.scheme {
            Scheme::Http => HTTP_PORT,
            Scheme::Https => HTTPS_PORT,
        };
        let whole = self.place.to_string();
        if self.place.port == usual {
            whole.rsplit_once(':').map_or(whole.clone(), |(host, _)| host.to_owned())
        } else {
            whole
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}{}", self.host(), self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_host_and_one_port() {
        for (text, host, port, base) in [
            ("http://127.0.0.1:11434", "127.0.0.1", 11434, ""),
            ("https://API.example/v1/", "api.example", 443, "/v1"),
            ("http://[::1]/a/b", "::1", 80, "/a/b"),
            ("http://[::1]:8080", "::1", 8080, ""),
            (" http://localhost ", "localhost", 80, ""),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!((address.place.host.as_str(), address.place.port), (host, port), "{text}");
            assert_eq!(address.base, base, "{text}");
            assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
        }
        for bad in [
            "",
            "127.0.0.1:11434",
            "ftp://a.example",
            "http://",
            "http:///v1",
            "http://a.example:0",
            "http://a.example:",
            "http://user:key@a.example",
            "http://a.example/v1?key=x",
            "http://a.example/#x",
            "http://a.example/../v1",
            "http://a.ex ample",
            "http://a.example/\r\nX: y",
            "http://a.example\\@b.example",
            "http://*/",
            "http://é.example",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad:?}");
        }
    }
}
