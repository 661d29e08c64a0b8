//! A corpus with known copies, and entries that only look like copies.

use std::fmt::Write as _;

/// What was made, and what is true of it. Paths are from `.agents/`.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) files: Vec<(String, String)>,
    /// Each is one text and its copies.
    pub(crate) clusters: Vec<Vec<String>>,
    /// Pairs that share most of their wording and must not be merged.
    pub(crate) apart: Vec<(String, String)>,
}

/// How many of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amounts {
    pub(crate) texts: usize,
    pub(crate) copies: usize,
    pub(crate) siblings: usize,
    pub(crate) contradictions: usize,
}

/// Numbers that look random and are the same on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(crate) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const THINGS: [&str; 24] = [
    "build farm",
    "audit log",
    "import job",
    "billing export",
    "session store",
    "image resizer",
    "search crawler",
    "mail relay",
    "feature flag",
    "rate limiter",
    "token broker",
    "backup agent",
    "schema registry",
    "edge proxy",
    "metrics scraper",
    "job scheduler",
    "blob store",
    "ticket sync",
    "shard mover",
    "config bus",
    "lint gate",
    "release train",
    "crash reporter",
    "quota keeper",
];
const PARTS: [&str; 20] = [
    "checksum",
    "lease",
    "cursor",
    "heartbeat",
    "manifest",
    "partition",
    "retry budget",
    "watermark",
    "tombstone",
    "snapshot",
    "quorum",
    "journal",
    "bloom filter",
    "dead letter",
    "fence token",
    "page header",
    "write buffer",
    "epoch",
    "sidecar",
    "warm pool",
];
const DEEDS: [&str; 16] = [
    "stalled",
    "leaked",
    "doubled",
    "reordered",
    "shadowed",
    "starved",
    "rejected",
    "truncated",
    "replayed",
    "orphaned",
    "inflated",
    "poisoned",
    "blocked",
    "skewed",
    "dropped",
    "masked",
];
const CURES: [&str; 14] = [
    "pin the version in the lock file",
    "write the intent down first",
    "compare digests at the border",
    "bound the batch by bytes",
    "sort the keys before hashing",
    "drain the queue on shutdown",
    "sample one request in a thousand",
    "keep two generations around",
    "name the owner in the header",
    "fence the old leader out",
    "check the clock source at start",
    "split reads from writes",
    "warm the pool ahead of traffic",
    "carry the cause in the error",
];
/// Words that a copyist puts in place of others; another generator has others.
const FILLERS: [&str; 8] =
    ["sometimes", "mostly", "later", "really", "elsewhere", "perhaps", "there", "nearly"];
const ADDED: [&str; 3] =
    ["It was seen once more since.", "Another team agrees.", "The same holds after the upgrade."];

fn sentence(dice: &mut Dice) -> String {
    let (thing, other) = (dice.pick(&THINGS), dice.pick(&THINGS));
    let (part, deed) = (dice.pick(&PARTS), dice.pick(&DEEDS));
    let (n, m) = (dice.below(90) + 3, dice.below(900) + 10);
    match dice.below(5) {
        0 => format!("The {part} of the {thing} {deed} the {other} in {n} of {m} deploys."),
        1 => format!("Whenever the {thing} grew past {m} rows, its {part} {deed} the {other}."),
        2 => {
            format!("Over {n} weeks the {other} {deed} behind a {part} that the {thing} kept open.")
        }
        3 => format!(
            "Ticket {m}{n} traced the {part} back to the {thing}, which {deed} the {other}."
        ),
        _ => format!("A {part} in front of the {other} cost {n} ms and {deed} the {thing}."),
    }
}

fn paragraph(dice: &mut Dice, sentences: usize) -> String {
    (0..sentences).map(|_| sentence(dice)).collect::<Vec<_>>().join(" ")
}

fn title(dice: &mut Dice, number: usize) -> String {
    let (part, thing) = (dice.pick(&PARTS), dice.pick(&THINGS));
    format!("The {part} of the {thing}, case {number}")
}

/// A body as people write them.
pub(crate) fn body(dice: &mut Dice, number: usize) -> String {
    let mut text = format!("# Learning: {}\n\n## What We Learned\n\n", title(dice, number));
    let _ = write!(text, "{}\n\n## Why It Matters\n\n", {
        let n = 3 + dice.below(3);
        paragraph(dice, n)
    });
    let _ = write!(text, "{}\n\n## How To Apply\n\n", {
        let n = 2 + dice.below(2);
        paragraph(dice, n)
    });
    for step in 1..=2 + dice.below(3) {
        let _ = writeln!(text, "{step}. For the {}, {}.", dice.pick(&THINGS), dice.pick(&CURES));
    }
    let _ = write!(
        text,
        "\n## Source\n\nSession {:06}, run {}.\n",
        dice.below(999_999),
        dice.below(9_999)
    );
    text
}

pub(crate) fn header(dice: &mut Dice, id: &str, day: &str) -> String {
    let maturity =
        dice.pick(&["provisional", "provisional", "candidate", "established", "anti-pattern"]);
    let mut text = format!("---\nid: {id}\ntype: learning\ndate: {day}\nmaturity: {maturity}\n");
    let _ = writeln!(text, "utility: 0.{:02}", 10 + dice.below(89));
    let _ = writeln!(text, "reward_count: {}\nhelpful_count: {}", dice.below(9), dice.below(9));
    if dice.below(3) == 0 {
        let _ = writeln!(text, "x_own:\n  team: t-{}  # kept", dice.below(30));
    }
    let _ = writeln!(text, "tags: [{}]\n---\n", dice.pick(&["ops", "data", "build", "net"]));
    text
}

/// A copy with one to three words replaced, and at times a sentence added.
pub(crate) fn near(dice: &mut Dice, body: &str) -> String {
    let mut lines: Vec<String> = body.split('\n').map(ToOwned::to_owned).collect();
    let long: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].len() > 60).collect();
    for _ in 0..=dice.below(3) {
        let line = &mut lines[long[dice.below(long.len())]];
        let mut words: Vec<&str> = line.split(' ').collect();
        let at = dice.below(words.len());
        words[at] = dice.pick(&FILLERS);
        *line = words.join(" ");
    }
    if dice.below(5) < 2 {
        let at = long[dice.below(long.len())];
        let _ = write!(lines[at], " {}", dice.pick(&ADDED));
    }
    lines.join("\n")
}

/// The same text with another claim in one sentence.
fn contradiction(dice: &mut Dice, body: &str) -> (String, String) {
    let what = format!("the {} of the {}", dice.pick(&PARTS), dice.pick(&THINGS));
    let n = dice.below(50) + 2;
    let (one, other) = match dice.below(6) {
        0 => (format!("Set {what} to {n} seconds."), format!("Set {what} to {} seconds.", n * 4)),
        1 => (format!("Always enable {what}."), format!("Never enable {what}.")),
        2 => (format!("A retry of {what} is safe."), format!("A retry of {what} is not safe.")),
        3 => (format!("Keep {what} for {n} days."), format!("Keep {what} for {n} weeks.")),
        4 => (format!("Allow writes to {what}."), format!("Deny writes to {what}.")),
        _ => (format!("Take {what} before the lock."), format!("Take {what} after the lock.")),
    };
    let with = |claim: &str| {
        body.replacen("## Why It Matters", &format!("{claim}\n\n## Why It Matters"), 1)
    };
    (with(&one), with(&other))
}

pub(crate) fn corpus(seed: u64, amounts: Amounts) -> Made {
    let mut dice = Dice::new(seed);
    let mut made = Made::default();
    let mut texts: Vec<(usize, String)> = Vec::new();
    let put = |made: &mut Made, dice: &mut Dice, kind: &str, number: usize, body: &str| {
        let day = format!("2026-{:02}-{:02}", 1 + dice.below(10), 1 + dice.below(28));
        let path = format!("learnings/{day}-{kind}-{number:06}.md");
        let text = header(dice, &format!("learning-{kind}-{number:06}"), &day) + body;
        made.files.push((path.clone(), text));
        path
    };
    for number in 0..amounts.texts {
        let body = body(&mut dice, number);
        let path = put(&mut made, &mut dice, "note", number, &body);
        texts.push((made.clusters.len(), body));
        made.clusters.push(vec![path]);
    }
    for number in 0..amounts.copies {
        let (cluster, body) = texts[dice.below(texts.len())].clone();
        let copy = if dice.below(5) == 0 { body } else { near(&mut dice, &body) };
        let path = put(&mut made, &mut dice, "copy", number, &copy);
        made.clusters[cluster].push(path);
    }
    for number in 0..amounts.siblings {
        let (cluster, body) = texts[dice.below(texts.len())].clone();
        let mut lines: Vec<String> = body.split('\n').map(ToOwned::to_owned).collect();
        lines[0] = format!("# Learning: {}", title(&mut dice, 10_000 + number));
        let at = lines.iter().position(|line| line == "## What We Learned").unwrap() + 2;
        lines[at] = paragraph(&mut dice, 3);
        let path = put(&mut made, &mut dice, "sibling", number, &lines.join("\n"));
        let first = made.clusters[cluster][0].clone();
        made.apart.push((first, path));
    }
    for number in 0..amounts.contradictions {
        let text = body(&mut dice, 20_000 + number);
        let (one, other) = contradiction(&mut dice, &text);
        let one = put(&mut made, &mut dice, "claim", 2 * number, &one);
        let other = put(&mut made, &mut dice, "claim", 2 * number + 1, &other);
        made.apart.push((one, other));
    }
    made
}
