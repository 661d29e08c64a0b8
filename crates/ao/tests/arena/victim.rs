//! A process of the same user that has done nothing wrong.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsRawFd;
use std::time::Duration;
use std::{env, thread};

/// Longer than any attack takes.
const LIFE: Duration = Duration::from_mins(2);
pub(crate) const SECRET_FD: i32 = 8;
pub(crate) const HELD_FD: i32 = 9;

/// Holds a secret in memory and two open files, says where, and waits.
pub(crate) fn stay() {
    let secret = env::var("ARENA_SECRET").unwrap();
    let (key, held) = (env::var("ARENA_KEY").unwrap(), env::var("ARENA_HELD").unwrap());
    let key = File::open(key).unwrap();
    let held = File::options().append(true).open(held).unwrap();
    crate::raw::duplicate(key.as_raw_fd(), SECRET_FD);
    crate::raw::duplicate(held.as_raw_fd(), HELD_FD);
    println!("{} {}", secret.as_ptr() as usize, secret.len());
    std::io::stdout().flush().unwrap();
    thread::sleep(LIFE);
    drop(secret);
}
