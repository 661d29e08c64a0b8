//! Words are bounded, folded, and the same wherever the text is cut between them.

#![no_main]

use ao_corpus::words::{each_word, is_stop_word, stem, stems};
use libfuzzer_sys::fuzz_target;

const WORD_BYTES_MAX: usize = 64;

fuzz_target!(|text: &str| {
    let mut words = Vec::new();
    each_word(text, |word| words.push(word.to_owned()));
    for word in &words {
        assert!(!word.is_empty() && word.len() <= WORD_BYTES_MAX, "{word:?}");
        assert!(
            !word.contains(char::is_whitespace) && !word.bytes().any(|b| b.is_ascii_uppercase()),
            "{word:?}"
        );
        let _ = (is_stop_word(word), stem(word));
    }
    assert!(stems(text).len() <= words.len());
    let mut twice = Vec::new();
    each_word(&format!("{text}\n{text}"), |word| twice.push(word.to_owned()));
    assert_eq!(twice.len(), words.len() * 2);
});
