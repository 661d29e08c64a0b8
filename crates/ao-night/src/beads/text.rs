//! What a bead says about a packet.

use std::fmt::Write as _;

use ao_contract::MorningPacket;

/// `bd` refuses longer ones.
const TITLE_BYTES_MAX: usize = 500;
/// The kernel takes no argument over 128 KiB.
const BODY_BYTES_MAX: usize = 32 * 1024;
const MARK_CHARS: usize = 16;
const CUT: &str = "…";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) title: String,
    pub(super) body: String,
}

impl Text {
    pub(super) fn of(packet: &MorningPacket) -> Self {
        let title = argument(packet.title.trim());
        let title = if title.is_empty() { packet.id.clone() } else { title };
        let mut body = String::new();
        if title.len() > TITLE_BYTES_MAX {
            let _ = write!(body, "{title}\n\n");
        }
        let _ = writeln!(body, "{}", packet.why_now.trim());
        let lists = [
            ("Evidence", &packet.evidence),
            ("Files", &packet.target_files),
            ("Tests", &packet.likely_tests),
        ];
        for (name, items) in lists.into_iter().filter(|(_, items)| !items.is_empty()) {
            let _ = write!(body, "\n{name}:\n");
            for item in items {
                let _ = writeln!(body, "- {item}");
            }
        }
        let _ = write!(
            body,
            "\nStart with:\n\n    {}\n\nFrom packet {} of `ao overnight`, which keeps this text up \
             to date until somebody changes it.",
            packet.morning_command, packet.id
        );
        Self {
            title: cut(title, TITLE_BYTES_MAX),
            body: cut(argument(body.trim()), BODY_BYTES_MAX),
        }
    }

    pub(super) fn mark(&self) -> String {
        mark_of(&self.title, &self.body)
    }
}

/// By which a text is known again. `bd` takes the white space off its ends.
pub(super) fn mark_of(title: &str, body: &str) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(title.trim().as_bytes()).update(b"\0").update(body.trim().as_bytes());
    hash.finalize().to_hex()[..MARK_CHARS].to_owned()
}

/// No argument can have this one character in it.
fn argument(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let end = text.floor_char_boundary(bytes_max - CUT.len());
        text.truncate(end);
        text.truncate(text.trim_end().len());
        text.push_str(CUT);
    }
    text
}
