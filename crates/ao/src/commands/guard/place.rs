//! What is hidden from a program in a cell, and what it is given of the environment.
//!
//! The one place that says so, for `ao guard run` and for the programs of the night.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ao_guard::cell::{Around, Cell, Cells, Floor, Outside, Place};
use ao_tree::own_file;

use super::home::Homes;
use super::secrets_elsewhere::Elsewhere;
use super::toolchains;
use crate::clock;
use crate::commands::vault;
use crate::config;
use crate::repo::{AGENTS, STATE};

/// Given to every program, where they are set; everything else by `--env NAME`.
const VARIABLES: [&str; 9] =
    ["PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "USER", "LOGNAME"];

/// Places of keys, tokens, sessions and histories in a home. A home is hidden as a whole; by this list it
/// is refused to show them by name, and they are hidden where the home is the repository itself.
pub(super) const SECRETS: [&str; 286] = [
    ".ssh",
    ".gnupg",
    ".pki",
    ".putty",
    ".password-store",
    ".config/age",
    ".config/sops",
    ".minisign",
    ".step",
    ".config/step",
    ".acme.sh",
    ".aws",
    ".azure",
    ".azd",
    ".boto",
    ".s3cfg",
    ".passwd-s3fs",
    ".gsutil",
    ".oci",
    ".aliyun",
    ".bluemix",
    ".saml2aws",
    ".ovh.conf",
    ".fly",
    ".vercel",
    ".netlify",
    ".railway",
    ".supabase",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/scw",
    ".config/linode-cli",
    ".config/heroku",
    ".config/netlify",
    ".config/stripe",
    ".config/firebase",
    ".config/configstore",
    ".config/.wrangler",
    ".wrangler",
    ".cloudflared",
    ".local/share/com.vercel.cli",
    ".kube",
    ".docker/config.json",
    ".docker/contexts",
    ".docker/trust",
    ".dockercfg",
    ".config/containers",
    ".config/helm",
    ".minikube",
    ".kind",
    ".talos",
    ".config/argocd",
    ".vault-token",
    ".nomad-token",
    ".terraformrc",
    ".tofurc",
    ".terraform.d/credentials.tfrc.json",
    ".pulumi/credentials.json",
    ".config/op",
    ".op",
    ".1password",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/keepassxc",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/gopass",
    ".config/gopass",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".config/git/credentials",
    ".cache/git",
    ".gitcookies",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/tea",
    ".config/bitbucket",
    ".subversion",
    ".hgrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".config/npm",
    ".config/pnpm",
    ".bunfig.toml",
    ".npm/_logs",
    ".pypirc",
    ".config/pip",
    ".pip",
    ".config/pypoetry",
    ".config/uv",
    ".local/share/uv/credentials",
    ".config/hatch",
    ".config/pdm",
    ".condarc",
    ".conda/aau_token",
    ".continuum",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".local/share/gem/credentials",
    ".bundle/config",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".gradle/init.d",
    ".sbt/.credentials",
    ".ivy2/.credentials",
    ".nuget/NuGet",
    ".config/NuGet",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".hex/hex.config",
    ".cabal/config",
    ".pub-cache/credentials.json",
    ".config/dart",
    ".conan2/credentials.json",
    ".config/sentry-cli.ini",
    ".sentryclirc",
    ".config/datadog",
    ".circleci",
    ".travis",
    ".config/act",
    ".config/snyk",
    ".jfrog",
    ".claude",
    ".claude.json",
    ".config/claude",
    ".config/Claude",
    ".codex",
    ".gemini",
    ".local/share/opencode",
    ".config/opencode",
    ".cursor",
    ".config/cursor",
    ".config/Cursor",
    ".aider",
    ".continue",
    ".config/github-copilot",
    ".copilot",
    ".codeium",
    ".config/goose",
    ".local/share/goose",
    ".local/share/amp",
    ".qwen",
    ".kiro",
    ".config/io.datasette.llm",
    ".ollama/id_ed25519",
    ".ollama/history",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".huggingface",
    ".kaggle",
    ".config/wandb",
    ".modal.toml",
    ".databrickscfg",
    ".databricks",
    ".snowflake",
    ".snowsql",
    ".dbt",
    ".pgpass",
    ".pg_service.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".mongodb",
    ".config/neonctl",
    ".config/ao",
    ".local/share/ao",
    ".local/state/ao",
    ".config/rclone",
    ".rclone.conf",
    ".config/restic",
    ".config/borg",
    ".davfs2",
    ".smbcredentials",
    ".config/syncthing",
    ".local/state/syncthing",
    ".dropbox",
    ".config/ngrok",
    ".ngrok2",
    ".tsh",
    ".config/tailscale",
    ".local/share/tailscale",
    ".config/wireguard",
    ".config/openvpn",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".mozilla",
    ".librewolf",
    ".zen",
    ".waterfox",
    ".thunderbird",
    ".local/share/evolution",
    ".config/evolution",
    ".config/goa-1.0",
    ".mbsyncrc",
    ".msmtprc",
    ".config/msmtp",
    ".fetchmailrc",
    ".offlineimaprc",
    ".muttrc",
    ".mutt",
    ".config/neomutt",
    ".config/aerc",
    ".config/Slack",
    ".config/discord",
    ".config/Signal",
    ".local/share/TelegramDesktop",
    ".config/Element",
    ".weechat",
    ".irssi",
    ".bitcoin",
    ".electrum",
    ".ethereum",
    ".foundry/keystores",
    ".config/solana",
    ".config/Code",
    ".config/VSCodium",
    ".vscode-server/data",
    ".local/share/code-server",
    ".config/code-server",
    ".config/JetBrains",
    ".local/share/JetBrains",
    ".config/zed",
    ".local/share/zed",
    ".jupyter",
    ".local/share/jupyter/runtime",
    ".bash_history",
    ".zsh_history",
    ".zsh_sessions",
    ".sh_history",
    ".histfile",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".irb_history",
    ".lesshst",
    ".viminfo",
    ".wget-hsts",
    ".wgetrc",
    ".curlrc",
    ".local/share/fish",
    ".local/share/atuin",
    ".local/share/nushell",
    ".local/share/Trash",
    ".local/share/recently-used.xbel",
    ".vim/undo",
    ".local/state/nvim",
    ".Xauthority",
    ".ICEauthority",
    ".env",
    ".env.local",
    ".envrc",
    ".secrets",
    ".config/environment.d",
    ".config/systemd",
    ".mcp.json",
    ".config/mcp",
    ".mcp-auth",
    ".var/app",
    "snap",
    ".local/share/flatpak",
    ".tor",
    ".yubico",
    ".config/Yubico",
    ".google_authenticator",
    ".android",
    ".erlang.cookie",
    ".java/.userPrefs",
    ".keystore",
    ".ansible",
    ".vault_pass",
    ".chef",
    ".msf4",
    ".config/ansible",
];
const USERS_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Held by the engine while it works: locks, caches, undo.
const OF_THE_ENGINE: [&str; 2] = [STATE, "ao"];
/// The rest of the knowledge that only the door writes.
const HELD: [&str; 7] = ["learnings", "findings", "patterns", "knowledge", "rpi", STATE, "ao"];
const RUNTIME_FOLDERS: [&str; 2] = ["/var/run", "/var/tmp"];

/// There in every cell of tier A.
const INSIDE: &str = "/run/ao-cell";
/// Where nobody says where programs are. An empty `PATH` would mean the current directory.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin";

/// Cells for the programs that `ao` runs by itself in a repository.
pub(crate) fn cells(root: &Path) -> Cells {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = match ao_guard::trusted_path(&path, root) {
        none if none.is_empty() => PROGRAMS.into(),
        path => path,
    };
    let mut pattern = Cell::new("", root);
    let standing = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let work = CellWork { roots: repositories(&standing), standing, ..CellWork::default() };
    let (outside, told) = outside(&work, &path);
    pattern.environment = environment(&[], &path, told);
    pattern.outside = outside;
    // Of a file that nobody can read it is not known what it asks for.
    pattern.floor = config::floor(root).unwrap_or(Floor::A);
    weaken(&mut pattern);
    Cells {
        holder: "/proc/self/exe".into(),
        temporary: temporary(),
        name: name(),
        place: place(),
        pattern,
        around: around(),
    }
}

/// Where a cell may have its folder.
pub(super) fn temporary() -> Vec<PathBuf> {
    vec![std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()]
}

/// Nobody else's, at this moment.
pub(super) fn name() -> String {
    format!("{}-{}", std::process::id(), clock::now().nanoseconds())
}

/// Whether this process is in a cell itself.
pub(crate) fn around() -> Around {
    let is_inside = std::env::var_os("AO_CELL").is_some() || Path::new(INSIDE).exists();
    if is_inside { Around::Cell } else { Around::Nothing }
}

/// Where the user lives: as the environment says, and as the system does. The first may be missing, or
/// be that of somebody else; the keys are where they are.
pub(super) fn homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::home_dir().into_iter().collect();
    let users = own_file::read_named_text(Path::new("/etc/passwd"), USERS_BYTES_MAX);
    let users = users.unwrap_or_default();
    homes.extend(home_of(rustix::process::getuid().as_raw(), &users));
    homes.retain(|home| home.is_absolute());
    homes.dedup();
    homes
}

/// `name:password:user:group:about:home:shell`.
fn home_of(user: u32, users: &str) -> Option<PathBuf> {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let mut all = users.lines().map(fields);
    let found = all.find(|fields| fields.get(2).is_some_and(|id| *id == user.to_string()))?;
    found.get(5).map(PathBuf::from)
}

/// The rules for a path that is to be writable.
pub(super) fn place() -> Place {
    Place { homes: homes(), knowledge: AGENTS.to_owned(), held: HELD.map(str::to_owned).to_vec() }
}

/// What a command has to do with: where it stands, and what was named for it.
#[derive(Debug, Default)]
pub(super) struct CellWork {
    pub(super) standing: PathBuf,
    /// The repositories around all of it.
    pub(super) roots: Vec<PathBuf>,
    /// What it may write, or sees as a copy.
    pub(super) named: Vec<PathBuf>,
    /// What it may read of what is hidden.
    pub(super) read: Vec<PathBuf>,
}

/// What is hidden and what is shown, for a command that does this work. Toolchains are told to it by
/// their variables.
pub(super) fn outside(work: &CellWork, path: &OsStr) -> (Outside, Vec<(OsString, OsString)>) {
    let homes = Homes::new(&homes());
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut projects: Vec<PathBuf> = work
        .roots
        .iter()
        .filter(|root| homes.may_work_in(root, &work.standing, true))
        .cloned()
        .collect();
    let ours: Vec<PathBuf> = projects.iter().chain(&work.named).cloned().collect();
    let is_shared = |folder: &Path| {
        folder == std::env::temp_dir() || ours.iter().any(|path| path.starts_with(folder))
    };
    let of_vault = vault::place::hidden(None);
    let elsewhere = Elsewhere::find(variable, &of_vault, &homes, is_shared);
    let standing = &work.standing;
    let is_in_one = projects.iter().any(|root| standing.starts_with(root));
    let may_stand = homes.may_work_in(standing, standing, false) && !elsewhere.hides(standing);
    if !is_in_one && may_stand {
        projects.push(standing.clone());
    }
    let mut private: Vec<PathBuf> =
        projects.iter().flat_map(|tree| homes.secrets_at(tree)).collect();
    let mut hidden: Vec<PathBuf> = RUNTIME_FOLDERS.iter().map(PathBuf::from).collect();
    hidden.extend(homes.all().iter().cloned());
    for root in &work.roots {
        hidden.extend(OF_THE_ENGINE.iter().map(|name| root.join(AGENTS).join(name)));
    }
    hidden.extend(elsewhere.hidden);
    private.extend(elsewhere.paths);
    let toolchains = toolchains::find(&homes, variable);
    let mut links = toolchains.links;
    let mut shown = work.read.clone();
    for (name, file) in homes.configuration() {
        let is_there = links.iter().any(|(link, _)| name.starts_with(link));
        links.extend((!is_there).then(|| (name, file.clone())));
        shown.push(file);
    }
    // Tools are found through PATH.
    let programs = std::env::split_paths(path).filter_map(|entry| entry.canonicalize().ok());
    let programs: Vec<PathBuf> = programs
        .filter(|entry| entry.is_absolute() && !homes.is_above(entry))
        .filter(|entry| homes.secret_place(entry).is_none())
        .collect();
    let is_at_home = |entry: &&PathBuf| homes.all().iter().any(|home| entry.starts_with(home));
    shown.extend(programs.iter().filter(is_at_home).cloned());
    let outside = Outside {
        temporary: vec![std::env::temp_dir()],
        hidden,
        shown,
        projects,
        private,
        toolchains: toolchains.all,
        links,
        readable: programs,
    };
    let told = toolchains.variables.into_iter();
    (outside, told.map(|(name, path)| (name.into(), path.into())).collect())
}

/// The folders around a path that are repositories.
pub(super) fn repositories(path: &Path) -> Vec<PathBuf> {
    let is_one = |folder: &&Path| [AGENTS, ".git"].iter().any(|name| folder.join(name).exists());
    path.ancestors().filter(is_one).map(Path::to_owned).collect()
}

/// The variables that a command gets: the few harmless ones, where toolchains are, and those that were
/// named.
pub(super) fn environment(
    named: &[String],
    path: &OsStr,
    toolchains: Vec<(OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let mut variables = toolchains;
    for name in VARIABLES.iter().copied().chain(named.iter().map(String::as_str)) {
        let value = if name == "PATH" { Some(path.to_owned()) } else { std::env::var_os(name) };
        if let Some(value) = value {
            variables.retain(|(other, _)| other != name);
            variables.push((OsString::from(name), value));
        }
    }
    variables
}

/// Tests see that a wall is missed when it is left out, and build the weaker tiers. Not in a
/// binary that is released.
#[cfg(debug_assertions)]
pub(super) fn weaken(cell: &mut Cell) {
    use ao_guard::cell::Tier;
    let value = |name: &str| std::env::var(name).ok();
    cell.broken =
        value("AO_CELL_TEST_WITHOUT").and_then(|name| ao_guard::cell::Layer::by_name(&name));
    cell.landlock_max = value("AO_CELL_TEST_LANDLOCK").and_then(|version| version.parse().ok());
    cell.forced = match value("AO_CELL_TEST_TIER").as_deref() {
        Some("B") => Some(Tier::B),
        Some("D") => Some(Tier::D),
        _ => None,
    };
}

#[cfg(not(debug_assertions))]
pub(super) fn weaken(_: &mut Cell) {}
