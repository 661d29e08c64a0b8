//! An answer as it comes in: bounded in time and in bytes at every step.

use std::io::{self, Read};

use super::deadline::Deadline;
use super::dial::Wire;
use crate::failure::Failure;

const HEAD_BYTES_MAX: usize = 64 * 1024;
const LINE_BYTES_MAX: usize = 4 * 1024;
const READ_BYTES: usize = 16 * 1024;
/// A host may say that it goes on; not for ever.
const INTERIM_MAX: usize = 8;
const CONTINUE: std::ops::Range<u16> = 100..200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// Names in lower case.
    pub(super) fields: Vec<(String, String)>,
}

impl Head {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

pub(super) struct Incoming<'a> {
    wire: &'a mut Wire,
    deadline: &'a Deadline<'a>,
    /// What came and was not taken yet.
    held: Vec<u8>,
}

fn broken(why: &str) -> Failure {
    Failure::Broken(why.to_owned())
}

impl<'a> Incoming<'a> {
    pub(super) fn new(wire: &'a mut Wire, deadline: &'a Deadline<'a>) -> Self {
        Self { wire, deadline, held: Vec::new() }
    }

    pub(super) fn head(&mut self) -> Result<Head, Failure> {
        for _ in 0..INTERIM_MAX {
            let head = self.one_head()?;
            if !CONTINUE.contains(&head.status) {
                return Ok(head);
            }
        }
        Err(broken("it never came to its answer"))
    }

    fn one_head(&mut self) -> Result<Head, Failure> {
        const END: &[u8] = b"\r\n\r\n";
        loop {
            if let Some(at) = self.held.windows(END.len()).position(|window| window == END) {
                let rest = self.held.split_off(at + END.len());
                let head = std::mem::replace(&mut self.held, rest);
                return parsed(&head).ok_or_else(|| broken("its answer is no HTTP"));
            }
            if self.held.len() > HEAD_BYTES_MAX {
                return Err(broken("the head of its answer is too long"));
            }
            if self.more()? == 0 {
                return Err(broken("the connection ended before the answer"));
            }
        }
    }

    /// All of the body, or a failure as soon as it is more than `bytes_max`.
    pub(super) fn body(&mut self, head: &Head, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        if head.field("content-encoding").is_some_and(|encoding| encoding != "identity") {
            return Err(broken("its answer is encoded, which was not asked for"));
        }
        if let Some(coding) = head.field("transfer-encoding") {
            if !coding.eq_ignore_ascii_case("chunked") {
                return Err(broken("its answer comes in a way that was not asked for"));
            }
            return self.chunks(bytes_max);
        }
        let mut lengths = head.fields.iter().filter(|(name, _)| name == "content-length");
        if let Some((_, length)) = lengths.next() {
            if lengths.any(|(_, other)| other != length) {
                return Err(broken("its answer has two lengths"));
            }
            let length = number(length, 10)
                .ok_or_else(|| broken("the length of its answer is no number"))?;
            if length > bytes_max {
                return Err(Failure::TooLong(bytes_max));
            }
            return self.exactly(length);
        }
        while self.held.len() as u64 <= bytes_max {
            if self.more()? == 0 {
                return Ok(std::mem::take(&mut self.held));
            }
        }
        Err(Failure::TooLong(bytes_max))
    }

    fn chunks(&mut self, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size =
                number(size, 16).ok_or_else(|| broken("a part of its answer has no length"))?;
            if size == 0 {
                return Ok(body);
            }
            if size > bytes_max - body.len() as u64 {
                return Err(Failure::TooLong(bytes_max));
            }
            body.extend(self.exactly(size)?);
            if !self.line()?.is_empty() {
                return Err(broken("a part of its answer does not end where it should"));
            }
        }
    }

    fn line(&mut self) -> Result<String, Failure> {
        loop {
            if let Some(at) = self.held.iter().position(|byte| *byte == b'\n') {
                let rest = self.held.split_off(at + 1);
                let line = std::mem::replace(&mut self.held, rest);
                return String::from_utf8(line)
                    .map(|line| line.trim_end().to_owned())
                    .map_err(|_| broken("its answer is no HTTP"));
            }
            if self.held.len() > LINE_BYTES_MAX {
                return Err(broken("its answer is no HTTP"));
            }
            if self.more()? == 0 {
                return Err(broken("the connection broke off within the answer"));
            }
        }
    }

    fn exactly(&mut self, count: u64) -> Result<Vec<u8>, Failure> {
        while (self.held.len() as u64) < count {
            if self.more()? == 0 {
                return Err(broken("the connection broke off within the answer"));
            }
        }
        let rest = self.held.split_off(usize::try_from(count).unwrap_or(usize::MAX));
        Ok(std::mem::replace(&mut self.held, rest))
    }

    /// Waits for more; nothing more is 0.
    fn more(&mut self) -> Result<usize, Failure> {
        let mut chunk = [0; READ_BYTES];
        loop {
            self.deadline.left()?;
            match self.wire.read(&mut chunk) {
                Ok(count) => {
                    self.held.extend_from_slice(&chunk[..count]);
                    return Ok(count);
                }
                Err(error) if is_wait(&error) => {}
                Err(error) => {
                    return Err(Failure::Broken(format!("the connection broke off: {error}")));
                }
            }
        }
    }
}

/// Nothing happened within a slice of time.
pub(super) fn is_wait(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

fn number(text: &str, radix: u32) -> Option<u64> {
    // The parser of std takes a sign too.
    text.bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u64::from_str_radix(text, radix).ok())?
}

fn parsed(head: &[u8]) -> Option<Head> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next()?.splitn(3, ' ');
    if !words.next()?.starts_with("HTTP/1.") {
        return None;
    }
    let status = words.next().filter(|word| word.len() == 3)?;
    let status = u16::try_from(number(status, 10)?).ok()?;
    let mut fields = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Some(Head { status, fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_http_or_nothing() {
        let head = parsed(b"HTTP/1.1 429 Too Many\r\nRetry-After:  7\r\n\r\n").unwrap();
        assert_eq!((head.status, head.field("retry-after")), (429, Some("7")));
        assert!(parsed(b"HTTP/1.0 200\r\n\r\n").is_some());
        for bad in [
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 20\r\n\r\n",
            "SSH-2.0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nx\r\n\r\n",
        ] {
            assert!(parsed(bad.as_bytes()).is_none(), "{bad:?}");
        }
        assert_eq!((number("ff", 16), number("+1", 10), number("", 10)), (Some(255), None, None));
    }
}
