//! The little of Markdown that knowledge is cut by: headings, outside of code.

use super::fence::lines_from;

/// Words that say what kind of entry a heading opens, not what it is about.
const PREFIXES: [&str; 4] = ["Learning:", "Finding:", "Pattern:", "Research:"];

/// A heading and what stands under it, up to the next heading of any level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section<'a> {
    /// 0 for what stands above the first heading.
    pub level: usize,
    pub heading: &'a str,
    pub text: &'a str,
}

pub fn sections(body: &str) -> Vec<Section<'_>> {
    let mut found = Vec::new();
    let mut open = (0, "", 0);
    let mut fence: Option<&str> = None;
    for (at, line) in lines_from(body, 0) {
        let bare = line.trim_start();
        if let Some(mark) = fence {
            if ends_code(bare, mark) {
                fence = None;
            }
            continue;
        }
        fence = code_fence(bare);
        if let Some((level, heading)) = heading(line) {
            found.push(Section { level: open.0, heading: open.1, text: &body[open.2..at] });
            open = (level, heading, at + line.len());
        }
    }
    found.push(Section { level: open.0, heading: open.1, text: &body[open.2..] });
    if found[0].level == 0 && found[0].text.trim().is_empty() {
        found.remove(0);
    }
    found
}

/// The text of the first heading, without the word for its kind.
pub(super) fn title(body: &str) -> Option<&str> {
    // Most entries begin with it; there the rest need not be read.
    let first = body.trim_start_matches(['\r', '\n']).lines().next().and_then(heading);
    let heading = match first {
        Some((_, heading)) => heading,
        None => sections(body).into_iter().find(|section| section.level > 0)?.heading,
    };
    let bare = PREFIXES.iter().find_map(|prefix| heading.strip_prefix(prefix)).unwrap_or(heading);
    Some(bare.trim()).filter(|title| !title.is_empty())
}

/// The level and the text of a heading.
pub(crate) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !(rest.starts_with([' ', '\t']) || rest.trim().is_empty()) {
        return None;
    }
    Some((level, rest.trim().trim_end_matches('#').trim_end()))
}

/// The signs that open a block of code, if this line does.
pub(crate) fn code_fence(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == sign).count();
    (length >= 3).then(|| &line[..length])
}

/// Whether a line ends the block that `mark` opened.
pub(crate) fn ends_code(line: &str, mark: &str) -> bool {
    line.starts_with(mark) && line.trim_end().chars().all(|c| mark.starts_with(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_cut_and_code_does_not() {
        let body = "\n# Learning: One ##\ntext\n```sh\n# no heading\n```\n## Two\nmore\n#hash\n";
        let found = sections(body);
        let cut: Vec<_> = found.iter().map(|s| (s.level, s.heading)).collect();
        assert_eq!(cut, [(1, "Learning: One"), (2, "Two")]);
        assert!(found[0].text.contains("# no heading"));
        assert_eq!(title(body), Some("One"));
        assert_eq!(title("no heading\n"), None);
        let whole: usize = sections("a\n# b\nc").iter().map(|s| s.text.len()).sum();
        assert_eq!(whole, "a\n".len() + "c".len());
    }
}
