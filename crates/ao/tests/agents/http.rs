//! As much of HTTP/1.1 as the agents speak: a request with a body of known length or in chunks, and an
//! answer that is streamed event by event. Each connection is for one request.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// More than any request of an agent; one that is larger is a mistake.
const BODY_MAX: u64 = 64 << 20;
const LINE_MAX: u64 = 64 << 10;

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without what follows a question mark.
    pub(crate) path: String,
    /// What came in the headers for a key.
    pub(crate) keys: Vec<String>,
    pub(crate) body: Value,
}

/// Nothing where a connection was opened and not used.
pub(crate) fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let (mut length, mut is_chunked) = (0, false);
    let mut keys = Vec::new();
    loop {
        let header = line(&mut reader)?;
        let Some((name, value)) = header.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
            "transfer-encoding" => is_chunked = value.trim().eq_ignore_ascii_case("chunked"),
            "authorization" | "x-api-key" => keys.push(value.trim().to_owned()),
            // A client that asks first waits for this.
            "expect" => (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    let mut bytes = Vec::new();
    if is_chunked {
        loop {
            let size = line(&mut reader)?;
            let size = u64::from_str_radix(size.split(';').next().unwrap_or(""), 16)
                .map_err(io::Error::other)?;
            if size == 0 {
                break;
            }
            reader.by_ref().take(size.min(BODY_MAX)).read_to_end(&mut bytes)?;
            line(&mut reader)?;
        }
    } else {
        reader.by_ref().take(length.min(BODY_MAX)).read_to_end(&mut bytes)?;
    }
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok(Some(Request { method, path, keys, body }))
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.by_ref().take(LINE_MAX).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

pub(crate) fn refuse(mut stream: &TcpStream, status: &str) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

/// An answer that is whole at once.
pub(crate) fn respond(
    mut stream: &TcpStream,
    code: u16,
    headers: &[(&'static str, String)],
    body: &Value,
) -> io::Result<()> {
    let body = body.to_string();
    let mut head = format!("HTTP/1.1 {code} Said\r\nContent-Type: application/json\r\n");
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// Each event has its type as its name, and is sent by itself.
pub(crate) fn stream(mut stream: &TcpStream, events: &[Value]) -> io::Result<()> {
    cut(stream, events)?;
    stream.write_all(b"0\r\n\r\n")
}

/// The same, without the end.
pub(crate) fn cut(mut stream: &TcpStream, events: &[Value]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
    )?;
    for event in events {
        let name = event["type"].as_str().unwrap_or_default();
        let text = format!("event: {name}\ndata: {event}\n\n");
        write!(stream, "{:x}\r\n{text}\r\n", text.len())?;
    }
    Ok(())
}
