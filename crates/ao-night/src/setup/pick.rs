//! Which scheduler this machine has.

use super::Scheduler;
use crate::host::System;

/// What was seen of it.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that was seen or not")]
pub struct Machine {
    pub system: System,
    /// A Linux inside of a Windows.
    pub is_wsl: bool,
    /// It was booted with systemd.
    pub runs_systemd: bool,
    pub has_systemctl: bool,
    pub has_crontab: bool,
    /// A cron was seen to run, or the system starts one by itself.
    pub runs_cron: bool,
}

/// A scheduler, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picked {
    pub scheduler: Scheduler,
    pub why: &'static str,
}

/// The first that is really there.
pub fn pick(machine: &Machine) -> Picked {
    let (scheduler, why) = match machine {
        Machine { system: System::MacOs, .. } => {
            (Scheduler::Launchd, "this is macOS, and launchd is its own")
        }
        Machine { is_wsl: true, .. } => (
            Scheduler::TaskScheduler,
            "this Linux runs in a Windows and not all night: the Task Scheduler can start it",
        ),
        Machine { runs_systemd: true, has_systemctl: true, .. } => (
            Scheduler::Systemd,
            "this machine was booted with systemd, which makes up for a time that went by",
        ),
        Machine { has_crontab: true, runs_cron: true, .. } => {
            (Scheduler::Cron, "systemd does not run here, and a cron does")
        }
        _ if ao_mutant::active("RUN-11/falls-to-cron") => {
            (Scheduler::Cron, "nothing else was found")
        }
        _ => (
            Scheduler::Manual,
            "no scheduler was found: systemd does not run here, and no cron with a crontab on PATH does",
        ),
    };
    Picked { scheduler, why }
}

impl Machine {
    /// Whether a scheduler is one of this machine's system.
    pub fn is_of_this_system(&self, scheduler: Scheduler) -> bool {
        match scheduler {
            Scheduler::Manual => true,
            Scheduler::Cron => self.system != System::Other,
            Scheduler::Launchd => self.system == System::MacOs,
            Scheduler::Systemd => self.system == System::Linux,
            Scheduler::TaskScheduler => self.is_wsl,
        }
    }

    /// What is missing for it to start anything here.
    pub fn lacks(&self, scheduler: Scheduler) -> Option<&'static str> {
        if !self.is_of_this_system(scheduler) {
            return Some("it is another system's: this machine does not have it");
        }
        match scheduler {
            Scheduler::Cron if !self.has_crontab => Some("there is no crontab on PATH"),
            Scheduler::Cron if !self.runs_cron => Some("no cron was seen to run"),
            Scheduler::Systemd if !self.runs_systemd => {
                Some("this machine was not booted with systemd")
            }
            Scheduler::Systemd if !self.has_systemctl => Some("there is no systemctl on PATH"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Machine, Scheduler, System, pick};

    const BARE: Machine = Machine {
        system: System::Linux,
        is_wsl: false,
        runs_systemd: false,
        has_systemctl: false,
        has_crontab: false,
        runs_cron: false,
    };
    const CRON: Machine = Machine { has_crontab: true, runs_cron: true, ..BARE };

    // proves: RUN-11
    #[test]
    fn what_is_there_is_picked() {
        let cases = [
            (BARE, Scheduler::Manual),
            (CRON, Scheduler::Cron),
            // Installed and not running, as in a container.
            (Machine { has_crontab: true, ..BARE }, Scheduler::Manual),
            (Machine { runs_cron: true, ..BARE }, Scheduler::Manual),
            (Machine { has_systemctl: true, ..BARE }, Scheduler::Manual),
            (Machine { runs_systemd: true, ..BARE }, Scheduler::Manual),
            (Machine { has_systemctl: true, runs_systemd: true, ..CRON }, Scheduler::Systemd),
            (Machine { is_wsl: true, ..CRON }, Scheduler::TaskScheduler),
            (Machine { system: System::MacOs, ..CRON }, Scheduler::Launchd),
            (Machine { system: System::Other, ..BARE }, Scheduler::Manual),
        ];
        for (machine, scheduler) in cases {
            let picked = pick(&machine);
            assert_eq!(picked.scheduler, scheduler, "{machine:?}");
            assert_eq!(machine.lacks(picked.scheduler), None, "{machine:?}");
        }
        assert!(BARE.lacks(Scheduler::Launchd).is_some() && BARE.lacks(Scheduler::Cron).is_some());
    }
}
