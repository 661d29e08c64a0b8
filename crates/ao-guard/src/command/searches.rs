//! Programs that look through whole folders: which of what they are told is a folder, and what of it they read.

use super::words::{Call, is_listed};
use crate::secret_paths::Wanted;
use crate::shell::Word;

/// The first operand of these is what is looked for, not a file.
const SEARCHERS: &str = "ag awk egrep fgrep gawk grep jq mawk nawk rg sed yq";
/// Options of searchers that say what is looked for.
const SOUGHT: [&str; 6] = ["-e", "--regexp", "-f", "--file", "--from-file", "--expression"];
/// Options of searchers whose value is the next word, and no file that is searched.
const VALUED: [&str; 26] = [
    "-e",
    "--regexp",
    "-f",
    "--file",
    "-g",
    "--glob",
    "--iglob",
    "-t",
    "--type",
    "-T",
    "--type-not",
    "-A",
    "-B",
    "-C",
    "-m",
    "-j",
    "-d",
    "-D",
    "-M",
    "-E",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--max-count",
    "--max-depth",
    "--color",
];

/// Whether the first operand of this program is what it looks for.
pub(super) fn is_searcher(name: &str) -> bool {
    is_listed(SEARCHERS, name)
}

/// Whether an option says what is looked for.
pub(super) fn is_sought_by_option(call: &Call<'_>) -> bool {
    call.arguments.iter().any(|word| SOUGHT.iter().any(|option| word.text.starts_with(option)))
}

/// The words that are no options, and not what is looked for.
pub(super) fn operands<'a>(call: &Call<'a>) -> Vec<&'a Word> {
    let mut operands = call.operands(&VALUED);
    let is_sought = |word: &Word| SOUGHT.iter().any(|option| word.text.starts_with(option));
    let is_searcher =
        is_listed(SEARCHERS, &call.name) || matches!(call.name.as_str(), "fd" | "fdfind" | "git");
    let is_said = call.arguments.iter().any(is_sought) || call.has(&["--files"]);
    if is_searcher && !is_said && !operands.is_empty() {
        operands.remove(0);
    }
    operands
}

/// The values of options, in the same word or in the next one.
fn values<'a>(call: &Call<'a>, options: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = call.arguments.iter();
    while let Some(word) = words.next() {
        for option in options {
            let rest = word.text.strip_prefix(option);
            match rest {
                Some("") => found.extend(words.next().map(|word| word.text.as_str())),
                Some(rest) if option.starts_with("--") => found.extend(rest.strip_prefix('=')),
                Some(rest) if option.len() == 2 => found.push(rest),
                _ => continue,
            }
            break;
        }
    }
    found
}

/// The last names of globs; one that ends with a folder means all that is in it.
fn last_names(globs: &[&str]) -> Vec<String> {
    let last = |glob: &&str| match glob.trim_end_matches('/').rsplit('/').next() {
        None | Some("" | "**") => "*".to_owned(),
        Some(name) => name.to_owned(),
    };
    globs.iter().map(last).collect()
}

/// Globs that leave out a name wherever it is.
fn left_out(globs: &[&str]) -> Vec<String> {
    globs.iter().filter(|glob| !glob.contains('/')).map(|glob| (*glob).to_owned()).collect()
}

pub(super) fn grep(call: &Call<'_>) -> (Wanted, bool) {
    let is_whole = call.has(&["-r", "-R", "--recursive", "--dereference-recursive"])
        || values(call, &["-d", "--directories"]).contains(&"recurse");
    let wanted = Wanted {
        follows_links: call.has(&["-R", "--dereference-recursive"]),
        only: last_names(&values(call, &["--include"])),
        never: left_out(&values(call, &["--exclude", "--exclude-dir"])),
        ..Wanted::default()
    };
    (wanted, is_whole)
}

pub(super) fn ripgrep(call: &Call<'_>) -> (Wanted, bool) {
    let count = |letter: char| {
        let short = |word: &&Word| word.text.starts_with('-') && !word.text.starts_with("--");
        let letters = call.arguments.iter().filter(short).flat_map(|word| word.text.chars());
        letters.filter(|found| *found == letter).count()
    };
    let many = count('u') + call.arguments.iter().filter(|w| w.text == "--unrestricted").count();
    let globs = values(call, &["-g", "--glob", "--iglob"]);
    let never = globs.iter().filter_map(|glob| glob.strip_prefix('!')).collect::<Vec<_>>();
    let mut only: Vec<&str> = globs.iter().filter(|glob| !glob.starts_with('!')).copied().collect();
    // What files of a type of sources are called is no name of a secret.
    let types = values(call, &["-t", "--type"]);
    if !types.is_empty() && !types.contains(&"all") && only.is_empty() {
        only.push("*.source");
    }
    let wanted = Wanted {
        // What is asked for by a glob is read, hidden or ignored.
        has_hidden_left_out: many < 2
            && globs.is_empty()
            && !call.has(&["--hidden"])
            && count('.') == 0,
        has_ignored_left_out: many == 0
            && globs.is_empty()
            && !call.arguments.iter().any(|word| word.text.starts_with("--no-ignore")),
        follows_links: call.has(&["-L", "--follow"]),
        only: last_names(&only),
        never: left_out(&never),
        ..Wanted::default()
    };
    (wanted, true)
}

/// What `find` is asked for, if its names say so.
pub(super) fn found(arguments: &[Word]) -> Wanted {
    let text = |at: usize| arguments.get(at).map_or("", |word| word.text.as_str());
    let is_not = |at: usize| at.checked_sub(1).is_some_and(|at| matches!(text(at), "!" | "-not"));
    let mut wanted = Wanted::default();
    let is_tangled = (0..arguments.len()).any(|at| {
        text(at) == "," || matches!(text(at), "!" | "-not") && matches!(text(at + 1), "(" | "\\(")
    });
    if is_tangled {
        return wanted;
    }
    let mut has_name = false;
    let (mut is_limited, mut has_choice) = (true, false);
    for at in 0..arguments.len() {
        match text(at) {
            "-name" | "-iname" if is_not(at) => wanted.never.push(text(at + 1).to_owned()),
            "-name" | "-iname" => {
                has_name = true;
                wanted.only.push(text(at + 1).to_owned());
            }
            "-o" | "-or" => {
                is_limited &= has_name;
                has_name = false;
                has_choice = true;
            }
            _ => {}
        }
    }
    if !(is_limited && has_name) {
        wanted.only.clear();
    }
    if has_choice {
        wanted.never.clear();
    }
    wanted
}

/// The folders where `find` begins.
pub(super) fn find_starts(arguments: &[Word]) -> &[Word] {
    let is_start = |word: &&Word| {
        !word.text.starts_with('-') && !matches!(word.text.as_str(), "(" | "!" | ")")
    };
    let skipped =
        arguments.iter().take_while(|w| matches!(w.text.as_str(), "-H" | "-L" | "-P")).count();
    let count = arguments[skipped..].iter().take_while(is_start).count();
    &arguments[skipped..skipped + count]
}
