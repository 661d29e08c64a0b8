//! What a program is given, and what it gives back.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use ao_guard::{Error, How, Input, Program};

use crate::place::{AMPLE, Place, STAND_IN, keeper};

#[test]
fn output_errors_and_the_code_come_back() {
    let place = Place::new();
    let ended = place.run("printf 'said\\n'; printf 'complained\\n' >&2; exit 3", AMPLE).unwrap();
    assert_eq!((ended.how, ended.is_success()), (How::Exited(3), false));
    assert_eq!(
        (ended.stdout.as_slice(), ended.stderr.as_slice()),
        (&b"said\n"[..], &b"complained\n"[..])
    );
    assert_eq!((ended.left_behind, ended.survivors), (0, 0));
    assert!(place.run(":", AMPLE).unwrap().is_success());
}

#[test]
fn a_program_that_is_ended_by_a_signal_says_so() {
    let place = Place::new();
    assert_eq!(place.run("kill -9 $$", AMPLE).unwrap().how, How::Signalled(9));
    assert_eq!(place.run("kill -15 $$", AMPLE).unwrap().how, How::Signalled(15));
}

#[test]
fn arguments_arrive_as_they_are() {
    let odd = ["-rf", "--", "", "two words", "'\"$(id)`id`\\", "line\nline\t", "🌙 é", "*", "@x"];
    let place = Place::new();
    let program = place.program("/usr/bin/printf").arguments(["%s\\0"]).arguments(odd);
    let ended = keeper().run(&program, AMPLE, &false.into()).unwrap();
    let seen: Vec<_> = ended.stdout.split(|byte| *byte == 0).collect();
    let mut expected: Vec<_> = odd.iter().map(|text| text.as_bytes()).collect();
    expected.push(b"");
    assert_eq!(seen, expected);
}

#[test]
fn the_environment_is_what_was_granted() {
    let place = Place::new();
    let program = place.program("/usr/bin/env").variable("GRANTED", "yes\n=no");
    let ended = keeper().run(&program, AMPLE, &false.into()).unwrap();
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "GRANTED=yes\n=no\n");
    let nothing = keeper().run(&place.program("/usr/bin/env"), AMPLE, &false.into()).unwrap();
    assert_eq!(nothing.stdout, b"");
}

#[test]
fn it_runs_where_it_should() {
    let place = Place::new();
    let ended = place.run("pwd -P", AMPLE).unwrap();
    let here = format!("{}\n", place.path().canonicalize().unwrap().display());
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), here);
}

#[test]
fn input_arrives_whole_and_a_program_may_ignore_it() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..1_000_003_u32).map(|number| number.to_le_bytes()[0]).collect();
    let copied = place.program("/bin/cat").input(Input::Bytes(bytes.clone()));
    let ended = keeper().run(&copied, AMPLE, &false.into()).unwrap();
    assert!(ended.stdout == bytes && ended.is_success());
    let ignored = place.program("/bin/true").input(Input::Bytes(bytes));
    assert!(keeper().run(&ignored, AMPLE, &false.into()).unwrap().is_success());
    // With none it finds the end at once.
    assert_eq!(place.run("cat", AMPLE).unwrap().how, How::Exited(0));
    let empty = place.program("/bin/cat").input(Input::Bytes(Vec::new()));
    assert!(keeper().run(&empty, AMPLE, &false.into()).unwrap().is_success());
}

#[test]
fn what_cannot_be_started_says_why() {
    let place = Place::new();
    let plain = place.path().join("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    let broken = place.path().join("broken");
    fs::write(&broken, "\u{1}\u{2}no program").unwrap();
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    let why = |program: Program| match keeper().run(&program, AMPLE, &false.into()) {
        Err(Error::Start { program: named, source }) => {
            assert_eq!(named, program.path);
            source
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(why(place.program("/no/such/program")).kind(), ErrorKind::NotFound);
    assert_eq!(why(place.program(&plain)).kind(), ErrorKind::PermissionDenied);
    assert_eq!(why(place.program(place.path())).kind(), ErrorKind::IsADirectory);
    // ENOEXEC has no kind of its own.
    assert_eq!(why(place.program(&broken)).raw_os_error(), Some(8));
    let nowhere = place.program("/bin/true").directory("/no/such/place");
    let error = keeper().run(&nowhere, AMPLE, &false.into()).unwrap_err();
    assert!(matches!(error, Error::Directory { .. }), "{error}");
    assert!(error.to_string().contains("/no/such/place"), "{error}");
    let relative = keeper().run(&place.program("bin/true"), AMPLE, &false.into()).unwrap_err();
    assert!(matches!(relative, Error::NotAbsolute(_)), "{relative}");
    let cut = place.program("/bin/true").arguments(["a\0b"]);
    assert!(keeper().run(&cut, AMPLE, &false.into()).is_err());
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn it_has_a_session_of_its_own_and_can_become_nobody_else() {
    let place = Place::new();
    let ended = place.run("cat /proc/self/stat; grep NoNewPrivs /proc/self/status", AMPLE).unwrap();
    let text = String::from_utf8(ended.stdout).unwrap();
    let session =
        |stat: &str| stat.rsplit_once(')').unwrap().1.split(' ').nth(4).unwrap().to_owned();
    let ours = fs::read_to_string("/proc/self/stat").unwrap();
    assert_ne!(session(text.lines().next().unwrap()), session(&ours));
    assert!(text.ends_with("NoNewPrivs:\t1\n"), "{text}");
}

/// A file that somebody left open for us is not open for the program.
#[test]
fn it_gets_three_streams_and_no_other_file() {
    let list = "exec 9</dev/zero; ls -l /proc/self/fd >&2; exec \"$0\" /bin/ls -l /proc/self/fd";
    let mut shell = Command::new("/bin/sh");
    let output = shell.args(["-c", list, STAND_IN]).stdin(Stdio::null()).output().unwrap();
    let (before, seen) = (String::from_utf8(output.stderr), String::from_utf8(output.stdout));
    assert!(before.unwrap().contains("/dev/zero"));
    let seen = seen.unwrap();
    assert!(
        output.status.success() && !seen.contains("/dev/zero") && !seen.contains("socket:"),
        "{seen}"
    );
    // The fourth is the listing itself.
    assert_eq!(seen.lines().filter(|line| line.contains(" -> ")).count(), 4, "{seen}");
}

#[test]
fn the_word_of_the_keeper_is_no_command() {
    let mut typed = Command::new(STAND_IN);
    typed.args(["keep-program", "/bin/echo", "said"]).stdin(Stdio::null());
    let output = typed.output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
}
