//! The words by which a correction is known, and those by which something only looks like one.

/// How a person says that something is wrong.
#[rustfmt::skip]
pub(super) const NO: [&str; 27] = [
    "no", "nope", "nah", "no no", "no no no", "not quite", "wrong", "incorrect", "that's wrong", "that is wrong",
    "this is wrong", "that's not right", "that is not right", "that isn't right", "that's not it", "not like that",
    "not that", "that's incorrect", "wait no", "wait, no", "hold on, no", "stop", "not what i meant",
    "that's not what i meant", "that's backwards", "this isn't right", "still wrong",
];

/// Weaker: people also say so when they agree.
#[rustfmt::skip]
pub(super) const WEAK: [&str; 9] = [
    "actually", "wait", "hold on", "hang on", "careful", "sorry", "not really", "hmm no", "one thing",
];

/// "No" in front of these is no contradiction.
#[rustfmt::skip]
pub(super) const POLITE: [&str; 48] = [
    "problem", "problems", "worries", "need", "idea", "rush", "thanks", "thank", "thank you", "way", "one", "more",
    "longer", "doubt", "changes", "change", "errors", "error", "matter", "questions", "question", "issue", "issues",
    "luck", "big deal", "such", "reason", "comment", "comments", "output", "response", "objection", "objections",
    "preference", "complaints", "notes", "pressure", "biggie", "offense", "other", "further", "clue", "hurry",
    "kidding", "joke", "hay", "gracias", "regressions",
];

/// What comes after a polite "no".
#[rustfmt::skip]
pub(super) const AGREED: [&str; 49] = [
    "that's fine", "that is fine", "it's fine", "this is fine", "that's ok", "that's okay", "that works",
    "that's good", "that's great", "all good", "we're good", "go ahead", "leave it", "i like", "keep going",
    "that's all", "that's it", "that is all", "nothing", "not yet", "not now", "not needed", "not necessary",
    "it works", "looks good", "i'm good", "don't worry", "never mind", "nevermind", "you're right", "you were right",
    "i was just", "it's ok", "it's okay", "it's good", "carry on", "continue", "proceed", "ship it",
    "that should be fine", "that should be all", "that's enough", "you're good", "you are right",
    "i think we're done", "we can leave", "don't bother", "not today", "let's leave",
];

/// Verbs that an order begins with.
pub(super) const ORDERS: &str = "add adjust allow append apply assert base batch build bump cache call change check \
    clean close commit compare compute configure convert copy create declare default delete derive disable \
    do don't drop emit enable encode ensure escape export expose extend fetch fix follow format generate go guard \
    handle hash hide ignore import include inline insert install keep leave limit link list load lock log \
    look make map mark match merge mock move name never always normalise normalize only just omit open order \
    parse pass pin point prefer print propagate pull push put query raise re-run read rebase rebuild record \
    reduce refactor regenerate register reject remove rename render reorder replace reset restore restrict \
    retry return reuse revert rewrite roll route run save scope send serialize set skip sort split squash \
    start stick stop store strip switch take target test throw treat trim try turn type undo update use \
    validate verify wait warn wire wrap write avoid document keep call both instead";

/// Words that a sentence begins with and that are no verbs.
pub(super) const NO_VERBS: &str = "the this that these those they there then than you your our his her its who why how what when where which while \
    with without for from into over under about after before because since but and not yes yep yeah nope sure okay good great nice cool \
    fine perfect thanks thank please maybe perhaps also only just even still all any each every both some most many more less one two three \
    four five ten same such other another much here now next last first second once again never always almost let can could would should \
    must may might will shall did does was were are had has have been being come back looks seems works feel guess think hope wish love \
    like hate agree doubt wonder see know got get interesting right wrong true false half none nothing everything something anyone nobody \
    everybody either neither rather instead except unlike per via until till upon among between during despite";

pub(super) const OBJECTS: &str = "the it them a an that this these those your our all each every both only one on in into to with from by at its their \
    as once twice per whatever everything";

/// An order with one of these contradicts something.
#[rustfmt::skip]
pub(super) const CONTRASTS: [&str; 13] = [
    "instead", "instead of", "rather than", "not", "never", "don't", "do not", "and not", "no longer", "isn't",
    "aren't", "doesn't", "without",
];

#[rustfmt::skip]
pub(super) const DUTIES: [&str; 12] = [
    "should", "shouldn't", "must", "mustn't", "has to", "have to", "needs to", "need to", "supposed to", "ought to",
    "can't", "cannot",
];

/// "Don't" in front of these forbids nothing.
#[rustfmt::skip]
pub(super) const HARMLESS: [&str; 24] = [
    "worry", "forget", "bother", "hesitate", "know", "think", "mind", "see", "have", "need", "care", "get me wrong",
    "understand", "believe", "like", "remember", "want", "be sorry", "mind me", "sweat", "stop", "panic", "give up",
    "apologize",
];

#[rustfmt::skip]
pub(super) const FORBIDS: [&str; 11] = [
    "don't", "do not", "never", "stop", "quit", "dont", "you can't", "you cannot", "you may not", "you mustn't",
    "you must not",
];

/// What people say of the agent's deeds when these were wrong.
#[rustfmt::skip]
pub(super) const COMPLAINTS: [&str; 53] = [
    "not what i want", "i only asked", "i only wanted", "i did not ask", "not what i asked", "not what i meant",
    "not what i wanted", "not what i said", "i already told you", "i already said", "i told you", "as i said",
    "like i said", "you should have", "you shouldn't have", "you should not have", "you weren't supposed to",
    "you were supposed to", "you're supposed to", "you forgot to", "you keep", "you ignored", "you broke",
    "you used the wrong", "you're using the wrong", "you are using the wrong", "you changed the wrong",
    "you edited the wrong", "you put it in the wrong", "wrong file", "wrong folder", "wrong directory",
    "wrong branch", "wrong approach", "wrong command", "wrong package", "wrong function", "wrong table", "wrong port",
    "wrong version", "wrong place", "wrong module", "wrong database", "wrong environment", "wrong import",
    "wrong repo", "wrong test", "wrong config", "overkill", "over-engineered", "overengineered", "should have been",
    "should've been",
];

#[rustfmt::skip]
pub(super) const MEANT: [&str; 5] = [
    "i said", "i meant", "i asked for", "i asked you to", "i wanted",
];

/// How a house rule is told to somebody who broke it.
#[rustfmt::skip]
pub(super) const HOUSE: [&str; 28] = [
    "we don't", "we do not", "we never", "we always", "we only", "we avoid", "we're not using", "we stopped using",
    "in this repo we", "in this project we", "in this codebase we", "here we", "our convention is",
    "the convention here is", "the rule here is", "this repo uses", "this project uses", "we already have",
    "there's already", "there is already", "the rule is", "the convention is", "our policy is", "by convention",
    "remember that", "remember we", "remember,", "as a rule",
];

#[rustfmt::skip]
pub(super) const UNDO: [&str; 9] = [
    "revert that", "revert this", "revert it", "undo that", "undo this", "put it back", "put that back",
    "roll that back", "roll it back",
];

/// What people tell of a run.
#[rustfmt::skip]
pub(super) const REPORTED: [&str; 27] = [
    "failures", "failure", "warnings", "warning", "crashes", "crash", "diff", "diffs", "tests", "test", "difference",
    "results", "result", "news", "bugs", "bug", "conflicts", "conflict", "sign", "signs", "surprises", "leaks",
    "matches", "answer", "effect", "progress", "access",
];

#[rustfmt::skip]
pub(super) const GLAD: [&str; 12] = [
    "pass", "passes", "passed", "works", "fine", "green", "not bad", "makes sense", "good", "cool", "better", "agree",
];

#[rustfmt::skip]
pub(super) const LIMITS: [&str; 18] = [
    "is enough", "are enough", "is too", "are too", "is way too", "are way too", "keeps", "keep", "we can't",
    "we cannot", "they can't", "nobody can",
    "is far too", "are far too", "is not enough", "at most", "is what the other", "is what the others",
];

#[rustfmt::skip]
pub(super) const ASKS: [&str; 29] = [
    "what", "why", "how", "where", "when", "which", "who", "can", "could", "would", "should", "shall", "do", "does",
    "did", "is", "are", "was", "will", "have", "has", "any", "and", "or", "isn't", "aren't", "doesn't", "don't", "if",
];

#[rustfmt::skip]
pub(super) const PRAISE: [&str; 14] = [
    "great", "nice", "thanks", "thank you", "perfect", "awesome", "looks good", "good job", "well done", "love it",
    "lgtm", "works now", "wonderful", "excellent",
];

/// What somebody expects, or was told, is no rule.
#[rustfmt::skip]
pub(super) const EXPECTED: [&str; 18] = [
    "should pass", "should work", "should be fine", "should be ok", "should be enough", "should break",
    "should be done", "should be ready", "should be good", "should help", "should fix", "said", "says", "here:",
    "need to see", "need to know", "need to look", "have to go",
];

/// Somebody owns up.
#[rustfmt::skip]
pub(super) const OWNED_UP: [&str; 12] = [
    "i was", "i used", "i put", "my bad", "i had", "i think i", "i pasted", "i gave", "i must", "i changed",
    "i opened", "i looked",
];

/// Behind "no" these begin a sentence.
#[rustfmt::skip]
pub(super) const NO_THINGS: [&str; 12] = [
    "we", "you", "it", "it's", "the", "i", "this", "that", "that's", "they", "there", "not",
];

/// What is heard is not contradicted.
#[rustfmt::skip]
pub(super) const THANKS: [&str; 9] = [
    "ok", "okay", "fine", "good", "i see", "got it", "makes sense", "sounds good", "understood",
];

/// A sentence that begins so goes on to the next thing.
#[rustfmt::skip]
pub(super) const NEXT: [&str; 15] = [
    "now", "next", "then", "also", "and", "i", "i'm", "i'll", "i've", "let's", "can", "could", "here", "yes", "great",
];

/// How things are done in a house.
#[rustfmt::skip]
pub(super) const KEPT: [&str; 14] = [
    "kept", "stored", "generated", "named", "written", "handled", "run as", "blocked", "forbidden", "banned",
    "not allowed", "defined", "pinned", "wrapped",
];

/// What is told of these is a finding, and no rule.
#[rustfmt::skip]
pub(super) const TOLD_OF: [&str; 10] = [
    "it", "this", "that", "the error", "the problem", "the bug", "the issue", "where", "how", "they",
];

/// Where things belong.
#[rustfmt::skip]
pub(super) const BELONGS: [&str; 16] = [
    "belong in", "belongs in", "belong into", "belongs into", "go in", "go into", "goes in", "goes into", "go under",
    "goes under", "live in", "lives in", "are defined in", "come from", "are kept in", "are generated",
];

/// Words of duty.
#[rustfmt::skip]
pub(super) const RULE_DUTIES: [&str; 11] = [
    "must", "mustn't", "must not", "has to", "have to", "needs to", "should", "shouldn't", "should never",
    "are not allowed", "is not allowed",
];

/// A duty with one of these is a rule.
#[rustfmt::skip]
pub(super) const RULE_REASONS: [&str; 8] = [
    "otherwise", "because", "since", "only", "never", "not", "must not", "or else",
];

/// A sentence that begins so tells no rule.
#[rustfmt::skip]
pub(super) const OTHERWISE_MINE: [&str; 15] = [
    "i", "i'm", "i'll", "i've", "my", "let's", "let", "can", "could", "should", "now", "next", "please", "if", "when",
];

/// What a person would rather have.
#[rustfmt::skip]
pub(super) const RATHER: [&str; 6] = [
    "i'd rather", "i would rather", "i'd prefer", "i would prefer", "i prefer", "i'd like you to use",
];

/// What begins so is a decision, whatever it forbids.
#[rustfmt::skip]
pub(super) const SETTLING: [&str; 9] = [
    "from now on", "going forward", "from here on", "let's", "we'll", "we will", "decision", "we decided",
    "we agreed",
];

/// How a sentence begins that is about the one who speaks, or about what comes.
#[rustfmt::skip]
pub(super) const ONESELF: [&str; 13] = [
    "i", "i'm", "i'll", "i've", "my", "let's", "can", "could", "if", "when", "now", "thanks", "no",
];

/// A sentence that begins so is no fragment of a correction.
#[rustfmt::skip]
pub(super) const NOT_IDLE: [&str; 8] = [
    "not sure", "not bad", "not yet", "not now", "not a problem", "not really", "not urgent", "not too",
];

/// How a sentence begins that is about a thing.
#[rustfmt::skip]
pub(super) const THINGS: [&str; 10] = [
    "it", "it's", "that", "that's", "this", "they", "the", "you", "these", "those",
];

/// What somebody meant, and nobody got wrong.
#[rustfmt::skip]
pub(super) const IDLE_MEANT: [&str; 6] = [
    "i said yes", "i said ok", "i wanted to", "i meant to", "i said that already", "i said i",
];

/// What the agent made is to be another way.
#[rustfmt::skip]
pub(super) const MOVED: [&str; 21] = [
    "pin it", "pin that", "move it", "move that", "put it", "put that", "put them", "rename it", "change it",
    "change that", "keep it", "call it", "name it", "make that", "store it", "store them", "pass it", "wrap it",
    "split it", "read it", "take it",
];

/// What is not so, or too much.
#[rustfmt::skip]
pub(super) const NEGATIVE: [&str; 16] = [
    "too", "overkill", "unnecessary", "already", "don't", "doesn't", "isn't", "aren't", "can't", "cannot", "won't",
    "not", "never", "broke", "breaks", "wrong",
];

/// "Not" that contradicts nothing.
#[rustfmt::skip]
pub(super) const MILD: [&str; 8] = [
    "not bad", "not sure", "not yet", "not really", "not too", "not so", "not that", "not a problem",
];

/// Questions that want it another way.
#[rustfmt::skip]
pub(super) const WHY_DID_YOU: [&str; 7] = [
    "why did you", "why are you", "why would you", "why do you", "why have you", "why is there", "what are you doing",
];

/// Questions that forbid.
#[rustfmt::skip]
pub(super) const NOT_PLEASE: [&str; 8] = [
    "can you not", "can you please not", "could you not", "could you please not", "can you stop",
    "can you please stop", "could you stop", "could you please stop",
];
