//! What `ao` is asked to do in a storm, round by round.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::RwLockWriteGuard;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::corpus::{NIGHT, QUEUE, pending};
use crate::dice::Dice;
use crate::history::hash;
use crate::step::Stepper;
use crate::whole::{ao, is_quiet, must};
use crate::words::learning;
use crate::world::{RECOVER, World, shown};
use crate::writers::{SHARED, Stage};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `ao tree apply`.
    Commits,
    /// `ao overnight start`.
    Nights,
}

/// How far a commit has come.
#[derive(Debug, Clone, Copy)]
enum Sign {
    Staging,
    Marker,
}

/// What `ao` is asked to do, round by round.
pub(crate) struct Course<'a> {
    kind: Kind,
    stage: &'a Stage<'a>,
    dice: Dice,
    /// How many stops a commit has, and how long a night takes.
    stops: usize,
    usual: Duration,
    pub(crate) kills: usize,
}

impl<'a> Course<'a> {
    pub(crate) fn new(kind: Kind, seed: u64, stage: &'a Stage<'a>) -> Self {
        let dice = Dice::new(seed);
        Self { kind, stage, dice, stops: 500, usual: Duration::from_secs(1), kills: 0 }
    }

    pub(crate) fn round(&mut self, number: usize) -> Result<(), String> {
        match self.kind {
            Kind::Commits => self.commit(number),
            Kind::Nights => self.night(number),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = ao(self.stage.world, args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command that may be told to come again.
    fn ask(&self, args: &[&str], codes: &[i32]) -> Result<(), String> {
        let output = self.command(args).output().unwrap();
        self.stage.ledger.answered(&output.stdout);
        match output.status.code() {
            Some(code) if codes.contains(&code) => Ok(()),
            _ => Err(format!("`ao {}`: {}", args.join(" "), shown(&output))),
        }
    }

    /// Commits, and holds back those who write to the named files until `ao` has come so far. Gives
    /// the number of stops.
    fn apply(
        &self,
        args: &[&str],
        sign: Sign,
        held: RwLockWriteGuard<()>,
    ) -> Result<usize, String> {
        let world = self.stage.world;
        let is_staging =
            || fs::read_dir(world.state("staging")).is_ok_and(|mut found| found.next().is_some());
        let mut stepper = Stepper::start(self.command(args));
        let mut stops = 0;
        // What a killed commit left goes before anything of this one comes.
        let mut was_quiet = !is_staging() && !world.has_marker();
        let mut is_seen = false;
        while !is_seen && stepper.next().is_some() {
            stops += 1;
            was_quiet |= !is_staging() && !world.has_marker();
            is_seen = was_quiet
                && match sign {
                    Sign::Staging => is_staging(),
                    Sign::Marker => world.has_marker(),
                };
        }
        drop(held);
        let (output, rest) = stepper.finish();
        self.stage.ledger.answered(&output.stdout);
        match output.status.code() {
            Some(0) if !is_seen => Err(format!("it committed, and {sign:?} was never seen")),
            Some(0 | 75) => Ok(stops + rest),
            _ => Err(format!("`ao tree apply`: {}", shown(&output))),
        }
    }

    fn commit(&mut self, number: usize) -> Result<(), String> {
        let held = self.stage.hold.write().unwrap();
        let file = self.edits(number);
        let id = format!("n{number}");
        let args = ["--json", "tree", "apply", &file, "--id", &id];
        match number % 5 {
            0 => drop(self.apply(&args, Sign::Staging, held)?),
            1 => {
                // At its own speed.
                drop(held);
                self.ask(&args, &[0, 75])?;
            }
            2 => self.stops = self.apply(&args, Sign::Marker, held)?.max(1),
            3 => {
                drop(held);
                let mut stepper = Stepper::start(self.command(&args));
                if stepper.nth(self.dice.below(self.stops)).is_some() {
                    self.kills += 1;
                    stepper.kill();
                }
            }
            _ => {
                self.apply(&args, Sign::Marker, held)?;
                self.ask(&["--json", "tree", "undo"], &[0, 75])?;
            }
        }
        Ok(())
    }

    /// Files of `ao`'s own, and in most rounds those that others write, too. An edit names
    /// the version that it was made against: what came after that is nobody's to replace.
    fn edits(&self, number: usize) -> String {
        let world = self.stage.world;
        let ours = format!("The night wrote this in round {number}, and one line is enough.\n");
        let write = |path: &str, text: &str| json!({ "op": "write", "path": path, "content": text, "reason": "a storm" });
        let mut edits = vec![
            write(&format!("learnings/ours-{number}.md"), &ours),
            write("findings/ours.md", &ours),
            write(&format!("findings/round-{number}/ours.md"), &ours),
        ];
        if number > 2 && world.agents(&format!("learnings/ours-{}.md", number - 2)).exists() {
            let path = format!("learnings/ours-{}.md", number - 2);
            edits.push(json!({ "op": "delete", "path": path, "reason": "a storm" }));
        }
        if number % 5 != 1 {
            for path in SHARED.into_iter().chain([QUEUE]) {
                let Ok(now) = fs::read_to_string(world.agents(path)) else { continue };
                let new = if path == QUEUE {
                    format!("{now}{{\"ours\":{number}}}\n")
                } else {
                    ours.clone()
                };
                let mut edit = write(path, &new);
                edit["seen"] = Value::from(hash(now.as_bytes()));
                edits.push(edit);
            }
        }
        let file = self.stage.arena.fresh("edits");
        let all = json!({ "schema_version": 1, "why": "a storm", "edits": edits });
        fs::write(&file, all.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    }

    fn night(&mut self, number: usize) -> Result<(), String> {
        plant(self.stage.world, &mut self.dice, number);
        let args = [&["--json"][..], &NIGHT].concat();
        let since = Instant::now();
        if self.dice.percent(25) {
            let after = self
                .usual
                .mul_f64(f64::from(u32::try_from(self.dice.below(1100)).unwrap()) / 1000.0);
            let mut night = self.command(&args);
            let mut night = night.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(after);
            self.kills += usize::from(night.try_wait().unwrap().is_none());
            night.kill().unwrap();
            night.wait().unwrap();
        } else {
            self.ask(&args, &[0, 4])?;
            self.usual = since.elapsed();
        }
        if self.dice.percent(30) {
            // There may be nothing to take back.
            self.ask(&["--json", "tree", "undo"], &[0, 2, 75])?;
        }
        Ok(())
    }

    /// Everybody has gone home: one more start or writer, and nothing is left to do.
    pub(crate) fn last(&mut self) -> Result<(), String> {
        let world = self.stage.world;
        if self.kind == Kind::Nights {
            self.ask(&[&["--json"][..], &NIGHT].concat(), &[0, 4])?;
            must(world, &["overnight", "verify"])?;
        }
        let edit = [crate::world::write("findings/last.md", "The last word.\n")];
        let file = self.stage.arena.edits_file(&edit);
        self.ask(&["--json", "tree", "apply", &file], &[0])?;
        self.ask(&[&["--json"][..], &RECOVER].concat(), &[0])?;
        must(world, &["tree", "verify"])?;
        is_quiet(world)
    }
}

/// Work for the next night: a copy, and a pending learning.
fn plant(world: &World, dice: &mut Dice, number: usize) {
    let number = u64::try_from(number).unwrap();
    let text = learning(dice, 1000 + number);
    for name in ["a", "b"] {
        fs::write(world.agents(&format!("learnings/2026-05-10-{name}{number}.md")), &text).unwrap();
    }
    pending(world, dice, 2000 + number);
}
