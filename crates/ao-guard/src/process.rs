//! The processes of this machine, as `/proc` tells them.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ao_tree::own_file;
use rustix::process::{Pid, Signal, pidfd_open, pidfd_send_signal};

/// What the kernel says of one process in one line.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// One process, at the moment at which it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) id: Pid,
    /// None for what the kernel started by itself.
    pub(crate) parent: Option<Pid>,
    pub(crate) session: Option<Pid>,
}

/// All of them. They come and go while the list is made.
pub(crate) fn list() -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let id = name.to_str().and_then(|name| name.parse().ok()).and_then(positive);
        found.extend(id.and_then(look_at));
    }
    Ok(found)
}

/// The process, unless it is gone.
pub(crate) fn look_at(id: Pid) -> Option<Process> {
    let file = format!("/proc/{}/stat", id.as_raw_nonzero());
    let stat = own_file::read(Path::new(&file), LINE_BYTES_MAX).ok()?;
    parse(id, &stat)
}

/// `id (name) state parent group session …`; the name may have anything in it, `) R 1` too.
fn parse(id: Pid, stat: &[u8]) -> Option<Process> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
    let mut numbers = rest.split_ascii_whitespace().skip(1).map(|word| word.parse::<i32>().ok());
    let parent = numbers.next()??;
    let session = numbers.nth(1)??;
    Some(Process { id, parent: positive(parent), session: positive(session) })
}

/// The kernel says 0 for "none", and -1 of a process that it is just letting go.
fn positive(id: i32) -> Option<Pid> {
    Pid::from_raw(id.max(0))
}

/// What a process holds in memory; nothing if it is gone.
pub(crate) fn resident_bytes(id: &str) -> u64 {
    const PAGE_BYTES: u64 = 4096;
    let file = format!("/proc/{id}/statm");
    let Ok(text) = own_file::read_text(Path::new(&file), LINE_BYTES_MAX) else { return 0 };
    let pages = text.split_ascii_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * PAGE_BYTES
}

/// How many threads a process has; none if it is gone.
pub(crate) fn threads(id: &str) -> u32 {
    // The folder has one name for each of them, besides its own two.
    const OWN_NAMES: u64 = 2;
    let names = fs::metadata(format!("/proc/{id}/task")).map_or(0, |found| found.nlink());
    u32::try_from(names.saturating_sub(OWN_NAMES)).unwrap_or(u32::MAX)
}

/// Kills all processes of a session whose leader nobody has reaped, so that its number cannot
/// mean another session. Gives how many there were.
pub(crate) fn kill_session(session: Pid) -> usize {
    let belongs = |process: &Process| process.session == Some(session) && process.id != session;
    let mut killed = 0;
    for process in list().unwrap_or_default().into_iter().filter(belongs) {
        // Opened first and looked at second: what is killed is what was looked at.
        let Ok(handle) = pidfd_open(process.id, rustix::process::PidfdFlags::empty()) else {
            continue;
        };
        if look_at(process.id).is_some_and(|process| belongs(&process))
            && pidfd_send_signal(&handle, Signal::KILL).is_ok()
        {
            killed += 1;
        }
    }
    killed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_what_follows_it() {
        let id = Pid::from_raw(7).unwrap();
        let seen = parse(id, b"7 (a) R 1 1 1 (b\n) S 42 7 41 0 -1 4194304 90").unwrap();
        assert_eq!((seen.parent, seen.session), (Pid::from_raw(42), Pid::from_raw(41)));
        assert_eq!(parse(id, b"7 (kthread) S 0 0 0").unwrap().parent, None);
        let going = parse(id, b"7 (going) X 0 -1 -1 0 -1 4194304 90").unwrap();
        assert_eq!((going.parent, going.session), (None, None));
        assert_eq!(parse(id, b"7 (cut"), None);
        assert_eq!(parse(id, b"7 (cut) S 42"), None);
    }

    #[test]
    fn this_process_is_among_them() {
        let this = rustix::process::getpid();
        let seen = list().unwrap().into_iter().find(|process| process.id == this).unwrap();
        assert_eq!(seen.parent, rustix::process::getppid());
        let id = this.as_raw_nonzero().to_string();
        let before = threads(&id);
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let waiting: Vec<_> = (0..40)
            .map(|_| {
                let sender = sender.clone();
                std::thread::spawn(move || {
                    std::thread::park();
                    drop(sender);
                })
            })
            .collect();
        assert!(threads(&id) >= 40 && before >= 1, "{before}");
        drop(sender);
        for thread in &waiting {
            thread.thread().unpark();
        }
        assert!(receiver.recv().is_err());
    }
}
