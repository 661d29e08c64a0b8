//! The settings of a host, edited so that the hook is asked, and edited back.
//!
//! Both hosts keep their hooks in JSON of the same shape. Only the bytes of our own entry come and go: an
//! edit splices the text, and taking it back leaves what was there byte for byte, whatever its spaces and
//! line ends are. How the entry was put in can be read off the spaces before it: where a list or an object
//! was there and empty, nothing stands between its bracket and the entry; where we made it, a space does.

mod spans;

use serde_json::{Value, json};

use crate::hook::Harness;
use crate::strict_json;
use spans::{Member, Span, elements, members};

pub const SETTINGS_BYTES_MAX: usize = 4 * 1024 * 1024;
const EVENT: &str = "PreToolUse";
/// Nobody has more entries of ours; whoever does has a mistake in a loop.
const ENTRIES_MAX: usize = 64;

/// Where a host looks for the hooks of a project.
pub fn settings_file(harness: Harness) -> &'static str {
    match harness {
        Harness::Claude => ".claude/settings.json",
        Harness::Codex => ".codex/hooks.json",
    }
}

/// What would become of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edited {
    Unchanged,
    To(String),
    /// It holds nothing but what we put there.
    Removed,
}

/// The settings with the hook in them. `None` is a file that is not there.
pub fn install(text: Option<&str>, harness: Harness, command: &str) -> Result<Edited, String> {
    let Some(text) = text else { return Ok(Edited::To(fresh(command))) };
    let settings = Settings::read(text, harness)?;
    if let Some(ours) = settings.ours().first() {
        let written = json!(command).to_string();
        let span = ours.command;
        if text[span.start..span.end] == written {
            return Ok(Edited::Unchanged);
        }
        return checked(spliced(text, span, &written), harness, Some(command));
    }
    let unit = indent(text);
    let entry = |depth| pretty(&entry(command), &unit, depth);
    let (at, insert) = match (&settings.hooks, &settings.event) {
        (_, Some(event)) => {
            let items = elements(text, event.value);
            match items.last() {
                Some(last) => (last.end, format!(",\n{}{}", unit.repeat(3), entry(3))),
                None => (event.value.start + 1, json!(self::entry(command)).to_string()),
            }
        }
        (Some(hooks), None) => match members(text, hooks.value).last() {
            Some(last) => {
                let inner = pretty(&json!([self::entry(command)]), &unit, 2);
                (last.value.end, format!(",\n{}\"{EVENT}\": {inner}", unit.repeat(2)))
            }
            None => (hooks.value.start + 1, format!("\"{EVENT}\": [ {} ]", self::entry(command))),
        },
        (None, None) => {
            let inner = pretty(&json!({ EVENT: [self::entry(command)] }), &unit, 1);
            match members(text, settings.root).last() {
                Some(last) => (last.value.end, format!(",\n{unit}\"hooks\": {inner}")),
                None => (settings.root.start + 1, format!("\"hooks\": {inner}")),
            }
        }
    };
    checked(spliced(text, Span { start: at, end: at }, &insert), harness, Some(command))
}

/// The settings without the hook. What somebody added since stays.
pub fn uninstall(text: &str, harness: Harness) -> Result<Edited, String> {
    let mut text = text.to_owned();
    let mut is_changed = false;
    for _ in 0..ENTRIES_MAX {
        let settings = Settings::read(&text, harness)?;
        let Some(ours) = settings.ours().into_iter().next() else { break };
        let command = &text[ours.command.start..ours.command.end];
        let command: String = serde_json::from_str(command).map_err(|error| error.to_string())?;
        if text == fresh(&command) {
            return Ok(Edited::Removed);
        }
        let span = settings.removal(&ours);
        text = spliced(&text, span, "");
        is_changed = true;
    }
    if !is_changed {
        return Ok(Edited::Unchanged);
    }
    checked(text, harness, None)
}

/// Reads an edit back before it counts: the hook is there, or it is not.
fn checked(text: String, harness: Harness, command: Option<&str>) -> Result<Edited, String> {
    let settings = Settings::read(&text, harness)?;
    let ours = settings.ours();
    let is_right = match command.map(|command| json!(command).to_string()) {
        Some(written) => {
            ours.iter().any(|ours| text[ours.command.start..ours.command.end] == written)
        }
        None => ours.is_empty(),
    };
    if is_right { Ok(Edited::To(text)) } else { Err("the edit did not take".into()) }
}

fn entry(command: &str) -> Value {
    json!({ "matcher": "*", "hooks": [{ "type": "command", "command": command }] })
}

fn fresh(command: &str) -> String {
    format!("{}\n", pretty(&json!({ "hooks": { EVENT: [entry(command)] } }), "  ", 0))
}

/// A value in lines, as it would stand at this depth.
fn pretty(value: &Value, unit: &str, depth: usize) -> String {
    let text = format!("{value:#}");
    let mut lines = text.lines();
    let mut written = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let plain = line.trim_start();
        let inner = (line.len() - plain.len()) / 2;
        written.push('\n');
        written.push_str(&unit.repeat(depth + inner));
        written.push_str(plain);
    }
    written
}

/// What the file itself indents with.
fn indent(text: &str) -> String {
    let indented = text.lines().map(|line| &line[..line.len() - line.trim_start().len()]);
    let first = indented.skip(1).find(|space| !space.is_empty() && space.len() <= 8);
    first.map_or_else(|| "  ".to_owned(), str::to_owned)
}

fn spliced(text: &str, span: Span, insert: &str) -> String {
    format!("{}{insert}{}", &text[..span.start], &text[span.end..])
}

/// A settings file, and where in it hooks stand.
struct Settings<'a> {
    text: &'a str,
    harness: Harness,
    root: Span,
    hooks: Option<Member>,
    event: Option<Member>,
}

/// Our own handler: its place in the list of its entry, and the entry's place in the event's list.
struct Ours {
    entry: Span,
    handlers: Vec<Span>,
    handler: Span,
    command: Span,
}

impl<'a> Settings<'a> {
    /// Refuses what the host itself could not read, and what has another shape than it should.
    fn read(text: &'a str, harness: Harness) -> Result<Self, String> {
        if text.len() > SETTINGS_BYTES_MAX {
            return Err(format!("it is larger than {SETTINGS_BYTES_MAX} bytes"));
        }
        let value = strict_json::read(text.as_bytes()).map_err(|error| error.to_string())?;
        let shape = |is_right: bool, what: &str| {
            if is_right {
                Ok(())
            } else {
                Err(format!("{what} is not what the host expects there"))
            }
        };
        shape(value.is_object(), "the file")?;
        let absent =
            |value: Option<&Value>, is_right: fn(&Value) -> bool| value.is_none_or(is_right);
        shape(absent(value.get("hooks"), Value::is_object), "`hooks`")?;
        let event = value.get("hooks").and_then(|hooks| hooks.get(EVENT));
        shape(absent(event, Value::is_array), &format!("`hooks.{EVENT}`"))?;
        for entry in event.and_then(Value::as_array).into_iter().flatten() {
            let handlers = entry.get("hooks");
            let is_right = handlers
                .and_then(Value::as_array)
                .is_some_and(|handlers| handlers.iter().all(Value::is_object));
            shape(is_right, &format!("an entry of `hooks.{EVENT}`"))?;
        }
        let root = spans::whole(text);
        let hooks = members(text, root).into_iter().find(|member| member.key == "hooks");
        let inner = hooks.as_ref().map(|hooks| members(text, hooks.value)).unwrap_or_default();
        let event = inner.into_iter().find(|member| member.key == EVENT);
        Ok(Self { text, harness, root, hooks, event })
    }

    fn ours(&self) -> Vec<Ours> {
        let Some(event) = &self.event else { return Vec::new() };
        let mut found = Vec::new();
        for entry in elements(self.text, event.value) {
            let list = members(self.text, entry).into_iter().find(|member| member.key == "hooks");
            let Some(list) = list else { continue };
            let handlers = elements(self.text, list.value);
            for handler in &handlers {
                let command = members(self.text, *handler)
                    .into_iter()
                    .find(|member| member.key == "command")
                    .filter(|member| {
                        self.is_ours(&self.text[member.value.start..member.value.end])
                    });
                if let Some(command) = command {
                    let (handlers, handler) = (handlers.clone(), *handler);
                    found.push(Ours { entry, handlers, handler, command: command.value });
                }
            }
        }
        found
    }

    fn is_ours(&self, command: &str) -> bool {
        let command: String = serde_json::from_str(command).unwrap_or_default();
        let words = format!(" guard hook --harness {}", self.harness.name());
        command.contains(&words)
            && command.split(&words).next().is_some_and(|before| before.contains("ao"))
    }

    /// All that came with our handler, and nothing else.
    fn removal(&self, ours: &Ours) -> Span {
        let after_bracket = |span: Span| span.start + 1;
        let has_space = |at: usize| self.text[at..].starts_with([' ', '\n', '\t', '\r']);
        if ours.handlers.len() > 1 {
            return among(&ours.handlers, ours.handler);
        }
        let (Some(hooks), Some(event)) = (&self.hooks, &self.event) else { return ours.entry };
        let entries = elements(self.text, event.value);
        if entries.len() > 1 {
            return among(&entries, ours.entry);
        }
        if !has_space(after_bracket(event.value)) {
            return ours.entry;
        }
        let in_hooks: Vec<Span> =
            members(self.text, hooks.value).iter().map(Member::span).collect();
        if in_hooks.len() > 1 {
            return among(&in_hooks, event.span());
        }
        if !has_space(after_bracket(hooks.value)) {
            return event.span();
        }
        let in_root: Vec<Span> = members(self.text, self.root).iter().map(Member::span).collect();
        among(&in_root, hooks.span())
    }
}

/// One of several, with the comma that it needs no more.
fn among(all: &[Span], one: Span) -> Span {
    let at = all.iter().position(|span| *span == one).unwrap_or_default();
    match (at.checked_sub(1).and_then(|before| all.get(before)), all.get(at + 1)) {
        (Some(before), _) => Span { start: before.end, end: one.end },
        (None, Some(after)) => Span { start: one.start, end: after.start },
        (None, None) => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "ao -C x guard hook --harness claude --scope 'a b' || exit 2";

    fn round(text: &str) -> String {
        let Edited::To(with) = install(Some(text), Harness::Claude, COMMAND).unwrap() else {
            panic!("{text}: nothing was installed");
        };
        let again = install(Some(&with), Harness::Claude, COMMAND).unwrap();
        assert_eq!(again, Edited::Unchanged, "{with}");
        let Edited::To(without) = uninstall(&with, Harness::Claude).unwrap() else {
            panic!("{with}: nothing was taken back");
        };
        assert_eq!(without, text, "{with}");
        with
    }

    #[test]
    fn what_was_there_comes_back_byte_for_byte() {
        for text in [
            "{}",
            "{ }\n",
            "{\n}\n",
            "{\r\n\t\"model\": \"x\"\r\n}\r\n",
            "{\"a\":1}",
            "{\n  \"hooks\": {}\n}\n",
            "{\n  \"hooks\": {\n  }\n}\n",
            "{\"hooks\":{\"PreToolUse\":[]}}",
            "{\"hooks\":{ \"PreToolUse\" : [ ] },\"z\":[1,{\"x\":\"}\"}]}",
            "{\n    \"hooks\": {\n        \"Stop\": []\n    },\n    \"b\": \"\\\"{[\"\n}",
            "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}",
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"hooks\": [] }\n    ],\n    \"Stop\": [ ]\n  }\n}\n",
        ] {
            round(text);
        }
    }

    #[test]
    fn a_file_of_our_own_goes_and_a_persons_edits_stay() {
        let Edited::To(fresh) = install(None, Harness::Claude, COMMAND).unwrap() else { panic!() };
        assert_eq!(uninstall(&fresh, Harness::Claude).unwrap(), Edited::Removed);
        let edited = fresh.replacen('{', "{\n  \"model\": \"mine\",", 1);
        let Edited::To(left) = uninstall(&edited, Harness::Claude).unwrap() else { panic!() };
        let left: Value = serde_json::from_str(&left).unwrap();
        assert_eq!(left, json!({ "model": "mine" }));
        // A second handler beside ours, and a second entry after ours.
        let with = round("{\"a\":1}");
        let beside = with
            .replace("|| exit 2\"\n", "|| exit 2\"\n}, {\"type\":\"command\",\"command\":\"y\"\n");
        assert_ne!(beside, with);
        let Edited::To(left) = uninstall(&beside, Harness::Claude).unwrap() else { panic!() };
        let left: Value = serde_json::from_str(&left).unwrap();
        assert_eq!(
            left["hooks"][EVENT][0]["hooks"],
            json!([{ "type": "command", "command": "y" }])
        );
        assert_eq!(uninstall("{\"a\":1}", Harness::Claude).unwrap(), Edited::Unchanged);
        // The other host's hook is not ours to take.
        assert_eq!(uninstall(&with, Harness::Codex).unwrap(), Edited::Unchanged);
    }

    #[test]
    fn other_scopes_replace_the_command_in_its_place() {
        let with = round("{\"a\":1}");
        let other = COMMAND.replace("a b", "c");
        let Edited::To(changed) = install(Some(&with), Harness::Claude, &other).unwrap() else {
            panic!()
        };
        assert_eq!(changed, with.replace("a b", "c"));
    }

    #[test]
    fn what_the_host_could_not_read_is_left_alone() {
        for text in [
            "",
            "[]",
            "{",
            "{\"a\":1,\"a\":2}",
            "// x\n{}",
            "{\"hooks\":[]}",
            "{\"hooks\":{\"PreToolUse\":{}}}",
            "{\"hooks\":{\"PreToolUse\":[1]}}",
            "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[1]}]}}",
            "{\"hooks\":null}",
        ] {
            assert!(install(Some(text), Harness::Claude, COMMAND).is_err(), "{text}");
            assert!(uninstall(text, Harness::Claude).is_err(), "{text}");
        }
    }
}
