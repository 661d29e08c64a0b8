//! What may be asked of the kernel (seccomp).
//!
//! A list of what is refused, not of what is allowed: honest programs ask for much, and what
//! reaches files is decided by mounts and Landlock. Refused is what would go around those, what
//! would build a place without them, and what is not known yet: a call with a number that is newer
//! than this list does not exist in a cell.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

#[cfg(target_arch = "x86_64")]
use super::calls::OTHER_CONVENTION;
use super::calls::{
    ALWAYS, ALWAYS_HERE, BENDING_OTHERS, BENDING_THE_FIRST, CHANGES_HERE, CHANGES_OF_ATTRIBUTES,
    FIRST, KIND_MASK, LEAVE_WHITEOUT, NAMESPACES, NEW_TIME, NEWER_CHANGES, NEWEST_CALL,
    REACHING_OUT, REQUEST_OWNER, REQUESTS, SET_ID_BITS, SET_LEASE, SET_OWNER, SIGNALS,
};
use super::policy::Policy;
use super::rules::ABI_SCOPES;
use super::tier::Tier;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Filters this process and all its children, for good.
pub(super) fn apply(policy: &Policy) -> Result<(), String> {
    let say = |error: &dyn std::fmt::Display| error.to_string();
    apply_filter(&strangers()).map_err(|error| say(&error))?;
    for (rules, answer) in [
        (refused(policy).map_err(|error| say(&error))?, libc::EPERM),
        // What glibc and others do without when it is not there.
        (absent(), libc::ENOSYS),
        (families(policy).map_err(|error| say(&error))?, libc::EAFNOSUPPORT),
    ] {
        let answer = SeccompAction::Errno(answer.cast_unsigned());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture())
            .map_err(|error| say(&error))?;
        let program: BpfProgram = filter.try_into().map_err(|error| {
            let error: seccompiler::BackendError = error;
            say(&error)
        })?;
        apply_filter(&program).map_err(|error| say(&error))?;
    }
    Ok(())
}

fn architecture() -> TargetArch {
    if cfg!(target_arch = "aarch64") { TargetArch::aarch64 } else { TargetArch::x86_64 }
}

/// Calls that are too new to be known are absent; calls of another convention end the process,
/// since the numbers of the other filters do not mean them. (Those of another architecture end it
/// in every one of the other filters.)
fn strangers() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_ABOVE: u16 = 0x25;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const ERROR: u32 = 0x0005_0000;
    #[cfg(target_arch = "x86_64")]
    const KILL: u32 = 0x8000_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let mut program = vec![step(LOAD_NUMBER, 0, 0, 0)];
    #[cfg(target_arch = "x86_64")]
    program.extend([step(JUMP_IF_ABOVE, 0, 1, OTHER_CONVENTION - 1), step(RETURN, 0, 0, KILL)]);
    program.extend([
        step(JUMP_IF_ABOVE, 0, 1, NEWEST_CALL),
        step(RETURN, 0, 0, ERROR | libc::ENOSYS.cast_unsigned()),
        step(RETURN, 0, 0, ALLOW),
    ]);
    program
}

fn masked(
    argument: u8,
    mask: u64,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    let operator = SeccompCmpOp::MaskedEq(mask);
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

fn is(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions)
}

fn refused(policy: &Policy) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let always = ALWAYS.iter().chain(&ALWAYS_HERE);
    for call in always {
        rules.insert(*call, Vec::new());
    }
    let mut namespaces = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.cast_unsigned());
        namespaces.push(rule(vec![masked(0, flag, flag)?])?);
    }
    rules.insert(libc::SYS_clone, namespaces.clone());
    namespaces.push(rule(vec![masked(0, NEW_TIME, NEW_TIME)?])?);
    rules.insert(libc::SYS_unshare, namespaces);
    let mut requests = Vec::new();
    for request in REQUESTS {
        requests.push(rule(vec![is(1, request)?])?);
    }
    let mut controls = vec![rule(vec![is(1, SET_LEASE)?])?];
    let whiteout = masked(4, LEAVE_WHITEOUT, LEAVE_WHITEOUT)?;
    rules.insert(libc::SYS_renameat2, vec![rule(vec![whiteout])?]);
    files_with_rights(&mut rules)?;
    if policy.tier == Tier::A {
        for (call, process) in BENDING_THE_FIRST {
            rules.insert(call, vec![rule(vec![is(process, FIRST)?])?]);
        }
    } else {
        let changes = CHANGES_OF_ATTRIBUTES.iter().chain(&NEWER_CHANGES).chain(&CHANGES_HERE);
        for call in changes.chain(&REACHING_OUT).chain(&BENDING_OTHERS) {
            rules.insert(*call, Vec::new());
        }
        // A process may always ask for its own bounds, and lower them.
        rules.insert(libc::SYS_prlimit64, vec![rule(vec![is_not(0, 0)?])?]);
        if policy.landlock_abi < ABI_SCOPES {
            for call in SIGNALS {
                rules.insert(call, Vec::new());
            }
            for owner in SET_OWNER {
                controls.push(rule(vec![is(1, owner)?])?);
            }
            for owner in REQUEST_OWNER {
                requests.push(rule(vec![is(1, owner)?])?);
            }
        }
    }
    rules.insert(libc::SYS_ioctl, requests);
    rules.insert(libc::SYS_fcntl, controls);
    Ok(rules)
}

/// A file that lends its owner's rights to whoever runs it is an escape that waits; so is a device.
fn files_with_rights(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    let mut modes: Vec<(i64, u8)> = vec![
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (libc::SYS_fchmodat2, 2),
        (libc::SYS_openat, 3),
        (libc::SYS_mknodat, 2),
    ];
    #[cfg(target_arch = "x86_64")]
    modes.extend([
        (libc::SYS_chmod, 1),
        (libc::SYS_open, 2),
        (libc::SYS_creat, 1),
        (libc::SYS_mknod, 1),
    ]);
    for (call, argument) in modes {
        let mut chain = Vec::new();
        for bit in SET_ID_BITS {
            let mut conditions = vec![masked(argument, bit, bit)?];
            // The mode is only looked at when a file is made.
            let flags = match call {
                libc::SYS_openat => Some(2),
                #[cfg(target_arch = "x86_64")]
                libc::SYS_open => Some(1),
                _ => None,
            };
            if let Some(flags) = flags {
                let create = u64::from(libc::O_CREAT.cast_unsigned());
                let nameless = u64::from((libc::O_TMPFILE & !libc::O_DIRECTORY).cast_unsigned());
                chain.push(rule(vec![
                    masked(argument, bit, bit)?,
                    masked(flags, nameless, nameless)?,
                ])?);
                conditions.push(masked(flags, create, create)?);
            }
            chain.push(rule(conditions)?);
        }
        if is_node(call) {
            let kinds = u64::from(libc::S_IFMT);
            for kind in [libc::S_IFCHR, libc::S_IFBLK] {
                chain.push(rule(vec![masked(argument, kinds, kind.into())?])?);
            }
        }
        rules.insert(call, chain);
    }
    Ok(())
}

fn is_node(call: i64) -> bool {
    #[cfg(target_arch = "x86_64")]
    if call == libc::SYS_mknod {
        return true;
    }
    call == libc::SYS_mknodat
}

/// The arguments of the first two lie in memory, where a filter cannot look; the older calls do the
/// same. What the others make is memory that belongs to no process, and so is weighed by nobody.
fn absent() -> Rules {
    [
        libc::SYS_clone3,
        libc::SYS_openat2,
        libc::SYS_memfd_create,
        libc::SYS_memfd_secret,
        libc::SYS_shmget,
        libc::SYS_semget,
        libc::SYS_msgget,
    ]
    .into_iter()
    .map(|call| (call, Vec::new()))
    .collect()
}

/// Sockets: the internet's, which lead nowhere in a network of one's own, and questions about that
/// network. None with a name in the file system: neither mounts nor Landlock stand before those.
fn families(policy: &Policy) -> Result<Rules, seccompiler::BackendError> {
    const MPTCP: u64 = 262;
    let number = |family: i32| u64::from(family.cast_unsigned());
    let mut sockets = Vec::new();
    if policy.tier == Tier::A {
        let known = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
        let stranger = known.iter().map(|family| is_not(0, number(*family)));
        sockets.push(rule(stranger.collect::<Result<_, _>>()?)?);
        sockets.push(rule(vec![is(0, number(libc::AF_NETLINK))?, is_not(2, 0)?])?);
        sockets.push(rule(vec![is_not(0, number(libc::AF_NETLINK))?, is(2, MPTCP)?])?);
    }
    // A pair can only talk to itself, unless each message could have an address of its own.
    let mut pairs = vec![rule(vec![is_not(0, number(libc::AF_UNIX))?])?];
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        pairs.push(rule(vec![masked(1, KIND_MASK, number(kind))?])?);
    }
    Ok([(libc::SYS_socket, sockets), (libc::SYS_socketpair, pairs)].into())
}
