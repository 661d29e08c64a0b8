//! What a change looks like to a person.

use ao_contract::ChangeOp;
use similar::TextDiff;

use crate::path::{TreePath, shown};
use crate::plan::Touched;

/// Lines of context around each change.
const CONTEXT_LINES: usize = 3;

/// Both sides of one changed file.
#[derive(Debug, Clone)]
pub struct FileDiff {
    pub path: String,
    pub op: ChangeOp,
    pub before: Option<Vec<u8>>,
    pub after: Option<Vec<u8>>,
}

impl FileDiff {
    pub(crate) fn of(path: &TreePath, touched: &Touched) -> Self {
        Self {
            path: path.to_string(),
            op: touched.change(path).op,
            before: touched.before.as_ref().map(|content| content.bytes.clone()),
            after: touched.after.as_ref().map(|content| content.bytes.clone()),
        }
    }

    /// A unified diff; of files that are not text it says only that they differ.
    pub fn unified(&self) -> String {
        if self.after.is_none() && ao_mutant::active("LOOP-27/diff-without-deletions") {
            return String::new();
        }
        let (before_name, after_name) =
            (self.side("a", self.before.is_some()), self.side("b", self.after.is_some()));
        let before = std::str::from_utf8(self.before.as_deref().unwrap_or_default());
        let after = std::str::from_utf8(self.after.as_deref().unwrap_or_default());
        let (Ok(before), Ok(after)) = (before, after) else {
            return format!("Binary files {before_name} and {after_name} differ\n");
        };
        let diff = TextDiff::from_lines(before, after);
        let mut text = diff.unified_diff();
        text.context_radius(CONTEXT_LINES).header(&before_name, &after_name).to_string()
    }

    fn side(&self, prefix: &str, is_there: bool) -> String {
        if is_there { format!("{prefix}/{}", shown(&self.path)) } else { "/dev/null".into() }
    }
}
