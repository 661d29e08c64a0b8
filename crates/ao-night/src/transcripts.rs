//! The transcripts of coding agents, as a night reads them: once, before its first iteration is thought out.

use std::io;
use std::path::{Path, PathBuf};

use ao_contract::NightTranscripts;
use ao_corpus::transcripts::{self, Asked, MEMO, Memo, Own, Root, Taking};
use ao_corpus::{Corpus, Ledger, looks_secret, tells_secret};
use ao_vault::scan::has_key;
use ao_vault::{Ansi, out, redactor};

/// A night takes no more lessons; the rest is for the next one.
pub(crate) const LESSONS_MAX: usize = 100;

/// Where transcripts are, for a night that reads them.
#[derive(Debug, Clone, Default)]
pub struct Transcripts {
    pub roots: Vec<Root>,
}

/// Whether a text of a transcript may hold a secret: a value of the vault, what looks like a key, or what
/// people say is one. A lesson that is dropped in error costs little, so every rule counts.
pub fn is_secret(text: &str) -> bool {
    redactor().is_in(text.as_bytes())
        || looks_secret(text).is_some()
        || tells_secret(text)
        || has_key(text)
}

/// Keeps what was read, for the next time.
pub fn keep_memo(agents: &Path, memo: &Memo) -> io::Result<()> {
    ao_corpus::index::make_folder(agents)?;
    // If a value was taken out of it, its digest is wrong, and everything is read again.
    out::replace_cache(&agents.join(MEMO), &redactor().bytes(&memo.bytes(), Ansi::Keep))
}

impl Transcripts {
    /// What the transcripts offer that was not taken before, and what is to be remembered of them, if
    /// that is new.
    pub(crate) fn offer(
        &self,
        root: &Path,
        agents: &Path,
        corpus: &Corpus,
        ledger: &Ledger,
    ) -> (NightTranscripts, Option<Memo>) {
        let own = Own::of(root);
        let asked = Asked { roots: &self.roots, root, own: &own, is_secret: &is_secret };
        let mut found = transcripts::read(asked, &Memo::read(agents, root));
        let memo = found.is_new.then(|| std::mem::take(&mut found.memo));
        (Taking::offered(found, corpus, ledger, LESSONS_MAX), memo)
    }

    /// What tells whether any of them changed.
    pub(crate) fn fingerprint(&self, root: &Path) -> String {
        let agents: PathBuf = root.join(".agents");
        transcripts::fingerprint(&self.roots, &Own::of(root), &Memo::read(&agents, root))
    }
}
