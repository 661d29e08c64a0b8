//! Whether what somebody else did during a commit is still there, or where a person finds it.

use std::fs;
use std::process::Output;

use crate::act::{Act, FRESH};
use crate::check::{check_quiet, history_ids};
use crate::course::Course;
use crate::tree::{Kind, Tree};
use crate::world::{HELD, Scenario, World, shown};

/// When somebody acted, as far as it decides what may have become of it.
#[derive(Clone, Copy)]
pub(crate) struct Moment<'a> {
    pub(crate) course: &'a Course,
    pub(crate) stop: usize,
    /// What stood there was `ao`'s version already: theirs is simply the next one.
    pub(crate) is_after: bool,
}

impl<'a> Moment<'a> {
    /// To be asked for before the act.
    pub(crate) fn new(
        world: &World,
        scenario: &Scenario,
        course: &'a Course,
        act: Act,
        stop: usize,
    ) -> Self {
        let path = format!(".agents/{}", act.path());
        let now = fs::read(world.root.join(&path)).ok();
        Self { course, stop, is_after: now.as_deref() == scenario.after.bytes(&path) }
    }
}

/// The act is in the tree, or its text is where a person finds it; `ao`'s own version is too.
pub(crate) fn judge(
    world: &World,
    scenario: &Scenario,
    act: Act,
    text: &str,
    moment: Moment,
) -> Result<(), String> {
    let path = format!(".agents/{}", act.path());
    let tree = world.tree();
    let live = tree.bytes(&path);
    let ours = scenario.after.bytes(&path);
    let is_edited = scenario.edited.contains(&path);
    // `ao` had not seen what the act replaced, so it replaced the act, knowingly.
    let is_replaced = is_edited && !moment.course.has_seen(&path, moment.stop) && live == ours;
    // `ao`'s own version is kept beside, unless theirs came after it.
    let is_settled = !is_edited
        || ours.is_none()
        || moment.is_after
        || fs::read(world.state("conflicts/c1").join(act.path())).ok().as_deref() == ours;
    let not_kept = || Err(format!("{path}: theirs stays, and ao's version is not kept"));
    match act {
        Act::Edit(_) | Act::Replace(_) | Act::AddFolder(_) => match live {
            Some(bytes) if bytes == text.as_bytes() => {
                if is_settled {
                    Ok(())
                } else {
                    not_kept()
                }
            }
            _ if is_replaced && is_kept(world, text) => Ok(()),
            _ => Err(format!("{path} holds {:?}, not theirs", live.map(String::from_utf8_lossy))),
        },
        Act::Delete(_) => match live {
            None if is_settled => Ok(()),
            None => not_kept(),
            Some(_) if is_replaced => Ok(()),
            Some(_) => Err(format!("{path} was deleted, and is back")),
        },
        Act::Append(_) => {
            let lines = String::from_utf8_lossy(live.unwrap_or_default()).into_owned();
            match lines.matches(text).count() {
                1 => Ok(()),
                0 if is_replaced && is_kept(world, text) => Ok(()),
                count => Err(format!("the appended line is there {count} times: {lines:?}")),
            }
        }
        Act::Rename(_, to) => {
            let there = tree.bytes(&format!(".agents/{to}"));
            let is_moved = there.is_some() && there == scenario.before.bytes(&path);
            match live {
                None if is_moved => Ok(()),
                _ => Err(format!("{path} was renamed to {to}, and is not there")),
            }
        }
        Act::DeleteFolder(_) => gone(&tree, scenario, &path, moment),
        Act::ReplaceFolder(_) => {
            let fresh = format!("{path}/{FRESH}");
            if tree.bytes(&fresh) != Some(text.as_bytes()) {
                return Err(format!("{fresh} is lost"));
            }
            let mut rest = tree.clone();
            rest.0.remove(&fresh);
            gone(&rest, scenario, &path, moment)
        }
    }
}

/// Nothing is left beneath the path but what `ao` put there without having seen what was.
fn gone(tree: &Tree, scenario: &Scenario, path: &str, moment: Moment) -> Result<(), String> {
    let is_held = HELD.iter().any(|held| path == format!(".agents/{held}"));
    let is_ours = |name: &str| {
        scenario.edited.contains(name)
            && tree.bytes(name) == scenario.after.bytes(name)
            && !moment.course.has_seen(name, moment.stop)
    };
    let beneath = tree.beneath(path);
    let is_needed = |dir: &str| beneath.0.keys().any(|name| name.starts_with(&format!("{dir}/")));
    let left = beneath.0.iter().find(|(name, node)| match node.kind {
        Kind::Dir => !(is_needed(name) || is_held && name.as_str() == path),
        _ => !is_ours(name),
    });
    left.map_or(Ok(()), |(name, _)| Err(format!("{name} was deleted, and is back")))
}

/// Everything but what these acts are about is as if nobody had acted, and the state is in order.
pub(crate) fn undisturbed(world: &World, scenario: &Scenario, act: Act) -> Result<(), String> {
    let rest = |tree: &Tree| {
        let is_elsewhere =
            |path: &str| !path.strip_prefix(".agents/").is_some_and(|path| act.concerns(path));
        let nodes = tree.0.iter().filter(|(path, _)| is_elsewhere(path));
        Tree(nodes.map(|(path, node)| (path.clone(), node.clone())).collect())
    };
    let difference = rest(&scenario.after).difference(&rest(&world.tree()));
    if !difference.is_empty() {
        return Err(format!("more than the concerned file differs:\n{difference}"));
    }
    if history_ids(world) != ["c1"] {
        return Err(format!("the history is {:?}", history_ids(world)));
    }
    check_quiet(world)
}

/// A conflict or the undo store holds this text.
pub(crate) fn is_kept(world: &World, text: &str) -> bool {
    ["conflicts", "undo"].into_iter().any(|store| {
        let store = world.state(store);
        store.exists()
            && Tree::read(&store, None).0.values().any(|node| match &node.kind {
                Kind::File(bytes) => String::from_utf8_lossy(bytes).contains(text),
                _ => false,
            })
    })
}

/// What the report says of others, and how the command ended.
pub(crate) fn brief(output: &Output) -> String {
    match serde_json::from_slice::<serde_json::Value>(&output.stdout) {
        Ok(report) if output.status.success() => format!(
            "{}; {}; conflicts: {}; carried: {}",
            output.status, report["status"], report["conflicts"], report["carried"]
        ),
        _ => shown(output),
    }
}
