//! SQL that cannot be taken back.

/// What a statement would do to data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    Writes,
    /// It drops something, or deletes more than can be said beforehand.
    Destroys(&'static str),
}

/// The worst of all statements in a text.
pub(super) fn effect(text: &str) -> Effect {
    let mut worst = if is_for_client(text) { Effect::Writes } else { Effect::Reads };
    for statement in statements(text) {
        match of_one(&statement) {
            Effect::Reads => {}
            Effect::Writes => worst = Effect::Writes,
            destroys @ Effect::Destroys(_) => return destroys,
        }
    }
    worst
}

/// Commands of the client can write files and start programs, wherever they stand. Only one that stands
/// alone is looked at.
fn is_for_client(text: &str) -> bool {
    let text = text.trim();
    let is_dotted = text.lines().any(|line| line.trim_start().starts_with('.'));
    let backslashes = text.matches('\\').count();
    let is_alone = text.lines().count() == 1
        && (is_dotted && backslashes == 0 || text.starts_with('\\') && backslashes == 1);
    (is_dotted || backslashes > 0) && !is_alone
}

/// Functions, and words that stand before parentheses, that only compute.
const COMPUTING: &str = "\
    abs all and any array_agg as avg by cast ceil char_length coalesce concat count current_date \
    date date_part date_trunc datetime distinct except exists extract filter floor from greatest \
    group_concat having ifnull in instr interval intersect is join json_extract julianday least \
    length like limit lower ltrim max min not now nullif on or order over partition rank replace \
    round row_number rtrim select string_agg strftime strpos substr substring sum then time \
    timestamp trim typeof union upper using values when where with";

fn of_one(words: &[String]) -> Effect {
    let Some(first) = words.first().map(String::as_str) else { return Effect::Reads };
    let has = |word: &str| words.iter().any(|other| other == word);
    if has("drop") {
        return Effect::Destroys("it drops something");
    }
    if has("truncate") {
        return Effect::Destroys("it empties a table");
    }
    if has("delete") {
        return deletion(words);
    }
    let is_change =
        ["insert", "update", "into", "alter", "create", "grant", "merge", "replace", "call"]
            .iter()
            .any(|word| has(word));
    let calls = words.windows(2).filter(|pair| pair[1] == "(").map(|pair| pair[0].as_str());
    // A name can also stand between quotes.
    let is_name = |word: &str| word.starts_with(|l: char| l.is_alphabetic() || "_'".contains(l));
    let mut others =
        calls.filter(|word| is_name(word) && !COMPUTING.split_whitespace().any(|c| c == *word));
    let is_change = is_change || others.next().is_some();
    match first {
        "select" | "show" | "describe" | "desc" | "explain" | "with" | "values" | "pragma"
        | "use" | "table"
            if !is_change =>
        {
            Effect::Reads
        }
        // Commands of the client that only look, such as `\d` and `.schema`.
        word if [
            ".tables",
            ".schema",
            ".databases",
            "\\d",
            "\\dt",
            "\\l",
            "\\dn",
            "\\di",
            "\\du",
        ]
        .contains(&word) =>
        {
            Effect::Reads
        }
        _ => Effect::Writes,
    }
}

/// Without a bound, or with one whose rows nobody can name beforehand.
fn deletion(words: &[String]) -> Effect {
    let place = |word: &str| words.iter().position(|other| other == word);
    let (Some(condition), Some(limit)) = (place("where"), place("limit")) else {
        return Effect::Destroys("it deletes without a bound");
    };
    let predicate = words.get(condition + 1..limit.max(condition + 1)).unwrap_or_default();
    // A function, a subquery or a parameter: only plain columns, constants and comparisons are not.
    let is_dynamic = predicate.iter().any(|word| {
        matches!(
            word.as_str(),
            "(" | "?" | "select" | "like" | "current_date" | "current_timestamp"
        ) || word.starts_with(['$', ':', '@', '%', '{'])
    });
    let is_counted = words.get(limit + 1).is_some_and(|count| count.parse::<u64>().is_ok());
    if is_dynamic || !is_counted || predicate.is_empty() {
        return Effect::Destroys("which rows it deletes is not known beforehand");
    }
    Effect::Writes
}

/// Statements as words in lower case, without comments, strings as `''`.
fn statements(text: &str) -> Vec<Vec<String>> {
    let letters: Vec<char> = text.chars().collect();
    let (mut done, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let mut at = 0;
    while at < letters.len() {
        let (letter, next) = (letters[at], letters.get(at + 1).copied());
        let mut flush = |words: &mut Vec<String>| {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        };
        match letter {
            '-' if next == Some('-') => {
                flush(&mut words);
                while at < letters.len() && letters[at] != '\n' {
                    at += 1;
                }
            }
            '/' if next == Some('*') => {
                flush(&mut words);
                // What some servers run although it looks like a comment.
                if letters.get(at + 2) == Some(&'!') {
                    at += 3;
                    continue;
                }
                at += 2;
                while at < letters.len()
                    && !(letters[at] == '*' && letters.get(at + 1) == Some(&'/'))
                {
                    at += 1;
                }
                at += 1;
            }
            '\'' | '"' | '`' => {
                flush(&mut words);
                at += 1;
                while at < letters.len() && letters[at] != letter {
                    at += if letters[at] == '\\' { 2 } else { 1 };
                }
                words.push("''".into());
            }
            ';' => {
                flush(&mut words);
                done.push(std::mem::take(&mut words));
            }
            letter if letter.is_whitespace() => flush(&mut words),
            '(' | ')' | ',' | '=' | '<' | '>' | '?' => {
                flush(&mut words);
                words.push(letter.to_string());
            }
            letter => word.extend(letter.to_lowercase()),
        }
        at += 1;
    }
    if !word.is_empty() {
        words.push(word);
    }
    done.push(words);
    done.retain(|words| !words.is_empty());
    done
}

#[cfg(test)]
mod tests {
    use super::{Effect, effect};

    // proves: SCO-06
    #[test]
    fn what_cannot_be_taken_back_is_recognised() {
        for text in [
            "DROP TABLE users",
            "drop/**/database x;",
            "select 1; Drop Table users",
            "/*! DROP TABLE x */",
            "truncate table logs",
            "DELETE FROM users",
            "delete from users where id = 1",
            "DELETE FROM users WHERE id = ? LIMIT 1",
            "DELETE FROM t WHERE id IN (SELECT id FROM u) LIMIT 5",
            "DELETE FROM t WHERE at < now() LIMIT 10",
            "DELETE FROM t LIMIT 10",
            "with x as (select 1) delete from t",
            "alter table t drop column c",
        ] {
            assert!(matches!(effect(text), Effect::Destroys(_)), "{text}");
        }
        assert_eq!(effect("DELETE FROM t WHERE id = 7 LIMIT 1"), Effect::Writes);
        assert_eq!(effect("insert into t values (1)"), Effect::Writes);
        for text in
            ["SELECT 'drop table x' FROM t -- delete from t", "explain select 1", ".tables", ""]
        {
            assert_eq!(effect(text), Effect::Reads, "{text}");
        }
    }
}
