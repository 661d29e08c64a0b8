//! Where an API listens, as the configuration says it.

use std::net::IpAddr;
use std::str::FromStr;

use ao_guard::cell::Grant;

const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// `https://HOST[:PORT][/PATH]`, or `http://` to this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub grant: Grant,
    /// With the slash that it begins with and without one at its end; empty for none.
    pub path: String,
    pub wire: Wire,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// In the clear: to this machine alone.
    Plain,
    Tls,
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |why: &str| format!("the endpoint is not https://HOST[:PORT][/PATH]: {why}");
        let (wire, rest) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (Wire::Tls, rest),
            (None, Some(rest)) => (Wire::Plain, rest),
            (None, None) => return Err(bad("it begins with neither https:// nor http://")),
        };
        let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-._~%".contains(c);
        if !path.chars().all(is_plain) {
            return Err(bad("its path has a question or an odd character in it"));
        }
        let port = match wire {
            Wire::Plain => HTTP_PORT,
            Wire::Tls => HTTPS_PORT,
        };
        let whole = host.parse::<Grant>().or_else(|_| format!("{host}:{port}").parse());
        let grant = whole.map_err(|_| bad("this is no host"))?;
        let address = grant.host.parse::<IpAddr>();
        let is_here = address.is_ok_and(|address| address.to_canonical().is_loopback());
        match (wire, is_here) {
            (Wire::Plain, false) => {
                Err(bad("http:// is spoken to this machine alone, by its address (127.0.0.1)"))
            }
            (Wire::Tls, true) => Err(bad("this machine itself is spoken to with http://")),
            _ => Ok(Self { grant, path: path.trim_end_matches('/').to_owned(), wire }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_host_and_a_path() {
        let far: Endpoint = "https://api.example.com/v1/".parse().unwrap();
        assert_eq!(
            (far.grant.to_string().as_str(), far.path.as_str()),
            ("api.example.com:443", "/v1")
        );
        let near: Endpoint = "http://127.0.0.1:8080".parse().unwrap();
        assert_eq!((near.grant.port, near.path.as_str(), near.wire), (8080, "", Wire::Plain));
        for bad in [
            "api.example.com",
            "http://api.example.com/v1",
            "http://localhost:1",
            "https://127.0.0.1:1",
            "https://a@b/v1",
            "https://a.example/v1?x=1",
            "file:///etc/passwd",
            "https://",
        ] {
            assert!(bad.parse::<Endpoint>().is_err(), "{bad}");
        }
    }
}
