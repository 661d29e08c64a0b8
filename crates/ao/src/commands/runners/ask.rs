//! `ao runners ask`: one question to one runner, and its answer if it is one.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::Exit;
use ao_runner::{
    Answer, Budget, Cost, Failure as Refused, Form, Material, Origin, Request, Runner, Said,
    Settings, Usd,
};
use ao_tree::own_file;
use serde_json::{Value, json};

use super::remedy;
use super::workshop::Workshop;
use crate::chance;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

const TIME: Duration = Duration::from_mins(3);
const TOKENS: u64 = 200_000;
const USD: Usd = Usd(1_000_000);
const PROMPT_BYTES_MAX: u64 = 1024 * 1024;
const MATERIAL_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Its field for the one who answers has that one's name.
const REPORT: &str = "runner-report";

/// Ask one runner one question, and check the answer
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The question comes from standard input. What it is about is named with --material: it is given to the runner
between lines with a random word, as text of others that is no instruction. The answer is printed only if the
reader of the format takes it; after one that it does not take the runner is told why, and asked once more.

Programs run in a cell (docs/runners.md): they write nothing and reach their own API alone.

Examples:
  ao runners ask claude --schema runner-report < question.txt
  ao runners ask codex --schema next-work --material notes.md --time 60s < question.txt
  ao --json runners ask command:/home/me/judge --schema runner-report < question.txt

Exit code: 0 with an answer. Otherwise 2 if an argument was wrong, 5 if there was an answer and it was refused,
6 if nothing was started or it is not logged in, 75 if its limit is reached, 1 if it failed. With --json,
`failure.kind` tells these apart.")]
pub(super) struct Arguments {
    /// A configured name, a kind (claude, codex, gemini, opencode, ollama), or command:PATH
    #[arg(value_name = "NAME")]
    name: String,
    /// The format of the answer; `ao schema` lists them
    #[arg(long, value_name = "NAME")]
    schema: String,
    /// A file that the question is about; can be given more than once
    #[arg(long, value_name = "FILE")]
    material: Vec<PathBuf>,
    /// How long it may take [default: as configured, or 3m]
    #[arg(long, value_name = "D", value_parser = ao_contract::parse_duration)]
    time: Option<Duration>,
    /// How many tokens question and answer may have [default: as configured, or 200000]
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,
    /// How many turns it may take
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    turns: u32,
    /// How much it may cost, in US dollars [default: as configured, or 1]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    usd: Option<Usd>,
    /// How much it may say, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1024 * 1024)]
    output: u64,
}

/// `0.25`, to the millionth.
fn dollars(text: &str) -> Result<Usd, String> {
    let bad = || "not a number of dollars, such as 0.25".to_owned();
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 6 {
        return Err(bad());
    }
    let whole: u64 = whole.parse().map_err(|_| bad())?;
    let part: u64 = format!("{part:0<6}").parse().map_err(|_| bad())?;
    whole.checked_mul(1_000_000).and_then(|whole| whole.checked_add(part)).map(Usd).ok_or_else(bad)
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<u8, Failure> {
    let workshop = Workshop::open(global, printer)?;
    let form = form(arguments)?;
    let chosen = workshop.choose(&[(arguments.name.clone(), Origin::User)]);
    let settings = chosen.into_iter().next().map_or_else(
        || Err(Refused::NotStarted("nobody was named".to_owned())),
        |chosen| chosen.settings,
    );
    let settings = match settings {
        Ok(settings) => settings,
        Err(failure) => return Ok(refuse(&failure, arguments, None, global.json, printer)),
    };
    let runner = match workshop.runner(&settings) {
        Ok(runner) => runner,
        Err(failure) => {
            return Ok(refuse(&failure, arguments, Some(&settings), global.json, printer));
        }
    };
    if global.dry_run {
        tell(&workshop, runner.as_ref(), &settings, printer);
        return Ok(Exit::Done.code());
    }
    let request = Request {
        purpose: "ask",
        prompt: prompt()?,
        material: arguments.material.iter().map(|path| material(path)).collect::<Result<_, _>>()?,
        form,
        budget: budget(arguments, &settings),
    };
    let stop = stop()?;
    match ao_runner::ask(runner.as_ref(), &request, &chance::nonce()?, &stop)
        .and_then(|answer| within(answer, &request))
    {
        Ok(answer) => {
            tell_answer(&answer, runner.as_ref(), &settings, printer);
            Ok(Exit::Done.code())
        }
        Err(failure) => {
            for refused in runner.refused() {
                let what = ao_tree::shown(&refused.what);
                printer.note(&format!("refused ({}): {what}", refused.rule));
            }
            Ok(refuse(&failure, arguments, Some(&settings), global.json, printer))
        }
    }
}

fn form(arguments: &Arguments) -> Result<Form, Failure> {
    let named = ao_contract::schema(&arguments.schema).ok_or_else(|| {
        Failure::usage(format!("there is no format `{}`", ao_tree::shown(&arguments.schema)))
            .hint("`ao schema` lists them")
    })?;
    let form = Form { name: named.name, schema: named.schema, read: named.read };
    Ok(if form.name == REPORT { form.with_constant("runner", &arguments.name) } else { form })
}

/// What was typed counts, then what is configured.
fn budget(arguments: &Arguments, settings: &Settings) -> Budget {
    Budget {
        time: arguments.time.or(settings.timeout).unwrap_or(TIME),
        tokens: arguments.tokens.or(settings.max_tokens).unwrap_or(TOKENS),
        turns: arguments.turns,
        usd: arguments.usd.or(settings.max_usd).unwrap_or(USD),
        output_bytes: arguments.output,
    }
}

fn prompt() -> Result<String, Failure> {
    let failed = |why: String| {
        Failure::usage(format!("the question cannot be read: {why}"))
            .hint("give it on standard input, such as with < question.txt")
    };
    if rustix::termios::isatty(rustix::stdio::stdin()) {
        return Err(failed("standard input is a terminal".to_owned()));
    }
    let text = bounded(std::io::stdin().lock(), PROMPT_BYTES_MAX).map_err(failed)?;
    if text.trim().is_empty() {
        return Err(failed("it is empty".to_owned()));
    }
    Ok(text)
}

fn material(path: &Path) -> Result<Material, Failure> {
    let label = ao_tree::shown(&path.to_string_lossy());
    let open = || -> Result<String, String> {
        let bytes = own_file::read_named(path, MATERIAL_BYTES_MAX);
        bytes.map_err(|error| error.to_string()).and_then(text)
    };
    let text = open().map_err(|why| {
        Failure::usage(format!("--material {label}: {why}")).hint("name a text that can be read")
    })?;
    Ok(Material { label, text })
}

fn bounded(from: impl Read, most: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it has more than {most} bytes"));
    }
    text(bytes)
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())
}

fn stop() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in
        [signal_hook::consts::SIGHUP, signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
    {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|error| {
            Failure::new(Exit::Preflight, format!("signals cannot be caught: {error}"))
                .hint("nobody was asked; run the command again")
        })?;
    }
    Ok(stop)
}

/// Programs count what they spend and end; only then is it known that it was too much.
fn within(answer: Answer, request: &Request) -> Result<Answer, Refused> {
    let Budget { tokens, usd, .. } = request.budget;
    let over = |what: String| Err(Refused::OverBudget(what));
    match (answer.usage.tokens, answer.usage.cost) {
        (Said::ByRunner(count), _) if count > tokens => over(format!("{count} tokens of {tokens}")),
        (_, Cost::Real(spent) | Cost::Imputed(spent)) if spent > usd => {
            over(format!("{spent} of {usd}"))
        }
        // Nothing may be paid, and nobody says that nothing was.
        (_, Cost::Unknown) if usd == Usd(0) => over(format!("nobody knows how much of {usd}")),
        _ => Ok(answer),
    }
}

fn tell(workshop: &Workshop, runner: &dyn Runner, settings: &Settings, printer: &Printer) {
    let path = workshop.find(settings).ok();
    let path = path.map(|path| path.to_string_lossy().into_owned());
    let called = path.clone().unwrap_or_else(|| settings.kind.name().to_owned());
    let text =
        format!("Would ask {} ({})\n", ao_tree::shown(&settings.name), ao_tree::shown(&called));
    let fields = json!({
        "name": settings.name,
        "kind": settings.kind.name(),
        "model": settings.model,
        "path": path,
        "login": runner.login(),
    });
    printer.answer("runners ask", fields, &text);
}

fn tell_answer(answer: &Answer, runner: &dyn Runner, settings: &Settings, printer: &Printer) {
    let fields = json!({
        "name": settings.name,
        "kind": settings.kind.name(),
        "model": settings.model,
        "login": runner.login(),
        "answer": answer.value,
        "repaired": answer.is_repaired,
        "usage": answer.usage,
        "took_ms": u64::try_from(answer.took.as_millis()).unwrap_or(u64::MAX),
        "refusals": runner.refused(),
        "failure": Value::Null,
    });
    printer.answer("runners ask", fields, &format!("{:#}\n", answer.value));
}

fn refuse(
    failure: &Refused,
    arguments: &Arguments,
    settings: Option<&Settings>,
    is_json: bool,
    printer: &Printer,
) -> u8 {
    let remedy = remedy::of(failure, settings);
    let exit = match settings {
        // A name that means nothing is a mistake of whoever typed it.
        None => Exit::Usage,
        Some(_) => remedy::exit(failure),
    };
    if !is_json {
        let told = Failure::new(exit, format!("{}: {failure}", ao_tree::shown(&arguments.name)));
        return printer.failure(&told.hint(remedy)).code();
    }
    let until = match failure {
        Refused::RateLimited { until, .. } => until.map(|until| until.to_string()),
        _ => None,
    };
    let fields = json!({
        "name": arguments.name,
        "kind": settings.map(|settings| settings.kind.name()),
        "answer": Value::Null,
        "failure": {
            "kind": failure.kind(),
            "message": failure.to_string(),
            "until": until,
            "remedy": remedy,
        },
    });
    printer.answer("runners ask", fields, "");
    exit.code()
}
