//! Symlinks on the way to a path.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many as the kernel follows.
const LINKS_MAX: usize = 40;

/// A path with its symlinks: where each is and what it says, in the order of the way, and where
/// the path leads in the end.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    pub(super) end: PathBuf,
}

/// Follows an absolute path. What does not exist is taken as it is written.
pub(super) fn follow(path: &Path) -> io::Result<Route> {
    let mut route = Route { links: Vec::new(), end: PathBuf::from("/") };
    let mut waiting = names(path);
    while let Some(name) = waiting.pop_front() {
        if name == ".." {
            route.end.pop();
            continue;
        }
        let next = route.end.join(name);
        let Ok(target) = fs::read_link(&next) else {
            route.end = next;
            continue;
        };
        if route.links.len() == LINKS_MAX {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        if target.is_absolute() {
            route.end = PathBuf::from("/");
        }
        for name in names(&target).into_iter().rev() {
            waiting.push_front(name);
        }
        route.links.push((next, target));
    }
    Ok(route)
}

fn names(path: &Path) -> VecDeque<OsString> {
    let named = |part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(named).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn each_symlink_on_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/bin")).unwrap();
        fs::write(root.join("real/bin/tool-1"), "").unwrap();
        symlink("tool-1", root.join("real/bin/tool")).unwrap();
        symlink("./real", root.join("way")).unwrap();
        symlink(root.join("way/bin/tool"), root.join("typed")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let route = follow(&root.join("typed")).unwrap();
        assert_eq!(route.end, root.join("real/bin/tool-1"));
        let links: Vec<_> = route.links.iter().map(|(link, _)| link.clone()).collect();
        let expected = ["typed", "way", "real/bin/tool"].map(|name| root.join(name));
        assert_eq!(links, expected);
        assert_eq!(follow(&root.join("way/../none")).unwrap().end, root.join("none"));
        assert!(follow(&root.join("loop")).is_err());
    }
}
