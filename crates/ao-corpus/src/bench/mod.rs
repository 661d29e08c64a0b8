//! How well the corpus is found: by labelled sets, and by questions of its own.

mod dataset;
mod live;
mod measures;
mod probe;
mod report;

pub use dataset::{BadSet, DEPTH, Dataset, DatasetScore};
pub use live::{CitedFor, Questions, Scores, citations, live_questions, read_questions, score};
pub use measures::Measures;
pub use report::live_report;
