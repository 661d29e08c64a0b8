//! `ao vault init|write|read|refs|rm`: what is kept, and what is refused.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::cell::User;
use crate::repo::Ran;
use crate::vault::{Home, VALUE, contains, files_with, mode};

const MIB: usize = 1024 * 1024;

// proves: SCO-10
#[test]
fn a_value_comes_back_as_it_was_and_nothing_shows_it() {
    for user in [User::This, User::Ordinary] {
        let home = Home::bare(user);
        let made = home.ao(&["vault", "init"]).expect(0);
        assert!(made.stdout.starts_with("Made:"), "{made}");
        assert_eq!(mode(&home.identity()), 0o600);
        assert_eq!(mode(home.identity().parent().unwrap()), 0o700);
        assert_eq!(mode(&home.vault()), 0o600);
        let first = home.write("STRIPE_KEY", format!("{VALUE}\n").as_bytes()).expect(0);
        assert_eq!(first.stdout, "Kept vault://STRIPE_KEY\n");
        home.write("team/db.password-2", b"another value of the vault").expect(0);
        home.holds("STRIPE_KEY", VALUE.as_bytes());
        home.holds("vault://STRIPE_KEY", VALUE.as_bytes());
        let read = home.ao(&["vault", "read", "STRIPE_KEY"]).expect(0);
        assert_eq!((read.stdout.as_str(), read.stderr.as_str()), (VALUE, ""));
        let refs = home.ao(&["vault", "refs"]).expect(0);
        assert_eq!(
            (refs.stdout.as_str(), refs.stderr.as_str()),
            ("STRIPE_KEY\nteam/db.password-2\n", "")
        );
        let refs = home.ao(&["--json", "vault", "refs"]).expect(0).json();
        assert_eq!(
            refs["names"][0],
            json!({ "name": "STRIPE_KEY", "reference": "vault://STRIPE_KEY" })
        );
        // Neither the value nor the name can be read in a file.
        assert!(files_with(&home.path(""), VALUE).is_empty());
        assert!(files_with(&home.path(""), "STRIPE_KEY").is_empty());
        // The second time nothing is made, and nothing is lost.
        let again = home.ao(&["vault", "init"]).expect(0);
        assert!(again.stdout.starts_with("Nothing changed"), "{again}");
        home.holds("STRIPE_KEY", VALUE.as_bytes());
        home.ao(&["vault", "rm", "STRIPE_KEY"]).expect(0);
        home.ao(&["vault", "read", "STRIPE_KEY"]).expect(2);
        home.ao(&["vault", "rm", "STRIPE_KEY"]).expect(2);
        home.holds("team/db.password-2", b"another value of the vault");
    }
}

#[test]
fn values_of_every_size_and_byte_are_kept_or_refused_with_the_reason() {
    let home = Home::new(User::This);
    let all: Vec<u8> = (0..=255).collect();
    let megabyte: Vec<u8> = all.iter().copied().cycle().take(1_000_000).collect();
    for value in [&all, &megabyte, &vec![b'x'; MIB], &b"eight by".to_vec()] {
        home.write("value", value).expect(0);
        home.holds("value", value);
    }
    let refused = [
        (Vec::new(), "the value is empty"),
        (b"\n".to_vec(), "the value is empty"),
        (b"seven b".to_vec(), "has 7 bytes"),
        (b"seven b\r\n".to_vec(), "could not be redacted"),
        // Line ends are not looked at when it is looked for.
        (b"a\n\n\n\n\n\n\n\n\nb".to_vec(), "has 2 bytes"),
        (vec![b'x'; MIB + 1], "more than 1 MiB"),
        (vec![b'x'; 3 * MIB], "more than 1 MiB"),
    ];
    for (value, why) in refused {
        let ran = home.write("value", &value).expect(2);
        assert!(ran.stderr.contains(why) && ran.stdout.is_empty(), "{ran}");
        home.holds("value", b"eight by");
    }
    // One line end goes, and only one; with --exact none does.
    home.write("value", b"line one\nline two\n\n").expect(0);
    home.holds("value", b"line one\nline two\n");
    Ran::of(home.fed(&["vault", "write", "--exact", "value"], b"line one\n")).expect(0);
    home.holds("value", b"line one\n");
}

#[test]
fn an_odd_name_is_refused_and_not_repeated() {
    let home = Home::new(User::This);
    let long = "x".repeat(129);
    for name in [
        "",
        "a b",
        "a\tb",
        "a\nb",
        "\u{1b}[31mred",
        "..",
        "a/../b",
        "a//b",
        "/a",
        ".hidden",
        "é",
        "a=b",
        "a\\b",
        "$(id)",
        "vault://",
        &long,
    ] {
        let ran = home.write(name, VALUE.as_bytes()).expect(2);
        assert!(ran.stderr.contains("no name of a secret"), "{ran}");
        assert!(name.is_empty() || name.len() < 4 || !ran.stderr.contains(name), "{ran}");
        home.ao(&["vault", "read", name]).expect(2);
    }
    assert_eq!(home.ao(&["vault", "refs"]).expect(0).stdout, "");
    for name in ["a", "A", "0", "a.b_c-d/e", &"x".repeat(128)] {
        home.write(name, format!("{VALUE}{name}").as_bytes()).expect(0);
        home.holds(name, format!("{VALUE}{name}").as_bytes());
    }
    let help = home.ao(&["vault", "write", "--help"]).expect(0);
    let words: Vec<_> = help.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("letters, digits and . _ - /"), "{help}");
}

#[test]
fn a_value_on_the_command_line_is_refused_and_not_repeated() {
    let home = Home::new(User::This);
    for arguments in [
        &["vault", "write", "KEY", VALUE][..],
        &["vault", "write", "KEY", "and", VALUE],
        &["--json", "vault", "write", "KEY", VALUE],
        &["vault", "write", VALUE_WITH_A_SIGN],
        &["vault", "run", KEY_AND_VALUE, "--", "true"],
        &["guard", "run", "--auth", HOST_AND_VALUE, "--", "true"],
    ] {
        let ran = home.ao(arguments).expect(2);
        assert!(!ran.stdout.contains(VALUE) && !ran.stderr.contains(VALUE), "{ran}");
        assert!(ran.stderr.contains("hint:"), "{ran}");
    }
    assert_eq!(home.ao(&["vault", "refs"]).expect(0).stdout, "");
}

#[test]
fn a_value_that_is_typed_as_a_name_is_not_repeated() {
    let home = Home::new(User::This);
    home.write("KEY", VALUE.as_bytes()).expect(0);
    for arguments in [
        &["vault", "read", VALUE][..],
        &["vault", "rm", VALUE],
        &["--json", "vault", "rm", VALUE],
        &["--dry-run", "vault", "rm", VALUE],
        &["--dry-run", "vault", "write", VALUE],
        &["vault", "write", VALUE],
        &["vault", "run", VALUE, "--", "true"],
    ] {
        let ran = Ran::of(home.fed(arguments, b"another value")).expect(2);
        assert!(!format!("{ran}").contains(VALUE), "{ran}");
    }
    assert_eq!(home.ao(&["vault", "refs"]).expect(0).stdout, "KEY\n");
}

const VALUE_WITH_A_SIGN: &str = "tok_live_9fQ2xVbR7mKpW4zLhT8c+";
const KEY_AND_VALUE: &str = "KEY=tok_live_9fQ2xVbR7mKpW4zLhT8c-"; // gitleaks:allow
const HOST_AND_VALUE: &str = "127.0.0.1:80=tok_live_9fQ2xVbR7mKpW4zLhT8c";

#[test]
fn a_dry_run_changes_nothing() {
    let home = Home::bare(User::This);
    home.ao(&["--dry-run", "vault", "init"]).expect(0);
    assert!(!home.identity().exists() && !home.vault().exists());
    home.ao(&["vault", "init"]).expect(0);
    home.write("KEY", VALUE.as_bytes()).expect(0);
    let before = (fs::read(home.identity()).unwrap(), fs::read(home.vault()).unwrap());
    for arguments in [
        &["--dry-run", "--json", "vault", "write", "KEY"][..],
        &["--dry-run", "--json", "vault", "rm", "KEY"],
        &["--dry-run", "--json", "vault", "rotate"],
        &["--dry-run", "--json", "vault", "init"],
        &["--dry-run", "--json", "vault", "run", "KEY", "--", "true"],
        &[
            "--dry-run",
            "--json",
            "guard",
            "run",
            "--auth",
            "127.0.0.1:80=vault://KEY",
            "--",
            "true",
        ],
    ] {
        let ran = home.ao(arguments).expect(0);
        assert_eq!(ran.json()["schema_version"], 1);
        assert!(!ran.stdout.contains(VALUE) && !ran.stderr.contains(VALUE), "{ran}");
    }
    assert_eq!((fs::read(home.identity()).unwrap(), fs::read(home.vault()).unwrap()), before);
    // The value is printed by itself or not at all.
    let ran = home.ao(&["--json", "vault", "read", "KEY"]).expect(2);
    assert!(!ran.stdout.contains(VALUE), "{ran}");
}

#[test]
fn the_files_can_be_elsewhere() {
    let home = Home::bare(User::This);
    let (key, vault) = (home.path("keys/k.txt"), home.path("data/v.age"));
    let options = ["--identity", key.to_str().unwrap(), "--vault", vault.to_str().unwrap()];
    let with = |command: &[&'static str]| [command, &options].concat();
    home.ao(&with(&["vault", "init"])).expect(0);
    Ran::of(home.fed(&with(&["vault", "write", "KEY"]), VALUE.as_bytes())).expect(0);
    assert!(key.exists() && vault.exists() && !home.identity().exists());
    home.ao(&["vault", "read", "KEY"]).expect(6);
    let home = home.variable("AO_VAULT_IDENTITY", options[1]).variable("AO_VAULT_FILE", options[3]);
    home.holds("KEY", VALUE.as_bytes());
    // With no home there is no place.
    let none = home.command(&["vault", "refs"]).env_clear().output().unwrap();
    assert_eq!(none.status.code(), Some(6));
}

/// Typed into a terminal of its own by a script that records all that is shown.
#[test]
fn what_is_typed_is_not_shown() {
    let home = Home::new(User::This);
    let script = "
import os,pty,sys,time,select,termios
name,typed=sys.argv[1],sys.argv[2].encode().decode('unicode_escape').encode('latin1')
pid,fd=pty.fork()
if pid==0: os.execv(sys.argv[3],['ao','vault','write',name])
shown=b''
def until(word):
  global shown
  while word not in shown:
    if not select.select([fd],[],[],20)[0]: sys.exit('nothing came: '+repr(shown))
    try: shown+=os.read(fd,4096)
    except OSError: break
until(b'not shown): ')
os.write(fd,typed)
try:
  while select.select([fd],[],[],20)[0]:
    part=os.read(fd,4096)
    if not part: break
    shown+=part
except OSError: pass
code=os.waitstatus_to_exitcode(os.waitpid(pid,0)[1])
sys.stdout.buffer.write(shown); sys.exit(code)";
    let type_in = |name: &str, typed: &str| {
        let mut python = std::process::Command::new("python3");
        python.env_clear().env("HOME", home.path("")).env("PATH", "/usr/bin:/bin");
        python.args(["-c", script, name, typed, env!("CARGO_BIN_EXE_ao")]).stdin(Stdio::null());
        Ran::of(python.output().unwrap())
    };
    let ran = type_in("KEY", &format!("{VALUE}\\n")).expect(0);
    assert!(ran.stdout.contains("Kept vault://KEY"), "{ran}");
    assert!(!contains(ran.stdout.as_bytes(), &VALUE[..4]), "{ran}");
    home.holds("KEY", VALUE.as_bytes());
    // Mistakes are taken back, and a line longer than the kernel's own is kept whole.
    type_in("KEY", &format!("wrong\\x15{VALUE}xyz\\x7f\\x7f\\x7f\\r")).expect(0);
    home.holds("KEY", VALUE.as_bytes());
    let long = "0123456789".repeat(1000);
    type_in("LONG", &format!("{long}\\n")).expect(0);
    home.holds("LONG", long.as_bytes());
    let ran = type_in("KEY", "something else\\x03").expect(1);
    assert!(ran.stdout.contains("interrupted"), "{ran}");
    home.holds("KEY", VALUE.as_bytes());
}
