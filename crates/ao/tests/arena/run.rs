//! Running one attack with a cell and without.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::attack::{Attack, Means, Place, Proof};
use crate::ground::{Ground, Owner, ao, arena};
use crate::late;

/// What came of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Result {
    Through,
    Held,
    NoCell,
    Absent,
}

impl fmt::Display for Result {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Through => "through",
            Self::Held => "held",
            Self::NoCell => "no cell",
            Self::Absent => "absent",
        })
    }
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) attack: Attack,
    pub(crate) control: Result,
    pub(crate) tier_a: Result,
    pub(crate) tier_b: Result,
    /// Only where the tests run as root.
    as_root: Option<Result>,
    why: Vec<String>,
}

impl Row {
    pub(crate) fn is_proved(&self) -> bool {
        self.control == Result::Through
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        let name = self.attack.name;
        let why = self.why.join("; ");
        if self.control == Result::Held {
            failures.push(format!("{name}: the control does not come through ({why})"));
        }
        for (tier, result) in [
            ("tier A", Some(self.tier_a)),
            ("tier B", Some(self.tier_b)),
            ("tier A as root", self.as_root),
        ] {
            if result == Some(Result::Through) {
                failures.push(format!("{name}: came through in {tier} ({why})"));
            }
        }
        failures
    }
}

/// Which walls are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walls {
    None,
    TierA,
    TierB,
}

/// What is read of an attacker; an honest one says less.
const OUTPUT_MAX: u64 = 40 << 20;
/// More than a cell lets through.
const FLOOD: u64 = 20 << 20;
const PATIENCE: Duration = Duration::from_mins(1);
const BIRTH: Duration = Duration::from_millis(100);
/// Says that this kernel does not have what is attacked.
pub(crate) const ABSENT: &str = "ABSENT";
/// Says that an attack came through that cannot be seen from outside.
pub(crate) const DONE: &str = "DONE";

pub(crate) fn judge(attack: &Attack) -> Row {
    let mut why = Vec::new();
    let mut once = |owner, walls| one(attack, owner, walls, &mut why);
    let control = once(Owner::Ordinary, Walls::None);
    let tier_a = once(Owner::Ordinary, Walls::TierA);
    let tier_b = match attack.place {
        Place::Pass => once(Owner::Ordinary, Walls::TierB),
        Place::Worker => Result::NoCell,
    };
    let as_root = nix::unistd::geteuid().is_root().then(|| once(Owner::This, Walls::TierA));
    Row { attack: *attack, control, tier_a, tier_b, as_root, why }
}

fn one(attack: &Attack, owner: Owner, walls: Walls, why: &mut Vec<String>) -> Result {
    let mut ground = Ground::make(owner, attack.site);
    let before = ground.observe();
    let (code, output, size) = start(attack, &ground, walls);
    let after = ground.observe();
    let mut changes = ground.differences(&before, &after);
    if output.contains(&ground.secret) {
        changes.push("the secret was said".to_owned());
    } else if attack.proof == Proof::Said {
        changes.clear();
    }
    if attack.proof == Proof::Inside && output.lines().any(|line| line == DONE) {
        changes.push("it says so".to_owned());
    }
    if size >= FLOOD {
        changes.push("a flood".to_owned());
    }
    if output.lines().any(|line| line == ABSENT) {
        return Result::Absent;
    }
    let refused = walls != Walls::None && code == Some(6);
    let said: String = output.chars().take(300).collect();
    why.push(format!("{walls:?} {owner:?}: exit {code:?}, {changes:?}, {said:?}"));
    assert!(!refused, "{}: the cell was refused: {output}", attack.name);
    if changes.is_empty() { Result::Held } else { Result::Through }
}

/// Starts the attacker and reads what it says, up to a bound.
fn start(attack: &Attack, ground: &Ground, walls: Walls) -> (Option<i32>, String, u64) {
    let mut line: Vec<String> = Vec::new();
    if walls != Walls::None {
        line.extend(
            ["guard", "run", "--memory", "300M", "--output", "2M", "--procs", "64"]
                .map(str::to_owned),
        );
        line.extend(match attack.place {
            Place::Pass => ["--rw".to_owned(), ground.path("work/out")],
            Place::Worker => ["--cow".to_owned(), ground.path("work")],
        });
        for name in ground.variables().iter().map(|(name, _)| name) {
            line.extend(["--env".to_owned(), name.clone()]);
        }
        if attack.meanwhile.is_some() {
            line.extend(["--rw".to_owned(), ground.path("sync")]);
        }
        line.extend(attack.options.iter().map(|option| (*option).to_owned()));
        line.push("--".to_owned());
    }
    match attack.means {
        Means::Shell(script) if attack.meanwhile.is_some() => {
            line.extend(["/bin/sh".to_owned(), "-c".to_owned(), late::waiting(script)]);
        }
        Means::Shell(script) => line.extend(["/bin/sh", "-c", script].map(str::to_owned)),
        Means::Call => line.extend([
            arena().to_str().unwrap().to_owned(),
            "attack".to_owned(),
            attack.name.to_owned(),
        ]),
    }
    let program =
        if walls == Walls::None { line.remove(0) } else { ao().to_str().unwrap().to_owned() };
    let mut command = Command::new(program);
    command
        .args(line)
        .env_clear()
        .env("HOME", ground.path("home"))
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .envs(ground.variables())
        .current_dir(ground.path("work"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if walls == Walls::TierB {
        command.env("AO_CELL_TEST_TIER", "B");
    }
    ground.as_owner(&mut command);
    let mut child = command.spawn().unwrap();
    let mut bytes = Vec::new();
    let errors = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = errors.take(1 << 20).read_to_end(&mut text);
        text
    });
    if let Some(change) = attack.meanwhile {
        late::act(Path::new(&ground.path("")), &ground.secret, change);
    }
    let stdout = child.stdout.take().unwrap();
    // A daemon may hold the pipe for ever; the attacker itself is what is waited for.
    let output = std::thread::spawn(move || {
        let _ = stdout.take(OUTPUT_MAX).read_to_end(&mut bytes);
        bytes
    });
    let since = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if since.elapsed() > PATIENCE || output.is_finished() && since.elapsed() > PATIENCE / 10 {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    if attack.group == "daemons" {
        // One that was just being born comes to light.
        std::thread::sleep(BIRTH);
    }
    ground.note_left();
    while !output.is_finished() || !reader.is_finished() {
        assert!(since.elapsed() < PATIENCE * 2, "{}: somebody holds the pipe", attack.name);
        ground.end_left();
        std::thread::sleep(Duration::from_millis(2));
    }
    let bytes = output.join().unwrap();
    let errors = reader.join().unwrap();
    let size = bytes.len() as u64;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 20)]).into_owned();
    (code, format!("{text}\n{}", String::from_utf8_lossy(&errors)), size)
}
