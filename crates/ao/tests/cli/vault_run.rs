//! `ao vault run`: the value is in the granted variable, and nowhere else.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::cell::{User, is_root};
use crate::repo::wait_until;
use crate::vault::{Home, VALUE, contains, files_with};

/// As the kernel names them: a shell by the file that it is.
const COMMANDS: [&str; 4] = ["sh\n", "dash\n", "bash\n", "sleep\n"];

fn homes() -> [Home; 3] {
    [
        Home::new(User::This),
        Home::new(User::Ordinary),
        Home::new(User::Ordinary).variable("AO_CELL_TEST_TIER", "B"),
    ]
}

fn with_key(home: &Home) {
    home.write("KEY", VALUE.as_bytes()).expect(0);
    home.write("OTHER", b"a value that was not granted").expect(0);
}

#[test]
fn a_command_gets_what_was_granted_and_no_more() {
    for home in homes() {
        with_key(&home);
        let run = |granted: &[&str], script: &str| {
            let command = ["--", "/bin/sh", "-c", script];
            home.ao(&[&["--quiet", "vault", "run"], granted, &command].concat())
        };
        // It has the value, and can only say it in a way of its own.
        let ran = run(&["KEY"], "printenv KEY; printenv KEY | tr a-z A-Z").expect(0);
        assert_eq!(ran.stdout, format!("***REDACTED***\n{}\n", VALUE.to_uppercase()), "{ran}");
        let script = "echo \"$API\" | tr a-z A-Z; printenv KEY; printenv OTHER; env | grep -c granted; exit 7";
        let ran = run(&["KEY=API"], script).expect(7);
        assert_eq!(ran.stdout, format!("{}\n0\n", VALUE.to_uppercase()), "{ran}");
        let ran = run(&["KEY=A", "OTHER=B"], "echo $A $B | tr a-z A-Z").expect(0);
        let both = format!("{VALUE} a value that was not granted\n").to_uppercase();
        assert_eq!(ran.stdout, both, "{ran}");
        let json = home.ao(&["--json", "vault", "run", "KEY", "--", "true"]).expect(0).json();
        assert_eq!(json["command"], "vault run");
    }
}

#[test]
fn without_its_value_nothing_is_started() {
    let home = Home::new(User::This);
    with_key(&home);
    home.write("LONG", &vec![b'x'; 200_000]).expect(0);
    home.write("ZERO", b"a byte \0 in it").expect(0);
    let run = |name: &str| home.ao(&["vault", "run", name, "--", "echo", "started"]);
    for (name, code) in [
        ("NOBODY", 2),
        ("LONG", 2),
        ("ZERO", 2),
        ("KEY=HOME", 2),
        ("KEY=LD_PRELOAD", 2),
        ("KEY=AO_NET", 2),
        ("KEY=a b", 2),
    ] {
        let ran = run(name).expect(code);
        assert!(ran.stdout.is_empty(), "{ran}");
    }
    fs::remove_file(home.identity()).unwrap();
    assert!(run("KEY").expect(6).stdout.is_empty());
}

// proves: SCO-10
#[test]
fn in_a_cell_the_vault_is_not_opened() {
    for home in homes() {
        with_key(&home);
        let (identity, vault) = (home.identity(), home.vault());
        let script = format!(
            "{ao} vault read KEY; echo $?; {ao} vault refs; echo $?; unset AO_CELL; {ao} vault read KEY; echo $?; \
             cat {} {}; {ao} vault init; echo $?",
            identity.display(),
            vault.display(),
            ao = crate::cell::binary_for_all().display(),
        );
        for directory in [home.path("work"), home.path(".config/ao"), home.path(".local/share/ao")]
        {
            let run = |script: &str| {
                let mut command =
                    home.command(&["--json", "guard", "run", "--", "/bin/sh", "-c", script]);
                // In tier B a program is found only where programs are.
                let programs = crate::cell::binary_for_all().parent().unwrap();
                command.env("PATH", format!("/usr/bin:/bin:{}", programs.display()));
                command.current_dir(&directory).output().unwrap()
            };
            // A program in a folder for temporary files is not there in a cell.
            let look = format!("{} --version", crate::cell::binary_for_all().display());
            if run(&look).status.code() != Some(0) {
                eprintln!("left out: the program cannot be seen in a cell");
                continue;
            }
            let output = run(&script);
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let said = answer["stdout"]["text"].as_str().unwrap();
            assert_eq!(said.lines().count(), 4, "{answer}");
            assert!(said.starts_with("6\n6\n") && !said.contains("AGE-SECRET"), "{answer}");
            assert!(!contains(&output.stdout, VALUE), "{answer}");
            assert!(
                answer["stderr"]["text"].as_str().unwrap().contains("not opened in one"),
                "{answer}"
            );
        }
        // Nor can it be named as a place to write.
        for file in [&identity, &vault] {
            let path = file.to_str().unwrap();
            let ran = home.ao(&["guard", "run", "--rw", path, "--", "cat", path]).expect(2);
            assert!(ran.stderr.contains("path-held"), "{ran}");
        }
    }
}

/// Where a process comes from.
fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// All that come from a process, itself left out.
pub(crate) fn descendants(root: u32) -> Vec<u32> {
    let all = processes();
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let above = found[at];
        found.extend(all.iter().copied().filter(|pid| parent(*pid) == Some(above)));
        at += 1;
    }
    found.split_off(1)
}

/// Ended with the test, however that ends.
pub(crate) struct Started(Child);

impl Started {
    pub(crate) fn new(home: &Home, arguments: &[&str]) -> Self {
        Self::of(home.command(arguments))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn stdout(&mut self) -> ChildStdout {
        self.0.stdout.take().unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: Command, mark: &str) -> Started {
    let child = Started::of(command);
    let has_mark = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with(b"sleep\0") && contains(&line, mark)
    };
    wait_until("the command runs", || descendants(child.id()).iter().any(has_mark));
    child
}

// proves: SCO-08
#[test]
fn while_it_runs_the_value_is_in_one_environment_and_no_file() {
    for (home, mark) in homes().into_iter().zip(["7101", "7102", "7103"]) {
        // No other test has this one.
        let value = format!("{VALUE}-{mark}");
        home.write("KEY", value.as_bytes()).expect(0);
        let script = format!("sleep {mark}; true");
        let arguments = ["--json", "vault", "run", "KEY=API", "--", "/bin/sh", "-c", &script];
        let child = start(home.command(&arguments), mark);
        let ours = descendants(child.id());
        let mut holders = 0;
        for pid in processes() {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            assert!(!contains(&read("cmdline"), &value), "{pid}");
            if contains(&read("environ"), &value) {
                let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
                assert!(ours.contains(&pid) && COMMANDS.contains(&name.as_str()), "{name}");
                holders += 1;
            }
        }
        // The shell and what it started. That it was found says that the others were looked at.
        if is_root() {
            assert_eq!(holders, 2);
        }
        assert_eq!(files_with(&home.path(""), &value), Vec::<std::path::PathBuf>::new());
    }
}

/// Where the kernel writes cores on this machine: a name in the folder of who ended, or elsewhere.
fn leaves_cores_here() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("prlimit");
    shell.args(["--core=unlimited:unlimited", "/bin/sh", "-c", "kill -ABRT $$"]);
    let _ = shell.current_dir(folder.path()).status();
    fs::read_dir(folder.path()).unwrap().count() > 0
}

/// Whoever holds a value leaves no core, and lets nobody of the same user look in.
// proves: SCO-08
#[test]
fn no_process_that_holds_a_value_leaves_a_core() {
    for (home, mark) in homes().into_iter().zip(["7201", "7202", "7203"]) {
        with_key(&home);
        fs::create_dir(home.path("work/out")).unwrap();
        home.settle();
        let script = format!("cd out; sleep {mark}; true");
        let arguments = ["vault", "run", "--rw", "out", "KEY=API", "--", "/bin/sh", "-c", &script];
        // By themselves, as the end of one kind is the end of the other.
        for are_commands in [true, false] {
            // Whoever starts it allows cores of every size, where that is allowed.
            let cores = ["prlimit", "--core=unlimited:unlimited"];
            let may = home.wrapped(&cores, &["--version"]).output().unwrap().status.success();
            let cores: &[&str] = if may { &cores } else { &["env"] };
            let child = start(home.wrapped(cores, &arguments), mark);
            let mut all = descendants(child.id());
            all.push(child.id());
            assert!(all.len() >= 4, "{all:?}");
            all.retain(|pid| keeps_it(*pid) == are_commands);
            for pid in &all {
                let pid = nix::unistd::Pid::from_raw(i32::try_from(*pid).unwrap());
                let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGABRT);
            }
            wait_until("they have ended", || all.iter().all(|pid| !is_at_work(*pid)));
            drop(child);
            // Where cores go to a program or to another folder, the bounds are what can be seen.
            if leaves_cores_here() {
                let mut there = names(&home.path("work"));
                there.extend(names(&home.path("work/out")));
                // The name that a run takes in a writable folder; the next one gives it back.
                there.retain(|name| name != ".git");
                assert_eq!(there, ["out"]);
            }
            assert!(files_with(&home.path(""), VALUE).is_empty());
        }
    }
}

/// A process keeps what it knows from cores and from others; says whether it is of the command.
fn keeps_it(pid: u32) -> bool {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let numbers: Vec<_> = line.split_whitespace().skip(4).take(2).collect();
    let is_none = |number: &&str| ["0", "1"].contains(number);
    assert!(numbers.iter().all(is_none), "{pid}: {line}");
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    // The kernel gives what cannot be dumped to root. The command itself can be: it is what was granted.
    let is_command = COMMANDS.contains(&name.as_str());
    let owner = fs::metadata(format!("/proc/{pid}/environ")).unwrap().uid();
    assert!(is_command || owner == 0, "{pid} {name}");
    is_command
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Neither gone nor only waited for.
fn is_at_work(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
