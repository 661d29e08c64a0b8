//! A program that can be its own keeper, and that starts another for the tests which have to kill
//! the one who started it.

#![expect(clippy::disallowed_methods, reason = "a stand-in prints what its program said")]

use std::process::ExitCode;
use std::time::Duration;

use ao_guard::{Bounds, Keeper, Program};

/// Longer than any test runs.
const LONG: Duration = Duration::from_mins(5);

fn main() -> ExitCode {
    ao_guard::serve(std::env::args_os()).unwrap_or_else(start)
}

/// `guard-stand-in PROGRAM ARGUMENT…`: runs it, and exits as it did.
fn start() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().map(|path| Program::new(path).arguments(arguments));
    let bounds = Bounds { time: LONG, output_bytes: 1024 * 1024 };
    let ended = program.map(|program| Keeper::this_binary().run(&program, bounds, &false.into()));
    match ended {
        Some(Ok(ended)) if ended.is_success() => {
            use std::io::Write as _;
            let _ = std::io::stdout().write_all(&ended.stdout);
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}
