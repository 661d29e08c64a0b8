use super::*;

fn titles(text: &str) -> Vec<String> {
    read(text.as_bytes()).unwrap().items.into_iter().map(|item| item.title).collect()
}

// proves: LOOP-19
#[test]
fn items_come_in_file_order_with_what_describes_them() {
    let text = "\u{feff}# Tonight\r\n\r\n<!-- - not this\r\n- nor this -->\r\n\
        - Fix the lock [severity: High] [file: src/lock.rs]\r\n\
        \tIt was seen twice. [file: `src/lib.rs`]\r\n\r\n\
        \x20 - with a list\r\n\
        // a comment\r\n\
        2) Write [the docs]\r\n\
        10. Last [severity: urgent]\r\n";
    let queue = read(text.as_bytes()).unwrap();
    let [lock, docs, last] = &queue.items[..] else { panic!("{queue:?}") };
    assert_eq!(lock.title, "Fix the lock");
    assert_eq!(lock.severity, Some(Severity::High.into()));
    assert_eq!(lock.files, ["src/lock.rs", "src/lib.rs"]);
    assert_eq!(lock.description, "It was seen twice.\n- with a list");
    assert_eq!((lock.line, lock.mark.as_str()), (5, "Fix the lock"));
    assert_eq!((docs.title.as_str(), docs.severity.clone()), ("Write [the docs]", None));
    assert_eq!(last.severity, Some(Open::Other("urgent".into())));
    assert_eq!((queue.unheard.len(), queue.ticked), (0, 0));
}

#[test]
fn what_is_no_item_is_told_of() {
    let text = "fix the build\n- a\nprose\n  indented prose\n---\n- \n-b\n- [x] done\n  more\n- [ ] open\n* star\n";
    let queue = read(text.as_bytes()).unwrap();
    assert_eq!(
        queue.items.iter().map(|i| i.title.as_str()).collect::<Vec<_>>(),
        ["a", "open", "star"]
    );
    assert_eq!(queue.items[1].mark, "[ ] open");
    assert_eq!((queue.unheard, queue.ticked), (vec![1, 3, 4, 6, 7], 1));
    assert_eq!(titles("  - a\n    b\n  - c\n"), ["a", "c"]);
    assert_eq!(titles("```\n- no\n```\n- yes\n"), ["yes"]);
    assert_eq!(titles("- [file: a.rs]\n"), ["Look at a.rs"]);
    assert_eq!(titles("- \"quoted\" $(x) `y` 🦀 -z\n"), ["\"quoted\" $(x) `y` 🦀 -z"]);
}

#[test]
fn what_is_no_queue_is_refused() {
    let large = vec![b'-'; QUEUE_BYTES_MAX + 1];
    assert_eq!(read(&large), Err(QueueError::TooLarge));
    for binary in [&b"- a\0b"[..], b"\x7fELF\xff", b"- \xc3\x28"] {
        assert_eq!(read(binary), Err(QueueError::Binary));
    }
    for empty in ["", "\n\n", "# only\n", "<!-- - a", "prose", "- [x] done\n", "1.no\n", "-\n"] {
        assert_eq!(read(empty.as_bytes()), Err(QueueError::NoItems), "{empty:?}");
    }
}

/// Pieces that the reader knows, in every order: it ends, and what it reads is in the file.
#[test]
fn no_text_makes_it_fail() {
    let pieces = [
        "- ",
        "1. ",
        "[",
        "]",
        "[severity:",
        "[file: a]",
        "<!--",
        "-->",
        "```",
        "\n",
        "  ",
        "\t",
        "x",
        "é",
        "[x] ",
        "[ ] ",
        "# ",
        ": ",
        "\r",
    ];
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(state >> 33).unwrap() % pieces.len();
            text.push_str(pieces[at]);
        }
        let Ok(queue) = read(text.as_bytes()) else { continue };
        for item in queue.items {
            assert!(!item.title.is_empty() && !item.title.contains('\n'), "{text:?}");
            assert!(text.contains(&item.mark), "{text:?} {item:?}");
        }
    }
}
