//! Calls of the kernel that an attacker makes, and that the ground is made with.

#![expect(unsafe_code, reason = "an attacker keeps to no rules, and these calls have no safe form")]

use std::ffi::{CString, c_int, c_long, c_void};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// A call by its number.
pub(crate) fn call(number: c_long, a: [usize; 6]) -> io::Result<usize> {
    // SAFETY: the arguments are numbers, or addresses of memory that the caller keeps.
    let result = unsafe { libc::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

pub(crate) fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

pub(crate) fn address<T: ?Sized>(of: &T) -> usize {
    (&raw const *of).cast::<u8>() as usize
}

pub(crate) fn owned(number: usize) -> OwnedFd {
    // SAFETY: the kernel just gave this number.
    unsafe { OwnedFd::from_raw_fd(RawFd::try_from(number).unwrap()) }
}

pub(crate) fn duplicate(from: RawFd, to: RawFd) {
    // SAFETY: the target number is nobody's.
    assert!(unsafe { libc::dup2(from, to) } >= 0);
}

/// Lets a descriptor go on to children.
pub(crate) fn leave_open(number: RawFd) {
    // SAFETY: changes a flag of a descriptor of ours.
    assert_eq!(unsafe { libc::fcntl(number, libc::F_SETFD, 0) }, 0);
}

/// All extended attributes of a file, as text.
pub(crate) fn attributes(path: &str) -> String {
    let path = text(path);
    let mut names = vec![0u8; 1024];
    // SAFETY: no more than the buffer holds is written.
    let count = unsafe { libc::llistxattr(path.as_ptr(), names.as_mut_ptr().cast(), names.len()) };
    names.truncate(usize::try_from(count).unwrap_or(0));
    String::from_utf8_lossy(&names).into_owned()
}

pub(crate) fn set_attribute(path: &str, name: &str, value: &str) -> io::Result<()> {
    let (path, name) = (text(path), text(name));
    // SAFETY: both strings end with NUL, and the value is as long as said.
    let result = unsafe {
        libc::setxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A mapping of a file that can be written.
pub(crate) fn write_mapped(file: RawFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: a new mapping; its first bytes are within the file, which is not empty.
    unsafe {
        let at = libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file,
            0,
        );
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.cast(), bytes.len());
        libc::munmap(at, 4096);
    }
    Ok(())
}

/// Fills pages that are shared with nobody, and lets go of them; they stay as long as the mapping.
pub(crate) fn keep_shared_pages(bytes: usize) -> io::Result<()> {
    // SAFETY: a new mapping that is never taken away, written within its length.
    unsafe {
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        let at = libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        for page in (0..bytes).step_by(4096) {
            *at.cast::<u8>().add(page) = 1;
        }
        libc::madvise(at, bytes, libc::MADV_DONTNEED);
    }
    Ok(())
}

/// Memory of another process.
pub(crate) fn read_memory(process: i32, from: usize, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0u8; length];
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let there = libc::iovec { iov_base: from as *mut c_void, iov_len: length };
    // SAFETY: the buffer is as long as said; the other address is the other process's affair.
    let count =
        unsafe { libc::process_vm_readv(process, &raw const here, 1, &raw const there, 1, 0) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(bytes) }
}

/// A 32-bit call from a 64-bit program: other numbers, another list.
#[cfg(target_arch = "x86_64")]
pub(crate) fn change_mode_in_32_bits(path: &str, mode: u32) -> io::Result<()> {
    const CHMOD: usize = 15;
    // SAFETY: the path is copied, with its NUL, to memory that 32 bits can name.
    let result = unsafe {
        let low = libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT,
            -1,
            0,
        );
        if low == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        std::ptr::copy_nonoverlapping(path.as_ptr(), low.cast(), path.len());
        let result: usize;
        std::arch::asm!(
            "push rbx",
            "mov ebx, {path:e}",
            "int 0x80",
            "pop rbx",
            path = in(reg) low as usize,
            inout("rax") CHMOD => result,
            in("rcx") mode as usize,
        );
        u32::try_from(result & 0xffff_ffff).unwrap_or(0).cast_signed()
    };
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-result)) }
}

/// System V objects: memory, messages, semaphores.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) memory: c_int,
    pub(crate) messages: c_int,
    pub(crate) semaphores: c_int,
}

impl Shared {
    pub(crate) fn make() -> Self {
        let mode = libc::IPC_CREAT | 0o666;
        // SAFETY: makes three new objects.
        unsafe {
            Self {
                memory: libc::shmget(libc::IPC_PRIVATE, 4096, mode),
                messages: libc::msgget(libc::IPC_PRIVATE, mode),
                semaphores: libc::semget(libc::IPC_PRIVATE, 1, mode),
            }
        }
    }

    pub(crate) fn seen(&self) -> String {
        // SAFETY: attaches memory that was made above and reads one byte of it; the others only
        // give numbers, into a structure of the right type.
        unsafe {
            let at = libc::shmat(self.memory, std::ptr::null(), 0);
            let byte = if at as isize == -1 { 0 } else { *at.cast::<u8>() };
            libc::shmdt(at);
            let mut messages: libc::msqid_ds = std::mem::zeroed();
            libc::msgctl(self.messages, libc::IPC_STAT, &raw mut messages);
            let value = libc::semctl(self.semaphores, 0, libc::GETVAL);
            format!("{byte} {} {value}", messages.msg_qnum)
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: removes what was made.
        unsafe {
            libc::shmctl(self.memory, libc::IPC_RMID, std::ptr::null_mut());
            libc::msgctl(self.messages, libc::IPC_RMID, std::ptr::null_mut());
            libc::semctl(self.semaphores, 0, libc::IPC_RMID);
        }
    }
}

pub(crate) fn write_shared(memory: c_int) -> io::Result<()> {
    // SAFETY: writes one byte of memory that was attached.
    unsafe {
        let at = libc::shmat(memory, std::ptr::null(), 0);
        if at as isize == -1 {
            return Err(io::Error::last_os_error());
        }
        *at.cast::<u8>() = 7;
        libc::shmdt(at);
    }
    Ok(())
}

pub(crate) fn send_message(queue: c_int) -> io::Result<()> {
    let message: [c_long; 2] = [1, 7];
    // SAFETY: a kind and one word are read.
    let result = unsafe { libc::msgsnd(queue, message.as_ptr().cast(), 8, libc::IPC_NOWAIT) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(crate) fn raise_semaphore(set: c_int) -> io::Result<()> {
    let mut step = libc::sembuf { sem_num: 0, sem_op: 1, sem_flg: libc::IPC_NOWAIT as i16 };
    // SAFETY: one step is read.
    let result = unsafe { libc::semop(set, &raw mut step, 1) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A POSIX message queue.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) name: String,
    number: libc::mqd_t,
}

impl Queue {
    pub(crate) fn make(name: &str) -> Self {
        let path = text(name);
        // SAFETY: with no attributes the defaults are taken; the mode is set again past the umask.
        let number = unsafe {
            let flags = libc::O_CREAT | libc::O_RDWR | libc::O_NONBLOCK;
            let number =
                libc::mq_open(path.as_ptr(), flags, 0o666, std::ptr::null::<libc::mq_attr>());
            libc::fchmod(number, 0o666);
            number
        };
        Self { name: name.to_owned(), number }
    }

    pub(crate) fn seen(&self) -> String {
        // SAFETY: the answer is of the type that is written.
        unsafe {
            let mut answer: libc::mq_attr = std::mem::zeroed();
            libc::mq_getattr(self.number, &raw mut answer);
            answer.mq_curmsgs.to_string()
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: closes and removes what was made.
        unsafe {
            libc::mq_close(self.number);
            libc::mq_unlink(text(&self.name).as_ptr());
        }
    }
}

pub(crate) fn send_to_queue(name: &str) -> io::Result<()> {
    let path = text(name);
    // SAFETY: one byte is sent.
    let result = unsafe {
        let number = libc::mq_open(path.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK);
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::mq_send(number, c"x".as_ptr(), 1, 0)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Both ends of a new terminal: ours, and the path of the other.
pub(crate) fn terminal() -> Option<(OwnedFd, String)> {
    // SAFETY: a new descriptor, and a name that is copied at once.
    unsafe {
        let ours =
            libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_CLOEXEC);
        if ours < 0 || libc::unlockpt(ours) != 0 {
            return None;
        }
        let mut name = [0i8; 64];
        if libc::ptsname_r(ours, name.as_mut_ptr(), name.len()) != 0 {
            return None;
        }
        let path = std::ffi::CStr::from_ptr(name.as_ptr()).to_str().unwrap().to_owned();
        Some((OwnedFd::from_raw_fd(ours), path))
    }
}

/// Has an open file made by the ring, without a call to open one.
pub(crate) fn create_by_ring(path: &str) -> io::Result<()> {
    const ENTRIES: usize = 4;
    const OPENAT: u8 = 18;
    const RING_SQ: i64 = 0;
    const RING_ENTRIES: i64 = 0x1000_0000;
    const GET_EVENTS: usize = 1;
    let mut parameters = [0u32; 30];
    let ring =
        call(libc::SYS_io_uring_setup, [ENTRIES, parameters.as_mut_ptr() as usize, 0, 0, 0, 0])?;
    let ring = RawFd::try_from(ring).unwrap();
    // The offsets of the submission queue begin at word 10: head, tail, mask, …, array at word 16.
    let (tail_at, mask_at, array_at) = (parameters[11], parameters[12], parameters[16]);
    let path = text(path);
    // SAFETY: the kernel maps what it was asked for; the offsets are its own.
    unsafe {
        let map = |offset: i64| {
            libc::mmap(
                std::ptr::null_mut(),
                8192,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                ring,
                offset,
            )
        };
        let (queue, entries) = (map(RING_SQ), map(RING_ENTRIES));
        if queue == libc::MAP_FAILED || entries == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let entry = entries.cast::<u8>();
        std::ptr::write_bytes(entry, 0, 64);
        *entry = OPENAT;
        *entry.add(4).cast::<i32>() = libc::AT_FDCWD;
        *entry.add(16).cast::<u64>() = path.as_ptr() as u64;
        *entry.add(24).cast::<u32>() = 0o644;
        *entry.add(28).cast::<i32>() = libc::O_CREAT | libc::O_WRONLY;
        let word = |at: u32| queue.cast::<u8>().add(at as usize).cast::<u32>();
        let tail = *word(tail_at);
        *word(array_at).add((tail & *word(mask_at)) as usize) = 0;
        std::ptr::write_volatile(word(tail_at), tail + 1);
        call(libc::SYS_io_uring_enter, [ring as usize, 1, 1, GET_EVENTS, 0, 0])?;
    }
    Ok(())
}

/// An address in the file system, or (with a leading NUL) without one.
pub(crate) fn unix_address(name: &[u8]) -> (libc::sockaddr_un, u32) {
    // SAFETY: all zero is a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    for (to, from) in address.sun_path.iter_mut().zip(name) {
        *to = from.cast_signed();
    }
    (address, u32::try_from(2 + name.len()).unwrap())
}

/// An address of this machine.
pub(crate) fn loopback(port: u16) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    bytes[4..8].copy_from_slice(&[127, 0, 0, 1]);
    bytes
}
