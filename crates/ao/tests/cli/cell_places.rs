//! A repository in a folder that the cell has of its own, and one that it sees where it is.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::stat::{Mode, SFlag, makedev, mknod};

use crate::cell::{Cells, User, is_for_all, is_root, writes};

const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Where only root can make a folder.
const OPEN: &str = "/var/lib/ao-cells";

/// One that no cell replaces, wherever these tests were built.
fn open_folder() -> Option<PathBuf> {
    let built = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    if is_for_all(&built) && !PRIVATE.iter().any(|private| built.starts_with(private)) {
        return Some(built);
    }
    fs::create_dir_all(OPEN).is_ok().then(|| OPEN.into())
}

/// Of each kind.
#[expect(clippy::print_stdout, reason = "what was not tried is said")]
pub(crate) fn folders() -> Vec<PathBuf> {
    let open = open_folder();
    if open.is_none() {
        println!("left out: there is no folder that no cell replaces");
    }
    [PathBuf::from("/tmp"), PathBuf::from("/var/tmp")]
        .into_iter()
        .filter(|folder| folder.is_dir())
        .chain(open)
        .collect()
}

fn everywhere() -> Vec<Cells> {
    let at = |folder: &PathBuf| {
        [
            Cells::within(folder, User::This),
            Cells::within(folder, User::Ordinary),
            Cells::within(folder, User::Ordinary).in_tier_b(),
        ]
    };
    folders().iter().flat_map(at).collect()
}

/// What others have open in a tree.
struct Special {
    pipe: File,
    socket: UnixListener,
    has_device: bool,
}

impl Special {
    fn make(cells: &Cells) -> Self {
        let pipe = cells.path("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        let pipe = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(pipe).unwrap();
        let socket = UnixListener::bind(cells.path("socket")).unwrap();
        socket.set_nonblocking(true).unwrap();
        let device = cells.path("device");
        let is_made = mknod(&device, SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 5)).is_ok();
        let has_device = is_made && File::options().write(true).open(device).is_ok();
        cells.settle();
        Self { pipe, socket, has_device }
    }

    /// What came through to somebody.
    fn came(&mut self, said: &str) -> Vec<&'static str> {
        let mut bytes = [0; 64];
        let mut came = Vec::new();
        if self.pipe.read(&mut bytes).unwrap_or(0) > 0 {
            came.push("pipe");
        }
        if self.socket.accept().is_ok() {
            came.push("socket");
        }
        if self.has_device && said.contains("device taken") {
            came.push("device");
        }
        came
    }
}

const WRITE_ALL: &str = "
    (exec 3<>pipe && echo x >&3) 2>/dev/null
    (echo x > device) 2>/dev/null && echo device taken
    head -c 1 device > /dev/null 2>&1 && echo device given
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"socket\")' 2>/dev/null
    true";

/// A mount that is read-only does not stop writing into any of the three.
#[test]
fn what_others_have_open_in_a_shown_tree_is_not_reached() {
    for cells in everywhere() {
        let mut special = Special::make(&cells);
        let mut free = Command::new("/bin/sh");
        free.args(["-c", WRITE_ALL]).current_dir(cells.repo.root());
        let said = String::from_utf8(free.output().unwrap().stdout).unwrap();
        let mut all = vec!["pipe", "socket"];
        all.extend(special.has_device.then_some("device"));
        assert_eq!(special.came(&said), all, "without a cell");
        for options in [&["--rw", "out"][..], &[], &["--cow", "."]] {
            let ran = cells.sh(options, WRITE_ALL);
            if ran.code == 6 && options.contains(&"--cow") {
                continue; // There is none in tier B.
            }
            let answer = ran.expect(0).json();
            let said = answer["stdout"]["text"].as_str().unwrap();
            let is_given = special.has_device && said.contains("device given");
            assert!(!is_given || answer["tier"] == "B", "{answer}");
            let came = special.came(said);
            assert_eq!(came, Vec::<&str>::new(), "{} {options:?}", cells.repo.root().display());
        }
    }
}

/// Programs write into the folders for temporary files whatever `TMPDIR` says.
#[test]
fn temporary_files_are_made_wherever_the_repository_is() {
    let script = "
        set -e
        for folder in /tmp /var/tmp /dev/shm $TMPDIR $HOME; do
            echo x > $folder/direct; mkdir $folder/sub; mv $folder/direct $folder/sub/moved; rm -r $folder/sub
        done
        ln -s here $TMPDIR/link; mkfifo $TMPDIR/pipe; ln -s here $HOME/link
        cat kept.txt";
    for folder in folders() {
        for user in [User::This, User::Ordinary] {
            let cells = Cells::within(&folder, user);
            for options in [&["--rw", "out"][..], &[], &["--cow", "."]] {
                let answer = cells.sh(options, script).expect(0).json();
                assert_eq!(answer["stdout"]["text"], "kept\n", "{answer}");
            }
            assert!(!Path::new("/tmp/sub").exists());
        }
    }
}

/// A repository may lie where the cell would have its own folders.
#[test]
fn the_folders_of_a_cell_are_nobody_elses() {
    let script = "
        echo x > $HOME/x && ln -s x $HOME/link && ln -s x $TMPDIR/link && ln -s x out/link
        ls -A $HOME $TMPDIR | grep -c cells- ; cat kept.txt";
    for name in ["home", "own"] {
        let folder = Path::new("/tmp").join(name);
        let is_new = fs::create_dir(&folder).is_ok();
        let cells = Cells::within(&folder, User::This);
        let answer = cells.sh(&["--rw", "out"], script).expect(0).json();
        assert_eq!(answer["stdout"]["text"], "0\nkept\n", "{answer}");
        assert_eq!(fs::read_dir(cells.path("out")).unwrap().count(), 0);
        drop(cells);
        if is_new {
            // Somebody else may use it by now.
            let _ = fs::remove_dir(folder);
        }
    }
}

const PLANT: &str = "
    ln -s ../kept.txt $TMPDIR/link || exit 9
    ln -s ../kept.txt out/link; mkfifo out/pipe; cp -P $TMPDIR/link out/copied; mv $TMPDIR/link out/moved; mv out/old out/renamed; ln -P out/old out/second
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"out/socket\")'
    echo plain > out/plain; mkdir out/folder; true";

/// A symlink, a pipe or a socket that is planted among files of the user leads the next one who writes there
/// to somewhere else.
// proves: EXE-04
#[test]
fn nothing_that_leads_away_is_made_among_files_of_the_user() {
    for cells in everywhere() {
        std::os::unix::fs::symlink("../kept.txt", cells.path("out/old")).unwrap();
        cells.settle();
        cells.sh(&["--rw", "out"], PLANT).expect(0);
        let mut names: Vec<_> = fs::read_dir(cells.path("out"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["folder", "old", "plain"], "{}", cells.repo.root().display());
        assert!(fs::symlink_metadata(cells.path("out/plain")).unwrap().is_file());
    }
}

/// What is judged before it is taken over may have all of it.
#[test]
fn links_and_pipes_are_made_in_a_copy() {
    for folder in folders() {
        let cells = Cells::within(&folder, User::Ordinary);
        let script = "ln -s ../kept.txt out/link && mkfifo out/pipe && mv out/link out/moved";
        let answer = cells.sh(&["--cow", "."], script).expect(0).json();
        let names: Vec<_> = writes(&answer).into_iter().map(|(path, _)| path).collect();
        assert!(names[0].ends_with("out/moved") && names[1].ends_with("out/pipe"), "{answer}");
        assert_eq!(fs::read_dir(cells.path("out")).unwrap().count(), 0);
        assert!(!is_root() || cells.path("kept.txt").exists());
    }
}
