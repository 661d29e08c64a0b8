//! The rules: the public ones, read from their own file, and those of ours in another one.

use std::ops::Range;

use serde::Deserialize;

use super::expression::Expression;
use super::reach::reach;

/// The file as it was published; `rules/README.md` says by whom.
pub(super) const PUBLIC_FILE: &str = include_str!("../../rules/gitleaks.toml");
/// What it does not know.
pub(super) const OWN_FILE: &str = include_str!("../../rules/own.toml");

/// How the public rules say that a key has ended: in a quote, a blank or a semicolon.
const PUBLIC_END: &str = r#"(?:[\x60'"\s;]|\\[nr]|$)"#;
/// Keys also stand in calls, lists, addresses, markup and sentences.
const END: &str = r#"(?:[\x60'"\s;,)<>&}\]|*]|[.:!?](?:[\s)\]}>*'"]|$)|\\[nrtu"]|$)"#;
const PUBLIC_START: &str = r"\b(";
/// In a text within JSON the letter of `\n` stands before the key.
const START: &str = r"(?:\b|\\[nrt])(";

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    allowlist: Option<AllowTable>,
    #[serde(default)]
    allowlists: Vec<AllowTable>,
    rules: Vec<RuleTable>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleTable {
    id: String,
    #[serde(default)]
    description: String,
    regex: Option<String>,
    path: Option<String>,
    entropy: Option<f64>,
    #[serde(default)]
    secret_group: usize,
    #[serde(default)]
    keywords: Vec<String>,
    allowlist: Option<AllowTable>,
    #[serde(default)]
    allowlists: Vec<AllowTable>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AllowTable {
    condition: Option<String>,
    regex_target: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
}

/// What is no secret, although a rule says so.
#[derive(Debug)]
pub(super) struct Allow {
    needs_all: bool,
    target: Target,
    paths: Vec<Expression>,
    regexes: Vec<Expression>,
    stopwords: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
enum Target {
    Secret,
    Match,
    Line,
}

/// Who wrote a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleAuthor {
    Gitleaks,
    Ours,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) author: RuleAuthor,
    pub(super) id: String,
    pub(super) about: String,
    pub(super) regex: Option<Expression>,
    pub(super) path: Option<Expression>,
    entropy: Option<f64>,
    secret_group: usize,
    pub(super) keywords: Vec<String>,
    /// How far around a keyword it is tried, if not everywhere.
    pub(super) reach: Option<usize>,
    pub(super) allows: Vec<Allow>,
}

#[derive(Debug)]
pub(super) struct Rules {
    pub(super) allows: Vec<Allow>,
    pub(super) rules: Vec<Rule>,
}

impl Rules {
    pub(super) fn read() -> Result<Self, toml::de::Error> {
        let mut all = Self { allows: vec![Allow::new(ledger())], rules: Vec::new() };
        for (author, text) in [(RuleAuthor::Gitleaks, PUBLIC_FILE), (RuleAuthor::Ours, OWN_FILE)] {
            let file: File = toml::from_str(text)?;
            let general = file.allowlist.into_iter().chain(file.allowlists);
            all.allows.extend(general.map(Allow::new));
            all.rules.extend(file.rules.into_iter().map(|rule| Rule::new(author, rule)));
        }
        Ok(all)
    }
}

/// The ledger of what was taken has a field `key`, and in it a hash: no key, whatever the general rule says of its
/// name. All else on such a line is looked at.
fn ledger() -> AllowTable {
    AllowTable {
        condition: Some("and".to_owned()),
        regex_target: Some("match".to_owned()),
        paths: vec![r"(?:^|/)\.agents/knowledge/taken/[^/]+\.jsonl$".to_owned()],
        regexes: vec![r#"^"?key"\s?:\s?"[0-9a-f]{32}(?:[0-9a-f]{32})?"$"#.to_owned()],
        stopwords: Vec::new(),
    }
}

/// What the general rule takes for a key by its name, and is none: the name of a file, and what is said to be public.
fn not_general() -> [AllowTable; 2] {
    let of = |target: &str, regex: &str| AllowTable {
        condition: None,
        regex_target: Some(target.to_owned()),
        paths: Vec::new(),
        regexes: vec![regex.to_owned()],
        stopwords: Vec::new(),
    };
    [
        of(
            "secret",
            r"(?i)^[\w.-]+\.(?:bin|c|cc|cer|cfg|conf|cpp|crt|csv|der|go|h|html?|ini|java|js|json|key|log|md|pem|py|rs|sh|toml|ts|txt|xml|ya?ml)$",
        ),
        of("line", r"(?i)\b(?:public|publishable|site)[ _-]?key\b[^:=]{0,30}[:=]"),
    ]
}

impl Allow {
    fn new(table: AllowTable) -> Self {
        let all = |texts: Vec<String>| texts.iter().map(|text| Expression::new(text)).collect();
        Self {
            needs_all: table.condition.is_some_and(|word| word.eq_ignore_ascii_case("and")),
            target: match table.regex_target.as_deref() {
                Some("match") => Target::Match,
                Some("line") => Target::Line,
                _ => Target::Secret,
            },
            paths: all(table.paths),
            regexes: all(table.regexes),
            stopwords: table.stopwords.iter().map(|word| word.to_ascii_lowercase()).collect(),
        }
    }

    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.paths.iter().chain(&self.regexes)
    }

    /// Whether a path alone is enough.
    pub(super) fn is_of_path(&self, path: &str) -> bool {
        let says_more = !self.regexes.is_empty() || !self.stopwords.is_empty();
        !(self.needs_all && says_more) && any(&self.paths, path.as_bytes())
    }

    pub(super) fn allows(&self, path: &str, seen: &Seen<'_>) -> bool {
        let target = match self.target {
            Target::Secret => seen.secret(),
            Target::Match => &seen.text[seen.whole.clone()],
            Target::Line => seen.line(),
        };
        let secret = seen.secret().to_ascii_lowercase();
        let has = |word: &String| memchr::memmem::find(&secret, word.as_bytes()).is_some();
        let says = [
            (!self.paths.is_empty()).then(|| any(&self.paths, path.as_bytes())),
            (!self.regexes.is_empty()).then(|| any(&self.regexes, target)),
            (!self.stopwords.is_empty()).then(|| self.stopwords.iter().any(has)),
        ];
        let mut says = says.into_iter().flatten().peekable();
        if self.needs_all {
            says.peek().is_some() && says.all(|says| says)
        } else {
            says.any(|says| says)
        }
    }
}

fn any(expressions: &[Expression], text: &[u8]) -> bool {
    expressions.iter().any(|expression| expression.is_match(text))
}

impl Rule {
    fn new(author: RuleAuthor, table: RuleTable) -> Self {
        let keywords: Vec<String> =
            table.keywords.iter().map(|word| word.to_ascii_lowercase()).collect();
        let regex = table.regex.as_deref().map(|go| Expression::new(&wherever_it_stands(go)));
        let reach = regex.as_ref().and_then(|regex| reach(regex.source(), &keywords));
        let named = table.allowlist.into_iter().chain(table.allowlists);
        let ours = (table.id == super::GENERIC).then(not_general).into_iter().flatten();
        let allows = named.chain(ours).map(Allow::new).collect();
        Self {
            author,
            id: table.id,
            about: table.description,
            regex,
            path: table.path.as_deref().map(Expression::new),
            entropy: table.entropy,
            secret_group: table.secret_group,
            keywords,
            reach,
            allows,
        }
    }

    /// What it finds in these ranges of a text.
    pub(super) fn found<'a>(&self, text: &'a [u8], within: &[Range<usize>]) -> Vec<Seen<'a>> {
        let Some(Ok(regex)) = self.regex.as_ref().map(Expression::get) else { return Vec::new() };
        let mut found = Vec::new();
        for range in within {
            let mut from = range.start;
            // What stands before a range is seen, what stands after it is not reached.
            while from <= range.end
                && let Some(groups) = regex.captures_at(&text[..range.end], from)
                && let Some(whole) = groups.get(0)
            {
                from = whole.end().max(whole.start() + 1);
                let first = || groups.iter().skip(1).flatten().find(|group| !group.is_empty());
                let secret = match self.secret_group {
                    0 => first().unwrap_or(whole),
                    nth => groups.get(nth).unwrap_or(whole),
                };
                let seen = Seen { text, whole: whole.range(), secret: secret.range() };
                if self.entropy.is_none_or(|least| entropy(seen.secret()) > least) {
                    found.push(seen);
                }
            }
        }
        found
    }
}

/// The expression for keys between whatever stands before and behind them.
fn wherever_it_stands(go: &str) -> String {
    let text = go.replace(PUBLIC_END, END);
    match text.strip_prefix(PUBLIC_START) {
        Some(rest) => format!("{START}{rest}"),
        None => text,
    }
}

/// A place that a rule matched.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    text: &'a [u8],
    pub(super) whole: Range<usize>,
    pub(super) secret: Range<usize>,
}

impl Seen<'_> {
    fn secret(&self) -> &[u8] {
        &self.text[self.secret.clone()]
    }

    pub(super) fn line(&self) -> &[u8] {
        let start = memchr::memrchr(b'\n', &self.text[..self.whole.start]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &self.text[self.whole.end..]);
        &self.text[start..end.map_or(self.text.len(), |at| self.whole.end + at)]
    }
}

/// Shannon's, in bits a byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let all = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    let share = |count: &u32| f64::from(*count) / all;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}
