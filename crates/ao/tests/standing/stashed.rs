//! A person works with git in the same repository while `ao` commits: they stash, come back, and
//! change branches. Git takes files away and puts others there, and `ao` may be in the middle.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::tally::Tally;
use crate::whole::{ao, git, is_quiet, must, program};
use crate::world::{Arena, RECOVER, World, corpus, shown, write};

const ROUNDS_FULL: usize = 150;
const ROUNDS_SAMPLE: usize = 12;

/// What the repository's own `.gitignore` says.
const IGNORED: [&str; 2] = ["", ".agents/overnight/\n"];

// proves: LOOP-07
#[test]
fn stashes_and_branches_lose_nothing() {
    let arena = Arena::new();
    let rounds = if crate::tally::is_full() { ROUNDS_FULL } else { ROUNDS_SAMPLE };
    let mut tally = Tally::new("git at work", "stashes_and_branches_lose_nothing", 2 * rounds);
    for (name, ignored) in
        ["git, all of it tracked", "git, the state ignored"].into_iter().zip(IGNORED)
    {
        if tally.wants(&name) {
            tally.record(&name, night(&arena, ignored, rounds));
            tally.add(rounds);
        }
    }
    tally.finish();
}

fn night(arena: &Arena, ignored: &str, rounds: usize) -> Result<(), String> {
    let world = arena.world(&corpus());
    fs::write(world.root.join(".gitignore"), ignored).unwrap();
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["commit", "-q", "-m", "as it was"],
        &["checkout", "-q", "-b", "other"],
        &["rm", "-q", ".agents/knowledge/k1.md"],
        &["commit", "-q", "-m", "one page less"],
        &["checkout", "-q", "main"],
    ] {
        program(&mut git(&world.root, args))?;
    }
    let desk = Desk::default();
    std::thread::scope(|scope| {
        scope.spawn(|| person(&world, &desk));
        let done = (0..rounds).try_for_each(|number| commit(arena, &world, number, &desk));
        desk.is_over.store(true, Ordering::SeqCst);
        done
    })?;
    must(&world, &RECOVER)?;
    let file = arena.edits_file(&[write("findings/last.md", "The last word.\n")]);
    must(&world, &["tree", "apply", &file])?;
    is_quiet(&world)?;
    let texts = desk.texts.into_inner().unwrap();
    let lost: Vec<_> = texts.iter().filter(|text| !is_somewhere(&world, text)).collect();
    match lost.first() {
        Some(first) => {
            Err(format!("{} of {} texts are nowhere, such as {first:?}", lost.len(), texts.len()))
        }
        None => Ok(()),
    }
}

/// What the person and the commits share.
#[derive(Default)]
struct Desk {
    texts: Mutex<Vec<String>>,
    is_over: AtomicBool,
    /// Odd while git stashes. It lists what it takes, and a moment later removes whatever is there:
    /// what came in between is lost by git, and only that.
    stashes: AtomicUsize,
}

/// One commit of files that are new; git may be at work in any of its folders.
fn commit(arena: &Arena, world: &World, number: usize, desk: &Desk) -> Result<(), String> {
    let text = format!("The night wrote this in round {number:04}.\n");
    let edits = [
        write(&format!("learnings/ours-{number}.md"), &text),
        write(&format!("patterns/ours-{number}.md"), &text),
    ];
    let file = arena.edits_file(&edits);
    let id = format!("n{number}");
    let stashes = desk.stashes.load(Ordering::SeqCst);
    let output = ao(world, &["tree", "apply", &file, "--id", &id]).output().unwrap();
    let is_alone = stashes.is_multiple_of(2) && stashes == desk.stashes.load(Ordering::SeqCst);
    match output.status.code() {
        Some(0) if is_alone => desk.texts.lock().unwrap().push(text),
        Some(0) => {}
        // Git took away what it was about to use, and it said so.
        Some(1 | 6 | 75) if !output.stderr.is_empty() => {}
        _ => return Err(format!("round {number}: {}", shown(&output))),
    }
    Ok(())
}

fn person(world: &World, desk: &Desk) {
    // A stash that cannot be taken back is kept by git, and git says so.
    let run = |args: &[&str]| program(&mut git(&world.root, args)).is_ok();
    for number in 0.. {
        if desk.is_over.load(Ordering::SeqCst) {
            return;
        }
        let text = format!("A person wrote page {number:04} before they stashed.\n");
        if fs::write(world.agents(&format!("knowledge/mine-{number}.md")), &text).is_ok() {
            desk.texts.lock().unwrap().push(text);
        }
        desk.stashes.fetch_add(1, Ordering::SeqCst);
        let is_stashed = run(&["stash", "push", "-q", "-u"]);
        desk.stashes.fetch_add(1, Ordering::SeqCst);
        if is_stashed {
            if number % 2 == 0 && run(&["checkout", "-q", "other"]) {
                run(&["checkout", "-q", "main"]);
            }
            run(&["stash", "pop", "-q"]);
        }
    }
}

/// In the tree, kept beside it, or in a stash that git still has.
fn is_somewhere(world: &World, text: &str) -> bool {
    let grep = std::process::Command::new("grep")
        .args(["-rqF", "--exclude-dir=.git", "--", text.trim_end()])
        .arg(&world.root)
        .status()
        .unwrap();
    if grep.success() {
        return true;
    }
    let stashes = program(&mut git(&world.root, &["stash", "list", "--format=%H"])).unwrap();
    String::from_utf8_lossy(&stashes.stdout).lines().any(|stash| {
        [stash.to_owned(), format!("{stash}^3")].iter().any(|tree| {
            git(&world.root, &["grep", "-qF", "-e", text.trim_end(), tree])
                .output()
                .is_ok_and(|output| output.status.success())
        })
    })
}
