//! Looking for programs where a repository cannot plant one.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ao_guard::{find_program, trusted_path};

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        for dir in ["repo/bin", "system/bin", "other/bin", "repository/bin"] {
            fs::create_dir_all(world.at(dir)).unwrap();
        }
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    fn plant(&self, path: &str, mode: u32) {
        fs::write(self.at(path), "#!/bin/sh\n").unwrap();
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn path(&self, entries: &[&str]) -> OsString {
        std::env::join_paths(entries.iter().map(|entry| self.at(entry))).unwrap()
    }

    fn find(&self, path: &OsString) -> Option<PathBuf> {
        find_program("bd", path, &self.at("repo")).ok()
    }
}

#[test]
fn the_first_that_can_be_executed_is_taken() {
    let world = World::new();
    world.plant("system/bin/bd", 0o644);
    fs::create_dir(world.at("repository/bin/bd")).unwrap();
    let path = world.path(&["nowhere", "system/bin", "repository/bin", "other/bin"]);
    assert_eq!(world.find(&path), None);
    world.plant("other/bin/bd", 0o755);
    assert_eq!(world.find(&path), Some(world.at("other/bin/bd")));
    world.plant("system/bin/bd", 0o711);
    assert_eq!(world.find(&path), Some(world.at("system/bin/bd")));
    assert_eq!(
        find_program("bd", &OsString::new(), &world.at("repo")).unwrap_err().passed_over,
        None
    );
}

// threat 43
#[test]
fn nothing_of_the_repository_is_taken_by_whatever_way() {
    let world = World::new();
    world.plant("repo/bin/bd", 0o755);
    symlink(world.at("repo/bin"), world.at("sly")).unwrap();
    symlink(world.at("repo/bin/bd"), world.at("other/bin/bd")).unwrap();
    // A link in the repository that leads out of it was put there by the repository too.
    world.plant("system/bin/tool", 0o755);
    fs::create_dir(world.at("repo/links")).unwrap();
    symlink(world.at("system/bin/tool"), world.at("repo/links/bd")).unwrap();
    for way in [
        "repo/bin",
        "sly",
        "other/bin",
        "repo/links",
        "system/../repo/bin",
        "repository/../repo/bin",
    ] {
        let refused = find_program("bd", &world.path(&[way]), &world.at("repo")).unwrap_err();
        assert_eq!(refused.passed_over, Some(world.at(way).join("bd")), "{way}");
        assert!(refused.to_string().contains("belongs to the repository"), "{refused}");
    }
    // A repository that is itself reached by a link is the same repository.
    symlink(world.at("repo"), world.at("alias")).unwrap();
    let by_alias = find_program("bd", &world.path(&["repo/bin"]), &world.at("alias"));
    assert!(by_alias.is_err());
    // A neighbour with a longer name is not in it.
    world.plant("repository/bin/bd", 0o755);
    let path = world.path(&["repo/bin", "sly", "repository/bin"]);
    assert_eq!(world.find(&path), Some(world.at("repository/bin/bd")));
    assert_eq!(trusted_path(&path, &world.at("repo")), world.path(&["repository/bin"]));
}

#[test]
fn only_absolute_entries_and_plain_names_count() {
    let world = World::new();
    let here = std::env::current_dir().unwrap();
    assert!(here.join("Cargo.toml").is_file());
    for path in ["", ".", ":", "src:tests", "./src"] {
        assert_eq!(trusted_path(path.as_ref(), &world.at("repo")), "", "{path:?}");
    }
    let path = OsString::from("/usr/bin:/bin");
    assert!(find_program("sh", &path, &world.at("repo")).is_ok());
    for name in ["", ".", "..", "../bin/sh", "./sh", "sh/"] {
        assert!(find_program(name, &path, Path::new("/no")).is_err(), "{name:?}");
    }
    // A whole path is looked at alone, and not in the repository.
    assert!(find_program("/bin/sh", &OsString::new(), Path::new("/no")).is_ok());
    assert!(find_program("/bin/no-such-program", &path, Path::new("/no")).is_err());
    let own = world.at("repo").join("sh");
    symlink("/bin/sh", &own).unwrap();
    assert!(find_program(own.to_str().unwrap(), &path, &world.at("repo")).is_err());
}
