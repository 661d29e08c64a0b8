//! A filter in the kernel that lets uninteresting system calls pass without a stop.
//!
//! Without it every call of the traced process stops twice, and thousands of cases take minutes.

use nix::libc::{self, sock_filter};

use crate::calls::{OPEN_TO_WRITE, Watch, numbers};

/// Where the filter finds the number of the call, and its third argument: the flags of `openat`.
const NUMBER_AT: u32 = 0;
const FLAGS_AT: u32 = 32;

/// The program: stop at the calls that are watched, pass all others.
pub(crate) fn program(watch: Watch) -> Vec<sock_filter> {
    let mut program = vec![load(NUMBER_AT)];
    for number in numbers(watch) {
        if number == libc::SYS_openat && watch == Watch::Changes {
            // By far the most frequent call, and nearly always only to read.
            let flags = u32::try_from(OPEN_TO_WRITE).unwrap();
            program.extend([
                jump(libc::BPF_JEQ, word(number), 4),
                load(FLAGS_AT),
                jump(libc::BPF_JSET, flags, 1),
                answer(libc::SECCOMP_RET_TRACE),
                answer(libc::SECCOMP_RET_ALLOW),
            ]);
        } else {
            let stop = answer(libc::SECCOMP_RET_TRACE);
            program.extend([jump(libc::BPF_JEQ, word(number), 1), stop]);
        }
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program
}

/// Puts this very process under the filter, for good, and whatever it executes.
pub(crate) fn install(program: &[sock_filter]) -> std::io::Result<()> {
    let filter = libc::sock_fprog {
        len: u16::try_from(program.len()).unwrap_or(u16::MAX),
        filter: program.as_ptr().cast_mut(),
    };
    #[expect(unsafe_code, reason = "no crate here wraps seccomp")]
    // SAFETY: the kernel copies the program, which outlives both calls.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn word(number: libc::c_long) -> u32 {
    u32::try_from(number).unwrap()
}

fn load(at: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0)
}

/// Goes on if the test holds, else leaves out so many instructions.
fn jump(test: u32, value: u32, otherwise: u8) -> sock_filter {
    instruction(libc::BPF_JMP | test | libc::BPF_K, value, otherwise)
}

fn answer(action: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, action, 0)
}

fn instruction(code: u32, k: u32, jf: u8) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap(), jt: 0, jf, k }
}
