//! A morning command runs in a shell as it stands, whatever the title holds.

use std::process::Command;

use ao_contract::MorningPacket;
use ao_night::{Template, TemplateError};
use serde_json::json;

const TITLES: [&str; 18] = [
    "plain",
    "it's \"quoted\" 'twice'",
    "two\nlines",
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    "\"; touch pwned; \"",
    "'\"'\"'$(touch pwned)",
    "${HOME} $HOME ~ * ? [a]",
    "a \\ b \\' c \\\" d\\",
    "emoji 🦀 and é",
    "# not a comment",
    "a && touch pwned || touch pwned & touch pwned",
    "> pwned",
    "!history !!",
    "\t tabs \r",
    "{id} {title} {files}",
    "%s %n",
];

fn packet(title: &str, files: &[&str]) -> MorningPacket {
    serde_json::from_value(json!({
        "id": "dream-0d9fa4d5f2e0d7a1", "rank": 1, "title": title, "type": "bug", "severity": "high",
        "why_now": "", "morning_command": "", "target_files": files,
    }))
    .unwrap()
}

/// What the shell prints, in an empty folder that stays empty.
fn run(shell: &str, command: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let run = Command::new(shell).arg("-c").arg(command).current_dir(dir.path()).output().unwrap();
    assert!(run.status.success(), "{command}\n{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "{command}");
    String::from_utf8(run.stdout).unwrap()
}

// proves: REP-11
#[test]
fn any_title_is_one_word_to_a_shell() {
    let templates = [
        ("printf '<%s>' {title}", "<", ">"),
        ("printf '<%s>' \"a {title} b\"", "<a ", " b>"),
        ("printf '<%s>' 'a {title} b'", "<a ", " b>"),
        ("printf '<%s>' --title={title}", "<--title=", ">"),
        ("printf '<%s>' x\\ {title}", "<x ", ">"),
        ("printf '<%s>' \"$(printf '%s' {title})\"", "<", ">"),
        ("printf '<%s>' \"$(printf '%s' \"{title}\")\"", "<", ">"),
        ("(cd . && printf '<%s>' {title})", "<", ">"),
        ("printf '<%s>' {title} # {title}", "<", ">"),
    ];
    for (template, before, after) in templates {
        let parsed = Template::parse(template).unwrap();
        for title in TITLES {
            // A title is on one line wherever a night makes it, and a comment ends with its line.
            let title =
                if template.contains('#') { title.replace('\n', " ") } else { title.into() };
            let command = parsed.fill(&packet(&title, &[]));
            // `$(…)` itself drops line ends at the end, and no title has one there.
            assert_eq!(run("sh", &command), format!("{before}{title}{after}"), "{template}");
        }
    }
}

#[test]
fn a_title_is_no_option_and_a_file_neither() {
    let template = Template::parse("printf '<%s>' {title} {files}").unwrap();
    let command = template.fill(&packet("-n --version", &["-rf", "a b.rs", "src/$(x).rs"]));
    assert_eq!(run("sh", &command), "< -n --version><./-rf><a b.rs><src/$(x).rs>");
    let command = template.fill(&packet("none", &[]));
    assert_eq!(run("sh", &command), "<none>");
}

#[test]
fn without_a_template_it_prints_the_packet() {
    let command = Template::default().fill(&packet("$(touch pwned)", &[]));
    assert_eq!(command, "ao overnight packet dream-0d9fa4d5f2e0d7a1");
    assert_eq!(Template::parse("ao overnight packet {id}").unwrap(), Template::default());
}

#[test]
fn a_template_that_cannot_be_filled_safely_is_refused() {
    use TemplateError::{Ansi, Control, Dollar, Empty, Long, Open, SecondReading, Unquotable};
    for (template, why) in [
        ("", Empty),
        ("  ", Empty),
        ("a\nb", Control),
        ("echo '{title}", Open),
        ("echo \"{title}", Open),
        ("echo {title} \\", Open),
        ("echo $(x {title}", Open),
        ("echo `x {title}`", Unquotable("{title}")),
        ("echo \"`x '{title}'`\"", Unquotable("{title}")),
        ("echo ${x:-{title}}", Unquotable("{title}")),
        ("echo $'{title}'", Ansi),
        ("echo ${title}", Dollar("{title}")),
        ("sh -c \"echo {title}\"", SecondReading("sh")),
        ("/bin/bash -lc 'claude {title}'", SecondReading("bash")),
        ("eval echo {title}", SecondReading("eval")),
        ("env A=1 ssh host claude {files}", SecondReading("ssh")),
    ] {
        assert_eq!(Template::parse(template), Err(why), "{template}");
    }
    assert_eq!(Template::parse(&"x".repeat(5000)), Err(Long));
    for fine in [
        "sh -c 'ao overnight packet {id} | claude -p'",
        "cd \"$(git rev-parse --show-toplevel)\" && claude -p {title}",
        "echo \\{title} ${HOME:-x} `date`",
        "echo {unknown} {} {title}",
    ] {
        assert!(Template::parse(fine).is_ok(), "{fine}");
    }
}
