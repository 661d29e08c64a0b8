//! One call: a request, and all of its answer.

use std::fmt::Write as _;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

use ao_vault::Secret;
use rustls::ClientConfig;
use serde_json::Value;
use zeroize::Zeroizing;

use super::address::{Address, Scheme};
use super::deadline::Deadline;
use super::dial::{Clear, dial, is_near, trusting};
use super::incoming::{Head, Incoming, is_wait};
use crate::answer::Cost;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::login::Way;
use crate::request::Budget;

/// Of a header; servers take no more.
const KEY_BYTES_MAX: usize = 8 * 1024;
/// Of what a host says about its refusal.
const REFUSAL_BYTES_MAX: u64 = 64 * 1024;

/// An address with the key for it and whom to trust there.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub address: Address,
    key: Option<Secret>,
    tls: Option<Arc<ClientConfig>>,
    pub(super) clock: Clock,
}

#[derive(Debug, thiserror::Error)]
pub enum BadEndpoint {
    #[error("the key cannot stand in a header: it is visible ASCII without spaces, 8 KiB at most")]
    Key,
    #[error("{0} is spoken to with TLS, but no authority is trusted here")]
    NoAuthorities(Address),
    #[error("TLS cannot be had: {0}")]
    Tls(#[from] rustls::Error),
}

/// What came back.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
    pub(super) from: IpAddr,
}

impl Endpoint {
    /// `authorities` are the certificates (DER) that this machine trusts; they are asked for only if the
    /// address is one of https.
    pub fn new(
        address: Address,
        key: Option<Secret>,
        authorities: impl FnOnce() -> Vec<Vec<u8>>,
        clock: Clock,
    ) -> Result<Self, BadEndpoint> {
        if key.as_ref().is_some_and(|key| !is_fit(header_value(key))) {
            return Err(BadEndpoint::Key);
        }
        let tls = match address.scheme {
            Scheme::Http => None,
            Scheme::Https => match trusting(&authorities())? {
                Some(tls) => Some(tls),
                None => return Err(BadEndpoint::NoAuthorities(address)),
            },
        };
        Ok(Self { address, key, tls, clock })
    }

    /// Nobody is paid for what is asked here if it is near and knows no accounts; else nobody says.
    pub(super) fn cost(&self, reply: &Reply) -> Cost {
        if self.key.is_none() && is_near(reply.from) { Cost::Free } else { Cost::Unknown }
    }

    /// How one is known there.
    pub(super) fn login(&self) -> Way {
        if self.key.is_some() { Way::ApiKey } else { Way::None }
    }

    pub(super) fn get(
        &self,
        path: &str,
        bytes_max: u64,
        deadline: &Deadline<'_>,
    ) -> Result<Reply, Failure> {
        self.call("GET", path, None, bytes_max, deadline)
    }

    pub(super) fn post(
        &self,
        path: &str,
        body: &Value,
        budget: &Budget,
        deadline: &Deadline<'_>,
    ) -> Result<Reply, Failure> {
        if self.key.is_some() {
            budget.for_account()?;
        }
        self.call("POST", path, Some(body), budget.output_bytes, deadline)
    }

    fn call(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        bytes_max: u64,
        deadline: &Deadline<'_>,
    ) -> Result<Reply, Failure> {
        let clear = if self.key.is_some() { Clear::ThisMachine } else { Clear::Neighbours };
        let message = self.message(method, path, body);
        let (mut wire, from) = dial(&self.address, self.tls.as_ref(), clear, deadline)?;
        // A host that refuses may not listen to the end; what it says is worth more than that.
        let sent = send(&mut wire, &message, deadline);
        if let Err(failure @ (Failure::Stopped | Failure::TimedOut(_))) = sent {
            return Err(failure);
        }
        let mut incoming = Incoming::new(&mut wire, deadline);
        let head = incoming.head().map_err(|failure| sent.err().unwrap_or(failure))?;
        let is_answer = (200..300).contains(&head.status);
        let body = if is_answer {
            incoming.body(&head, bytes_max)?
        } else {
            match incoming.body(&head, bytes_max.min(REFUSAL_BYTES_MAX)) {
                Err(failure @ (Failure::Stopped | Failure::TimedOut(_))) => return Err(failure),
                // The number says enough.
                said => said.unwrap_or_default(),
            }
        };
        Ok(Reply { head, body, from })
    }

    fn message(&self, method: &str, path: &str, body: Option<&Value>) -> Zeroizing<Vec<u8>> {
        let body = body.map(ToString::to_string);
        let mut head = format!(
            "{method} {}{path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: ao/{}\r\nAccept: application/json\r\n\
             Accept-Encoding: identity\r\nConnection: close\r\n",
            self.address.base,
            self.address.host(),
            env!("CARGO_PKG_VERSION"),
        );
        if let Some(body) = &body {
            let length = body.len();
            let _ = write!(head, "Content-Type: application/json\r\nContent-Length: {length}\r\n");
        }
        let room = head.len() + KEY_BYTES_MAX + body.as_ref().map_or(0, String::len);
        // Room for all of it at once: what grows leaves copies of the key behind.
        let mut message = Zeroizing::new(Vec::with_capacity(room + 64));
        message.extend_from_slice(head.as_bytes());
        if let Some(key) = &self.key {
            message.extend_from_slice(b"Authorization: Bearer ");
            message.extend_from_slice(header_value(key));
            message.extend_from_slice(b"\r\n");
        }
        message.extend_from_slice(b"\r\n");
        message.extend_from_slice(body.unwrap_or_default().as_bytes());
        message
    }
}

/// A file that a key was kept from often ends with a line break.
fn header_value(key: &Secret) -> &[u8] {
    key.expose().trim_ascii()
}

fn is_fit(value: &[u8]) -> bool {
    !value.is_empty() && value.len() <= KEY_BYTES_MAX && value.iter().all(u8::is_ascii_graphic)
}

fn send(wire: &mut impl Write, mut bytes: &[u8], deadline: &Deadline<'_>) -> Result<(), Failure> {
    let gone = |error: &dyn std::fmt::Display| {
        Failure::Broken(format!("the connection broke off within the question: {error}"))
    };
    while !bytes.is_empty() {
        deadline.left()?;
        match wire.write(bytes) {
            Ok(0) => return Err(gone(&"nothing more is taken")),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(gone(&error)),
        }
    }
    loop {
        deadline.left()?;
        match wire.flush() {
            Ok(()) => return Ok(()),
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(gone(&error)),
        }
    }
}
