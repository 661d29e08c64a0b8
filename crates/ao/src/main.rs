//! The binary: argv, one call into a room, rendering.

fn main() {}
