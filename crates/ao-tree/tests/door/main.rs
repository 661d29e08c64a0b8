//! The proof of the door: one protocol, run on file systems that lose, fail, reorder and are
//! changed by others while it runs.

mod anywhere;
mod bite;
mod breed;
mod check;
mod equivalent;
mod explore;
mod fates;
mod fault;
mod image;
mod journal;
mod meeting;
mod moved;
mod mutant;
mod person;
mod scenario;
mod sim;
mod standing;
mod subject;
mod sweep;
mod table;
mod tap;
mod together;
mod toy;
