//! One request through the door with a secret in its head.
//!
//! The program speaks plain HTTP to a listener in the cell. Its head is taken apart and written
//! anew, with the secret in it, and goes to the one host that the secret is for. A connection
//! carries one request; whatever follows it goes out as it is, with no secret.

use zeroize::Zeroizing;

use super::authorization::Authorization;

/// Where clients of some services put their key instead.
const KEY_FIELDS: [&str; 4] = ["x-api-key", "x-goog-api-key", "api-key", "private-token"];
/// Of the connection, of who is asked, or of what the engine says itself. A compressed answer could
/// not be looked through.
const DROPPED: [&str; 11] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "authorization",
    "proxy-authorization",
    "host",
    "upgrade",
    "te",
    "trailer",
    "accept-encoding",
    "http2-settings",
];
/// These give the head back to whoever asked.
const REFUSED_METHODS: [&str; 2] = ["TRACE", "TRACK"];

/// Other versions are not spoken, and who takes a near one for one of these may read it otherwise.
const VERSIONS: [&str; 2] = ["HTTP/1.1", "HTTP/1.0"];

/// The head of a request as the host gets it, or why there is none.
pub(super) fn rewritten(
    head: &str,
    authorization: &Authorization,
) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let text = head.strip_suffix("\r\n\r\n").ok_or("the head of a request does not end")?;
    let mut lines = text.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let [method, target, version] =
        line.split(' ').collect::<Vec<_>>().try_into().map_err(|_| "this is no request of HTTP")?;
    if !VERSIONS.contains(&version) || !is_token(method) {
        return Err("this is no request of HTTP; TLS is spoken by ao, not by the program");
    }
    if method == "CONNECT" {
        return Err(
            "a tunnel cannot be given a header; ask for http:// instead, ao speaks TLS itself",
        );
    }
    if REFUSED_METHODS.iter().any(|refused| method.eq_ignore_ascii_case(refused)) {
        return Err("this method would give the header back");
    }
    let target = path_of(target).ok_or("the target is no path")?;
    let value = authorization.value.bytes();
    let secret = authorization.secret.bytes();
    let mut fields = String::new();
    // Where the program put the placeholder, if that is a place for a key.
    let mut key_field = None;
    let mut lengths = 0;
    for field in lines {
        let (name, content) = field.split_once(':').ok_or("a line of the head is no field")?;
        let is_clean = content.chars().all(|letter| letter == '\t' || !letter.is_control());
        if !is_token(name) || !is_clean {
            return Err("a line of the head is no field");
        }
        let is = |other: &&str| name.eq_ignore_ascii_case(other);
        if is(&"content-length") {
            lengths += 1;
            if content.trim().is_empty()
                || !content.trim().bytes().all(|byte| byte.is_ascii_digit())
            {
                return Err("the length of the body is no number");
            }
        } else if is(&"transfer-encoding") {
            lengths += 1;
            if !content.trim().eq_ignore_ascii_case("chunked") {
                return Err("only chunks are a way to send a body");
            }
        }
        if let Some(place) = KEY_FIELDS.iter().find(|place| is(place))
            && content.trim() == authorization.placeholder
        {
            key_field = Some(*place);
        } else if !DROPPED.iter().any(is) {
            fields.push_str(field);
            fields.push_str("\r\n");
        }
    }
    if lengths > 1 {
        // Hosts behind one another may disagree, and take the next head with the secret for a body.
        return Err("the head says more than once where the body ends");
    }
    let start = format!("{method} {target} {version}\r\nHost: {}\r\n{fields}", host(authorization));
    let end = "Accept-Encoding: identity\r\nConnection: close\r\n\r\n";
    let (name, value) = match key_field {
        Some(name) => (name, secret),
        None => ("Authorization", value),
    };
    // Room for all of it at once: a buffer that grows leaves copies behind.
    let room = start.len() + name.len() + value.len() + end.len() + 4;
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    for part in [start.as_bytes(), name.as_bytes(), b": ", value, b"\r\n", end.as_bytes()] {
        bytes.extend_from_slice(part);
    }
    Ok(bytes)
}

/// As clients write it: the port only where it is not the usual one.
fn host(authorization: &Authorization) -> String {
    const TLS_PORT: u16 = 443;
    let grant = &authorization.grant;
    let whole = grant.to_string();
    match whole.rsplit_once(':') {
        Some((host, _)) if grant.port == TLS_PORT => host.to_owned(),
        _ => whole,
    }
}

/// Where the host is named in the target, its path.
fn path_of(target: &str) -> Option<&str> {
    const PLAIN: &str = "http://";
    let path = match target.strip_prefix(PLAIN) {
        Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => target,
    };
    let is_clean = path.bytes().all(|byte| byte.is_ascii_graphic());
    (path.starts_with('/') && is_clean).then_some(path)
}

fn is_token(text: &str) -> bool {
    let is_one = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(head: &str) -> Result<String, &'static str> {
        let grant = "127.0.0.1:8080".parse().unwrap();
        let authorization = Authorization::new(
            grant,
            "vault://KEY".into(),
            b"s3cret-s3cret",
            |_| Vec::new(),
            Vec::new,
        )
        .unwrap();
        rewritten(head, &authorization).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[test]
    fn the_head_is_written_anew() {
        let head = "POST /v1/x?y HTTP/1.1\r\nHost: 127.0.0.1:20001\r\nAuthorization: Bearer vault://KEY\r\n\
                    Accept-Encoding: gzip\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(
            rewrite(head).unwrap(),
            "POST /v1/x?y HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 3\r\n\
             Authorization: Bearer s3cret-s3cret\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n"
        );
        let through_proxy = rewrite("GET http://127.0.0.1:8080 HTTP/1.1\r\n\r\n").unwrap();
        assert!(through_proxy.starts_with("GET / HTTP/1.1\r\n"), "{through_proxy}");
        let keyed = rewrite("GET / HTTP/1.1\r\nX-Api-Key: vault://KEY\r\n\r\n").unwrap();
        assert!(keyed.contains("x-api-key: s3cret-s3cret\r\n"), "{keyed}");
        assert!(!keyed.contains("Authorization") && !keyed.contains("vault://"), "{keyed}");
        // Elsewhere a placeholder stays one.
        let elsewhere = rewrite("GET / HTTP/1.1\r\nUser-Agent: vault://KEY\r\n\r\n").unwrap();
        assert!(elsewhere.contains("User-Agent: vault://KEY\r\n"), "{elsewhere}");
    }

    #[test]
    fn what_is_not_plainly_a_request_is_refused() {
        for bad in [
            "TRACE / HTTP/1.1\r\n\r\n",
            "trace / HTTP/1.1\r\n\r\n",
            "CONNECT a:443 HTTP/1.1\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "GET x HTTP/1.1\r\n\r\n",
            "GET https://a/ HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\n folded\r\n\r\n",
            "GET / HTTP/1.1\r\nAuthorization: x\r\n more: y\r\n\r\n",
            "GET / HTTP/1.1\r\nName : x\r\n\r\n",
            "GET / HTTP/1.1\r\nA: b\nAuthorization: c\r\n\r\n",
            "GET / HTTP/1.1\r\nA: b\rB: c\r\n\r\n",
            "GET / HTTP/1.1\r\nnothing\r\n\r\n",
            "\u{16}\u{3}\u{1}\r\n\r\n",
            "GET / HTTP/1.1\r\n",
            "GET / HTTP/1.1x\r\n\r\n",
            "GET / HTTP/1.\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\ncontent-length: 6\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
        ] {
            assert!(rewrite(bad).is_err(), "{bad:?}");
        }
    }
}
