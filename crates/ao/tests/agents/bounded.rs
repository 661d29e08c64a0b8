//! A program that is waited for, but not for ever.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long its output may stay open after it: somebody else has it then.
const CLOSES_IN: Duration = Duration::from_mins(1);

/// Runs it to its end. One that takes longer than `patience` is killed with its group, and the test has failed.
#[track_caller]
pub(crate) fn output(command: &mut Command, patience: Duration) -> (u32, Output) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap();
    let pid = child.id();
    let stdout = collect(child.stdout.take().unwrap());
    let stderr = collect(child.stderr.take().unwrap());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if begun.elapsed() > patience {
            killpg(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL).unwrap();
            child.wait().unwrap();
            break None;
        }
        thread::sleep(LOOK_EVERY);
    };
    let said = |stream: Receiver<Vec<u8>>| stream.recv_timeout(CLOSES_IN);
    let (stdout, stderr) = (said(stdout), said(stderr));
    let Some(status) = status else {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (stdout, stderr) = (stdout.map(text), stderr.map(text));
        panic!("killed after {patience:?}: {command:?}\n{stdout:?}\n{stderr:?}");
    };
    let stdout = stdout.expect("standard output is closed with the program");
    let stderr = stderr.expect("standard error is closed with the program");
    (pid, Output { status, stdout, stderr })
}

fn collect(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was said until then is enough, and nobody may be waiting any more.
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}
