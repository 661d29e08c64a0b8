//! The last walls, around the process that will be the program.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::layer::Layer;
use super::policy::Policy;
use super::{filter, rules, sys};

/// Names that a program can have open at once; many expect no more.
const OPEN_FILES: u64 = 4096;
/// A core is a copy of memory in a file. Too small for one, and the one number that also keeps the
/// kernel from handing it to a program that collects cores: none is bounded by 0 there.
pub(super) const CORE_BYTES: u64 = 1;

/// Bounds, rules, filter and descriptors, in this order: the filter stands before nothing that is
/// still to be done.
pub(super) fn confine(policy: &Policy) -> Result<(), (Layer, String)> {
    if policy.has(Layer::Limits) {
        limits(policy).map_err(|error| (Layer::Limits, error.to_string()))?;
    }
    // Something to be closed: where nothing was left open, a missing wall would not be noticed.
    sys::leave_open().map_err(|error| (Layer::Descriptors, error.to_string()))?;
    if policy.has(Layer::Descriptors) {
        sys::close_the_rest_on_exec().map_err(|error| (Layer::Descriptors, error.to_string()))?;
    }
    if policy.has(Layer::Landlock) {
        rules::restrict(policy).map_err(|why| (Layer::Landlock, why))?;
    }
    if policy.has(Layer::Seccomp) {
        filter::apply(policy).map_err(|why| (Layer::Seccomp, why))?;
    }
    Ok(())
}

/// The bounds of one process; those of all together are watched.
pub(super) fn bounds(policy: &Policy) -> [(Resource, u64); 4] {
    [
        (Resource::Core, CORE_BYTES),
        (Resource::Fsize, policy.limits.file_bytes),
        (Resource::Data, policy.limits.memory_bytes),
        (Resource::Nofile, OPEN_FILES),
    ]
}

fn limits(policy: &Policy) -> io::Result<()> {
    for (resource, bound) in bounds(policy) {
        lower(resource, bound)?;
    }
    // Counted in the cell alone in tier A; outside of one all that the user runs is counted, too.
    let others = if policy.tier == super::Tier::A { 0 } else { tasks_of_user() };
    lower(Resource::Nproc, others + u64::from(policy.limits.processes))
}

/// Threads of this user that are there already.
fn tasks_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    let mut tasks = 0;
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        if entry.metadata().is_ok_and(|found| found.uid() == user) {
            tasks += std::fs::read_dir(entry.path().join("task")).map_or(0, Iterator::count) as u64;
        }
    }
    tasks
}

fn lower(resource: Resource, bound: u64) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let bound = now.maximum.map_or(bound, |maximum| maximum.min(bound));
    setrlimit(resource, Rlimit { current: Some(bound), maximum: Some(bound) })?;
    Ok(())
}
