//! A vault that is cut, changed, exposed or without its key gives nothing.

use std::fs;
use std::os::unix::fs::symlink;

use crate::cell::User;
use crate::repo::Ran;
use crate::vault::{Home, VALUE, mode, set_mode};

/// No value, no part of one, and the code.
#[track_caller]
fn refused(home: &Home, code: i32, what: &str) {
    let (printed, ended) = home.read("KEY");
    assert_eq!((printed.len(), ended), (0, code), "{what}");
    // What cannot be read is not written over either.
    let before = fs::read(home.vault()).ok();
    home.write("OTHER", b"another value").expect(code);
    assert_eq!(fs::read(home.vault()).ok(), before, "{what}");
}

/// Whatever could show a value that it does not know says why it is not begun, and the rest works.
#[track_caller]
fn nothing_is_begun(home: &Home, code: i32, what: &str) {
    let mute = |arguments: &[&str]| {
        let ran = Ran::of(home.fed(arguments, b"a message"));
        for text in [VALUE, BEFORE, "AGE-SECRET", "started"] {
            assert!(!format!("{ran}").contains(text), "{what}: {arguments:?}: {ran}");
        }
        ran
    };
    for arguments in [
        &["guard", "run", "--", "echo", "started"][..],
        &["vault", "run", "KEY", "--", "echo", "started"],
        &["overnight", "start", "--max-iterations", "1"],
        &["notify"],
        &["vault", "scan", "."],
        &["vault", "refs"],
        &["vault", "rm", "KEY"],
        &["vault", "rotate"],
        &["search", "key"],
        &["no-such-command"],
    ] {
        let ran = mute(arguments);
        assert_eq!(ran.code, code, "{what}: {arguments:?}: {ran}");
        assert!(ran.stdout.is_empty(), "{what}: {arguments:?}: {ran}");
        assert!(ran.stderr.contains("error:") && ran.stderr.contains("hint:"), "{what}: {ran}");
        let names_it = ran.stderr.contains("identity") || ran.stderr.contains("vault");
        assert!(names_it, "{what}: {ran}");
    }
    for arguments in [&["--help"][..], &["vault", "--help"], &["--version"]] {
        assert!(!mute(arguments).expect(0).stdout.is_empty());
    }
    let left: Vec<_> = fs::read_dir(home.path("work")).unwrap().collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

const BEFORE: &str = "a value that stands before";

fn home() -> Home {
    let home = Home::new(User::This);
    home.write("BEFORE", BEFORE.as_bytes()).expect(0);
    home.write("KEY", VALUE.as_bytes()).expect(0);
    home
}

/// Of both files. A change to the identity either makes it another or leaves it the same.
#[test]
fn a_file_that_was_cut_or_changed_anywhere_gives_nothing() {
    let home = home();
    let step = if crate::is_sweep() { 1 } else { 7 };
    for file in [home.vault(), home.identity()] {
        let whole = fs::read(&file).unwrap();
        let last = whole.len() - 3..whole.len();
        let mute = |bytes: &[u8], what: &str| {
            fs::write(&file, bytes).unwrap();
            let output = home.command(&["vault", "read", "KEY"]).output().unwrap();
            // Comments of the identity, the case of its letters and the last line end say nothing.
            let is_same = file == home.identity() && output.stdout == VALUE.as_bytes();
            let code = output.status.code();
            assert!(is_same || output.stdout.is_empty() && code == Some(5), "{what}: {output:?}");
            let complaint = String::from_utf8(output.stderr).unwrap();
            assert!(!complaint.contains("AGE-SECRET") && !complaint.contains(VALUE), "{complaint}");
            is_same
        };
        let mut same = 0;
        for at in (0..whole.len()).step_by(step).chain(last.clone()) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            same += usize::from(mute(&flipped, &format!("byte {at} of {}", whole.len())));
        }
        let key = whole.windows(15).position(|part| part == b"AGE-SECRET-KEY-");
        let comments = key.unwrap_or(0);
        assert!(same <= comments, "{same} of {}", whole.len());
        for count in (0..whole.len()).step_by(step).chain(last) {
            let is_same = mute(&whole[..count], &format!("{count} bytes of {}", whole.len()));
            assert!(!is_same || count == whole.len() - 1, "{count}");
        }
        if file == home.vault() {
            for count in [0, 1, 20, whole.len() / 2, whole.len() - 16, whole.len() - 1] {
                fs::write(&file, &whole[..count]).unwrap();
                refused(&home, 5, &format!("{count} bytes of {}", whole.len()));
            }
            fs::write(&file, [&whole[..], b"x"].concat()).unwrap();
            refused(&home, 5, "a byte more");
        }
        fs::write(&file, &whole).unwrap();
        home.holds("KEY", VALUE.as_bytes());
    }
}

// proves: SCO-08
#[test]
fn where_the_vault_cannot_be_opened_nothing_is_begun() {
    let home = home();
    let (vault, identity) = (home.vault(), home.identity());
    let (whole, key) = (fs::read(&vault).unwrap(), fs::read(&identity).unwrap());
    let mut flipped = whole.clone();
    flipped[whole.len() - 9] ^= 1;
    for (bytes, what) in [(&whole[..whole.len() - 1], "cut"), (&flipped, "changed"), (b"", "empty")]
    {
        fs::write(&vault, bytes).unwrap();
        nothing_is_begun(&home, 5, what);
        home.ao(&["vault", "init"]).expect(5);
    }
    fs::write(&vault, &whole).unwrap();
    for file in [&vault, &identity] {
        let folder = file.parent().unwrap();
        for (path, bad, good) in
            [(&**file, 0o640, 0o600), (file, 0o604, 0o600), (folder, 0o777, 0o700)]
        {
            set_mode(path, bad);
            nothing_is_begun(&home, 5, &format!("{} {bad:o}", path.display()));
            home.ao(&["vault", "init"]).expect(5);
            set_mode(path, good);
        }
    }
    let other = Home::new(User::This);
    fs::copy(other.identity(), &identity).unwrap();
    nothing_is_begun(&home, 5, "the identity of another");
    home.ao(&["vault", "init"]).expect(5);
    fs::remove_file(&identity).unwrap();
    nothing_is_begun(&home, 6, "no identity");
    home.ao(&["vault", "init"]).expect(6);
    fs::write(&identity, &key).unwrap();
    set_mode(&identity, 0o600);
    home.holds("KEY", VALUE.as_bytes());
    fs::remove_file(&vault).unwrap();
    nothing_is_begun(&home, 6, "no vault");
}

/// Cut where a chunk ends, so that everything before is whole.
#[test]
fn a_long_vault_that_is_cut_between_chunks_gives_nothing() {
    const CHUNK: usize = 64 * 1024 + 16;
    let home = home();
    home.write("LONG", &vec![b'x'; 300_000]).expect(0);
    let whole = fs::read(home.vault()).unwrap();
    let head = whole.len() % CHUNK;
    for chunks in 1..4 {
        for start in head.saturating_sub(40)..=head + 40 {
            let Some(cut) = whole.get(..start + chunks * CHUNK) else { continue };
            // Each of them is a process: the likely places are enough.
            if start % 20 == head % 20 {
                fs::write(home.vault(), cut).unwrap();
                let (printed, code) = home.read("KEY");
                assert_eq!((printed.len(), code), (0, 5), "{chunks} {start}");
            }
        }
    }
}

#[test]
fn without_its_identity_nothing_is_read() {
    let home = home();
    let key = fs::read_to_string(home.identity()).unwrap();
    fs::remove_file(home.identity()).unwrap();
    refused(&home, 6, "no identity");
    // A new one would never open what is there.
    home.ao(&["vault", "init"]).expect(6);
    assert!(!home.identity().exists());
    let other = Home::new(User::This);
    fs::copy(other.identity(), home.identity()).unwrap();
    refused(&home, 5, "somebody else's identity");
    for bad in [
        String::new(),
        with_another_letter(&key),
        key[..key.len() - 4].to_owned(),
        format!("{key}nonsense\n"),
    ] {
        fs::write(home.identity(), bad).unwrap();
        refused(&home, 5, "a damaged identity");
        assert!(!home.ao(&["vault", "refs"]).stderr.contains("AGE-SECRET"));
    }
    fs::write(home.identity(), &key).unwrap();
    home.holds("KEY", VALUE.as_bytes());
    fs::remove_file(home.vault()).unwrap();
    let (printed, code) = home.read("KEY");
    assert_eq!((printed.len(), code), (0, 6), "no vault");
    // An identity that is there is kept.
    home.ao(&["vault", "init"]).expect(0);
    assert_eq!(fs::read_to_string(home.identity()).unwrap(), key);
}

/// The key with one letter that is not its own. Not every key has a given letter, so it goes by the place.
fn with_another_letter(key: &str) -> String {
    const MARK: &str = "AGE-SECRET-KEY-1";
    let at = key.find(MARK).unwrap() + MARK.len() + 20;
    let other = if &key[at..=at] == "Q" { "P" } else { "Q" };
    format!("{}{other}{}", &key[..at], &key[at + 1..])
}

#[test]
fn what_others_could_read_or_exchange_is_not_opened() {
    for user in [User::This, User::Ordinary] {
        let home = Home::new(user);
        home.write("KEY", VALUE.as_bytes()).expect(0);
        for file in [home.identity(), home.vault()] {
            for bad in [0o640, 0o604, 0o620, 0o602, 0o610, 0o644] {
                set_mode(&file, bad);
                refused(&home, 5, &format!("{} {bad:o}", file.display()));
                assert_eq!(mode(&file), bad, "nobody repairs what may be known already");
            }
            set_mode(&file, 0o600);
            let folder = file.parent().unwrap().to_owned();
            for bad in [0o777, 0o770, 0o720] {
                set_mode(&folder, bad);
                refused(&home, 5, &format!("{} {bad:o}", folder.display()));
            }
            set_mode(&folder, 0o700);
            let above = folder.parent().unwrap().to_owned();
            let before = mode(&above);
            set_mode(&above, 0o777);
            refused(&home, 5, "a folder above");
            set_mode(&above, before);
            let (aside, second) = (home.path("aside"), home.path("second"));
            fs::rename(&file, &aside).unwrap();
            symlink(&aside, &file).unwrap();
            refused(&home, 5, "a symlink");
            fs::remove_file(&file).unwrap();
            fs::rename(&aside, &file).unwrap();
            fs::hard_link(&file, &second).unwrap();
            refused(&home, 5, "a second name");
            fs::remove_file(&second).unwrap();
            home.holds("KEY", VALUE.as_bytes());
        }
    }
}

#[test]
fn a_lock_that_leads_elsewhere_is_not_opened() {
    let home = home();
    let lock = home.vault().with_extension("age.lock");
    let elsewhere = home.path("elsewhere");
    fs::remove_file(&lock).unwrap();
    symlink(&elsewhere, &lock).unwrap();
    refused(&home, 5, "a link");
    assert!(!elsewhere.exists());
    fs::remove_file(&lock).unwrap();
    // Whoever opens a pipe waits for somebody at its other end.
    let made = std::process::Command::new("mkfifo").arg(&lock).status().unwrap();
    assert!(made.success());
    refused(&home, 5, "a pipe");
    fs::remove_file(&lock).unwrap();
    home.holds("KEY", VALUE.as_bytes());
}

#[test]
fn an_identity_in_a_repository_is_not_used() {
    let home = home();
    let repository = home.path("work/repo");
    fs::create_dir_all(repository.join(".git")).unwrap();
    let inside = repository.join("keys/k.txt");
    let option = ["--identity", inside.to_str().unwrap()];
    home.ao(&[&["vault", "init"][..], &option].concat()).expect(5);
    assert!(!inside.exists() && !repository.join("keys").exists());
    fs::create_dir(repository.join("keys")).unwrap();
    fs::copy(home.identity(), &inside).unwrap();
    set_mode(&inside, 0o600);
    let ran = home.ao(&[&["vault", "read", "KEY"][..], &option].concat()).expect(5);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("in the repository"), "{ran}");
}
