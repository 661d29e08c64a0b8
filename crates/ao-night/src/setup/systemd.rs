//! `ao-dream.service` and `ao-dream.timer`: units for the user's own systemd.
//!
//! The program is started by `/usr/bin/env`: systemd refuses a first word with quotes in it, and reads a
//! dollar in it otherwise than in the words that follow.

use std::fmt::Write as _;

use super::{Commands, File, Job, heading, quote};

pub(super) const SERVICE: &str = "ao-dream.service";
pub(super) const TIMER: &str = "ao-dream.timer";

pub(super) fn service(job: &Job) -> File {
    let mut text = comments(job);
    text.push_str(
        "[Unit]\nDescription=One night of ao over the knowledge of a repository\n\n[Service]\nType=oneshot\n",
    );
    for (name, value) in job.environment() {
        let _ = writeln!(text, "Environment={}", quote::systemd_variable(name, value));
    }
    let words = std::iter::once(job.program.as_str()).chain(job.arguments());
    let words: Vec<String> = words.map(quote::systemd_argument).collect();
    let _ = writeln!(text, "ExecStart=/usr/bin/env {}", words.join(" "));
    File { name: SERVICE, text }
}

pub(super) fn timer(job: &Job) -> File {
    let mut text = comments(job);
    let _ = write!(
        text,
        "# Local time. Persistent: a night whose time went by while the machine was off or asleep is started once it\n\
         # runs again, and this user's systemd with it. The machine is not woken for it.\n\
         [Unit]\nDescription=Starts a night of ao every day\n\n\
         [Timer]\nOnCalendar=*-*-* {}:00\nPersistent=true\nUnit={SERVICE}\n\n\
         [Install]\nWantedBy=timers.target\n",
        job.at
    );
    File { name: TIMER, text }
}

fn comments(job: &Job) -> String {
    let lines = heading(job, "systemd", "Linux with systemd");
    lines.iter().fold(String::new(), |text, line| text + "# " + line + "\n")
}

pub(super) fn commands(job: &Job) -> Commands {
    let [service, timer] = [SERVICE, TIMER].map(|name| quote::shell(&job.file(name)));
    let user = quote::shell(&job.user);
    Commands {
        install: vec![
            format!(
                "mkdir -p ~/.config/systemd/user && cp -i {service} {timer} ~/.config/systemd/user/"
            ),
            if ao_mutant::active("RUN-09/command-enables-nothing") {
                "systemctl --user daemon-reload".into()
            } else {
                format!("systemctl --user daemon-reload && systemctl --user enable --now {TIMER}")
            },
        ],
        remove: vec![
            format!("systemctl --user disable --now {TIMER}"),
            format!("rm ~/.config/systemd/user/{SERVICE} ~/.config/systemd/user/{TIMER}"),
            "systemctl --user daemon-reload".into(),
        ],
        notes: vec![
            format!("The timer runs while you are logged in; `loginctl enable-linger {user}` lets it run without."),
            "A machine that is off or asleep at that time does not run the job: systemd makes up for it when the machine is back.".into(),
            "There is one timer of this name for a user: `cp -i` asks before it replaces that of another repository.".into(),
        ],
    }
}
