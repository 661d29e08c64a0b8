//! The binary: argv, one call into a room, rendering. No decisions live here.

mod chance;
mod cli;
mod clock;
mod commands;
mod config;
mod failure;
mod person;
mod printer;
mod readers;
mod redaction;
mod replaced;
mod repo;
mod spelling;

/// A night makes millions of short texts, on several threads: this takes a tenth off its time (docs/measurements.md).
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // Every program that is started has a process of this binary as its keeper.
    ao_guard::serve(std::env::args_os()).unwrap_or_else(|| cli::run(std::env::args_os()))
}
