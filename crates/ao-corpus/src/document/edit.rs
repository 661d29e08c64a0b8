//! An edit of one document: it changes what it means and nothing else.

use ao_contract::Extra;
use serde_json::Value;

use super::plain::Plain;
use super::{Body, Document, Form, fence, json, keys};

/// Why a document was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("it is left as it is: {0}")]
    Doubt(String),
    /// The edited text does not read back as what was meant.
    #[error("`{0}` cannot be changed without touching something else")]
    NotExact(String),
}

/// A document with changes that are not yet read back.
#[derive(Debug, Clone)]
pub struct Draft {
    text: String,
    form: Form,
    /// What the fields must read as afterwards.
    fields: Extra,
    /// What the body must be afterwards.
    body: String,
    error: Option<EditError>,
}

impl Draft {
    pub(super) fn of(document: &Document) -> Self {
        Self {
            text: document.text.clone(),
            form: document.form,
            fields: document.fields().into_owned(),
            body: document.body().to_owned(),
            error: document.doubt.clone().map(EditError::Doubt),
        }
    }

    /// Sets a field. One that is there keeps its place, its comment and its style.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        let value = value.into();
        if self.fields.get(key) == Some(&value) {
            return self;
        }
        self.fields.insert(key.to_owned(), value.clone());
        self.splice(key, |draft| match draft.form {
            Form::Markdown => {
                draft.set_yaml(key, &value);
                Some(())
            }
            Form::JsonLine => draft.set_json(key, Some(&value)),
        })
    }

    pub fn remove(&mut self, key: &str) -> &mut Self {
        if self.fields.shift_remove(key).is_none() {
            return self;
        }
        self.splice(key, |draft| match draft.form {
            Form::Markdown => {
                let header = draft.header()?;
                let lines =
                    keys::find(&draft.text[header.clone()]).into_iter().find(|l| l.key == key)?;
                let span = header.start + lines.span.start..header.start + lines.span.end;
                draft.text.replace_range(span, "");
                Some(())
            }
            Form::JsonLine => draft.set_json(key, None),
        })
    }

    /// Takes over a field as another document writes it, comments and style included.
    pub fn take(&mut self, from: &Document, key: &str) -> &mut Self {
        let Some(value) = from.get(key) else { return self };
        let raw = match (self.form, &from.header, from.doubt.is_none()) {
            (Form::Markdown, Some(header), true) if !self.fields.contains_key(key) => {
                let theirs = &from.text[header.clone()];
                let lines = keys::find(theirs).into_iter().find(|lines| lines.key == key);
                lines.map(|lines| theirs[lines.span].replace("\r\n", "\n"))
            }
            _ => None,
        };
        let Some(raw) = raw else { return self.set(key, value.into_owned()) };
        self.fields.insert(key.to_owned(), value.into_owned());
        self.splice(key, |draft| {
            let raw = raw.trim_end_matches('\n').replace('\n', fence::newline(&draft.text));
            draft.append_lines(&raw);
            Some(())
        })
    }

    pub fn set_body(&mut self, body: &str) -> &mut Self {
        if self.body == body {
            return self;
        }
        if self.form == Form::JsonLine {
            let key = if self.fields.contains_key("content") { "content" } else { "summary" };
            body.clone_into(&mut self.body);
            return self.set(key, body);
        }
        let kept = self.text.len() - self.body.len();
        self.text.truncate(kept);
        self.text.push_str(body);
        body.clone_into(&mut self.body);
        self
    }

    /// Reads the edited text back; it counts only if it says exactly what was meant.
    pub fn finish(&self) -> Result<Document, EditError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let document = Document::parse(self.form, self.text.clone().into_bytes())
            .map_err(EditError::NotExact)?;
        if let Some(doubt) = &document.doubt {
            return Err(EditError::NotExact(doubt.clone()));
        }
        let is_same_body = match &document.body {
            Body::From(_) => document.body() == self.body,
            Body::Apart(_) => true,
        };
        if !is_same_body {
            return Err(EditError::NotExact("the body".into()));
        }
        let read = document.fields();
        let is_same_order = read.keys().eq(self.fields.keys());
        let odd = self.fields.iter().find(|(key, value)| read.get(*key) != Some(value));
        match odd {
            Some((key, _)) => Err(EditError::NotExact(key.clone())),
            None if !is_same_order => Err(EditError::NotExact("the order of keys".into())),
            None => {
                drop(read);
                Ok(document)
            }
        }
    }

    fn splice(&mut self, key: &str, change: impl FnOnce(&mut Self) -> Option<()>) -> &mut Self {
        if self.error.is_none() && change(self).is_none() {
            self.error = Some(EditError::NotExact(key.to_owned()));
        }
        self
    }

    fn header(&self) -> Option<std::ops::Range<usize>> {
        match fence::find(&self.text) {
            fence::Found::Header { header, .. } => Some(header),
            fence::Found::None { .. } | fence::Found::Open { .. } => None,
        }
    }

    fn set_json(&mut self, key: &str, value: Option<&Value>) -> Option<()> {
        let start = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        let line = self.text[start..].lines().next().unwrap_or_default();
        let end = start + line.len();
        let line = json::set(&self.text[start..end], key, value).ok()?;
        self.text.replace_range(start..end, &line);
        Some(())
    }

    fn set_yaml(&mut self, key: &str, value: &Value) {
        let newline = fence::newline(&self.text);
        let Some(header) = self.header() else {
            return self.append_lines(&format!("{}: {}", flow(&Value::from(key)), flow(value)));
        };
        let there = &self.text[header.clone()];
        let Some(lines) = keys::find(there).into_iter().find(|lines| lines.key == key) else {
            return self.append_lines(&format!("{}: {}", flow(&Value::from(key)), flow(value)));
        };
        let old = &there[lines.value..lines.span.end];
        let new = rewrite(old, value, newline);
        let span = header.start + lines.value..header.start + lines.span.end;
        self.text.replace_range(span, &new);
    }

    /// Adds lines at the end of the header; makes one where there is none.
    fn append_lines(&mut self, lines: &str) {
        let newline = fence::newline(&self.text);
        if let Some(header) = self.header() {
            return self.text.insert_str(header.end, &format!("{lines}{newline}"));
        }
        let start = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        let header = format!("---{newline}{lines}{newline}---{newline}");
        self.text.insert_str(start, &header);
    }
}

/// A value in the style of the one it replaces. `old` begins behind the colon and ends with a
/// line end.
fn rewrite(old: &str, value: &Value, newline: &str) -> String {
    let first_end = old.find('\n').unwrap_or(old.len());
    let first = old[..first_end].trim_end_matches('\r');
    let rest = &old[(first_end + 1).min(old.len())..];
    if let (Value::Array(items), true) = (value, first.trim().is_empty()) {
        let indent: String = rest.chars().take_while(|c| *c == ' ').collect();
        let is_list = rest.trim_start().starts_with('-');
        if is_list && !items.is_empty() {
            let lines: Vec<String> =
                items.iter().map(|item| format!("{indent}- {}{newline}", flow(item))).collect();
            return format!("{first}{newline}{}", lines.concat());
        }
    }
    let is_one_line = rest.is_empty();
    let is_kept = is_one_line && !ao_mutant::active("LOOP-08/comments-go");
    let comment = if is_kept { comment_of(first) } else { "" };
    format!(" {}{comment}{newline}", styled(first.trim(), value))
}

/// The comment behind a value on one line, with the space before it.
fn comment_of(text: &str) -> &str {
    let quote = text.trim_start().chars().next().filter(|c| matches!(c, '"' | '\''));
    let from = match quote {
        Some(quote) => text.rfind(quote).map_or(0, |at| at + 1),
        None => 0,
    };
    let Some(at) = text[from..].find(" #").map(|at| from + at) else { return "" };
    &text[text[..at].trim_end().len()..]
}

/// Text stays in the quotes that it was in.
fn styled(old: &str, value: &Value) -> String {
    match value {
        Value::String(text) if old.starts_with('"') => Value::from(text.as_str()).to_string(),
        Value::String(text) if old.starts_with('\'') && !text.contains(char::is_control) => {
            format!("'{}'", text.replace('\'', "''"))
        }
        _ => flow(value),
    }
}

/// A value on one line. JSON is YAML, so only plain words are written otherwise.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let is_plain = Plain::of(&format!("k: {text}"))
                .and_then(|header| header.get("k")?.word())
                .is_some_and(|word| word == text);
            if is_plain { text.clone() } else { value.to_string() }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}: {}", flow(&Value::from(key.as_str())), flow(value))
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn markdown(text: &str) -> Document {
        Document::parse(Form::Markdown, text.as_bytes().to_vec()).unwrap()
    }

    fn text(document: &Document) -> &str {
        std::str::from_utf8(document.bytes()).unwrap()
    }

    #[test]
    fn an_edit_changes_only_what_it_means() {
        let before = "\u{feff}---\r\n# about\r\nid: \"a:b\"  # quoted\r\nutility: 0.5   # measured\r\n\
            tags:\r\n  - one\r\n  - 'two'\r\n# before nested\r\nx_custom:\r\n  owner: me\r\n  # inside\r\n\r\n---\r\n\
            body --- here\r\n---\r\nmore\r\n";
        let document = markdown(before);
        assert_eq!(document.doubt(), None);
        let edited = document
            .draft()
            .set("utility", 0.75)
            .set("tags", json!(["one", "three: 3"]))
            .set("merged_from", json!(["x.md"]))
            .set("id", "a:c")
            .finish()
            .unwrap();
        let after = before
            .replace("0.5   #", "0.75   #")
            .replace("  - 'two'\r\n", "  - \"three: 3\"\r\n")
            .replace("\"a:b\"", "\"a:c\"")
            .replace("  # inside\r\n\r\n---", "  # inside\r\n\r\nmerged_from: [x.md]\r\n---");
        assert_eq!(text(&edited), after);
        let back = edited.draft().remove("merged_from").remove("x_custom").finish().unwrap();
        assert!(!text(&back).contains("owner") && text(&back).contains("# before nested\r\n"));
    }

    #[test]
    fn headers_are_made_where_there_is_none() {
        let edited = markdown("# Title\n").draft().set("a", 1).finish().unwrap();
        assert_eq!(text(&edited), "---\na: 1\n---\n# Title\n");
        let edited = markdown("---\n---\nx").draft().set("a", "no").finish().unwrap();
        assert_eq!(text(&edited), "---\na: \"no\"\n---\nx");
    }

    #[test]
    fn what_is_in_doubt_is_never_edited() {
        for doubtful in ["---\na: 1\na: 2\n---\n", "---\na: 1\n", "---\na: [\n---\n"] {
            let error = markdown(doubtful).draft().set("b", 1).finish().unwrap_err();
            assert!(matches!(error, EditError::Doubt(_)), "{doubtful}");
        }
        // The value ends where the line scanner cannot know.
        let odd = "---\na: \"x\ny: 1\"\nb: 2\n---\n";
        assert!(
            markdown(odd).draft().set("y", 3).finish().is_err() || markdown(odd).doubt().is_some()
        );
    }

    #[test]
    fn a_field_is_taken_over_as_it_was_written() {
        let from =
            markdown("---\nx_custom:\n  owner: 'me'  # really\n  list: [a,  b]\nz: 1\n---\n");
        let into = markdown("---\r\na: 1\r\n---\r\nbody\r\n");
        let edited = into.draft().take(&from, "x_custom").finish().unwrap();
        let expected = "---\r\na: 1\r\nx_custom:\r\n  owner: 'me'  # really\r\n  list: [a,  b]\r\n---\r\nbody\r\n";
        assert_eq!(text(&edited), expected);
    }

    #[test]
    fn json_lines_are_spliced() {
        let line = "{\"id\": \"a\", \"n\": 1.50, \"content\": \"old\"}\nsecond line\n";
        let document = Document::parse(Form::JsonLine, line.as_bytes().to_vec()).unwrap();
        assert_eq!(document.body(), "old");
        let edited =
            document.draft().set("id", "b").set("z", json!([1])).set_body("new").finish().unwrap();
        let expected =
            "{\"id\": \"b\", \"n\": 1.50, \"content\": \"new\", \"z\": [1]}\nsecond line\n";
        assert_eq!(text(&edited), expected);
        let less = edited.draft().remove("id").remove("z").finish().unwrap();
        assert_eq!(text(&less), "{ \"n\": 1.50, \"content\": \"new\"}\nsecond line\n");
        assert!(Document::parse(Form::JsonLine, b"{\"a\":1,\"a\":2}\n".to_vec()).is_err());
        assert!(Document::parse(Form::JsonLine, b"[1]\n".to_vec()).is_err());
    }
}
