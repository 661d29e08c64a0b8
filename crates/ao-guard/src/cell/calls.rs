//! The system calls that a cell has an opinion of.

/// The newest call that this list has an opinion of (Linux 6.17, `file_setattr`).
pub(super) const NEWEST_CALL: u32 = 469;
/// `open_tree_attr`, `file_getattr` and `file_setattr` have no name in the crate yet.
pub(super) const OPEN_TREE_ATTR: i64 = 467;
pub(super) const FILE_SETATTR: i64 = 469;
/// Calls of another calling convention have this bit.
#[cfg(target_arch = "x86_64")]
pub(super) const OTHER_CONVENTION: u32 = 0x4000_0000;

pub(super) const SET_ID_BITS: [u64; 2] = [0o4000, 0o2000];
pub(super) const NEW_TIME: u64 = 0x80;
pub(super) const NAMESPACES: [i32; 7] = [
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
pub(super) const REQUESTS: [u64; 6] =
    [libc::TIOCSTI, 0x541C, 0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4008_7602];
/// Leaves a device where a file was (`renameat2`).
pub(super) const LEAVE_WHITEOUT: u64 = 4;
/// Makes whoever opens a file next wait for most of a minute (`fcntl`). Reading it is enough.
pub(super) const SET_LEASE: u64 = 1024;
/// Say who gets a signal when something happens to a descriptor, and which: another way to send one.
/// The first are for `fcntl`, the others for `ioctl`.
pub(super) const SET_OWNER: [u64; 3] = [8, 10, 15];
pub(super) const REQUEST_OWNER: [u64; 2] = [0x8901, 0x8902];
/// The first process of a cell, as the cell sees it.
pub(super) const FIRST: u64 = 1;
/// The low bits of a socket's kind; above them are flags.
pub(super) const KIND_MASK: u64 = 0xf;

pub(super) const ALWAYS: [i64; 53] = [
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
pub(super) const ALWAYS_HERE: [i64; 5] =
    [libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib, libc::SYS_ustat];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const ALWAYS_HERE: [i64; 0] = [];

/// Tier B: a file of the outside that may not be written can still be changed by these, and there
/// is no read-only mount in front of it.
pub(super) const CHANGES_OF_ATTRIBUTES: [i64; 12] = [
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
pub(super) const NEWER_CHANGES: [i64; 2] = [463, 466];
#[cfg(target_arch = "x86_64")]
pub(super) const CHANGES_HERE: [i64; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const CHANGES_HERE: [i64; 0] = [];

/// Tier B: what the network, process and ipc namespaces keep away in tier A.
pub(super) const REACHING_OUT: [i64; 13] = [
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
pub(super) const BENDING_OTHERS: [i64; 6] = [
    libc::SYS_setpriority,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_ioprio_set,
];
/// Tier A: with these the first process could be kept from counting the others. The number says
/// which argument is the process.
pub(super) const BENDING_THE_FIRST: [(i64, u8); 7] = [
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];
/// Tier B before Landlock keeps signals inside.
pub(super) const SIGNALS: [i64; 6] = [
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];
