//! The mock: an API on loopback that has an answer to everything, which is the next step of its script.
//! Which one is next it reads from the conversation that the agent sends along, as the real ones do.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::http::{self, Request};
use crate::script::{Act, Step};
use crate::{messages, responses};

/// A client that opens a connection and says nothing.
const SILENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `POST /v1/messages`
    Messages,
    /// `POST /v1/responses`
    Responses,
}

/// What came of one call of a tool, in the agent's words.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) worked: bool,
    pub(crate) text: String,
}

pub(crate) struct Mock {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    dialect: Dialect,
    says: Says,
    requests: Mutex<Vec<Request>>,
}

/// What it goes by.
enum Says {
    /// One call of a tool after the other, then that it is done.
    Steps(Vec<Step>),
    /// One reply a request; the last one is said again.
    Replies(Vec<Reply>),
}

/// What one request is answered with.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// An answer of the form that was asked for, or what passes for it.
    Answer(String),
    /// A call of a tool that the agent may not even have.
    Call(Act),
    Status {
        code: u16,
        headers: Vec<(&'static str, String)>,
        body: Value,
    },
    /// The stream begins and breaks off.
    Cut,
}

impl Mock {
    /// It serves until the tests end: a thread that waits costs nothing.
    pub(crate) fn start(dialect: Dialect, steps: Vec<Step>) -> Self {
        Self::serving(dialect, Says::Steps(steps))
    }

    pub(crate) fn replying(dialect: Dialect, replies: Vec<Reply>) -> Self {
        Self::serving(dialect, Says::Replies(replies))
    }

    fn serving(dialect: Dialect, says: Says) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { dialect, says, requests: Mutex::new(Vec::new()) });
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                thread::spawn(move || {
                    // A client that goes away in between is not our trouble.
                    let _ = server.serve(&stream);
                });
            }
        });
        Self { address, shared }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The keys that came with each request.
    pub(crate) fn keys(&self) -> Vec<Vec<String>> {
        let requests = self.shared.requests.lock().unwrap();
        requests.iter().map(|request| request.keys.clone()).collect()
    }

    /// What was asked, whole.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let requests = self.shared.requests.lock().unwrap();
        requests.iter().map(|request| request.body.clone()).collect()
    }

    /// What the agent said of its calls, in order; the longest conversation that was had.
    pub(crate) fn results(&self) -> Vec<Outcome> {
        let requests = self.shared.requests.lock().unwrap();
        let all = requests.iter().map(|request| self.shared.dialect.results(&request.body));
        all.max_by_key(Vec::len).unwrap_or_default()
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(SILENCE))?;
        let Some(request) = http::read(stream)? else { return Ok(()) };
        if request.method != "POST" || request.path != self.dialect.path() {
            // It is a proxy too, which lets nothing through.
            let status =
                if request.method == "CONNECT" { "403 Forbidden" } else { "404 Not Found" };
            return http::refuse(stream, status);
        }
        let count = self.dialect.results(&request.body).len();
        let steps = match &self.says {
            Says::Steps(steps) => steps,
            Says::Replies(replies) => return self.reply(stream, request, replies),
        };
        let step = steps.get(count).filter(|_| self.dialect.has_tools(&request.body));
        let events = match self.dialect {
            Dialect::Messages => messages::events(count, step),
            Dialect::Responses => responses::events(count, step),
        };
        self.requests.lock().unwrap().push(request);
        http::stream(stream, &events)
    }

    fn reply(
        &self,
        stream: &TcpStream,
        request: Request,
        replies: &[Reply],
    ) -> std::io::Result<()> {
        let (count, body) = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request);
            (requests.len() - 1, requests[requests.len() - 1].body.clone())
        };
        match replies.get(count).or(replies.last()).unwrap() {
            Reply::Status { code, headers, body } => http::respond(stream, *code, headers, body),
            Reply::Cut => {
                let events = match self.dialect {
                    Dialect::Messages => messages::events(count, None),
                    Dialect::Responses => responses::events(count, None),
                };
                http::cut(stream, &events[..1])
            }
            Reply::Answer(text) => http::stream(
                stream,
                &match self.dialect {
                    Dialect::Messages => messages::answer(count, text, &body),
                    Dialect::Responses => responses::answer(count, text),
                },
            ),
            Reply::Call(act) => http::stream(
                stream,
                &match self.dialect {
                    Dialect::Messages => messages::calling(count, act),
                    Dialect::Responses => responses::calling(count, act),
                },
            ),
        }
    }
}

impl Dialect {
    fn path(self) -> &'static str {
        match self {
            Self::Messages => "/v1/messages",
            Self::Responses => "/v1/responses",
        }
    }

    /// A question beside the work, such as for a title, has none.
    fn has_tools(self, body: &Value) -> bool {
        let names = match self {
            Self::Messages => ["Write", "Bash"],
            Self::Responses => ["apply_patch", "exec_command"],
        };
        let offered = body["tools"].as_array();
        names
            .iter()
            .all(|name| offered.is_some_and(|tools| tools.iter().any(|tool| tool["name"] == *name)))
    }

    fn results(self, body: &Value) -> Vec<Outcome> {
        match self {
            Self::Messages => messages::results(body),
            Self::Responses => responses::results(body),
        }
    }
}
