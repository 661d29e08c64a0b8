//! Models and agent programs: one request in, one validated answer out, recorded.
//!
//! A [`Request`] says what is asked, what it is about and what the answer must look like; a [`Runner`]
//! gives one [`Answer`] or says why there is none ([`Failure`]). What a request is about comes from
//! files that anybody may have written: it is wrapped so that it cannot speak for us ([`wrap`]). No
//! answer is believed before the reader of `ao-contract` has taken it ([`Form`]).
//!
//! [`http`] has the runners that are called over HTTP. Around a runner stand others: [`Metered`] asks the
//! [`ledger`] first, and [`cassette`] records what was said, and plays it back. [`pause`] says what
//! becomes of a runner whose limit is reached.

mod absent;
mod answer;
mod ask;
pub mod cassette;
mod clock;
mod failure;
pub mod http;
mod json;
mod kind;
pub mod ledger;
mod line;
mod login;
mod metered;
pub mod pause;
mod program;
mod request;
mod runner;
mod settings;
mod slug;
pub mod wrap;

pub use absent::Absent;
pub use answer::{Answer, Cost, Said, Usage};
pub use ask::ask;
pub use clock::Clock;
pub use failure::Failure;
pub use kind::Kind;
pub use login::{Login, Way};
pub use metered::{Metered, Nature};
pub use program::{DEPTH, LoggedIn, Probed, Program};
pub use request::{Budget, Form, Material, Request, Usd};
pub use runner::{Exchange, Runner};
pub use settings::{
    Chosen, Origin, RUNNERS_MAX, RefusedKey, RunnerTable, Settings, UnfitSetting, choose, merged,
    unfit,
};
