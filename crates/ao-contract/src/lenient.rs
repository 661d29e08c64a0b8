//! Reading entries that people wrote by hand.
//!
//! `utility: lots` is one bad value in a good learning. Refusing the file would take the learning
//! out of the corpus; guessing would change it. So the value is set aside: unset for `ao`, named to
//! the caller, and kept with the unknown keys, from where it is written back.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Extra, ReadError, read};

/// A type whose unknown fields can be added to.
pub trait KeepsUnknown {
    fn extra_mut(&mut self) -> &mut Extra;
}

/// Reads what can be read, and says which values were set aside and why.
pub fn read_leniently<T>(value: &Value) -> Result<(T, Vec<ReadError>), ReadError>
where
    T: DeserializeOwned + KeepsUnknown,
{
    let mut rest = value.clone();
    let mut aside = Extra::new();
    let mut errors = Vec::new();
    // Each turn takes one key away, so there are at most as many as there are keys.
    loop {
        match read::<T>(&rest) {
            Ok(mut entry) => {
                entry.extra_mut().append(&mut aside);
                return Ok((entry, errors));
            }
            Err(error) => {
                let (key, bad) = take_out(&mut rest, &error).ok_or_else(|| error.clone())?;
                aside.insert(key, bad);
                errors.push(error);
            }
        }
    }
}

/// The known keys hold neither dots nor brackets, so the path's first part is the key.
fn take_out(object: &mut Value, error: &ReadError) -> Option<(String, Value)> {
    let key = error.path.split(['.', '[']).next()?;
    object.as_object_mut()?.shift_remove_entry(key)
}
