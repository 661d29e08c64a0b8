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

/// The run that a commit is of, if it is a night's: `RUN-iter-N` or `RUN-packets`, perhaps with the number of
/// another attempt after it.
pub fn run_of(id: &str) -> Option<&str> {
    if let Some((run, _)) = iteration_of(id) {
        return Some(run);
    }
    let (run, rest) = id.rsplit_once("-packets")?;
    (rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number)).then_some(run)
}

/// The run and the number of the iteration that made a commit: `RUN-iter-N`, or `RUN-iter-N-2` where something of
/// an earlier attempt was kept under the first name.
pub fn iteration_of(id: &str) -> Option<(&str, u32)> {
    let (run, rest) = id.rsplit_once("-iter-")?;
    let mut numbers = rest.split('-');
    let index = numbers.next().filter(|text| is_number(text))?.parse().ok()?;
    numbers.all(is_number).then_some((run, index))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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
