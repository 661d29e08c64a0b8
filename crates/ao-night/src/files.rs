//! Which files a piece of work is about, and which tests might be about those.
//!
//! Only files that are there are named. What a text calls a file is a hint until it is found; a test
//! that is found by its name is a guess, and is said to be one wherever it is shown.

use std::path::Path;

use crate::place::Place;

const FILES_MAX: usize = 8;
const TESTS_MAX: usize = 8;
/// So many words of a text are tried as paths.
const TRIED_MAX: usize = 200;
const PATH_BYTES_MAX: usize = 255;
const ENDING_BYTES_MAX: usize = 5;

/// Where tests of a file are usually kept, by its ending. `{above}` is what stands before `src/`,
/// `lib/` or `main/`, `{inner}` what stands between that and the file.
const TESTS: [(&[&str], &[&str]); 8] = [
    (
        &["rs"],
        &[
            "{above}tests/{stem}.rs",
            "{above}tests/cli/{stem}.rs",
            "{dir}{stem}/tests.rs",
            "{dir}tests/{stem}.rs",
            "{dir}{stem}_test.rs",
            "tests/{stem}.rs",
        ],
    ),
    (&["go"], &["{dir}{stem}_test.go"]),
    (
        &["py"],
        &[
            "{dir}test_{stem}.py",
            "{dir}{stem}_test.py",
            "{dir}tests/test_{stem}.py",
            "{above}tests/test_{stem}.py",
            "{above}tests/{inner}test_{stem}.py",
            "tests/test_{stem}.py",
        ],
    ),
    (
        &["ts", "tsx", "js", "jsx", "mjs", "cjs"],
        &[
            "{dir}{stem}.test.{ext}",
            "{dir}{stem}.spec.{ext}",
            "{dir}__tests__/{stem}.test.{ext}",
            "{dir}__tests__/{stem}.{ext}",
            "{above}test/{stem}.test.{ext}",
            "{above}tests/{stem}.test.{ext}",
        ],
    ),
    (&["rb"], &["{above}spec/{inner}{stem}_spec.rb", "{above}test/{inner}{stem}_test.rb"]),
    (
        &["java", "kt", "scala"],
        &["{above}src/test/{inner}{stem}Test.{ext}", "{dir}{stem}Test.{ext}"],
    ),
    (
        &["c", "cc", "cpp", "h", "hpp"],
        &["{dir}{stem}_test.{ext}", "{dir}test_{stem}.{ext}", "{above}tests/test_{stem}.{ext}"],
    ),
    (&["sh", "bash"], &["{dir}{stem}.bats", "{above}tests/{stem}.bats", "{above}test/{stem}.bats"]),
];

/// Collects the files that a packet points at.
#[derive(Debug)]
pub(crate) struct Named<'a> {
    place: Place<'a>,
    pub(crate) files: Vec<String>,
}

impl<'a> Named<'a> {
    pub(crate) fn new(place: Place<'a>) -> Self {
        Self { place, files: Vec::new() }
    }

    /// Takes a name if it is one of a file that is there.
    pub(crate) fn file(&mut self, name: &str) {
        if self.files.len() >= FILES_MAX {
            return;
        }
        let found = plain_path(name, self.place.root).filter(|path| self.place.is_file(path));
        if let Some(path) = found.filter(|path| !self.files.contains(path)) {
            self.files.push(path);
        }
    }

    /// Takes the files that a text speaks of.
    pub(crate) fn text(&mut self, text: &str) {
        let is_end = |c: char| c.is_whitespace() || "()[]{}<>,;\"'`|*".contains(c);
        let words = text.split(is_end).filter(|word| looks_like_a_path(word));
        for word in words.take(TRIED_MAX) {
            self.file(word);
        }
    }

    /// Tests that are there and whose names say that they are about these files.
    pub(crate) fn tests(&self) -> Vec<String> {
        let mut tests: Vec<String> = Vec::new();
        for file in &self.files {
            for test in likely(file) {
                if tests.len() < TESTS_MAX && !tests.contains(&test) && self.place.is_file(&test) {
                    tests.push(test);
                }
            }
        }
        tests
    }
}

fn looks_like_a_path(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ':']);
    let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_short = (1..=ENDING_BYTES_MAX).contains(&ending.len());
        !stem.is_empty() && is_short && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    word.len() <= PATH_BYTES_MAX && (word.contains('/') || has_ending || word.contains(".rs:"))
}

/// A path as the repository spells it: without a line number, and from the root.
fn plain_path(name: &str, root: &Path) -> Option<String> {
    let name = name.trim().trim_matches(['`', '"', '\'']).trim_end_matches(['.', ':']);
    let name = name.split("#L").next().unwrap_or(name);
    let mut name = name;
    while let Some((path, number)) = name.rsplit_once(':')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        name = path;
    }
    if name.is_empty() || name.len() > PATH_BYTES_MAX {
        return None;
    }
    if !name.starts_with('/') {
        return Some(name.strip_prefix("./").unwrap_or(name).to_owned());
    }
    let real = root.canonicalize().ok();
    let roots = [Some(root), real.as_deref()];
    let inner = roots.iter().flatten().find_map(|root| Path::new(name).strip_prefix(root).ok())?;
    inner.to_str().map(str::to_owned)
}

fn likely(file: &str) -> Vec<String> {
    let (dir, name) = match file.rsplit_once('/') {
        Some((dir, name)) => (format!("{dir}/"), name),
        None => (String::new(), file),
    };
    let Some((stem, ext)) = name.rsplit_once('.') else { return Vec::new() };
    let Some((_, patterns)) = TESTS.iter().find(|(endings, _)| endings.contains(&ext)) else {
        return Vec::new();
    };
    let (above, inner) = split_source(&dir);
    let spelled = |pattern: &&str| {
        pattern
            .replace("{above}", above)
            .replace("{inner}", inner)
            .replace("{dir}", &dir)
            .replace("{stem}", stem)
            .replace("{ext}", ext)
    };
    patterns.iter().map(spelled).filter(|test| test != file).collect()
}

/// What stands before the folder of sources, and what within it.
fn split_source(dir: &str) -> (&str, &str) {
    for source in ["src/main/", "src/", "lib/", "app/"] {
        if let Some(inner) = dir.strip_prefix(source) {
            return ("", inner);
        }
        if let Some(at) = dir.find(&format!("/{source}")) {
            return (&dir[..=at], &dir[at + 1 + source.len()..]);
        }
    }
    ("", dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_spelled_as_the_repository_does() {
        let root = Path::new("/no/such/place");
        for (name, expected) in [
            ("src/a.rs", Some("src/a.rs")),
            ("./src/a.rs:12:3", Some("src/a.rs")),
            ("`src/a.rs#L10`", Some("src/a.rs")),
            ("src/a.rs:10-20.", Some("src/a.rs")),
            ("/no/such/place/src/a.rs", Some("src/a.rs")),
            ("/etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(plain_path(name, root).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn tests_are_looked_for_where_they_usually_are() {
        let has = |file: &str, test: &str| likely(file).iter().any(|likely| likely == test);
        assert!(has("crates/a/src/b/lock.rs", "crates/a/tests/lock.rs"));
        assert!(has("cmd/run.go", "cmd/run_test.go"));
        assert!(has("pkg/run.py", "tests/test_run.py"));
        assert!(has("web/src/a/b.tsx", "web/src/a/b.test.tsx"));
        assert!(has("lib/x/run.rb", "spec/x/run_spec.rb"));
        assert!(has("a/src/main/java/x/Run.java", "a/src/test/java/x/RunTest.java"));
        for file in ["README", "a.md", "", ".rs", "src/.hidden"] {
            let _ = likely(file);
        }
        assert!(likely("a.md").is_empty());
    }
}
