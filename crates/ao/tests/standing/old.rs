//! Trees that an earlier `ao` left: its commits exchanged whole folders, and were killed at every
//! call. Each archive in `old/` has all states of one commit; see `old/README.md`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tally::Tally;
use crate::tree::Tree;
use crate::whole::{Facts, Side, is_quiet, must, program, side};
use crate::world::{Arena, RECOVER, World};

const CASES_MIN: usize = 406;
/// Of each commit, in the default run.
const STATES_SAMPLE: usize = 24;
const COMMITS: [&str; 3] = ["folders", "folders-undo", "file-by-file"];

// proves: LOOP-20
#[test]
fn old_markers_are_finished() {
    let arena = Arena::new();
    let mut tally = Tally::new("old markers", "old_markers_are_finished", CASES_MIN);
    for commit in COMMITS {
        let states = unpacked(&arena, commit);
        let [before, after] =
            ["before", "after"].map(|name| World { root: states.join(name) }.tree());
        assert!(side(&after, &before, &before, Facts::BytesAndModes).is_err(), "nothing to tell");
        let mut steps: Vec<PathBuf> =
            std::fs::read_dir(&states).unwrap().map(|entry| entry.unwrap().path()).collect();
        steps.retain(|path| path.file_name().unwrap().as_encoded_bytes()[0].is_ascii_digit());
        steps.sort();
        let cases =
            tally.sample(steps, STATES_SAMPLE).into_iter().map(|root| Case { commit, root });
        tally.run(&cases.collect::<Vec<_>>(), |case| finished(&case.root, &before, &after));
    }
    tally.finish();
}

struct Case {
    commit: &'static str,
    root: PathBuf,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.commit, self.root.file_name().unwrap().display())
    }
}

fn unpacked(arena: &Arena, commit: &str) -> PathBuf {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standing/old");
    let to = arena.fresh("old");
    std::fs::create_dir(&to).unwrap();
    let archive = old.join(format!("{commit}.tar.xz"));
    program(Command::new("tar").arg("-C").arg(&to).arg("-xJpf").arg(archive)).unwrap();
    to
}

fn finished(root: &Path, before: &Tree, after: &Tree) -> Result<(), String> {
    // Removed when it is dropped; no other case needs it.
    let world = World { root: root.to_owned() };
    let is_decided = world.has_marker();
    must(&world, &RECOVER)?;
    let found = side(&world.tree(), before, after, Facts::BytesAndModes)?;
    if is_decided && found == Side::Before {
        return Err("a commit that was decided is gone".to_owned());
    }
    is_quiet(&world)?;
    must(&world, &["tree", "verify"])?;
    if found == Side::After {
        must(&world, &["tree", "undo"])?;
        if side(&world.tree(), before, after, Facts::BytesAndModes)? != Side::Before {
            return Err("the undo did not bring back what was".to_owned());
        }
    }
    Ok(())
}
