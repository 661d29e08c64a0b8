//! The entries of each stem while they are collected, as chains of blocks in one run of memory.
//!
//! A vector a stem would be moved each time it grows, and leave holes that half a million entries
//! turn into gigabytes. A chain's blocks double in size, so a rare stem has a small one and a
//! frequent one few.

use super::bytes::put_varint;

const FIRST_BLOCK_BYTES: usize = 8;
const DOUBLINGS_MAX: usize = 9;
/// Before the bytes of a block stands where the next one is.
const LINK_BYTES: usize = 4;

/// How often an entry has a stem, in title and tags and in the body.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) title: u32,
    pub(super) body: u32,
}

/// What is collected for a stem.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chain {
    pub(super) df: u32,
    pub(super) title_df: u32,
    last_entry: u32,
    /// Of all its bytes, without links.
    pub(super) bytes: u32,
    first: u32,
    /// Where the last block begins, where the next byte goes, and how many blocks there are.
    last: u32,
    at: u32,
    blocks: u32,
}

#[derive(Debug, Default)]
pub(super) struct Postings {
    memory: Vec<u8>,
    pub(super) chains: Vec<Chain>,
    scratch: Vec<u8>,
}

fn block_bytes(number: usize) -> usize {
    FIRST_BLOCK_BYTES << number.min(DOUBLINGS_MAX)
}

/// Four bytes reach four gigabytes; [`Postings::is_full`] is asked before they end.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Postings {
    pub(super) fn new(stems: usize) -> Self {
        Self { chains: vec![Chain::default(); stems], ..Self::default() }
    }

    /// No more can be collected.
    pub(super) fn is_full(&self) -> bool {
        u32::try_from(self.memory.len() + (1 << 20)).is_err()
    }

    /// The entries must come in order.
    pub(super) fn push(&mut self, stem: u32, entry: u32, here: Counts) {
        let chain = &mut self.chains[stem as usize];
        let ahead = entry - if chain.df == 0 { 0 } else { chain.last_entry };
        chain.df += 1;
        chain.last_entry = entry;
        self.scratch.clear();
        // Most words are once in a body; that takes no byte of its own.
        let is_plain = here.title == 0 && here.body == 1;
        put_varint(&mut self.scratch, ahead << 1 | u32::from(is_plain));
        if !is_plain {
            put_varint(&mut self.scratch, here.title);
            put_varint(&mut self.scratch, here.body);
        }
        for byte in &self.scratch {
            let end = match chain.blocks.checked_sub(1) {
                None => 0,
                Some(number) => chain.last as usize + LINK_BYTES + block_bytes(number as usize),
            };
            if chain.at as usize == end {
                let block = self.memory.len();
                let length = LINK_BYTES + block_bytes(chain.blocks as usize);
                self.memory.resize(block + length, 0);
                if chain.blocks == 0 {
                    chain.first = place(block);
                } else {
                    let link = chain.last as usize;
                    self.memory[link..link + LINK_BYTES]
                        .copy_from_slice(&place(block).to_le_bytes());
                }
                chain.last = place(block);
                chain.at = place(block + LINK_BYTES);
                chain.blocks += 1;
            }
            self.memory[chain.at as usize] = *byte;
            chain.at += 1;
            chain.bytes += 1;
        }
    }

    /// The bytes of a stem, block by block.
    pub(super) fn pieces(&self, stem: u32) -> impl Iterator<Item = &[u8]> {
        let chain = self.chains[stem as usize];
        let (mut left, mut block) = (chain.bytes as usize, chain.first as usize);
        (0..chain.blocks as usize).map(move |number| {
            let start = block + LINK_BYTES;
            let length = block_bytes(number).min(left);
            let mut link = [0; LINK_BYTES];
            link.copy_from_slice(&self.memory[block..start]);
            left -= length;
            block = u32::from_le_bytes(link) as usize;
            &self.memory[start..start + length]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_hold_what_was_pushed() {
        let mut postings = Postings::new(3);
        let mut expected: [Vec<u8>; 3] = Default::default();
        let mut last = [0, 0, 0];
        for entry in 0..20_000_u32 {
            for stem in [0, 1] {
                if stem == 1 && entry % 1000 != 3 {
                    continue;
                }
                let here = Counts { title: entry % 3, body: 1 };
                postings.push(stem, entry, here);
                let bytes = &mut expected[stem as usize];
                let is_plain = here.title == 0;
                put_varint(bytes, (entry - last[stem as usize]) << 1 | u32::from(is_plain));
                if !is_plain {
                    put_varint(bytes, here.title);
                    put_varint(bytes, 1);
                }
                last[stem as usize] = entry;
            }
        }
        for (stem, expected) in (0..).zip(&expected) {
            let found: Vec<u8> = postings.pieces(stem).flatten().copied().collect();
            assert_eq!(&found, expected, "{stem}");
            assert_eq!(postings.chains[stem as usize].bytes as usize, expected.len());
        }
    }
}
