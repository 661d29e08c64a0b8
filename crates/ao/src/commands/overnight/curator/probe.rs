//! Asks an Ollama which models it has. Nothing is sent to it, and no redirect is followed.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use ao_night::curator::Health;
use serde_json::Value;

const WAIT: Duration = Duration::from_secs(2);
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;
const MODELS_MAX: usize = 1000;
/// Where installations are found beside the one that is configured.
const OTHERS: [&str; 2] = ["http://127.0.0.1:11434", "http://127.0.0.1:11435"];

/// An address as a URL names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) host: String,
    port: u16,
    /// What stands before the paths of the engine.
    path: String,
}

impl Address {
    pub(super) fn of(url: &str) -> Result<Self, String> {
        let rest = url.strip_prefix("http://").ok_or("it does not begin with http://")?;
        let (authority, path) = match rest.split_once('/') {
            Some((authority, path)) => (authority, format!("/{path}")),
            None => (rest, String::new()),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        let is_path = |c: char| c.is_ascii_alphanumeric() || "/.-_~".contains(c);
        if authority.is_empty() || !authority.chars().all(is_plain) {
            return Err("its host is none".to_owned());
        }
        if !path.chars().all(is_path) {
            return Err("its path holds what a path of an engine does not".to_owned());
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or("its host is none")?;
                (host, port.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let port = match port {
            Some(port) => port.parse().map_err(|_| "its port is no number")?,
            None => 80,
        };
        if host.is_empty() {
            return Err("its host is none".to_owned());
        }
        Ok(Self { host: host.to_owned(), port, path: path.trim_end_matches('/').to_owned() })
    }
}

/// What the engine at an address says.
pub(super) fn health(url: &str) -> Health {
    let address = match Address::of(url) {
        Ok(address) => address,
        Err(why) => return Health::BadUrl(why),
    };
    let answer = match get(&address) {
        Ok(answer) => answer,
        Err(error) => return Health::Unreachable(error.to_string()),
    };
    match models(&answer) {
        Ok(models) => Health::Answers { models },
        Err(why) => Health::NotOllama(why),
    }
}

/// Another place of this machine at which an Ollama answers.
pub(super) fn elsewhere(url: &str) -> Option<&'static str> {
    let tried = Address::of(url).ok();
    OTHERS
        .into_iter()
        .filter(|other| Address::of(other).ok() != tried)
        .find(|other| matches!(health(other), Health::Answers { .. }))
}

fn get(address: &Address) -> std::io::Result<Vec<u8>> {
    let none = || std::io::Error::other("the host has no address");
    let mut places = (address.host.as_str(), address.port).to_socket_addrs()?;
    let place = places.next().ok_or_else(none)?;
    let mut stream = TcpStream::connect_timeout(&place, WAIT)?;
    stream.set_read_timeout(Some(WAIT))?;
    stream.set_write_timeout(Some(WAIT))?;
    // Version 1.0, so that the answer is in one piece and ends with the connection.
    let Address { host, port, path } = address;
    let head = format!(
        "GET {path}/api/tags HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    Ok(answer)
}

fn models(answer: &[u8]) -> Result<Vec<String>, String> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").ok_or("it does not speak HTTP")?;
    let status = head.lines().next().and_then(|line| line.split_whitespace().nth(1));
    if status != Some("200") {
        return Err(format!(
            "it answered {} to /api/tags",
            ao_tree::shown(status.unwrap_or("nothing"))
        ));
    }
    let value: Value = serde_json::from_str(body).map_err(|_| "its answer is not JSON")?;
    let models = value["models"].as_array().ok_or("its answer has no list of models")?;
    let name = |model: &Value| {
        model["name"].as_str().or_else(|| model["model"].as_str()).map(ao_tree::shown)
    };
    Ok(models.iter().take(MODELS_MAX).filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_plain_one() {
        let of = |url: &str| Address::of(url).map(|address| (address.host, address.port));
        assert_eq!(of("http://127.0.0.1:11434"), Ok(("127.0.0.1".into(), 11434)));
        assert_eq!(of("http://[::1]:11434/"), Ok(("::1".into(), 11434)));
        assert_eq!(of("http://box/base"), Ok(("box".into(), 80)));
        for bad in [
            "",
            "127.0.0.1:11434",
            "https://box",
            "http://",
            "http://a@b:1",
            "http://a:b",
            "http://a b",
            "http://a/\r\nX: y",
            "http://[::1",
            "http://:1",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
