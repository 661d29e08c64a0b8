//! `ao schema`: the file formats.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ao_contract::{Exit, NamedSchema};
use ao_tree::own_file;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::printer::{Printer, STRONG, paint};

const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// List the file formats, print the JSON Schema of one, or check a file against it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ao schema                                    list the formats
  ao schema summary                            print one as JSON Schema (draft 2020-12)
  ao schema next-work --check .agents/rpi/next-work.jsonl")]
pub(crate) struct Arguments {
    /// The format to print
    name: Option<String>,
    /// Read this file with ao's own reader instead (a .jsonl file line by line); exit 5 if it refuses
    #[arg(long, value_name = "FILE", requires = "name")]
    check: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, printer: &Printer) -> Result<Exit, Failure> {
    let schemas = ao_contract::schemas();
    let Some(name) = &arguments.name else {
        list(&schemas, printer);
        return Ok(Exit::Done);
    };
    let schema = schemas.iter().find(|schema| schema.name == name).ok_or_else(|| {
        Failure::usage(format!("there is no format `{}`", ao_tree::shown(name)))
            .hint("`ao schema` lists them")
    })?;
    if let Some(file) = &arguments.check {
        return check(schema.name, file, printer);
    }
    let text = format!("{:#}\n", schema.schema);
    printer.answer("schema", json!({ "name": schema.name, "schema": schema.schema }), &text);
    Ok(Exit::Done)
}

fn list(schemas: &[NamedSchema], printer: &Printer) {
    let mut text = String::new();
    for schema in schemas {
        let _ = writeln!(text, "{:<20} {}", schema.name, schema.about);
    }
    let rows: Vec<_> = schemas
        .iter()
        .map(|schema| json!({ "name": schema.name, "about": schema.about }))
        .collect();
    printer.answer("schema", json!({ "schemas": rows }), &text);
}

fn check(name: &str, file: &Path, printer: &Printer) -> Result<Exit, Failure> {
    let text = read(file)?;
    let is_lines = file.extension().is_some_and(|kind| kind == "jsonl");
    let values: Vec<(usize, &str)> = if is_lines {
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect()
    } else {
        vec![(0, text.as_str())]
    };
    let mut problems = Vec::new();
    for (index, value) in &values {
        if let Err(why) = check_one(name, value) {
            let place = if is_lines { format!("line {}: ", index + 1) } else { String::new() };
            problems.push(format!("{place}{why}"));
        }
    }
    let shown_file = ao_tree::shown(&file.to_string_lossy());
    let text = if problems.is_empty() {
        format!("{} {shown_file} is a {name} ({} read)\n", paint(STRONG, "ok:"), values.len())
    } else {
        problems
            .iter()
            .fold(String::new(), |text, problem| format!("{text}{shown_file}: {problem}\n"))
    };
    let exit = if problems.is_empty() { Exit::Done } else { Exit::Found };
    printer.answer(
        "schema",
        json!({ "name": name, "read": values.len(), "problems": problems }),
        &text,
    );
    Ok(exit)
}

fn check_one(name: &str, text: &str) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    ao_contract::check(name, &value).map(drop).map_err(|error| error.to_string())
}

fn read(file: &Path) -> Result<String, Failure> {
    let fail = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Failed, format!("{}: {error}", file.display()))
    };
    own_file::read_named_text(file, FILE_BYTES_MAX).map_err(|error| fail(&error))
}
