//! `com.agentops.dream.plist`: an agent for the launchd of a Mac.

use std::fmt::Write as _;

use super::{At, Commands, File, Job, heading, quote};

pub(super) const FILE: &str = "com.agentops.dream.plist";
const LABEL: &str = "com.agentops.dream";
/// What the night says, beside the file that starts it.
const LOG: &str = "launchd.log";

pub(super) fn agent(job: &Job) -> File {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!--\n",
    );
    for line in heading(job, "launchd", "macOS") {
        let _ = writeln!(text, "  {}", quote::xml_comment(&line));
    }
    text.push_str(
        "  Local time. launchd starts a night that was slept through when the Mac wakes, one that it was off for never.\n-->\n<plist version=\"1.0\">\n<dict>\n",
    );
    text.push_str(&entry("Label", LABEL));
    text.push_str("  <key>ProgramArguments</key>\n  <array>\n");
    for word in std::iter::once(job.program.as_str()).chain(job.arguments()) {
        let _ = writeln!(text, "    <string>{}</string>", quote::xml(word));
    }
    text.push_str("  </array>\n  <key>EnvironmentVariables</key>\n  <dict>\n");
    for (name, value) in job.environment() {
        let _ = write!(text, "    <key>{name}</key>\n    <string>{}</string>\n", quote::xml(value));
    }
    let At { hour, minute } = job.at;
    let _ = write!(
        text,
        "  </dict>\n  <key>StartCalendarInterval</key>\n  <dict>\n    <key>Hour</key>\n    <integer>{hour}</integer>\n    <key>Minute</key>\n    <integer>{minute}</integer>\n  </dict>\n"
    );
    text.push_str("  <key>RunAtLoad</key>\n  <false/>\n");
    text.push_str(&entry("StandardOutPath", &job.file(LOG)));
    text.push_str(&entry("StandardErrorPath", &job.file(LOG)));
    text.push_str("</dict>\n</plist>\n");
    File { name: FILE, text }
}

fn entry(key: &str, value: &str) -> String {
    format!("  <key>{key}</key>\n  <string>{}</string>\n", quote::xml(value))
}

pub(super) fn commands(job: &Job) -> Commands {
    let file = quote::shell(&job.file(FILE));
    Commands {
        install: vec![
            format!("mkdir -p ~/Library/LaunchAgents && cp -i {file} ~/Library/LaunchAgents/"),
            format!("launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{FILE}"),
        ],
        remove: vec![
            format!("launchctl bootout gui/$(id -u)/{LABEL}"),
            format!("rm ~/Library/LaunchAgents/{FILE}"),
        ],
        notes: vec![
            "A sleeping Mac does not run the job: launchd starts it when the Mac wakes. One that is off at that time misses the night.".into(),
            "There is one agent of this name for a user: `cp -i` asks before it replaces that of another repository.".into(),
        ],
    }
}
