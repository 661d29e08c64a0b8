//! Keys and locks, wherever a home or a repository lies and whatever was named in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cell::{Cells, User, give_to, is_root};

/// A folder that was named in what is hidden is seen, and nothing beside it.
#[test]
fn what_lies_beside_a_folder_that_was_named_stays_hidden() {
    for cells in [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()] {
        fs::create_dir(cells.path(".ssh/sub")).unwrap();
        fs::write(cells.path(".ssh/sub/mine"), "mine\n").unwrap();
        cells.settle();
        let script = "cat .ssh/sub/mine .ssh/id; ls .ssh";
        let answer = cells.sh(&["--rw", ".ssh/sub"], script).json();
        let text = answer["stdout"]["text"].as_str().unwrap();
        assert!(text.starts_with("mine\n") && !text.contains("secret"), "{answer}");
        assert!(!text.contains("id"), "{answer}");
        // To stand in it is not to name it.
        let mut command = cells.command(&["guard", "run", "--", "cat", "mine", "../id"]);
        let ran = command.current_dir(cells.path(".ssh/sub")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "", "{ran:?}");
    }
}

/// Tier B lists what may be read; folders of the system are read as a whole only if nothing hidden is
/// in them.
#[test]
fn a_home_and_a_repository_in_a_folder_of_the_system_are_no_exception() {
    if !is_root() {
        // Nobody else can make one there.
        return;
    }
    fs::create_dir_all("/opt").unwrap();
    let place = tempfile::Builder::new().prefix("ao-cells-").tempdir_in("/opt").unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for folder in ["home/.ssh", "repo/.agents/overnight"] {
        fs::create_dir_all(place.path().join(folder)).unwrap();
    }
    fs::write(place.path().join("home/.ssh/id"), "secret\n").unwrap();
    fs::write(place.path().join("repo/.agents/overnight/run.lock"), "locked\n").unwrap();
    fs::write(place.path().join("repo/plain"), "plain\n").unwrap();
    for cells in [Cells::new(User::Ordinary), Cells::tier_b()] {
        give_to(&cells, place.path());
        let files = ["plain", ".agents/overnight/run.lock", "../home/.ssh/id"];
        let mut command =
            cells.command(&["guard", "run", "--", "cat", files[0], files[1], files[2]]);
        command.current_dir(place.path().join("repo")).env("HOME", place.path().join("home"));
        let ran = command.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "plain\n", "{ran:?}");
    }
}

/// The keys are in the home that the system knows, also if nobody says where that is.
#[test]
fn a_home_that_the_environment_does_not_name_is_hidden_too() {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).unwrap();
    let home = user.expect("whoever runs the tests has a home").dir;
    let cells = Cells::new(User::This);
    let keys = home.canonicalize().unwrap().to_str().unwrap().to_owned();
    for named in [None, Some(cells.repo.root())] {
        let mut command = cells.command(&["--json", "--dry-run", "guard", "run", "--", "true"]);
        match named {
            Some(home) => command.env("HOME", home),
            None => command.env_remove("HOME"),
        };
        let answer: serde_json::Value =
            serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        let hidden = answer["hidden"].as_array().unwrap();
        assert!(hidden.iter().any(|path| path == keys.as_str()), "{answer}");
        let mut command =
            cells.command(&["guard", "run", "--rw", home.to_str().unwrap(), "--", "true"]);
        let ran = command.env_remove("HOME").output().unwrap();
        assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    }
}
