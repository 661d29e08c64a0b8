//! Ways in which people tell a secret in passing: in an address, on a command line, as a setting, or in plain words.
//!
//! [`crate::looks_secret`] knows keys that say what they are. Here everything counts that may be one, because
//! what is looked through is talk, and a lesson that is lost costs little.

mod random;

use random::{JOINED_BYTES_MIN, KEY_BYTES_MIN, has_random, is_random, joined, pieces};

/// Names of what lets somebody in. Whatever is said to be one is one.
const PASSWORDS: [&str; 4] = ["password", "passwd", "passphrase", "passcode"];
/// The same in short, as whole words.
const PASSWORDS_SHORT: [&str; 4] = ["pass", "pwd", "pw", "creds"];
/// Names of keys.
const KEYS: [&str; 5] = ["secret", "token", "credential", "apikey", "signature"];
const KEYS_SHORT: [&str; 6] = ["key", "keys", "pat", "sig", "sas", "auth"];
/// What stands in a password's place and is none.
#[rustfmt::skip]
const PLAIN: [&str; 24] = [
    "none", "null", "nil", "true", "false", "stdin", "env", "prompt", "required", "optional", "empty", "password",
    "passwd", "pass", "pwd", "pw", "secret", "token", "key", "xxx", "xxxx", "changeme", "example", "string",
];
/// Between a name and what is said to be it.
const LINKS: [&str; 8] = ["is", "was", "to", "as", "be", "=", ":", "now"];
/// A hash behind one of these is no key.
const HASHES: [&str; 11] = [
    "commit", "sha", "rev", "revision", "hash", "digest", "checksum", "tag", "ref", "sha1",
    "sha256",
];
/// Programs that take a password behind `-p`.
const WITH_P: [&str; 5] = ["mysql", "mariadb", "mongo", "sshpass", "7z"];

/// Numbers that only one person knows.
const NUMBERS: [&str; 5] = ["pin", "cvc", "cvv", "otp", "passcode"];
const NUMBER_DIGITS_MIN: usize = 3;
/// Beginnings of keys that need not look random, and how long the rest is at least.
const MARKED: [(&str, usize); 9] = [
    ("hf_", 30),
    ("SG.", 40),
    ("whsec_", 24),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("xapp-", 20),
    ("dckr_pat_", 20),
    ("pypi-", 40),
    ("shpat_", 24),
];
/// Whoever shows this much bears a token, random or not.
const BEARER_BYTES_MIN: usize = 16;

/// A password is no shorter.
const PASSWORD_BYTES_MIN: usize = 6;
/// A shorter piece of a word may look random and be a name.
const PIECE_BYTES_MIN: usize = 8;
/// This long it is a key, whatever is said of it.
const CERTAIN_BYTES_MIN: usize = 20;
/// So much beside a sign or a word is looked at: a line may have any number of them.
const BESIDE_BYTES_MAX: usize = 160;

/// Whether the text seems to tell a secret.
pub fn tells_secret(text: &str) -> bool {
    let mut before = Named::Nothing;
    text.lines().any(|line| {
        let here = Named::of(line);
        let named = here.max(std::mem::replace(&mut before, here));
        has_login(line)
            || is_set(line)
            || is_passed(line)
            || words(line).any(is_certain)
            || has_number(line)
            || is_said(line, named)
    })
}

/// What a line speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Nothing,
    Key,
    Password,
}

impl Named {
    fn of(text: &str) -> Self {
        let lower = text.to_ascii_lowercase();
        let has = |names: &[&str]| names.iter().any(|name| lower.contains(name));
        let is = |names: &[&str]| pieces(&lower).any(|piece| names.contains(&piece));
        if has(&PASSWORDS) || is(&PASSWORDS_SHORT) {
            Self::Password
        } else if has(&KEYS) || is(&KEYS_SHORT) {
            Self::Key
        } else {
            Self::Nothing
        }
    }

    /// How long a random piece is that counts beside it.
    fn random_bytes_min(self) -> usize {
        match self {
            Self::Password => PIECE_BYTES_MIN,
            Self::Key | Self::Nothing => KEY_BYTES_MIN,
        }
    }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(BESIDE_BYTES_MAX)]
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || "`'\"()[]{}<>,;|\u{201c}\u{201d}".contains(c))
        .filter(|word| !word.is_empty())
}

/// `scheme://name:password@host`, `scheme://key@host`.
fn has_login(line: &str) -> bool {
    line.match_indices("://").any(|(at, mark)| {
        let rest = &line[at + mark.len()..];
        let end = rest.find(|c: char| c.is_whitespace() || "/?#`'\"<>".contains(c));
        let Some((login, _)) = rest[..end.unwrap_or(rest.len())].rsplit_once('@') else {
            return false;
        };
        match login.split_once(':') {
            Some((name, password)) => is_literal(password) && password != name,
            None => has_random(login, KEY_BYTES_MIN),
        }
    })
}

/// `DB_PASSWORD=…`, `api_key: "…"`, `?sig=…`, anywhere in a line.
fn is_set(line: &str) -> bool {
    line.match_indices(['=', ':']).any(|(at, sign)| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let before = &line[line.ceil_char_boundary(at.saturating_sub(BESIDE_BYTES_MAX))..at];
        let before = before.trim_end_matches([' ', '"', '\'', '`', ']', '*']);
        let name = before.rsplit(|c| !is_part(c)).next().unwrap_or("");
        let value =
            beginning(&line[at + 1..]).trim_start_matches([' ', '"', '\'', '`', '=', '>', '*']);
        let end = value.find(|c: char| c.is_whitespace() || "`'\"&,;".contains(c));
        let value = &value[..end.unwrap_or(value.len())];
        // In a program a name may stand for another; a variable and an option are set to what is meant.
        let is_outer =
            name.starts_with("--") || !name.bytes().any(|byte| byte.is_ascii_lowercase());
        match Named::of(name) {
            Named::Nothing => false,
            _ if !is_literal(value) => false,
            Named::Key => has_random(value, PIECE_BYTES_MIN),
            Named::Password => {
                is_mixed(value) || (sign == "=" && is_outer) || has_random(value, PIECE_BYTES_MIN)
            }
        }
    })
}

/// On a command line: `-u name:password`, `-ppassword`, `--token …`, `Bearer …`.
fn is_passed(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_sent = ["curl", "wget", "http"].iter().any(|program| lower.contains(program));
    let takes_p = WITH_P.iter().any(|program| lower.contains(program));
    let marks = ['`', '\'', '"', ',', ';', '(', ')'];
    let all: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(marks)).collect();
    let is_login = |login: &str| {
        login.split_once(':').is_some_and(|(name, password)| {
            is_literal(password)
                && password != name
                && has_letter(password)
                && (is_sent || is_mixed(password) || has_random(password, PIECE_BYTES_MIN))
        })
    };
    all.iter().enumerate().any(|(at, word)| {
        let next = all.get(at + 1).copied().unwrap_or("");
        let is_mark = |marks: &[&str]| marks.iter().any(|mark| word.eq_ignore_ascii_case(mark));
        if is_mark(&["bearer", "basic"]) {
            let is_long = next.len() >= BEARER_BYTES_MIN && is_mixed(next);
            return is_literal(next) && (is_long || has_random(next, KEY_BYTES_MIN));
        }
        if matches!(*word, "-u" | "--user") {
            return is_login(next);
        }
        if let Some(login) = word.strip_prefix("-u").filter(|login| login.contains(':')) {
            return is_login(login);
        }
        if let Some(password) = word.strip_prefix("-p").filter(|rest| !rest.is_empty()) {
            let is_long = password.len() >= PASSWORD_BYTES_MIN && has_letter(password);
            return is_literal(password)
                && is_long
                && (takes_p || (is_mixed(password) && has_random(password, PIECE_BYTES_MIN)));
        }
        if matches!(*word, "-p" | "-a")
            && (lower.contains("sshpass") || lower.contains("redis-cli"))
        {
            return is_literal(next) && next.len() >= PASSWORD_BYTES_MIN;
        }
        word.starts_with("--")
            && Named::of(word) > Named::Nothing
            && is_literal(next)
            && (is_mixed(next) || has_random(next, PIECE_BYTES_MIN))
            && !next.contains(['/', '.'])
    })
}

/// "PIN 4711", "cvc 123".
fn has_number(line: &str) -> bool {
    let is_number = |word: &str| {
        word.bytes().filter(u8::is_ascii_digit).count() >= NUMBER_DIGITS_MIN
            && !word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let is_named = |word: &str| NUMBERS.iter().any(|name| word.eq_ignore_ascii_case(name));
    words(line).zip(words(line).skip(1)).any(|(name, next)| is_named(name) && is_number(next))
}

/// "The password is …", "use the key …", "… as the token".
fn is_said(line: &str, named: Named) -> bool {
    if named == Named::Nothing {
        return false;
    }
    let is_key = |(before, word): (&str, &str)| {
        let is_hash = HASHES.iter().any(|hash| before.eq_ignore_ascii_case(hash))
            || word.to_ascii_lowercase().contains("sha");
        !is_hash && has_random(word, named.random_bytes_min())
    };
    let before = std::iter::once("").chain(words(line));
    before.zip(words(line)).any(is_key) || (named == Named::Password && is_password_told(line))
}

/// What stands right behind "password".
fn is_password_told(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    PASSWORDS.iter().flat_map(|name| lower.match_indices(name)).any(|(at, name)| {
        let mut rest = beginning(&line[at + name.len()..]).trim_start_matches([' ', ':', '=']);
        while let Some((word, behind)) = rest.split_once(' ')
            && LINKS.iter().any(|link| word.eq_ignore_ascii_case(link))
        {
            rest = behind.trim_start();
        }
        let mut chars = rest.chars();
        let close = match chars.next() {
            Some(quote @ ('"' | '\'' | '`')) => Some(quote),
            Some('\u{201c}') => Some('\u{201d}'),
            _ => None,
        };
        if let Some(close) = close {
            let said = chars.as_str().split(close).next().unwrap_or("");
            let is_phrase = said.split_whitespace().count() >= 3;
            return is_literal(said) && (is_phrase || is_mixed(said));
        }
        let word = rest.split(|c: char| c.is_whitespace() || ",;".contains(c)).next().unwrap_or("");
        is_literal(word) && is_mixed(word.trim_end_matches('.')) && !word.contains('/')
    })
}

/// Whether a word is a key by its look alone.
fn is_certain(word: &str) -> bool {
    let has_all = |piece: &str| {
        let has = |is: fn(&u8) -> bool| piece.bytes().any(|byte| is(&byte));
        has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
    };
    let is_marked = |(mark, rest_min): &(&str, usize)| {
        word.strip_prefix(mark).is_some_and(|rest| rest.len() >= *rest_min)
    };
    if MARKED.iter().any(is_marked) {
        return true;
    }
    if pieces(word).any(|piece| has_all(piece) && is_random(piece, CERTAIN_BYTES_MIN)) {
        return true;
    }
    joined(word).is_some_and(|piece| has_all(&piece) && is_random(&piece, JOINED_BYTES_MIN))
}

fn has_letter(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Letters and digits, as long as a password.
fn is_mixed(text: &str) -> bool {
    text.len() >= PASSWORD_BYTES_MIN
        && has_letter(text)
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Not a variable, a call, a placeholder or a word for the thing itself.
fn is_literal(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_other = value.starts_with(['$', '<', '{', '*', '(', '[', '%', '\u{2026}'])
        || value.contains(['(', '$', '<'])
        || value.contains("...")
        || value.contains("{{");
    value.len() >= 3 && !is_other && !PLAIN.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these is looked at beside every sign, and a line may be megabytes long.
    #[test]
    fn a_line_of_nothing_but_signs_is_looked_through_once() {
        for part in ["password", "a=", "=", "://", "token:", "\u{e4}=\u{e4}", "is "] {
            assert!(!tells_secret(&part.repeat(100_000)), "{part}");
        }
    }

    #[test]
    fn variables_and_placeholders_are_no_secrets() {
        for text in [
            "postgres://$USER:$PASSWORD@localhost/x and postgres://user:password@db/x",
            "DB_PASSWORD=$(pass show db) API_KEY=${KEY} TOKEN=<token>",
            "docker run -p 8080:80 -u 1000:1000 and curl -u $USER:$PASS",
            "Authorization: Bearer $TOKEN, and never a bearer token in a url",
            "password: never log it; the token: neither",
            "cargo test -p ao-corpus --token-file x",
        ] {
            assert!(!tells_secret(text), "{text}");
        }
    }
}
