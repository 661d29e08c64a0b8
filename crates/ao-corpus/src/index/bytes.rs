//! Numbers as bytes, and back without trust in what was written.

use super::source::Broken;

/// Seven bits a byte, the lowest first.
#[expect(clippy::cast_possible_truncation, reason = "seven bits at a time")]
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Walks over bytes; whatever is not there is an error, never a panic.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Result<u32, Broken> {
        let mut value = 0_u32;
        for (index, byte) in self.rest.iter().enumerate().take(5) {
            value |= u32::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(Broken)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let (head, rest) = self.rest.split_at_checked(length).ok_or(Broken)?;
        self.rest = rest;
        Ok(head)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Broken)?;
        self.rest = rest;
        Ok(*head)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Broken> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Broken> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Broken> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, Broken> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Broken> {
        let length = self.varint()? as usize;
        std::str::from_utf8(self.take(length)?).map_err(|_| Broken)
    }
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    // Whatever is stored here was bounded when it was read.
    put_varint(out, u32::try_from(text.len()).unwrap_or(0));
    if u32::try_from(text.len()).is_ok() {
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, 1 << 28, u32::MAX];
        let mut bytes = Vec::new();
        for number in numbers {
            put_varint(&mut bytes, number);
        }
        let mut cursor = Cursor::new(&bytes);
        for number in numbers {
            assert_eq!(cursor.varint().ok(), Some(number));
        }
        assert!(cursor.is_at_end() && cursor.varint().is_err());
        assert!(Cursor::new(&[0x80; 9]).varint().is_err());
    }
}
