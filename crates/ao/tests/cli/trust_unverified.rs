//! What nothing stands behind: it is promoted with a mark, and the mark stays until a person takes it off.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::night::{Night, learning};
use crate::patterns::{PAGE, POOL};
use crate::repo::{Ran, TestRepo};
use crate::signals::{PNPM, Sessions, session};

const PATH: &str = "knowledge/pending/2026-02-01-pending-10.md";

fn git(root: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/nonexistent");
    git.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-C"]).arg(root);
    let done = git.args(arguments).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A commit of all that is there.
fn commit(repo: &TestRepo) {
    git(repo.root(), &["add", "-A", "-f", ".agents/knowledge", ".agents/learnings"]);
    git(repo.root(), &["commit", "-q", "--allow-empty", "-m", "all"]);
}

/// Where git is found.
fn with_git(repo: &TestRepo, arguments: &[&str]) -> Ran {
    let mut command = repo.command(arguments);
    Ran::of(command.env("PATH", "/usr/bin:/bin").output().unwrap())
}

fn trust(repo: &TestRepo, path: &str) -> Value {
    with_git(repo, &["--json", "trust", path]).expect(0).json()
}

fn spend(night: &Night, more: &[&str]) -> Value {
    let mut command = night.command(more);
    Ran::of(command.env("PATH", "/usr/bin:/bin").output().unwrap()).expect(0);
    night.summary()
}

/// The learning that a pending file became in the last night.
fn promoted(summary: &Value, path: &str) -> String {
    let pending = summary["close_loop"]["pending"].as_array().unwrap();
    let verdict = pending.iter().find(|one| one["path"] == path);
    let verdict = verdict.unwrap_or_else(|| panic!("{path}: {pending:#?}"));
    verdict["promoted_to"].as_str().unwrap_or_else(|| panic!("{verdict:#}")).to_owned()
}

fn says(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("trust: "))
}

fn number(number: usize) -> String {
    learning(number).replacen("date: 2026-03", "date: 2026-02", 1)
}

// proves: GRD-07
#[test]
fn only_a_commit_of_the_very_bytes_makes_code_of_a_pending_text() {
    let night = Night::with(3);
    let repo = &night.repo;
    night.pending(10);
    let told = trust(repo, PATH);
    assert_eq!((&told["trust"], &told["waits"]), (&"unverified".into(), &false.into()), "{told:#}");
    for line in ["trust: user", "trust: code", "trust: unverified"] {
        repo.write(PATH, &number(60).replacen("---\n", &format!("---\n{line}\n"), 1));
        assert_eq!(trust(repo, PATH)["trust"], "unverified", "{line}");
    }
    repo.write(PATH, &number(60));
    git(repo.root(), &["init", "-q"]);
    assert_eq!(trust(repo, PATH)["trust"], "unverified", "a repository without a commit");
    // What is only staged, or only among the objects, is in no commit.
    git(repo.root(), &["commit", "-q", "--allow-empty", "-m", "nothing"]);
    git(repo.root(), &["add", "-f", ".agents"]);
    assert_eq!(trust(repo, PATH)["trust"], "unverified", "it is only staged");
    commit(repo);
    assert_eq!(trust(repo, PATH)["trust"], "code");
    // Its header only lowers it.
    repo.write(PATH, &number(60).replacen("---\n", "---\ntrust: tool\n", 1));
    commit(repo);
    assert_eq!(trust(repo, PATH)["trust"], "tool");
    repo.write(PATH, &number(60));
    commit(repo);
    // One letter more, and the same text under another name, are other texts.
    repo.write(PATH, &(number(60) + "!\n"));
    assert_eq!(trust(repo, PATH)["trust"], "unverified");
    repo.write(PATH, &number(60));
    let other = "knowledge/pending/2026-02-01-other.md";
    repo.write(other, &number(60));
    assert_eq!(trust(repo, other)["trust"], "unverified");
    assert_eq!(trust(repo, PATH)["trust"], "code");
    // Where git is not found, that is said as nothing at all: no commit is known.
    let told = repo.run(&["--json", "trust", PATH]).expect(0).json();
    assert_eq!(told["trust"], "unverified", "{told:#}");
}

/// A night promotes both, one with the mark, and no commit of its work takes the mark off.
// proves: GRD-07, LOOP-24
#[test]
fn a_night_marks_what_nothing_stands_behind_and_a_commit_of_it_changes_nothing() {
    let night = Night::with(4);
    let repo = &night.repo;
    night.pending(10);
    git(repo.root(), &["init", "-q"]);
    commit(repo);
    night.pending(11);
    let loose = "knowledge/pending/2026-02-01-pending-11.md";
    let kept = PATH;
    let planned = with_git(repo, &["--json", "overnight", "plan"]).expect(0).json();
    let summary = spend(&night, &[]);
    assert_eq!(planned["edits"], summary["iterations"][0]["reduce"]["changes"]);
    let (marked, plain) = (promoted(&summary, loose), promoted(&summary, kept));
    assert_eq!(says(&repo.read(&marked)), Some("unverified"));
    assert_eq!(says(&repo.read(&plain)), None, "{}", repo.read(&plain));
    commit(repo);
    assert_eq!(trust(repo, &marked)["trust"], "unverified");
    assert_eq!(trust(repo, &plain)["trust"], "code");
    // It is run again as it was, though git would say something else by now.
    let run = summary["run_id"].as_str().unwrap();
    git(repo.root(), &["checkout", "-q", "--orphan", "other"]);
    fs::remove_dir_all(repo.root().join(".git")).unwrap();
    let told = repo.run(&["--json", "overnight", "replay", run]).expect(0).json();
    assert_eq!(told["identical"], true, "{told:#}");
    // Every place that hands it out says so.
    let word =
        repo.read(&marked).lines().find(|line| line.starts_with("# ")).unwrap()[12..].to_owned();
    let found = repo.run(&["--json", "search", &word]).expect(0).json();
    assert_eq!(found["results"][0]["trust"], "unverified", "{found:#}");
    let text = repo.run(&["search", &word]).expect(0).stdout;
    assert!(text.contains("(trust: unverified)"), "{text}");
    let found = repo.run(&["--json", "lookup", &word]).expect(0).json();
    assert_eq!(found["entries"][0]["trust"], "unverified", "{found:#}");
    assert!(found["markdown"].as_str().unwrap().contains("(trust: unverified):"), "{found:#}");
    let brief = repo.run(&["--json", "knowledge", "brief", "--goal", &word]).expect(0).json();
    assert_eq!(brief["lines"][0]["trust"], "unverified", "{brief:#}");
    assert!(brief["markdown"].as_str().unwrap().contains("trust: unverified"), "{brief:#}");
}

// proves: GRD-07
#[test]
fn who_asks_for_more_has_it_wait_and_a_commit_lets_it_in() {
    let night = Night::with(4);
    let repo = &night.repo;
    night.configure("trust:\n  promote_at: code\n");
    night.pending(10);
    git(repo.root(), &["init", "-q"]);
    let summary = spend(&night, &[]);
    assert_eq!((&summary["close_loop"]["waiting"], repo.exists(PATH)), (&1.into(), true));
    // The next night has nothing to do; a commit is no change of any file here, and is seen all the same.
    spend(&night, &[]);
    std::thread::sleep(std::time::Duration::from_millis(30));
    spend(&night, &[]);
    commit(repo);
    let summary = spend(&night, &[]);
    let path = promoted(&summary, PATH);
    assert_eq!(says(&repo.read(&path)), None);
}

// proves: GRD-07
#[test]
fn a_person_takes_the_mark_off_and_puts_it_on_again() {
    for (is_typed, word) in [(true, "user"), (false, "code")] {
        let night = Night::with(4);
        let repo = &night.repo;
        night.pending(10);
        let path = promoted(&spend(&night, &[]), PATH);
        let text = repo.read(&path);
        assert_eq!(says(&text), Some("unverified"));
        let vouch = ["--json", "trust", &path, "--vouch", "--why", "I ran it"];
        let done = if is_typed { repo.typed(&vouch) } else { repo.run(&vouch) }.expect(0).json();
        assert_eq!(says(&repo.read(&path)), Some(word));
        let told = trust(repo, &path);
        assert_eq!(
            (&told["trust"], &told["vouched"]),
            (&word.into(), &is_typed.into()),
            "{told:#}"
        );
        // It can be undone, whole, and taken back.
        repo.run(&["tree", "undo", done["id"].as_str().unwrap(), "--only"]).expect(0);
        assert_eq!(repo.read(&path), text);
        repo.run(&vouch).expect(0);
        repo.run(&["trust", &path, "--withdraw"]).expect(0);
        assert_eq!(trust(repo, &path)["trust"], "unverified");
        assert_eq!(
            repo.run(&["--json", "trust"]).expect(0).json()["vouched"],
            serde_json::json!([])
        );
    }
}

// proves: GRD-07, LOOP-25
#[test]
fn the_mark_goes_through_merges_patterns_and_what_takes_another_ones_place() {
    let night = Night::with(4);
    let repo = &night.repo;
    // A copy of an honest learning with one sentence more.
    let copy = learning(1).replacen("id: learning-1", "id: copy", 1) + "It also wakes `zaqu`.\n";
    repo.write("knowledge/pending/2026-02-01-copy.md", &copy);
    for (number, claim) in POOL.iter().take(3).enumerate() {
        let text = format!(
            "---\ndate: 2026-02-0{}\nsource_session: p-{number}\n---\n# {claim}\n\n{}",
            number + 1,
            crate::night::text(300 + number)
        );
        let folder = if number == 0 { "knowledge/pending" } else { "learnings" };
        repo.write(&format!("{folder}/2026-02-0{}-pool-{number}.md", number + 1), &text);
    }
    for _ in 0..2 {
        spend(&night, &[]);
    }
    let learnings = crate::repo::contents(&repo.tree());
    let with = |word: &str| {
        let mut all = learnings.iter().filter(|(path, _)| path.starts_with("learnings/"));
        all.find(|(_, text)| text.contains(word)).unwrap().1.clone()
    };
    assert_eq!(says(&with("zaqu")), Some("unverified"));
    assert_eq!(says(&repo.read(PAGE)), Some("unverified"), "{}", repo.read(PAGE));
    // The page keeps it when that source goes, whatever the others say of themselves: the words are still there.
    let own = learnings.keys().find(|path| path.starts_with("learnings/2026-02-01-close-the"));
    let own = own.unwrap_or_else(|| panic!("{:#?}", learnings.keys()));
    fs::remove_file(repo.agents().join(own)).unwrap();
    let others = |path: &String| path.starts_with("learnings/") && path.contains("-pool-");
    for (path, text) in learnings.iter().filter(|(path, _)| others(path) && *path != own) {
        repo.write(path, &text.replacen("---\n", "---\ntrust: code\n", 1));
    }
    spend(&night, &[]);
    assert!(repo.read(PAGE).contains("withdrawn_sources"), "{}", repo.read(PAGE));
    assert_eq!(says(&repo.read(PAGE)), Some("unverified"), "{}", repo.read(PAGE));
}

// proves: GRD-07
#[test]
fn a_marked_one_ranks_below_its_equals_however_often_it_was_useful() {
    let repo = TestRepo { dir: tempfile::tempdir().unwrap() };
    let text =
        |header: &str| format!("---\n{header}\n---\n# The heron relay\n\nThe heron waits.\n");
    repo.write(
        "learnings/a-marked.md",
        &text("trust: unverified\nutility: 1.0\nmaturity: established"),
    );
    repo.write("learnings/b-plain.md", &text("x: 1"));
    repo.write("learnings/c-other.md", "---\nx: 1\n---\n# Other\n\nAnother text.\n");
    for command in [&["--json", "search", "heron"][..], &["--json", "lookup", "heron"]] {
        let found = repo.run(command).expect(0).json();
        let all = found.get("results").or(found.get("entries")).unwrap().as_array().unwrap();
        assert_eq!(all[0]["path"], ".agents/learnings/b-plain.md", "{found:#}");
    }
    let found = repo.run(&["--json", "search", "heron", "--explain"]).expect(0).json();
    assert_eq!(found["results"][1]["explain"]["amounts"]["trust"], -0.05);
    assert_eq!(found["results"][1]["explain"]["factor"], 0.95);
}

// proves: GRD-07, LOOP-24
#[test]
fn what_is_harvested_waits_unless_the_person_named_the_repository() {
    let night = Night::with(3);
    let other = night.aside.path().join("other");
    let write = |folder: &Path, at: usize| {
        let path = folder.join(format!(".agents/learnings/2026-03-03-theirs-{at}.md"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, learning(90 + at)).unwrap();
    };
    write(&other, 0);
    let home = night.aside.path().join("home");
    let configure = |own: &str, repository: &str| {
        fs::create_dir_all(home.join(".agentops")).unwrap();
        fs::write(home.join(".agentops/config.yaml"), own).unwrap();
        night.configure(repository);
    };
    let spend = || {
        let mut command = night.command(&["--full"]);
        Ran::of(command.env("HOME", &home).output().unwrap()).expect(0);
        night.summary()
    };
    let harvest = format!("dream:\n  harvest_from: [{:?}]\n", other.display().to_string());
    let sources = format!("trust:\n  sources: [{:?}]\n", other.display().to_string());
    let waiting = |at: usize| format!("knowledge/pending/2026-03-03-theirs-{at}.md");
    // A repository cannot say whose word counts, and is told so.
    configure("", &(harvest.clone() + &sources));
    let summary = spend();
    assert!(night.repo.exists(&waiting(0)), "{summary:#}");
    assert!(summary["config_warnings"].to_string().contains("trust.sources"), "{summary:#}");
    let summary = spend();
    assert!(night.repo.exists(&waiting(0)));
    let told = &summary["close_loop"]["pending"][0];
    assert_eq!(told["waits_for_person"], true, "{told:#}");
    // Its commit here does not make it this repository's, and lowering what is asked for does not, either.
    git(night.repo.root(), &["init", "-q"]);
    commit(&night.repo);
    configure("trust:\n  promote_at: model\n", &harvest);
    let mut command = night.command(&["--full"]);
    command.env("HOME", &home).env("PATH", "/usr/bin:/bin");
    Ran::of(command.output().unwrap()).expect(0);
    assert!(night.repo.exists(&waiting(0)));
    // The person's own file can; a repository beside it is not meant.
    write(&other, 1);
    let beside = night.aside.path().join("other-one");
    write(&beside, 2);
    let both = format!(
        "dream:\n  harvest_from: [{:?}, {:?}]\n",
        other.display().to_string(),
        beside.display().to_string()
    );
    configure(&sources, &both);
    spend();
    let own = night.repo.read("learnings/2026-03-03-theirs-1.md");
    assert_eq!(says(&own), None, "{own}");
    assert!(night.repo.exists(&waiting(2)) && night.repo.exists(&waiting(0)));
    assert_eq!(says(&night.repo.read(&waiting(2))), Some("unverified"));
    // What has the mark there has it here.
    let path = other.join(".agents/learnings/2026-03-03-theirs-3.md");
    fs::write(path, learning(93).replacen("---\n", "---\ntrust: unverified\n", 1)).unwrap();
    spend();
    assert_eq!(says(&night.repo.read("learnings/2026-03-03-theirs-3.md")), Some("unverified"));
    // What a relative path means depends on where one is.
    configure("trust:\n  sources: [../other]\n", "");
    let refused = Ran::of(night.command(&[]).env("HOME", &home).output().unwrap());
    assert!(refused.code != 0 && refused.stderr.contains("trust.sources"), "{refused}");
    // A person's word lets it in, with where it comes from.
    configure("", "");
    let vouch = ["trust", "2026-03-03-theirs-0", "--vouch", "--why", "read"];
    night.repo.typed(&vouch).expect(0);
    spend();
    assert!(!night.repo.exists(&waiting(0)));
}

// proves: GRD-07, LOOP-24
#[test]
fn a_lesson_of_a_transcript_waits_for_a_person_always() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    sessions.spend(&[]);
    let [path] = sessions.pending().try_into().unwrap();
    for _ in 0..2 {
        let summary = sessions.spend(&["--full"]);
        let held = summary["close_loop"]["pending"].as_array().unwrap();
        let held = held.iter().find(|one| one["path"] == path.as_str()).unwrap();
        assert_eq!(held["waits_for_person"], true, "{held:#}");
        assert!(held["reason"].as_str().unwrap().contains("a transcript"), "{held:#}");
        assert_eq!(held["trust_why"][0], "it comes from a transcript");
    }
    let told = sessions.run(&["--json", "overnight", "explain", &path]).expect(0).json();
    let rule = &told["rules"][0];
    let origin = rule["signals"].as_array().unwrap().iter().find(|one| one["name"] == "origin");
    assert_eq!(origin.unwrap()["holds"], false, "{rule:#}");
    // In a commit, and with less asked for: it waits.
    git(&sessions.root(), &["init", "-q"]);
    commit(&sessions.night.repo);
    sessions.night.configure("trust:\n  promote_at: model\n");
    let mut command = sessions.night.command(&["--full"]);
    command.env("HOME", &sessions.home).env("PATH", "/usr/bin:/bin");
    Ran::of(command.output().unwrap()).expect(0);
    assert_eq!(sessions.pending(), std::slice::from_ref(&path));
    let vouch = ["trust", &path, "--vouch", "--why", "I said it"];
    sessions.night.repo.typed(&vouch).expect(0);
    sessions.spend(&[]);
    let [own] = sessions.promoted().try_into().unwrap();
    assert_eq!(says(&sessions.night.repo.read(&own)), Some("user"));
}

/// Git is asked in a way in which nothing of the repository's own settings starts a program.
// proves: GRD-07, RUN-32
#[test]
fn a_hostile_repository_starts_nothing_when_its_commits_are_read() {
    let night = Night::with(3);
    let repo = &night.repo;
    night.pending(10);
    git(repo.root(), &["init", "-q"]);
    commit(repo);
    let tell = night.aside.path().join("started");
    let evil = night.aside.path().join("evil");
    fs::write(&evil, format!("#!/bin/sh\necho \"$0 $*\" >> {}\n", tell.display())).unwrap();
    let mut mode = fs::metadata(&evil).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&evil, mode).unwrap();
    let evil = evil.display();
    let settings = format!(
        "[core]\n\tfsmonitor = {evil}\n\thooksPath = {0}\n\tpager = {evil}\n\tsshCommand = {evil}\n\teditor = {evil}\n\taskPass = {evil}\n\tgitProxy = {evil}\n\
         [diff]\n\texternal = {evil}\n[credential]\n\thelper = !{evil}\n[filter \"x\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\tprocess = {evil}\n\
         [gpg]\n\tprogram = {evil}\n[alias]\n\trev-parse = !{evil}\n\tcat-file = !{evil}\n\tls-tree = !{evil}\n\
         [remote \"origin\"]\n\turl = ext::{evil} %S\n\tpromisor = true\n\tpartialclonefilter = blob:none\n\tuploadpack = {evil}\n\
         [protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n[extensions]\n\tpartialClone = origin\n",
        night.aside.path().display()
    );
    let config = repo.root().join(".git/config");
    let plain = fs::read_to_string(&config).unwrap();
    // `extensions` count from this version of the format on.
    let plain = plain.replacen("repositoryformatversion = 0", "repositoryformatversion = 1", 1);
    fs::write(&config, plain + &settings).unwrap();
    fs::write(repo.root().join(".gitattributes"), "* filter=x diff=x\n").unwrap();
    fs::write(repo.root().join(".git/info/attributes"), "* filter=x\n").unwrap();
    let pending = PATH;
    assert_eq!(trust(repo, pending)["trust"], "code");
    // With an object missing, git would fetch it by the program that the repository names.
    let object = Command::new("git")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .arg("-C")
        .arg(repo.root())
        .args(["-c", "protocol.allow=never", "hash-object", "--no-filters"])
        .arg(repo.agents().join(pending))
        .output()
        .unwrap();
    let id = String::from_utf8(object.stdout).unwrap().trim().to_owned();
    fs::remove_file(repo.root().join(format!(".git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
    let before = crate::repo::files(&repo.root().join(".git"));
    let told = trust(repo, pending);
    assert_eq!(told["trust"], "unverified");
    assert!(told["why"].to_string().contains("git cannot say"), "{told:#}");
    spend(&night, &[]);
    assert!(!tell.exists(), "{}", fs::read_to_string(&tell).unwrap());
    assert!(crate::repo::files(&repo.root().join(".git")) == before, "git wrote something");
    assert!(!repo.exists(pending), "the rest of the night goes on");
}

/// Both sides of a dispute are quoted in a brief, whether or not a line of theirs is.
// proves: GRD-07
#[test]
fn a_side_of_a_dispute_has_its_mark_in_a_brief() {
    let repo = TestRepo { dir: tempfile::tempdir().unwrap() };
    for (name, day, mark, seconds) in
        [("own", 1, "x: 1", 30), ("loose", 2, "trust: unverified", 90)]
    {
        let text = format!(
            "---\ndate: 2026-03-0{day}\nsource_session: s-{name}\n{mark}\n---\n# The relay\n\nThe relay timeout is {seconds} seconds.\n"
        );
        repo.write(&format!("learnings/relay-{name}.md"), &text);
    }
    let brief =
        repo.run(&["--json", "knowledge", "brief", "--goal", "relay timeout"]).expect(0).json();
    let markdown = brief["markdown"].as_str().unwrap();
    let card = markdown
        .lines()
        .find(|line| line.contains(" against "))
        .unwrap_or_else(|| panic!("{markdown}"));
    let (own, loose) = card.split_once(" against ").unwrap();
    assert!(loose.contains("90 seconds") && loose.contains("trust: unverified"), "{card}");
    assert!(!own.contains("trust:"), "{card}");
}

/// The name of a pending file still leads somewhere after its promotion: to what was filed, behind which there is as
/// little as before.
// proves: GRD-07
#[test]
fn what_was_promoted_is_trusted_no_more_where_it_is_filed() {
    let night = Night::with(3);
    night.pending(10);
    let learning = promoted(&spend(&night, &[]), PATH);
    let filed = PATH.replace("/pending/", "/processed/");
    for path in ["2026-02-01-pending-10", &filed, &learning] {
        assert_eq!(trust(&night.repo, path)["trust"], "unverified", "{path}");
    }
}
