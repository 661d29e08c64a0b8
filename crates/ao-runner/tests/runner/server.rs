//! A server on loopback that answers as it is told to, well or badly.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const BODY_MAX: u64 = 16 << 20;
/// Longer than any test waits.
pub(crate) const FOR_EVER: Duration = Duration::from_mins(1);

/// What came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// What is done about it.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// A whole answer: status, more fields, body.
    Reply(u16, Vec<(&'static str, String)>, String),
    /// These bytes, and the connection ends.
    Raw(Vec<u8>),
    /// The head of an answer, and then one part after another without an end.
    Endless(&'static str),
    /// Nothing at all.
    Hang,
}

pub(crate) fn json_reply(status: u16, value: &Value) -> Act {
    Act::Reply(status, vec![("Content-Type", "application/json".into())], value.to_string())
}

/// As Ollama answers.
pub(crate) fn chat(content: &str) -> Value {
    json!({
        "model": "small", "created_at": "2026-04-16T02:00:00Z", "done": true, "done_reason": "stop",
        "message": { "role": "assistant", "content": content },
        "prompt_eval_count": 100, "eval_count": 11,
    })
}

/// As a server of the other protocol answers.
pub(crate) fn completion(content: &str) -> Value {
    json!({
        "id": "c", "object": "chat.completion",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 11, "total_tokens": 111 },
    })
}

pub(crate) struct Server {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

type Does = dyn Fn(&Asked, usize) -> Act + Send + Sync;

struct Shared {
    act: Box<Does>,
    asked: Mutex<Vec<Asked>>,
    connections: AtomicU64,
    bytes: AtomicU64,
}

impl Server {
    /// `act` is told what came, and how many came before. It serves until the tests end.
    pub(crate) fn start(act: impl Fn(&Asked, usize) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            act: Box::new(act),
            asked: Mutex::default(),
            connections: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = Arc::clone(&serving);
                serving.connections.fetch_add(1, Ordering::Relaxed);
                thread::spawn(move || {
                    // A client that goes away in between is what some tests are about.
                    let _ = serving.serve(&stream);
                });
            }
        });
        Self { port, shared }
    }

    /// Always the same.
    pub(crate) fn saying(act: Act) -> Self {
        Self::start(move |_, _| act.clone())
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// How much of an endless answer went out.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        let Some(asked) = read(&mut BufReader::new(stream))? else { return Ok(()) };
        let count = {
            let mut all = self.asked.lock().unwrap();
            all.push(asked.clone());
            all.len() - 1
        };
        let mut stream = stream;
        match (self.act)(&asked, count) {
            Act::Endless(head) => {
                stream.write_all(head.as_bytes())?;
                let part = [b'x'; 0x4000];
                loop {
                    stream.write_all(b"4000\r\n")?;
                    stream.write_all(&part)?;
                    stream.write_all(b"\r\n")?;
                    self.bytes.fetch_add(part.len() as u64, Ordering::Relaxed);
                }
            }
            Act::Hang => {
                thread::sleep(FOR_EVER);
                Ok(())
            }
            act => stream.write_all(&bytes(&act)),
        }
    }
}

pub(crate) fn bytes(act: &Act) -> Vec<u8> {
    match act {
        Act::Reply(status, fields, body) => {
            let mut text = format!("HTTP/1.1 {status} Word\r\nContent-Length: {}\r\n", body.len());
            for (name, value) in fields {
                let _ = write!(text, "{name}: {value}\r\n");
            }
            (text + "\r\n" + body).into_bytes()
        }
        Act::Raw(bytes) => bytes.clone(),
        Act::Endless(_) | Act::Hang => Vec::new(),
    }
}

pub(crate) fn read(reader: &mut impl BufRead) -> io::Result<Option<Asked>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut fields = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = fields.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = Vec::new();
    reader.by_ref().take(u64::min(length, BODY_MAX)).read_to_end(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Asked { method, path, fields, body }))
}
