//! The door: the only room that writes a user's tree.

mod fs;

pub use fs::{Entry, Fs, Kind, Space, Stat};
