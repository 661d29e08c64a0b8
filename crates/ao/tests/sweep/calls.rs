//! Which system calls change a file system, which ones look at it, and how to show one.

use std::os::unix::fs::FileExt as _;

use nix::libc;
use nix::unistd::Pid;

/// A system call as the kernel saw it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) number: i64,
    pub(crate) args: [u64; 6],
}

/// Which calls are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    Changes,
    ChangesAndLooks,
}

/// Number, name and the shape of the arguments: `f` an open file, `d` an open directory that the
/// path `p` after it starts from, `-` anything else.
type Row = (libc::c_long, &'static str, &'static str);

macro_rules! rows {
    ($($name:ident $shape:literal),* $(,)?) => {
        &[$((libc::$name, stringify!($name), $shape)),*]
    };
}

const ROWS: &[Row] = rows![
    SYS_openat "dp",
    SYS_openat2 "dp",
    SYS_write "f",
    SYS_writev "f",
    SYS_pwrite64 "f",
    SYS_pwritev "f",
    SYS_pwritev2 "f",
    SYS_copy_file_range "f-f",
    SYS_sendfile "f",
    SYS_mkdirat "dp",
    SYS_linkat "dpdp",
    SYS_symlinkat "pdp",
    SYS_renameat2 "dpdp",
    SYS_unlinkat "dp",
    SYS_fsync "f",
    SYS_fdatasync "f",
    SYS_sync "",
    SYS_syncfs "f",
    SYS_sync_file_range "f",
    SYS_truncate "p",
    SYS_ftruncate "f",
    SYS_fallocate "f",
    SYS_fchmod "f",
    SYS_fchmodat "dp",
    SYS_fchown "f",
    SYS_fchownat "dp",
    SYS_utimensat "dp",
    SYS_setxattr "p",
    SYS_lsetxattr "p",
    SYS_fsetxattr "f",
    SYS_removexattr "p",
    SYS_lremovexattr "p",
    SYS_fremovexattr "f",
    SYS_flock "f",
    SYS_ioctl "f",
];

/// Calls that change nothing: between two of them another process may have acted.
const LOOK_ROWS: &[Row] = rows![
    SYS_statx "dp",
    SYS_newfstatat "dp",
    SYS_getdents64 "f",
    SYS_read "f",
    SYS_pread64 "f",
];

/// The calls that newer architectures no longer have.
#[cfg(target_arch = "x86_64")]
const OLD_ROWS: &[Row] = rows![
    SYS_open "p",
    SYS_creat "p",
    SYS_mkdir "p",
    SYS_link "pp",
    SYS_symlink "pp",
    SYS_rename "pp",
    SYS_renameat "dpdp",
    SYS_unlink "p",
    SYS_rmdir "p",
    SYS_chmod "p",
    SYS_chown "p",
    SYS_lchown "p",
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_ROWS: &[Row] = &[];

pub(crate) const OPEN_TO_WRITE: i32 = libc::O_CREAT | libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC;
/// `FICLONE` and `FICLONERANGE`: the only requests that make a file's bytes.
const CLONES: [u64; 2] = [0x4004_9409, 0x4020_940d];
const PATH_BYTES_MAX: usize = 512;

/// The numbers of all calls that may have to be shown.
pub(crate) fn numbers(watch: Watch) -> impl Iterator<Item = libc::c_long> {
    let looks = if watch == Watch::ChangesAndLooks { LOOK_ROWS } else { &[] };
    ROWS.iter().chain(OLD_ROWS).chain(looks).map(|row| row.0)
}

impl Call {
    fn row(&self) -> Option<&'static Row> {
        ROWS.iter().chain(LOOK_ROWS).chain(OLD_ROWS).find(|row| row.0 == self.number)
    }

    /// Without the prefix that only C programs need.
    pub(crate) fn name(&self) -> &'static str {
        self.row().map_or("?", |row| row.1.trim_start_matches("SYS_"))
    }

    pub(crate) fn is_shown(&self, watch: Watch, caller: Pid) -> bool {
        self.is_change(caller) || (watch == Watch::ChangesAndLooks && self.is_look())
    }

    /// It changes a file, makes a change durable, or takes a lock. Output to the terminal is none
    /// of these.
    fn is_change(&self, caller: Pid) -> bool {
        if self.row().is_none() {
            return false;
        }
        match self.name() {
            "open" => opens_to_write(self.args[1]),
            "openat" => opens_to_write(self.args[2]),
            "openat2" => memory(caller, self.args[2], 8)
                .try_into()
                .is_ok_and(|flags| opens_to_write(u64::from_ne_bytes(flags))),
            "write" | "writev" => self.args[0] > 2,
            "ioctl" => CLONES.contains(&self.args[1]),
            _ => !self.is_look(),
        }
    }

    /// It only reads; an `openat` that is no change does so too.
    fn is_look(&self) -> bool {
        LOOK_ROWS.iter().any(|row| row.0 == self.number)
            || matches!(self.name(), "open" | "openat" | "openat2")
    }

    /// The call with its paths, read from the process while it stands still.
    pub(crate) fn describe(&self, caller: Pid) -> String {
        let shape = self.row().map_or("", |row| row.2);
        let mut shown = Vec::new();
        for (letter, value) in shape.chars().zip(self.args) {
            match letter {
                'f' | 'd' => shown.push(open_path(caller, value)),
                'p' => shown.push(format!("{:?}", text(&memory(caller, value, PATH_BYTES_MAX)))),
                _ => {}
            }
        }
        format!("{}({})", self.name(), shown.join(", "))
    }
}

fn opens_to_write(flags: u64) -> bool {
    // The kernel reads an `int`; the rest of the register means nothing.
    let flags = u32::try_from(flags & u64::from(u32::MAX)).unwrap_or_default();
    flags.cast_signed() & OPEN_TO_WRITE != 0
}

fn open_path(caller: Pid, fd: u64) -> String {
    std::fs::read_link(format!("/proc/{caller}/fd/{fd}"))
        .map_or_else(|_| "AT_FDCWD".to_owned(), |path| path.display().to_string())
}

fn memory(caller: Pid, address: u64, max: usize) -> Vec<u8> {
    let mut bytes = vec![0; max];
    let read = std::fs::File::open(format!("/proc/{caller}/mem"))
        .and_then(|memory| memory.read_at(&mut bytes, address))
        .unwrap_or_default();
    bytes.truncate(read);
    bytes
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
