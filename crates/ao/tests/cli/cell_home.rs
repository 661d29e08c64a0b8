//! A home is hidden as a whole, and what is shown of it is a list of leaves.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::cell::{Cells, User, give_to};
use crate::cell_places::folders;

/// Made by somebody who had not seen the lists.
const KINDS: &str = include_str!("../strangers/home-kinds.jsonl");
const TOOLCHAINS: &str = include_str!("../strangers/home-toolchains.jsonl");
const MARK: &str = "must-not-be-seen";
const LEAF: &str = "may-be-seen";
/// Longer than anything here takes.
const TIME: [&str; 2] = ["--time", "2m"];

/// A home, and a repository beside it, in every kind of place and for every kind of cell.
pub(crate) fn everywhere() -> Vec<Cells> {
    let at = |folder: &PathBuf| {
        [
            Cells::within(folder, User::This),
            Cells::within(folder, User::Ordinary),
            Cells::within(folder, User::Ordinary).in_tier_b(),
        ]
    };
    folders().iter().flat_map(at).collect()
}

/// A folder outside of the repository, which the commands own.
pub(crate) struct FolderBeside {
    pub(crate) dir: tempfile::TempDir,
}

impl FolderBeside {
    pub(crate) fn of(cells: &Cells) -> Self {
        let folder = cells.repo.root().parent().unwrap();
        let dir = tempfile::Builder::new().prefix("beside-").tempdir_in(folder).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["home", "sync"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Puts another file in the place of one, as an editor does.
    pub(crate) fn replace(&self, name: &str, text: &str) {
        let fresh = format!("{name}.fresh");
        self.write(&fresh, text);
        fs::rename(self.path(&fresh), self.path(name)).unwrap();
    }
}

/// Starts a script in a cell, does something outside when it runs, and lets it go on.
pub(crate) fn meanwhile(
    cells: &Cells,
    beside: &FolderBeside,
    options: &[&str],
    outside: impl FnOnce(),
    script: &str,
) -> Value {
    let sync = beside.path("sync");
    let script = format!(
        "S={}; echo x > $S/ready; while [ ! -e $S/go ]; do sleep 0.02; done\n{script}",
        sync.display()
    );
    let mut arguments = vec!["--json", "guard", "run", "--rw", sync.to_str().unwrap()];
    arguments.extend(TIME);
    arguments.extend(options);
    arguments.extend(["--", "/bin/sh", "-c", &script]);
    let mut child = cells.command(&arguments).env("HOME", beside.path("home")).spawn().unwrap();
    while !sync.join("ready").exists() {
        if child.try_wait().unwrap().is_some() {
            let output = child.wait_with_output().unwrap();
            panic!("it did not start: {}", String::from_utf8_lossy(&output.stdout));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    outside();
    give_to(cells, beside.dir.path());
    give_to(cells, cells.repo.root());
    fs::write(sync.join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stdout)))
}

pub(crate) fn text(answer: &Value) -> &str {
    answer["stdout"]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn paths(lines: &str) -> Vec<String> {
    let path = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        row["path"].as_str().unwrap().replace('*', "some")
    };
    lines.lines().map(path).collect()
}

/// Makes each path: a folder with a file in it where something lies beneath it, else a file.
fn furnish(home: &Path, all: &[String], says: &str) -> BTreeSet<String> {
    let mut made = BTreeSet::new();
    let is_folder = |path: &str| all.iter().any(|other| other.starts_with(&format!("{path}/")));
    for path in all {
        let file = if is_folder(path) { format!("{path}/in-it") } else { path.clone() };
        let whole = home.join(&file);
        fs::create_dir_all(whole.parent().unwrap()).unwrap();
        fs::write(whole, format!("{says} {path}\n")).unwrap();
        made.insert(file);
    }
    made
}

/// Every kind of secret that others have listed for a home, and everything that toolchains need of it.
#[test]
fn of_a_whole_home_only_leaves_are_read() {
    let kinds = paths(KINDS);
    // A toolchain is a folder, unless its name says that it is a file.
    let toolchains: Vec<String> = paths(TOOLCHAINS)
        .into_iter()
        .filter(|path| kinds.iter().all(|kind| kind != path))
        .map(|path| format!("{path}/tool"))
        .collect();
    assert!(kinds.len() > 600 && toolchains.len() > 150);
    for cells in everywhere() {
        let beside = FolderBeside::of(&cells);
        let home = beside.path("home");
        let mut made = furnish(&home, &kinds, MARK);
        made.extend(furnish(&home, &toolchains, LEAF));
        give_to(&cells, beside.dir.path());
        let list: Vec<String> =
            made.iter().map(|file| home.join(file).display().to_string()).collect();
        fs::write(cells.path("list"), list.join("\n") + "\n").unwrap();
        cells.settle();
        let script = format!(
            "while read -r f; do cat \"$f\"; done < list 2>/dev/null
             grep -rs . $HOME {home} 2>/dev/null; true",
            home = home.display()
        );
        let cells = cells.variable("HOME", home.to_str().unwrap());
        for options in [&[][..], &["--cow", "."]] {
            let ran = cells.sh(options, &script);
            if ran.code == 6 && !options.is_empty() {
                continue; // There is none in tier B.
            }
            let answer = ran.expect(0).json();
            let said = text(&answer);
            let seen: Vec<&str> = said.lines().filter(|line| line.contains(MARK)).collect();
            assert_eq!(seen, Vec::<&str>::new(), "{}", cells.repo.root().display());
            let leaves: BTreeSet<&str> =
                said.lines().filter_map(|line| Some(line.split_once(LEAF)?.1.trim())).collect();
            assert!(leaves.len() > 140, "{} of {}", leaves.len(), toolchains.len());
        }
    }
}

/// What was not there at the start, and what was put in the place of something that was.
#[test]
fn what_comes_to_a_home_while_a_cell_runs_is_not_read() {
    for cells in everywhere() {
        let beside = FolderBeside::of(&cells);
        for name in ["home/.claude.json", "home/.ssh/id", "home/.cargo/registry/crate"] {
            beside.write(name, &format!("{MARK} at the start\n"));
        }
        beside.write("home/.cargo/registry/crate", "a crate\n");
        give_to(&cells, beside.dir.path());
        let home = beside.path("home");
        let late = [
            ".git-credentials",
            ".netrc",
            ".npmrc",
            ".cargo/credentials.toml",
            ".aws/credentials",
            ".config/ao/identity.txt",
            ".local/share/opencode/auth.json",
            ".env",
        ];
        let outside = || {
            for name in late {
                beside.write(&format!("home/{name}"), MARK);
            }
            beside.replace("home/.claude.json", MARK);
            fs::rename(home.join(".ssh"), home.join(".ssh-old")).unwrap();
            beside.write("home/.ssh/id", MARK);
            fs::rename(home.join(".ssh-old"), home.join("plain")).unwrap();
        };
        let names: Vec<String> = late
            .iter()
            .chain(&[".claude.json", ".ssh/id", "plain/id"])
            .map(|name| home.join(name).display().to_string())
            .collect();
        let script = format!(
            "cat {names} 2>/dev/null; cd {home} 2>/dev/null && grep -rs . . ; cat {home}/.cargo/registry/crate",
            names = names.join(" "),
            home = home.display()
        );
        let answer = meanwhile(&cells, &beside, &[], outside, &script);
        assert!(!answer.to_string().contains(MARK), "{answer}");
        assert!(text(&answer).ends_with("a crate\n"), "{answer}");
    }
}

/// A variable may put keys anywhere, and `ao vault init` makes them there while a cell runs.
#[test]
fn keys_that_a_variable_has_put_elsewhere_are_not_read() {
    for identity in [None, Some("keys/identity.txt")] {
        for cells in everywhere() {
            keys_elsewhere(cells, identity);
        }
    }
}

fn keys_elsewhere(cells: Cells, identity: Option<&str>) {
    let beside = FolderBeside::of(&cells);
    for folder in ["configuration", "keys"] {
        fs::create_dir(beside.path(folder)).unwrap();
    }
    beside.write("codex/auth.json", MARK);
    beside.write("kube/config", MARK);
    beside.write("cargo/credentials.toml", MARK);
    beside.write("cargo/registry/crate", "a crate\n");
    give_to(&cells, beside.dir.path());
    let at = |name: &str| beside.path(name).to_str().unwrap().to_owned();
    let mut cells = cells
        .variable("XDG_CONFIG_HOME", &at("configuration"))
        .variable("XDG_DATA_HOME", &at("not-there-yet"))
        .variable("CODEX_HOME", &at("codex"))
        .variable("KUBECONFIG", &at("kube/config"))
        .variable("CARGO_HOME", &at("cargo"));
    if let Some(file) = identity {
        cells = cells.variable("AO_VAULT_IDENTITY", &at(file));
    }
    let made = at(identity.unwrap_or("configuration/ao/identity.txt"));
    let outside = || {
        let ran = cells.ao(&["vault", "init"]);
        // It makes none in a repository, where these tests may have been built.
        if ran.code == 5 && ran.stderr.contains("lies in the repository") {
            beside.write(made.strip_prefix(&at("")).unwrap(), MARK);
        } else {
            assert_eq!(ran.code, 0, "{ran}");
        }
        assert!(Path::new(&made).exists());
        beside.replace("kube/config", MARK);
        beside.write("codex/late.json", MARK);
        beside.write("not-there-yet/opencode/auth.json", MARK);
    };
    let late = ["codex/auth.json", "codex/late.json", "kube/config", "cargo/credentials.toml"];
    let late = late.iter().chain(&["not-there-yet/opencode/auth.json"]);
    let names: Vec<String> = late.map(|name| at(name)).chain([made.clone()]).collect();
    let script = format!("cat {} 2>/dev/null; cat {}", names.join(" "), at("cargo/registry/crate"));
    let answer = meanwhile(&cells, &beside, &[], outside, &script);
    let said = answer.to_string();
    assert!(!said.contains(MARK) && !said.contains("AGE-SECRET-KEY"), "{answer}");
    assert_eq!(text(&answer), "a crate\n", "{answer}");
}

#[test]
fn to_stand_in_a_place_of_secrets_does_not_show_it() {
    for cells in everywhere() {
        let beside = FolderBeside::of(&cells);
        for name in [".ssh/id", ".ssh/sub/id", ".config/gh/hosts.yml", ".unknown/x", ".netrc"] {
            beside.write(&format!("home/{name}"), MARK);
        }
        beside.write("home/notes/plain", "plain\n");
        // A repository there changes nothing.
        fs::create_dir(beside.path("home/.ssh/.git")).unwrap();
        give_to(&cells, beside.dir.path());
        for folder in [".ssh", ".ssh/sub", ".config", ".config/gh", ".unknown", "", "notes"] {
            let script = "cat id hosts.yml x gh/hosts.yml .netrc .ssh/id ../.netrc plain; ls -A";
            let mut command = cells.command(&["-q", "guard", "run", "--", "/bin/sh", "-c", script]);
            command.env("HOME", beside.path("home")).current_dir(beside.path("home").join(folder));
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(!said.contains(MARK), "{folder}: {said}");
            assert_eq!(said.contains("plain\n"), folder == "notes", "{folder}: {output:?}");
        }
        // The same where a variable has put it.
        let script = "cat gh/hosts.yml hosts.yml; true";
        for folder in ["", "gh"] {
            let elsewhere = beside.path("configuration");
            beside.write("configuration/gh/hosts.yml", MARK);
            give_to(&cells, beside.dir.path());
            let mut command = cells.command(&["-q", "guard", "run", "--", "/bin/sh", "-c", script]);
            command.env("HOME", beside.path("home")).env("XDG_CONFIG_HOME", &elsewhere);
            let output = command.current_dir(elsewhere.join(folder)).output().unwrap();
            assert!(output.status.success() && output.stdout.is_empty(), "{folder}: {output:?}");
        }
        // A copy of it is read, too.
        for folder in [".ssh", ".ssh/sub", ".config", ".config/gh"] {
            let mut command =
                cells.command(&["guard", "run", "--cow", ".", "--", "cat", "id", "hosts.yml"]);
            command.env("HOME", beside.path("home")).current_dir(beside.path("home").join(folder));
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{folder}: {output:?}");
            assert!(said.contains("--cow refused") && output.stdout.is_empty(), "{said}");
        }
        for refused in [".ssh", ".ssh/id", ".config", "", ".."] {
            let path = beside.path("home").join(refused);
            let mut command =
                cells.command(&["guard", "run", "--ro", path.to_str().unwrap(), "--", "true"]);
            let output = command.env("HOME", beside.path("home")).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{refused}: {output:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("--ro refused") && said.contains("name the folder"), "{said}");
        }
    }
}

/// What is not in a list is granted by name, and whoever does not know that is told.
#[test]
fn a_folder_of_the_home_is_granted_by_name() {
    for cells in everywhere() {
        let beside = FolderBeside::of(&cells);
        beside.write("home/tools/bin/say", "#!/bin/sh\n. ${0%/bin/say}/lib/words\n");
        beside.write("home/tools/lib/words", "echo said\n");
        let say = beside.path("home/tools/bin/say");
        fs::set_permissions(&say, fs::Permissions::from_mode(0o755)).unwrap();
        give_to(&cells, beside.dir.path());
        let tools = beside.path("home/tools").to_str().unwrap().to_owned();
        let cells = cells.variable("HOME", beside.path("home").to_str().unwrap());
        let say = say.to_str().unwrap();
        let ran = cells.ao(&["guard", "run", "--", say]);
        assert!(ran.code != 0 && ran.stderr.contains("--ro"), "{ran}");
        let ran = cells.ao(&["guard", "run", "--ro", &tools, "--", say]).expect(0);
        assert_eq!(ran.stdout, "said\n", "{ran}");
        let script = format!("echo x > {tools}/lib/words; rm {tools}/bin/say; true");
        cells.sh(&["--ro", &tools], &script).expect(0);
        assert_eq!(fs::read_to_string(format!("{tools}/lib/words")).unwrap(), "echo said\n");
    }
}

/// A toolchain can write what it likes, and nothing of it stays.
#[test]
fn a_toolchain_is_a_copy_that_is_thrown_away() {
    for folder in folders() {
        for user in [User::This, User::Ordinary] {
            let cells = Cells::within(&folder, user);
            let beside = FolderBeside::of(&cells);
            beside.write("home/.cargo/registry/crate", "a crate\n");
            beside.write("home/.cargo/credentials.toml", MARK);
            beside.write("home/.cache/pip/wheel", "a wheel\n");
            beside.write("home/go/pkg/mod/m/go.mod", "a module\n");
            beside.write("home/.gitconfig", "[user]\n\tname = Somebody\n");
            give_to(&cells, beside.dir.path());
            let home = beside.path("home");
            let cells = cells.variable("HOME", home.to_str().unwrap());
            let script = "set -e
                cat $CARGO_HOME/registry/crate $PIP_CACHE_DIR/wheel $GOMODCACHE/m/go.mod
                echo changed > $CARGO_HOME/registry/crate; rm $PIP_CACHE_DIR/wheel
                mkdir $GOMODCACHE/new; ln -s x $GOMODCACHE/link; touch $CARGO_HOME/.package-cache
                cat $HOME/.cargo/registry/crate; ls $HOME/.cache/pip | wc -l
                git config --global user.name; ls -A $CARGO_HOME | tr '\\n' ' '";
            let answer = cells.sh(&[], script).expect(0).json();
            let expected =
                "a crate\na wheel\na module\nchanged\n0\nSomebody\n.package-cache registry ";
            assert_eq!(text(&answer), expected, "{answer}");
            let read = |name: &str| fs::read_to_string(home.join(name)).unwrap();
            assert_eq!(read(".cargo/registry/crate"), "a crate\n");
            assert_eq!(read(".cache/pip/wheel"), "a wheel\n");
            assert!(!home.join("go/pkg/mod/new").exists());
            assert!(!home.join(".cargo/.package-cache").exists());
        }
    }
}

/// `.venv/bin/python` is a symlink out of the tree, and what lies beside it is found by its name.
#[test]
fn a_program_is_started_under_the_path_that_was_typed() {
    for cells in everywhere() {
        let beside = FolderBeside::of(&cells);
        beside.write("home/tools/tool-1", "#!/bin/sh\necho $0\n");
        let tool = beside.path("home/tools/tool-1");
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        symlink("tool-1", beside.path("home/tools/tool")).unwrap();
        fs::create_dir_all(cells.path(".venv/bin")).unwrap();
        symlink(beside.path("home/tools/tool"), cells.path(".venv/bin/python")).unwrap();
        give_to(&cells, beside.dir.path());
        cells.settle();
        let cells = cells.variable("HOME", beside.path("home").to_str().unwrap());
        for options in [&[][..], &["--cow", "."]] {
            let mut arguments = vec!["-q", "guard", "run"];
            arguments.extend(options);
            arguments.extend(["--", ".venv/bin/python"]);
            let ran = cells.ao(&arguments);
            if ran.code == 6 && !options.is_empty() {
                continue; // There is none in tier B.
            }
            let typed = cells.repo.root().canonicalize().unwrap().join(".venv/bin/python");
            assert_eq!(ran.expect(0).stdout, format!("{}\n", typed.display()));
        }
    }
}

/// A Python that was made in the project has the packages of the project.
#[test]
fn a_virtual_environment_has_its_packages() {
    for user in [User::This, User::Ordinary] {
        let cells = Cells::within(&folders()[0], user);
        let made = cells.command(&["--version"]).output().is_ok()
            && std::process::Command::new("/usr/bin/python3")
                .args(["-m", "venv", "--without-pip", ".venv"])
                .current_dir(cells.repo.root())
                .stdout(Stdio::null())
                .status()
                .is_ok_and(|status| status.success());
        if !made {
            println!("left out: there is no python3 with venv");
            return;
        }
        let library = fs::read_dir(cells.path(".venv/lib")).unwrap().next().unwrap().unwrap();
        fs::write(library.path().join("site-packages/own.py"), "print('own')\n").unwrap();
        cells.settle();
        for options in [&[][..], &["--cow", "."]] {
            let mut arguments = vec!["-q", "guard", "run"];
            arguments.extend(options);
            arguments.extend(["--", ".venv/bin/python", "-c", "import own"]);
            assert_eq!(cells.ao(&arguments).expect(0).stdout, "own\n");
        }
    }
}

/// The home that whoever runs the tests has, if it has a rustup in it.
fn home_with_rustup() -> Option<PathBuf> {
    let home = std::env::home_dir()?;
    let has = |name: &str| home.join(name).exists();
    (has(".cargo/bin/rustup") && has(".rustup/settings.toml")).then_some(home)
}

/// Whoever has rustup has a cargo that looks into the home for the real one. What was built outside is
/// fresh inside, as everything is found where it is outside.
#[test]
fn cargo_of_rustup_works_with_no_grant() {
    let Some(home) = home_with_rustup() else {
        println!("left out: there is no rustup in the home");
        return;
    };
    let folder = folders().pop().unwrap();
    let cells = Cells::within(&folder, User::This);
    let manifest =
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(cells.path("Cargo.toml"), manifest).unwrap();
    fs::create_dir(cells.path("src")).unwrap();
    fs::write(cells.path("src/lib.rs"), "#[test]\nfn one() {\n    assert_eq!(1, 1);\n}\n").unwrap();
    let path = format!("{}:/usr/bin:/bin", home.join(".cargo/bin").display());
    let mut outside = std::process::Command::new(home.join(".cargo/bin/cargo"));
    outside.args(["build", "-q", "--offline"]).current_dir(cells.repo.root());
    outside.env_clear().env("HOME", &home).env("PATH", &path);
    assert!(outside.status().unwrap().success());
    for (words, says) in [(["build", "-v"], "Fresh small"), (["test", "-q"], "1 passed")] {
        let mut arguments = vec!["--json", "guard", "run", "--cow", ".", "--", "cargo", words[0]];
        arguments.extend([words[1], "--offline"]);
        let output = cells.command(&arguments).env("HOME", &home).env("PATH", &path).output();
        let ran = crate::repo::Ran::of(output.unwrap()).expect(0);
        assert!(ran.stdout.contains(says), "{ran}");
    }
}

/// What programs and people keep in the folder of a toolchain, although it is a login.
const IN_TOOLCHAINS: [&str; 28] = [
    ".nvm/.npmrc",
    ".nvm/versions/node/v20.1.0/etc/npmrc",
    ".fnm/node-versions/v20.1.0/installation/etc/npmrc",
    ".volta/tools/image/node/20.1.0/etc/npmrc",
    ".asdf/installs/nodejs/20.1.0/etc/npmrc",
    ".asdf/installs/python/3.12.1/pip.conf",
    ".local/share/mise/installs/node/20.1.0/etc/npmrc",
    ".local/share/pnpm/auth.ini",
    ".local/share/pypoetry/auth.toml",
    ".pyenv/.env",
    ".pyenv/versions/3.12.1/pip.conf",
    ".pyenv/versions/3.12.1/etc/jupyter/jupyter_server_config.json",
    ".rbenv/versions/3.3.0/etc/gemrc",
    ".virtualenvs/app/bin/postactivate",
    ".virtualenvs/app/pip.conf",
    ".virtualenvs/postactivate",
    "miniconda3/.condarc",
    "miniconda3/envs/app/conda-meta/state",
    "miniconda3/envs/app/etc/conda/activate.d/env_vars.sh",
    ".conda/envs/app/conda-meta/state",
    ".cache/pre-commit/repo1/.git/config",
    ".cargo/git/db/some-1/FETCH_HEAD",
    ".linuxbrew/etc/npmrc",
    ".oh-my-zsh/custom/own.zsh",
    "R/.Renviron",
    "R/analysis/.env",
    "sdk/some-cloud/key.json",
    ".cache/bazel/_bazel_me/1234/execroot/.env",
];
/// What lies beside these, and is needed.
const BESIDE_THEM: [&str; 12] = [
    ".nvm/versions/node/v20.1.0/bin/node",
    ".nvm/nvm.sh",
    ".asdf/installs/nodejs/20.1.0/lib/x.js",
    ".pyenv/versions/3.12.1/lib/os.py",
    ".virtualenvs/app/bin/python",
    ".virtualenvs/app/pyvenv.cfg",
    "miniconda3/envs/app/conda-meta/history",
    "miniconda3/envs/app/etc/conda/activate.d/gcc.sh",
    ".cache/pre-commit/repo1/py_env/bin/tool",
    ".cargo/git/db/some-1/HEAD",
    "R/x86_64-pc-linux-gnu-library/4.3/x/DESCRIPTION",
    "sdk/go1.22.1/bin/go",
];

#[test]
fn logins_in_the_folder_of_a_toolchain_are_not_read() {
    for cells in everywhere() {
        let beside = FolderBeside::of(&cells);
        let home = beside.path("home");
        // A second time each comes while the cell runs.
        for is_late in [false, true] {
            for name in BESIDE_THEM {
                beside.write(&format!("home/{name}"), LEAF);
            }
            let put = || {
                for name in IN_TOOLCHAINS {
                    beside.write(&format!("home/{name}"), MARK);
                }
            };
            for name in IN_TOOLCHAINS {
                fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
                let _ = fs::remove_file(home.join(name));
            }
            if !is_late {
                put();
            }
            give_to(&cells, beside.dir.path());
            let list = |names: &[&str]| {
                let all = names.iter().map(|name| home.join(name).display().to_string());
                all.collect::<Vec<_>>().join(" ")
            };
            let script = format!(
                "cat {secret} 2>/dev/null; grep -rs {MARK} {home}
                for f in {needed}; do test \"$(cat $f)\" = {LEAF} || echo without $f; done",
                secret = list(&IN_TOOLCHAINS),
                needed = list(&BESIDE_THEM),
                home = home.display(),
            );
            let answer = meanwhile(
                &cells,
                &beside,
                &[],
                || {
                    if is_late {
                        put();
                    }
                },
                &script,
            );
            assert_eq!(text(&answer), "", "late: {is_late}: {answer}");
            let _ = fs::remove_file(beside.path("sync/ready"));
            let _ = fs::remove_file(beside.path("sync/go"));
        }
    }
}

/// A configuration that programs need is shown, unless somebody has put a login into it.
#[test]
fn a_configuration_with_a_login_in_it_is_not_read() {
    let cells = Cells::within(&folders()[0], User::Ordinary);
    let beside = FolderBeside::of(&cells);
    let cells = cells.variable("HOME", beside.path("home").to_str().unwrap());
    let plain =
        "[user]\n\tname = Somebody\n\tsigningkey = 0123456789ABCDEF0123456789ABCDEF01234567\n";
    for (added, is_shown) in [
        ("[credential]\n\thelper = store\n", true),
        ("[sendemail]\n\tsmtpPass = must-not-be-seen\n", false),
        ("[github]\n\toauth = must-not-be-seen\n", false),
        ("[some]\n\tid = ghp_0123456789mustnotbeseen0123456789\n", false),
        ("[http]\n\textraHeader = \"Cookie: must-not-be-seen\"\n", false),
    ] {
        beside.write("home/.gitconfig", &format!("{plain}{added}"));
        give_to(&cells, beside.dir.path());
        let script =
            format!("cat {}/.gitconfig $HOME/.gitconfig; true", beside.path("home").display());
        let answer = cells.sh(&[], &script).expect(0).json();
        assert!(!text(&answer).contains(MARK), "{added}: {answer}");
        assert_eq!(text(&answer).contains("Somebody"), is_shown, "{added}: {answer}");
    }
}

/// The commits of a linked worktree lie with another checkout, in a home that is hidden. A file that only
/// says so shows nothing.
#[test]
fn a_linked_worktree_has_its_commits() {
    for cells in everywhere() {
        let beside = FolderBeside::of(&cells);
        let home = beside.path("home");
        for name in ["main/a", "main/.env", "other/plain", "forged/a"] {
            beside.write(&format!("home/code/{name}"), MARK);
        }
        let git = |arguments: &[&str]| {
            let mut command = std::process::Command::new("git");
            command.current_dir(home.join("code/main")).env("HOME", &home).args(arguments);
            command.env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(command.output().unwrap().status.success(), "{arguments:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "a"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "the first"]);
        git(&["worktree", "add", "-q", "../side"]);
        beside.write("home/code/forged/.git", "gitdir: ../main/.git/worktrees/side\n");
        give_to(&cells, beside.dir.path());
        let run = |folder: &str, options: &[&str], script: &str| {
            let mut arguments = vec!["-q", "guard", "run"];
            arguments.extend(options);
            arguments.extend(["--", "/bin/sh", "-c", script]);
            let mut command = cells.command(&arguments);
            command.env("HOME", &home).current_dir(home.join("code").join(folder));
            crate::repo::Ran::of(command.output().unwrap())
        };
        let script = "git log --format=%s; git diff --stat HEAD; echo x > ../main/.git/x; cat ../main/a ../main/.env ../other/plain";
        for options in [&[][..], &["--cow", "."]] {
            let ran = run("side", options, script);
            if ran.code == 6 && !options.is_empty() {
                continue; // There is none in tier B.
            }
            assert_eq!(ran.stdout, "the first\n", "{ran}");
            assert!(!home.join("code/main/.git/x").exists(), "{ran}");
        }
        let ran = run("forged", &[], "git log --format=%s; ls ../main/.git");
        assert_eq!(ran.stdout, "", "{ran}");
    }
}
