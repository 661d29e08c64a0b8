//! The one way out: whatever `ao` writes down, prints or sends goes through here first.
//!
//! A [`Redactor`] knows the vault's values and gives [`Redacted`] texts, which nothing else can make;
//! the writers of [`crate::out`] take nothing else. There is one redactor in a process
//! ([`redactor`]), so that a message of a panic goes the same way as a report.

mod escapes;
mod forms;
mod known;
mod stream;
mod view;

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::Value;

pub use forms::forms;
pub use known::BadValues;
use known::Known;
pub use stream::Ansi;
use stream::State;

/// What stands where a value was.
pub const MARK: &str = "***REDACTED***";

/// Takes known values out of texts. A copy knows the same values.
#[derive(Clone)]
pub struct Redactor(Arc<Known>);

/// Something that a [`Redactor`] has looked through. Only a redactor makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<T>(T);

static OF_THIS_PROCESS: OnceLock<Redactor> = OnceLock::new();

/// The redactor of this process; one that knows no value, where none was set.
pub fn redactor() -> Redactor {
    OF_THIS_PROCESS.get().cloned().unwrap_or_default()
}

/// Sets the redactor of this process. To be called once, before anything is written.
pub fn set_redactor(redactor: Redactor) {
    // The first one stays: a later one could know less.
    let _ = OF_THIS_PROCESS.set(redactor);
}

/// What another program said, for a message of ours. To be called before a line of it is chosen or
/// anything is cut off or shown in another way: what is left of a value is not found any more.
pub fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(redactor().bytes(bytes, Ansi::Keep).get()).into_owned()
}

impl Default for Redactor {
    /// Knows no value; escape sequences are left out all the same.
    fn default() -> Self {
        static NOTHING: OnceLock<Redactor> = OnceLock::new();
        let make = || {
            let none: [&[u8]; 0] = [];
            Redactor(Arc::new(Known::new(none).unwrap_or_else(|_| unreachable!("no value is bad"))))
        };
        NOTHING.get_or_init(make).clone()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Knows these values in every form that programs write them in.
    pub fn new<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Result<Self, BadValues> {
        Known::new(values).map(|known| Self(Arc::new(known)))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn bytes(&self, bytes: &[u8], ansi: Ansi) -> Redacted<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len());
        State::new(ansi).push(&self.0, bytes, true, &mut out);
        Redacted(out)
    }

    pub fn text(&self, text: &str, ansi: Ansi) -> Redacted<String> {
        let Redacted(bytes) = self.bytes(text.as_bytes(), ansi);
        // A value may have ended within a letter.
        Redacted(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    /// As JSON over several lines, and a last line break. Values are taken out of each string by
    /// itself, so that what is written can be read, and then out of the whole, so that none is left.
    pub fn json(&self, value: &impl Serialize) -> serde_json::Result<Redacted<Vec<u8>>> {
        let mut bytes = if self.is_empty() {
            serde_json::to_vec_pretty(value)?
        } else {
            let mut value = serde_json::to_value(value)?;
            self.strings(&mut value, Ansi::Keep);
            serde_json::to_vec_pretty(&value)?
        };
        bytes.push(b'\n');
        // JSON has no escape sequences: they are escaped themselves.
        Ok(self.bytes(&bytes, Ansi::Keep))
    }

    /// Looks through each string of a value, and through the names of its fields.
    pub fn strings(&self, value: &mut Value, ansi: Ansi) {
        match value {
            Value::String(text) => *text = self.text(text, ansi).0,
            Value::Array(items) => items.iter_mut().for_each(|item| self.strings(item, ansi)),
            Value::Object(map) => {
                let fields = std::mem::take(map).into_iter();
                *map = fields
                    .map(|(name, mut value)| {
                        self.strings(&mut value, ansi);
                        (self.text(&name, ansi).0, value)
                    })
                    .collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A writer whose every byte is looked through on its way to `sink`.
    pub fn writer<S: Sink>(&self, sink: S, ansi: Ansi) -> Writer<S> {
        Writer { redactor: self.clone(), state: State::new(ansi), sink, out: Redacted(Vec::new()) }
    }

    /// Whether a value stands in these bytes, in whatever form.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        !self.is_empty() && !self.places(bytes).is_empty()
    }

    /// Which values stand whole in these bytes, by their number, and where: each place once.
    pub(crate) fn places(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let found = escapes::Escapes::find(bytes, true);
        let mut places = Vec::new();
        for view in stream::views(bytes, &found).iter().flatten() {
            let whole = self.0.hits(&view.bytes).into_iter().filter(|hit| hit.is_whole);
            places.extend(whole.map(|hit| (hit.value, view.place(hit.range.start))));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

impl<T> Redacted<T> {
    pub fn get(&self) -> &T {
        &self.0
    }

    pub fn into_inner(self) -> T {
        self.0
    }
}

impl fmt::Display for Redacted<String> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a stream goes that was looked through.
pub trait Sink {
    fn take(&mut self, bytes: &Redacted<Vec<u8>>) -> io::Result<()>;
}

impl Sink for Vec<u8> {
    fn take(&mut self, bytes: &Redacted<Vec<u8>>) -> io::Result<()> {
        self.extend_from_slice(bytes.get());
        Ok(())
    }
}

/// A stream on its way out. What may be the start of a value is held back until more comes, or until
/// [`Writer::finish`]; to flush it does not let go of that.
pub struct Writer<S: Sink> {
    redactor: Redactor,
    state: State,
    sink: S,
    out: Redacted<Vec<u8>>,
}

impl<S: Sink> fmt::Debug for Writer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

impl<S: Sink> Writer<S> {
    /// Says that nothing more comes: what was held back goes out.
    pub fn finish(mut self) -> io::Result<S> {
        self.push(&[], true)?;
        Ok(self.sink)
    }

    fn push(&mut self, bytes: &[u8], is_last: bool) -> io::Result<()> {
        self.out.0.clear();
        self.state.push(&self.redactor.0, bytes, is_last, &mut self.out.0);
        if self.out.0.is_empty() { Ok(()) } else { self.sink.take(&self.out) }
    }
}

impl<S: Sink> Write for Writer<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes, false)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
