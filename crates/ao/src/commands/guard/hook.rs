//! `ao guard hook`: asked by a host before each tool call.
//!
//! Hosts let a call through whatever the hook says, unless it exits with 2 and writes a reason. So every
//! way out of here but one is a 2, and the one is a call that was read, judged and found harmless.

use std::io::Read as _;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ao_contract::Exit;
use ao_guard::{Effect, Harness, Leak, PAYLOAD_BYTES_MAX, Refusal, Rule, ToolCall};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::log;
use super::policy::{Rules, Unscoped};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

/// A host that has written nothing by then is not waited for: its own patience ends with a permission.
const PATIENCE: Duration = Duration::from_secs(5);
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Judge a tool call that an agent's host is about to make, in the host's own format
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "The call is read from standard input. Exit 0 lets it through; 2 refuses it, with the reason
on standard error. Anything that cannot be read or judged is refused, and with no --scope so is
every write. `ao guard install` puts this into a host's settings.

Examples:
  ao guard hook --harness claude --scope 'src/**' --scope 'tests/**'
  ao guard hook --harness codex --scope dreams --leak"
)]
pub(crate) struct Arguments {
    /// Whose tool calls
    #[arg(long, value_name = "HOST")]
    harness: Host,
    #[command(flatten)]
    asked: Asked,
}

/// What the hook is told. `install` takes the same and writes it into the host's settings.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Asked {
    #[command(flatten)]
    pub(super) rules: Rules,
    /// Only what git ignores is written
    #[arg(long)]
    pub(super) leak: bool,
    /// Let a tool through that is not known; it is not looked into
    #[arg(long, value_name = "NAME")]
    pub(super) tool: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Host {
    Claude,
    Codex,
}

impl Host {
    pub(crate) fn harness(self) -> Harness {
        match self {
            Self::Claude => Harness::Claude,
            Self::Codex => Harness::Codex,
        }
    }
}

type Judged = Result<Vec<Effect>, Refusal>;

pub(crate) fn run(arguments: &Arguments, global: &Global, printer: &Printer) -> Exit {
    let refuse = |rule: &str, subject: &str, why: &str| {
        let message = format!("refused by ao guard, rule {rule}: {why}");
        let _ = printer
            .failure(&Failure::new(Exit::Usage, ao_tree::shown(&format!("{message} ({subject})"))));
        Exit::Usage
    };
    match decide_in_time(arguments, global) {
        Ok(Ok(_)) => Exit::Done,
        Ok(Err(refusal)) => refuse(refusal.rule.name(), &refusal.subject, &refusal.why),
        Err(failure) => refuse(Rule::Doubt.name(), "hook", &failure.message),
    }
}

/// Decides beside, so that a call that takes too long to judge, or breaks the judge, is refused too.
fn decide_in_time(arguments: &Arguments, global: &Global) -> Result<Judged, Failure> {
    let payload = read_input()?;
    let (arguments, global) = (arguments.clone(), global.clone());
    let (sender, receiver) = mpsc::channel();
    let judge = move || {
        let _ = sender.send(decide(&payload, &arguments, &global));
    };
    let fail = |why: &str| Failure::new(Exit::Usage, why);
    // Nobody waits for its end: the process ends with the answer.
    let judge = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(judge);
    judge.map_err(|error| fail(&format!("the judge cannot be started: {error}")))?;
    match receiver.recv_timeout(PATIENCE) {
        Ok(decided) => decided,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(fail("it takes too long to judge")),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(fail("the hook itself failed")),
    }
}

fn decide(payload: &[u8], arguments: &Arguments, global: &Global) -> Result<Judged, Failure> {
    let repo = Repo::find(global)?;
    let leak = if arguments.asked.leak { Leak::Checked } else { Leak::Unchecked };
    let policy = arguments.asked.rules.policy(&repo, Unscoped::OwnsNothing, leak)?;
    let harness = arguments.harness.harness();
    let call = ToolCall::read(payload);
    let tool = call.as_ref().ok().map(|call| call.tool.clone());
    let judged = call.and_then(|call| call.judge(&policy, harness, &arguments.asked.tool));
    if !global.dry_run {
        let asked = log::Asked { by: "hook", harness: Some(harness.name()), tool: tool.as_deref() };
        log::note(policy.project.root(), asked, &judged);
    }
    Ok(judged)
}

/// All of standard input, as far as it is read at all.
fn read_input() -> Result<Vec<u8>, Failure> {
    let fail = |why: String| Failure::new(Exit::Usage, why);
    let mut payload = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    let since = Instant::now();
    loop {
        let left = PATIENCE.saturating_sub(since.elapsed());
        let timeout = Timespec::try_from(left).unwrap_or_default();
        let stdin = std::io::stdin();
        let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) => return Err(fail("the host said nothing".into())),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(fail(format!("the call cannot be read: {error}"))),
            Ok(_) => {}
        }
        match stdin.lock().read(&mut chunk) {
            Ok(0) => return Ok(payload),
            Ok(count) => payload.extend_from_slice(&chunk[..count]),
            Err(error) => return Err(fail(format!("the call cannot be read: {error}"))),
        }
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(fail("the call is too large".into()));
        }
    }
}
