//! Wholly before or wholly after a commit, and life goes on from there.

use std::path::Path;
use std::process::{Command, Output};

use crate::tree::{Kind, Tree};
use crate::world::{HELD, RECOVER, World, shown};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

/// What of a file is compared: some ways of moving a tree do not keep its modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Facts {
    Bytes,
    BytesAndModes,
}

/// The files of the held parts, empty folders left out: neither a stash nor an undo keeps those.
pub(crate) fn held(tree: &Tree, facts: Facts) -> Tree {
    let mut held = Tree::default();
    for part in HELD {
        held.0.extend(tree.beneath(&format!(".agents/{part}")).0);
    }
    if facts == Facts::Bytes {
        held.0.retain(|_, node| node.kind != Kind::Dir);
        for node in held.0.values_mut() {
            node.mode = 0;
        }
    }
    held.without_empty_dirs()
}

pub(crate) fn side(tree: &Tree, before: &Tree, after: &Tree, facts: Facts) -> Result<Side, String> {
    let now = held(tree, facts);
    let from_before = held(before, facts).difference(&now);
    if from_before.is_empty() {
        return Ok(Side::Before);
    }
    let from_after = held(after, facts).difference(&now);
    if from_after.is_empty() {
        return Ok(Side::After);
    }
    Err(format!("torn tree\n differs from before:\n{from_before} and from after:\n{from_after}"))
}

/// Nothing of a commit is left to do.
pub(crate) fn is_quiet(world: &World) -> Result<(), String> {
    if world.has_marker() {
        return Err("a marker is left over".to_owned());
    }
    let left = std::fs::read_dir(world.state("staging")).map_or(0, Iterator::count);
    if left > 0 {
        return Err(format!("{left} entries are left over in staging/"));
    }
    Ok(())
}

/// Recovers, and checks that the tree is whole, that the history agrees, and that the other side
/// can still be had: by the command again, or by an undo.
pub(crate) fn recovered(
    world: &World,
    before: &Tree,
    after: &Tree,
    again: &[&str],
    facts: Facts,
) -> Result<Side, String> {
    must(world, &RECOVER)?;
    let side = side(&world.tree(), before, after, facts)?;
    is_quiet(world)?;
    must(world, &["tree", "verify"])?;
    let (other, args) = match side {
        Side::Before => (Side::After, again),
        Side::After => (Side::Before, &["tree", "undo"][..]),
    };
    must(world, args)?;
    let now = self::side(&world.tree(), before, after, facts)
        .map_err(|why| format!("after `ao {}`: {why}", args.join(" ")))?;
    if now != other {
        return Err(format!("recovered to {side:?}, and `ao {}` gave {now:?}", args.join(" ")));
    }
    is_quiet(world)?;
    Ok(side)
}

/// A command of the binary, with no more of the environment than it needs.
pub(crate) fn ao(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(args);
    // Whoever runs the tests may be an agent; keys of receipts stay beside the world.
    command.env_clear().env("HOME", home(world)).env("AO_TEST_ANCESTORS", "");
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

/// A home beside the world: nothing of a person's is in a repository.
pub(crate) fn home(world: &World) -> std::path::PathBuf {
    let name = format!("{}-home", world.root.file_name().unwrap().to_str().unwrap());
    world.root.with_file_name(name)
}

pub(crate) fn must(world: &World, args: &[&str]) -> Result<Output, String> {
    let output = ao(world, args).output().unwrap();
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("`ao {}` failed: {}", args.join(" "), shown(&output)))
}

/// Runs another program that must succeed.
pub(crate) fn program(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?}: {}", shown(&output)))
}

pub(crate) fn git(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", "/");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.args(["-c", "user.name=A person", "-c", "user.email=person@example.invalid"]);
    command.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-C"]).arg(root).args(args);
    command
}
