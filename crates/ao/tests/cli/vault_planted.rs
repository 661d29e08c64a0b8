//! A value that a program says, in whatever way, is in nothing that is printed or written.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::cell::{Cells, User};
use crate::repo::Ran;
use crate::vault::set_mode;

const SCRIPT: &str = include_str!("planted.py");
const MARK: &str = "***REDACTED***";
/// Every encoding changes it.
const ODD: &str = "p4 ss\"w\\o/r+d<é\nsecond  line=&>!";
const PLAIN: &str = "tok_live_planted_9fQ2xVbR7mKp";
/// As many checks as one packet is asked for at a time; a reader runs no more than 12.
const CHECKS: usize = 10;

/// One way to say the value: the whole of it, and what of that must not be seen.
struct Way {
    said: Vec<u8>,
    secret: Vec<u8>,
}

struct Bed {
    cells: Cells,
    value: &'static str,
    ways: Vec<Way>,
}

impl Bed {
    fn new(cells: Cells, value: &'static str) -> Self {
        cells.ao(&["vault", "init"]).expect(0);
        fed(&cells, &["vault", "write", "KEY"], value.as_bytes()).expect(0);
        fs::write(cells.path("planted.py"), SCRIPT).unwrap();
        let backwards: Vec<u8> = value.bytes().rev().collect();
        fs::write(cells.path("backwards"), backwards).unwrap();
        let script = cells.path("planted.py");
        let listed = Command::new("python3").arg(script).arg("list").output().unwrap();
        let lines = String::from_utf8(listed.stdout).unwrap();
        let ways: Vec<_> = lines.lines().map(way).collect();
        assert!(ways.len() >= 10, "{}", String::from_utf8_lossy(&listed.stderr));
        cells.settle();
        Self { cells, value, ways }
    }

    /// Neither as it is, nor with what a terminal or an eye leaves out.
    #[track_caller]
    fn is_not_in(&self, bytes: &[u8], what: &str) {
        let without = without_colours_and_breaks(bytes);
        for way in &self.ways {
            let secret: Vec<u8> =
                way.secret.iter().copied().filter(|byte| *byte != b'\n').collect();
            let is_there = has(bytes, &way.secret) || has(&without, &secret);
            assert!(!is_there, "{what} has {}", way.said.escape_ascii());
        }
    }

    #[track_caller]
    fn is_in_no_file(&self) {
        let mut count = 0;
        each_file(&self.cells.path(""), &mut |path, bytes| {
            self.is_not_in(bytes, &path.display().to_string());
            count += 1;
        });
        assert!(count > 10);
    }

    /// All that it says, and that it was there to be said.
    fn says(&self, run: &[&str]) {
        let step = if crate::is_sweep() { "1" } else { "1000000" };
        let script = ["--", "python3", "-IS", "planted.py", "say", step];
        let ran = self.cells.ao(&[run, &script].concat()).expect(0);
        self.is_not_in(format!("{ran}").as_bytes(), "what was printed");
        let (stdout, stderr) = if run[0] == "--json" {
            let json = ran.json();
            let text = |name: &str| json[name]["text"].as_str().unwrap().to_owned();
            (text("stdout"), text("stderr"))
        } else {
            (ran.stdout, ran.stderr)
        };
        for text in [&stdout, &stderr] {
            self.is_not_in(text.as_bytes(), "what was said");
        }
        let line = stdout.lines().find(|line| line.starts_with("planted ")).unwrap();
        let count = |nth: usize| line.split(' ').nth(nth).unwrap().parse::<usize>().unwrap();
        assert!(count(1) >= 5 * self.ways.len());
        assert_eq!(stdout.matches(MARK).count(), count(1), "{stdout}");
        assert_eq!(stderr.matches(MARK).count(), count(2), "{stderr}");
        // The program had it.
        let backwards: Vec<_> = self.value.bytes().rev().map(|byte| byte.to_string()).collect();
        let backwards = backwards.join(" ");
        assert!(stdout.contains(&format!("has {backwards}\n")), "{stdout}");
    }

    /// What a check of a packet complains about, which is its reason.
    fn complains_as_a_check(&self) {
        // Twice as many: each in colours too.
        let numbers: Vec<usize> = (0..2 * self.ways.len()).collect();
        for some in numbers.chunks(CHECKS) {
            let commands: Vec<String> =
                some.iter().map(|nth| format!("python3 -IS planted.py complain {nth}")).collect();
            let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
            for (word, why) in self.cells.said(&commands) {
                assert_eq!(word, "done", "{why}");
                self.is_not_in(why.as_bytes(), "the reason");
                assert!(why.contains(": no ") && why.contains(MARK), "{why}");
            }
            let ran = self.cells.ao(&["overnight", "packet", crate::shell_checks::ID]);
            self.is_not_in(format!("{ran}").as_bytes(), "a packet");
        }
    }

    /// What the command for messages complains about, while the message itself says it.
    fn complains_as_a_notifier(&self) {
        let root = self.cells.path("");
        let root = root.to_str().unwrap();
        let script = format!(
            "cat >> {root}/told; exec python3 -IS {root}/planted.py complain $(cat {root}/number)"
        );
        let config = json!({ "notify": { "command": ["/bin/sh", "-c", script] } });
        fs::write(self.cells.path("config.yaml"), config.to_string()).unwrap();
        for nth in 0..2 * self.ways.len() {
            fs::write(self.cells.path("number"), nth.to_string()).unwrap();
            self.cells.settle();
            let said = &self.ways[nth % self.ways.len()].said;
            let ran = fed(&self.cells, &["notify"], &[b"use ", &said[..]].concat()).expect(1);
            self.is_not_in(format!("{ran}").as_bytes(), "an error");
            assert!(
                ran.stderr.contains("exited with 7: no ") && ran.stderr.contains(MARK),
                "{ran}"
            );
        }
        let told = fs::read_to_string(self.cells.path("told")).unwrap();
        assert_eq!(told, "[redacted by safety layer]".repeat(2 * self.ways.len()));
        let log = fs::read_to_string(self.cells.repo.state("notifications.jsonl")).unwrap();
        assert_eq!(log.lines().filter(|line| line.contains(MARK)).count(), 2 * self.ways.len());
    }
}

/// Programs that a night starts, outside of the repository, which only complain.
fn complainers(cells: &Cells) -> TempDir {
    let bin = tempfile::tempdir().unwrap();
    let root = cells.path("");
    let root = root.to_str().unwrap();
    for name in ["bd", "systemd-inhibit"] {
        let script = format!(
            "#!/bin/sh\nexec python3 -IS {root}/planted.py complain $(cat {root}/number)\n"
        );
        fs::write(bin.path().join(name), script).unwrap();
        set_mode(&bin.path().join(name), 0o755);
    }
    set_mode(bin.path(), 0o755);
    bin
}

fn fed(cells: &Cells, arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = cells.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    Ran::of(child.wait_with_output().unwrap())
}

fn way(line: &str) -> Way {
    let bytes = |hex: &str| -> Vec<u8> {
        let digits: Vec<char> = hex.chars().collect();
        let byte =
            |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    };
    let (said, secret) = line.split_once(' ').unwrap();
    Way { said: bytes(said), secret: bytes(secret) }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn without_colours_and_breaks(bytes: &[u8]) -> Vec<u8> {
    let mut left = Vec::new();
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if let Some(colour) = rest.strip_prefix(b"[").filter(|_| *first == 0x1b) {
            let end = colour.iter().position(|byte| *byte == b'm').map_or(0, |at| at + 1);
            rest = &colour[end..];
        } else if *first != b'\n' && *first != b'\r' {
            left.push(*first);
        }
    }
    left
}

fn each_file(folder: &Path, look: &mut impl FnMut(&Path, &[u8])) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            each_file(&path, look);
        } else if path.is_file() {
            look(&path, &fs::read(&path).unwrap());
        }
    }
}

// proves: SCO-08
#[test]
fn what_a_program_says_is_nowhere_in_any_form() {
    let beds = [Bed::new(Cells::new(User::This), ODD), Bed::new(Cells::tier_b(), PLAIN)];
    for bed in &beds {
        bed.says(&["guard", "run"]);
        bed.says(&["--json", "guard", "run"]);
        bed.says(&["vault", "run", "KEY=API"]);
        bed.is_in_no_file();
    }
}

// proves: SCO-08
#[test]
fn what_a_check_complains_about_is_nowhere_in_any_form() {
    for (cells, value) in [(Cells::new(User::This), ODD), (Cells::tier_b(), PLAIN)] {
        let bed = Bed::new(cells, value);
        bed.complains_as_a_check();
        bed.is_in_no_file();
    }
}

// proves: SCO-08, SCO-09
#[test]
fn what_a_notifier_complains_about_is_nowhere_in_any_form() {
    let cells = Cells::new(User::This);
    let config = cells.path("config.yaml");
    let bed = Bed::new(cells.variable("AGENTOPS_CONFIG", config.to_str().unwrap()), ODD);
    bed.complains_as_a_notifier();
    bed.is_in_no_file();
}

// proves: SCO-08, REP-18
#[test]
fn what_the_programs_of_a_night_complain_about_is_nowhere_in_any_form() {
    let cells = Cells::new(User::This);
    let bin = complainers(&cells);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.path().display());
    let bed = Bed::new(cells.variable("PATH", &path), ODD);
    fs::create_dir(bed.cells.path(".beads")).unwrap();
    // As it is, over two lines; as JSON; and both in colours.
    for nth in [0, 1, bed.ways.len(), bed.ways.len() + 1] {
        fs::write(bed.cells.path("number"), nth.to_string()).unwrap();
        let ran =
            bed.cells.ao(&["--json", "overnight", "start", "--max-iterations", "1"]).expect(0);
        bed.is_not_in(format!("{ran}").as_bytes(), "a night");
        let summary = fs::read_to_string(bed.cells.repo.state("latest/summary.json")).unwrap();
        let complaint = format!("exited with 7: no {MARK} there");
        assert!(summary.contains(&format!("systemd-inhibit {complaint}")), "{summary}");
        let of_bd = summary.lines().find(|line| line.contains("`bd "));
        assert!(of_bd.is_some_and(|line| line.contains(&format!("no {MARK} there"))), "{summary}");
    }
    bed.is_in_no_file();
}

/// What a report repeats of a command, which is its start.
// proves: REP-18
#[test]
fn a_value_is_found_before_a_command_is_cut() {
    let bed = Bed::new(Cells::new(User::This), PLAIN);
    let half = &PLAIN[..PLAIN.len() / 2];
    // It is shown up to the 80th letter.
    for before in [60, 70] {
        let command = format!("exit 3; {}'{PLAIN}'", ":".repeat(before - 8));
        let said = bed.cells.said(&[&command]);
        assert!(said[0].1.contains("ended with 3") && !said[0].1.contains(&half[..9]), "{said:?}");
    }
}
