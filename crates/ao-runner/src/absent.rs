//! A runner that was named and cannot be asked.

use std::sync::atomic::AtomicBool;

use crate::failure::Failure;
use crate::request::Request;
use crate::runner::{Exchange, Runner};

/// It has its place among the others, and says each time why it is not there.
#[derive(Debug, Clone)]
pub struct Absent {
    pub name: String,
    pub why: Failure,
}

impl Runner for Absent {
    fn name(&self) -> &str {
        &self.name
    }

    fn exchange(&self, _: &Request, _: &str, _: &AtomicBool) -> Result<Exchange, Failure> {
        Err(self.why.clone())
    }
}
