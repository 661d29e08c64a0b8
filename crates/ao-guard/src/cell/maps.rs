//! Who the program is: the same user as outside, without the power of one.

use std::fs;
use std::io::{self, Write};

use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
};

use super::layer::Layer;
use super::policy::Policy;

/// Higher than any capability that there is.
const CAPABILITIES_MAX: u32 = 64;

/// Maps this user to itself, in a user namespace that was just made. Files keep their owner on both
/// sides; nobody else exists inside.
pub(super) fn map_self(user: u32, group: u32) -> io::Result<()> {
    // The kernel wants this before a group may be mapped without power.
    tell("/proc/self/setgroups", "deny")?;
    tell("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    tell("/proc/self/gid_map", &format!("{group} {group} 1"))
}

/// When the machine has no memory left and one must go, it is this process or a child of it. Not all
/// memory can be weighed: what lies in sockets and pipes is nobody's.
pub(super) fn go_first() -> io::Result<()> {
    tell("/proc/self/oom_score_adj", "1000")
}

/// Bounds how many processes and threads there can be in the cell, where the kernel can (6.14): root is
/// not held by the bound of a user, and a count comes late. To be called where `/proc` is the cell's.
pub(super) fn bound_ids(processes: u32) {
    // Numbers are not given again at once, and the kernel keeps some hundred for itself.
    const ROOM: u32 = 4;
    const IDS_MIN: u32 = 4096;
    let ids = processes.saturating_mul(ROOM).max(IDS_MIN);
    // An older kernel has one bound for the whole machine, which nobody may change from in here.
    let _ = tell("/proc/sys/kernel/pid_max", &ids.to_string());
}

#[expect(clippy::disallowed_methods, reason = "files of the kernel, about this cell alone")]
fn tell(file: &str, text: &str) -> io::Result<()> {
    // In one write: the kernel takes no second one.
    fs::OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}

pub(super) fn who() -> (u32, u32) {
    (geteuid().as_raw(), getegid().as_raw())
}

/// Gives up every power, now and after any exec. One who is root outside has none here either.
pub(super) fn give_up_power(policy: &Policy) -> io::Result<()> {
    if policy.has(Layer::Capabilities) {
        clear_ambient_capability_set()?;
        for number in 0..CAPABILITIES_MAX {
            let Some(one) = 1u64.checked_shl(number) else { break };
            match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(one)) {
                Ok(()) => {}
                // The first number that the kernel does not know.
                Err(rustix::io::Errno::INVAL) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let bits = CapabilitiesSecureBits::NO_ROOT
            | CapabilitiesSecureBits::NO_ROOT_LOCKED
            | CapabilitiesSecureBits::NO_SETUID_FIXUP
            | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
            | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
        set_capabilities_secure_bits(bits)?;
        let none = CapabilitySet::empty();
        let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_capabilities(None, sets)?;
    }
    if policy.has(Layer::NoNewPrivileges) {
        rustix::thread::set_no_new_privs(true)?;
    }
    Ok(())
}

/// Tier B: this user has no power to give up, and shall not get any.
pub(super) fn give_up_hope(policy: &Policy) -> io::Result<()> {
    if policy.has(Layer::NoNewPrivileges) {
        rustix::thread::set_no_new_privs(true)?;
    }
    Ok(())
}
