//! Words that turn a claim around, and words that only colour it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use crate::words::{self, Quickly};

/// Each of these makes a sentence say the opposite.
const NEGATIONS: &str = "not no never none nothing nobody nowhere neither nor without cannot non \
    dont doesnt didnt cant couldnt wont wouldnt shouldnt mustnt isnt arent wasnt werent hasnt \
    havent hadnt aint except unless lacks lacking";
/// Weaker than a negation: put into a sentence they turn it, put in place of a word they may not.
const WEAK: &str = "rarely seldom hardly barely scarcely";
/// A sentence with one of these takes something back.
const RETRACTIONS: &str = "wrong false incorrect untrue obsolete outdated deprecated disproved \
    disproven refuted retracted revoked invalid mistaken";
/// One word of each side, at the same place of a sentence, and the sentences contradict each other.
const OPPOSITES: &str = "always/never/rarely/seldom/sometimes/hardly/barely often/rarely/seldom/never/hardly \
    usually/rarely/seldom/never/hardly frequently/rarely/seldom/never \
    enable/disable/block allow/deny/forbid/disallow/prohibit/block/refuse/reject permit/forbid/deny/prohibit \
    accept/reject/refuse/decline safe/unsafe/dangerous/risky secure/insecure \
    true/false on/off yes/no with/without before/after above/below over/under up/down \
    more/less/fewer increase/decrease/reduce raise/lower/drop higher/lower greater/less/smaller \
    larger/smaller big/small long/short longer/shorter faster/slower fast/slow quick/slow early/late \
    minimum/maximum min/max least/most first/last start/stop/end begin/end open/close opened/closed \
    add/remove/delete/drop insert/delete/remove include/exclude/omit keep/drop/remove/delete/discard \
    create/delete/destroy/remove load/unload mount/unmount lock/unlock attach/detach connect/disconnect \
    import/export push/pull/pop read/write input/output inside/outside internal/external \
    client/server public/private local/remote global/local static/dynamic mutable/immutable \
    sync/async synchronous/asynchronous required/optional/forbidden mandatory/optional \
    require/forbid/prohibit prefer/avoid use/avoid recommend/discourage encourage/discourage \
    must/may/cannot succeed/fail success/failure pass/fail valid/invalid correct/incorrect/wrong \
    right/wrong/left good/bad better/worse best/worst strong/weak hot/cold new/old newer/older \
    newest/oldest latest/oldest eager/lazy positive/negative present/absent active/inactive/passive \
    visible/hidden known/unknown same/different equal/unequal empty/full all/none/some any/none \
    everyone/nobody everything/nothing both/neither either/neither ascending/descending \
    encrypt/decrypt encode/decode compress/decompress serial/parallel strict/lenient/loose \
    upgrade/downgrade install/uninstall online/offline prevent/cause/allow caused/prevented \
    break/fix broke/fixed stable/unstable possible/impossible supported/unsupported \
    deterministic/random ordered/unordered sorted/unsorted bounded/unbounded trusted/untrusted \
    development/production staging/production debug/release test/production up/off forward/backward \
    horizontal/vertical top/bottom shallow/deep sequential/parallel blocking/nonblocking";
/// Numbers as words. `second` is a unit as often as a rank.
const NUMBERS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen \
    fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy \
    eighty ninety hundred thousand million billion dozen half quarter first second third fourth fifth \
    sixth seventh eighth ninth tenth last single double triple";
const TIMES: &str = "once twice thrice";
/// Words that say on which side of a number something is.
const BOUNDS: &str =
    "exactly precisely most least more less fewer over under above below minimum maximum up";
const UNITS: &str = "ns nanosecond nanoseconds us microsecond microseconds ms millisecond milliseconds \
    s sec secs second seconds min mins minute minutes h hr hrs hour hours day days week weeks month \
    months year years b byte bytes kb kib kilobyte kilobytes mb mib megabyte megabytes gb gib gigabyte \
    gigabytes tb tib terabyte terabytes bit bits percent permille hz khz mhz ghz px em rem";
/// Words that say how, when or how much, and no thing, deed or property. With the stop words and all
/// that ends in -ly they are what people change when they polish a sentence.
const COLOURS: &str = "again ago almost already also altogether always another anyhow anymore anyway \
    apart around aside away back barely basically besides certain clearly close currently early either \
    else elsewhere enough especially essentially etc even eventually ever every everywhere exactly \
    fairly far finally first forever fully further furthermore generally gradually hardly hence here \
    hereby highly how however hugely immediately indeed initially instead just kind largely last lately \
    later latest least less lest lately like likely likewise literally little lot lots mainly many \
    maybe meanwhile merely mere moreover mostly much namely near nearby nearly necessarily nevertheless \
    next nonetheless normally notably now nowadays obviously occasionally often once only onward \
    originally otherwise overall partly particular perhaps plain please plenty possibly potentially \
    practically presumably pretty previously primarily probably properly purely quickly quite rather \
    readily really recently regardless regularly relatively roughly scarcely seldom seemingly several \
    sheer similarly simply since slightly slowly somehow someday something sometime sometimes somewhat \
    somewhere soon sort still stuff subsequently such suddenly sure surely tends then there thereafter \
    thereby thing things though throughout together today tomorrow tonight too totally truly twice \
    typically ultimately usually utterly various vast well whatever whenever wherever whereas whether \
    wholly widely yesterday yet one ones upon onto unto toward towards along across behind beyond \
    despite beside versus although though oh ok okay yes yeah hey hi thanks";

static SETS: LazyLock<Sets> = LazyLock::new(Sets::new);

type Set = HashSet<&'static str, Quickly>;

struct Sets {
    negations: Set,
    weak: Set,
    retractions: Set,
    numbers: Set,
    times: Set,
    bounds: Set,
    units: Set,
    colours: Set,
    opposites: BTreeMap<String, BTreeSet<String>>,
}

impl Sets {
    fn new() -> Self {
        let set = |list: &'static str| list.split_whitespace().collect();
        let mut opposites: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for group in OPPOSITES.split_whitespace() {
            let mut sides = group.split('/');
            let one = words::stem(sides.next().unwrap_or_default());
            for other in sides.map(words::stem) {
                opposites.entry(one.clone()).or_default().insert(other.clone());
                opposites.entry(other).or_default().insert(one.clone());
            }
        }
        Self {
            negations: set(NEGATIONS),
            weak: set(WEAK),
            retractions: set(RETRACTIONS),
            numbers: set(NUMBERS),
            times: set(TIMES),
            bounds: set(BOUNDS),
            units: set(UNITS),
            colours: set(COLOURS),
            opposites,
        }
    }
}

/// Words in lower case, as [`super::claims`] cuts them.
pub(crate) fn is_negation(word: &str) -> bool {
    SETS.negations.contains(word) || word.ends_with("n't") || word.ends_with("n’t")
}

pub(crate) fn is_weak(word: &str) -> bool {
    SETS.weak.contains(word)
}

pub(crate) fn is_retraction(word: &str) -> bool {
    SETS.retractions.contains(word)
}

pub(crate) fn is_spelled_number(word: &str) -> bool {
    SETS.numbers.contains(word)
}

pub(crate) fn is_times(word: &str) -> bool {
    SETS.times.contains(word)
}

pub(super) fn is_bound(word: &str) -> bool {
    SETS.bounds.contains(word)
}

pub(crate) fn is_unit(word: &str) -> bool {
    SETS.units.contains(word)
}

/// Words that say how something is done, and of which two are two ways: `automatically`, `manually`, `daily`.
pub(super) fn is_manner(word: &str) -> bool {
    is_adverb(word) && !SETS.colours.contains(word) && !is_weak(word) && !words::is_stop_word(word)
}

fn is_adverb(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ly")
}

pub(crate) fn is_colour(word: &str) -> bool {
    is_adverb(word) || SETS.colours.contains(word) || words::is_stop_word(word)
}

/// Prefixes that make the opposite of a word.
const TURNING: [&str; 8] = ["un", "in", "im", "ir", "dis", "non", "de", "mis"];

pub(crate) fn are_opposites(one: &str, other: &str) -> bool {
    let (first, second) = (words::stem(one), words::stem(other));
    let is_known = SETS.opposites.get(&first).is_some_and(|against| against.contains(&second));
    let turns = |long: &str, short: &str| {
        let rest = TURNING.iter().filter_map(|prefix| long.strip_prefix(prefix));
        rest.into_iter().any(|rest| words::stem(rest.trim_start_matches('-')) == short)
    };
    is_known || turns(one, &second) || turns(other, &first)
}

/// Whether a word may be the opposite of another one.
pub(crate) fn may_be_opposite(word: &str) -> bool {
    let is_turned = || TURNING.iter().any(|prefix| word.starts_with(prefix));
    SETS.opposites.contains_key(&words::stem(word)) || is_turned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_and_colours() {
        for (one, other) in [
            ("always", "never"),
            ("enabled", "disable"),
            ("stable", "unstable"),
            ("usually", "rarely"),
            ("blocking", "non-blocking"),
            ("minimum", "maximum"),
        ] {
            assert!(are_opposites(one, other) && are_opposites(other, one), "{one} {other}");
        }
        assert!(!are_opposites("often", "usually") && !are_opposites("parser", "lock"));
        for word in ["often", "usually", "sometimes", "perhaps", "here", "carefully", "the"] {
            assert!(is_colour(word), "{word}");
        }
        assert!(!is_colour("parser") && !is_colour("json"));
    }
}
