//! What it costs to look everything through, beside `rg` with the same patterns.
//!
//!     cargo bench --bench redact
//!
//! CPU time over the same file, a core each: the redactor with known values in all their forms beside
//! `rg -F` with the same forms, and the rules beside `rg` with their
//! expressions. `rg` only counts lines; the redactor gives a text, and the scan places.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the peer and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use ao_vault::scan::Scanner;
use ao_vault::{Ansi, Redactor};
use cost::used;
use nix::sys::resource::UsageWho;

const MEGABYTES: usize = 64;
const ROUNDS: usize = 5;
const CHUNK: usize = 64 * 1024;

fn main() {
    let place = tempfile::tempdir().unwrap();
    let text = text();
    let file = place.path().join("text");
    fs::write(&file, &text).unwrap();
    println!("median CPU of {ROUNDS} over {MEGABYTES} MB of source text and logs");
    for count in [1, 10, 100] {
        let values: Vec<String> = (0..count).map(value).collect();
        let redactor = Redactor::new(&values).unwrap();
        let ours = median(|| {
            let mut writer = redactor.writer(Vec::with_capacity(text.len()), Ansi::Strip);
            text.chunks(CHUNK).for_each(|chunk| writer.write_all(chunk).unwrap());
            assert!(writer.finish().unwrap().len() > text.len() / 2);
        });
        let patterns: String = values.iter().map(|value| forms(value)).collect();
        let list = place.path().join("values");
        fs::write(&list, patterns).unwrap();
        let peer = peer(&["-F", "-f"], &list, &file);
        told(&format!("known values, {count}"), ours, peer);
    }
    let scanner = Scanner::new(&[]).unwrap();
    documentation(&scanner);
    let rules = median(|| drop(scanner.scan("text.rs", &text)));
    let list = place.path().join("rules");
    fs::write(&list, expressions()).unwrap();
    told(
        &format!("rules, {}", scanner.rules()),
        rules,
        peer(
            &["--no-unicode", "--dfa-size-limit", "1G", "--regex-size-limit", "1G", "-f"],
            &list,
            &file,
        ),
    );
}

/// Documentation of Debian's packages: hardly a key in it is one. Files with a zero are not searched by rules.
fn documentation(scanner: &Scanner) {
    const TEXT_BYTES: usize = 8000;
    let Ok(found) = ao_vault::scan::walk(Path::new("/usr/share/doc")) else {
        println!("false positives: there is no /usr/share/doc");
        return;
    };
    let (mut bytes, mut by_rule) = (0, std::collections::BTreeMap::<String, usize>::new());
    for path in found.files {
        let Ok(text) = fs::read(&path) else { continue };
        if text[..text.len().min(TEXT_BYTES)].contains(&0) {
            continue;
        }
        bytes += text.len();
        for finding in scanner.scan(&path.to_string_lossy(), &text) {
            *by_rule.entry(finding.rule).or_default() += 1;
        }
    }
    let all: usize = by_rule.values().sum();
    #[expect(clippy::cast_precision_loss, reason = "hundreds")]
    let megabytes = bytes as f64 / 1e6;
    #[expect(clippy::cast_precision_loss, reason = "hundreds")]
    let share = all as f64 / megabytes;
    println!(
        "/usr/share/doc: {all} findings in {megabytes:.1} MB of text, {share:.3} a MB {by_rule:?}"
    );
}

fn value(nth: usize) -> String {
    let digest = blake3::hash(&nth.to_le_bytes()).to_hex();
    format!("sk-{}", &digest[..40])
}

/// The forms that the redactor looks for: those of such a value are eight, the others being the same.
fn forms(value: &str) -> String {
    let mut forms = format!("{value}\n");
    let (mut hex, mut percent) = (String::new(), String::new());
    for byte in value.bytes() {
        let _ = write!(hex, "{byte:02x}");
        let _ = write!(percent, "%{byte:02x}");
    }
    let _ = writeln!(forms, "{hex}\n{}\n{percent}\n{}", hex.to_uppercase(), percent.to_uppercase());
    for before in 0..3 {
        let bits: Vec<u8> = std::iter::repeat_n(0, before)
            .chain(value.bytes())
            .flat_map(|byte| (0..8).rev().map(move |nth| byte >> nth & 1))
            .collect();
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digit = |six: &[u8]| six.iter().fold(0, |sum, bit| sum << 1 | usize::from(*bit));
        let text: String = bits.chunks_exact(6).map(|six| char::from(digits[digit(six)])).collect();
        let _ = writeln!(forms, "{}", &text[(8 * before).div_ceil(6)..]);
    }
    forms
}

/// The sources of this program, over and over, with a value here and there.
fn text() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                sources.extend(fs::read(path).unwrap());
            }
        }
    }
    let mut text = Vec::new();
    while text.len() < MEGABYTES << 20 {
        text.extend_from_slice(&sources);
        writeln!(text, "2026-11-15T02:00:00Z \u{1b}[32mINFO\u{1b}[0m token {}", value(0)).unwrap();
    }
    text.truncate(MEGABYTES << 20);
    text
}

/// Those of the rules' file, a line each.
fn expressions() -> String {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ao-vault/rules");
    let of_file = |name: &str| fs::read_to_string(rules.join(name)).unwrap();
    let text = format!("{}\n{}", of_file("gitleaks.toml"), of_file("own.toml"));
    let of = |line: &str| Some(line.strip_prefix("regex = '''")?.strip_suffix("'''")?.to_owned());
    // An older `rg` does not know every escape; what it refuses it need not look for.
    let is_known = |one: &String| {
        let mut command = Command::new("rg");
        command.args(["-q", "--no-unicode", "-e", one, "/dev/null"]).stderr(Stdio::null());
        command.status().unwrap().code().is_some_and(|code| code < 2)
    };
    let known: Vec<String> = text.lines().filter_map(of).filter(is_known).collect();
    println!("rg can read {} of the expressions", known.len());
    known.into_iter().fold(String::new(), |all, one| format!("{all}{one}\n"))
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut costs: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let before = used(UsageWho::RUSAGE_SELF);
            work();
            used(UsageWho::RUSAGE_SELF).saturating_sub(before)
        })
        .collect();
    costs.sort();
    costs[ROUNDS / 2]
}

fn peer(options: &[&str], patterns: &Path, file: &Path) -> Duration {
    let mut costs: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let before = used(UsageWho::RUSAGE_CHILDREN);
            let mut command = Command::new("rg");
            command.args(["-c", "-a", "-j1", "--no-config"]).args(options).arg(patterns).arg(file);
            let status = command.stdout(Stdio::null()).status().unwrap();
            assert!(status.code().is_some_and(|code| code < 2), "rg failed");
            used(UsageWho::RUSAGE_CHILDREN).saturating_sub(before)
        })
        .collect();
    costs.sort();
    costs[ROUNDS / 2]
}

fn told(what: &str, ours: Duration, peer: Duration) {
    let rate = |cost: Duration| f64::from(u32::try_from(MEGABYTES).unwrap()) / cost.as_secs_f64();
    let (ours, peer) = (rate(ours), rate(peer));
    println!("{what:<20} ao {ours:>7.0} MB/s   rg {peer:>7.0} MB/s   ratio {:>5.2}", ours / peer);
}
