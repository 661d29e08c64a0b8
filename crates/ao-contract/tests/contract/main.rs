//! One binary for all tests of the formats: less to link, one place for the samples.

#![expect(clippy::unwrap_used, reason = "the helpers of a test stop it as its own lines do")]
#![expect(clippy::disallowed_methods, reason = "tests read and write the files of the repository")]

mod broken;
mod config;
mod duration;
mod entries;
mod mutations;
mod round_trip;
mod samples;
mod schemas;
mod summary;
mod words;
