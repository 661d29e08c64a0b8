//! What a certificate that was refused lacks.

use ao_contract::{Certificate, CertificateVerdict};
use ao_corpus::certificate::{FOUND_WITHIN, checks};

use super::{Alteration, Checked, Flip};

/// One question more that finds the successor, where that is enough.
pub(super) fn flips(certificate: &Certificate, verdict: &str) -> Vec<Flip> {
    if certificate.verdict == CertificateVerdict::Passed {
        return Vec::new();
    }
    let holds = |one: &Certificate| checks(one).iter().all(|check| check.holds);
    let last = u32::try_from(FOUND_WITHIN).unwrap_or(u32::MAX);
    let mut flips = Vec::new();
    for at in 0..certificate.probes.len() {
        let mut other = certificate.clone();
        let probe = &mut other.probes[at];
        if probe.before.is_none() || probe.after.is_some() {
            continue;
        }
        probe.after = Some(last);
        let name = format!("the place of the survivor for `{}`", probe.query);
        if holds(&other) {
            flips.push(Flip {
                changes: vec![Alteration::value(&name, &last, &"none")],
                verdict: verdict.to_owned(),
                checked: Checked::Rule,
            });
        }
    }
    let mut other = certificate.clone();
    other.counted += 1;
    if holds(&other) {
        let change =
            Alteration::value("questions that find it", &other.counted, &certificate.counted);
        let (changes, checked) = (vec![change], Checked::Rule);
        flips.push(Flip { changes, verdict: verdict.to_owned(), checked });
    }
    flips
}
