use ao_corpus::*;
use std::{collections::*, path::Path, sync::Arc};
struct S {
    files: Files,
    at: HashMap<String, usize>,
}
impl duplicates::Source for S {
    fn paths(&self) -> Vec<String> {
        self.files.found.iter().map(|f| f.path.clone()).collect()
    }
    fn entry(&self, p: &str) -> Option<Arc<Entry>> {
        let f = &self.files.found[self.at[p]];
        Some(Arc::new(Entry::parse(p, || self.files.read(f))?.ok()?))
    }
}
fn main() {
    let root = std::env::args().nth(1).unwrap();
    let t = std::time::Instant::now();
    let files =
        Files::list(&Path::new(&root).join(".agents"), &["learnings", "patterns", "findings"])
            .unwrap();
    let at = files.found.iter().enumerate().map(|(i, f)| (f.path.clone(), i)).collect();
    let d = duplicates::find(&S { files, at });
    eprintln!("{:?} clusters {} review {}", t.elapsed(), d.clusters.len(), d.review.len());
    for c in &d.clusters {
        println!(
            "C {} {}",
            c.survivor,
            c.members.iter().map(|m| m.path.clone()).collect::<Vec<_>>().join(" ")
        );
    }
    for r in &d.review {
        println!(
            "R {} {} {:.3} {:.3} {}",
            r.one,
            r.other,
            r.stems,
            r.pairs,
            r.why.clone().unwrap_or_default()
        );
    }
}
