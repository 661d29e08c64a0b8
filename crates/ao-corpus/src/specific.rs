//! Things in a sentence that are there to be looked at: a measured number, code, a path, a symbol.

/// Units after a number.
const UNITS: [&str; 40] = [
    "ms",
    "s",
    "sec",
    "secs",
    "second",
    "seconds",
    "minute",
    "minutes",
    "min",
    "hour",
    "hours",
    "h",
    "day",
    "days",
    "percent",
    "%",
    "b",
    "kb",
    "mb",
    "gb",
    "tb",
    "kib",
    "mib",
    "gib",
    "bytes",
    "byte",
    "x",
    "files",
    "entries",
    "lines",
    "rows",
    "requests",
    "retries",
    "runs",
    "trials",
    "threads",
    "connections",
    "nights",
    "steps",
    "tests",
];
/// Words before a number that says which.
const WHICH: [&str; 9] =
    ["issue", "commit", "port", "line", "code", "status", "version", "error", "past"];
/// Endings of files that people write about.
const ENDINGS: [&str; 34] = [
    "rs", "go", "py", "js", "ts", "tsx", "jsx", "md", "json", "jsonl", "yaml", "yml", "toml", "sh",
    "c", "h", "cpp", "java", "kt", "rb", "sql", "txt", "cfg", "ini", "lock", "xml", "html", "css",
    "proto", "tf", "service", "plist", "conf", "mod",
];

pub(crate) fn any(sentence: &str) -> bool {
    [measure, code, path, symbol].iter().any(|find| find(sentence).is_some())
}

/// A number with its unit, its bound, its total or its name.
pub(crate) fn measure(sentence: &str) -> Option<String> {
    let tokens: Vec<&str> = sentence.split_whitespace().map(plain).collect();
    for (at, token) in tokens.iter().enumerate() {
        let digits =
            token.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let is_number = digits > 0 && token.as_bytes()[0].is_ascii_digit();
        if !is_number {
            if is_version(token) {
                return Some((*token).to_owned());
            }
            continue;
        }
        let near = |step: isize| {
            at.checked_add_signed(step).and_then(|at| tokens.get(at)).map(|t| t.to_lowercase())
        };
        let is_unit = |word: &str| UNITS.contains(&word);
        let rest = token[digits..].to_lowercase();
        let has_unit = is_unit(&rest) || (rest.is_empty() && near(1).is_some_and(|w| is_unit(&w)));
        let is_of = rest.is_empty()
            && near(1).is_some_and(|word| word == "of" || word == "to")
            && near(2).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let is_which = near(-1).is_some_and(|word| WHICH.contains(&word.as_str()));
        if has_unit || is_of || is_which {
            return Some(tokens[at.saturating_sub(1)..(at + 3).min(tokens.len())].join(" "));
        }
    }
    None
}

/// `v1.2`.
fn is_version(token: &str) -> bool {
    token.strip_prefix('v').is_some_and(|rest| {
        rest.contains('.') && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// What stands between backticks.
pub(crate) fn code(sentence: &str) -> Option<String> {
    let mut parts = sentence.split('`');
    parts.next()?;
    let spans: Vec<&str> = parts.collect();
    // Every second part is outside; the last one has no closing sign.
    let inside = spans.iter().take(spans.len().saturating_sub(1)).step_by(2);
    inside.copied().find_map(line_of_code)
}

/// A line of code, if there is something in it.
pub(crate) fn line_of_code(line: &str) -> Option<String> {
    let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
    (letters >= 2).then(|| line.to_owned())
}

/// A path, or a file by its name.
pub(crate) fn path(sentence: &str) -> Option<String> {
    let is_path = |token: &&str| {
        let name = token.rsplit('/').next().unwrap_or(token);
        let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
            stem.chars().any(char::is_alphanumeric) && ENDINGS.contains(&ending)
        });
        let is_rooted = ["/", "./", "../", "~/"].iter().any(|root| {
            token.strip_prefix(root).is_some_and(|rest| rest.trim_matches('/').contains('/'))
        });
        !token.contains("://") && (has_ending || is_rooted)
    };
    sentence.split_whitespace().map(plain).find(is_path).map(str::to_owned)
}

/// A name as programs have them.
pub(crate) fn symbol(sentence: &str) -> Option<String> {
    let is_symbol = |token: &&str| {
        let inner = |sign: &str| {
            token.split_once(sign).is_some_and(|(before, after)| {
                before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric)
            })
        };
        let is_flag = token.strip_prefix("--").is_some_and(|rest| {
            rest.len() > 1 && rest.starts_with(|c: char| c.is_ascii_lowercase())
        });
        let is_camel = token.starts_with(|c: char| c.is_ascii_lowercase())
            && token.bytes().any(|byte| byte.is_ascii_uppercase())
            && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_call = token
            .strip_suffix("()")
            .is_some_and(|name| !name.is_empty() && name.ends_with(|c: char| c.is_alphanumeric()));
        inner("_") || inner("::") || is_flag || is_camel || is_call
    };
    sentence.split_whitespace().map(bare_symbol).find(is_symbol).map(str::to_owned)
}

/// `(see run_loop)` and `run_loop()` both have parentheses; those of a call stay.
fn bare_symbol(token: &str) -> &str {
    let token = token.trim_matches(|c: char| "\"'`*,.;:!?[]{}".contains(c));
    if token.ends_with("()") {
        token.trim_start_matches('(')
    } else {
        token.trim_matches(['(', ')'])
    }
}

/// A word without the signs around it.
fn plain(token: &str) -> &str {
    token.trim_matches(|c: char| "\"'`*,;:!?()[]{}".contains(c)).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particular_things_are_seen() {
        for text in [
            "took 40 ms",
            "grew to 7MB",
            "in 3 of 9 trials",
            "Issue 417 showed",
            "since v1.2",
            "5%",
        ] {
            assert!(measure(text).is_some(), "{text}");
        }
        for text in ["in cli/cmd/main.go.", "edit Cargo.toml", "(./a/b)", "~/x/y"] {
            assert!(path(text).is_some(), "{text}");
        }
        for text in ["call run_loop()", "the runLoop", "a::b", "pass --dry-run", "MAX_SIZE"] {
            assert!(symbol(text).is_some(), "{text}");
        }
        assert_eq!(code("run `cargo test` now"), Some("cargo test".into()));
    }

    #[test]
    fn everyday_words_are_not() {
        for text in [
            "We had 3 meetings in 2026.",
            "and/or both, read/write",
            "GitHub and JavaScript (really)",
            "a well-known thing -- and more",
            "see https://example.com/a/b.html",
            "an open ` tick",
            "i.e. this, e.g. that",
        ] {
            assert!(!any(text), "{text} {:?} {:?}", path(text), symbol(text));
        }
    }
}
