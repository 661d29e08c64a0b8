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

use super::policy::Policy;
use super::rules::ABI_SCOPES;
use super::tier::Tier;

/// The newest call that this list has an opinion of (Linux 6.17, `file_setattr`).
const NEWEST_CALL: u32 = 469;
/// `open_tree_attr`, `file_getattr` and `file_setattr` have no name in the crate yet.
const OPEN_TREE_ATTR: i64 = 467;
const FILE_SETATTR: i64 = 469;
/// Calls of another calling convention have this bit.
#[cfg(target_arch = "x86_64")]
const OTHER_CONVENTION: u32 = 0x4000_0000;

const SET_ID_BITS: [u64; 2] = [0o4000, 0o2000];
const NEW_TIME: u64 = 0x80;
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
/// Put characters into a terminal, as if typed; change flags, attributes and the version of a file
/// in its file system, which a descriptor for reading is enough for.
const REQUESTS: [u64; 6] =
    [libc::TIOCSTI, 0x541C, 0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4008_7602];
/// The low bits of a socket's kind; above them are flags.
const KIND_MASK: u64 = 0xf;

const ALWAYS: [i64; 53] = [
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Ways around the other calls.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    // Attributes of the file system, such as immutable.
    FILE_SETATTR,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_personality,
    libc::SYS_setdomainname,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

#[cfg(target_arch = "x86_64")]
const ALWAYS_HERE: [i64; 5] =
    [libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib, libc::SYS_ustat];
#[cfg(not(target_arch = "x86_64"))]
const ALWAYS_HERE: [i64; 0] = [];

/// Tier B: a file of the outside that may not be written can still be changed by these, and there
/// is no read-only mount in front of it.
const CHANGES_OF_ATTRIBUTES: [i64; 12] = [
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];
/// `setxattrat` and `removexattrat`.
const NEWER_CHANGES: [i64; 2] = [463, 466];
#[cfg(target_arch = "x86_64")]
const CHANGES_HERE: [i64; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const CHANGES_HERE: [i64; 0] = [];

/// Tier B: what the network, process and ipc namespaces keep away in tier A.
const REACHING_OUT: [i64; 14] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_prlimit64,
];
/// Tier B: others of this user could be slowed down or moved.
const BENDING_OTHERS: [i64; 6] = [
    libc::SYS_setpriority,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_ioprio_set,
];
/// Tier B before Landlock keeps signals inside.
const SIGNALS: [i64; 6] = [
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

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
    rules.insert(libc::SYS_ioctl, requests);
    files_with_rights(&mut rules)?;
    if policy.tier != Tier::A {
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
        }
    }
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

/// Their arguments lie in memory, where a filter cannot look; the older calls do the same.
fn absent() -> Rules {
    [libc::SYS_clone3, libc::SYS_openat2].into_iter().map(|call| (call, Vec::new())).collect()
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
