//! Keeping the machine awake while the night runs.
//!
//! Nothing is claimed that is not held. On macOS it is `caffeinate`; on Linux it is logind's
//! inhibitor lock, which counts as taken when a program that `systemd-inhibit` starts under the
//! lock has said a word. That program is `cat`, and its input is held open by us: it ends when the
//! value is dropped, and it finds the end of its input when nobody is left to drop anything.

use std::time::Duration;

use ao_contract::{KeepAwakeMode, Runtime};
use ao_guard::{Ended, How, Input, Running};

use crate::host::{Host, System};

/// How long logind may take to answer.
const TAKE_TIME: Duration = Duration::from_secs(5);
/// A program that cannot do its work has said so by then.
const SETTLE_TIME: Duration = Duration::from_millis(300);
/// What a note repeats of a program's complaint.
const COMPLAINT_CHARS_MAX: usize = 200;
/// Said from inside of the lock.
const HELD: &[u8] = b"held";
/// What is kept from happening: the first choice, and what anybody may ask for.
const WHAT: [&str; 2] = ["idle:sleep", "idle"];

/// Whether the machine should be kept awake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    On,
    Off,
}

/// What keeps the machine awake for as long as this value lives, if anything does.
#[derive(Debug)]
pub struct Awake {
    mode: KeepAwakeMode,
    note: Option<String>,
    held: Option<Running>,
    is_lost: bool,
}

impl Awake {
    /// Takes the lock, if it is wanted and can be had. `why` is shown to whoever asks the system
    /// what keeps it awake.
    pub fn take(wish: Wish, host: &Host, why: &str) -> Self {
        match (wish, host.system) {
            (Wish::Off, _) => Self::without(KeepAwakeMode::Disabled, None),
            (Wish::On, System::MacOs) => Self::caffeinate(host),
            (Wish::On, System::Linux) => Self::inhibitor(host, why),
            (Wish::On, System::Other) => {
                Self::nothing("this system has no way that ao knows to keep it awake")
            }
        }
    }

    /// What really keeps the machine awake.
    pub fn mode(&self) -> KeepAwakeMode {
        self.mode
    }

    /// What there is to say about that.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Says in the report what really keeps the machine awake.
    pub(crate) fn put(&self, runtime: &mut Runtime) {
        runtime.keep_awake_mode = self.mode.into();
        runtime.keep_awake_note.clone_from(&self.note);
    }

    /// Whether the machine should have been kept awake and may not have been, by a system that
    /// can. One that has no such lock is what it is.
    pub fn is_degraded(&self) -> bool {
        let is_lacking =
            matches!(self.mode, KeepAwakeMode::MissingCaffeinate | KeepAwakeMode::CaffeinateError);
        self.is_lost || is_lacking && !ao_mutant::active("RUN-25/missing-caffeinate-is-fine")
    }

    /// Looks whether the lock is still held, and says so from then on if it is not. To be called
    /// before the report is written.
    pub fn check(&mut self) {
        let Some(held) = &mut self.held else { return };
        if held.is_still_running(Duration::ZERO).unwrap_or(false) {
            return;
        }
        let why = self.held.take().map_or(String::new(), |held| complaint(held.end()));
        self.is_lost = true;
        self.note = Some(format!("what kept the machine awake ended during the run: {why}"));
        self.mode = match self.mode {
            KeepAwakeMode::Caffeinate => KeepAwakeMode::CaffeinateError,
            _ => KeepAwakeMode::Unsupported,
        };
    }

    fn without(mode: KeepAwakeMode, note: Option<String>) -> Self {
        Self { mode, note, held: None, is_lost: false }
    }

    fn nothing(why: &str) -> Self {
        let note = format!("nothing keeps the machine awake: {why}");
        let is_claimed = ao_mutant::active("RUN-25/claims-a-lock-it-lacks");
        let mode = if is_claimed { KeepAwakeMode::Inhibitor } else { KeepAwakeMode::Unsupported };
        Self::without(mode, Some(note))
    }

    fn holding(mode: KeepAwakeMode, note: String, held: Running) -> Self {
        Self { mode, note: Some(note), held: Some(held), is_lost: false }
    }

    fn caffeinate(host: &Host) -> Self {
        let path = match host.find("caffeinate") {
            Ok(path) => path,
            Err(missing) => {
                let note = format!("nothing keeps the machine awake: {missing}");
                return Self::without(KeepAwakeMode::MissingCaffeinate, Some(note));
            }
        };
        let process = host.process.to_string();
        let program = host.program(path, |_| false).arguments(["-i", "-w", &process]);
        let failed = |why: String| {
            let note = format!("nothing keeps the machine awake: caffeinate {why}");
            Self::without(KeepAwakeMode::CaffeinateError, Some(note))
        };
        match host.keeper.start(&program) {
            Err(error) => failed(format!("did not start: {error}")),
            Ok(mut held) => match held.is_still_running(SETTLE_TIME) {
                Ok(true) => Self::holding(
                    KeepAwakeMode::Caffeinate,
                    "caffeinate keeps the machine awake".into(),
                    held,
                ),
                Ok(false) | Err(_) => failed(complaint(held.end())),
            },
        }
    }

    fn inhibitor(host: &Host, why: &str) -> Self {
        let [inhibit, cat] = match ["systemd-inhibit", "cat"].map(|name| host.find(name)) {
            [Ok(inhibit), Ok(cat)] => [inhibit, cat],
            [Err(missing), _] | [_, Err(missing)] => return Self::nothing(&missing.to_string()),
        };
        let mut refusals = Vec::new();
        for what in WHAT {
            let program = host
                .program(inhibit.clone(), |name| name == "DBUS_SYSTEM_BUS_ADDRESS")
                .arguments([&format!("--what={what}"), "--mode=block", "--who=ao"])
                .arguments([format!("--why={}", ao_tree::shown(why)), "--".into()])
                .arguments([&cat])
                .input(Input::HeldOpen([HELD, b"\n"].concat()));
            let mut held = match host.keeper.start(&program) {
                Ok(held) => held,
                Err(error) => return Self::nothing(&error.to_string()),
            };
            if matches!(held.first_line(TAKE_TIME), Ok(Some(line)) if line == HELD) {
                let note = format!("an inhibitor lock of logind is held against {what}");
                return Self::holding(KeepAwakeMode::Inhibitor, note, held);
            }
            // One that is about to end by itself says more than one that is ended.
            let _ = held.is_still_running(SETTLE_TIME);
            let refusal = complaint(held.end());
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
        }
        Self::nothing(&format!("systemd-inhibit {}", refusals.join("; ")))
    }
}

/// Why a program that should have stayed did not, in one line.
fn complaint(ended: Result<Ended, ao_guard::Error>) -> String {
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return error.to_string(),
    };
    let how = match ended.how {
        How::Exited(code) => format!("exited with {code}"),
        How::Signalled(signal) => format!("was ended by signal {signal}"),
        How::TimedOut | How::TooMuchOutput | How::Stopped => "did not answer".to_owned(),
    };
    let text = ao_vault::said(&ended.stderr);
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => {
            let line: String = line.trim().chars().take(COMPLAINT_CHARS_MAX).collect();
            format!("{how}: {}", ao_tree::shown(&line))
        }
        None => how,
    }
}
