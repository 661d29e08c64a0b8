//! Bash itself says whether the reader of shell text is right.
//!
//! Texts are put together at random from everything that moves a write elsewhere: directories, lists,
//! pipes, substitutions, quotes, here-documents, programs that start others. Whatever the judge lets
//! through is run, and nothing outside of the scope may be different afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ao_guard::{Owned, Policy, Project};

const CASES: u64 = 3000;
const DEPTH_MAX: u32 = 3;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

const TARGETS: [&str; 22] = [
    "dreams/y",
    "dreams/y",
    "dreams/sub/z",
    "./dreams/w",
    "\"dreams/q q\"",
    "'dreams/s'",
    "dreams/a.md",
    "y",
    "y",
    "x",
    "other/z",
    "dreams/../x",
    "$T",
    "dreams/$E",
    "\"$T\"",
    "~/h",
    "dre\\\nams/v",
    "dreams/link/z",
    "../up",
    "dreams/*.md",
    "{x,dreams/y}",
    "$'x'",
];
const FOLDERS: [&str; 10] =
    ["dreams", "dreams", "dreams/sub", "other", "..", ".", "$D", "nope", "-", "\"dreams\""];
const JOINS: [&str; 6] = ["; ", " && ", " && ", " || ", " | ", "\n"];

fn list(dice: &mut Dice, depth: u32) -> String {
    let mut text = atom(dice, depth);
    for _ in 0..dice.roll(3) {
        text.push_str(dice.pick(&JOINS));
        text.push_str(&atom(dice, depth));
    }
    text
}

fn atom(dice: &mut Dice, depth: u32) -> String {
    let target = dice.pick(&TARGETS).to_owned();
    if depth < DEPTH_MAX && dice.roll(3) == 0 {
        let (one, two) = (list(dice, depth + 1), list(dice, depth + 1));
        // Without quotes of their own, for what stands between quotes.
        let (bare, flat) = (one.replace('\'', ""), one.replace(['\'', '\n'], " "));
        return match dice.roll(38) {
            0 => format!("( {one} )"),
            1 => format!("( {one} ) > {target}"),
            2 => format!("{{ {one}\n}}"),
            3 => format!("{{ {one}\n}} >> {target}"),
            4 => format!("if {one}\nthen {two}\nfi"),
            5 => format!("if {one}\nthen {two}\nfi > {target}"),
            6 => format!("for i in 1 2; do {one}\ndone"),
            7 => format!("echo $({one}\n) > {target}"),
            8 => format!("echo \"a $({one}\n) b\""),
            9 => format!(": ${{V:-$({one}\n)}}"),
            10 => format!("cat <({one}\n)"),
            11 => format!("cat <<E > {target}\n$({one}\n)\nE\n"),
            12 => format!("while {one}\ndo {two}\nbreak; done"),
            13 => format!("until {one}\ndo {two}\nbreak; done"),
            14 => format!("echo `{}`", one.replace(['`', '\\'], "")),
            15 => format!("echo $(( $({one}\n) + 1 ))"),
            16 => format!("{{ {one}\n}} <<E | cat\n> x\nE\n"),
            17 => format!("cat <<-\"E\" && {two}\n\t$({one}\n\tE\n"),
            18 => format!("echo \"a ${{V:-b $({one}\n)}} c\" 'd $(touch x)'"),
            19 => format!("[[ -n $({one}\n) || x > y ]] && {two}"),
            20 => format!("cat < <({one}\n) > {target}"),
            21 => format!("eval '{}'", one.replace('\'', "")),
            22 => format!("sh -c '{}'", one.replace('\'', "")),
            // What one reader could take for another's input, or hide from it.
            23 => format!("{{ {one}\necho 'touch y'; echo ls; }} | sh"),
            24 => format!("echo 'touch y' | A=$({one}\n) sh"),
            25 => format!("echo 'touch y' | bash 3<<<ls; {one}"),
            26 => format!("set -- 1; for i do {one}\ndone"),
            27 => format!("[[ -e <({one}\n) ]]"),
            28 => format!("[[ -n a # ]] && echo '\n]]; {flat} #'"),
            29 => format!("echo ${{z:-{{}}; {flat}; echo }}"),
            30 => format!("echo $(( 1 $(: \"((\") )); {flat}; echo \"))\""),
            31 => format!("v='a[$({flat})]'; echo $((v))"),
            32 => format!("v='a[$({flat})]'; [[ $v -eq 0 ]]; [ -v \"$v\" ]; unset \"$v\""),
            33 => format!("sh -c '[[ -n a || {bare} ]]'"),
            34 => format!("v='5 {flat}'; timeout $v cat dreams/a.md; nice -n $v ls"),
            35 => format!("i=0; while [ $i -lt 2 ]; do {one}\ni=$((i+1)); done"),
            36 => format!("eval '{bare}'; {two}"),
            _ => format!("! {one}"),
        };
    }
    match dice.roll(38) {
        0..=2 => format!("echo hi > {target}"),
        3 => format!("echo hi >> {target}"),
        4..=6 => format!("cd {}", dice.pick(&FOLDERS)),
        7 => format!("touch {target}"),
        8 => format!("cp dreams/a.md {target}"),
        9 => format!("mv dreams/a.md {target}"),
        10 => format!("rm -f {target}"),
        11 => format!("tee {target} < /dev/null"),
        12 => format!("sed -i s/one/two/ {target}"),
        13 => format!("mkdir -p {target}"),
        14 => format!("cat > {target} <<'E'\nbody > x\nE\n"),
        15 => format!("env A=1 touch {target}"),
        16 => format!("sort -o {target} /dev/null"),
        17 => format!("[[ -e x ]] && touch {target}"),
        18 => format!("find dreams -maxdepth 0 -exec touch {target} ';'"),
        19 => format!("command touch {target} # > x"),
        20 => "true".into(),
        21 => format!("echo hi >| {target}"),
        22 => format!("echo hi &> {target}"),
        23 => format!("ls nope 2> {target}"),
        24 => format!("cat <> {target}"),
        25 => format!("A=1 B=\"> x\" touch {target} #; touch x"),
        26 => format!("read A <<< dreams; touch {target}"),
        27 => format!("export D={}; cd $D", dice.pick(&FOLDERS)),
        28 => format!("echo a |& tee {target}"),
        29 => format!("echo a\\ \\> x '' \"\" > {target}"),
        30 => format!("cat <<E{} > {target}\n> x\nE\n", dice.pick(&["", " ", "\\\n"])),
        31 => "false".into(),
        32 => format!("echo ls | xargs -I{{}} touch {target}"),
        33 => format!("exec -a cat touch {target}"),
        34 => format!("echo touch | xargs -I cat cat {target}"),
        35 => format!("uniq --skip-fields 1 dreams/a.md {target}"),
        36 => format!("find other dreams -maxdepth 0 -execdir touch {target} ';'"),
        _ => "echo 'a > x; touch x' \"> x\" \\> x | cat".into(),
    }
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        let project = place.project();
        for folder in ["dreams/sub", "other"] {
            fs::create_dir_all(project.join(folder)).unwrap();
        }
        fs::create_dir_all(place.dir.path().join("home")).unwrap();
        for file in ["dreams/a.md", "dreams/b.md", "other/o", "x"] {
            fs::write(project.join(file), "one\n").unwrap();
        }
        std::os::unix::fs::symlink("../other", project.join("dreams/link")).unwrap();
        place
    }

    /// Deep enough that a few steps up stay in the place.
    fn project(&self) -> PathBuf {
        self.dir.path().join("1/2/3/4/5/6/project")
    }

    /// Everything but what is owned.
    fn outside(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        walk(self.dir.path(), &self.project().join("dreams"), &mut found);
        found
    }

    fn inside(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        walk(&self.project().join("dreams"), Path::new("/"), &mut found);
        found
    }
}

fn walk(folder: &Path, skipped: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stat = path.symlink_metadata().unwrap();
        if path == skipped {
            continue;
        }
        if stat.is_dir() {
            walk(&path, skipped, found);
        }
        let bytes = stat.is_file().then(|| fs::read(&path).unwrap());
        found.insert(path, bytes);
    }
}

// proves: SCO-01
// pitfall 30
#[test]
fn whatever_is_let_through_writes_nothing_outside_when_bash_runs_it() {
    let mut place = Place::new();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let (mut ran, mut wrote) = (0, 0);
    for case in 0..CASES {
        let text = list(&mut dice, 0);
        let project = place.project();
        let owned = Owned::scopes(&["dreams".into()], &project).unwrap();
        let policy = Policy::new(Project::open(&project).unwrap(), owned).unwrap();
        if policy.judge_shell(&text, &project).is_err() {
            continue;
        }
        ran += 1;
        let (outside, inside) = (place.outside(), place.inside());
        let status = Command::new("timeout")
            .args(["10", "bash", "-c", &text])
            .env("HOME", place.dir.path().join("home"))
            .env("T", "x")
            .env("E", "../x")
            .env("D", "other")
            .current_dir(&project)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_ne!(status.code(), Some(124), "case {case} did not end\n{text}");
        assert_eq!(place.outside(), outside, "case {case} wrote outside\n{text}");
        if place.inside() != inside {
            wrote += 1;
            place = Place::new();
        }
    }
    println!("{CASES} texts, {ran} let through and run, {wrote} wrote in scope");
    assert!(ran > 200 && wrote > 80, "{ran} ran, {wrote} wrote: the test says too little");
}
