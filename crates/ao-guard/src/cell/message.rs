//! What the processes of a cell say to the one that wants the program.
//!
//! A message is its length and then JSON. The policy goes one way, the rest comes back; descriptors
//! of listeners travel with [`Said::Built`].

use std::ffi::OsString;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::hidden::Hidden;
use super::layer::Layer;
use super::policy::Spot;
use super::report::Limit;
use crate::wire::read_whole;

/// More than any policy, less than a mistake.
const BYTES_MAX: u32 = 16 * 1024 * 1024;
/// One command is not granted more.
pub(super) const SECRETS_MAX: u32 = 64;
/// One proxy and a forward for each grant.
pub(super) const LISTENERS_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Said {
    /// The walls stand. The descriptors of the listeners came before.
    Built {
        /// Projects in which a secret that comes later is not hidden.
        uncovered: Vec<Spot>,
    },
    /// A wall could not be built.
    CannotBuild {
        layer: Layer,
        why: String,
    },
    /// These attacks came through.
    Escaped {
        attacks: Vec<(Layer, String)>,
    },
    /// The number is the kernel's reason.
    NotStarted {
        reason: i32,
    },
    /// So many attacks were tried, and none came through.
    Started {
        attacks: u32,
    },
    WentTooFar {
        limit: Limit,
    },
    Exited {
        code: i32,
        left_behind: u32,
    },
    Signalled {
        signal: i32,
        left_behind: u32,
    },
    /// Nothing of the cell is there any more. Always the last word.
    Over {
        survivors: u32,
        left_behind: u32,
        cpu_us: u64,
        largest_kib: u64,
    },
}

/// Kill everything.
pub(super) const KILL: u8 = b'k';

pub(super) fn send(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&frame(message)?)
}

/// A whole message in one write: two processes of a cell may speak at the same time.
fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend(body);
    Ok(frame)
}

/// The next message, or nothing at the end of the stream.
pub(super) fn receive<T: DeserializeOwned>(mut from: impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    if !read_whole(&mut from, &mut length)? {
        return Ok(None);
    }
    let length = u32::from_le_bytes(length);
    if length > BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length as usize];
    from.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

/// Variables whose values are secret, as bytes: a count, then names and values with their lengths.
pub(super) fn send_secrets(mut to: impl Write, secrets: &[(OsString, Hidden)]) -> io::Result<()> {
    let length = |count: usize| -> io::Result<[u8; 4]> {
        Ok(u32::try_from(count).map_err(io::Error::other)?.to_le_bytes())
    };
    to.write_all(&length(secrets.len())?)?;
    for (name, value) in secrets {
        for bytes in [name.as_bytes(), value.bytes()] {
            to.write_all(&length(bytes.len())?)?;
            to.write_all(bytes)?;
        }
    }
    Ok(())
}

fn length(most: u32, from: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    let count = u32::from_le_bytes(bytes);
    if count > most { Err(io::ErrorKind::InvalidData.into()) } else { Ok(count as usize) }
}

pub(super) fn receive_secrets(mut from: impl Read) -> io::Result<Vec<(OsString, Hidden)>> {
    let count = length(SECRETS_MAX, &mut from)?;
    let mut secrets = Vec::with_capacity(count);
    for _ in 0..count {
        let mut name = vec![0; length(BYTES_MAX, &mut from)?];
        from.read_exact(&mut name)?;
        let mut value = Hidden::with_room(length(BYTES_MAX, &mut from)?);
        from.read_exact(value.bytes_mut())?;
        secrets.push((OsString::from_vec(name), value));
    }
    Ok(secrets)
}

/// Sends descriptors with one byte that carries them; a message follows.
pub(super) fn send_descriptors(to: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(LISTENERS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many listeners"));
    }
    sendmsg(to, &[IoSlice::new(b"d")], &mut control, SendFlags::empty())?;
    Ok(())
}

pub(super) fn receive_descriptors(from: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(LISTENERS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut parts = [io::IoSliceMut::new(&mut byte)];
    // A signal to the engine is a wish to stop, which is looked at once the cell runs; it is not the end of the holder.
    let got = rustix::io::retry_on_intr(|| {
        recvmsg(from.as_fd(), &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    if got.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut found = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            found.extend(descriptors);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_cut_off_or_too_large_is_no_message() {
        let mut bytes = Vec::new();
        send(&mut bytes, &Said::Started { attacks: 9 }).unwrap();
        assert_eq!(receive(bytes.as_slice()).unwrap(), Some(Said::Started { attacks: 9 }));
        assert!(receive::<Said>(&bytes[..bytes.len() - 1]).is_err());
        assert_eq!(receive::<Said>(&bytes[..2]).unwrap(), None);
        assert!(receive::<Said>(u32::MAX.to_le_bytes().as_slice()).is_err());
    }

    #[test]
    fn secrets_arrive_as_they_are_or_not_at_all() {
        let secrets = vec![
            (OsString::from("A"), Hidden::new(b"one\0\xff")),
            (OsString::from("B"), Hidden::new(b"")),
        ];
        let mut bytes = Vec::new();
        send_secrets(&mut bytes, &secrets).unwrap();
        assert_eq!(receive_secrets(bytes.as_slice()).unwrap(), secrets);
        for cut in 0..bytes.len() {
            assert!(receive_secrets(&bytes[..cut]).is_err(), "{cut}");
        }
        assert!(receive_secrets(u32::MAX.to_le_bytes().as_slice()).is_err());
    }

    #[test]
    fn descriptors_arrive_with_their_message() {
        let (here, there) = UnixStream::pair().unwrap();
        let file = ao_tree::own_file::open_named(std::path::Path::new("/dev/null")).unwrap();
        send_descriptors(&here, &[file.as_fd()]).unwrap();
        let built = Said::Built { uncovered: vec![Spot::from("/a")] };
        send(&here, &built).unwrap();
        assert_eq!(receive_descriptors(&there).unwrap().len(), 1);
        assert_eq!(receive(&there).unwrap(), Some(built));
    }
}
