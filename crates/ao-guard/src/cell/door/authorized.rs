//! One request to the host that a secret is for, with the secret in its head.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::authorization::{Authorization, Way};
use super::super::{gateway, tls};
use super::host_answer::{CutOff, HostAnswer};
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
    let method = head.split(' ').next().unwrap_or_default();
    let mut passing = HostAnswer::new(method, authorization);
    let mut has_begun = false;
    let mut into = inside;
    let mut came = |bytes: &[u8]| {
        shared.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if passing.is_done() {
            return Ok(());
        }
        let passed = if bytes.is_empty() { passing.end() } else { passing.take(bytes) };
        match passed {
            Ok(bytes) => {
                has_begun |= !bytes.is_empty();
                into.write_all(&bytes)?;
                // The program has its answer, however long the host leaves the connection open.
                if passing.is_done() { inside.shutdown(Shutdown::Write) } else { Ok(()) }
            }
            Err(CutOff::Secret) => {
                shared.refuse("network-echo", &format!("{grant} sent the secret back"));
                Err(io::ErrorKind::PermissionDenied.into())
            }
            Err(CutOff::Unreadable(why)) => {
                shared.refuse("network-answer", &format!("{grant}: {why}"));
                if !has_begun {
                    answer(inside, BAD_GATEWAY, why)?;
                }
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
