//! The answer of a host, on its way through the search for the secret.
//!
//! The answer is taken apart and framed anew: what the search holds back goes on where a message or
//! a server-sent event ends, and a secret that lies across two chunks is found in the text, not in
//! the framing. One request has one answer; what a host says after it is not passed on.

use super::super::authorization::Authorization;
use super::super::echo::{Echo, SecretSeen};

const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEAD_END: &[u8] = b"\r\n\r\n";
/// A line that says how long a chunk is, or a field behind the last one.
const LINE_BYTES_MAX: usize = 4 * 1024;
const TRAILER_LINES_MAX: usize = 100;
/// Hex digits of a chunk's length.
const LENGTH_DIGITS_MAX: usize = 15;

/// What becomes of the answer to one request.
#[derive(Debug)]
pub(super) struct HostAnswer<'a> {
    echo: Echo<'a>,
    stage: AnswerStage,
    /// Only the head is asked for.
    is_head_only: bool,
    is_chunked: bool,
    events: Option<EventEnds>,
}

#[derive(Debug)]
enum AnswerStage {
    Head(Vec<u8>),
    Counted(u64),
    UntilClosed,
    Length(Vec<u8>),
    Chunk(u64),
    ChunkEnd(Vec<u8>),
    Trailer { line: Vec<u8>, lines: usize },
    Done,
}

/// Why nothing more is passed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CutOff {
    Secret,
    /// It could not be looked through, or nobody knows where it ends.
    Unreadable(&'static str),
}

impl From<SecretSeen> for CutOff {
    fn from(_: SecretSeen) -> Self {
        Self::Secret
    }
}

impl<'a> HostAnswer<'a> {
    pub(super) fn new(method: &str, authorization: &'a Authorization) -> Self {
        Self {
            echo: Echo::of(&authorization.echoes),
            stage: AnswerStage::Head(Vec::new()),
            is_head_only: method == "HEAD",
            is_chunked: false,
            events: None,
        }
    }

    /// The answer is complete.
    pub(super) fn is_done(&self) -> bool {
        matches!(self.stage, AnswerStage::Done)
    }

    /// What may go on of it when these bytes came.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>, CutOff> {
        let mut out = Vec::new();
        while !bytes.is_empty() && !self.is_done() {
            bytes = self.step(bytes, &mut out)?;
        }
        if !self.is_done() && !matches!(self.stage, AnswerStage::Head(_)) {
            let passed = self.echo.pass();
            self.frame(&passed, &mut out);
        }
        Ok(out)
    }

    /// The host has closed.
    pub(super) fn end(&mut self) -> Result<Vec<u8>, CutOff> {
        let mut out = Vec::new();
        if matches!(self.stage, AnswerStage::Head(_)) {
            return Err(CutOff::Unreadable("the host closed before its answer had a whole head"));
        }
        // A chunked answer that was cut off gets no last chunk, so it stays one that was cut off.
        self.flush(&mut out);
        self.stage = AnswerStage::Done;
        Ok(out)
    }

    /// Takes in the bytes of one part and returns the others.
    fn step<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<u8>) -> Result<&'b [u8], CutOff> {
        match &mut self.stage {
            AnswerStage::Head(head) => {
                let (is_whole, rest) = until(head, bytes, HEAD_END, HEAD_BYTES_MAX)
                    .ok_or(CutOff::Unreadable("the head of the answer is too long"))?;
                if is_whole {
                    let head = std::mem::take(head);
                    self.begin(&head, out)?;
                }
                Ok(rest)
            }
            AnswerStage::Counted(left) => {
                let count = at_most(*left, bytes.len());
                *left -= count as u64;
                let is_end = *left == 0;
                self.body(&bytes[..count], out)?;
                if is_end {
                    self.finish(out);
                }
                Ok(&bytes[count..])
            }
            AnswerStage::UntilClosed => self.body(bytes, out).map(|()| &bytes[bytes.len()..]),
            AnswerStage::Length(line) => {
                let (is_whole, rest) = until(line, bytes, b"\r\n", LINE_BYTES_MAX)
                    .ok_or(CutOff::Unreadable("the length of a chunk is too long"))?;
                if is_whole {
                    self.stage = match length(line)? {
                        0 => AnswerStage::Trailer { line: Vec::new(), lines: 0 },
                        count => AnswerStage::Chunk(count),
                    };
                }
                Ok(rest)
            }
            AnswerStage::Chunk(left) => {
                let count = at_most(*left, bytes.len());
                *left -= count as u64;
                if *left == 0 {
                    self.stage = AnswerStage::ChunkEnd(Vec::new());
                }
                self.body(&bytes[..count], out)?;
                Ok(&bytes[count..])
            }
            AnswerStage::ChunkEnd(line) => {
                let (is_whole, rest) = until(line, bytes, b"\r\n", 2)
                    .ok_or(CutOff::Unreadable("a chunk is longer than it says"))?;
                if is_whole {
                    self.stage = AnswerStage::Length(Vec::new());
                }
                Ok(rest)
            }
            AnswerStage::Trailer { line, lines } => {
                let (is_whole, rest) = until(line, bytes, b"\r\n", LINE_BYTES_MAX)
                    .filter(|_| *lines < TRAILER_LINES_MAX)
                    .ok_or(CutOff::Unreadable("there is too much behind the last chunk"))?;
                if is_whole && line.len() == 2 {
                    self.finish(out);
                } else if is_whole {
                    // Fields behind the body were not asked for and are left out.
                    line.clear();
                    *lines += 1;
                }
                Ok(rest)
            }
            AnswerStage::Done => Ok(&[]),
        }
    }

    fn begin(&mut self, head: &[u8], out: &mut Vec<u8>) -> Result<(), CutOff> {
        let body = AnswerHead::parse(head).map_err(CutOff::Unreadable)?;
        self.echo.hear(head)?;
        out.extend(self.echo.flush());
        self.events = body.is_events.then(EventEnds::default);
        self.is_chunked = body.length == AnswerLength::Chunks;
        self.stage = match (body.status, body.length) {
            (100..=199, _) => AnswerStage::Head(Vec::new()),
            (204 | 304, _) | (_, AnswerLength::Bytes(0)) => AnswerStage::Done,
            _ if self.is_head_only => AnswerStage::Done,
            (_, AnswerLength::Bytes(count)) => AnswerStage::Counted(count),
            (_, AnswerLength::Chunks) => AnswerStage::Length(Vec::new()),
            (_, AnswerLength::Open) => AnswerStage::UntilClosed,
        };
        Ok(())
    }

    fn body(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), CutOff> {
        let end = self.events.as_mut().and_then(|events| events.last_end(bytes)).unwrap_or(0);
        let (whole, rest) = bytes.split_at(end);
        if !whole.is_empty() {
            self.echo.hear(whole)?;
            self.flush(out);
        }
        Ok(self.echo.hear(rest)?)
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        let passed = self.echo.flush();
        self.frame(&passed, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.flush(out);
        if self.is_chunked {
            out.extend_from_slice(b"0\r\n\r\n");
        }
        self.stage = AnswerStage::Done;
    }

    fn frame(&self, body: &[u8], out: &mut Vec<u8>) {
        if body.is_empty() {
            return;
        }
        if self.is_chunked {
            out.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
        }
        out.extend_from_slice(body);
        if self.is_chunked {
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// Moves bytes to `line` until it ends in `end`. Nothing if it gets longer than `most`.
fn until<'b>(
    line: &mut Vec<u8>,
    bytes: &'b [u8],
    end: &[u8],
    most: usize,
) -> Option<(bool, &'b [u8])> {
    for (at, byte) in bytes.iter().enumerate() {
        if line.len() == most {
            return None;
        }
        line.push(*byte);
        if line.ends_with(end) {
            return Some((true, &bytes[at + 1..]));
        }
    }
    Some((false, &[]))
}

fn at_most(left: u64, count: usize) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(count)
}

/// Of a chunk; what follows a semicolon belongs to nobody.
fn length(line: &[u8]) -> Result<u64, CutOff> {
    let text = std::str::from_utf8(line).unwrap_or_default();
    let digits = text.trim_end().split(';').next().unwrap_or_default().trim_end();
    let is_number = (1..=LENGTH_DIGITS_MAX).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = is_number.then(|| u64::from_str_radix(digits, 16).ok()).flatten();
    number.ok_or(CutOff::Unreadable("the length of a chunk is no number"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerLength {
    Bytes(u64),
    Chunks,
    Open,
}

/// What the head of an answer says of its body.
#[derive(Debug)]
struct AnswerHead {
    status: u16,
    length: AnswerLength,
    is_events: bool,
}

impl AnswerHead {
    fn parse(head: &[u8]) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(head).map_err(|_| "the head of the answer is no text")?;
        let text = text.strip_suffix("\r\n\r\n").unwrap_or(text);
        let mut lines = text.split("\r\n");
        let line = lines.next().unwrap_or_default();
        let status = ["HTTP/1.1 ", "HTTP/1.0 "]
            .iter()
            .find_map(|version| line.strip_prefix(version))
            .and_then(|rest| {
                rest.get(..3).filter(|_| matches!(rest.as_bytes().get(3), None | Some(b' ')))
            })
            .and_then(|code| code.parse::<u16>().ok())
            .filter(|code| (100..=999).contains(code))
            .ok_or("the answer is not HTTP/1.1 or 1.0")?;
        if status == 101 {
            return Err("the host wants to speak another protocol");
        }
        let mut found = Self { status, length: AnswerLength::Open, is_events: false };
        for field in lines {
            let (name, value) =
                field.split_once(':').ok_or("a line of the answer's head is no field")?;
            if name.is_empty() || name.bytes().any(|byte| !byte.is_ascii_graphic()) {
                return Err("a line of the answer's head is no field");
            }
            found.field(name, value.trim())?;
        }
        Ok(found)
    }

    fn field(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("content-encoding") && !value.eq_ignore_ascii_case("identity") {
            return Err(
                "the answer is compressed, which was not asked for, and cannot be looked through",
            );
        }
        if is("content-type") {
            let kind = value.split(';').next().unwrap_or_default().trim();
            self.is_events = kind.eq_ignore_ascii_case("text/event-stream");
        }
        let length = if is("transfer-encoding") {
            let is_chunked = value.eq_ignore_ascii_case("chunked");
            is_chunked
                .then_some(AnswerLength::Chunks)
                .ok_or("only chunks are a way to send an answer")?
        } else if is("content-length") {
            let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            let number = is_number.then(|| value.parse().ok()).flatten();
            AnswerLength::Bytes(number.ok_or("the length of the answer is no number")?)
        } else {
            return Ok(());
        };
        if self.length != AnswerLength::Open && self.length != length {
            return Err("the answer says more than once where it ends");
        }
        self.length = length;
        Ok(())
    }
}

/// Where server-sent events end: at a line with nothing in it. Lines end in `\n`, `\r` or both.
#[derive(Debug, Default)]
struct EventEnds {
    is_line_begun: bool,
    is_after_return: bool,
    is_after_end: bool,
}

impl EventEnds {
    /// Behind the last byte of the last event that ends here.
    fn last_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut end = None;
        for (at, byte) in bytes.iter().enumerate() {
            let is_end = match byte {
                // Belongs to the line end, or to the end of the event, before it.
                b'\n' if self.is_after_return => self.is_after_end,
                b'\n' | b'\r' => !std::mem::take(&mut self.is_line_begun),
                _ => {
                    self.is_line_begun = true;
                    false
                }
            };
            self.is_after_return = *byte == b'\r';
            self.is_after_end = is_end;
            if is_end {
                end = Some(at + 1);
            }
        }
        end
    }
}
