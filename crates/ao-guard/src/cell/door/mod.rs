//! The network door: the only way out of a cell, to exactly what was granted.
//!
//! The cell has a network of its own with nothing in it but a loopback. On that loopback the first
//! process opened listeners and gave their descriptors to the engine. Whoever connects to one
//! inside talks to the engine outside, which dials by itself: a name is resolved here, and the
//! program cannot choose an address.

mod authorized;
mod host_answer;
mod public;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use self::authorized::authorized;
use self::public::is_away;
use super::authorization::Authorization;
use super::grant::Grant;
use super::report::Refused;
use super::request::{Request, read_head};

/// Of the cell: what is listened on inside has no other address.
const LOOPBACK: &str = "127.0.0.1";
/// Where the proxy listens inside; nobody else is there to take the port.
pub(super) const PROXY_PORT: u16 = 3128;
/// The forward of the first grant; the next ones follow.
pub(super) const FORWARD_PORT: u16 = 20_001;
const CONNECTIONS_MAX: usize = 64;
const REFUSALS_MAX: usize = 100;
const CHUNK_BYTES: usize = 16 * 1024;
const HEAD_TIME: Duration = Duration::from_secs(10);
const DIAL_TIME: Duration = Duration::from_secs(20);

/// What a program is told about the door.
pub(super) fn variables(
    grants: &[Grant],
    authorizations: &[Authorization],
) -> Vec<(String, String)> {
    if grants.is_empty() {
        return Vec::new();
    }
    let proxy = format!("http://{LOOPBACK}:{PROXY_PORT}");
    let mut variables: Vec<_> = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
        .map(|name| (name.to_owned(), proxy.clone()))
        .into();
    let forwards: Vec<_> = grants
        .iter()
        .zip(FORWARD_PORT..)
        .map(|(grant, port)| format!("{grant}={LOOPBACK}:{port}"))
        .collect();
    variables.push(("AO_NET".to_owned(), forwards.join(" ")));
    if !authorizations.is_empty() {
        let each: Vec<_> =
            authorizations.iter().map(|one| format!("{}={}", one.grant, one.placeholder)).collect();
        variables.push(("AO_AUTH".to_owned(), each.join(" ")));
    }
    variables
}

/// The ports to listen on inside.
pub(super) fn ports(grants: &[Grant]) -> Vec<u16> {
    if grants.is_empty() {
        return Vec::new();
    }
    std::iter::once(PROXY_PORT).chain((FORWARD_PORT..).take(grants.len())).collect()
}

/// Shared by all connections.
#[derive(Debug)]
struct Shared {
    grants: Vec<Grant>,
    authorizations: Vec<Authorization>,
    refused: Mutex<Vec<Refused>>,
    open: AtomicUsize,
    /// The outer ends of what is open, to be ended with the cell.
    outer: Mutex<BTreeMap<u64, TcpStream>>,
    next: AtomicU64,
    is_closing: AtomicBool,
    sent: AtomicU64,
    received: AtomicU64,
}

/// The engine's side of the listeners of one cell.
#[derive(Debug)]
pub(super) struct Door {
    shared: Arc<Shared>,
    listeners: Vec<TcpListener>,
    threads: Vec<JoinHandle<()>>,
}

/// What became of the connections of one cell.
#[derive(Debug, Default)]
pub(super) struct Passed {
    pub(super) refused: Vec<Refused>,
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// What a listener is for.
#[derive(Debug, Clone)]
enum Entrance {
    Proxy,
    Forward(Grant),
}

impl Door {
    pub(super) fn open(
        grants: &[Grant],
        authorizations: &[Authorization],
        listeners: Vec<TcpListener>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            grants: grants.to_vec(),
            authorizations: authorizations.to_vec(),
            refused: Mutex::default(),
            open: AtomicUsize::new(0),
            outer: Mutex::default(),
            next: AtomicU64::new(0),
            is_closing: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        });
        let entrances =
            std::iter::once(Entrance::Proxy).chain(grants.iter().cloned().map(Entrance::Forward));
        let mut threads = Vec::new();
        for (listener, entrance) in listeners.iter().zip(entrances) {
            let (listener, shared) = (listener.try_clone()?, Arc::clone(&shared));
            threads.push(thread::spawn(move || accept(&listener, &entrance, &shared)));
        }
        Ok(Self { shared, listeners, threads })
    }

    /// Lets nobody in any more, and tells what was refused and how much went through.
    pub(super) fn close(mut self) -> Passed {
        self.shut();
        let mut refused = lock(&self.shared.refused);
        Passed {
            refused: std::mem::take(&mut *refused),
            sent: self.shared.sent.load(Ordering::Relaxed),
            received: self.shared.received.load(Ordering::Relaxed),
        }
    }

    fn shut(&mut self) {
        self.shared.is_closing.store(true, Ordering::Relaxed);
        for listener in &self.listeners {
            // Whoever waits for a connection is told that there will be none.
            let _ = rustix::net::shutdown(listener, rustix::net::Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        for stream in lock(&self.shared.outer).values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.shut();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, entrance: &Entrance, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_closing.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else { return };
        if shared.open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
            shared.open.fetch_sub(1, Ordering::Relaxed);
            shared.refuse("network-connections", "more connections at once than allowed");
            continue;
        }
        let (entrance, shared) = (entrance.clone(), Arc::clone(shared));
        thread::spawn(move || {
            let _ = serve(&stream, &entrance, &shared);
            let _ = stream.shutdown(Shutdown::Both);
            shared.open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn serve(inside: &TcpStream, entrance: &Entrance, shared: &Arc<Shared>) -> io::Result<()> {
    match entrance {
        Entrance::Forward(grant) => {
            if let Some(authorization) = shared.authorization(grant) {
                let (head, rest) = head(inside)?;
                return authorized(inside, (&head, &rest), authorization, shared);
            }
            let outside = shared.dial(grant)?;
            pump(inside, &outside, shared)
        }
        Entrance::Proxy => proxy(inside, shared),
    }
}

const FORBIDDEN: &str = "403 Forbidden";
const BAD_GATEWAY: &str = "502 Bad Gateway";

fn answer(mut inside: &TcpStream, status: &str, why: &str) -> io::Result<()> {
    let count = why.len();
    let text =
        format!("HTTP/1.1 {status}\r\nContent-Length: {count}\r\nConnection: close\r\n\r\n{why}");
    inside.write_all(text.as_bytes())
}

/// Whoever connects and says nothing is not waited for.
fn head(inside: &TcpStream) -> io::Result<(String, Vec<u8>)> {
    inside.set_read_timeout(Some(HEAD_TIME))?;
    let read = read_head(inside)?;
    inside.set_read_timeout(None)?;
    Ok(read)
}

/// `CONNECT host:port`, or `GET http://host:port/…`, to exactly what was granted.
fn proxy(mut inside: &TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let (head, rest) = head(inside)?;
    let request = Request::parse(&head);
    let granted = request
        .as_ref()
        .and_then(|request| meant(&shared.grants, &request.grant).map(|grant| (request, grant)));
    let Some((request, grant)) = granted else {
        let asked = request.map_or_else(
            || head.lines().next().unwrap_or_default().to_owned(),
            |request| request.grant.to_string(),
        );
        shared.refuse("network-grant", &asked);
        return answer(inside, FORBIDDEN, "");
    };
    if let Some(authorization) = shared.authorization(grant) {
        return authorized(inside, (&head, &rest), authorization, shared);
    }
    let mut outside = match shared.dial(grant) {
        Ok(outside) => outside,
        Err(error) => {
            answer(inside, BAD_GATEWAY, "")?;
            return Err(error);
        }
    };
    let mut first = Vec::new();
    match &request.forwarded_head {
        Some(head) => first.extend_from_slice(head.as_bytes()),
        None => inside.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
    }
    first.extend_from_slice(&rest);
    outside.write_all(&first)?;
    shared.sent.fetch_add(first.len() as u64, Ordering::Relaxed);
    pump(inside, &outside, shared)
}

/// The grant that is asked for by its own address, or by that of its forward: a program that has a
/// proxy asks it for everything, the addresses of `AO_NET` too.
fn meant<'a>(grants: &'a [Grant], asked: &Grant) -> Option<&'a Grant> {
    let by_forward = || {
        let place = asked.port.checked_sub(FORWARD_PORT)?;
        grants.get(usize::from(place)).filter(|_| asked.host == LOOPBACK)
    };
    grants.iter().find(|grant| *grant == asked).or_else(by_forward)
}

/// Both ways, until one side has had enough.
fn pump(inside: &TcpStream, outside: &TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let number = shared.remember(outside)?;
    let mut to = inside;
    let flowed = both_ways(inside, outside, shared, |bytes| {
        to.write_all(bytes)?;
        shared.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    });
    lock(&shared.outer).remove(&number);
    flowed
}

/// `came` takes in what the host says, and nothing when that is all.
fn both_ways(
    inside: &TcpStream,
    outside: &TcpStream,
    shared: &Arc<Shared>,
    mut came: impl FnMut(&[u8]) -> io::Result<()> + Send,
) -> io::Result<()> {
    thread::scope(|scope| {
        let back = scope.spawn(move || {
            let flowed = flow(outside, &mut came).and_then(|()| came(&[]));
            let _ = inside.shutdown(Shutdown::Write);
            flowed
        });
        let mut to = outside;
        let _ = flow(inside, |bytes| {
            to.write_all(bytes)?;
            shared.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            Ok(())
        });
        let _ = outside.shutdown(Shutdown::Write);
        let flowed = back.join().unwrap_or(Ok(()));
        let _ = outside.shutdown(Shutdown::Both);
        flowed
    })
}

/// Gives every piece to `take`; where that fails the stream is ended.
fn flow(mut from: &TcpStream, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut chunk = [0; CHUNK_BYTES];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        take(&chunk[..count]).inspect_err(|_| drop(from.shutdown(Shutdown::Both)))?;
    }
    Ok(())
}

impl Shared {
    fn authorization(&self, grant: &Grant) -> Option<&Authorization> {
        self.authorizations.iter().find(|one| one.grant == *grant)
    }

    /// A connection that is to be ended with the cell, by a number to forget it by.
    fn remember(&self, outside: &TcpStream) -> io::Result<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.outer).insert(number, outside.try_clone()?);
        if self.is_closing.load(Ordering::Relaxed) {
            let _ = outside.shutdown(Shutdown::Both);
        }
        Ok(number)
    }

    fn refuse(&self, rule: &str, what: &str) {
        let mut refused = lock(&self.refused);
        if refused.len() < REFUSALS_MAX {
            refused.push(Refused { rule: rule.to_owned(), what: what.to_owned() });
        }
    }

    fn dial(&self, grant: &Grant) -> io::Result<TcpStream> {
        let literal = grant.host.parse::<IpAddr>();
        let mut last: io::Error = io::ErrorKind::AddrNotAvailable.into();
        let addresses: Vec<SocketAddr> = match literal {
            Ok(address) => vec![SocketAddr::new(address, grant.port)],
            Err(_) => (grant.host.as_str(), grant.port)
                .to_socket_addrs()
                .inspect_err(|error| self.refuse("network-name", &format!("{grant}: {error}")))?
                .collect(),
        };
        let (reachable, private): (Vec<_>, Vec<_>) =
            addresses.into_iter().partition(|address| literal.is_ok() || is_away(address.ip()));
        for address in private {
            // Granted by name is not granted by address: names can be made to lead anywhere.
            self.refuse("network-private", &format!("{grant} leads to {}", address.ip()));
        }
        for address in reachable {
            match TcpStream::connect_timeout(&address, DIAL_TIME) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_meant_by_its_address_or_its_forward() {
        let parse = |text: &str| text.parse::<Grant>().unwrap();
        let grants = ["a.example:443", "127.0.0.1:20001"].map(parse);
        let asked = |text: &str| meant(&grants, &parse(text)).map(ToString::to_string);
        assert_eq!(asked("a.example:443").as_deref(), Some("a.example:443"));
        assert_eq!(asked("127.0.0.1:20002").as_deref(), Some("127.0.0.1:20001"));
        // What was granted by its own address is that.
        assert_eq!(asked("127.0.0.1:20001").as_deref(), Some("127.0.0.1:20001"));
        for none in ["127.0.0.1:20003", "127.0.0.1:20000", "localhost:20002", "a.example:20001"] {
            assert_eq!(asked(none), None, "{none}");
        }
        assert_eq!(meant(&grants[..1], &parse("127.0.0.1:20001")), Some(&grants[0]));
    }
}
