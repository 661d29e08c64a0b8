//! Programs that only look.

use super::builtins::condition;
use super::deciding::VALUED;
use super::options::Options;
use super::words::{Call, is_listed};
use super::{Judged, Walk, sed};
use crate::scope::Change;

/// No option of these writes a file or starts a program.
const READERS: &str = "\
    : [ arch b2sum base32 base64 basename break bzcat cat cksum clear cmp column comm continue \
    cut df diff dig dirname du echo egrep exit expand expr factor false fgrep fmt fold free \
    getconf getent grep groups head hexdump host id join jq ls lsblk lscpu md5sum netstat nl \
    nproc nslookup numfmt od paste pgrep ping pr printenv ps pwd readlink realpath return rev \
    seq sha1sum sha224sum sha256sum sha384sum sha512sum shift sleep stat strings sum tac tail \
    test tokei tput tr true tty type umask uname uptime wc xzcat";

/// Readers with options that write or start something.
const CAREFUL: [(&str, &[&str]); 17] = [
    ("sort", &["-o", "--output", "--compress-program", "-T", "--temporary-directory"]),
    ("rg", &["--pre", "--hostname-bin", "--search-zip", "-z"]),
    ("tree", &["-o", "-R"]),
    ("date", &["-s", "--set"]),
    ("yq", &["-i", "--in-place", "--inplace", "-s", "--split-exp"]),
    ("fd", &["-x", "--exec", "-X", "--exec-batch"]),
    ("fdfind", &["-x", "--exec", "-X", "--exec-batch"]),
    ("zcat", &[]),
    ("gunzip", &[]),
    ("ss", &["-D", "--diag", "-K", "--kill"]),
    ("whoami", &[]),
    ("ag", &["--pager"]),
    ("file", &["-C", "--compile"]),
    ("jobs", &["-x"]),
    ("lsof", &["-D"]),
    ("printf", &["-v"]),
    ("which", &[]),
];

/// Readers with many options that write or start something: only these are taken.
const BOUND: [(&str, Options); 7] = [
    ("less", bound("EFGIJMNQRSXegimnqrsw", "")),
    ("more", bound("cdflpsu", "")),
    ("man", bound("afkw", "")),
    ("bat", bound("Anp", "number plain style= color= line-range= language=")),
    (
        "cloc",
        bound(
            "",
            "by-file by-file-by-lang csv exclude-dir= exclude-ext= exclude-lang= git hide-rate \
             include-ext= include-lang= json md quiet vcs= yaml",
        ),
    ),
    (
        "journalctl",
        bound(
            "Sabefknoprtux0123456789",
            "boot follow grep= lines= no-pager output= priority= reverse since= unit= until= user",
        ),
    ),
    ("wait", bound("nf", "")),
];

/// Options by which programs that look say what they look for and how it is shown.
const LOOKED_FOR: Options = Options {
    flags: "abcdefghijklmnpqrstuvwxyzALS0123456789",
    valued: "",
    long: "all all-namespaces context= filter= follow format= installed json namespace= no-pager \
           no-stream no-trunc outdated property= quiet selector= show-labels since= size tail= \
           timestamps type= upgradable user verbose version",
};

const fn bound(flags: &'static str, long: &'static str) -> Options {
    Options { flags, valued: "", long }
}

/// Of programs with subcommands, the ones that look.
const LOOKING: [(&str, &[&str]); 11] = [
    ("docker", &["ps", "images", "logs", "inspect", "version", "info", "top", "stats", "port"]),
    ("kubectl", &["get", "describe", "logs", "top", "version", "explain"]),
    ("systemctl", &["status", "is-active", "is-enabled", "list-units", "show", "cat"]),
    ("pip", &["list", "show", "freeze", "check"]),
    ("pip3", &["list", "show", "freeze", "check"]),
    ("terraform", &["validate", "version", "show"]),
    ("rustup", &["show", "which"]),
    ("rustc", &["--version"]),
    ("brew", &["list", "info"]),
    ("apt", &["list", "show", "search"]),
    ("dpkg", &["-l", "-L", "-s"]),
];

/// What `ao` itself tells.
const OWN: [&str; 6] = ["search", "lookup", "show", "schema", "metrics", "retrieval-bench"];

impl Walk<'_> {
    pub(super) fn judge_reader(&mut self, call: &Call<'_>) -> Option<Judged> {
        let name = call.name.as_str();
        if is_version_question(call) {
            return Some(self.reads(call));
        }
        if is_listed(READERS, name) {
            return Some(self.look(call));
        }
        if let Some((_, writing)) = CAREFUL.iter().find(|(careful, _)| *careful == name) {
            return Some(self.look_carefully(call, writing));
        }
        if let Some((_, looking)) = LOOKING.iter().find(|(program, _)| *program == name) {
            let first = call.arguments.first().and_then(|word| word.known());
            if !first.is_some_and(|first| looking.contains(&first)) {
                return None;
            }
            return Some(self.look_for(call));
        }
        if let Some((_, options)) = BOUND.iter().find(|(program, _)| *program == name) {
            return Some(self.look_bound(call, *options));
        }
        match name {
            "uniq" => Some(self.uniq(call)),
            "awk" | "gawk" | "mawk" | "nawk" => Some(self.awk(call)),
            "sed" | "gsed" => Some(self.sed(call)),
            "tar" | "bsdtar" => Some(self.tar(call)),
            "unzip" => Some(self.only_with(call, &["-l", "-t", "-v", "-Z"])),
            "gh" => Some(self.gh(call)),
            "ao" => Some(self.own(call)),
            "export" | "declare" | "typeset" | "readonly" | "local" => Some(self.export(call)),
            "read" | "unset" => Some(self.variables(call)),
            "set" => Some(self.set(call)),
            "ulimit" => Some(self.plain_options(call)),
            "hostname" => Some(self.nothing_but(call, 0)),
            "xxd" => Some(self.xxd(call)),
            _ => None,
        }
    }

    /// A subcommand that looks, with options that only say how.
    fn look_for(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        let rest = &call.arguments[1..];
        // `-o yaml` says how; only to one of them it names a setting.
        let has_form = call.name == "kubectl" || call.name == "systemctl";
        let is_form = |word: &crate::shell::Word| has_form && word.text.starts_with("-o");
        let plain: Vec<_> = rest.iter().filter(|word| !is_form(word)).cloned().collect();
        let is_setting = call.name == "apt" && call.has(&["-c", "-o"]);
        if !LOOKED_FOR.are_all(&plain) || is_setting {
            return Err(call.doubt("one of its options is not known"));
        }
        self.reads(call)
    }

    fn look_bound(&mut self, call: &Call<'_>, options: Options) -> Judged {
        call.all_known()?;
        let is_command = call.arguments.iter().any(|word| word.text.starts_with('+'))
            || call.name == "bat" && call.arguments.iter().any(|word| word.text == "cache");
        if !options.are_all(call.arguments) || is_command {
            return Err(call.doubt("one of its options is not known"));
        }
        self.look(call)
    }

    fn look(&mut self, call: &Call<'_>) -> Judged {
        if matches!(call.name.as_str(), "[" | "test") {
            condition(call)?;
        }
        self.reads(call)
    }

    fn look_carefully(&mut self, call: &Call<'_>, writing: &[&str]) -> Judged {
        call.all_known()?;
        // `less +!COMMAND`
        if call.arguments.iter().any(|word| word.text.starts_with('+')) && call.name != "date" {
            return Err(call.doubt("it is told a command to begin with"));
        }
        if call.has(writing) || call.name == "gunzip" && !call.has(&["-c", "--stdout"]) {
            return Err(call.doubt("one of its options writes or starts something"));
        }
        self.look(call)
    }

    fn only_with(&mut self, call: &Call<'_>, options: &[&str]) -> Judged {
        let is_looking = call
            .arguments
            .first()
            .is_some_and(|word| options.iter().any(|option| word.known() == Some(option)));
        if !is_looking {
            return Err(call.doubt("it writes files that are not known beforehand"));
        }
        self.reads(call)
    }

    /// The second file of `uniq` and `xxd` is written.
    fn uniq(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        let operands = call.operands(&["-f", "-s", "-w"]);
        for output in operands.into_iter().skip(1) {
            self.write_word(output, Change::Unknown, call.directories)?;
        }
        self.look(call)
    }

    fn xxd(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        if call.operands(&["-c", "-g", "-l", "-o", "-s", "-n"]).len() > 1 {
            return Err(call.doubt("its second file is written"));
        }
        self.look(call)
    }

    fn awk(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        // Programs given in parts are one program.
        let program: Vec<&str> = call.arguments.iter().map(|word| word.text.as_str()).collect();
        let program = program.join("\n").replace("||", "");
        // A `>` compares, unless something is printed to its left.
        let printed = program.find("print").unwrap_or(program.len());
        let is_plain = !program.contains(['|', '@'])
            && !program[printed..].contains('>')
            && !program.contains("system")
            && !program.contains("getline");
        let options = Options { flags: "", valued: "Fv", long: "" };
        if options.read(call).is_err() || !is_plain {
            return Err(call.doubt("its program could write or start something"));
        }
        self.look(call)
    }

    fn sed(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        let read = sed::read(call).map_err(|why| call.doubt(why))?;
        for file in &read.written {
            self.write_word(file, Change::Unknown, call.directories)?;
        }
        self.reads(call)
    }

    fn tar(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        let mode = call.arguments.first().map(|word| word.text.trim_start_matches('-'));
        let is_listing = mode.is_some_and(|mode| {
            mode == "list" || mode.contains('t') && mode.chars().all(|l| "tvzjJf".contains(l))
        });
        // A list of names that is read from a file can have options in it.
        let listing = Options { flags: "vzjJf", valued: "", long: "" };
        if !is_listing || !listing.are_all(call.arguments.get(1..).unwrap_or_default()) {
            return Err(call.doubt("it writes files that are not known beforehand"));
        }
        self.reads(call)
    }

    fn gh(&mut self, call: &Call<'_>) -> Judged {
        let words: Vec<_> = call.arguments.iter().take(2).filter_map(|word| word.known()).collect();
        match words.as_slice() {
            [_, "view" | "list" | "status" | "diff" | "checks"] | ["status" | "version", ..] => {
                self.reads(call)
            }
            _ => Err(call.doubt("it changes something elsewhere")),
        }
    }

    fn own(&mut self, call: &Call<'_>) -> Judged {
        call.all_known()?;
        let words: Vec<_> = call.operands(&VALUED);
        let known: Vec<&str> = words.iter().filter_map(|word| word.known()).collect();
        match known.as_slice() {
            [first, ..] if OWN.contains(first) => self.reads(call),
            ["tree", "log" | "show" | "diff" | "verify", ..]
            | ["overnight", "report" | "status", ..]
            | ["guard", "check", ..] => self.reads(call),
            _ => Err(call.doubt("it changes the corpus, or the guard itself")),
        }
    }

    fn nothing_but(&mut self, call: &Call<'_>, operands: usize) -> Judged {
        call.all_known()?;
        if call.operands(&[]).len() > operands {
            return Err(call.doubt("it would change the machine"));
        }
        self.reads(call)
    }
}

/// Whether nothing that a variable says could have this program do more than read.
pub(super) fn is_plain(program: &str) -> bool {
    let builtin =
        ["env", "export", "declare", "typeset", "readonly", "local", "read", "unset", "set"];
    is_listed(READERS, program) || builtin.contains(&program)
}

/// `PROGRAM --version` and `PROGRAM --help` of anything that is a plain program.
fn is_version_question(call: &Call<'_>) -> bool {
    match call.arguments {
        [only] => matches!(only.known(), Some("--version" | "--help")),
        _ => false,
    }
}
