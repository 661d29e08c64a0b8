//! Letters that are written as something else: entities and escapes.

/// An entity or escape has no more bytes than this.
const ESCAPE_BYTES_MAX: usize = 12;

/// Whether the end of a line, or a tabulator, is written here.
pub(super) fn is_written_break(rest: &str) -> bool {
    matches!(rest.as_bytes(), [b'\\', b'n' | b't' | b'r', ..])
}

/// A letter that is written as an entity or an escape, and how many bytes that takes.
pub(super) fn decoded(text: &str, at: usize, c: char) -> Option<(char, usize)> {
    let rest = &text[at..];
    let within = |end: usize| rest.is_char_boundary(end).then(|| &rest[..end]);
    match c {
        '&' => {
            // A number needs nothing at its end.
            let is_digit =
                |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'#' | b'x' | b'X');
            let length = rest.bytes().skip(1).take(ESCAPE_BYTES_MAX).take_while(is_digit).count();
            let end = rest.bytes().take(ESCAPE_BYTES_MAX).position(|byte| byte == b';');
            let Some(end) = end else {
                return numbered(&rest[1..=length]).map(|c| (c, length + 1));
            };
            let name = &rest[1..end];
            let letter = match name {
                "nbsp" | "ensp" | "emsp" => ' ',
                "shy" | "zwj" | "zwnj" => '\u{00AD}',
                _ => numbered(name)?,
            };
            Some((letter, end + 1))
        }
        '%' => {
            let hex = within(3)?.get(1..)?;
            let byte = u8::from_str_radix(hex, 16).ok().filter(u8::is_ascii_graphic);
            byte.or((hex == "20").then_some(b' ')).map(|byte| (char::from(byte), 3))
        }
        '\\' => {
            let kind = rest.as_bytes().get(1)?;
            let (hex, length) = match kind {
                b'x' => (within(4)?.get(2..)?, 4),
                b'u' if rest.as_bytes().get(2) == Some(&b'{') => {
                    let end = rest.bytes().take(ESCAPE_BYTES_MAX).position(|byte| byte == b'}')?;
                    (rest.get(3..end)?, end + 1)
                }
                b'u' => (within(6)?.get(2..)?, 6),
                _ => return None,
            };
            Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, length))
        }
        _ => None,
    }
}

/// The letter of an entity that is a number: `#105` or `#x69`.
fn numbered(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    let number = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(number)
}
