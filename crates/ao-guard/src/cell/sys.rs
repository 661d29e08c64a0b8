//! System calls that no crate here offers in a safe form. Each is a few lines and keeps its promise
//! by itself; everything that decides something is elsewhere.

#![expect(unsafe_code, reason = "these calls have no safe form, and the kernel checks them")]

use std::ffi::{CString, c_int, c_long};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::Pid;

/// Which side of a fork this is.
#[derive(Debug)]
pub(super) enum Side {
    Child,
    Parent(Pid),
}

fn checked(result: c_long) -> io::Result<c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

/// Forks into new namespaces (`CLONE_NEW…`, or 0 for none). Only for a process with one thread.
pub(super) fn fork(namespaces: c_int) -> io::Result<Side> {
    let flags = c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and with no stack this is fork(). The callers have a single thread,
    // so no lock can be held by one that does not exist in the child.
    let id = checked(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    let id = i32::try_from(id).map_err(io::Error::other)?;
    Ok(Pid::from_raw(id).map_or(Side::Child, Side::Parent))
}

/// Ends this process with no more ado: what the parent had to clean up is still the parent's.
pub(super) fn exit_now(code: u8) -> ! {
    // SAFETY: ends the process; nothing runs after it.
    unsafe { libc::_exit(code.into()) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    This,
    AllBelow,
}

/// Changes what a mount allows. The path is empty for the mount that `at` itself is.
pub(super) fn set_mount(
    at: impl AsFd,
    path: impl AsRef<Path>,
    reach: Reach,
    set: u64,
    clear: u64,
) -> io::Result<()> {
    let path = c_path(path.as_ref())?;
    let mut flags = libc::AT_EMPTY_PATH;
    if reach == Reach::AllBelow {
        flags |= libc::AT_RECURSIVE;
    }
    let attributes =
        libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    // SAFETY: the path ends with NUL and the structure has the size that is given; both live longer
    // than the call.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(())
}

/// The version of Landlock in this kernel, 0 for none.
pub(super) fn landlock_abi() -> u32 {
    const VERSION: c_int = 1;
    // SAFETY: with no attributes and this flag the call only gives a number.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, VERSION)
    };
    u32::try_from(version).unwrap_or(0)
}

/// A descriptor that every program started from here on has.
pub(super) fn leave_open() -> io::Result<()> {
    // SAFETY: makes another name of the standard input; nothing else uses its number.
    checked(unsafe { libc::fcntl(0, libc::F_DUPFD, 3) }.into())?;
    Ok(())
}

/// Marks every descriptor but the three streams to be closed at exec.
pub(super) fn close_the_rest_on_exec() -> io::Result<()> {
    // SAFETY: closes nothing now, and changes no descriptor in another way.
    checked(unsafe {
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
    })?;
    Ok(())
}

/// Runs from here on before everything that has no rank, however much of it there is; so does what this
/// process starts. Only root may.
pub(super) fn go_before_all() -> io::Result<()> {
    rank(libc::SCHED_RR)
}

/// Has what this process starts run as everybody does.
pub(super) fn keep_rank() -> io::Result<()> {
    // SAFETY: takes a number.
    let is_ranked = unsafe { libc::sched_getscheduler(0) } == libc::SCHED_RR;
    if is_ranked { rank(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK) } else { Ok(()) }
}

fn rank(how: c_int) -> io::Result<()> {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the structure lives longer than the call, and is of the type that is read.
    checked(unsafe { libc::sched_setscheduler(0, how, &raw const lowest) }.into())?;
    Ok(())
}

/// Leaves all other groups. Only root may, and only root has to.
pub(super) fn leave_groups() -> io::Result<()> {
    // SAFETY: a list of no groups has no address.
    checked(unsafe { libc::setgroups(0, std::ptr::null()) }.into())?;
    Ok(())
}

/// Puts the loopback of this network namespace up.
pub(super) fn loopback_up() -> io::Result<()> {
    let socket = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    // SAFETY: all zero is a valid request; the name is filled in below.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(*b"lo") {
        *to = from.cast_signed();
    }
    let flags = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = i16::try_from(flags).map_err(io::Error::other)?;
    // SAFETY: the request is of the type that this call reads, and lives longer than it.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    checked(result.into())?;
    Ok(())
}

pub(super) fn socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes three numbers.
    let number =
        checked(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) }.into())?;
    let number = i32::try_from(number).map_err(io::Error::other)?;
    // SAFETY: the kernel just gave this number to us.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Makes a file that hides what has its name in the layers below, in a layer of an overlay.
pub(super) fn make_whiteout(path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: the path ends with NUL. No device has the number 0; nobody needs power to make it.
    checked(unsafe { libc::mknod(path.as_ptr(), libc::S_IFCHR, 0) }.into())?;
    Ok(())
}

/// Whether a path lies on a copy-on-write overlay.
pub(super) fn is_overlay(path: &Path) -> io::Result<bool> {
    let path = c_path(path)?;
    // SAFETY: all zero is a valid answer to be filled in.
    let mut answer: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with NUL, and the answer is of the type that is written.
    checked(unsafe { libc::statfs(path.as_ptr(), &raw mut answer) }.into())?;
    Ok(answer.f_type == libc::OVERLAYFS_SUPER_MAGIC)
}

/// An extended attribute of the file itself, none if it has none of this name.
pub(super) fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    const VALUE_BYTES: usize = 256;
    let (path, name) = (c_path(path).ok()?, CString::new(name).ok()?);
    let mut value = vec![0u8; VALUE_BYTES];
    // SAFETY: both strings end with NUL, and no more than the buffer holds is written.
    let count = unsafe {
        libc::lgetxattr(path.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), value.len())
    };
    value.truncate(usize::try_from(count).ok()?);
    Some(value)
}

/// The processor time of all children that ended, in microseconds, and the most memory that one of
/// them held, in KiB.
pub(super) fn usage_of_children() -> (u64, u64) {
    // SAFETY: all zero is a valid answer to be filled in.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the answer is of the type that is written.
    if unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) } != 0 {
        return (0, 0);
    }
    let micros = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    let cpu = micros(usage.ru_utime) + micros(usage.ru_stime);
    (u64::try_from(cpu).unwrap_or(0), u64::try_from(usage.ru_maxrss).unwrap_or(0))
}

/// Calls that must not come through in a cell. Each says whether it did, or why it did not.
pub(super) mod attempt {
    use super::{AsRawFd, Path, c_int, c_long, c_path, checked, io};

    fn done(result: c_long) -> io::Result<()> {
        checked(result).map(drop)
    }

    pub(in super::super) fn mount(target: &Path) -> io::Result<()> {
        let target = c_path(target)?;
        // SAFETY: all strings end with NUL.
        done(
            unsafe {
                libc::mount(
                    c"none".as_ptr(),
                    target.as_ptr(),
                    c"tmpfs".as_ptr(),
                    0,
                    std::ptr::null(),
                )
            }
            .into(),
        )
    }

    pub(in super::super) fn new_user_namespace() -> io::Result<()> {
        // SAFETY: changes only this process, which ends if it succeeds.
        done(unsafe { libc::unshare(libc::CLONE_NEWUSER) }.into())
    }

    /// Lets the parent trace this process.
    pub(in super::super) fn be_traced() -> io::Result<()> {
        // SAFETY: asks for a state of this process, which ends if it succeeds.
        done(unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) })
    }

    pub(in super::super) fn trace(process: i32) -> io::Result<()> {
        // SAFETY: takes numbers.
        done(unsafe { libc::ptrace(libc::PTRACE_SEIZE, process, 0, 0) })
    }

    pub(in super::super) fn signal(process: i32) -> io::Result<()> {
        // SAFETY: signal 0 only asks whether one could be sent.
        done(unsafe { libc::kill(process, 0) }.into())
    }

    pub(in super::super) fn io_uring() -> io::Result<()> {
        let mut parameters = [0u8; 120];
        // SAFETY: the kernel reads and fills 120 bytes.
        done(unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr()) })
    }

    pub(in super::super) fn new_keyring() -> io::Result<()> {
        const JOIN_SESSION_KEYRING: c_int = 1;
        // SAFETY: with no name a new one is made, for this process alone.
        done(unsafe {
            libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<u8>(), 0, 0, 0)
        })
    }

    pub(in super::super) fn change_root(path: &Path) -> io::Result<()> {
        let path = c_path(path)?;
        // SAFETY: the path ends with NUL.
        done(unsafe { libc::chroot(path.as_ptr()) }.into())
    }

    pub(in super::super) fn rename_host() -> io::Result<()> {
        // SAFETY: five bytes are read.
        done(unsafe { libc::sethostname(c"owned".as_ptr(), 5) }.into())
    }

    /// Connects to an abstract name through a socket that was made already.
    pub(in super::super) fn connect_abstract(name: &str) -> io::Result<()> {
        let socket = super::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)?;
        // SAFETY: all zero is a valid address; it is filled in below.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = u16::try_from(libc::AF_UNIX).map_err(io::Error::other)?;
        for (to, from) in address.sun_path.iter_mut().skip(1).zip(name.bytes()) {
            *to = from.cast_signed();
        }
        let length = size_of::<u16>() + 1 + name.len();
        let length = u32::try_from(length).map_err(io::Error::other)?;
        // SAFETY: the address is at least as long as said.
        let result =
            unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
        done(result.into())
    }
}
