//! What the newest commit has, read by its names: nothing of the work tree, of the index or of a filter has a part in it.

use super::content::{CONTENT, LIST};
use super::{Git, Said};
use crate::Input;

/// A plain file, and one that can be run. Links and other repositories have no text of their own.
const FILES: [&[u8]; 2] = [b"100644", b"100755"];

impl Git {
    /// The object that a folder is in the newest commit; `None` where no commit has it. The folder is relative to the
    /// repository, and plain: no colon leads it elsewhere.
    pub fn committed_folder(&self, folder: &str) -> Result<Option<String>, String> {
        if self.ask(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])? == Said::No {
            return Ok(None);
        }
        let named = format!("HEAD:./{folder}");
        let (code, answer, _) = self.run(&["rev-parse", "--quiet", "--verify", &named])?;
        let id = String::from_utf8_lossy(&answer).trim().to_owned();
        let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok((code == 0 && is_id).then_some(id))
    }

    /// The files beneath a folder, by the object that it is, each with its bytes. Names that are no UTF-8 are left out.
    pub fn files_of_tree(&self, tree: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
        let listed = self.answer(&["ls-tree", "-rz", "--full-tree", tree], Input::Nothing, LIST)?;
        let mut files = Vec::new();
        let mut ids = Vec::new();
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            // `100644 blob ID`, a tab, and the name.
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
                return Err("it lists a commit in a way that is not known".into());
            };
            let words: Vec<&[u8]> = line[..tab].split(|byte| *byte == b' ').collect();
            let ([mode, _, id], Ok(name)) = (&words[..], std::str::from_utf8(&line[tab + 1..]))
            else {
                continue;
            };
            if FILES.contains(mode) {
                files.push(name.to_owned());
                ids.push(id.to_vec());
            }
        }
        let contents = self.contents(&ids, CONTENT)?;
        Ok(files.into_iter().zip(contents).collect())
    }
}
