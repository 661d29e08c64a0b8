//! A value, as a person types it or a program writes it.

use std::fs::File;
use std::io::{self, IsTerminal, Read};

use ao_contract::Exit;
use ao_vault::{Name, VALUE_BYTES_MAX};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use zeroize::{Zeroize, Zeroizing};

use crate::failure::Failure;
use crate::printer;

/// What becomes of a line end at the end of standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Kept,
    Cut,
}

const INTERRUPT: u8 = 0x03;
const END_OF_INPUT: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const ERASE_LINE: u8 = 0x15;
const DELETE: u8 = 0x7f;

pub(super) fn value(name: &Name, end: End) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let failed = |error: io::Error| {
        Failure::new(Exit::Failed, format!("the value cannot be read: {error}"))
            .hint("nothing was written; run the command again")
    };
    // Without the buffer that the standard library would keep a copy in.
    let input = File::from(rustix::stdio::stdin().try_clone_to_owned().map_err(failed)?);
    if input.is_terminal() {
        let typed = typed(&input, name).map_err(failed)?;
        return typed
            .ok_or_else(|| Failure::new(Exit::Failed, "interrupted").hint("nothing was written"));
    }
    // Room for all of it at once: a buffer that grows leaves copies behind.
    let room = VALUE_BYTES_MAX + "\r\n".len() + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    input.take(room as u64).read_to_end(&mut bytes).map_err(failed)?;
    if end == End::Cut && bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    Ok(bytes)
}

/// The terminal as it was, whatever happens in between.
struct Restored<'a> {
    terminal: &'a File,
    before: Termios,
}

impl Drop for Restored<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
    }
}

/// One line that is not shown; nothing if it was interrupted.
fn typed(mut terminal: &File, name: &Name) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    let before = tcgetattr(terminal)?;
    let mut silent = before.clone();
    // Byte by byte: the kernel's own line has an end at 4096 bytes, and an interrupt would leave
    // the terminal silent.
    silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
    silent.special_codes[SpecialCodeIndex::VMIN] = 1;
    silent.special_codes[SpecialCodeIndex::VTIME] = 0;
    let restored = Restored { terminal, before };
    tcsetattr(terminal, OptionalActions::Flush, &silent)?;
    printer::ask(&format!("Value of {name} (not shown): "))?;
    let mut line = Zeroizing::new(Vec::with_capacity(VALUE_BYTES_MAX + 1));
    let mut byte = [0];
    let is_whole = loop {
        if terminal.read(&mut byte)? == 0 {
            break true;
        }
        match byte[0] {
            INTERRUPT => break false,
            b'\n' | b'\r' | END_OF_INPUT => break true,
            BACKSPACE | DELETE => erase(&mut line),
            ERASE_LINE => line.clear(),
            _ if line.len() > VALUE_BYTES_MAX => {}
            letter => line.push(letter),
        }
    };
    byte.zeroize();
    drop(restored);
    printer::ask("\n")?;
    Ok(is_whole.then_some(line))
}

/// A letter may have several bytes.
fn erase(line: &mut Vec<u8>) {
    const CONTINUES: std::ops::RangeInclusive<u8> = 0x80..=0xbf;
    while let Some(byte) = line.pop() {
        if !CONTINUES.contains(&byte) {
            return;
        }
    }
}
