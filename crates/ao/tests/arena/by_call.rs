//! Attacks that are system calls.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use crate::attack::{Attack, Means, Place, Proof, Site};
use crate::raw::{self, address, call, text};
use crate::run::{ABSENT, DONE};
use crate::victim::HELD_FD;

type Call = fn() -> io::Result<()>;

struct Made {
    group: &'static str,
    name: &'static str,
    proof: Proof,
    place: Place,
    site: Site,
    options: &'static [&'static str],
    call: Call,
}

const fn seen(group: &'static str, name: &'static str, call: Call) -> Made {
    Made {
        group,
        name,
        proof: Proof::Outside,
        place: Place::Pass,
        site: Site::Open,
        options: &[],
        call,
    }
}

const fn said(group: &'static str, name: &'static str, call: Call) -> Made {
    Made {
        group,
        name,
        proof: Proof::Inside,
        place: Place::Pass,
        site: Site::Open,
        options: &[],
        call,
    }
}

const fn in_copy(group: &'static str, name: &'static str, call: Call) -> Made {
    Made {
        group,
        name,
        proof: Proof::Outside,
        place: Place::Worker,
        site: Site::Open,
        options: &[],
        call,
    }
}

const fn in_tmp(name: &'static str, proof: Proof, call: Call) -> Made {
    let (group, place, site) = ("what is shown", Place::Pass, Site::Temporary);
    Made { group, name, proof, place, site, options: &[], call }
}

fn var(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

fn number(name: &str) -> usize {
    var(name).parse().unwrap_or(0)
}

fn victim_file() -> String {
    format!("{}/file", var("V"))
}

fn out(name: &str) -> String {
    format!("{}/{name}", var("OUT"))
}

const NOWHERE: usize = libc::AT_FDCWD as isize as usize;
const KILL: usize = libc::SIGKILL as usize;
const SECOND: Duration = Duration::from_secs(1);

const FILES: [Made; 14] = [
    seen("files", "cut a file short", || {
        let path = text(&victim_file());
        call(libc::SYS_truncate, [path.as_ptr() as usize, 2, 0, 0, 0, 0]).map(drop)
    }),
    seen("files", "exchange two files", || {
        const EXCHANGE: usize = 2;
        fs::write(out("p"), "x")?;
        let (ours, theirs) = (text(&out("p")), text(&victim_file()));
        let paths = [NOWHERE, ours.as_ptr() as usize, NOWHERE, theirs.as_ptr() as usize];
        call(libc::SYS_renameat2, [paths[0], paths[1], paths[2], paths[3], EXCHANGE, 0]).map(drop)
    }),
    seen("files", "give a nameless file a name outside", || {
        let file = File::options()
            .write(true)
            .custom_flags(libc::O_TMPFILE)
            .mode(0o644)
            .open(var("OUT"))?;
        let from = text(&format!("/proc/self/fd/{}", file.as_raw_fd()));
        let to = text(&format!("{}/named", var("V")));
        let follow = libc::AT_SYMLINK_FOLLOW as usize;
        let paths = [from.as_ptr() as usize, to.as_ptr() as usize];
        call(libc::SYS_linkat, [NOWHERE, paths[0], NOWHERE, paths[1], follow, 0]).map(drop)
    }),
    seen("files", "make a nameless file outside", || {
        let flags = libc::O_TMPFILE;
        let file = File::options().write(true).custom_flags(flags).mode(0o644).open(var("V"))?;
        let from = text(&format!("/proc/self/fd/{}", file.as_raw_fd()));
        let to = text(&format!("{}/named", var("V")));
        let follow = libc::AT_SYMLINK_FOLLOW as usize;
        let paths = [from.as_ptr() as usize, to.as_ptr() as usize];
        call(libc::SYS_linkat, [NOWHERE, paths[0], NOWHERE, paths[1], follow, 0]).map(drop)
    }),
    seen("files", "write by mapping", || {
        let file = File::options().read(true).write(true).open(victim_file())?;
        raw::write_mapped(file.as_raw_fd(), b"mapped")
    }),
    seen("files", "set an attribute", || raw::set_attribute(&victim_file(), "user.x", "1")),
    seen("files", "remove an attribute", || {
        let (path, name) = (text(&victim_file()), text("user.keep"));
        call(libc::SYS_removexattr, [path.as_ptr() as usize, name.as_ptr() as usize, 0, 0, 0, 0])
            .map(drop)
    }),
    seen("files", "change an owner", || {
        let path = text(&victim_file());
        let group = nix::unistd::getgid().as_raw() as usize;
        call(libc::SYS_fchownat, [NOWHERE, path.as_ptr() as usize, u32::MAX as usize, group, 0, 0])
            .map(drop)
    }),
    seen("files", "change a flag of the file system", || {
        const NO_DUMP: libc::c_long = 0x40;
        let file = File::open(victim_file())?;
        let flags = NO_DUMP;
        call(
            libc::SYS_ioctl,
            [file.as_raw_fd() as usize, libc::FS_IOC_SETFLAGS as usize, address(&flags), 0, 0, 0],
        )
        .map(drop)
    }),
    seen("files", "make a socket", || UnixListener::bind(format!("{}/s", var("V"))).map(drop)),
    seen("files", "write a descriptor that was left open", || {
        let bytes = b"x";
        call(libc::SYS_write, [number("LEFT_OPEN"), bytes.as_ptr() as usize, 1, 0, 0, 0]).map(drop)
    }),
    seen("files", "change a mode through a descriptor", || {
        let file = File::open(victim_file())?;
        call(libc::SYS_fchmod, [file.as_raw_fd() as usize, 0o777, 0, 0, 0, 0]).map(drop)
    }),
    seen("files", "change times through a descriptor", || {
        let file = File::open(victim_file())?;
        call(libc::SYS_utimensat, [file.as_raw_fd() as usize, 0, 0, 0, 0, 0]).map(drop)
    }),
    in_copy("copied tree", "copy: write by mapping", || {
        let file = File::options().read(true).write(true).open(format!("{}/second", var("W")))?;
        raw::write_mapped(file.as_raw_fd(), b"mapp")
    }),
];

const SHOWN: [Made; 6] = [
    seen("what is shown", "talk to a socket of the repository", connect_shown),
    said("what is shown", "write to a device of the repository", write_device),
    in_tmp("in /tmp: talk to a socket of the repository", Proof::Outside, connect_shown),
    in_tmp("in /tmp: write to a device of the repository", Proof::Inside, write_device),
    seen("links and paths", "plant a socket", || UnixListener::bind(out("planted")).map(drop)),
    seen("links and paths", "plant a device by renaming", || {
        const WHITEOUT: usize = 4;
        fs::write(out("planted"), "x")?;
        let (from, to) = (text(&out("planted")), text(&out("renamed")));
        let paths = [NOWHERE, from.as_ptr() as usize, NOWHERE, to.as_ptr() as usize];
        call(libc::SYS_renameat2, [paths[0], paths[1], paths[2], paths[3], WHITEOUT, 0])
            .map(drop)
            .inspect_err(|_| drop(fs::remove_file(out("planted"))))
    }),
];

fn connect_shown() -> io::Result<()> {
    UnixStream::connect(format!("{}/socket", var("W"))).map(drop)
}

/// Only root can put one there, and not everywhere.
fn write_device() -> io::Result<()> {
    let device = format!("{}/device", var("W"));
    if !Path::new(&device).exists() {
        return absent();
    }
    File::options().write(true).open(device)?.write_all(b"x")?;
    done()
}

const RIGHTS: [Made; 5] = [
    seen("lent rights", "a set-user-id file by chmod", || {
        fs::write(out("t"), "x")?;
        let path = text(&out("t"));
        call(libc::SYS_fchmodat, [NOWHERE, path.as_ptr() as usize, 0o4755, 0, 0, 0]).map(drop)
    }),
    seen("lent rights", "a set-group-id file by fchmod", || {
        let file = File::create(out("t"))?;
        call(libc::SYS_fchmod, [file.as_raw_fd() as usize, 0o2755, 0, 0, 0, 0]).map(drop)
    }),
    seen("lent rights", "a set-user-id file by open", || {
        let path = text(&out("t"));
        let flags = (libc::O_CREAT | libc::O_WRONLY) as usize;
        call(libc::SYS_openat, [NOWHERE, path.as_ptr() as usize, flags, 0o4755, 0, 0]).map(drop)
    }),
    seen("lent rights", "a set-user-id file by openat2", || {
        let path = text(&out("t"));
        let how: [u64; 3] = [(libc::O_CREAT | libc::O_WRONLY) as u64, 0o4755, 0];
        call(libc::SYS_openat2, [NOWHERE, path.as_ptr() as usize, address(&how), 24, 0, 0])
            .map(drop)
    }),
    seen("lent rights", "a set-user-id file by mknod", || {
        let path = text(&out("t"));
        let mode = libc::S_IFREG as usize | 0o4755;
        call(libc::SYS_mknodat, [NOWHERE, path.as_ptr() as usize, mode, 0, 0, 0]).map(drop)
    }),
];

const PROCESSES: [Made; 14] = [
    seen("other processes", "read memory", || {
        let bytes = raw::read_memory(number("VICTIM") as i32, number("MEMORY"), number("LENGTH"))?;
        io::stdout().write_all(&bytes)
    }),
    seen("other processes", "read memory through /proc", || {
        use std::os::unix::fs::FileExt;
        let file = File::open(format!("/proc/{}/mem", number("VICTIM")))?;
        let mut bytes = vec![0; number("LENGTH")];
        file.read_exact_at(&mut bytes, number("MEMORY") as u64)?;
        io::stdout().write_all(&bytes)
    }),
    seen("other processes", "trace and end", || {
        let id = nix::unistd::Pid::from_raw(number("VICTIM") as i32);
        nix::sys::ptrace::attach(id)?;
        nix::sys::wait::waitpid(id, None)?;
        nix::sys::ptrace::kill(id)?;
        std::thread::sleep(Duration::from_millis(50));
        Ok(())
    }),
    seen("other processes", "signal by handle", || {
        let handle = call(libc::SYS_pidfd_open, [number("VICTIM"), 0, 0, 0, 0, 0])?;
        call(libc::SYS_pidfd_send_signal, [handle, KILL, 0, 0, 0, 0])?;
        wait()
    }),
    seen("other processes", "signal with a value", || {
        let mut info = [0i32; 32];
        info[0] = libc::SIGKILL;
        info[2] = libc::SI_QUEUE;
        call(libc::SYS_rt_sigqueueinfo, [number("VICTIM"), KILL, address(&info), 0, 0, 0])?;
        wait()
    }),
    seen("other processes", "signal to a thread", || {
        call(libc::SYS_tgkill, [number("VICTIM"), number("VICTIM"), KILL, 0, 0, 0])?;
        wait()
    }),
    seen("other processes", "signal by a descriptor", || {
        const SET_SIGNAL: i32 = 10;
        let (reader, mut writer) = io::pipe()?;
        let control = |what: i32, value: usize| {
            call(libc::SYS_fcntl, [reader.as_raw_fd() as usize, what as usize, value, 0, 0, 0])
        };
        control(libc::F_SETOWN, number("VICTIM"))?;
        control(SET_SIGNAL, KILL)?;
        control(libc::F_SETFL, libc::O_ASYNC as usize)?;
        writer.write_all(b"x")?;
        wait()
    }),
    seen("other processes", "take a descriptor", || {
        let handle = call(libc::SYS_pidfd_open, [number("VICTIM"), 0, 0, 0, 0, 0])?;
        let taken = call(libc::SYS_pidfd_getfd, [handle, HELD_FD as usize, 0, 0, 0, 0])?;
        File::from(raw::owned(taken)).write_all(b"x")
    }),
    seen("other processes", "write a file of another process", || {
        let path = format!("/proc/{}/fd/{HELD_FD}", number("VICTIM"));
        File::options().append(true).open(path)?.write_all(b"x")
    }),
    seen("other processes", "bind to one processor", || {
        let mask: u64 = 1;
        call(libc::SYS_sched_setaffinity, [number("VICTIM"), 8, address(&mask), 0, 0, 0]).map(drop)
    }),
    seen("other processes", "change how it is scheduled", || {
        let parameter: i32 = 0;
        let policy = libc::SCHED_BATCH as usize;
        call(libc::SYS_sched_setscheduler, [number("VICTIM"), policy, address(&parameter), 0, 0, 0])
            .map(drop)
    }),
    seen("other processes", "lower a bound", || {
        let limit: [u64; 2] = [10, 10];
        let resource = libc::RLIMIT_NOFILE as usize;
        call(libc::SYS_prlimit64, [number("VICTIM"), resource, address(&limit), 0, 0, 0]).map(drop)
    }),
    seen("other processes", "lower its input and output", || {
        const IDLE: usize = 3 << 13;
        call(libc::SYS_ioprio_set, [1, number("VICTIM"), IDLE, 0, 0, 0]).map(drop)
    }),
    said("other processes", "compare with another", || {
        call(
            libc::SYS_kcmp,
            [nix::unistd::getpid().as_raw() as usize, number("VICTIM"), 2, 0, 0, 0],
        )?;
        done()
    }),
];

fn wait() -> io::Result<()> {
    std::thread::sleep(Duration::from_millis(50));
    Ok(())
}

fn done() -> io::Result<()> {
    writeln!(io::stdout(), "{DONE}")
}

fn absent() -> io::Result<()> {
    writeln!(io::stdout(), "{ABSENT}")
}

fn socket(family: i32, kind: i32, protocol: usize) -> io::Result<usize> {
    call(libc::SYS_socket, [family as usize, kind as usize, protocol, 0, 0, 0])
}

const NETWORK: [Made; 13] = [
    seen("network", "connect by TCP", || {
        let address = format!("127.0.0.1:{}", var("TCP4")).parse().map_err(io::Error::other)?;
        TcpStream::connect_timeout(&address, SECOND).map(drop)
    }),
    seen("network", "connect by TCP over IPv6", || {
        if var("TCP6").is_empty() {
            return absent();
        }
        let address = format!("[::1]:{}", var("TCP6")).parse().map_err(io::Error::other)?;
        TcpStream::connect_timeout(&address, SECOND).map(drop)
    }),
    seen("network", "send by UDP", || {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.send_to(b"x", format!("127.0.0.1:{}", var("UDP4"))).map(drop)
    }),
    seen("network", "send by UDP over IPv6", || {
        if var("UDP6").is_empty() {
            return absent();
        }
        let socket = UdpSocket::bind("[::1]:0")?;
        socket.send_to(b"x", format!("[::1]:{}", var("UDP6"))).map(drop)
    }),
    seen("network", "open fast", || {
        let socket = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
        let to = raw::loopback(number("TCP4") as u16);
        let flags = libc::MSG_FASTOPEN as usize;
        call(libc::SYS_sendto, [socket, b"x".as_ptr() as usize, 1, flags, address(&to), 16])?;
        wait()
    }),
    seen("network", "connect on many paths", || {
        const MPTCP: usize = 262;
        let socket = match socket(libc::AF_INET, libc::SOCK_STREAM, MPTCP) {
            Err(error) if error.raw_os_error() == Some(libc::EPROTONOSUPPORT) => return absent(),
            socket => socket?,
        };
        let to = raw::loopback(number("TCP4") as u16);
        call(libc::SYS_connect, [socket, address(&to), 16, 0, 0, 0]).map(drop)
    }),
    seen("network", "talk to a daemon by its socket", || {
        UnixStream::connect(format!("{}/stream", var("V"))).map(drop)
    }),
    seen("network", "send to a daemon by its socket", || {
        UnixDatagram::unbound()?.send_to(b"x", format!("{}/datagram", var("V"))).map(drop)
    }),
    seen("network", "send to a daemon through a pair", || {
        let (ours, _other) = UnixDatagram::pair()?;
        ours.send_to(b"x", format!("{}/datagram", var("V"))).map(drop)
    }),
    seen("network", "turn a pair to a daemon", || {
        let (ours, _other) = UnixDatagram::pair()?;
        ours.connect(format!("{}/datagram", var("V")))?;
        ours.send(b"x").map(drop)
    }),
    seen("network", "send packets to a daemon", || {
        let socket = socket(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0)?;
        let (to, length) = raw::unix_address(format!("{}/packets", var("V")).as_bytes());
        call(libc::SYS_connect, [socket, address(&to), length as usize, 0, 0, 0]).map(drop)
    }),
    seen("network", "connect to a name without a file", || {
        let to = SocketAddr::from_abstract_name(format!("{}-stream", var("MARK")))?;
        UnixStream::connect_addr(&to).map(drop)
    }),
    seen("network", "send to a name without a file", || {
        let to = SocketAddr::from_abstract_name(format!("{}-datagram", var("MARK")))?;
        UnixDatagram::unbound()?.send_to_addr(b"x", &to).map(drop)
    }),
];

const SHARED: [Made; 4] = [
    seen("shared memory and queues", "write shared memory", || {
        raw::write_shared(number("SHARED") as i32)
    }),
    seen("shared memory and queues", "send a message", || {
        raw::send_message(number("MESSAGES") as i32)
    }),
    seen("shared memory and queues", "raise a semaphore", || {
        raw::raise_semaphore(number("SEMAPHORES") as i32)
    }),
    seen("shared memory and queues", "send to a queue", || raw::send_to_queue(&var("QUEUE"))),
];

/// A place of one's own in which one is root: what every namespace attack begins with. Where it
/// cannot be had, the attack goes on without.
fn own_place(more: i32) {
    let (user, group) = (nix::unistd::getuid(), nix::unistd::getgid());
    let flags = (libc::CLONE_NEWUSER | more) as usize;
    if call(libc::SYS_unshare, [flags, 0, 0, 0, 0, 0]).is_ok() {
        let _ = fs::write("/proc/self/setgroups", "deny");
        let _ = fs::write("/proc/self/uid_map", format!("0 {user} 1"));
        let _ = fs::write("/proc/self/gid_map", format!("0 {group} 1"));
    }
}

/// Forks into new namespaces, by a call that takes the flags as its first argument.
fn fork_into(flags: i32) -> io::Result<()> {
    let flags = (flags | libc::SIGCHLD) as usize;
    if call(libc::SYS_clone, [flags, 0, 0, 0, 0, 0])? == 0 {
        std::process::exit(0);
    }
    done()
}

const KERNEL: [Made; 20] = [
    said("namespaces and mounts", "a user namespace", || {
        call(libc::SYS_unshare, [libc::CLONE_NEWUSER as usize, 0, 0, 0, 0, 0])?;
        done()
    }),
    said("namespaces and mounts", "a user namespace by clone", || fork_into(libc::CLONE_NEWUSER)),
    said("namespaces and mounts", "a user namespace by clone3", || {
        let mut arguments = [0u64; 11];
        arguments[0] = libc::CLONE_NEWUSER as u64;
        arguments[4] = libc::SIGCHLD as u64;
        if call(libc::SYS_clone3, [address(&arguments), 88, 0, 0, 0, 0])? == 0 {
            std::process::exit(0);
        }
        done()
    }),
    said("namespaces and mounts", "a network of its own", || {
        own_place(libc::CLONE_NEWNET);
        call(libc::SYS_unshare, [libc::CLONE_NEWNET as usize, 0, 0, 0, 0, 0])?;
        done()
    }),
    said("namespaces and mounts", "mount over a folder", || {
        own_place(libc::CLONE_NEWNS);
        let (kind, path) = (text("tmpfs"), text(&var("V")));
        let (kind, path) = (kind.as_ptr() as usize, path.as_ptr() as usize);
        call(libc::SYS_mount, [kind, path, kind, 0, 0, 0])?;
        done()
    }),
    said("namespaces and mounts", "bind one folder over another", || {
        own_place(libc::CLONE_NEWNS);
        let (from, to) = (text(&var("OUT")), text(&var("V")));
        let flags = libc::MS_BIND as usize;
        call(libc::SYS_mount, [from.as_ptr() as usize, to.as_ptr() as usize, 0, flags, 0, 0])?;
        done()
    }),
    said("namespaces and mounts", "change what a mount allows", || {
        own_place(libc::CLONE_NEWNS);
        let path = text("/");
        let attributes: [u64; 4] = [libc::MOUNT_ATTR_NOEXEC, 0, 0, 0];
        let flags = 0x8000;
        call(
            libc::SYS_mount_setattr,
            [NOWHERE, path.as_ptr() as usize, flags, address(&attributes), 32, 0],
        )?;
        done()
    }),
    said("namespaces and mounts", "a file system by the new calls", || {
        own_place(libc::CLONE_NEWNS);
        let kind = text("tmpfs");
        call(libc::SYS_fsopen, [kind.as_ptr() as usize, 0, 0, 0, 0, 0])?;
        done()
    }),
    said("namespaces and mounts", "copy a mount", || {
        own_place(libc::CLONE_NEWNS);
        let path = text("/");
        let flags = 1 | 0x8000;
        call(libc::SYS_open_tree, [NOWHERE, path.as_ptr() as usize, flags, 0, 0, 0])?;
        done()
    }),
    said("namespaces and mounts", "take a mount away", || {
        own_place(libc::CLONE_NEWNS);
        let (kind, path) = (text("tmpfs"), text(&var("V")));
        let (kind, path) = (kind.as_ptr() as usize, path.as_ptr() as usize);
        let _ = call(libc::SYS_mount, [kind, path, kind, 0, 0, 0]);
        call(libc::SYS_umount2, [path, 0, 0, 0, 0, 0])?;
        done()
    }),
    said("namespaces and mounts", "change the root", || {
        own_place(0);
        let path = text(&var("OUT"));
        call(libc::SYS_chroot, [path.as_ptr() as usize, 0, 0, 0, 0, 0])?;
        done()
    }),
    said("namespaces and mounts", "change the host name", || {
        own_place(libc::CLONE_NEWUTS);
        call(libc::SYS_sethostname, [b"owned".as_ptr() as usize, 5, 0, 0, 0, 0])?;
        done()
    }),
    seen("kernel", "make a file by a ring", || {
        match raw::create_by_ring(&format!("{}/ring", var("V"))) {
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => absent(),
            other => other,
        }
    }),
    said("kernel", "handle page faults", || {
        const USER_ONLY: usize = 1;
        call(libc::SYS_userfaultfd, [USER_ONLY, 0, 0, 0, 0, 0])?;
        done()
    }),
    said("kernel", "measure by perf", || {
        let mut event = [0u64; 16];
        event[0] = 1 | (128 << 32);
        event[1] = 1;
        event[5] = (1 << 5) | (1 << 6);
        call(libc::SYS_perf_event_open, [address(&event), 0, usize::MAX, usize::MAX, 0, 0])?;
        done()
    }),
    said("kernel", "watch every file", || {
        const REPORT_FID: usize = 0x200;
        call(libc::SYS_fanotify_init, [REPORT_FID, 0, 0, 0, 0, 0])?;
        done()
    }),
    said("kernel", "leave a key", || {
        let (kind, name) = (text("user"), text(&var("MARK")));
        // The keyring of this process alone.
        let session = -2isize as usize;
        call(
            libc::SYS_add_key,
            [kind.as_ptr() as usize, name.as_ptr() as usize, name.as_ptr() as usize, 1, session, 0],
        )?;
        done()
    }),
    said("kernel", "be traced", || {
        call(libc::SYS_ptrace, [0, 0, 0, 0, 0, 0])?;
        done()
    }),
    #[cfg(target_arch = "x86_64")]
    seen("kernel", "calls of another architecture", || {
        match raw::change_mode_in_32_bits(&victim_file(), 0o777) {
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => absent(),
            other => other,
        }
    }),
    seen("kernel", "type into a terminal", || {
        let terminal = {
            call(libc::SYS_setsid, [0; 6]).ok();
            File::options().read(true).write(true).open(var("TERMINAL"))?
        };
        let typed = b'x';
        call(
            libc::SYS_ioctl,
            [terminal.as_raw_fd() as usize, libc::TIOCSTI as usize, address(&typed), 0, 0, 0],
        )
        .map(drop)
    }),
];

const BOUNDS: [Made; 14] = [
    said("bounds", "lock a lock", || {
        let file = File::open(format!("{}/.agents/overnight/run.lock", var("W")))?;
        file.lock()?;
        done()
    }),
    seen("bounds", "say ten gigabytes", || {
        const ALL: usize = 10 << 30;
        let chunk = vec![b'x'; 1 << 20];
        let mut stdout = io::stdout().lock();
        for _ in 0..ALL / chunk.len() {
            stdout.write_all(&chunk)?;
        }
        Ok(())
    }),
    said("bounds", "make others wait for a file", || {
        let file = File::open(victim_file())?;
        let lease = [libc::F_SETLEASE as usize, libc::F_WRLCK as usize];
        call(libc::SYS_fcntl, [file.as_raw_fd() as usize, lease[0], lease[1], 0, 0, 0])?;
        done()
    }),
    said("bounds", "take memory in one process", || {
        let mut all = vec![0u8; 600 << 20];
        for page in all.chunks_mut(4096) {
            page[0] = 1;
        }
        std::thread::sleep(Duration::from_millis(300));
        std::hint::black_box(&all);
        done()
    }),
    Made {
        options: &["--time", "20s"],
        ..said("bounds", "take memory in many processes", in_many_processes)
    },
    Made {
        options: &["--time", "20s"],
        ..said("bounds", "take memory where nobody can count", || {
            // In a cell this one counts the others, and needs a descriptor to look at them.
            const FIRST: usize = 1;
            let none: [u64; 2] = [0, 0];
            let resource = libc::RLIMIT_NOFILE as usize;
            let _ = call(libc::SYS_prlimit64, [FIRST, resource, address(&none), 0, 0, 0]);
            in_many_processes()
        })
    },
    Made {
        options: &["--time", "20s"],
        ..said("bounds", "take memory in shared pages that nobody maps", || {
            for _ in 0..5 {
                raw::keep_shared_pages(100 << 20)?;
            }
            std::thread::sleep(Duration::from_millis(500));
            done()
        })
    },
    said("bounds", "take memory in semaphores", || {
        let set = call(libc::SYS_semget, [0, 250, 0o1600, 0, 0, 0])?;
        call(libc::SYS_semctl, [set, 0, libc::IPC_RMID as usize, 0, 0, 0])?;
        done()
    }),
    said("bounds", "take memory in messages", || {
        let queue = call(libc::SYS_msgget, [0, 0o1600, 0, 0, 0, 0])?;
        call(libc::SYS_msgctl, [queue, libc::IPC_RMID as usize, 0, 0, 0, 0])?;
        done()
    }),
    said("bounds", "take memory in nameless files", || {
        let chunk = vec![1u8; 1 << 20];
        let mut files = Vec::new();
        for _ in 0..20 {
            let name = text("x");
            let file = call(libc::SYS_memfd_create, [name.as_ptr() as usize, 0, 0, 0, 0, 0])?;
            let mut file = File::from(raw::owned(file));
            for _ in 0..20 {
                file.write_all(&chunk)?;
            }
            files.push(file);
        }
        std::thread::sleep(Duration::from_millis(300));
        drop(files);
        done()
    }),
    said("bounds", "take memory in shared segments", || {
        // Bigger than all that the cell may hold, and gone with it or removed below.
        let segment = call(libc::SYS_shmget, [0, 400 << 20, 0o1600, 0, 0, 0])?;
        let removed = call(libc::SYS_shmctl, [segment, 0, 0, 0, 0, 0]);
        removed?;
        done()
    }),
    said("bounds", "fill the folder for temporary files", || {
        let chunk = vec![1u8; 1 << 20];
        let path = format!(
            "{}/{}",
            if Path::new("/dev/shm").exists() { "/dev/shm" } else { "/tmp" },
            var("MARK")
        );
        let mut file = File::create(path)?;
        for _ in 0..350 {
            file.write_all(&chunk)?;
        }
        done()
    }),
    said("bounds", "two hundred threads", || {
        for _ in 0..200 {
            let thread = std::thread::Builder::new().stack_size(64 << 10);
            thread.spawn(|| std::thread::sleep(Duration::from_secs(5)))?;
        }
        std::thread::sleep(Duration::from_millis(400));
        done()
    }),
    said("bounds", "two hundred processes", || {
        let mut children = 0;
        for _ in 0..200 {
            if call(libc::SYS_clone, [libc::SIGCHLD as usize, 0, 0, 0, 0, 0])? == 0 {
                std::thread::sleep(Duration::from_secs(1));
                std::process::exit(0);
            }
            children += 1;
        }
        std::thread::sleep(Duration::from_millis(400));
        if children == 200 { done() } else { Ok(()) }
    }),
];

fn in_many_processes() -> io::Result<()> {
    for _ in 0..10 {
        if call(libc::SYS_clone, [libc::SIGCHLD as usize, 0, 0, 0, 0, 0])? == 0 {
            let mut all = vec![0u8; 60 << 20];
            for page in all.chunks_mut(4096) {
                page[0] = 1;
            }
            std::thread::sleep(Duration::from_secs(2));
            std::process::exit(0);
        }
    }
    std::thread::sleep(Duration::from_secs(1));
    done()
}

fn made() -> impl Iterator<Item = &'static Made> {
    let all: [&'static [Made]; 8] =
        [&FILES, &SHOWN, &RIGHTS, &PROCESSES, &NETWORK, &SHARED, &KERNEL, &BOUNDS];
    all.into_iter().flatten()
}

pub(crate) fn attacks() -> Vec<Attack> {
    made()
        .map(|made| Attack {
            group: made.group,
            name: made.name,
            means: Means::Call,
            place: made.place,
            site: made.site,
            proof: made.proof,
            options: made.options,
            meanwhile: None,
        })
        .collect()
}

/// The attacker's side.
pub(crate) fn attack(name: &str) {
    let made = made().find(|made| made.name == name).unwrap();
    let result = (made.call)();
    let _ = io::stdout().flush();
    if let Err(error) = result {
        println!("refused: {error}");
        std::process::exit(1);
    }
}
