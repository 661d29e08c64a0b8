//! What may be read and written, as the kernel's own rules (Landlock).

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::policy::{Policy, Spot};
use super::tier::Tier;

/// The first version that also guards truncation.
pub(super) const ABI_MIN: u32 = 3;
/// The first version that keeps signals and abstract sockets inside.
pub(super) const ABI_SCOPES: u32 = 6;

/// Devices that take and give nothing of anybody.
pub(super) const DEVICES: [&str; 5] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Private to the cell in tier A.
pub(super) const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// In a private folder beneath which something is written for real.
pub(super) const OWN_FOLDER: &str = "own";

/// What every program needs to read in tier B, where nothing is hidden otherwise.
pub(super) const SYSTEM: [&str; 11] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/nix", "/proc",
];

/// Restricts this process and all its children, for good. Anything less than everything that was
/// asked for is an error: the default of the crate is to do what it can.
pub(super) fn restrict(policy: &Policy) -> Result<(), String> {
    let abi = version(policy.landlock_abi);
    let restrict = || -> Result<RulesetStatus, Box<dyn std::error::Error>> {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(abi))?;
        if policy.landlock_abi >= ABI_SCOPES {
            ruleset = ruleset.scope(Scope::from_all(abi))?;
        }
        let mut created = ruleset.create()?;
        let read = AccessFs::from_read(abi);
        if policy.tier == Tier::A {
            created = allow(created, Path::new("/"), read)?;
        } else {
            for path in policy.readable.iter().map(Spot::path) {
                created = allow(created, path, read)?;
            }
            for path in policy.listable.iter().map(Spot::path) {
                created = allow(created, path, AccessFs::ReadDir.into())?;
            }
        }
        for device in DEVICES {
            created = allow(created, Path::new(device), AccessFs::from_file(abi))?;
        }
        for (path, access) in writable(policy, AccessFs::from_all(abi)) {
            created = allow(created, path, access)?;
        }
        Ok(created.restrict_self()?.ruleset)
    };
    match restrict() {
        Ok(RulesetStatus::FullyEnforced) => Ok(()),
        Ok(other) => Err(format!("only {other:?}")),
        Err(error) => Err(error.to_string()),
    }
}

/// What can be written, and how. Among files of the user nothing is made that leads whoever writes
/// there next to somewhere else. A rule holds for all that lies beneath, so that a private folder with
/// such files beneath it is no place for links either.
fn writable(policy: &Policy, all: BitFlags<AccessFs>) -> Vec<(&Path, BitFlags<AccessFs>)> {
    let plain = all & !leading_away();
    let real = || policy.writable.iter().map(Spot::path);
    let mut places: Vec<_> = real().map(|path| (path, plain)).collect();
    for folder in policy.private.iter().map(Spot::path) {
        let has_real = real().any(|path| path.starts_with(folder));
        places.push((folder, if has_real { plain } else { all }));
    }
    if policy.tier == Tier::A {
        // A toolchain is the cell's own, unless something of the user lies in it.
        let theirs = || policy.shown.iter().chain(policy.covers.iter().map(|cover| &cover.tree));
        let is_own = |folder: &Path| {
            !theirs().map(Spot::path).chain(real()).any(|path| path.starts_with(folder))
        };
        let folders = policy.toolchains.iter().map(|chain| chain.folder.path());
        places.extend(folders.filter(|folder| is_own(folder)).map(|folder| (folder, all)));
        places.extend(policy.copied.iter().map(|copied| (copied.tree.path(), all)));
    }
    places
}

fn leading_away() -> BitFlags<AccessFs> {
    AccessFs::MakeSym
        | AccessFs::MakeFifo
        | AccessFs::MakeSock
        | AccessFs::MakeChar
        | AccessFs::MakeBlock
}

/// What is not there needs no rule.
fn allow(
    created: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    let Ok(found) = std::fs::metadata(path) else { return Ok(created) };
    let access = if found.is_dir() { access } else { access & AccessFs::from_file(ABI::V9) };
    let rule = PathBeneath::new(PathFd::new(path)?, access);
    Ok(created.add_rule(rule.set_compatibility(CompatLevel::HardRequirement))?)
}

/// What the crate calls it. Version 8 and 9 add what no cell asks for.
fn version(number: u32) -> ABI {
    match number {
        0..=3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6 => ABI::V6,
        _ => ABI::V7,
    }
}
