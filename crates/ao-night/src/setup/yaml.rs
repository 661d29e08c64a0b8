//! An edit of the `dream:` section of a configuration that people wrote.
//!
//! It replaces the bytes of the values it means, or adds lines, and leaves everything else alone. What it
//! cannot cut exactly it refuses. Whoever calls it reads the result back and compares: this editor is
//! careful, and not believed.

/// A value to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Word(String),
    /// `true` or `false`.
    Flag(bool),
    List(Vec<String>),
}

/// Why the file has to be edited by hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Refused {
    /// From 1 on.
    pub line: usize,
    pub why: String,
}

const SECTION: &str = "dream";
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Where the section says nothing itself.
const INDENT: &str = "  ";
/// With which a value begins that is more than itself: an anchor, an alias, a tag, a block, a map.
const SPECIAL: [char; 10] = ['&', '*', '!', '|', '>', '{', '}', '%', '@', '`'];

/// The text with these keys of `dream:` set, in this order where they are new.
pub fn set(text: &str, keys: &[(&str, Value)]) -> Result<String, Refused> {
    let mut page = Page::read(text)?;
    for (key, value) in keys {
        page.set(key, value)?;
    }
    Ok(page.lines.concat())
}

/// A word that means nothing but itself, in quotes where it needs them.
fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let begins = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    // Words that some readers take for a truth value or for nothing.
    let is_odd = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]
        .contains(&text.to_ascii_lowercase().as_str());
    if begins && !is_odd && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let inside = text.replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{inside}\"")
}

fn flow(items: &[String]) -> String {
    let each: Vec<String> = items.iter().map(|item| word(item)).collect();
    format!("[{}]", each.join(", "))
}

impl Value {
    fn text(&self) -> String {
        match self {
            Self::Word(text) => word(text),
            Self::Flag(is_on) => is_on.to_string(),
            Self::List(items) => flow(items),
        }
    }
}

/// The lines, each with its end, and where the section is.
struct Page {
    lines: Vec<String>,
    end: &'static str,
}

impl Page {
    fn read(text: &str) -> Result<Self, Refused> {
        let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let end =
            if lines.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
        for (at, line) in lines.iter().enumerate() {
            let line_of = |why: &str| Refused { line: at + 1, why: why.to_owned() };
            let bare = bare(line);
            if bare.contains('\r') {
                return Err(line_of("a carriage return inside of a line"));
            }
            let blank = &bare[..bare.len() - bare.trim_start().len()];
            if blank.contains('\t') {
                return Err(line_of("a tab before the first word"));
            }
            let is_mark = |mark: &str| bare == mark || bare.starts_with(&format!("{mark} "));
            if is_mark("...") || (is_mark("---") && !lines[..at].iter().all(|line| is_empty(line)))
            {
                return Err(line_of("more than one document in the file"));
            }
            if bare.starts_with('%') {
                return Err(line_of("a directive for YAML readers"));
            }
        }
        Ok(Self { lines, end })
    }

    /// The line of `dream:` if there is one.
    fn section(&self) -> Result<Option<usize>, Refused> {
        let mut found = None;
        for (at, line) in self.lines.iter().enumerate() {
            let bare = bare(line);
            // Some editors put a mark before the first word of a file.
            let bare = if at == 0 { bare.trim_start_matches(BYTE_ORDER_MARK) } else { bare };
            if is_empty(line) || bare.starts_with(' ') {
                continue;
            }
            let refused = |why: &str| Refused { line: at + 1, why: why.to_owned() };
            if bare.starts_with(['{', '[', '?', '!', '&', '"', '\'']) {
                let is_named = bare[1..].starts_with(SECTION);
                if is_named || !bare.starts_with(['"', '\'']) {
                    return Err(refused("written in a way that is not `dream:` and lines beneath"));
                }
            }
            let Some(rest) = after_key(bare, SECTION) else {
                let rest = bare.strip_prefix(SECTION).unwrap_or_default();
                if rest.starts_with(' ') && rest.trim_start().starts_with(':') {
                    return Err(refused("a space stands between `dream` and its colon"));
                }
                continue;
            };
            if found.is_some() {
                return Err(refused("`dream:` is there twice"));
            }
            if !rest.trim().is_empty() && !is_comment(rest) {
                return Err(refused(
                    "the value of `dream:` stands on its line (flow style, an anchor or a word)",
                ));
            }
            found = Some(at);
        }
        Ok(found)
    }

    /// The end of the section: behind its last line that is not empty and no comment.
    fn body_end(&self, section: usize) -> usize {
        let mut end = section + 1;
        for (at, line) in self.lines.iter().enumerate().skip(section + 1) {
            if is_empty(line) {
                continue;
            }
            if !line.starts_with(' ') {
                break;
            }
            end = at + 1;
        }
        end
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), Refused> {
        let Some(section) = self.section()? else {
            self.close_last_line();
            let end = self.end;
            self.lines.push(format!("{SECTION}:{end}"));
            self.lines.push(format!("{INDENT}{key}: {}{end}", value.text()));
            return Ok(());
        };
        let end = self.body_end(section);
        let first = (section + 1..end).find(|at| !is_empty(&self.lines[*at]));
        let indent = first.map_or(INDENT.len(), |at| indent_of(&self.lines[at]));
        let mut found = None;
        for at in section + 1..end {
            let line = &self.lines[at];
            if is_empty(line) || indent_of(line) != indent {
                continue;
            }
            let refused = |why: String| Refused { line: at + 1, why };
            let bare = bare(line)[indent..].to_owned();
            if bare.starts_with("<<") {
                return Err(refused("keys that are merged in from elsewhere".to_owned()));
            }
            if bare.starts_with(['"', '\'', '?']) && bare.contains(key) {
                return Err(refused(format!("`{key}` is written in quotes")));
            }
            if after_key(&bare, key).is_some() {
                if found.is_some() {
                    return Err(refused(format!("`{key}` is there twice")));
                }
                found = Some(at);
            }
        }
        if let Some(at) = found {
            return self.replace(at, indent, end, key, value);
        }
        if end == self.lines.len() {
            self.close_last_line();
        }
        let line = format!("{}{key}: {}{}", " ".repeat(indent), value.text(), self.end);
        self.lines.insert(end, line);
        Ok(())
    }

    fn replace(
        &mut self,
        at: usize,
        indent: usize,
        end: usize,
        key: &str,
        value: &Value,
    ) -> Result<(), Refused> {
        let refused =
            |line: usize, why: &str| Refused { line: line + 1, why: format!("`{key}`: {why}") };
        let line = self.lines[at].clone();
        let head = indent + key.len() + 1;
        let (rest, ending) = (&bare(&line)[head..], &line[bare(&line).len()..]);
        // The lines beneath that belong to it: deeper ones, and a list that is not.
        let is_of_it = |line: &String| {
            let beneath = indent_of(line);
            beneath > indent || (beneath == indent && line[indent..].starts_with("- "))
        };
        let mut last = at + 1;
        for (next, line) in self.lines.iter().enumerate().take(end).skip(at + 1) {
            if is_empty(line) {
                continue;
            }
            if !is_of_it(line) {
                break;
            }
            last = next + 1;
        }
        if rest.trim().is_empty() || is_comment(rest) {
            // Nothing on its line: a block list, or nothing at all.
            let items = self.lines[at + 1..last].to_vec();
            for (nth, item) in items.iter().enumerate() {
                let bare = bare(item).trim_start();
                if !bare.starts_with("- ")
                    || bare.contains(" #")
                    || bare[2..].trim_start().starts_with(SPECIAL)
                {
                    return Err(refused(
                        at + 1 + nth,
                        "not a plain list (a comment, an anchor or a block in it)",
                    ));
                }
            }
            let Value::List(wanted) = value else {
                if items.is_empty() && rest.trim().is_empty() {
                    self.lines[at] = format!("{}: {}{}", &line[..head - 1], value.text(), ending);
                    return Ok(());
                }
                return Err(refused(at, "its value stands on lines of its own"));
            };
            if items.is_empty() {
                if !rest.trim().is_empty() {
                    return Err(refused(at, "a comment and no value"));
                }
                self.lines[at] = format!("{}: {}{}", &line[..head - 1], value.text(), ending);
                return Ok(());
            }
            let (depth, end) = (indent_of(&items[0]), self.end);
            let pad = " ".repeat(depth);
            let fresh = wanted.iter().map(|item| format!("{pad}- {}{end}", word(item)));
            self.lines.splice(at + 1..last, fresh);
            return Ok(());
        }
        if last > at + 1 {
            return Err(refused(at, "its value goes on over more than one line"));
        }
        let gap = rest.len() - rest.trim_start().len();
        let old = &rest[gap..];
        let length = token(old).ok_or_else(|| {
            refused(at, "its value is written in a way that is not edited (an anchor, an alias, a tag, a block or flow style)")
        })?;
        self.lines[at] =
            format!("{}{}{}{ending}", &line[..head + gap], value.text(), &old[length..]);
        Ok(())
    }

    fn close_last_line(&mut self) {
        let end = self.end;
        if let Some(last) = self.lines.last_mut()
            && !last.ends_with('\n')
        {
            last.push_str(end);
        }
    }
}

/// How long the value at the start is, if it is a word or a list of plain words on one line.
fn token(text: &str) -> Option<usize> {
    let behind = |length: usize| {
        let rest = &text[length..];
        (rest.trim().is_empty() || is_comment(rest)).then_some(length)
    };
    match text.chars().next()? {
        '\'' => behind(text[1..].find('\'')? + 2),
        '"' => {
            let inside = &text[1..];
            let end = inside.find('"')?;
            (!inside[..end].contains('\\')).then(|| behind(end + 2)).flatten()
        }
        '[' => {
            let end = text.find(']')?;
            let is_odd = |letter: char| "[{}&*!|>#".contains(letter);
            (!text[1..end].contains(is_odd)).then(|| behind(end + 1)).flatten()
        }
        first if SPECIAL.contains(&first) => None,
        _ => {
            let end = text.find(" #").unwrap_or(text.len());
            Some(text[..end].trim_end().len())
        }
    }
}

fn bare(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Nothing, or a comment alone.
fn is_empty(line: &str) -> bool {
    let trimmed = line.trim();
    trimmed.is_empty() || trimmed.starts_with('#')
}

fn is_comment(rest: &str) -> bool {
    rest.starts_with([' ', '\t']) && rest.trim_start().starts_with('#')
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// What follows `key:`, if the line begins with it.
fn after_key<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(key)?.strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::{Value, set};

    fn keys() -> Vec<(&'static str, Value)> {
        vec![
            ("scheduler_mode", Value::Word("cron".into())),
            ("schedule_at", Value::Word("03:00".into())),
            ("runners", Value::List(vec!["claude".into(), "command:/a b".into()])),
        ]
    }

    // proves: RUN-08
    #[test]
    fn only_what_is_meant_is_changed() {
        let cases = [
            (
                "",
                "dream:\n  scheduler_mode: cron\n  schedule_at: \"03:00\"\n  runners: [claude, \"command:/a b\"]\n",
            ),
            (
                "# mine\nundo:\n    days: 3",
                "# mine\nundo:\n    days: 3\ndream:\n  scheduler_mode: cron\n  schedule_at: \"03:00\"\n  runners: [claude, \"command:/a b\"]\n",
            ),
            (
                "dream:  # the night\n    schedule_at:   '02:00'   # early\n\n    odd: {a: 1}\n    # about runners\n    runners: [ a, b ] # all\n\n# next\nundo: {days: 3}\n",
                "dream:  # the night\n    schedule_at:   \"03:00\"   # early\n\n    odd: {a: 1}\n    # about runners\n    runners: [claude, \"command:/a b\"] # all\n    scheduler_mode: cron\n\n# next\nundo: {days: 3}\n",
            ),
            (
                "\u{feff}dream:\n  keep_awake: false",
                "\u{feff}dream:\n  keep_awake: false\n  scheduler_mode: cron\n  schedule_at: \"03:00\"\n  runners: [claude, \"command:/a b\"]\n",
            ),
            (
                "dream:\r\n  runners:\r\n  - a\r\n  - b\r\n  scheduler_mode: manual\r\n",
                "dream:\r\n  runners:\r\n  - claude\r\n  - \"command:/a b\"\r\n  scheduler_mode: cron\r\n  schedule_at: \"03:00\"\r\n",
            ),
        ];
        for (before, after) in cases {
            assert_eq!(set(before, &keys()).unwrap(), after);
            assert_eq!(set(after, &keys()).unwrap(), after, "twice is once");
        }
    }

    #[test]
    fn what_cannot_be_cut_exactly_is_refused() {
        for (line, text) in [
            (1, "dream: {runners: [a]}\n"),
            (1, "dream: &night\n  runners: [a]\n"),
            (1, "{dream: {}}\n"),
            (1, "dream :\n  runners: [a]\n"),
            (1, "\"dream\":\n  runners: [a]\n"),
            (2, "dream:\n\trunners: [a]\n"),
            (3, "dream:\n  keep_awake: true\ndream:\n  runners: [a]\n"),
            (3, "dream:\n  schedule_at: '02:00'\n  schedule_at: '03:00'\n"),
            (2, "dream:\n  schedule_at: &at '02:00'\n"),
            (2, "dream:\n  schedule_at: *at\n"),
            (2, "dream:\n  schedule_at: |\n    02:00\n"),
            (2, "dream:\n  <<: *base\n"),
            (3, "dream:\n  runners:\n  - a # why\n"),
            (2, "dream:\n  runners: [a, [b]]\n"),
            (2, "dream:\n  runners: [a,\n    b]\n"),
            (2, "dream:\n  'runners': [a]\n"),
            (2, "dream:\n---\ndream:\n"),
            (1, "%YAML 1.2\n---\ndream:\n"),
        ] {
            let refused = set(text, &keys()).unwrap_err();
            assert_eq!(refused.line, line, "{text}: {refused}");
        }
    }
}
