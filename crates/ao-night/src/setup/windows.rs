//! `dream-task.xml` and `register-dream-task.ps1`: a task for the Task Scheduler of a Windows in whose
//! Linux (WSL) this program lives.

use std::fmt::Write as _;

use super::{Commands, File, Job, heading, quote};

pub(super) const TASK: &str = "dream-task.xml";
pub(super) const SCRIPT: &str = "register-dream-task.ps1";
const TASK_NAME: &str = "ao-dream";
/// The day is long gone: only its time of day counts.
const FIRST_DAY: &str = "2026-01-01";

/// Without a first line that names an encoding: PowerShell hands the text over in another one, and then
/// that line is an error.
pub(super) fn task(job: &Job) -> File {
    let mut text = String::from(
        "<Task version=\"1.2\" xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">\n  <!--\n",
    );
    for line in heading(job, "the Task Scheduler", "Windows with WSL") {
        let _ = writeln!(text, "    {}", quote::xml_comment(&line));
    }
    let _ = write!(
        text,
        "    Local time of Windows. The machine is not woken; a night that was missed is started as soon as the machine is there again.\n  -->\n  \
         <RegistrationInfo>\n    <Description>One night of ao over the knowledge of a repository</Description>\n  </RegistrationInfo>\n  \
         <Triggers>\n    <CalendarTrigger>\n      <StartBoundary>{FIRST_DAY}T{}:00</StartBoundary>\n      <Enabled>true</Enabled>\n      \
         <ScheduleByDay>\n        <DaysInterval>1</DaysInterval>\n      </ScheduleByDay>\n    </CalendarTrigger>\n  </Triggers>\n  \
         <Principals>\n    <Principal id=\"Author\">\n      <LogonType>InteractiveToken</LogonType>\n      <RunLevel>LeastPrivilege</RunLevel>\n    </Principal>\n  </Principals>\n  \
         <Settings>\n    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>\n    <DisallowStartIfOnBatteries>true</DisallowStartIfOnBatteries>\n    \
         <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>\n    <StartWhenAvailable>true</StartWhenAvailable>\n    <Enabled>true</Enabled>\n    \
         <WakeToRun>false</WakeToRun>\n    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>\n  </Settings>\n  \
         <Actions Context=\"Author\">\n    <Exec>\n      <Command>wsl.exe</Command>\n      <Arguments>{}</Arguments>\n    </Exec>\n  </Actions>\n</Task>\n",
        job.at,
        quote::xml(&line(job))
    );
    File { name: TASK, text }
}

/// What `wsl.exe` is told, as one line.
fn line(job: &Job) -> String {
    let mut words = Vec::new();
    if let Some(name) = &job.distribution {
        words.extend(["--distribution".to_owned(), quote::windows(name)]);
    }
    words
        .extend(["--user", &quote::windows(&job.user), "--exec", "/usr/bin/env"].map(String::from));
    for (name, value) in job.environment() {
        words.push(quote::windows(&format!("{name}={value}")));
    }
    let rest = std::iter::once(job.program.as_str()).chain(job.arguments());
    words.extend(rest.map(quote::windows));
    words.join(" ")
}

pub(super) fn script(job: &Job) -> File {
    let mut text = String::new();
    for line in heading(job, "the Task Scheduler", "Windows with WSL") {
        let _ = writeln!(text, "# {line}");
    }
    let _ = write!(
        text,
        "# Read it and {TASK} beside it; then run it in PowerShell. It registers one task for your own user.\n\
         # To take it back: Unregister-ScheduledTask -TaskName '{TASK_NAME}'\n\
         $ErrorActionPreference = 'Stop'\n\
         $task = Join-Path -Path $PSScriptRoot -ChildPath '{TASK}'\n\
         Write-Host ('Registers the task {TASK_NAME} for ' + {})\n\
         Register-ScheduledTask -TaskName '{TASK_NAME}' -Xml (Get-Content -LiteralPath $task -Raw -Encoding UTF8)\n",
        quote::powershell(&job.repository)
    );
    File { name: SCRIPT, text }
}

pub(super) fn commands(job: &Job) -> Commands {
    let file = quote::shell(&job.file(SCRIPT));
    let mut notes = vec![
        "The task starts the night in WSL, while you are logged in to Windows. Both files were never seen by a real Task Scheduler: read them first.".into(),
        "A machine that is off or asleep at that time does not run the job; the task is started when it is back.".into(),
    ];
    if line(job).matches('%').count() > 1 {
        notes.push("A path in it has `%` twice: Windows may read what is between them as the name of a variable, and there is no sign that prevents it. A folder without them is safe.".into());
    }
    Commands {
        install: vec![format!(
            "powershell.exe -ExecutionPolicy Bypass -File \"$(wslpath -w {file})\""
        )],
        remove: vec![format!(
            "powershell.exe -Command \"Unregister-ScheduledTask -TaskName '{TASK_NAME}'\""
        )],
        notes,
    }
}
