use std::time::Duration;

use ao_contract::{DurationError, format_duration, parse_duration};

#[test]
fn durations_are_read_as_go_reads_them() {
    let table = [
        ("0", 0),
        ("0s", 0),
        ("8h", 28_800_000),
        ("90m", 5_400_000),
        ("1h30m", 5_400_000),
        ("1.5h", 5_400_000),
        (".5s", 500),
        ("1.s", 1_000),
        ("45s", 45_000),
        ("100ms", 100),
        ("1h1h", 7_200_000),
        ("1000us", 1),
        ("1000µs", 1),
        ("1000000ns", 1),
        ("0.0000000000000000000000001h", 0),
    ];
    for (text, millis) in table {
        assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
    }
}

#[test]
fn junk_is_refused() {
    for text in [
        "", " ", "8", "h", ".h", "8 h", " 8h", "8h ", "-8h", "+8h", "1..5h", "1.5.5h", "8hours",
        "8d", "1e3s", "٣h", "8H", "NaN",
    ] {
        assert_eq!(parse_duration(text), Err(DurationError::Malformed(text.to_owned())), "{text}");
    }
}

#[test]
fn what_is_too_long_is_told_apart_from_junk() {
    assert!(parse_duration("2562047h47m16.854775807s").is_ok());
    for text in
        ["2562047h47m16.854775808s", "9999999999999999999h", &format!("{}s", "9".repeat(60))]
    {
        assert_eq!(parse_duration(text), Err(DurationError::TooLong(text.to_owned())));
    }
}

#[test]
fn durations_are_written_as_go_writes_them() {
    let table = [
        (0, "0s"),
        (1, "1ns"),
        (1_500, "1.5µs"),
        (100_000_000, "100ms"),
        (1_000_000_000, "1s"),
        (1_500_000_000, "1.5s"),
        (60_000_000_000, "1m0s"),
        (758_000_000_000, "12m38s"),
        (28_800_000_000_000, "8h0m0s"),
        (5_400_000_000_001, "1h30m0.000000001s"),
        (36_000_000_000_000, "10h0m0s"),
    ];
    for (nanos, text) in table {
        let duration = Duration::from_nanos(nanos);
        assert_eq!(format_duration(duration), text);
        assert_eq!(parse_duration(text), Ok(duration));
    }
}
