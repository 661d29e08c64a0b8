//! Names and values, as they stand inside of the encrypted file.
//!
//! A line with the name and the number of bytes, then the bytes, then the end of a line. Whoever has
//! the identity can read it with `age -d` alone.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use super::error::Error;
use super::{Change, Result};
use crate::name::{NAME_BYTES_MAX, Name};
use crate::secret::Secret;

pub const ENTRIES_MAX: usize = 1000;
/// Every command knows each value in some forty forms.
const BYTES_MAX: usize = 8 * 1024 * 1024;
/// Of a line before a value: the name, a space, digits, the end.
const LINE_BYTES_MAX: usize = NAME_BYTES_MAX + 24;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    entries: BTreeMap<Name, Secret>,
}

impl Contents {
    pub(super) fn entries(&self) -> &BTreeMap<Name, Secret> {
        &self.entries
    }

    pub(super) fn into_entries(self) -> BTreeMap<Name, Secret> {
        self.entries
    }

    pub(super) fn put(&mut self, name: Name, secret: Secret) -> Result<Change> {
        let change = match self.entries.get(&name) {
            Some(old) if *old == secret => return Ok(Change::Same),
            Some(_) => Change::Replaced,
            None => Change::Created,
        };
        self.entries.insert(name, secret);
        if self.entries.len() > ENTRIES_MAX {
            return Err(Error::Full("it has 1,000 values"));
        }
        if self.room() > BYTES_MAX {
            return Err(Error::Full("its values have 8 MiB together"));
        }
        Ok(change)
    }

    pub(super) fn take(&mut self, name: &Name) -> Option<Secret> {
        self.entries.remove(name)
    }

    fn room(&self) -> usize {
        self.entries.values().map(|secret| secret.expose().len() + LINE_BYTES_MAX).sum()
    }

    pub(super) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        // Room for all of it at once: a buffer that grows leaves copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.room()));
        for (name, secret) in &self.entries {
            let value = secret.expose();
            bytes.extend_from_slice(format!("{name} {}\n", value.len()).as_bytes());
            bytes.extend_from_slice(value);
            bytes.push(b'\n');
        }
        bytes
    }

    /// Nothing is guessed: what is not exactly as it was written is not read.
    pub(super) fn parse(mut bytes: &[u8]) -> Option<Self> {
        let mut entries = BTreeMap::new();
        while !bytes.is_empty() {
            let end = bytes.iter().take(LINE_BYTES_MAX).position(|byte| *byte == b'\n')?;
            let (line, rest) = bytes.split_at(end);
            let (name, count) = std::str::from_utf8(line).ok()?.split_once(' ')?;
            let (value, rest) = rest.get(1..)?.split_at_checked(count.parse().ok()?)?;
            let secret = Secret::new(Zeroizing::new(value.to_vec())).ok()?;
            if entries.insert(name.parse().ok()?, secret).is_some() {
                return None;
            }
            bytes = rest.strip_prefix(b"\n")?;
        }
        (entries.len() <= ENTRIES_MAX).then_some(Self { entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(bytes: &[u8]) -> Secret {
        Secret::new(Zeroizing::new(bytes.to_vec())).unwrap()
    }

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let mut contents = Contents::default();
        contents.put("a/b".parse().unwrap(), secret(b"with\nlines 9\n\0\xff")).unwrap();
        contents.put("c".parse().unwrap(), secret(b"12345678")).unwrap();
        let bytes = contents.to_bytes();
        assert_eq!(Contents::parse(&bytes).unwrap(), contents);
        for cut in 1..bytes.len() {
            let read = Contents::parse(&bytes[..cut]);
            assert!(read.is_none_or(|read| read.entries.len() == 1), "{cut}");
        }
        for bad in [
            "a 8\n12345678",
            "a 7\n1234567\n",
            "a 9999999999999999999999\n",
            "a -8\n12345678\n",
            "a\n",
            "\n",
            "a 8\n12345678\na 8\n12345678\n",
        ] {
            assert!(Contents::parse(bad.as_bytes()).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn the_same_value_is_no_change_and_there_is_a_bound() {
        let mut contents = Contents::default();
        let name: Name = "a".parse().unwrap();
        assert_eq!(contents.put(name.clone(), secret(b"12345678")).unwrap(), Change::Created);
        assert_eq!(contents.put(name.clone(), secret(b"12345678")).unwrap(), Change::Same);
        assert_eq!(contents.put(name, secret(b"123456789")).unwrap(), Change::Replaced);
        for number in 1..ENTRIES_MAX {
            contents.put(format!("n{number}").parse().unwrap(), secret(b"12345678")).unwrap();
        }
        let more = contents.put("more".parse().unwrap(), secret(b"12345678"));
        assert!(matches!(more, Err(Error::Full(_))));
    }
}
