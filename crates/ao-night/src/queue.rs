//! The operator's queue, the file of `--queue`: what a person wants done first, in their order.
//!
//! One item is a line that begins with `- `, `* ` or a number; lines that are indented beneath it
//! describe it. `[severity: high]` and `[file: path]` may stand anywhere in an item. Headings,
//! comments and code blocks are passed over, and so is an item that is ticked off (`- [x]`). Any other
//! line is passed over too, and said to be: a wish must not go unheard because a dash is missing.
//!
//! The roadmaps of `evolve` are such files: an item begins with its id in backquotes, and
//! ``blocker: `ID` `` names what has to be done before it ([`evolve`]).

mod evolve;

use ao_contract::{Open, Severity};

/// A longer file is not a list of wishes.
pub const QUEUE_BYTES_MAX: usize = 1024 * 1024;
const DESCRIPTION_CHARS_MAX: usize = 4000;
const TAB_WIDTH: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    #[error("is larger than {QUEUE_BYTES_MAX} bytes: a queue is a list of a few lines")]
    TooLarge,
    #[error("is binary, or no UTF-8 text")]
    Binary,
    #[error("has no items: an item is a line that begins with `- `, `* ` or a number, as in `1. `")]
    NoItems,
}

/// One wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueItem {
    /// The number of its line, from 1.
    pub line: usize,
    pub title: String,
    pub description: String,
    pub severity: Option<Open<Severity>>,
    pub files: Vec<String>,
    /// The id that it begins with, in backquotes.
    pub id: Option<String>,
    /// The first other word of its line in backquotes, if it could be an id.
    pub mentioned: Option<String>,
    /// The ids of what blocks it.
    pub blockers: Vec<String>,
    /// A piece of its line, to the letter, that goes when the item is ticked off or taken out; empty
    /// where no piece tells.
    pub mark: String,
}

/// What the file asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorQueue {
    /// In file order.
    pub items: Vec<QueueItem>,
    /// The numbers of lines that are neither items nor anything that is passed over on purpose.
    pub unheard: Vec<usize>,
    /// How many items are ticked off.
    pub ticked: usize,
}

pub fn read(bytes: &[u8]) -> Result<OperatorQueue, QueueError> {
    if bytes.len() > QUEUE_BYTES_MAX {
        return Err(QueueError::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| QueueError::Binary)?;
    if text.contains('\0') {
        return Err(QueueError::Binary);
    }
    let original: Vec<&str> = text.lines().collect();
    let text = without_comments(text.trim_start_matches('\u{feff}'));
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line.trim_end());
    }
    let mut queue = reader.finish();
    for item in &mut queue.items {
        // A comment in the middle of a line leaves a piece that is nowhere in the file.
        if !original.get(item.line - 1).is_some_and(|line| line.contains(&item.mark)) {
            item.mark.clear();
        }
    }
    if queue.items.is_empty() { Err(QueueError::NoItems) } else { Ok(queue) }
}

/// Comments become nothing; the lines keep their numbers.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        kept.push_str(before);
        let (comment, after) = after.split_once("-->").unwrap_or((after, ""));
        kept.extend(comment.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    kept.push_str(rest);
    kept
}

#[derive(Debug, Default)]
struct Reader {
    items: Vec<QueueItem>,
    unheard: Vec<usize>,
    ticked: usize,
    /// How far the first item is indented; what is indented further describes.
    base: Option<usize>,
    under: Under,
    is_code: bool,
}

/// What an indented line belongs to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Under {
    #[default]
    Nothing,
    Item,
    /// An item that is ticked off, or a heading.
    PassedOver,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        let bare = line.trim_start();
        let indent = indent(line);
        let is_deep = self.base.is_some_and(|base| indent > base);
        if self.is_code || bare.starts_with("```") || bare.starts_with("~~~") {
            let is_fence = bare.starts_with("```") || bare.starts_with("~~~");
            self.is_code ^= is_fence;
            if is_deep {
                self.describe(line);
            }
            return;
        }
        if bare.is_empty() {
            return;
        }
        let is_of_item = self.under == Under::Item && evolve::begins_with_blocker(bare);
        if is_of_item || is_deep && self.under != Under::Nothing {
            return self.describe(bare);
        }
        if bare.starts_with('#') || bare.starts_with("//") || is_rule(bare) {
            self.under = Under::PassedOver;
            return;
        }
        match wish(bare) {
            Some(Wish::Ticked) => {
                self.base.get_or_insert(indent);
                self.ticked += 1;
                self.under = Under::PassedOver;
            }
            Some(Wish::Open(text)) => {
                self.base.get_or_insert(indent);
                self.item(number, text);
            }
            None => {
                self.under = Under::Nothing;
                self.unheard.push(number);
            }
        }
    }

    fn item(&mut self, number: usize, text: &str) {
        let mut item = QueueItem {
            line: number,
            title: String::new(),
            description: String::new(),
            severity: None,
            files: Vec::new(),
            id: None,
            mentioned: None,
            blockers: Vec::new(),
            mark: mark(text),
        };
        let line = item.take_fields(text.strip_prefix(OPEN_BOX).unwrap_or(text));
        item.name(&line);
        if item.title.is_empty() {
            let Some(file) = item.files.first() else {
                self.under = Under::PassedOver;
                self.unheard.push(number);
                return;
            };
            item.title = format!("Look at {file}");
        }
        self.items.push(item);
        self.under = Under::Item;
    }

    fn describe(&mut self, line: &str) {
        if self.under != Under::Item {
            return;
        }
        let Some(item) = self.items.last_mut() else { return };
        let text = item.take_fields(line.trim());
        item.blocked_by(evolve::blockers(&text));
        let room = DESCRIPTION_CHARS_MAX.saturating_sub(item.description.chars().count());
        if text.is_empty() || room == 0 {
            return;
        }
        if !item.description.is_empty() {
            item.description.push('\n');
        }
        item.description.extend(text.chars().take(room));
    }

    fn finish(self) -> OperatorQueue {
        OperatorQueue { items: self.items, unheard: self.unheard, ticked: self.ticked }
    }
}

impl QueueItem {
    /// Takes `[severity: …]` and `[file: …]` out of a text.
    fn take_fields(&mut self, text: &str) -> String {
        let (pieces, fields) = parted(text);
        for field in fields {
            match field {
                Field::Severity(word) => self.severity = Some(word),
                Field::File(path) if !self.files.contains(&path) => self.files.push(path),
                Field::File(_) => {}
            }
        }
        let words = pieces.iter().flat_map(|piece| piece.split_whitespace());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// What stands between the fields of a text, and the fields.
fn parted(text: &str) -> (Vec<&str>, Vec<Field>) {
    let (mut pieces, mut fields) = (Vec::new(), Vec::new());
    let (mut from, mut at) = (0, 0);
    while let Some(open) = text[at..].find('[').map(|open| at + open) {
        let close = text[open..].find(']').map(|close| open + close);
        match close.and_then(|close| Some((known(&text[open + 1..close])?, close))) {
            Some((field, close)) => {
                pieces.push(&text[from..open]);
                fields.push(field);
                from = close + 1;
                at = from;
            }
            None => at = open + 1,
        }
    }
    pieces.push(&text[from..]);
    (pieces, fields)
}

enum Field {
    Severity(Open<Severity>),
    File(String),
}

fn known(field: &str) -> Option<Field> {
    let (key, value) = field.split_once(':')?;
    let value = value.trim().trim_matches('`');
    if value.is_empty() {
        return None;
    }
    match key.trim().to_lowercase().as_str() {
        "severity" => {
            let word = value.to_lowercase();
            Some(Field::Severity(serde_json::from_value(word.into()).unwrap_or_default()))
        }
        "file" => Some(Field::File(value.to_owned())),
        _ => None,
    }
}

const OPEN_BOX: &str = "[ ] ";

enum Wish<'a> {
    /// What stands behind the dash or the number.
    Open(&'a str),
    Ticked,
}

fn wish(line: &str) -> Option<Wish<'_>> {
    let bullet = ["- ", "* "].iter().find_map(|bullet| line.strip_prefix(bullet));
    let text = bullet.or_else(|| numbered(line))?.trim_start();
    let is_ticked = ["[x]", "[X]"].iter().any(|tick| text.starts_with(tick));
    Some(if is_ticked { Wish::Ticked } else { Wish::Open(text) })
}

/// `1. ` or `1) `
fn numbered(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')'])?.strip_prefix(' ')?;
    (digits > 0).then_some(rest)
}

fn is_rule(line: &str) -> bool {
    ["---", "***", "___"].iter().any(|rule| line.starts_with(rule))
        && line.chars().all(|c| "-*_ ".contains(c))
}

fn indent(line: &str) -> usize {
    let blank = line.chars().take_while(|c| *c == ' ' || *c == '\t');
    blank.map(|c| if c == '\t' { TAB_WIDTH } else { 1 }).sum()
}

/// The longest piece of an item's line that is no field; with its box, if it has one.
fn mark(text: &str) -> String {
    let bare = text.strip_prefix(OPEN_BOX).unwrap_or(text);
    let pieces = parted(bare).0;
    let longest = pieces.iter().map(|piece| piece.trim()).max_by_key(|piece| piece.len());
    let longest = longest.unwrap_or_default();
    if bare.len() < text.len() && bare.starts_with(longest) {
        return format!("{OPEN_BOX}{longest}");
    }
    longest.to_owned()
}

#[cfg(test)]
mod tests;
