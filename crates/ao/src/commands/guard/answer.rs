//! What is told of a command that ran in a cell.

use std::fmt::Write as _;
use std::path::Path;

use ao_contract::Exit;
use ao_guard::cell::{Change, Finish, Refusal, Report, Tier, Write};
use serde_json::{Value, json};

use super::kept::Kept;
use crate::failure::Failure;
use crate::printer::{Printer, STRONG, paint};

/// More are counted, not listed.
const WRITES_SHOWN: usize = 20;
/// A shell says it like this.
const SIGNAL_BASE: i32 = 128;

/// What a command left behind, in the ways it can be told.
#[derive(Debug)]
pub(super) struct Told<'a> {
    pub(super) report: &'a Report,
    pub(super) program: &'a Path,
    pub(super) writes: &'a [Write],
    pub(super) stdout: &'a Kept,
    pub(super) stderr: &'a Kept,
    pub(super) limits: &'a ao_guard::cell::Limits,
}

/// Exits as the command did; with 5 where it was ended, and with 1 where that is not known.
pub(super) fn exit_code(report: &Report) -> u8 {
    let code = match report.finish {
        Finish::Exited(code) => code,
        Finish::Signalled(signal) => SIGNAL_BASE + signal,
        Finish::Ended(_) => Exit::Found.code().into(),
        Finish::Exposed | Finish::Stopped | Finish::Lost => Exit::Failed.code().into(),
    };
    u8::try_from(code).unwrap_or(Exit::Failed.code())
}

pub(super) fn json(told: &Told<'_>) -> Value {
    let report = told.report;
    let (ended, limit) = match report.finish {
        Finish::Exited(code) => (json!({ "how": "exited", "code": code }), None),
        Finish::Signalled(signal) => (json!({ "how": "signalled", "signal": signal }), None),
        Finish::Ended(limit) => (json!({ "how": "limit" }), Some(limit.name())),
        Finish::Exposed => (json!({ "how": "secret-appeared" }), None),
        Finish::Stopped => (json!({ "how": "stopped" }), None),
        Finish::Lost => (json!({ "how": "lost" }), None),
    };
    let mut refusals: Vec<Value> =
        report.refused.iter().map(|one| json!({ "rule": one.rule, "what": one.what })).collect();
    if let Some(limit) = limit {
        refusals.push(json!({
            "rule": format!("limit-{limit}"),
            "what": "everything in the cell was ended",
        }));
    }
    let writes: Vec<Value> = told
        .writes
        .iter()
        .map(|write| {
            json!({
                "path": write.path.to_string_lossy(),
                "change": write.change,
                "kind": write.kind,
                "mode": write.mode.map(|mode| format!("{mode:04o}")),
                "target": write.target.as_ref().map(|target| target.to_string_lossy()),
            })
        })
        .collect();
    let milliseconds =
        |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    json!({
        "exit": exit_code(report),
        "program": told.program.to_string_lossy(),
        "tier": report.tier,
        "missing": report.missing,
        "attacks_held": report.attacks_held,
        "ended": ended,
        "limit": limit,
        "writes": writes,
        "refusals": refusals,
        "kernel_refusals": "an error to the program; not counted",
        "stdout": { "text": told.stdout.text(), "bytes": report.stdout.counted },
        "stderr": { "text": told.stderr.text(), "bytes": report.stderr.counted },
        "limits": {
            "time_ms": milliseconds(told.limits.time),
            "output_bytes": told.limits.output_bytes,
            "memory_bytes": told.limits.memory_bytes,
            "processes": told.limits.processes,
            "file_bytes": told.limits.file_bytes,
        },
        "usage": {
            "took_ms": milliseconds(report.took),
            "cpu_ms": milliseconds(report.cpu),
            "largest_process_bytes": report.memory_bytes,
            "network_sent_bytes": report.sent_bytes,
            "network_received_bytes": report.received_bytes,
            "left_behind": report.left_behind,
            "survivors": report.survivors,
        },
    })
}

/// For people, beside what the command itself said.
pub(super) fn note(told: &Told<'_>) -> String {
    let report = told.report;
    let mut text = format!(
        "{} tier {}, {} attacks on the cell held, {} written",
        paint(STRONG, "cell:"),
        report.tier,
        report.attacks_held,
        told.writes.len(),
    );
    if report.left_behind > 0 {
        let _ = write!(text, ", {} left behind and ended", report.left_behind);
    }
    for missing in &report.missing {
        let _ = write!(text, "\n  without {}: {}", missing.layer.name(), missing.why);
    }
    for write in told.writes.iter().take(WRITES_SHOWN) {
        let sign = match write.change {
            Change::Created => '+',
            Change::Changed => '~',
            Change::Deleted => '-',
            Change::Replaced => '=',
        };
        let _ = write!(text, "\n  {sign} {}", ao_tree::shown(&write.path.to_string_lossy()));
    }
    if told.writes.len() > WRITES_SHOWN {
        let _ =
            write!(text, "\n  and {} more (--json lists all)", told.writes.len() - WRITES_SHOWN);
    }
    for refused in &report.refused {
        let _ = write!(text, "\n  refused ({}): {}", refused.rule, ao_tree::shown(&refused.what));
    }
    match report.finish {
        Finish::Ended(limit) => {
            let _ = write!(text, "\n  ended at its limit: {limit} (limit-{limit})");
        }
        Finish::Signalled(signal) => {
            let _ = write!(text, "\n  ended by signal {signal}");
        }
        Finish::Stopped => text.push_str("\n  ended because ao was asked to stop"),
        Finish::Lost => text.push_str("\n  its end was not seen"),
        Finish::Exited(code) if code != 0 => {
            text.push_str("\n  if it missed a file: your home is hidden but for toolchains, and so are secret files of the project; --ro PATH shows one");
        }
        // What came is named above.
        Finish::Exposed | Finish::Exited(_) => {}
    }
    text
}

pub(super) fn tell(command: &str, told: &Told<'_>, is_json: bool, printer: &Printer) -> u8 {
    if is_json {
        printer.answer(command, json(told), "");
    } else {
        printer.note(&note(told));
    }
    exit_code(told.report)
}

/// Nothing was started.
pub(crate) fn refused(refusal: &Refusal) -> Failure {
    let message = ao_tree::shown(&refusal.to_string());
    match refusal {
        Refusal::BelowFloor { tier: Tier::B, .. } => Failure::new(Exit::Preflight, message)
            .hint("nothing was started; allow user namespaces for this user, or lower the floor with --floor B"),
        Refusal::BelowFloor { .. } => Failure::new(Exit::Preflight, message)
            .hint("nothing was started; allow user namespaces for this user, and Landlock in the kernel"),
        Refusal::NeedsTierA { .. } => Failure::new(Exit::Preflight, message)
            .hint("nothing was started; allow user namespaces for this user, or leave the option out"),
        Refusal::CannotBuild { .. } => Failure::new(Exit::Preflight, message)
            .hint("nothing was started; docs/cell.md says what each layer needs"),
        Refusal::Escaped { .. } => Failure::new(Exit::Preflight, message)
            .hint("the program did not run to its end or was not started; do not trust this machine with it before the layer that is named holds"),
        Refusal::NotStarted { .. } => Failure::new(Exit::Usage, message)
            .hint("nothing was started; the kernel's reason is named. If the program or what it starts with lies in your home, which is hidden: grant its folder with --ro"),
        Refusal::Inside => Failure::new(Exit::Preflight, message)
            .hint("nothing was started; run the command as it is: it is held by this cell"),
        Refusal::Io(_) | Refusal::HolderLost => Failure::new(Exit::Failed, message)
            .hint("everything in the cell was ended; run the command again"),
    }
}
