//! TLS to a host, on behalf of a program that speaks plain HTTP.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

const CHUNK_BYTES: usize = 16 * 1024;

/// Carries a conversation until the host has said everything. `first` is said first; `came` takes
/// in what the host says, and `went` counts what the program says after that.
pub(super) fn converse(
    mut inside: &TcpStream,
    mut outside: &TcpStream,
    (host, configuration): (&str, &Arc<ClientConfig>),
    first: [&[u8]; 2],
    mut came: impl FnMut(&[u8]) -> io::Result<()>,
    mut went: impl FnMut(usize),
) -> io::Result<()> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let mut tls =
        ClientConnection::new(Arc::clone(configuration), name).map_err(io::Error::other)?;
    outside.set_nonblocking(true)?;
    for part in first {
        tls.writer().write_all(part)?;
    }
    let mut is_inside_open = true;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        while tls.wants_write() {
            match tls.write_tls(&mut outside) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                done => drop(done?),
            }
        }
        let mut wanted = PollFlags::IN;
        wanted.set(PollFlags::OUT, tls.wants_write());
        // The next bytes are taken from the program when the last ones are on their way.
        let is_listening = is_inside_open && !tls.wants_write() && !tls.is_handshaking();
        let mut watched = vec![PollFd::new(outside, wanted)];
        if is_listening {
            watched.push(PollFd::new(inside, PollFlags::IN));
        }
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => continue,
            done => done?,
        };
        let is_ready = |at: usize| watched.get(at).is_some_and(|one| !one.revents().is_empty());
        let (is_outside, is_inside) = (is_ready(0), is_ready(1));
        if is_outside && take(&mut tls, outside, &mut chunk, &mut came)? == Host::Done {
            return Ok(());
        }
        if is_inside {
            match inside.read(&mut chunk)? {
                // A host that is told so may take it for the end of both ways.
                0 => is_inside_open = false,
                count => {
                    tls.writer().write_all(&chunk[..count])?;
                    went(count);
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Host {
    Speaking,
    Done,
}

fn take(
    tls: &mut ClientConnection,
    mut outside: &TcpStream,
    chunk: &mut [u8],
    came: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Host> {
    let is_end = match tls.read_tls(&mut outside) {
        Ok(count) => count == 0,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Host::Speaking),
        Err(error) => return Err(error),
    };
    if let Err(error) = tls.process_new_packets() {
        // The host is told why, if it can be.
        let _ = tls.write_tls(&mut outside);
        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
    }
    loop {
        match tls.reader().read(chunk) {
            Ok(0) => return Ok(Host::Done),
            Ok(count) => came(&chunk[..count])?,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            // Cut off, or closed without a word: what came before is all there is.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Host::Done),
            Err(error) => return Err(error),
        }
    }
    Ok(if is_end { Host::Done } else { Host::Speaking })
}
