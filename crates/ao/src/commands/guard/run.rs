//! `ao guard run`: any command, in a cell.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ao_contract::Exit;
use ao_guard::cell::{Around, Floor, Grant, Refusal, Sink, Source, between, upper_writes};
use ao_vault::redact::Writer;
use ao_vault::{Ansi, Redacted, redactor};

use super::answer::{self, Told};
use super::kept::Kept;
use super::order::Order;
use super::place;
use crate::cli::Global;
use crate::commands::vault::place::Where;
use crate::failure::Failure;
use crate::printer::{self, Printer, Stream};
use crate::repo::AGENTS;

const NAMES_IN_WRITABLE: [&str; 2] = [".git", AGENTS];

/// Run a command in a cell: it writes only where it may, and reaches nobody
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao guard run -- git log                          reads everything, writes nothing
  ao guard run --rw out -- make report             writes only in out/
  ao guard run --cow . --json -- npm test          a copy of the tree takes all writes; --json lists them
  ao guard run --ro ~/tools -- ~/tools/lint        your home is hidden but for toolchains; --ro shows more of it
  ao guard run --net api.example.com:443 -- agent  the one host and port that it may reach
  ao guard run --auth api.example.com:443=vault://KEY -- agent
                                                   ao adds the secret to requests; the command never has it

Exit code: that of the command (128 + N if signal N ended it). Otherwise 5 if it was ended at a
limit, 2 if an argument was refused, 6 if the cell cannot be built or does not hold: then nothing
was started. With --json, `ended` tells these apart.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What a cell may be like; `ao vault run` takes the same.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A folder or file that the command may write for real, but for making symlinks; can be given more than once
    #[arg(long, value_name = "PATH")]
    pub(super) rw: Vec<PathBuf>,
    /// A folder that the command sees as its own copy: it may do everything to it, and changes nothing
    #[arg(long, value_name = "DIR")]
    pub(super) cow: Option<PathBuf>,
    /// A file or folder of your home, or a secret file of the project, that the command may read; can be given more than once
    #[arg(long, value_name = "PATH")]
    pub(super) ro: Vec<PathBuf>,
    /// A host and port that the command may reach (through a proxy; see docs/cell.md); can be given more than once
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) net: Vec<Grant>,
    /// Like --net, and ao adds the secret of this name to each request (plain HTTP inside; see docs/vault.md)
    #[arg(long, value_name = "HOST:PORT=vault://NAME")]
    pub(super) auth: Vec<String>,
    /// A variable of the environment that the command gets; can be given more than once
    #[arg(long, value_name = "NAME", value_parser = variable)]
    pub(super) env: Vec<String>,
    /// How long it may take
    #[arg(long, value_name = "D", default_value = "10m", value_parser = ao_contract::parse_duration)]
    pub(super) time: Duration,
    /// How much it may say, in bytes (K, M and G are understood)
    #[arg(long, value_name = "BYTES", default_value = "8M", value_parser = bytes)]
    pub(super) output: u64,
    /// How much memory it may hold, in bytes (K, M and G are understood)
    #[arg(long, value_name = "BYTES", default_value = "4G", value_parser = bytes)]
    pub(super) memory: u64,
    /// How many processes it may have at once
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) procs: u32,
    /// The weakest cell that will do: A has every layer, B works without user namespaces
    #[arg(long, value_name = "A|B", default_value_t = Floor::B)]
    pub(super) floor: Floor,
    #[command(flatten)]
    pub(crate) vault: Where,
}

/// A name alone: what it is worth is taken from the environment.
fn variable(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains('=') {
        return Err(
            "not the name of a variable; its value is taken from the environment".to_owned()
        );
    }
    Ok(text.to_owned())
}

fn bytes(text: &str) -> Result<u64, String> {
    const KIB: u64 = 1024;
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, KIB),
        Some(digits) if text.ends_with('M') => (digits, KIB * KIB),
        Some(digits) => (digits, KIB * KIB * KIB),
        None => (text, 1),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number
        .then(|| digits.parse::<u64>().ok()?.checked_mul(unit))
        .flatten()
        .filter(|count| *count > 0)
        .ok_or_else(|| "not a number of bytes, such as 8388608 or 8M".to_owned())
}

impl Arguments {
    pub(crate) fn place(&self) -> &Where {
        &self.options.vault
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<u8, Failure> {
    if place::around() == Around::Cell {
        return Err(answer::refused(&Refusal::Inside));
    }
    let order = Order::resolve(&arguments.options, &arguments.command, global)?;
    if global.dry_run {
        order.tell("guard run", printer);
        return Ok(Exit::Done.code());
    }
    carry_out(&order, "guard run", global, printer)
}

/// Runs it, and tells how it went.
pub(crate) fn carry_out(
    order: &Order,
    command: &str,
    global: &Global,
    printer: &Printer,
) -> Result<u8, Failure> {
    let scratch = order.scratch()?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in
        [signal_hook::consts::SIGHUP, signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
    {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|error| {
            Failure::new(Exit::Preflight, format!("signals cannot be caught: {error}"))
                .hint("nothing was begun; run the command again")
        })?;
    }
    let before = order.look(&NAMES_IN_WRITABLE)?;
    let is_json = global.json;
    let place = |stream| if is_json { Sunk::Kept(Kept::default()) } else { Sunk::On(stream) };
    let redacted = |stream| redactor().writer(place(stream), Ansi::Keep);
    let (mut stdout, mut stderr) = (redacted(Stream::Data), redacted(Stream::Talk));
    let enough = Arc::clone(&stop);
    // The only place that what a command says passes: what must not be seen is taken out here.
    let mut take = |source: Source, bytes: &[u8]| {
        let passed = match source {
            Source::Stdout => stdout.write_all(bytes),
            Source::Stderr => stderr.write_all(bytes),
        };
        // A closed pipe is the reader's way to say "enough".
        if passed.is_err() {
            enough.store(true, Ordering::Relaxed);
        }
    };
    let sink: &mut Sink<'_> = &mut take;
    let report = order.cell.run(Path::new("/proc/self/exe"), &scratch, sink, &stop);
    // A closed pipe again.
    let end = |writer: Writer<Sunk>| writer.finish().map(Sunk::kept).unwrap_or_default();
    let (stdout, stderr) = (end(stdout), end(stderr));
    let report = match report {
        Ok(report) => {
            order.remove_failmark();
            report
        }
        Err(refusal) => {
            order.leave_failmark(&refusal);
            return Err(answer::refused(&refusal));
        }
    };
    let unread = |error: &std::io::Error| {
        let why = ao_tree::shown(&error.to_string());
        Failure::new(Exit::Failed, format!("what was written cannot be read: {why}"))
    };
    let after = order.look_again().map_err(|error| {
        unread(&error).hint("the command was run; look at what --rw names before you use it")
    })?;
    let mut writes = between(&before, &after);
    if let Some(tree) = &order.cell.copied {
        let copied = upper_writes(&scratch.upper(), tree);
        writes.extend(copied.map_err(|error| {
            unread(&error).hint("the command was run; the tree is as it was, and the copy is gone")
        })?);
    }
    let limits = &order.cell.limits;
    let told = Told {
        report: &report,
        program: &order.cell.program,
        writes: &writes,
        stdout: &stdout,
        stderr: &stderr,
        limits,
    };
    Ok(answer::tell(command, &told, is_json, printer))
}

/// Where what the command says ends up: on our own streams, or in the answer.
enum Sunk {
    On(Stream),
    Kept(Kept),
}

impl Sunk {
    fn kept(self) -> Kept {
        match self {
            Self::On(_) => Kept::default(),
            Self::Kept(kept) => kept,
        }
    }
}

impl ao_vault::redact::Sink for Sunk {
    fn take(&mut self, bytes: &Redacted<Vec<u8>>) -> std::io::Result<()> {
        match self {
            Self::Kept(kept) => kept.take(bytes.get()),
            Self::On(stream) => printer::pass_on(*stream, bytes)?,
        }
        Ok(())
    }
}
