//! A connection to the address that was configured, and to no other.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::address::{Address, Scheme};
use super::deadline::{Deadline, SLICE};
use super::incoming::is_wait;
use crate::failure::Failure;

/// For one address of a host; it may have several.
const DIAL_TIME: Duration = Duration::from_secs(10);

/// What is spoken over.
pub(super) enum Wire {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

/// TLS that trusts these authorities (DER) and no others. Nothing if none can be read.
pub(super) fn trusting(
    authorities: &[Vec<u8>],
) -> Result<Option<Arc<ClientConfig>>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    let (taken, _) = roots
        .add_parsable_certificates(authorities.iter().map(|one| CertificateDer::from(one.clone())));
    if taken == 0 {
        return Ok(None);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let configuration = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Some(Arc::new(configuration)))
}

/// Whom the question may go to without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clear {
    /// This machine alone: a key goes along.
    ThisMachine,
    /// This machine and its neighbours.
    Neighbours,
}

impl Clear {
    fn takes(self, address: IpAddr) -> bool {
        match self {
            Self::ThisMachine => address.to_canonical().is_loopback(),
            Self::Neighbours => is_near(address),
        }
    }
}

/// This machine, or one of the same house.
pub(super) fn is_near(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(one) => one.is_loopback() || one.is_private() || one.is_link_local(),
        IpAddr::V6(one) => {
            one.is_loopback() || one.is_unique_local() || one.is_unicast_link_local()
        }
    }
}

/// Connects, and says to which address.
pub(super) fn dial(
    address: &Address,
    tls: Option<&Arc<ClientConfig>>,
    clear: Clear,
    deadline: &Deadline<'_>,
) -> Result<(Wire, IpAddr), Failure> {
    let allowed = (address.scheme == Scheme::Http).then_some(clear);
    let (stream, peer) = connected(address, allowed, deadline)?;
    let ready = || -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(SLICE))
    };
    ready().map_err(|error| Failure::NotStarted(format!("{address}: {error}")))?;
    let wire = match (address.scheme, tls) {
        (Scheme::Http, _) => Wire::Plain(stream),
        (Scheme::Https, Some(tls)) => {
            let refuse =
                |why: &dyn std::fmt::Display| Failure::NotStarted(format!("{address}: {why}"));
            let name =
                ServerName::try_from(address.place.host.clone()).map_err(|why| refuse(&why))?;
            let session =
                ClientConnection::new(Arc::clone(tls), name).map_err(|why| refuse(&why))?;
            let mut stream = StreamOwned::new(session, stream);
            // Before anything is asked: who cannot be trusted hears no question.
            while stream.conn.is_handshaking() {
                deadline.left()?;
                match stream.conn.complete_io(&mut stream.sock) {
                    Err(error) if !is_wait(&error) => return Err(refuse(&error)),
                    _ => {}
                }
            }
            Wire::Tls(Box::new(stream))
        }
        (Scheme::Https, None) => {
            return Err(Failure::NotStarted(format!("{address}: no authority is trusted here")));
        }
    };
    Ok((wire, peer))
}

/// Names are asked for and connections made on a thread of their own: neither can be interrupted, and
/// one that nobody waits for any more ends by itself.
fn connected(
    address: &Address,
    allowed: Option<Clear>,
    deadline: &Deadline<'_>,
) -> Result<(TcpStream, IpAddr), Failure> {
    let (send, receive) = mpsc::channel();
    let place = address.place.clone();
    thread::spawn(move || {
        // Nobody may be waiting any more.
        let _ = send.send(first(&place.host, place.port, allowed));
    });
    loop {
        let left = deadline.left()?;
        match receive.recv_timeout(left.min(SLICE)) {
            Ok(done) => {
                return done.map_err(|error| {
                    Failure::NotStarted(format!("no connection to {address}: {error}"))
                });
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::NotStarted(format!("no connection to {address}")));
            }
        }
    }
}

fn first(host: &str, port: u16, allowed: Option<Clear>) -> io::Result<(TcpStream, IpAddr)> {
    let found: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    let mut last: io::Error = io::ErrorKind::AddrNotAvailable.into();
    for address in found {
        if allowed.is_some_and(|clear| !clear.takes(address.ip())) {
            last = io::Error::new(
                io::ErrorKind::PermissionDenied,
                match allowed {
                    Some(Clear::ThisMachine) => "a key goes to another machine with https only",
                    _ => "a question goes into the internet with https only",
                },
            );
            continue;
        }
        match TcpStream::connect_timeout(&address, DIAL_TIME) {
            Ok(stream) => return Ok((stream, address.ip())),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_tls_nothing_goes_far() {
        for (address, this_machine, neighbours) in [
            ("127.0.0.1", true, true),
            ("::1", true, true),
            ("::ffff:127.0.0.1", true, true),
            ("192.168.1.5", false, true),
            ("10.0.0.1", false, true),
            ("fd00::1", false, true),
            ("93.184.216.34", false, false),
            ("2606:2800:220:1::1", false, false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(Clear::ThisMachine.takes(address), this_machine, "{address}");
            assert_eq!(Clear::Neighbours.takes(address), neighbours, "{address}");
        }
    }
}
