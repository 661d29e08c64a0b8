//! A cell ends, whatever is in it and whatever becomes of us.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::cell::{Cells, User};
use crate::repo::{Ran, wait_until};

fn everywhere() -> [Cells; 3] {
    [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()]
}

/// Processes of this machine that have a word in their command line.
fn alive(word: &str) -> usize {
    let mut count = 0;
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let text = String::from_utf8_lossy(&line).into_owned();
        count += usize::from(text.split('\0').any(|argument| argument == word));
    }
    count
}

/// A number of seconds that no other test sleeps for.
fn nap(of: u32) -> String {
    format!("{}.{:06}", 300 + of, std::process::id() % 1_000_000)
}

fn limit(ran: Ran, name: &str) {
    let ran = ran.expect(5);
    let answer = ran.json();
    assert_eq!(answer["limit"], name, "{answer}");
    let rule = format!("limit-{name}");
    assert!(answer["refusals"].as_array().unwrap().iter().any(|one| one["rule"] == rule.as_str()));
}

// proves: GRD-04
#[test]
fn at_each_limit_the_whole_tree_ends() {
    for (number, cells) in (0..).zip(everywhere()) {
        let nap = nap(number);
        // A daemon of its own session, and a child that heeds no signal.
        let company = format!("setsid sleep {nap} & (trap '' TERM HUP INT; sleep {nap}) & ");
        let time = cells.sh(&["--time", "300ms"], &format!("{company} sleep {nap}"));
        limit(time, "time");
        limit(cells.sh(&["--output", "10K"], &format!("{company} exec yes")), "output");
        let bomb = format!(
            "{company} exec python3 -c 'a=[bytearray(1<<20) for _ in range(400)]; import time; time.sleep(60)'"
        );
        let ran = cells.sh(&["--memory", "200M", "--time", "30s"], &bomb);
        // One process meets its own bound first, and Python says so.
        assert!(ran.code == 1 || ran.code == 5, "{ran}");
        let forks = format!(
            "{company} i=0; while [ $i -lt 90 ]; do sleep {nap} & i=$((i+1)); done; sleep {nap}"
        );
        let ran = cells.sh(&["--procs", "40", "--time", "20s"], &forks);
        assert_ne!(ran.code, 0, "{ran}");
        assert_eq!(alive(&nap), 0);
    }
}

/// Without a bound of the kernel it is born faster than it is killed.
#[test]
fn a_fork_bomb_ends() {
    for (number, cells) in (50..).zip(everywhere()) {
        let script = format!(": {}; b() {{ b | b & }}; b; sleep 2", nap(number));
        let ran = cells.sh(&["--procs", "64", "--time", "3s"], &script);
        let answer = ran.json();
        assert_eq!(answer["usage"]["survivors"], 0, "{ran}");
        assert_eq!(alive(&script), 0);
    }
}

/// The fields of `/proc/PID/stat` behind the name, of whatever the script says that it is.
const STAT: &str = "stat() { sed 's/.*) //' /proc/$1/stat; }";

/// Root is held by no bound of the kernel for users, and whoever counts its processes is one of many.
#[test]
fn whoever_counts_comes_first_and_the_kernel_has_a_bound_of_its_own() {
    for cells in [Cells::new(User::This), Cells::new(User::Ordinary)] {
        let script = format!("{STAT}; stat 1; stat self; cat /proc/sys/kernel/pid_max");
        let answer = cells.sh(&["--procs", "64"], &script).expect(0).json();
        let said: Vec<&str> = answer["stdout"]["text"].as_str().unwrap().lines().collect();
        // The 41st field, of which the first two are cut off.
        let policy = |line: &str| line.split(' ').nth(38).unwrap().parse::<i32>().unwrap();
        let (first, command) = (policy(said[0]), policy(said[1]));
        assert_eq!(command, libc::SCHED_OTHER, "{answer}");
        if cells.is_root() && may_be_ranked() {
            assert_eq!(first, libc::SCHED_RR, "{answer}");
        }
        let outside = fs::read_to_string("/proc/sys/kernel/pid_max").unwrap();
        if kernel_is_from(6, 14) {
            assert_eq!(said[2], "4096", "{answer}");
        } else {
            assert_eq!(said[2], outside.trim(), "{answer}");
        }
        // What is bounded is the cell.
        assert_ne!(outside.trim(), "4096");
    }
}

/// Some machines give nobody the rank, root or not.
fn may_be_ranked() -> bool {
    let ran = Command::new("chrt").args(["-r", "1", "true"]).status();
    ran.is_ok_and(|status| status.success())
}

fn kernel_is_from(major: u32, minor: u32) -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-', '+', '\n']).map_while(|part| part.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}

#[test]
fn many_small_processes_are_weighed_together() {
    for cells in everywhere() {
        let each = "python3 -c 'a=bytearray(60<<20); import time; time.sleep(60)' &";
        let script = format!("{} sleep 60", each.repeat(6));
        limit(cells.sh(&["--memory", "200M", "--time", "30s"], &script), "memory");
    }
}

#[test]
fn what_is_left_behind_is_ended_with_the_command() {
    for (number, cells) in (10..).zip(everywhere()) {
        let nap = nap(number);
        let script = format!(
            "i=0; while [ $i -lt 30 ]; do setsid sh -c 'sleep {nap} & sleep {nap}' & i=$((i+1)); done; sleep 0.2"
        );
        let answer = cells.sh(&[], &script).expect(0).json();
        assert!(answer["usage"]["left_behind"].as_u64().unwrap() >= 30, "{answer}");
        assert_eq!(answer["usage"]["survivors"], 0);
        assert_eq!(alive(&nap), 0);
    }
}

// pitfall 26
#[test]
fn nothing_is_left_whatever_the_parent_dies_of() {
    for (number, cells) in (20..).zip(everywhere()) {
        for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT] {
            let nap = nap(number);
            let script = format!("setsid sleep {nap} & touch out/ready; sleep {nap}");
            let mut child = cells
                .command(&["guard", "run", "--rw", "out", "--", "/bin/sh", "-c", &script])
                .spawn()
                .unwrap();
            wait_until("the command runs", || cells.path("out/ready").exists());
            kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
            child.wait().unwrap();
            wait_until("everything has ended", || alive(&nap) == 0);
            fs::remove_file(cells.path("out/ready")).unwrap();
        }
        let mine = format!("ao-cell-{}", std::process::id());
        assert!(!Path::new("/tmp").join(mine).exists());
    }
}

/// In tier A the kernel ends the cell with its holder.
#[test]
fn nothing_is_left_if_the_holder_is_killed() {
    for (number, cells) in (30..).zip([Cells::new(User::This), Cells::new(User::Ordinary)]) {
        let nap = nap(number);
        let script = format!("setsid sleep {nap} & touch out/ready; sleep {nap}");
        let child = cells
            .command(&["guard", "run", "--rw", "out", "--", "/bin/sh", "-c", &script])
            .spawn()
            .unwrap();
        wait_until("the command runs", || cells.path("out/ready").exists());
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let holder = fs::read_to_string(children).unwrap();
        let holder = holder.split_whitespace().next().unwrap().parse().unwrap();
        kill(Pid::from_raw(holder), Signal::SIGKILL).unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 1, "{ran}");
        wait_until("everything has ended", || alive(&nap) == 0);
    }
}

#[test]
fn a_flood_is_cut_and_counted() {
    for cells in everywhere() {
        let ran =
            cells.sh(&["--output", "1M"], "head -c 200000 /dev/zero | tr '\\0' a; printf last >&2");
        let answer = ran.expect(0).json();
        assert_eq!(answer["stdout"]["bytes"], 200_000);
        assert_eq!(answer["stderr"]["text"], "last");
        let answer = cells.sh(&["--output", "1M"], "head -c 10G /dev/zero").expect(5).json();
        assert!(
            answer["stdout"]["bytes"].as_u64().unwrap() < 4 << 20,
            "{}",
            answer["stdout"]["bytes"]
        );
    }
}

/// `… | head -1`
#[test]
fn a_reader_that_has_had_enough_ends_it() {
    for cells in everywhere() {
        let mut child = cells
            .command(&["guard", "run", "--output", "10G", "--", "/bin/sh", "-c", "exec yes"])
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
}

/// Nobody reads what it says, so that `ao` itself is held up.
#[test]
fn the_time_is_kept_even_if_nobody_listens() {
    for (number, cells) in (40..).zip(everywhere()) {
        let nap = nap(number);
        let script = format!("sleep {nap} & touch out/ready; exec head -c 1000000 /dev/zero");
        // Enough to start on a busy machine.
        let line = ["guard", "run", "--rw", "out", "--time", "5s", "--", "/bin/sh", "-c", &script];
        let mut child = cells.command(&line).spawn().unwrap();
        wait_until("the command runs", || cells.path("out/ready").exists());
        wait_until("it was ended", || alive(&nap) == 0);
        fs::remove_file(cells.path("out/ready")).unwrap();
        let _ = child.kill();
        child.wait().unwrap();
    }
}

#[test]
fn it_does_not_wait_for_input_and_has_no_terminal() {
    for cells in everywhere() {
        let script = "cat; tty; test -t 1 || echo pipe; (exec < /dev/tty) 2>/dev/null || echo none";
        let answer = cells.sh(&["--time", "20s"], script).expect(0).json();
        assert_eq!(answer["stdout"]["text"], "not a tty\npipe\nnone\n", "{answer}");
    }
}
