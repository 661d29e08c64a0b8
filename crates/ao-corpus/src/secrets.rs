//! Texts that look as if they held a secret. Such a text is not carried from one place to another.

/// Beginnings that issuers of keys give them, and how long the rest is at least.
const PREFIXES: [(&str, usize, &str); 14] = [
    ("AKIA", 16, "an AWS access key"),
    ("ASIA", 16, "an AWS access key"),
    ("ghp_", 30, "a GitHub token"),
    ("gho_", 30, "a GitHub token"),
    ("ghs_", 30, "a GitHub token"),
    ("github_pat_", 30, "a GitHub token"),
    ("glpat-", 18, "a GitLab token"),
    ("xoxb-", 20, "a Slack token"),
    ("xoxp-", 20, "a Slack token"),
    ("sk-", 24, "an API key"),
    ("sk_live_", 16, "an API key"),
    ("AIza", 30, "a Google API key"),
    ("npm_", 30, "an npm token"),
    ("eyJhbGciOi", 40, "a signed token"),
];

/// Names whose values are secrets, where the value is long and mixed.
const NAMES: [&str; 8] =
    ["password", "passwd", "secret", "token", "api_key", "apikey", "access_key", "private_key"];
const VALUE_BYTES_MIN: usize = 16;

/// What the text seems to hold, if it does.
pub fn looks_secret(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-+/=.".contains(c);
    for word in text.split(|c: char| !is_part(c)) {
        for (prefix, rest_min, what) in PREFIXES {
            if word.strip_prefix(prefix).is_some_and(|rest| is_key(rest, rest_min)) {
                return Some(what);
            }
        }
    }
    text.lines().find_map(assigned)
}

fn is_key(rest: &str, min: usize) -> bool {
    rest.len() >= min && rest.bytes().any(|byte| byte.is_ascii_digit())
}

/// `api_key = "…"`, `TOKEN: …`.
fn assigned(line: &str) -> Option<&'static str> {
    let (name, value) = line.split_once(['=', ':'])?;
    let name = name.trim().trim_matches(['"', '\'', '`', '*', '-', ' ']).to_ascii_lowercase();
    let is_named = NAMES.iter().any(|known| name.ends_with(known));
    let value = value.trim().trim_matches(['"', '\'', '`', ',', ';']);
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_mixed = has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !value.contains(char::is_whitespace)
        && !value.contains(['$', '<', '{']);
    (is_named && value.len() >= VALUE_BYTES_MIN && is_mixed).then_some("a password or key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_seen_and_talk_of_keys_is_not() {
        let github = format!("push with ghp_{}", "a1".repeat(18));
        let aws = format!("AKIA{}", "IOSFODNN7EXAMPLE");
        let assigned = format!("API_KEY=\"{}\"", "9f8e7d6c5b4a3f2e1d");
        let block = format!("-----BEGIN RSA {}-----\nMIIE", "PRIVATE KEY");
        for text in [github.as_str(), &aws, &assigned, &block] {
            assert!(looks_secret(text).is_some(), "{text}");
        }
        for text in [
            "Keep the token: never log it.",
            "password: $(vault read x1234567890)",
            "task-2026-04-01-abcdefghijklmnopqrstuvwxyz",
            "see sk-learn for 12345678901234567890",
            "secret = read_from_environment()",
        ] {
            assert_eq!(looks_secret(text), None, "{text}");
        }
    }
}
