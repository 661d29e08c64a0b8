//! Where in a JSON text each value stands. The text has been read as JSON before, so nothing is checked.

/// The bytes from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: String,
    key_start: usize,
    pub(super) value: Span,
}

impl Member {
    /// Key and value.
    pub(super) fn span(&self) -> Span {
        Span { start: self.key_start, end: self.value.end }
    }
}

/// The one value of the text.
pub(super) fn whole(text: &str) -> Span {
    let start = skip_space(text, 0);
    Span { start, end: end_of(text, start) }
}

/// The members of the object at this place; none if it is something else.
pub(super) fn members(text: &str, object: Span) -> Vec<Member> {
    let mut found = Vec::new();
    if !text[object.start..].starts_with('{') {
        return found;
    }
    let mut at = skip_space(text, object.start + 1);
    while text[at..].starts_with('"') {
        let key_end = end_of(text, at);
        let key = serde_json::from_str(&text[at..key_end]).unwrap_or_default();
        let start = skip_space(text, skip_space(text, key_end) + 1);
        let value = Span { start, end: end_of(text, start) };
        found.push(Member { key, key_start: at, value });
        at = after_comma(text, value.end);
    }
    found
}

/// The values of the list at this place; none if it is something else.
pub(super) fn elements(text: &str, list: Span) -> Vec<Span> {
    let mut found = Vec::new();
    if !text[list.start..].starts_with('[') {
        return found;
    }
    let mut at = skip_space(text, list.start + 1);
    while at < list.end && !text[at..].starts_with(']') {
        let value = Span { start: at, end: end_of(text, at) };
        found.push(value);
        at = after_comma(text, value.end);
    }
    found
}

fn skip_space(text: &str, from: usize) -> usize {
    from + text[from..].len() - text[from..].trim_start_matches([' ', '\n', '\r', '\t']).len()
}

fn after_comma(text: &str, from: usize) -> usize {
    let at = skip_space(text, from);
    if text[at..].starts_with(',') { skip_space(text, at + 1) } else { at }
}

/// Where the value that starts here ends.
fn end_of(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut is_text) = (start, 0_usize, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_text => at += 1,
            b'"' => {
                is_text = !is_text;
                if !is_text && depth == 0 {
                    return at + 1;
                }
            }
            _ if is_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return if depth == 1 { at + 1 } else { at },
            b'}' | b']' => depth -= 1,
            b',' | b' ' | b'\n' | b'\r' | b'\t' | b':' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
