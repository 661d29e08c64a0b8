//! Many writers, and a rotation that is killed at every moment.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::cell::User;
use crate::repo::Ran;
use crate::vault::{Home, VALUE};

/// Whatever changes a file or waits for one.
const CALLS: [&str; 9] =
    ["openat", "write", "fsync", "rename", "unlink", "fchmod", "flock", "mkdir", "prctl"];
/// More of one kind than one command makes.
const CALLS_MAX: usize = 100;

#[test]
fn of_many_writers_none_is_lost() {
    const WRITERS: usize = 12;
    let home = Home::new(User::This);
    let children: Vec<_> = (0..WRITERS)
        .map(|number| {
            let name = format!("NAME{number}");
            let mut child =
                home.command(&["vault", "write", &name]).stdin(Stdio::piped()).spawn().unwrap();
            let value = format!("{VALUE}{number}");
            child.stdin.take().unwrap().write_all(value.as_bytes()).unwrap();
            child
        })
        .chain((0..3).map(|_| home.command(&["vault", "rotate"]).spawn().unwrap()))
        .collect();
    for child in children {
        Ran::of(child.wait_with_output().unwrap()).expect(0);
    }
    for number in 0..WRITERS {
        home.holds(&format!("NAME{number}"), format!("{VALUE}{number}").as_bytes());
    }
    assert_eq!(keys(&home), 1);
}

/// Some are killed, some take away what another wrote, some rotate. Who was told that it is kept finds it.
#[test]
fn among_killed_writers_removals_and_rotations_none_is_lost() {
    const ROUNDS: usize = 3;
    const WRITERS: usize = 8;
    let home = Home::new(User::This);
    home.write("STAYS", VALUE.as_bytes()).expect(0);
    for round in 0..ROUNDS {
        let value = |number: usize| format!("{VALUE}{round}-{number}");
        for number in 0..WRITERS {
            home.write(&format!("GOES{number}"), value(number).as_bytes()).expect(0);
        }
        let mut doomed = Vec::new();
        let mut others = Vec::new();
        for number in 0..WRITERS {
            let goes = format!("GOES{number}");
            others.push(home.command(&["vault", "rm", &goes]).spawn().unwrap());
            let arguments = ["vault", "write", &format!("COMES{number}")];
            for list in [&mut others, &mut doomed] {
                let mut child = home.command(&arguments).stdin(Stdio::piped()).spawn().unwrap();
                child.stdin.take().unwrap().write_all(value(number).as_bytes()).unwrap();
                list.push(child);
            }
            if number % 3 == 0 {
                doomed.push(home.command(&["vault", "rotate"]).spawn().unwrap());
                others.push(home.command(&["vault", "rotate"]).spawn().unwrap());
            }
            // Early and late ones meet it at different places.
            if let Some(child) = doomed.get_mut(number) {
                std::thread::sleep(Duration::from_millis((number * 3 + round) as u64));
                child.kill().unwrap();
            }
        }
        for mut child in doomed {
            let _ = child.kill();
            child.wait().unwrap();
        }
        for child in others {
            Ran::of(child.wait_with_output().unwrap()).expect(0);
        }
        let mut names: Vec<_> = (0..WRITERS).map(|number| format!("COMES{number}")).collect();
        for (number, name) in names.iter().enumerate() {
            home.holds(name, value(number).as_bytes());
        }
        names.push("STAYS".to_owned());
        assert_eq!(home.ao(&["vault", "refs"]).expect(0).stdout, names.join("\n") + "\n");
        home.holds("STAYS", VALUE.as_bytes());
    }
    // A rotation that was killed is finished by the next write.
    home.write("LAST", VALUE.as_bytes()).expect(0);
    assert_eq!(keys(&home), 1);
}

fn keys(home: &Home) -> usize {
    let text = fs::read_to_string(home.identity()).unwrap();
    text.lines().filter(|line| line.starts_with("AGE-SECRET-KEY-1")).count()
}

#[test]
fn after_a_rotation_the_old_identity_opens_nothing() {
    let home = Home::new(User::This);
    home.write("KEY", VALUE.as_bytes()).expect(0);
    let (old_key, old_vault) =
        (fs::read(home.identity()).unwrap(), fs::read(home.vault()).unwrap());
    let ran = home.ao(&["--json", "vault", "rotate"]).expect(0);
    assert_eq!(ran.json()["values"], 1);
    home.holds("KEY", VALUE.as_bytes());
    let new_key = fs::read(home.identity()).unwrap();
    assert!(new_key != old_key && keys(&home) == 1);
    fs::write(home.identity(), &old_key).unwrap();
    assert_eq!(home.read("KEY"), (Vec::new(), 5));
    // A copy of both from before still works together.
    fs::write(home.vault(), &old_vault).unwrap();
    home.holds("KEY", VALUE.as_bytes());
}

/// Kills a command at the n-th call of each kind, for every n. `check` looks at what is left.
fn killed_everywhere(home: &Home, arguments: &[&str], input: &[u8], check: impl Fn(usize)) {
    let mut killed = 0;
    for call in CALLS {
        for number in 1.. {
            assert!(number < CALLS_MAX, "{arguments:?} never came to its end");
            let file = home.path("tmp/input");
            fs::write(&file, input).unwrap();
            let mut strace = Command::new("strace");
            strace
                .args(["-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"])
                .arg(format!("inject={call}:signal=KILL:when={number}"))
                .arg(env!("CARGO_BIN_EXE_ao"))
                .args(arguments)
                .env_clear()
                .env("HOME", home.path(""))
                .stdin(fs::File::open(&file).unwrap())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let is_whole = strace.status().unwrap().success();
            check(killed);
            if is_whole {
                break;
            }
            killed += 1;
        }
    }
    assert!(killed > 20, "{killed}");
}

#[test]
fn a_rotation_that_is_killed_anywhere_loses_nothing() {
    let home = Home::new(User::This);
    home.write("KEY", VALUE.as_bytes()).expect(0);
    // A message that was replaced is sealed for the identity, too.
    fs::create_dir(home.path("work/.agents")).unwrap();
    let sent = Ran::of(home.fed(&["--json", "notify"], VALUE.as_bytes())).expect(0).json();
    let message = ["vault", "kept", sent["kept"].as_str().unwrap()];
    killed_everywhere(&home, &["vault", "rotate"], b"", |call| {
        home.holds("KEY", VALUE.as_bytes());
        assert_eq!(home.ao(&message).expect(0).stdout, VALUE, "call {call}");
        // Whoever writes next finishes it.
        if call % 3 == 0 {
            home.write("NEXT", format!("{VALUE}{call}").as_bytes()).expect(0);
            assert_eq!(keys(&home), 1, "call {call}");
            home.holds("KEY", VALUE.as_bytes());
            home.holds("NEXT", format!("{VALUE}{call}").as_bytes());
            assert_eq!(home.ao(&message).expect(0).stdout, VALUE, "call {call}");
        }
    });
    assert_eq!(keys(&home), 1);
}

#[test]
fn a_write_that_is_killed_anywhere_is_made_or_not() {
    let home = Home::new(User::This);
    home.write("KEY", b"the old value").expect(0);
    home.write("OTHER", b"another value").expect(0);
    let arguments = ["vault", "write", "KEY"];
    killed_everywhere(&home, &arguments, VALUE.as_bytes(), |call| {
        let (value, code) = home.read("KEY");
        assert_eq!(code, 0, "call {call}");
        assert!(value == b"the old value" || value == VALUE.as_bytes(), "call {call}");
        home.holds("OTHER", b"another value");
        home.write("KEY", b"the old value").expect(0);
    });
}

#[test]
fn an_init_that_is_killed_anywhere_can_be_made_again() {
    let home = Home::bare(User::This);
    killed_everywhere(&home, &["vault", "init"], b"", |call| {
        // There is never a vault without its identity, so what is there can be gone on with.
        home.ao(&["vault", "init"]).expect(0);
        home.write("KEY", VALUE.as_bytes()).expect(0);
        home.holds("KEY", VALUE.as_bytes());
        assert_eq!(keys(&home), 1, "call {call}");
        for folder in [".config", ".local"] {
            fs::remove_dir_all(home.path(folder)).unwrap();
        }
    });
}
