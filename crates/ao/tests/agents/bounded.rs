//! A program that is waited for, but not for ever.

use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs it to its end. One that takes longer than `patience` is killed, and the test has failed.
#[track_caller]
pub(crate) fn output(command: &mut Command, patience: Duration) -> (u32, Output) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pid = child.id();
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (stdout, stderr) = (collect(stdout), collect(stderr));
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if begun.elapsed() > patience {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        thread::sleep(LOOK_EVERY);
    };
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    let Some(status) = status else {
        panic!(
            "killed after {patience:?}: {command:?}\n{}\n{}",
            String::from_utf8_lossy(&stdout),
            String::from_utf8_lossy(&stderr)
        );
    };
    (pid, Output { status, stdout, stderr })
}

fn collect(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was said until then is enough.
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}
