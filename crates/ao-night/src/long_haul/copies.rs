//! Whether a text has words of its own, or those of another.

use ao_corpus::Entry;
use ao_corpus::duplicates::Features;

/// A text of fewer stems says nothing of its own.
const STEMS_MIN: usize = 8;
/// Of the pairs of neighbouring stems of the shorter text, this share in both makes one a quotation of
/// the other, whatever else the longer one has.
const QUOTED_MIN: f64 = 0.5;
/// Of a text with fewer pairs all of them: two words side by side are no quotation.
const FEW_PAIRS: usize = 4;

/// What of an entry's text is compared.
pub(super) fn features(entry: &Entry) -> Features {
    let document = &entry.document;
    let (title, summary) = (document.text("title"), document.text("summary"));
    Features::of(
        [title.as_deref(), summary.as_deref(), Some(document.body())].into_iter().flatten(),
    )
}

pub(super) fn is_short(features: &Features) -> bool {
    features.stems.len() < STEMS_MIN
}

/// Whether one of the two quotes the other.
pub(super) fn is_quotation(one: &Features, other: &Features) -> bool {
    let least = one.pairs.len().min(other.pairs.len());
    let shared = one.pairs.iter().filter(|pair| other.pairs.binary_search(pair).is_ok()).count();
    #[expect(clippy::cast_precision_loss, reason = "sets of words are far smaller than 2^52")]
    let share = if least == 0 { 0.0 } else { shared as f64 / least as f64 };
    share >= if least < FEW_PAIRS { 1.0 } else { QUOTED_MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_one_however_much_is_written_around_it() {
        let packet = Features::of(["The lint gate stalls the checksum lease of the mail relay"]);
        let around = "Before that many other words were written down which nobody had asked for";
        for text in [
            "The lint gate stalls the checksum lease of the mail relay.",
            &format!(
                "{around}: the lint gate stalls the checksum lease of the mail relay. {around}"
            ),
        ] {
            assert!(is_quotation(&packet, &Features::of([text])), "{text}");
        }
        let own = "Our mail relay waited: no lease was given while a checksum was made by the gate of lint";
        assert!(!is_quotation(&packet, &Features::of([own])));
        assert!(!is_quotation(&Features::of(["one"]), &Features::of(["one"])));
        let few = Features::of(["Renew the lease early"]);
        assert!(is_quotation(&few, &Features::of(["We renew a lease early, said somebody"])));
        assert!(!is_quotation(
            &few,
            &Features::of(["Whoever would renew a lease has to be awake"])
        ));
    }
}
