//! One request to the host that a secret is for, with the secret in its head.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::authorization::{Authorization, Way};
use super::super::echo::{Echo, Heard};
use super::super::{gateway, tls};
use super::{BAD_GATEWAY, FORBIDDEN, Shared, answer, both_ways, lock};

/// `head` and `rest` are what the program said so far.
pub(super) fn authorized(
    inside: &TcpStream,
    (head, rest): (&str, &[u8]),
    authorization: &Authorization,
    shared: &Arc<Shared>,
) -> io::Result<()> {
    let grant = &authorization.grant;
    let first = match gateway::rewritten(head, authorization) {
        Ok(first) => first,
        Err(why) => {
            shared.refuse("network-auth", &format!("{grant}: {why}"));
            return answer(inside, FORBIDDEN, why);
        }
    };
    let mut outside = match shared.dial(grant) {
        Ok(outside) => outside,
        Err(error) => {
            answer(inside, BAD_GATEWAY, "")?;
            return Err(error);
        }
    };
    let mut echo = Echo::of(&authorization.echoes);
    let mut into = inside;
    let mut came = |bytes: &[u8]| {
        if bytes.is_empty() {
            return into.write_all(&echo.rest());
        }
        shared.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        match echo.hear(bytes) {
            Heard::Clean(bytes) => into.write_all(&bytes),
            Heard::Secret => {
                shared.refuse("network-echo", &format!("{grant} sent the secret back"));
                Err(io::ErrorKind::PermissionDenied.into())
            }
        }
    };
    shared.sent.fetch_add((first.len() + rest.len()) as u64, Ordering::Relaxed);
    let number = shared.remember(&outside)?;
    let done = match &authorization.way {
        Way::Plain => outside
            .write_all(&first)
            .and_then(|()| outside.write_all(rest))
            .and_then(|()| both_ways(inside, &outside, shared, came)),
        Way::Tls(configuration) => {
            let went = |count: usize| {
                shared.sent.fetch_add(count as u64, Ordering::Relaxed);
            };
            let host = (grant.host.as_str(), configuration);
            tls::converse(inside, &outside, host, [&first, rest], &mut came, went)
                .and_then(|()| came(&[]))
        }
    };
    lock(&shared.outer).remove(&number);
    let _ = outside.shutdown(Shutdown::Both);
    if let Err(error) = &done
        && error.kind() == io::ErrorKind::InvalidData
    {
        // Not trusted, or no TLS at all.
        shared.refuse("network-tls", &format!("{grant}: {error}"));
        return answer(inside, BAD_GATEWAY, "");
    }
    done
}
