//! The engine's side: which tier, which policy, and a holder that is started with it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;

use super::cover::Cover;
use super::door::{self, Door};
use super::holder::WORD;
use super::late::SecretWatch;
use super::layer::{Layer, Missing};
use super::message::{self, Said};
use super::order::{Begins, Cell, Toolchain};
use super::planted::Watched;
use super::policy::{Copied, LeafCopy, Policy, Spot, Targets, ToolchainCopy};
use super::readable::ReadList;
use super::report::{Refusal, Refused, Report};
use super::rules::{ABI_MIN, ABI_SCOPES, PRIVATE};
use super::scratch::Scratch;
use super::supervise::{Sink, Supervised};
use super::tier::{Floor, Tier};
use super::view::Sight;
use super::{late, maps, sys};

/// In the private folder for temporary files (tier A).
const HOME: &str = "home";
/// Says to a program, and to this one, that it is in a cell.
pub(super) const MARK: &str = "AO_CELL";

impl Cell {
    /// Runs the program to its end in the best cell that this machine can build, which is not
    /// below the floor. `holder` is a binary whose `main` calls [`crate::serve`].
    pub fn run(
        &self,
        holder: &Path,
        scratch: &Scratch,
        sink: &mut Sink<'_>,
        stop: &AtomicBool,
    ) -> Result<Report, Refusal> {
        let watched: io::Result<Vec<_>> =
            self.writable.iter().filter_map(|path| Watched::begin(path).transpose()).collect();
        let watched = watched?;
        let held: Vec<PathBuf> = watched.iter().filter_map(Watched::hold).collect();
        let mut ran = self.run_watched(&held, holder, scratch, sink, stop);
        // However it went: what was started has ended by now.
        let (mut set_aside, mut unswept) = (Vec::new(), Vec::new());
        watched.iter().for_each(Watched::let_go);
        for (moved, left) in watched.iter().map(Watched::sweep) {
            set_aside.extend(moved);
            unswept.extend(left);
        }
        if let Ok(report) = &mut ran {
            (report.set_aside, report.unswept) = (set_aside, unswept);
        }
        ran
    }

    fn run_watched(
        &self,
        held: &[PathBuf],
        holder: &Path,
        scratch: &Scratch,
        sink: &mut Sink<'_>,
        stop: &AtomicBool,
    ) -> Result<Report, Refusal> {
        let abi = sys::landlock_abi().min(self.landlock_max.unwrap_or(u32::MAX));
        if abi < ABI_MIN || self.forced == Some(Tier::D) {
            let why = format!("version {ABI_MIN} is needed, and the kernel has {abi}");
            let missing = vec![Missing { layer: Layer::Landlock, why }];
            return Err(Refusal::BelowFloor { tier: Tier::D, floor: self.floor, missing });
        }
        let failed = if self.forced == Some(Tier::B) {
            Missing { layer: Layer::UserNamespace, why: "not tried".to_owned() }
        } else {
            match self.attempt(Tier::A, abi, Vec::new(), held, holder, scratch, &mut *sink, stop) {
                Err(Refusal::CannotBuild { layer, why }) if is_of_namespaces(layer) => {
                    Missing { layer, why }
                }
                done => return done,
            }
        };
        let (user, _) = maps::who();
        if user == 0 {
            // Whoever owns everything is held by nothing but a namespace.
            let missing = vec![failed];
            return Err(Refusal::BelowFloor { tier: Tier::D, floor: self.floor, missing });
        }
        let missing = missing_in_b(failed, abi);
        let tier = Tier::B;
        if self.floor == Floor::A {
            return Err(Refusal::BelowFloor { tier, floor: self.floor, missing });
        }
        if self.copied.is_some() {
            return Err(Refusal::NeedsTierA { what: "a copied tree", tier, missing });
        }
        if !self.reachable().is_empty() {
            return Err(Refusal::NeedsTierA { what: "the network door", tier, missing });
        }
        self.attempt(tier, abi, missing, &[], holder, scratch, sink, stop)
    }

    #[expect(clippy::too_many_arguments, reason = "one private step, called with all of it twice")]
    fn attempt(
        &self,
        tier: Tier,
        abi: u32,
        mut missing: Vec<Missing>,
        held: &[PathBuf],
        holder: &Path,
        scratch: &Scratch,
        sink: &mut Sink<'_>,
        stop: &AtomicBool,
    ) -> Result<Report, Refusal> {
        if let Some(tree) = &self.copied {
            scratch.resemble(tree)?;
        }
        let outside = Outsiders::listen()?;
        let (covers, mut late) = self.covers()?;
        let policy = self.policy(tier, abi, held, scratch, outside.targets(), covers)?;
        let (control, theirs) = UnixStream::pair()?;
        let child = start_holder(holder, theirs)?;
        let mut supervised = Supervised::begin(child, control, self.limits);
        let listeners = supervised.greet(&policy, &self.input)?;
        let door = Door::open(&self.reachable(), &self.authorizations, listeners)?;
        let begun = match supervised.started() {
            Ok(begun) => begun,
            Err(error) => {
                supervised.settle();
                return Err(self.refusal(error));
            }
        };
        drop(outside);
        for tree in &begun.uncovered {
            late.is_uncovered(tree.path());
        }
        missing.extend(not_covered(&policy, &begun.uncovered, &late));
        let ended = supervised.wait(sink, stop, &mut late)?;
        let mut passed = door.close();
        passed.refused.extend(ended.appeared.iter().map(|path| Refused {
            rule: "secret-appeared".to_owned(),
            what: late::what_came(path),
        }));
        if !scratch.is_untouched() {
            let attacks = vec![(Layer::ReadOnly, "changing a file outside".to_owned())];
            return Err(Refusal::Escaped { attacks });
        }
        Ok(Report {
            tier,
            missing,
            attacks_held: begun.attacks,
            finish: ended.finish,
            stdout: ended.stdout,
            stderr: ended.stderr,
            refused: passed.refused,
            sent_bytes: passed.sent,
            received_bytes: passed.received,
            took: ended.took,
            cpu: ended.cpu,
            memory_bytes: ended.memory_bytes,
            left_behind: ended.left_behind,
            survivors: ended.survivors,
            set_aside: Vec::new(),
            unswept: Vec::new(),
        })
    }

    fn refusal(&self, said: Option<Said>) -> Refusal {
        match said {
            Some(Said::CannotBuild { layer, why }) => Refusal::CannotBuild { layer, why },
            Some(Said::Escaped { attacks }) => Refusal::Escaped { attacks },
            Some(Said::NotStarted { reason }) => Refusal::NotStarted {
                program: self.program.clone(),
                source: io::Error::from_raw_os_error(reason),
            },
            _ => Refusal::HolderLost,
        }
    }

    fn policy(
        &self,
        tier: Tier,
        abi: u32,
        held: &[PathBuf],
        scratch: &Scratch,
        targets: Targets,
        covers: Vec<Cover>,
    ) -> io::Result<Policy> {
        let masks = self.masks(scratch, &covers);
        let Sight { shown, links, toolchains } = self.sight(&masks);
        let mut environment = self.environment.clone();
        let (home, temporary) = match tier {
            Tier::A => (self.own(HOME, &shown), self.temporary(&shown)),
            _ => (scratch.home(), scratch.temporary()),
        };
        let mut private = vec![home.clone(), temporary.clone()];
        if tier == Tier::A {
            private.extend(PRIVATE.iter().map(PathBuf::from));
        }
        let mut set = |name: &str, value: OsString| {
            environment.retain(|(other, _)| other != name);
            environment.push((name.into(), value));
        };
        set("HOME", home.clone().into());
        set("TMPDIR", temporary.into());
        set(MARK, tier.to_string().into());
        for (name, value) in door::variables(&self.reachable(), &self.authorizations) {
            set(&name, value.into());
        }
        // A name has one value.
        for (name, _) in &self.secrets {
            environment.retain(|(other, _)| other != name);
        }
        let spots = |paths: Vec<PathBuf>| paths.into_iter().map(Spot::from).collect();
        let pairs = |paths: Vec<(PathBuf, PathBuf)>| {
            paths.into_iter().map(|(one, other)| (one.into(), other.into())).collect()
        };
        let listed = match tier {
            Tier::A => ReadList::default(),
            _ => self.listed(&masks, &covers)?,
        };
        let leaf = |one: &Toolchain, path: PathBuf| LeafCopy {
            cover: one.cover_of(&path),
            path: path.into(),
        };
        let chain = |one: Toolchain| ToolchainCopy {
            leaves: one.seen().filter(|path| path.is_dir()).map(|path| leaf(&one, path)).collect(),
            folder: one.folder.into(),
        };
        let home_links = match self.begins {
            Begins::There => self.outside.links.clone(),
            Begins::AtHome => Vec::new(),
        };
        Ok(Policy {
            tier,
            program: self.program.clone().into(),
            arguments: self.arguments.clone(),
            environment,
            secrets: self.secrets.clone(),
            directory: self.directory.clone().into(),
            home: home.into(),
            begins: self.begins,
            files: self.files.iter().map(|(path, text)| (path.into(), text.clone())).collect(),
            shown: spots(shown),
            writable: spots(self.writable.clone()),
            copied: self.copied.as_ref().map(|tree| Copied {
                tree: tree.clone().into(),
                upper: scratch.upper().into(),
                work: scratch.work().into(),
            }),
            // A name that is taken is hidden like anything else, and a mount can be neither moved nor removed.
            masks: spots(masks.into_iter().chain(held.iter().cloned()).collect()),
            private: spots(private),
            covers,
            links: pairs(links),
            home_links: pairs(home_links),
            toolchains: toolchains.into_iter().map(chain).collect(),
            readable: spots(listed.readable),
            listable: spots(listed.listable),
            is_listed_by_folders: listed.is_cut,
            scratch: scratch.root().into(),
            doors: door::ports(&self.reachable()),
            limits: self.limits,
            targets,
            landlock_abi: abi,
            broken: self.broken,
        })
    }
}

/// A failure of one of these means that this machine gives no namespaces to this user.
fn is_of_namespaces(layer: Layer) -> bool {
    matches!(
        layer,
        Layer::UserNamespace
            | Layer::ReadOnly
            | Layer::Masks
            | Layer::Processes
            | Layer::Ipc
            | Layer::Hostname
            | Layer::Network
            | Layer::Capabilities
    )
}

/// What tier B has in place of the walls that it has not.
fn missing_in_b(failed: Missing, abi: u32) -> Vec<Missing> {
    let mut missing = vec![failed];
    let instead = [
        (Layer::UserNamespace, "nothing is needed in its place"),
        (
            Layer::ReadOnly,
            "writes are kept by Landlock alone; modes, owners, times and attributes cannot be changed at all",
        ),
        (
            Layer::Masks,
            "only what is listed can be read; command lines of others can be seen in /proc",
        ),
        (
            Layer::Overlay,
            "there is no copied tree, and toolchains and caches can be read and not written",
        ),
        (Layer::Processes, "descendants are adopted and ended; other processes can be seen"),
        (Layer::Ipc, "shared memory and message queues cannot be used at all"),
        (Layer::Hostname, "the host name is the machine's"),
        (Layer::Network, "no socket can be made at all"),
    ];
    for (layer, why) in instead {
        if missing.iter().all(|one| one.layer != layer) {
            missing.push(Missing { layer, why: why.to_owned() });
        }
    }
    let limits = "memory and processes are counted ten times a second";
    missing.push(Missing { layer: Layer::Limits, why: limits.to_owned() });
    if abi < ABI_SCOPES {
        let why = "signals cannot be sent at all".to_owned();
        missing.push(Missing { layer: Layer::Landlock, why });
    }
    missing
}

/// In which trees not all that is secret is hidden, and why.
fn not_covered(policy: &Policy, uncovered: &[Spot], late: &SecretWatch) -> Vec<Missing> {
    let mut missing = Vec::new();
    let mut say = |tree: &Spot, why: &str| {
        let why = format!("{} {why}", tree.path().display());
        missing.push(Missing { layer: Layer::Masks, why });
    };
    for tree in uncovered {
        say(
            tree,
            "has a mount in it, or lies where no overlay can: a secret file that comes to be in it while the command runs is not hidden",
        );
    }
    for cover in policy.covers.iter().filter(|cover| cover.is_cut) {
        say(
            &cover.tree,
            "has more folders than are looked through: secret files deep in it are not hidden",
        );
    }
    if policy.is_listed_by_folders {
        let why = "there are too many files for a rule each: a secret file that comes to be in the project while the command runs is not hidden";
        missing.push(Missing { layer: Layer::Masks, why: why.to_owned() });
    }
    if late.is_cut() && policy.tier == Tier::A {
        let why = "the kernel follows no more folders: a secret file with an unusual name that comes while the command runs is not noticed";
        missing.push(Missing { layer: Layer::Masks, why: why.to_owned() });
    }
    missing
}

/// How the kernel names the namespace of this process that a layer is made of.
pub(super) fn namespace(layer: Layer) -> Option<String> {
    let name = match layer {
        Layer::Ipc => "ipc",
        Layer::Hostname => "uts",
        Layer::Network => "net",
        _ => return None,
    };
    let link = fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// What listens outside while the cell attacks itself.
#[derive(Debug)]
struct Outsiders {
    port: TcpListener,
    name: String,
    _abstract: UnixListener,
}

impl Outsiders {
    fn listen() -> io::Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let name = format!("ao-cell-{}-{}", std::process::id(), port.local_addr()?.port());
        let address = SocketAddr::from_abstract_name(&name)?;
        Ok(Self { port, name, _abstract: UnixListener::bind_addr(&address)? })
    }

    fn targets(&self) -> Targets {
        let named = [Layer::Ipc, Layer::Hostname, Layer::Network];
        Targets {
            process: std::process::id().cast_signed(),
            port: self.port.local_addr().map_or(0, |address| address.port()),
            name: self.name.clone(),
            namespaces: named
                .into_iter()
                .filter_map(|layer| Some((layer, namespace(layer)?)))
                .collect(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the room that starts programs")]
fn start_holder(holder: &Path, control: UnixStream) -> io::Result<Child> {
    Command::new(holder)
        .arg0("ao")
        .arg(WORD)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(control)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Used by the supervisor, which owns the socket.
pub(super) fn send_policy(
    control: &UnixStream,
    policy: &Policy,
    input: &[u8],
) -> io::Result<Vec<TcpListener>> {
    message::send(control, policy)?;
    message::send_secrets(control, &policy.secrets)?;
    send_input(control, input)?;
    let descriptors = message::receive_descriptors(control)?;
    Ok(descriptors.into_iter().map(TcpListener::from).collect())
}

/// The holder gets a pipe, and nothing if there is nothing to read. It is filled by a thread: a program may read late,
/// or never. With the cell the last reader is gone, and the thread ends.
fn send_input(control: &UnixStream, input: &[u8]) -> io::Result<()> {
    if input.is_empty() {
        return message::send_descriptors(control, &[]);
    }
    let (theirs, mut ours) = io::pipe()?;
    message::send_descriptors(control, &[theirs.as_fd()])?;
    let input = input.to_vec();
    thread::Builder::new().spawn(move || {
        // A program need not read all of it.
        let _ = ours.write_all(&input);
    })?;
    Ok(())
}
