//! Words that a rule is made with and is not about, words that mean one another, and words by which a
//! heading is seen to claim something.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::words;

/// Words that make a sentence a rule, whatever it is about.
const LIGHT: &str = "need require ensure sure make remember prefer consider recommend want try help good better \
    best practice rule lesson learn learned learning important note tip mind careful proper correct please \
    always every default whole entire actual really";
/// Each of these turns a rule around, as a negation does.
const TURNING: &str = "avoid refrain forbid forbidden prohibit disallow ban";
/// Words of one line mean one another in what people write about programs.
const SYNONYMS: &str = "close shut|remove delete erase|check verify validate confirm|run execute|start begin launch|\
    finish complete end|big large huge|fast quick rapid|fix repair|show display|pick choose select|\
    change modify alter|save store persist|directory folder|repo repository|config configuration configure|\
    db database|env environment|param parameter argument|auth authentication authenticate|dep dependency|\
    flaky flakey|lead cause|whenever when|retry reattempt|keep retain|wait await|write emit";
/// A heading that begins with one of these tells what to do.
const DEEDS: &str = "add allow always annotate append apply archive ask assert assume attach audit authenticate avoid \
    back batch bind bisect block bound break buffer build bump cache call cancel cap capture catch change check choose \
    clean clear clone close collect commit compare compile compress compute configure confirm connect copy count cover \
    create cut debounce declare decode defer define delete deploy derive detach detect disable discard do document \
    don drain drop dump enable encode encrypt end enforce ensure escape exclude execute expire export expose extract fail \
    fetch filter find finish fix flush fold force format free freeze fsync generate give group guard handle hash hide hold ignore \
    import include increase index inject insert inspect install instrument invalidate isolate join keep kill label \
    launch leave let limit link list load lock log look lower make mark match measure memoize merge migrate mock monitor \
    mount move name never normalise normalize note only open order override pad parse partition pass patch pause pick pin \
    plan point poll pool prefer prefix prepare preserve prevent print probe profile promote propagate protect prune publish \
    pull purge push put query queue quote raise rate read rebase rebuild record recreate reduce refactor refresh \
    regenerate register reject release reload remember remove rename render reopen replace replay report reproduce request \
    require reset resolve restart restore restrict resume retain retry return reuse revert review rewrite roll rotate round \
    route run sanitise sanitize save scan schedule scope scrub seal seed send separate serialise serialize serve set shard \
    share ship show shut sign simplify skip snapshot sort split squash stage start stop store stream strip stub subscribe \
    surface swap switch sync tag take teach tear test throttle tie time track translate treat trim truncate trust try tune \
    turn type unify unlink unpin update upgrade upload use validate vendor verify version wait warm warn watch wrap write yield";
/// Those of them that name a thing as often as a deed: "Retry policy of the worker" tells nothing to do.
const THINGS: &str = "archive audit back batch block break buffer build cache call cap capture catch change check \
    clone commit copy count cover cut debounce deploy document drain drop dump end export fix flush format freeze group \
    guard handle hash hold import include index insert install join label launch limit link list load lock log look \
    mark match measure merge mock monitor mount move name note order override pad partition pass patch pause \
    pick pin plan point poll pool prefix print probe profile prune pull purge push query queue quote raise rate read \
    record refactor refresh release reload rename replay report request reset restart return \
    review rewrite roll round route run scan schedule scope seal seed set shard share ship show \
    shut sign skip snapshot sort split stage start stop store stream strip stub surface swap switch sync tag take tear \
    test throttle tie time track trim trust try tune turn type update upgrade upload vendor version wait warm watch \
    wrap write yield retry only bound bind";
/// A word before a thing that something is done to.
const POINTING: &str =
    "the a an each every all any your its their this that no it them both only our one two";
/// A heading with one of these anywhere tells how something is.
const VERBS: &str = "is are was were be been has have had do does did must should shall can cannot may might will would \
    need needs never always fails fail breaks break causes cause makes make leaks leak blocks block requires require \
    hides hide loses lose wins win hangs hang returns return takes take keeps keep gives give leaves leave needs beats \
    means stops prevents saves avoids belongs goes stays survives works costs slows dont doesnt isnt arent cant wont shouldnt mustnt";

struct Sets {
    light: BTreeSet<String>,
    turning: BTreeSet<&'static str>,
    synonyms: BTreeMap<String, String>,
    deeds: BTreeSet<&'static str>,
    things: BTreeSet<&'static str>,
    pointing: BTreeSet<&'static str>,
    verbs: BTreeSet<&'static str>,
}

static SETS: LazyLock<Sets> = LazyLock::new(|| {
    let mut synonyms = BTreeMap::new();
    for line in SYNONYMS.split('|') {
        let mut stems = line.split_whitespace().map(words::stem);
        let Some(first) = stems.next() else { continue };
        synonyms.extend(stems.map(|stem| (stem, first.clone())));
    }
    Sets {
        light: LIGHT.split_whitespace().map(words::stem).collect(),
        turning: TURNING.split_whitespace().collect(),
        synonyms,
        deeds: DEEDS.split_whitespace().collect(),
        things: THINGS.split_whitespace().collect(),
        pointing: POINTING.split_whitespace().collect(),
        verbs: VERBS.split_whitespace().collect(),
    }
});

/// Whether a stem only makes a sentence a rule.
pub(super) fn is_light(stem: &str) -> bool {
    SETS.light.contains(stem)
}

/// Whether a word in lower case turns a rule around without being a negation.
pub(super) fn turns(word: &str) -> bool {
    let stems = ["ing", "s", "ed"];
    let bare = stems.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    SETS.turning.contains(word) || SETS.turning.contains(bare)
}

/// The stem that stands for all that mean the same.
pub(super) fn meaning(stem: String) -> String {
    SETS.synonyms.get(&stem).cloned().unwrap_or(stem)
}

/// What a heading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heading {
    /// It only names what it is about, as most do.
    Subject,
    /// It may tell what to do, or name a thing.
    Perhaps,
    Claim,
}

/// Of a heading's words in lower case.
pub(super) fn heading(words: &[String]) -> Heading {
    let Some(first) = words.first().map(String::as_str) else { return Heading::Subject };
    let is_verb = |word: &String| SETS.verbs.contains(word.as_str());
    let is_deed = SETS.deeds.contains(first);
    let points = words.get(1).is_some_and(|next| SETS.pointing.contains(next.as_str()));
    if words.iter().any(is_verb) || is_deed && (points || !SETS.things.contains(first)) {
        Heading::Claim
    } else if is_deed {
        Heading::Perhaps
    } else {
        Heading::Subject
    }
}

/// Whether a word only colours a sentence. Some that do elsewhere are deeds in a rule.
pub(super) fn is_colour(word: &str) -> bool {
    const DONE: [&str; 5] = ["close", "back", "sort", "further", "apply"];
    !DONE.contains(&word) && crate::duplicates::is_colour(word)
}
