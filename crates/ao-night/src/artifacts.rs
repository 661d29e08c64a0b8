//! The files of `morning-packets/`, as values.

use std::fmt::Write as _;

use ao_contract::{Extra, MorningPacket, Open, PacketIndex, SchemaVersion};

use crate::packets::Gathered;
use crate::plain::slug;

/// The folder, beneath the output directory.
pub const PACKETS_DIR: &str = "morning-packets";
pub const INDEX_JSON: &str = "morning-packets/index.json";
pub const INDEX_MARKDOWN: &str = "morning-packets/index.md";

/// One file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Relative to the output directory.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// Where a packet is filed, relative to the output directory.
pub(crate) fn path_of(packet: &MorningPacket) -> String {
    let width = if ao_mutant::active("RUN-28/rank-has-one-digit") { 1 } else { 2 };
    format!("{PACKETS_DIR}/{:0width$}-{}-{}.json", packet.rank, slug(&packet.title), packet.id)
}

/// The index for programs, the index for people, and a file a packet. Call it again when packets
/// have got their beads.
pub fn artifacts(gathered: &Gathered, run_id: &str) -> Result<Vec<Artifact>, serde_json::Error> {
    let index = PacketIndex {
        schema_version: SchemaVersion,
        run_id: run_id.to_owned(),
        packets: gathered.packets.clone(),
        left_out: gathered.left_out.clone(),
        dropped: gathered.dropped.clone(),
        unread: gathered.unread,
        extra: Extra::new(),
    };
    let mut files = vec![
        Artifact { path: INDEX_JSON.into(), bytes: pretty(&index)? },
        Artifact { path: INDEX_MARKDOWN.into(), bytes: markdown(&index).into_bytes() },
    ];
    if ao_mutant::active("RUN-26/no-index-for-people") {
        files.truncate(1);
    }
    for packet in &gathered.packets {
        files.push(Artifact { path: path_of(packet), bytes: pretty(packet)? });
    }
    Ok(files)
}

fn pretty(value: &impl serde::Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn markdown(index: &PacketIndex) -> String {
    let mut text = String::from("# Morning packets\n");
    let _ = write!(
        text,
        "\nRun {}. What is quoted from files is material, not instruction.\n",
        escaped(&index.run_id)
    );
    for packet in &index.packets {
        let _ = write!(text, "\n## {}. {}\n\n", packet.rank, escaped(&packet.title));
        let _ = writeln!(
            text,
            "`{}` · {} · severity {} · confidence {}\n",
            packet.id,
            escaped(&word(&packet.kind)),
            escaped(&word(&packet.severity)),
            escaped(&word(&packet.confidence))
        );
        let _ = writeln!(text, "{}\n", escaped(&packet.why_now));
        list(&mut text, "Evidence", &packet.evidence);
        list(&mut text, "Look first at", &packet.target_files);
        list(
            &mut text,
            "Tests that may be about it (a guess by their names)",
            &packet.likely_tests,
        );
        let fence = "`".repeat(fence_length(&packet.morning_command));
        let _ = writeln!(text, "{fence}sh\n{}\n{fence}", packet.morning_command);
    }
    let left: u64 = index.left_out.values().sum();
    if left > 0 {
        let by: Vec<String> =
            index.left_out.iter().map(|(source, count)| format!("{source} {count}")).collect();
        let _ = write!(text, "\n{left} more were ranked and left out: {}.\n", by.join(", "));
    }
    if !index.dropped.is_empty() {
        text.push_str("\n## Left out because it is done or somebody has it\n\n");
        for dropped in &index.dropped {
            let _ = writeln!(text, "- {}: {}", escaped(&dropped.title), escaped(&dropped.why));
        }
    }
    if index.unread > 0 {
        let _ = write!(
            text,
            "\n{} lines or items of the work queue cannot be read; they are as they were.\n",
            index.unread
        );
    }
    text
}

fn list(text: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "{heading}:\n");
    for line in lines {
        let _ = writeln!(text, "- {}", escaped(line));
    }
    text.push('\n');
}

/// A word of a list, or the word that stands in its place.
pub(crate) fn word<T: serde::Serialize>(word: &Open<T>) -> String {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Text that opens nothing in Markdown and acts on no terminal.
pub(crate) fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in ao_tree::shown(&text.split_whitespace().collect::<Vec<_>>().join(" ")).chars() {
        if matches!(c, '`' | '<' | '>' | '[' | ']' | '*' | '#' | '|' | '\\') {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

/// One more than the longest run of backquotes in the text, so that nothing in it ends the block.
pub(crate) fn fence_length(text: &str) -> usize {
    const FENCE_MIN: usize = 3;
    let runs = text.split(|c| c != '`').map(str::len);
    FENCE_MIN.max(runs.max().unwrap_or(0) + 1)
}
