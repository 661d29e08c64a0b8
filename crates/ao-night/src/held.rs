//! Files that the door would not change now, and why.

use std::collections::BTreeMap;

pub(crate) type Fixed = BTreeMap<String, String>;
