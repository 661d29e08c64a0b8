//! What the two sides of the socket say to each other.
//!
//! To the keeper: the input of the program, then at most two letters. From the keeper: frames of
//! one letter and two numbers. The end of the stream always means that the other side is gone.

use std::io::{self, Read, Write};

use crate::program::Input;

/// More input than this is a mistake, not a message.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// End it: ask first, then kill.
pub(crate) const END: u8 = b'e';
/// Kill it now.
pub(crate) const KILL: u8 = b'k';

const NOTHING: u8 = 0;
const BYTES: u8 = 1;
const HELD_OPEN: u8 = 2;

pub(crate) fn send_input(mut to: impl Write, input: &Input) -> io::Result<()> {
    let (kind, bytes): (u8, &[u8]) = match input {
        Input::Nothing => (NOTHING, &[]),
        Input::Bytes(bytes) => (BYTES, bytes),
        Input::HeldOpen(bytes) => (HELD_OPEN, bytes),
    };
    let count = bytes.len() as u64;
    if count > INPUT_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the input is too large"));
    }
    to.write_all(&[kind])?;
    to.write_all(&count.to_le_bytes())?;
    to.write_all(bytes)
}

pub(crate) fn receive_input(mut from: impl Read) -> io::Result<Input> {
    let (mut kind, mut count) = ([0], [0; 8]);
    from.read_exact(&mut kind)?;
    from.read_exact(&mut count)?;
    let count = u64::from_le_bytes(count);
    if count > INPUT_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    if from.take(count).read_to_end(&mut bytes)? as u64 != count {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    match kind {
        [NOTHING] => Ok(Input::Nothing),
        [BYTES] => Ok(Input::Bytes(bytes)),
        [HELD_OPEN] => Ok(Input::HeldOpen(bytes)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// What the keeper tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Started,
    /// The program could not be started; the number is the kernel's reason.
    NotStarted(i32),
    Exited(i32),
    Signalled(i32),
    /// Nothing that the program started is there any more. Always the last word.
    Over {
        left_behind: u32,
        survivors: u32,
    },
}

const FRAME_BYTES: usize = 9;

impl Word {
    pub(crate) fn send(self, mut to: impl Write) -> io::Result<()> {
        let (letter, first, second) = match self {
            Self::Started => (b's', 0, 0),
            Self::NotStarted(reason) => (b'n', reason.cast_unsigned(), 0),
            Self::Exited(code) => (b'x', code.cast_unsigned(), 0),
            Self::Signalled(signal) => (b'g', signal.cast_unsigned(), 0),
            Self::Over { left_behind, survivors } => (b'o', left_behind, survivors),
        };
        let mut frame = [letter; FRAME_BYTES];
        frame[1..5].copy_from_slice(&first.to_le_bytes());
        frame[5..].copy_from_slice(&second.to_le_bytes());
        to.write_all(&frame)
    }

    /// The next word, or nothing at the end of the stream.
    pub(crate) fn receive(mut from: impl Read) -> io::Result<Option<Self>> {
        let mut frame = [0; FRAME_BYTES];
        if !read_whole(&mut from, &mut frame)? {
            return Ok(None);
        }
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| frame[at + byte]));
        let (first, second) = (number(1), number(5));
        Ok(Some(match frame[0] {
            b's' => Self::Started,
            b'n' => Self::NotStarted(first.cast_signed()),
            b'x' => Self::Exited(first.cast_signed()),
            b'g' => Self::Signalled(first.cast_signed()),
            b'o' => Self::Over { left_behind: first, survivors: second },
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }))
    }
}

/// Fills the bytes; `false` at the end of the stream. One who was killed while he had something to
/// read resets the connection.
pub(crate) fn read_whole(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_arrives_as_it_was_sent() {
        let words = [
            Word::Started,
            Word::NotStarted(13),
            Word::Exited(-1),
            Word::Signalled(9),
            Word::Over { left_behind: 302, survivors: 1 },
        ];
        let mut bytes = Vec::new();
        for word in words {
            word.send(&mut bytes).unwrap();
        }
        let mut from = bytes.as_slice();
        for word in words {
            assert_eq!(Word::receive(&mut from).unwrap(), Some(word));
        }
        assert_eq!(Word::receive(&mut from).unwrap(), None);
        assert_eq!(Word::receive(&bytes[..4]).unwrap(), None);
        assert!(Word::receive([b'?'; FRAME_BYTES].as_slice()).is_err());
    }

    #[test]
    fn input_that_is_cut_off_or_too_large_is_refused() {
        let mut bytes = Vec::new();
        send_input(&mut bytes, &Input::HeldOpen(b"held".to_vec())).unwrap();
        assert_eq!(receive_input(bytes.as_slice()).unwrap(), Input::HeldOpen(b"held".to_vec()));
        assert!(receive_input(&bytes[..bytes.len() - 1]).is_err());
        let mut large = vec![BYTES];
        large.extend(u64::MAX.to_le_bytes());
        assert!(receive_input(large.as_slice()).is_err());
    }
}
