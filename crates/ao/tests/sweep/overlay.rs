//! File systems where a commit cannot exchange directories, or must not start at all.

use std::fs;
use std::path::Path;

use crate::kill::{Whole, attack, cases};
use crate::mount::Mount;
use crate::tally::{Tally, skip};
use crate::tree::Tree;
use crate::world::{Arena, STATE, Scenario, World, scenarios, shown};

const KILLS_SAMPLE: usize = 25;
const CASES_MIN: usize = 100;

/// A world whose corpus is the lower layer of an overlay, gone when it is dropped.
struct Overlaid {
    world: World,
    _mount: Mount,
}

impl Overlaid {
    fn new(arena: &Arena, start: &Tree) -> nix::Result<Self> {
        let dir = arena.fresh("overlay");
        let [lower, upper, work, merged] =
            ["lower", "upper", "work", "merged"].map(|name| dir.join(name));
        for dir in [&dir, &lower, &upper, &work, &merged] {
            fs::create_dir(dir).unwrap();
        }
        start.write(&lower);
        let mount = Mount::overlay(&lower, &upper, &work, &merged)?;
        Ok(Self { world: World { root: merged }, _mount: mount })
    }
}

// proves: LOOP-21
#[test]
fn overlay_commits_file_by_file() {
    const ENGINE: &str = "overlay";
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let overlaid = match Overlaid::new(&arena, &scenario.start) {
        Ok(overlaid) => overlaid,
        Err(error) => return skip(ENGINE, &format!("no overlay can be mounted: {error}")),
    };
    let mut tally = Tally::new(ENGINE, "overlay_commits_file_by_file", CASES_MIN);
    tally.record(&"overlay commit", commit(&overlaid.world, &scenario));
    let overlaid = Overlaid::new(&arena, &scenario.start).unwrap();
    let kills = cases(&overlaid.world, &scenario);
    drop(overlaid);
    let kills = tally.sample(kills, KILLS_SAMPLE);
    tally.run(&kills, |case| {
        let overlaid = Overlaid::new(&arena, &scenario.start).unwrap();
        attack(&overlaid.world, case, Whole::Files)
    });
    tally.finish();
}

fn commit(world: &World, scenario: &Scenario) -> Result<(), String> {
    let mut args = scenario.args();
    args.insert(0, "--json");
    let output = world.must(&args)?;
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    if report["method"] != "file-by-file" {
        return Err(format!("the report does not name the method: {report}"));
    }
    let difference = scenario.after.difference(&world.tree());
    if difference.is_empty() { Ok(()) } else { Err(difference) }
}

/// What is mounted over a path inside of `.agents/`.
#[derive(Debug, Clone, Copy)]
enum Over {
    Tmpfs,
    /// Another directory or file of the same file system.
    Bind,
}

/// A mount inside what a commit moves: it is refused before anything is touched.
#[test]
fn mount_inside_is_refused() {
    const ENGINE: &str = "mount inside";
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let probe = arena.fresh("probe");
    fs::create_dir(&probe).unwrap();
    if let Err(error) = Mount::tmpfs(&probe) {
        return skip(ENGINE, &format!("nothing can be mounted: {error}"));
    }
    let mut tally = Tally::new(ENGINE, "mount_inside_is_refused", 1);
    for (path, over) in [
        ("learnings/nested", Over::Tmpfs),
        ("learnings/nested/deep", Over::Bind),
        ("learnings/b.md", Over::Bind),
        ("patterns", Over::Tmpfs),
        ("patterns", Over::Bind),
        ("rpi", Over::Tmpfs),
        ("rpi/next-work.jsonl", Over::Bind),
        ("overnight", Over::Tmpfs),
    ] {
        let case = format!("mount {over:?} over {path}");
        tally.record(&case, refuse(&arena, &scenario, path, over));
    }
    tally.finish();
}

fn refuse(arena: &Arena, scenario: &Scenario, path: &str, over: Over) -> Result<(), String> {
    let world = arena.world(&scenario.start);
    let at = world.agents(path);
    if !at.exists() {
        fs::create_dir(&at).unwrap();
    }
    let mount = match over {
        Over::Tmpfs => Mount::tmpfs(&at).unwrap(),
        Over::Bind => Mount::bind(&twin(arena, &at), &at).unwrap(),
    };
    let before = world.tree();
    let output = world.run(&scenario.args());
    if output.status.code() != Some(6) {
        return Err(format!("expected exit code 6: {}", shown(&output)));
    }
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    if !message.contains(path) {
        return Err(format!("the message does not name {path}: {message}"));
    }
    let now = world.tree();
    let changed = before.difference(&now) + &before.disturbed(&now, |_| true);
    if !changed.is_empty() {
        return Err(format!("something changed:\n{changed}"));
    }
    // The locks' own files, and what git is told of them, are all that a refused start may leave.
    let state = Tree::read(&world.root.join(STATE), None);
    let is_lock =
        |name: &str| [".gitignore", "run.lock", "run.alive", "commit.lock"].contains(&name);
    let left: Vec<_> = state.0.keys().filter(|name| !is_lock(name)).collect();
    drop(mount);
    if left.is_empty() { Ok(()) } else { Err(format!("left over: {left:?}")) }
}

/// Something of the same kind on the same file system, to be mounted there.
fn twin(arena: &Arena, of: &Path) -> std::path::PathBuf {
    let twin = arena.fresh("twin");
    if of.is_dir() {
        fs::create_dir(&twin).unwrap();
    } else {
        fs::write(&twin, "Another file.\n").unwrap();
    }
    twin
}
