//! The destructive classes: what the engine could not bring back from what it has.

use super::options::Options;
use super::words::{Call, has};
use super::{Judged, Walk, git, network, sql};
use crate::scope::{Change, Refusal, Rule};

/// A kind of operation that needs to be listed beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    RecursiveRemoval,
    ForcedPush,
    HardReset,
    BranchDeletion,
    DataDeletion,
    KilledProcess,
    RealSending,
    DisabledProtection,
}

impl Class {
    pub const ALL: [Self; 8] = [
        Self::RecursiveRemoval,
        Self::ForcedPush,
        Self::HardReset,
        Self::BranchDeletion,
        Self::DataDeletion,
        Self::KilledProcess,
        Self::RealSending,
        Self::DisabledProtection,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::RecursiveRemoval => "recursive-removal",
            Self::ForcedPush => "forced-push",
            Self::HardReset => "hard-reset",
            Self::BranchDeletion => "branch-deletion",
            Self::DataDeletion => "data-deletion",
            Self::KilledProcess => "killed-process",
            Self::RealSending => "real-sending",
            Self::DisabledProtection => "disabled-protection",
        }
    }
}

const DATABASES: [&str; 9] = [
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "duckdb",
    "sqlcmd",
    "cockroach",
    "clickhouse-client",
    "snowsql",
];
const MAILERS: [&str; 9] =
    ["mail", "mailx", "sendmail", "mutt", "msmtp", "ssmtp", "swaks", "s-nail", "smtp-cli"];
/// Words in the names of services that keep what could be needed again.
const PROTECTIONS: [&str; 8] =
    ["backup", "audit", "snapshot", "restic", "borg", "syslog", "journald", "logrotate"];

/// Options that say where the database is and how the answer is shown.
const DATABASE_OPTIONS: Options = Options {
    flags: "ABEHNPUWXeqstvwx",
    valued: "cdhpu",
    long: "command= command csv database= dbname= execute= execute expanded host= html \
           no-align no-password no-psqlrc port= quiet table tuples-only user= username= version",
};

type Found = Option<(Class, &'static str)>;

impl Walk<'_> {
    /// Refuses a destructive command that was not listed. It is recognised wherever it stands, also
    /// where nobody could say what else it does.
    pub(super) fn judge_destructive(&mut self, call: &Call<'_>) -> Judged {
        let found = match call.name.as_str() {
            "git" => git::destructive(call),
            "kill" | "pkill" | "killall" | "killall5" | "fuser" | "skill" | "xkill" => {
                killing(call)
            }
            // What it would do to data hangs on a text, which is judged as a whole.
            name if DATABASES.contains(&name) => None,
            name if MAILERS.contains(&name) => sending(call),
            "curl" | "wget" | "http" | "https" | "xh" => network::sending(call),
            _ => removal(call).or_else(|| cloud(call)).or_else(|| protection(call)),
        };
        let Some((class, why)) = found else { return Ok(()) };
        self.allow_listed(class, &call.name, why)
    }

    fn allow_listed(&self, class: Class, subject: &str, why: &str) -> Judged {
        if self.policy.destructive.contains(&class) {
            return Ok(());
        }
        Err(Refusal::new(Rule::Destructive, subject, format!("{}: {why}", class.name())))
    }

    pub(super) fn judge_database(&mut self, call: &Call<'_>) -> Option<Judged> {
        DATABASES.contains(&call.name.as_str()).then(|| self.database(call))
    }

    fn database(&mut self, call: &Call<'_>) -> Judged {
        let mut texts: Vec<String> = Vec::new();
        let mut words = call.arguments.iter().peekable();
        let mut is_first = true;
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            let inline = ["--command=", "--execute=", "-c", "-e"]
                .iter()
                .find_map(|option| text.strip_prefix(option).filter(|rest| !rest.is_empty()));
            if matches!(text, "-c" | "--command" | "-e" | "--execute" | "-Q" | "-q" | "--query") {
                texts.extend(words.next().map(|word| word.text.clone()));
            } else if let Some(inline) = inline {
                texts.push(inline.to_owned());
            } else if !text.starts_with('-') {
                // The first is the database; `sqlite3 FILE SQL` has the text after it.
                if !is_first {
                    texts.push(text.to_owned());
                }
                is_first = false;
            }
        }
        texts.extend(call.input());
        let mut is_reading = !texts.is_empty();
        for text in &texts {
            match sql::effect(text) {
                sql::Effect::Destroys(why) => {
                    self.allow_listed(Class::DataDeletion, &call.name, why)?;
                }
                sql::Effect::Writes => is_reading = false,
                sql::Effect::Reads => {}
            }
        }
        call.all_known()?;
        if matches!(call.name.as_str(), "sqlite3" | "duckdb") {
            self.database_file(call)?;
        }
        if !is_reading || !DATABASE_OPTIONS.are_all(call.arguments) {
            return Err(call.doubt("it changes a database, or runs text that nobody has read"));
        }
        self.reads(call)
    }
}

impl Walk<'_> {
    /// A file that is not there is made, whatever is asked of it.
    fn database_file(&mut self, call: &Call<'_>) -> Judged {
        let Some(file) = call.operands(&[]).into_iter().next() else { return Ok(()) };
        let is_there = file.text == ":memory:"
            || call.directories.iter().all(|folder| folder.join(&file.text).is_file());
        if is_there {
            return Ok(());
        }
        self.write_word(file, Change::Unknown, call.directories)
    }
}

fn removal(call: &Call<'_>) -> Found {
    let is_removal = match call.name.as_str() {
        "rm" => call.has(&["-r", "-R", "--recursive"]),
        "find" | "fd" => call.arguments.iter().any(|word| word.text == "-delete"),
        "shred" | "wipe" | "srm" | "rimraf" | "trash" | "mkfs" | "wipefs" | "blkdiscard"
        | "fdisk" | "parted" => true,
        "rsync" => call
            .arguments
            .iter()
            .any(|word| word.text.starts_with("--delete") || word.text == "--remove-source-files"),
        name => name.starts_with("mkfs."),
    };
    is_removal.then_some((Class::RecursiveRemoval, "it removes more than it names"))
}

fn killing(call: &Call<'_>) -> Found {
    let words = call.arguments;
    let is_own = |text: &str| text.starts_with('%');
    let is_harmless = match call.name.as_str() {
        "kill" => {
            has(words, &["-l", "-L"])
                || words.first().is_some_and(|word| word.text == "-0")
                || words.iter().all(|word| word.text.starts_with('-') || is_own(&word.text))
                    && words.iter().any(|word| is_own(&word.text))
        }
        "fuser" => !has(words, &["-k", "--kill"]),
        _ => false,
    };
    (!is_harmless).then_some((Class::KilledProcess, "it ends a process that was not started here"))
}

fn sending(call: &Call<'_>) -> Found {
    // `mail` without an address reads.
    let is_sending = !matches!(call.name.as_str(), "mail" | "mailx") || !call.arguments.is_empty();
    is_sending.then_some((Class::RealSending, "it sends mail"))
}

/// Programs of services: a verb somewhere in the words.
fn cloud(call: &Call<'_>) -> Found {
    let words: Vec<&str> = call.arguments.iter().map(|word| word.text.as_str()).collect();
    let says = |word: &str| words.contains(&word);
    let starts = |verb: &str| words.iter().any(|word| word.starts_with(verb));
    match call.name.as_str() {
        "dropdb" | "dropuser" => Some((Class::DataDeletion, "it drops a database")),
        "mysqladmin" if says("drop") => Some((Class::DataDeletion, "it drops a database")),
        "redis-cli" | "valkey-cli"
            if words.iter().any(|word| {
                matches!(word.to_ascii_lowercase().as_str(), "flushall" | "flushdb")
            }) =>
        {
            Some((Class::DataDeletion, "it empties a database"))
        }
        "mongosh" | "mongo"
            if words.iter().any(|word| word.contains("drop") || word.contains("deleteMany")) =>
        {
            Some((Class::DataDeletion, "it drops data"))
        }
        "prisma" | "rails" | "rake" | "npx"
            if words.iter().any(|word| {
                matches!(*word, "reset" | "db:drop" | "db:reset" | "--force-reset")
            }) =>
        {
            Some((Class::DataDeletion, "it drops a database"))
        }
        "terraform" | "tofu" | "pulumi" if says("destroy") => {
            Some((Class::RecursiveRemoval, "it takes down what it manages"))
        }
        "docker" | "podman" if says("kill") || says("stop") => {
            Some((Class::KilledProcess, "it ends a container that was not started here"))
        }
        "docker" | "podman" if says("prune") || says("rm") || says("rmi") => {
            Some((Class::RecursiveRemoval, "it removes containers, images or volumes"))
        }
        "kubectl" | "helm" if says("delete") || says("uninstall") || says("drain") => {
            Some((Class::RecursiveRemoval, "it removes what runs elsewhere"))
        }
        "gh" if says("delete") => Some((Class::BranchDeletion, "it deletes what others have")),
        "aws" if starts("send-") || says("publish") && says("sns") => {
            Some((Class::RealSending, "it sends a message"))
        }
        "stripe" | "twilio" | "paddle"
            if says("create") || says("trigger") || starts("api:core:messages") =>
        {
            Some((Class::RealSending, "it sends a message or moves money"))
        }
        _ => None,
    }
}

fn protection(call: &Call<'_>) -> Found {
    let found = (Class::DisabledProtection, "it takes away backups, retention or an audit log");
    let words: Vec<String> =
        call.arguments.iter().map(|word| word.text.to_ascii_lowercase()).collect();
    let says = |word: &str| words.iter().any(|other| other == word);
    let names_one = words.iter().any(|word| PROTECTIONS.iter().any(|name| word.contains(name)));
    let is_protection = match call.name.as_str() {
        "systemctl" | "service" | "launchctl" => {
            (says("stop") || says("disable") || says("mask") || says("unload")) && names_one
        }
        "auditctl" => says("-d") || says("-e") || says("0"),
        "crontab" => says("-r"),
        "restic" => says("forget") || says("prune"),
        "borg" => says("prune") || says("delete"),
        "tmutil" => says("disable") || words.iter().any(|word| word.starts_with("delete")),
        "vssadmin" | "wbadmin" => says("delete"),
        "wevtutil" => says("cl") || says("clear-log"),
        "journalctl" => words.iter().any(|word| word.starts_with("--vacuum")),
        "history" => says("-c"),
        "aws" | "gcloud" | "az" => {
            let off = ["suspended", "--no-backup", "--no-enable-logging"]
                .iter()
                .any(|off| words.iter().any(|word| word.contains(off)));
            let is_zero =
                words.windows(2).any(|pair| pair[0].contains("retention") && pair[1] == "0");
            let is_gone = names_one
                && words.iter().any(|word| {
                    word.starts_with("delete")
                        || word.starts_with("stop-logging")
                        || word.starts_with("disable")
                });
            let is_trail = says("cloudtrail")
                && words.iter().any(|word| word.starts_with("delete") || word.starts_with("stop"));
            off || is_zero
                || is_gone
                || is_trail
                || words.iter().any(|word| word.contains("lifecycle") && word.starts_with("delete"))
        }
        _ => false,
    };
    is_protection.then_some(found)
}
