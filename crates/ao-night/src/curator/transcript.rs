//! A part of a session of Claude Code: who said what, and nothing else of it.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use ao_contract::JobSource;
use ao_tree::own_file;
use ao_vault::{Ansi, redactor};
use serde_json::Value;

/// A job works on no more of a file.
pub const CHUNK_BYTES_MAX: u64 = 256 * 1024;
/// The last line may go on behind the part; no further than this.
const LINE_BYTES_MAX: u64 = 1024 * 1024;
const MESSAGE_CHARS_MAX: usize = 4000;
/// A small model has no room for more.
const TEXT_CHARS_MAX: usize = 24_000;

/// What a model is shown of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) text: String,
    /// Of the bytes that it was made of, so that a draft can be traced to them.
    pub(super) hash: String,
    /// There was more than a model is shown.
    pub(super) is_cut: bool,
}

/// The messages of a session. The error says why there are none.
pub(super) fn session(source: &JobSource) -> Result<Chunk, String> {
    let bytes = lines(source)?;
    let mut text = String::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { continue };
        let Some(who @ ("user" | "assistant")) = line["type"].as_str() else { continue };
        let said = said(&line["message"]["content"]);
        if !said.trim().is_empty() {
            let said: String = said.trim().chars().take(MESSAGE_CHARS_MAX).collect();
            let _ = write!(text, "{who}: {said}\n\n");
        }
    }
    if text.is_empty() {
        return Err("the part holds no message of a session".to_owned());
    }
    Ok(chunk(&text, &bytes))
}

/// Any text.
pub(super) fn text(source: &JobSource) -> Result<Chunk, String> {
    let bytes = lines(source)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.trim().is_empty() {
        return Err("the part holds no text".to_owned());
    }
    Ok(chunk(&text, &bytes))
}

fn chunk(text: &str, bytes: &[u8]) -> Chunk {
    let is_cut = text.chars().count() > TEXT_CHARS_MAX;
    let text: String = text.chars().take(TEXT_CHARS_MAX).collect();
    Chunk { text: clean(&text), hash: blake3::hash(bytes).to_hex().to_string(), is_cut }
}

/// Without a value of the vault, and without what would act on a terminal.
pub(super) fn clean(text: &str) -> String {
    let text = redactor().text(text, Ansi::Strip).into_inner();
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// What people and the model said; what tools gave back is left out.
fn said(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let mut text = String::new();
    for block in content.as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") => {
                let _ = writeln!(text, "{}", block["text"].as_str().unwrap_or_default());
            }
            Some("tool_use") => {
                let _ = writeln!(text, "[uses {}]", block["name"].as_str().unwrap_or("a tool"));
            }
            _ => {}
        }
    }
    text
}

/// The lines that begin in the part. A line is whole, wherever the part was cut.
fn lines(source: &JobSource) -> Result<Vec<u8>, String> {
    let (start, end) = (source.chunk_start, source.chunk_end);
    if start >= end || end - start > CHUNK_BYTES_MAX {
        return Err(format!("the part from {start} to {end} is empty or too large"));
    }
    let path = Path::new(&source.path);
    let tell = |error: std::io::Error| format!("{}: {error}", ao_tree::shown(&source.path));
    if !path.is_absolute() {
        return Err(format!("{}: it is not an absolute path", ao_tree::shown(&source.path)));
    }
    let mut file = own_file::open(path).map_err(tell)?;
    let mut at = start.saturating_sub(1);
    file.seek(SeekFrom::Start(at)).map_err(tell)?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut bytes = Vec::new();
    if start > 0 {
        // Up to the end of the line that began before.
        at += next(&mut reader, &mut line).map_err(tell)?;
    }
    while at < end {
        line.clear();
        let count = next(&mut reader, &mut line).map_err(tell)?;
        if count == 0 {
            break;
        }
        at += count;
        bytes.extend_from_slice(&line);
    }
    Ok(bytes)
}

fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<u64> {
    let count = reader.take(LINE_BYTES_MAX).read_until(b'\n', line)?;
    Ok(count as u64)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use std::fs;

    use ao_contract::Extra;

    use super::*;

    #[test]
    fn every_line_belongs_to_exactly_one_part() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let line = |who: &str, text: &str| {
            serde_json::json!({ "type": who, "message": { "content": [{ "type": "text", "text": text }] } })
                .to_string()
        };
        let all =
            [line("user", "one"), line("assistant", "two"), "broken".into(), line("user", "three")];
        let file = all.join("\n");
        fs::write(&path, &file).unwrap();
        let part = |start: u64, end: u64| {
            let path = path.to_str().unwrap().to_owned();
            let source =
                JobSource { path, chunk_start: start, chunk_end: end, extra: Extra::new() };
            session(&source).map(|chunk| chunk.text).unwrap_or_default()
        };
        let size = file.len() as u64;
        let whole = part(0, size);
        assert_eq!(whole, "user: one\n\nassistant: two\n\nuser: three\n\n");
        for cut in 1..size {
            assert_eq!(part(0, cut) + &part(cut, size), whole, "cut at {cut}");
        }
        assert_eq!(part(0, CHUNK_BYTES_MAX + 1), "");
    }
}
