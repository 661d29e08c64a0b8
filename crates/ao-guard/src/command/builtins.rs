//! Builtins of the shell that set something, and its conditions.

use super::variables::assignment;
use super::words::Call;
use super::{Judged, Walk};
use crate::shell::{Surety, Word};

impl Walk<'_> {
    pub(super) fn export(&mut self, call: &Call<'_>) -> Judged {
        for word in call.arguments {
            match word.text.split_once('=') {
                Some((name, value)) => {
                    let value = word.after(word.text.len() - value.len());
                    if word.surety == Surety::Unknown {
                        // To bash it is one word, to dash several.
                        let why = "one of its words could be several; put the value between quotes";
                        return Err(call.doubt(why));
                    }
                    assignment(name, &value)?;
                    self.given.push(name.to_owned());
                }
                // One variable for another (`-n`), or one that is counted (`-i`).
                None if word.known().is_some_and(|text| text.starts_with('-')) => {
                    if !word.text[1..].chars().all(|letter| "gprx".contains(letter)) {
                        return Err(call.doubt("one of its options is not known"));
                    }
                }
                None if word.known().is_some() => {
                    assignment(&word.text, &Word::unknown())?;
                    self.given.push(word.text.clone());
                }
                None => return Err(call.doubt("which variable it sets is not known")),
            }
        }
        self.reads(call)
    }

    /// Variables that get a value nobody knows, or lose theirs.
    pub(super) fn variables(&mut self, call: &Call<'_>) -> Judged {
        let valued = ["-a", "-d", "-i", "-n", "-N", "-p", "-t", "-u"];
        for word in call.operands(&valued) {
            let name =
                word.known().ok_or_else(|| call.doubt("which variable it sets is not known"))?;
            assignment(name, &Word::unknown())?;
        }
        // A list is named by an option.
        if call.has(&["-a"]) {
            return Err(call.doubt("which variable it sets is not known"));
        }
        self.reads(call)
    }

    /// `set -e` and the like. Others change what words mean, or who gets a variable.
    pub(super) fn set(&mut self, call: &Call<'_>) -> Judged {
        const NAMES: [&str; 5] = ["errexit", "nounset", "pipefail", "verbose", "xtrace"];
        let own = call.arguments.split(|word| word.text == "--").next().unwrap_or_default();
        let is_plain = own.iter().all(|word| {
            word.known().is_some_and(|text| {
                NAMES.contains(&text)
                    || text.starts_with(['-', '+'])
                        && text[1..].chars().all(|letter| "euvxo".contains(letter))
            })
        });
        if !is_plain {
            return Err(call.doubt("what it sets is not known"));
        }
        self.reads(call)
    }

    /// Bounds.
    pub(super) fn plain_options(&mut self, call: &Call<'_>) -> Judged {
        let is_plain = call.arguments.iter().all(|word| {
            word.known().is_some_and(|text| {
                text.chars().all(|l| l.is_ascii_alphanumeric() || matches!(l, '-' | '+'))
            })
        });
        if !is_plain {
            return Err(call.doubt("what it sets is not known"));
        }
        self.reads(call)
    }
}

/// `[ -v NAME ]` runs what stands in a subscript of the name.
pub(super) fn condition(call: &Call<'_>) -> Judged {
    const BETWEEN: [&str; 15] = [
        "=", "==", "!=", "-eq", "-ne", "-lt", "-gt", "-le", "-ge", "-a", "-o", "-nt", "-ot", "]",
        ")",
    ];
    let is_operator =
        |text: &str| text.starts_with('-') || matches!(text, "!" | "(" | "=" | "!=" | "==");
    for (at, word) in call.arguments.iter().enumerate() {
        if word.surety == Surety::Unknown {
            let why = "a variable in it could be several words; put it between quotes";
            return Err(call.doubt(why));
        }
        let next = call.arguments.get(at + 1);
        let before = at.checked_sub(1).and_then(|at| call.arguments[at].known());
        let is_named = next.and_then(|next| next.known()).is_some_and(|name| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        // One that is not known could be `-v` where an operator can stand.
        let could_be = word.surety >= Surety::Whole
            && before.is_none_or(|before| {
                matches!(before, "!" | "(" | "-a" | "-o") || !is_operator(before)
            })
            && next.is_some_and(|next| !next.known().is_some_and(|next| BETWEEN.contains(&next)));
        if word.known() == Some("-v") && !is_named || could_be {
            return Err(call.doubt("it could name a variable by a text, which is run"));
        }
    }
    Ok(())
}
