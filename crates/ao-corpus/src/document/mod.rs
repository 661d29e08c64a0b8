//! One file of knowledge, read without loss.
//!
//! This is the only parser of corpus files. A document holds the file's bytes as they are; fields
//! and body are views of them. An edit splices the bytes it means and is read back before it
//! counts: everything else is the same by construction, and checked all the same.
//!
//! What cannot be understood is never changed. A header in doubt (see [`Document::doubt`]) leaves
//! the text readable and searchable, and the file untouchable.

mod edit;
mod fence;
mod json;
mod keys;
mod markdown;
mod plain;
mod yaml;

use std::borrow::Cow;

use ao_contract::{Confidence, Extra, Learning, Maturity};
use jiff::civil::Date;
use serde_json::Value;

use plain::Plain;

pub use edit::{Draft, EditError};
pub use markdown::{Section, sections};
pub(crate) use markdown::{code_fence, ends_code, heading};

/// A larger file is not a note. Real ones go up to a megabyte.
pub const DOCUMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The utility of an entry that does not say.
const UTILITY_UNSAID: f64 = 0.5;

/// How a document is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// YAML between two fences, then Markdown.
    Markdown,
    /// One JSON object on the first line.
    JsonLine,
}

impl Form {
    /// By the file's name; `None` for files that are no documents.
    pub fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "md" => Some(Self::Markdown),
            "jsonl" => Some(Self::JsonLine),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Document {
    text: String,
    form: Form,
    fields: Fields,
    /// Where the header's own lines are, without the fences.
    header: Option<std::ops::Range<usize>>,
    body: Body,
    doubt: Option<String>,
}

/// How the header's fields are known.
#[derive(Debug, Clone)]
enum Fields {
    /// They are read in the text when they are asked for.
    InText,
    Apart(Box<Extra>),
}

#[derive(Debug, Clone)]
enum Body {
    From(usize),
    /// In JSON the body is a string among others.
    Apart(String),
}

impl Document {
    /// Reads a document; the error says why these bytes are none.
    pub fn parse(form: Form, bytes: Vec<u8>) -> Result<Self, String> {
        if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
            return Err(format!("is larger than {DOCUMENT_BYTES_MAX} bytes"));
        }
        let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
        if text.as_bytes().contains(&0) {
            return Err("is binary: it holds a zero byte".into());
        }
        match form {
            Form::Markdown => Ok(Self::markdown(text)),
            Form::JsonLine => Self::json_line(text),
        }
    }

    fn markdown(text: String) -> Self {
        let (header, body, doubt) = match fence::find(&text) {
            fence::Found::None { body } => (None, body, None),
            fence::Found::Open { body } => {
                (None, body, Some("its header has no closing `---`".to_owned()))
            }
            fence::Found::Header { header, body } => (Some(header), body, None),
        };
        let mut fields = Fields::InText;
        let mut doubt = doubt;
        if let Some(range) = &header
            && let yaml::Header::Read(read) = yaml::read(&text[range.clone()])
        {
            fields = Fields::Apart(Box::new(read.fields));
            doubt = read.doubt;
        }
        Self { text, form: Form::Markdown, fields, header, body: Body::From(body), doubt }
    }

    fn json_line(text: String) -> Result<Self, String> {
        let line = text.lines().next().unwrap_or_default();
        let fields = json::object(line)?;
        let body = fields.get("content").or_else(|| fields.get("summary"));
        let body = body.and_then(Value::as_str).unwrap_or_default().to_owned();
        let (form, fields) = (Form::JsonLine, Fields::Apart(Box::new(fields)));
        Ok(Self { text, form, fields, header: None, body: Body::Apart(body), doubt: None })
    }

    /// The file, byte for byte.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    pub fn form(&self) -> Form {
        self.form
    }

    /// Why this file must not be changed, if so.
    pub fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// The header's fields in their order.
    pub fn fields(&self) -> Cow<'_, Extra> {
        match &self.fields {
            Fields::InText => Cow::Owned(self.plain().all()),
            Fields::Apart(fields) => Cow::Borrowed(fields.as_ref()),
        }
    }

    /// The names of the header's fields in their order.
    pub fn keys(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.fields {
            Fields::InText => Box::new(self.plain().fields().map(|field| field.key)),
            Fields::Apart(fields) => Box::new(fields.keys().map(String::as_str)),
        }
    }

    /// A field, also one that is set to nothing.
    pub fn get(&self, key: &str) -> Option<Cow<'_, Value>> {
        match &self.fields {
            Fields::InText => self.plain().get(key)?.value().map(Cow::Owned),
            Fields::Apart(fields) => fields.get(key).map(Cow::Borrowed),
        }
    }

    fn plain(&self) -> Plain<'_> {
        Plain::again(self.header.clone().map_or("", |header| &self.text[header]))
    }

    /// What follows the header.
    pub fn body(&self) -> &str {
        match &self.body {
            Body::From(at) => &self.text[*at..],
            Body::Apart(body) => body,
        }
    }

    /// What the fields are read from, as it is written.
    pub(crate) fn header_text(&self) -> &str {
        match (self.form, self.header.clone()) {
            (Form::JsonLine, _) => &self.text,
            (Form::Markdown, header) => header.map_or("", |header| &self.text[header]),
        }
    }

    /// The line of the file that a place of the body is in, from 1.
    pub(crate) fn line_at(&self, start: usize) -> u64 {
        let before = match &self.body {
            Body::From(at) => at + start,
            // The body of a JSON line stands nowhere in its file as it is.
            Body::Apart(_) => 0,
        };
        1 + memchr::memchr_iter(b'\n', &self.text.as_bytes()[..before]).count() as u64
    }

    /// The line of the file that a key of the header is in, from 1.
    pub(crate) fn line_of_key(&self, key: &str) -> Option<u64> {
        let header = self.header.clone()?;
        let is_it = |line: &str| {
            line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        let before = memchr::memchr_iter(b'\n', &self.text.as_bytes()[..header.start]).count();
        let at = self.text[header].lines().position(is_it)?;
        Some(1 + (before + at) as u64)
    }

    /// A field that is set: neither null nor one of the words by which people write null.
    pub fn field(&self, key: &str) -> Option<Cow<'_, Value>> {
        let value = self.get(key)?;
        let is_unset = match value.as_ref() {
            Value::Null => true,
            Value::String(text) => matches!(text.trim(), "" | "null" | "~"),
            _ => false,
        };
        (!is_unset).then_some(value)
    }

    /// Whether a field is set.
    pub fn has(&self, key: &str) -> bool {
        match &self.fields {
            Fields::InText => self.plain().get(key).is_some(),
            Fields::Apart(_) => self.field(key).is_some(),
        }
    }

    /// A scalar field as text.
    pub fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        match &self.fields {
            Fields::InText => {
                let field = self.plain().get(key)?;
                let number = || Some(Cow::Owned(scalar(&field.value()?)?.into_owned()));
                field.word().map(Cow::Borrowed).or_else(number)
            }
            Fields::Apart(_) => match self.field(key)? {
                Cow::Borrowed(value) => scalar(value),
                Cow::Owned(value) => Some(Cow::Owned(scalar(&value)?.into_owned())),
            },
        }
    }

    /// A field of one or several scalars as texts.
    pub fn texts(&self, key: &str) -> Vec<Cow<'_, str>> {
        match self.field(key) {
            Some(Cow::Borrowed(value)) => scalars(value).collect(),
            Some(Cow::Owned(value)) => {
                scalars(&value).map(|text| Cow::Owned(text.into_owned())).collect()
            }
            None => Vec::new(),
        }
    }

    /// A number, also where somebody quoted it.
    pub fn number(&self, key: &str) -> Option<f64> {
        let number = match self.field(key)?.as_ref() {
            Value::Number(number) => number.as_f64()?,
            Value::String(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        number.is_finite().then_some(number)
    }

    pub fn count(&self, key: &str) -> u64 {
        let value = self.number(key).unwrap_or(0.0);
        // Counts that are written by hand can be anything; none is beyond this.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let count = value.clamp(0.0, 1e9) as u64;
        count
    }

    pub fn is_true(&self, key: &str) -> bool {
        match self.field(key).as_deref() {
            Some(Value::Bool(value)) => *value,
            Some(Value::String(text)) => text.trim().eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    pub fn utility(&self) -> f64 {
        self.number("utility").filter(|value| (0.0..=1.0).contains(value)).unwrap_or(UTILITY_UNSAID)
    }

    /// `None` where the entry does not say, or says a word that is none.
    pub fn maturity(&self) -> Option<Maturity> {
        serde_json::from_value(self.field("maturity")?.into_owned()).ok()
    }

    /// From 0 to 1, where the entry says.
    pub fn confidence(&self) -> Option<f64> {
        let confidence: Confidence =
            serde_json::from_value(self.field("confidence")?.into_owned()).ok()?;
        confidence.value()
    }

    /// Whether its author wants it left exactly as it is.
    pub fn is_pinned(&self) -> bool {
        self.is_true("pinned")
    }

    /// Whether another entry, a promotion or its author took it out of retrieval.
    pub fn is_hidden(&self) -> bool {
        self.has("superseded_by") || self.has("promoted_to") || self.is_true("superseded")
    }

    /// Whether a finding says that it is dealt with.
    pub fn is_resolved(&self) -> bool {
        self.is_true("resolved")
            || self.text.contains("**Resolved:**")
            || self.text.contains("<!-- RESOLVED -->")
    }

    /// The day a field names; a time of day after it is allowed.
    pub fn day(&self, key: &str) -> Option<Date> {
        day(&self.text(key)?)
    }

    /// What it is called: by its header, or else by its first heading.
    pub fn title(&self) -> Option<Cow<'_, str>> {
        self.text("title").or_else(|| markdown::title(self.body()).map(Cow::Borrowed))
    }

    /// The header as the contract's type.
    pub fn learning(&self) -> Result<Learning, String> {
        serde_json::from_value(Value::Object(self.fields().into_owned()))
            .map_err(|error| error.to_string())
    }

    /// Begins an edit.
    pub fn draft(&self) -> Draft {
        Draft::of(self)
    }
}

/// The day at the beginning of a text, as in `2026-04-01T08:00:00Z` or `2026-04-01-slug`.
pub fn day(text: &str) -> Option<Date> {
    let day = text.trim().get(..10)?;
    day.parse().ok()
}

fn scalars(value: &Value) -> impl Iterator<Item = Cow<'_, str>> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    items.iter().filter_map(scalar)
}

fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text.as_str())),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(value) => Some(Cow::Borrowed(if *value { "true" } else { "false" })),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
