//! Where the bytes of an index are: in memory, or in a file of which only the asked ranges are
//! read.
//!
//! A file is checked block by block as its ranges are read, so a search pays only for what it
//! touches, and whatever it touches is what was written.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) const BLOCK_BYTES: usize = 8 * 1024;
pub(super) const CHECK_BYTES: usize = 8;
/// No more than this of a file is kept after it was read: a search asks for the same dictionary
/// blocks again and again, and for everything else once.
const KEPT_BLOCKS_MAX: usize = 4096;

/// The bytes are not what was written. Not an error to anybody: the index is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index is not what was written")]
pub struct Broken;

/// A check value of some bytes.
pub(super) fn check_of(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = blake3::hash(bytes);
    let mut check = [0; CHECK_BYTES];
    check.copy_from_slice(&hash.as_bytes()[..CHECK_BYTES]);
    check
}

#[derive(Debug)]
pub(super) enum Source {
    Memory(Vec<u8>),
    File(Blocks),
}

impl Source {
    #[inline]
    pub(super) fn range(&self, range: Range<usize>) -> Result<Cow<'_, [u8]>, Broken> {
        match self {
            Self::Memory(bytes) => bytes.get(range).map(Cow::Borrowed).ok_or(Broken),
            Self::File(blocks) => blocks.range(range).map(Cow::Owned),
        }
    }
}

/// A file in blocks, each with its check value.
#[derive(Debug)]
pub(super) struct Blocks {
    file: File,
    length: usize,
    checks: Vec<[u8; CHECK_BYTES]>,
    kept: Mutex<HashMap<usize, Arc<[u8]>>>,
}

impl Blocks {
    /// `length` bytes at the beginning of the file, of which `checks` has a value a block.
    pub(super) fn new(file: File, length: usize, checks: Vec<[u8; CHECK_BYTES]>) -> Self {
        Self { file, length, checks, kept: Mutex::default() }
    }

    fn range(&self, range: Range<usize>) -> Result<Vec<u8>, Broken> {
        if range.start > range.end || range.end > self.length {
            return Err(Broken);
        }
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let (first, last) = (range.start / BLOCK_BYTES, (range.end - 1) / BLOCK_BYTES);
        let start = first * BLOCK_BYTES;
        let inner = range.start - start..range.end - start;
        if first == last {
            return Ok(self.block(first)?[inner].to_vec());
        }
        let mut bytes = self.read(first, last)?;
        bytes.truncate(inner.end);
        bytes.drain(..inner.start);
        Ok(bytes)
    }

    fn block(&self, index: usize) -> Result<Arc<[u8]>, Broken> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = kept.get(&index) {
            return Ok(Arc::clone(block));
        }
        let bytes: Arc<[u8]> = self.read(index, index)?.into();
        if kept.len() < KEPT_BLOCKS_MAX {
            kept.insert(index, Arc::clone(&bytes));
        }
        Ok(bytes)
    }

    fn read(&self, first: usize, last: usize) -> Result<Vec<u8>, Broken> {
        let start = first * BLOCK_BYTES;
        let end = ((last + 1) * BLOCK_BYTES).min(self.length);
        let mut bytes = vec![0; end - start];
        self.file.read_exact_at(&mut bytes, start as u64).map_err(|_| Broken)?;
        for (offset, block) in bytes.chunks(BLOCK_BYTES).enumerate() {
            if self.checks.get(first + offset) != Some(&check_of(block)) {
                return Err(Broken);
            }
        }
        Ok(bytes)
    }
}
