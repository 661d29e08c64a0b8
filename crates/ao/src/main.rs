//! The binary: argv, one call into a room, rendering. No decisions live here.

mod cli;
mod clock;
mod commands;
mod config;
mod failure;
mod printer;
mod repo;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os())
}
