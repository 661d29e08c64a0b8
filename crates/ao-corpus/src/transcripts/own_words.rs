//! What of a person's turn the person wrote.
//!
//! Programs put much into a person's place: reminders, what hooks printed, commands with their output,
//! summaries of earlier sessions. And people paste: logs, code, what others said.
//!
//! What a program puts there it marks by `<tags>`. What stands between them may say anything, a closing tag and a
//! person's words behind it included, in whatever spelling. So nothing that follows a tag is believed, and no tag
//! is ever looked for to close another: a person's words end where the first one begins.

use std::collections::BTreeSet;

/// More is pasted; only a first paragraph of its own counts then.
const OWN_CHARS_MAX: usize = 1500;
const OWN_LINES_MAX: usize = 15;
const FIRST_CHARS_MAX: usize = 300;
/// A turn of this size is not even looked through.
const TURN_BYTES_MAX: usize = 256 * 1024;
/// Who opens more names than this and closes none of them pastes; each of them is looked for to the end of the turn.
const UNCLOSED_MAX: usize = 200;
/// Tags of programs that have neither `-` nor `_` in their names.
const TAGS: [&str; 16] = [
    "result",
    "results",
    "event",
    "channel",
    "notes",
    "skill",
    "objective",
    "summary",
    "command",
    "context",
    "action",
    "status",
    "output",
    "user",
    "human",
    "assistant",
];

/// Turns that begin so are a program's.
#[rustfmt::skip]
const MACHINE: [&str; 24] = [
    "caveat: the messages below",
    "this session is being continued",
    "[request interrupted",
    "# agents.md instructions",
    "api error:",
    "base directory for this skill",
    "operation stopped by hook",
    "the user opened the file",
    "read the output file to retrieve",
    "the user wants to clarify",
    "the user doesn't want to",
    "user rejected tool use",
    "you have exceeded the maximum number",
    "continue from where you left off",
    "please continue the conversation from",
    "another language model started to solve",
    "i ran the following shell command:",
    "here is the user's editor context",
    "here is a summary of the user's editor",
    "the following is the codex agent history",
    "automation:",
    "system:",
    "# review findings",
    "[system",
];
/// So does what a hook printed: `PreToolUse:Bash hook …`.
const HOOKS: [&str; 9] = [
    "pretooluse",
    "posttooluse",
    "userpromptsubmit",
    "sessionstart",
    "sessionend",
    "subagentstop",
    "precompact",
    "notification hook",
    "stop hook",
];
/// What a program appends to a person's words begins with such a line.
const APPENDED: [&str; 2] =
    ["--- content from referenced files ---", "[request interrupted by user"];
/// As programs write it that put text into tags of their own.
const ESCAPED: &str = "&lt;";
/// Before a person's words stands what the editor shows; they begin behind the last of these lines.
const EDITOR: (&str, &str) = ("# context from my ide setup:", "## my request for codex:");
/// Lines that begin so come out of a program.
const PRINTED: [&str; 15] = [
    "$ ",
    "% ",
    "> ",
    "at ",
    "file \"",
    "traceback",
    "error:",
    "error[",
    "warning:",
    "panicked at",
    "thread '",
    "npm err",
    "+++ ",
    "--- ",
    "@@ ",
];

/// The person's own words; `None` if there are none.
pub(super) fn own_words(turn: &str) -> Option<String> {
    if turn.len() > TURN_BYTES_MAX {
        return None;
    }
    let text = typed(turn)?.trim();
    if text.is_empty() {
        return None;
    }
    let own = without_pasted(text);
    let own = own.trim();
    let is_long = own.chars().count() > OWN_CHARS_MAX || own.lines().count() > OWN_LINES_MAX;
    let own = if is_long { own.split("\n\n").next().unwrap_or("") } else { own }.trim();
    let is_fit = !own.is_empty() && (!is_long || own.chars().count() <= FIRST_CHARS_MAX);
    is_fit.then(|| own.replace(['\u{2019}', '\u{2018}'], "'"))
}

/// What was typed of one text that a program wrote down: what stands before the first tag, and before what the
/// program appends. `None` if too many names are opened and never closed.
pub(super) fn typed(text: &str) -> Option<&str> {
    let text = behind_editor(text);
    if is_machines(text) {
        return Some("");
    }
    let text = &text[..tag(text).ok()?.unwrap_or(text.len())];
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let lower = line.trim().to_lowercase();
        if APPENDED.iter().any(|start| lower.starts_with(start)) {
            break;
        }
        end += line.len();
    }
    Some(&text[..end])
}

/// Whether a text begins like one that a program puts in a person's place.
fn is_machines(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(60).collect();
    let start = start.to_lowercase().replace('\u{2019}', "'");
    let first = start.lines().next().unwrap_or_default();
    let is_hook = || HOOKS.iter().any(|hook| first.starts_with(hook)) && first.contains("hook");
    MACHINE.iter().any(|machine| start.starts_with(machine)) || is_hook()
}

fn behind_editor(text: &str) -> &str {
    if !text.trim_start().get(..EDITOR.0.len()).is_some_and(|it| it.eq_ignore_ascii_case(EDITOR.0))
    {
        return text;
    }
    let mut at = 0;
    let mut begins = text.len();
    for line in text.split_inclusive('\n') {
        at += line.len();
        if line.trim().eq_ignore_ascii_case(EDITOR.1) {
            begins = at;
        }
    }
    &text[begins..]
}

/// Where the first tag of a program begins. A name in angle brackets within a line is a person's, as in `Vec<T>` or
/// `<br>`, unless it is closed or looks like a program's. The error is that too many are opened and never closed.
fn tag(text: &str) -> Result<Option<usize>, ()> {
    let mut unclosed = BTreeSet::new();
    for (at, sign) in text.match_indices(['<', '\u{ff1c}', '&']) {
        if ao_mutant::active("LOOP-24/what-follows-a-tag-is-typed") {
            break;
        }
        let sign = if sign == "&" { ESCAPED } else { sign };
        let Some(rest) = text[at..].strip_prefix(sign) else { continue };
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = &text[line..at];
        let is_in_ticks = before.matches('`').count() % 2 == 1;
        if is_in_ticks && rest[..rest.find('\n').unwrap_or(rest.len())].contains('`') {
            continue;
        }
        if rest.starts_with(['/', '!', '?', '|']) {
            return Ok(Some(at));
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
        let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        if !name.starts_with(char::is_alphabetic) {
            continue;
        }
        let is_first = before.trim().is_empty();
        let is_known =
            name.contains(['-', '_']) || TAGS.contains(&name.to_ascii_lowercase().as_str());
        if is_first || is_known {
            return Ok(Some(at));
        }
        if unclosed.contains(name) {
            continue;
        }
        if rest.contains(&format!("</{name}")) {
            return Ok(Some(at));
        }
        unclosed.insert(name);
        if unclosed.len() > UNCLOSED_MAX {
            return Err(());
        }
    }
    Ok(None)
}

/// Without fenced code, quotes of others, indented lines and what programs print.
fn without_pasted(text: &str) -> String {
    let mut kept = String::new();
    let mut is_code = false;
    for line in text.lines() {
        let bare = line.trim_start();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            is_code = !is_code;
            kept.push('\n');
            continue;
        }
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        let lower: String = bare.chars().take(16).collect::<String>().to_lowercase();
        let is_printed = PRINTED.iter().any(|start| lower.starts_with(start));
        let is_stamped = bare.starts_with(|c: char| c.is_ascii_digit())
            && lower.chars().filter(|c| matches!(c, ':' | '-')).count() >= 2;
        if is_code || is_indented || bare.starts_with('>') || is_printed || is_stamped {
            continue;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_in_a_persons_place_is_left_out() {
        for text in [
            "<system-reminder>No, never do that.</system-reminder>",
            "<command-name>/clear</command-name>\n<command-args></command-args>",
            "Caveat: The messages below were generated by the user while running local commands.",
            "This session is being continued from a previous conversation. No, use tabs.",
            "```\nno, use tabs\n```",
            "> no, use tabs",
            "<bash-stdout>a</bash-stdout>\nno, use tabs",
            "<bash-stdout>a</bash-stdout>\n<bash-stdout>\nno, use tabs</bash-stdout>",
            "\u{ff1c}x-y\u{ff1e}a\u{ff1c}/x-y\u{ff1e} no, use tabs",
            "&lt;bash-stdout&gt;a&lt;/bash-stdout&gt;\nno, use tabs",
            "PreToolUse:Bash hook additional context: no, use tabs",
            "UserPromptSubmit hook success: no, use tabs",
            "# Context from my IDE setup:\n\n## Open tabs:\n- no, use tabs",
            "",
        ] {
            assert_eq!(own_words(text), None, "{text}");
        }
        let kept = own_words("no, use tabs\n<system-reminder>x</system-reminder>").unwrap();
        assert_eq!(kept, "no, use tabs");
        for own in ["a < b and c > d", "a && b & c", "the PreToolUse hook is wrong"] {
            assert_eq!(own_words(own).unwrap(), own);
        }
        // A name that nobody closes is looked for once, wherever it stands.
        assert_eq!(own_words("a<br>b<br><b1>c</b1>d<br>").unwrap(), "a<br>b<br>");
        assert_eq!(
            own_words("use Vec<T>, not `<my-list>`").unwrap(),
            "use Vec<T>, not `<my-list>`"
        );
    }

    #[test]
    fn who_closes_nothing_pastes() {
        let opened =
            |count: usize| (0..count).map(|n| format!("<n{n}.")).collect::<Vec<_>>().concat();
        // Within a line: at its beginning a tag ends the person's words in any case.
        let own = format!("no, use tabs\n\nx {}", opened(UNCLOSED_MAX));
        assert!(own_words(&own).unwrap().starts_with("no, use tabs"));
        assert_eq!(own_words(&format!("no, use tabs\n\nx {}", opened(UNCLOSED_MAX + 1))), None);
    }

    #[test]
    fn of_something_long_only_a_short_first_paragraph_is_the_persons() {
        let log = "one more line of a log that somebody pasted\n".repeat(60);
        assert_eq!(own_words(&log), None);
        assert_eq!(own_words(&format!("no, look here\n\n{log}")).unwrap(), "no, look here");
    }
}
