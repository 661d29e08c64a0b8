//! One word, for each of those who read the files.

use std::fmt::Write as _;

fn is_plain(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-:".contains(letter);
    !text.is_empty() && text.chars().all(is_plain)
}

/// For a POSIX shell.
pub(super) fn shell(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// For a shell that is started by cron: it takes a backslash away from before `%`, and some crons from
/// before another backslash, while others do not. So no two of them ever stand together: behind each
/// one that is meant the quotes are closed and opened again.
pub(super) fn cron(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut word = String::from("'");
    for letter in text.chars() {
        match letter {
            '\'' => word.push_str(r"'\''"),
            '\\' => word.push_str(r"\''"),
            '%' if !ao_mutant::active("RUN-12/percent-is-not-quoted") => word.push_str(r"\%"),
            other => word.push(other),
        }
    }
    word.push('\'');
    word
}

/// Between the double quotes of a systemd unit.
fn systemd_inside(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%")
}

/// An assignment of `Environment=`, where a dollar is a dollar.
pub(super) fn systemd_variable(name: &str, value: &str) -> String {
    format!("\"{name}={}\"", systemd_inside(value))
}

/// An argument of `ExecStart=`.
pub(super) fn systemd_argument(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    format!("\"{}\"", systemd_inside(text).replace('$', "$$"))
}

/// For XML, between tags.
pub(super) fn xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}

/// In an XML comment, where two hyphens end it.
pub(super) fn xml_comment(text: &str) -> String {
    text.replace("--", "- -")
}

/// An argument as programs of Windows take their one line apart.
pub(super) fn windows(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut word = String::from("\"");
    let mut backslashes = 0;
    for letter in text.chars() {
        match letter {
            '\\' => backslashes += 1,
            '"' => {
                // Those before a quote are doubled, and the quote has one of its own.
                word.push_str(&"\\".repeat(backslashes * 2 + 1));
                backslashes = 0;
                word.push('"');
            }
            other => {
                word.push_str(&"\\".repeat(backslashes));
                backslashes = 0;
                word.push(other);
            }
        }
    }
    word.push_str(&"\\".repeat(backslashes * 2));
    word.push('"');
    word
}

/// A PowerShell text between single quotes. Windows reads a script without a mark at its start as of
/// the old code page, so whatever is not ASCII is put in by its number.
pub(super) fn powershell(text: &str) -> String {
    let mut word = String::from("'");
    for letter in text.chars() {
        match letter {
            '\'' => word.push_str("''"),
            other if other.is_ascii() => word.push(other),
            other => {
                let _ = write!(word, "' + [char]::ConvertFromUtf32(0x{:X}) + '", u32::from(other));
            }
        }
    }
    word.push('\'');
    if word.contains(" + ") { format!("({word})") } else { word }
}

#[cfg(test)]
mod tests {
    use super::{cron, powershell, shell, systemd_argument, windows};

    #[test]
    fn each_reader_has_its_own_quotes() {
        assert_eq!(shell("a b'c"), r"'a b'\''c'");
        assert_eq!(cron(r"a%b\\c\%d'"), r"'a\%b\''\''c\''\%d'\'''");
        assert_eq!(systemd_argument("a%b$c\"d\\e f"), r#""a%%b$$c\"d\\e f""#);
        assert_eq!(windows(r#"a b\"c\"#), r#""a b\\\"c\\""#);
        assert_eq!(powershell("it's é"), "('it''s ' + [char]::ConvertFromUtf32(0xE9) + '')");
    }
}
