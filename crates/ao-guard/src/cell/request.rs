//! The one request that a connection to the proxy carries.

use std::io::{self, Read};
use std::net::TcpStream;

use super::grant::Grant;

const HEAD_BYTES_MAX: usize = 16 * 1024;
const CHUNK_BYTES: usize = 4 * 1024;

/// What a program asks of the proxy.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) grant: Grant,
    /// What the host is sent instead of the head, for a request that is not a tunnel.
    pub(super) forwarded_head: Option<String>,
}

impl Request {
    pub(super) fn parse(head: &str) -> Option<Self> {
        const HTTP_PORT: u16 = 80;
        let (line, fields) = head.split_once("\r\n")?;
        let [method, target, version] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        if !version.starts_with("HTTP/1.") {
            return None;
        }
        if method == "CONNECT" {
            return Some(Self { grant: target.parse().ok()?, forwarded_head: None });
        }
        let rest = target.strip_prefix("http://")?;
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, "/"),
        };
        let grant = match authority.parse() {
            Ok(grant) => grant,
            Err(_) => format!("{authority}:{HTTP_PORT}").parse().ok()?,
        };
        // The connection carries this one request: a second one could name another host.
        let kept = fields.split("\r\n").filter(|field| {
            let name = field.split(':').next().unwrap_or_default();
            !["connection", "proxy-connection", "keep-alive"]
                .iter()
                .any(|dropped| name.eq_ignore_ascii_case(dropped))
        });
        let fields: Vec<_> = kept.filter(|field| !field.is_empty()).collect();
        let mut text = format!("{method} {path} {version}\r\n");
        for field in fields {
            text.push_str(field);
            text.push_str("\r\n");
        }
        text.push_str("Connection: close\r\n\r\n");
        Some(Self { grant, forwarded_head: Some(text) })
    }
}

/// The head of a request as text, and what came after it.
pub(super) fn read_head(mut from: &TcpStream) -> io::Result<(String, Vec<u8>)> {
    const END: &[u8] = b"\r\n\r\n";
    let mut bytes = Vec::new();
    loop {
        if let Some(at) = bytes.windows(END.len()).position(|window| window == END) {
            let rest = bytes.split_off(at + END.len());
            let head = String::from_utf8(bytes).map_err(io::Error::other)?;
            return Ok((head, rest));
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut chunk = [0; CHUNK_BYTES];
        let count = from.read(&mut chunk)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&chunk[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_host_in_one_way() {
        let tunnel = Request::parse("CONNECT a.example:443 HTTP/1.1\r\nHost: b.example\r\n\r\n");
        assert_eq!(tunnel.unwrap().grant.to_string(), "a.example:443");
        let plain = Request::parse(
            "GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n",
        )
        .unwrap();
        assert_eq!(plain.grant.to_string(), "a.example:80");
        let head = plain.forwarded_head.unwrap();
        assert_eq!(head, "GET /x?y HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n");
        for bad in [
            "CONNECT a@b:443 HTTP/1.1\r\n\r\n",
            "CONNECT  a:443 HTTP/1.1\r\n\r\n",
            "GET http://u@a.example/ HTTP/1.1\r\n\r\n",
            "GET https://a.example/ HTTP/1.1\r\n\r\n",
            "CONNECT a:443\r\n\r\n",
            "nonsense",
        ] {
            assert!(Request::parse(bad).is_none(), "{bad:?}");
        }
    }
}
