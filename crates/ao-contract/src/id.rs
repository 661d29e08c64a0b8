//! Run and iteration ids become parts of paths and of file names.

/// A name in a directory has 255 bytes, and an id is not all of it.
const ID_BYTES_MAX: usize = 128;

/// Why an id is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("an id cannot be empty")]
    Empty,
    #[error("an id has at most {ID_BYTES_MAX} bytes")]
    TooLong,
    #[error("the id {id:?} holds {what}, which an id cannot")]
    Forbidden { id: String, what: &'static str },
}

pub fn check_id(id: &str) -> Result<(), IdError> {
    if id.is_empty() {
        return Err(IdError::Empty);
    }
    if id.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong);
    }
    match forbidden(id) {
        None => Ok(()),
        Some(what) => Err(IdError::Forbidden { id: id.to_owned(), what }),
    }
}

fn forbidden(id: &str) -> Option<&'static str> {
    if id.contains("..") {
        return Some("\"..\"");
    }
    if id.starts_with('.') {
        return Some("a dot at its start");
    }
    id.chars().find_map(|c| match c {
        '/' | '\\' => Some("a path separator"),
        c if c.is_whitespace() => Some("white space"),
        c if c.is_control() => Some("a control character"),
        _ => None,
    })
}
