//! What something costs: wall time and CPU time.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
}

/// The CPU time that was used so far, by this process or by its children.
pub(crate) fn used(who: UsageWho) -> Duration {
    let used = getrusage(who).unwrap();
    let of = |time: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap())
    };
    of(used.user_time()) + of(used.system_time())
}

/// Of wall and CPU time, each by itself.
#[allow(dead_code, reason = "not every benchmark repeats itself")]
pub(crate) fn median(mut costs: Vec<Cost>) -> Cost {
    let middle = costs.len() / 2;
    costs.sort_by_key(|cost| cost.wall);
    let wall = costs[middle].wall;
    costs.sort_by_key(|cost| cost.cpu);
    Cost { wall, cpu: costs[middle].cpu }
}
