//! Where a runner listens.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ao_guard::cell::Grant;

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
        // It is written into settings of other programs.
        if !path.chars().all(|c| c.is_ascii_alphanumeric() || "/-._~%:@".contains(c)) {
            return Err(BadAddress("its path has an odd character in it"));
        }
        if path.split('/').any(|part| part == "." || part == "..") {
            return Err(BadAddress("its path goes up"));
        }
        Ok(Self { scheme, place, base: path.trim_end_matches('/').to_owned() })
    }
}

impl Address {
    /// As an address for a program: what is in a cell speaks to this machine in the clear, by its number, and to
    /// others with TLS.
    pub(crate) fn for_program(self) -> Result<Self, BadAddress> {
        match (self.scheme, self.is_number_of_this_machine()) {
            (Scheme::Http, false) => Err(BadAddress(
                "a program speaks http:// to this machine alone, by its number (127.0.0.1)",
            )),
            (Scheme::Https, true) => {
                Err(BadAddress("a program speaks to this machine itself with http://"))
            }
            _ => Ok(self),
        }
    }

    /// Whether it names this machine. A name may lead anywhere, but for the one that is meant for this.
    pub fn is_this_machine(&self) -> bool {
        self.place.host == "localhost" || self.is_number_of_this_machine()
    }

    fn is_number_of_this_machine(&self) -> bool {
        self.place.host.parse::<IpAddr>().is_ok_and(|one| one.to_canonical().is_loopback())
    }

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
            "http://a.example/\"x",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_program_speaks_in_the_clear_to_this_machine_alone() {
        for (text, is_fit) in [
            ("https://api.example.com/v1/", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::ffff:127.0.0.1]:8080", true),
            ("http://api.example.com/v1", false),
            ("http://192.168.1.5:11434", false),
            ("http://localhost:1", false),
            ("https://127.0.0.1:1", false),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().for_program().is_ok(), is_fit, "{text}");
        }
    }

    #[test]
    fn this_machine_has_its_name_and_its_numbers() {
        for (text, is_here) in [
            ("http://localhost:1", true),
            ("http://127.9.9.9:1", true),
            ("https://[::1]", true),
            ("http://localhost.example", false),
            ("http://127.0.0.1.example", false),
            ("http://10.0.0.1", false),
            ("http://0.0.0.0", false),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().is_this_machine(), is_here, "{text}");
        }
    }
}
