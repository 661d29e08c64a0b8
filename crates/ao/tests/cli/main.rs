//! The built binary, driven from outside.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make their own files and start the binary themselves"
)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_input;
mod bench;
mod brief_disputes;
mod carry;
mod cell;
mod cell_bad_input;
mod cell_honest;
mod cell_layers;
mod cell_limits;
mod cell_network;
mod cell_places;
mod cell_secrets;
mod cell_writes;
mod council;
mod council_limits;
mod curator;
mod curator_drafts;
mod curator_engine;
mod curator_events;
mod curator_lint;
mod curator_work;
mod cut_off;
mod defrag;
mod demo;
mod documents;
mod duplicates;
mod durable;
mod evening;
mod explain;
mod explain_state;
mod feedback;
mod fitness;
mod flywheel;
mod frame;
mod generate;
mod guard_audit;
mod guard_calls;
mod guard_check;
mod guard_hook;
mod guard_install;
mod guard_texts;
mod harvest;
mod house;
mod knowledge;
mod last;
mod last_places;
mod lock;
mod long_haul;
mod lookup;
mod marker;
mod merge;
mod metrics;
mod night;
mod night_bad_input;
mod night_beads;
mod night_corpus;
mod night_dry;
mod night_flags;
mod night_halts;
mod night_history;
mod night_loop;
mod night_report;
mod night_resume;
mod night_settled;
mod night_time;
mod notify;
mod packet;
mod patterns;
mod patterns_claims;
mod prune;
mod questions;
mod receipts;
mod receipts_crash;
mod receipts_night;
mod receipts_places;
mod redact;
mod redteam;
mod replay;
mod replay_council;
mod repo;
mod report;
mod report_files;
mod rule;
mod rule_later;
mod rule_undo;
mod runners;
mod runners_command;
mod schema;
mod search;
mod setup;
mod setup_files;
mod setup_places;
mod setup_preflight;
mod setup_systemd;
mod shell_checks;
mod signals;
mod signals_bad_input;
mod signals_night;
mod signals_secrets;
mod signals_set;
mod signals_whose;
mod signals_words;
mod travel;
mod travel_bisect;
mod travel_cache;
mod travel_nights;
mod tree;
mod trust;
mod trust_promotion;
mod undo;
mod vault;
mod vault_auth;
mod vault_damage;
mod vault_planted;
mod vault_rotate;
mod vault_run;
mod vault_scan;
mod vault_store;

/// Whether everything is to be looked at, and not a sample.
fn is_sweep() -> bool {
    std::env::var_os("AO_SWEEP").is_some_and(|value| value == "1")
}
