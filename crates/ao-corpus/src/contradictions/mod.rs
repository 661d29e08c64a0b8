//! Entries that contradict each other: one subject, and claims that cannot both hold.
//!
//! Sentences that claim something are cut out of each entry ([`said`], [`statement`]): what they are about, whether
//! they say yes or no, which values. Those about one thing are found without comparing all pairs ([`find`]) and laid
//! side by side ([`compare`]). Whoever reads a card has to decide between two colleagues, so a wrong one costs more
//! than a missing one: where the scope, the time or the condition differ, or might, nothing is said.

mod among;
mod around;
mod card;
mod clause;
mod compare;
mod disputes;
mod find;
mod identity;
mod lexicon;
mod quantity;
mod ruling;
mod rulings;
mod said;
mod statement;
#[cfg(test)]
mod tests;
mod tokens;

pub(crate) use among::{Dispute, disputes_among};
pub use card::{Cards, by_entry};
pub(crate) use disputes::Disputes;
pub use find::every_statement;
pub use ruling::{Ruled, rule, withdraw};
pub use rulings::{RULINGS, Rulings, path_of};
