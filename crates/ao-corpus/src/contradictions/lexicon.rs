//! What a word does in a claim: whether it turns it, opens a scope, tells of the past, names a thing.
//!
//! Every word is looked up once and remembered, since a corpus says few words many times.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::duplicates::{hash, is_colour, is_negation, is_unit, may_be_opposite};
use crate::words;

/// Slots of the memory for words; a corpus with more of them only costs time.
const MEMORY_SLOTS: usize = 1 << 14;

/// Says nothing by itself.
pub(super) const STOP: u32 = 1;
/// Turns the claim around.
pub(super) const NEGATION: u32 = 1 << 1;
/// Makes a sentence a claim: it says what is, or what is to be done.
pub(super) const CUE: u32 = 1 << 2;
/// The same, behind what there are several of: `tokens expire`.
pub(super) const PLURAL: u32 = 1 << 23;
/// Begins an order.
pub(super) const ORDER: u32 = 1 << 3;
/// Tells what once was, or what somebody else says.
pub(super) const REPORT: u32 = 1 << 4;
/// Takes the claim half back.
pub(super) const HEDGE: u32 = 1 << 5;
/// Takes something out of the claim, wherever in the sentence it stands.
pub(super) const EXCEPTION: u32 = 1 << 22;
/// Where, when or for whom the claim holds comes next.
pub(super) const SCOPE: u32 = 1 << 6;
/// Reasons come next.
pub(super) const REASON: u32 = 1 << 7;
/// Says for or against what it stands with, as `allowed` and `forbidden` do.
pub(super) const FOR: u32 = 1 << 8;
pub(super) const AGAINST: u32 = 1 << 9;
/// A number behind it is a name: `step 3`.
pub(super) const LABEL: u32 = 1 << 10;
/// What is chosen comes next: `use Postgres`.
pub(super) const OPENER: u32 = 1 << 11;
pub(super) const COPULA: u32 = 1 << 12;
/// Nothing is known of the subject if there are only such words: `the default timeout`.
pub(super) const GENERIC: u32 = 1 << 13;
/// A platform, an environment, a language: whoever names one speaks of that one.
pub(super) const SURROUNDINGS: u32 = 1 << 14;
pub(super) const UNIT: u32 = 1 << 15;
/// Stands for something that was named before.
pub(super) const PRONOUN: u32 = 1 << 16;
/// A rule begins with it, also within a sentence.
pub(super) const RULE: u32 = 1 << 17;
/// Something is put somewhere: `store`, `deploy`.
pub(super) const PLACING: u32 = 1 << 18;
/// Is followed by the deed itself: `must`, `to`, `do`.
pub(super) const MODAL: u32 = 1 << 19;
/// A label whose number tells a version or a place, and so can be a claim: `port 80`.
pub(super) const NUMBERED: u32 = 1 << 20;
pub(super) const ARTICLE: u32 = 1 << 21;
/// A number that is written as a word.
pub(super) const SPELLED: u32 = 1 << 24;
/// `on`, `off`, `true`, `false`.
pub(super) const SWITCH: u32 = 1 << 25;
/// Says what comes first, or is put first.
pub(super) const RELATION: u32 = 1 << 26;
/// May be the opposite of another word.
pub(super) const OPPOSED: u32 = 1 << 27;
/// What a part of a compound may still be: `read-only` makes no exception.
pub(super) const OF_PARTS: u32 = GENERIC | SURROUNDINGS | OPPOSED;

const LISTS: [(u32, &str); 25] = [
    (
        CUE,
        "is are isnt arent must should shall can cannot cant may need needs has have will wont does \
         doesnt do dont mustnt shouldnt always never \
         takes uses requires allows supports returns runs expires retries fails blocks waits lasts \
         holds keeps lives defaults accepts rejects refuses listens contains exceeds writes reads \
         stores sends evaluates validates generates works means belongs costs begins starts stops \
         ends lists handles ignores prefers remains stays survives breaks",
    ),
    (
        PLURAL,
        "expire retry run live default accept reject listen use support allow fail work remain stay \
         survive break take need require return block wait last hold keep contain write read store send",
    ),
    (
        ORDER,
        "set use prefer avoid keep run always never enable disable turn switch make ensure add remove \
         delete drop store save put write read log cache mock pin cap commit lock unlock retry wait \
         alert deploy merge rebase squash lint test build rotate sample compress encrypt mutate \
         restart start stop limit allow forbid require reject accept include exclude check validate \
         call send open close create install upgrade choose pick adopt treat give take let move copy \
         archive expire raise lower increase decrease reduce batch bump tag sign verify skip ignore \
         trust assume return throw catch wrap hold release acquire flush sync fetch push pull format \
         sort index name document review approve split join generate render load schedule page \
         record report scan block serve route mount flag redact escape quote hash stop",
    ),
    (
        REPORT,
        "was were had did didnt wasnt werent hadnt took spent showed shown found saw seen became got \
         went said says say claims claimed claim believes believed thinks thought suggests suggested \
         told tells according measured previously formerly originally initially earlier \
         historically proposed considered rejected yesterday ago caused happened wrote gave made came \
         kept ran began broke myth allegedly reportedly supposedly wondered asked",
    ),
    (
        HEDGE,
        "maybe perhaps might could sometimes rarely seldom hardly occasionally often possibly \
         probably would why whether wonder unclear suppose suspect",
    ),
    (EXCEPTION, "but except unless however although though whereas only apart"),
    (
        SCOPE,
        "on in for when during under while whenever where inside outside at from since until within \
         per unless if against among throughout",
    ),
    (REASON, "because since otherwise hence therefore so which whereby thereby"),
    (
        FOR,
        "allowed allow permitted permit recommended recommend required require mandatory needed \
         necessary fine ok okay encouraged encourage acceptable",
    ),
    (
        AGAINST,
        "avoid forbidden forbid prohibited prohibit disallowed disallow banned ban discouraged \
         discourage optional unnecessary needless pointless",
    ),
    (
        LABEL,
        "number nr issue ticket pr bug step phase stage version release level layer tier chapter \
         section part figure table case rule item line page error code status exit shard slot port \
         team run build job sprint week day quarter iteration round task option adr rfc",
    ),
    (NUMBERED, "version release level port tier"),
    (OPENER, "use uses using prefer prefers choose pick adopt with via through by"),
    (COPULA, "is are be stays stay remains remain defaults default"),
    (
        GENERIC,
        "timeout default limit size value count retry retries cache buffer interval port level \
         threshold flag version queue server client service test tests build config setting option \
         time rate maximum minimum max min connection request requests number safe page",
    ),
    (
        SURROUNDINGS,
        "macos linux windows ios android ubuntu debian alpine docker staging production prod dev \
         development local ci python rust go golang java node javascript typescript ruby kotlin \
         swift php postgres mysql sqlite redis mongodb aws gcp azure kubernetes x86 arm arm64 \
         frontend backend client server mobile web desktop browser chrome firefox safari primary \
         replica replicas v1 v2 v3 v4 v5",
    ),
    (PRONOUN, "it this that they these those he she we"),
    (RULE, "always never avoid prefer"),
    (
        PLACING,
        "store stored stores save saved keep kept put write written live lives log deploy deployed \
         host hosted publish push ship shipped",
    ),
    (
        MODAL,
        "must should shall can cannot may to do dont not never always be and will mustnt shouldnt",
    ),
    (SPELLED, "zero one two three four five six seven eight nine ten eleven twelve"),
    (SWITCH, "on off true false"),
    (RELATION, "before after over instead rather"),
    (ARTICLE, "a an the our your its their each every all any"),
    (
        STOP,
        "set make ensure sure value please every all each our use using prefer need needs require requires \
        always default defaults back turn switch want there now currently today",
    ),
];

/// Words that are no colour where they stand before a thing.
const RANKS: [&str; 8] = ["first", "last", "next", "second", "third", "early", "late", "latest"];

/// Spellings of one thing. The first stands for all.
const SAME: &str = "config/configuration/settings/setting folder/directory/dir repo/repository \
    prod/production dev/development db/database env/environment auth/authentication app/application \
    docs/documentation k8s/kubernetes postgres/postgresql param/parameter delete/remove \
    forbid/forbidden allow/permit run/execute/ran choose/chosen write/written keep/kept \
    build/built flag/toggle send/sent begin/begun hidden/hide lazy/lazily eager/eagerly";

/// What the finder knows of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sense {
    /// A hash of its stem; of what it is another spelling of.
    pub(super) key: u32,
    pub(super) flags: u32,
}

impl Sense {
    pub(super) fn is(self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Whether it is part of what a claim is about.
    pub(super) fn is_content(self) -> bool {
        !self.is(STOP | NEGATION)
    }
}

struct Lexicon {
    flags: BTreeMap<&'static str, u32>,
    same: BTreeMap<&'static str, &'static str>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut flags: BTreeMap<&str, u32> = BTreeMap::new();
    for (flag, list) in LISTS {
        for word in list.split_whitespace() {
            *flags.entry(word).or_default() |= flag;
        }
    }
    let mut same = BTreeMap::new();
    for group in SAME.split_whitespace() {
        let mut spellings = group.split('/');
        let first = spellings.next().unwrap_or_default();
        same.extend(spellings.map(|other| (other, first)));
    }
    Lexicon { flags, same }
});

#[derive(Debug, Clone, Copy, Default)]
struct Known {
    word: u64,
    sense: Sense,
}

thread_local! {
    static MEMORY: RefCell<Vec<Known>> = RefCell::new(vec![Known::default(); MEMORY_SLOTS]);
}

/// Of a word in lower case.
#[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
pub(super) fn sense(word: &str) -> Sense {
    let key = hash(word.as_bytes());
    MEMORY.with_borrow_mut(|memory| {
        let slot = &mut memory[key as usize % MEMORY_SLOTS];
        if slot.word != key {
            *slot = Known { word: key, sense: looked_up(word) };
        }
        slot.sense
    })
}

fn looked_up(word: &str) -> Sense {
    let lexicon = &*LEXICON;
    let bare: String = word.chars().filter(|c| !matches!(c, '\'' | '’')).collect();
    let mut flags = lexicon.flags.get(bare.as_str()).copied().unwrap_or(0);
    if is_negation(&bare) {
        flags |= NEGATION;
    }
    if is_unit(&bare) {
        flags |= UNIT;
    }
    if may_be_opposite(&bare) {
        flags |= OPPOSED;
    }
    // Words of manner are no subject; `first` and `last` tell one thing from another.
    if is_colour(&bare) && !RANKS.contains(&bare.as_str()) {
        flags |= STOP;
    }
    let spelled = lexicon.same.get(bare.as_str()).copied().unwrap_or(&bare);
    Sense { key: key_of(&words::stem(spelled)), flags }
}

/// The key of a stem, or of a name as it is written.
#[expect(clippy::cast_possible_truncation, reason = "half of a mixed hash is a hash")]
pub(super) fn key_of(text: &str) -> u32 {
    hash(text.as_bytes()) as u32
}
