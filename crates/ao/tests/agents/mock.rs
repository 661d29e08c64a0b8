//! The mock: an API on loopback that has an answer to everything, which is the next step of its script.
//! Which one is next it reads from the conversation that the agent sends along, as the real ones do.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::http::{self, Request};
use crate::script::Step;
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
    steps: Vec<Step>,
    requests: Mutex<Vec<Request>>,
}

impl Mock {
    /// It serves until the tests end: a thread that waits costs nothing.
    pub(crate) fn start(dialect: Dialect, steps: Vec<Step>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { dialect, steps, requests: Mutex::new(Vec::new()) });
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
        let step = self.steps.get(count).filter(|_| self.dialect.has_tools(&request.body));
        let events = match self.dialect {
            Dialect::Messages => messages::events(count, step),
            Dialect::Responses => responses::events(count, step),
        };
        self.requests.lock().unwrap().push(request);
        http::stream(stream, &events)
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
