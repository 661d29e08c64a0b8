//! What looks like a link in notes, and where it leads: no fault is missed, and none is made up.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use crate::curator::Curator;
use crate::repo::files;

const LINT: [&str; 3] = ["enqueue", "--kind", "lint-wiki"];

/// Lints the vault: `rule path:line` of every fault, and how many there are.
fn lint(curator: &Curator) -> (Vec<String>, u64) {
    curator.run(&LINT).expect(0);
    let worked = curator.run(&["--json", "work"]).expect(0).json();
    let outcome = &worked["ended"][0]["outcome"];
    let found = curator.json(outcome["wrote"][0].as_str().unwrap());
    assert_eq!(found["total"], outcome["faults"]);
    let faults = found["faults"].as_array().unwrap().iter().map(|fault| {
        let text = |key: &str| fault[key].as_str().unwrap().to_owned();
        format!("{} {}:{}", text("rule"), text("path"), fault["line"])
    });
    let mut faults: Vec<String> = faults.collect();
    faults.sort();
    (faults, found["total"].as_u64().unwrap())
}

/// A note whose header has three lines.
fn note(title: &str, body: &str) -> String {
    format!("---\ntitle: {title}\n---\n{body}")
}

// proves: CUR-07
#[test]
fn a_link_that_leads_somewhere_is_no_fault() {
    let curator = Curator::new();
    let good = [
        // Headings: in words, as an address, the second of the same words, with a line beneath, with signs.
        "[a](parts.md#one-more) [b](parts.md#one-more-1) [[parts#Underlined]] [[parts#C++ & D]]",
        "[c](parts.md#indented) [[parts#One more#Underlined]] [[parts#^block]] [d](#own)",
        "# Own",
        // Blanks and percent signs.
        "[e](<two words.md>) [f](two%20words.md) [g](two words.md) [h](two%20words.md#its%20part \"t\")",
        "[[two words]] [[100% sure]] [i](100%25%20sure.md) ![[pic 1.png|100]] ![j](deep/pic%201.png)",
        // Paths in double brackets, from anywhere.
        "[[inner/leaf]] [[DEEP/Inner/Leaf.md]] [[deep/inner/leaf#Leaf|x]] [[leaf]] [[Other name]]",
        // Hidden files, folders, links of the file system, which are not followed.
        "[k](.hidden/x.md) [l](deep/) [m](deep/inner) [n](/deep/inner/leaf.md) [o](away/any.md) [[alias]]",
        // Links to the world, and what is none at all.
        "[p](https://x.example/a%zz) [q](mailto:a@b.c) <https://y.example> [r]: say what you like",
        "A call is code: `f[0](gone.md)` and ```[[gone]]``` on one line; \\[[gone]] \\](gone.md)",
        "",
        "    [indented code](gone.md)",
        "",
        "> ```",
        "> [[gone]] in a quotation",
        "> ```",
        "",
        "[t]: two%20words.md 'title'",
    ];
    curator.write("vault/good.md", &note("Good", &good.join("\n")));
    curator.write(
        "vault/parts.md",
        &note("Parts", "# One more\n\nUnderlined\n----------\n\n# One more\n\n## C++ & `D`\n   ### Indented ###\n"),
    );
    curator.write("vault/two words.md", &note("Two", "## Its part\n"));
    curator.write("vault/100% sure.md", &note("Sure", "x\n"));
    curator.write("vault/deep/pic 1.png", "p");
    curator.write(
        "vault/deep/inner/leaf.md",
        "---\ntitle: Leaf\naliases: [Other name]\n---\n# Leaf\n",
    );
    curator.write("vault/.hidden/x.md", "not a note\n");
    symlink("/", curator.path("vault/away")).unwrap();
    symlink("loop", curator.path("vault/loop")).unwrap();
    symlink("..", curator.path("vault/deep/up")).unwrap();
    symlink("good.md", curator.path("vault/alias.md")).unwrap();
    let before = files(&curator.path("vault"));
    let (faults, _) = lint(&curator);
    // What is not followed is said once, and not again for each link to it.
    let left = ["alias.md", "away", "deep/up", "loop"].map(|path| format!("unreadable {path}:1"));
    assert_eq!(faults, left);
    assert_eq!(files(&curator.path("vault")), before);
}

// proves: CUR-07
#[test]
fn a_link_that_leads_nowhere_is_named_however_it_is_written() {
    let curator = Curator::new();
    let bad = [
        ("dead-link", "[over two"),
        ("", "lines](gone.md)"),
        ("dead-link", "[[ never closed and [[gone]]"),
        ("dead-link", "[a](gone%2Emd)"),
        ("dead-link", "[b](two words gone.md)"),
        ("dead-link", "```x``` is no fence, and [[gone]]"),
        ("dead-link", "- an item"),
        ("", ""),
        ("", "    [in a list](gone.md)"),
        ("", "words"),
        ("dead-link", "    [not after a blank line](gone.md)"),
        ("dead-link", "[r]: gone.md"),
        ("dead-link", "[c](%+f.md)"),
        ("outside-link", "[d](%2e%2e/%2e%2e/etc/passwd)"),
        ("outside-link", "[[../../etc/passwd]]"),
        ("dead-heading", "[e](other.md#two)"),
        ("dead-heading", "[f](other.md#one-1)"),
        ("dead-heading", "[[#gone]]"),
        ("dead-link", "[[inner/other]]"),
        ("dead-link", "[g](OTHER.md)"),
        ("dead-link", "[[.hidden]]"),
        ("dead-link", "| [[gone\\|x]] | [h](<gone.md>) |"),
    ];
    let mut text = String::new();
    let mut expected = Vec::new();
    for (line, (rule, words)) in (4..).zip(bad) {
        let _ = writeln!(text, "{words}");
        let line = match words {
            // Told where its path stands.
            "[over two" => line + 1,
            "- an item" => line + 2,
            _ => line,
        };
        if !rule.is_empty() {
            expected.push(format!("{rule} bad.md:{line}"));
        }
        if words.contains("<gone.md>") {
            expected.push(format!("{rule} bad.md:{line}"));
        }
    }
    curator.write("vault/bad.md", &note("Bad", &text));
    curator.write("vault/other.md", &note("Other", "# One\n"));
    curator.write("vault/.hidden.md", "x\n");
    fs::write(curator.path("vault").join(OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    expected.push("unreadable \u{fffd}.md:1".into());
    expected.sort();
    let (faults, total) = lint(&curator);
    assert_eq!(faults, expected);
    assert_eq!(total, expected.len() as u64);
}

// proves: CUR-07
#[test]
fn many_notes_of_one_name_and_a_note_of_many_links_are_linted_soon() {
    const NOTES: usize = 3000;
    const LINKS: usize = 30_000;
    const AMBIGUOUS: usize = 200;
    let curator = Curator::new();
    for number in 0..NOTES {
        curator.write(
            &format!("vault/{number}/index.md"),
            &note(&format!("Title {number}"), "[[index]] [up](../0/index.md)\n"),
        );
    }
    // Told before the others; each could be any of them all, and a message names a few.
    curator.write("vault/a.md", &note("Top", &"[[index]]\n".repeat(AMBIGUOUS)));
    let links = "[x](#gone)\n".repeat(LINKS);
    curator.write("vault/links.md", &note("Links", &links));
    let (faults, total) = lint(&curator);
    assert_eq!(total, (AMBIGUOUS + LINKS) as u64);
    let is_ambiguous = |fault: &&String| fault.starts_with("ambiguous-link a.md:");
    assert_eq!(faults.iter().filter(is_ambiguous).count(), AMBIGUOUS);
    assert!(faults.len() < LINKS, "{}", faults.len());
    let found = curator.names("findings").remove(0);
    let size = fs::metadata(curator.worker("findings").join(found)).unwrap().len();
    assert!(size < 2_000_000, "{size} bytes");
}
