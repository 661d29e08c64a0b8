//! Failures on demand: a test sees what one leads to, wherever it comes. A release has none of it.

/// Fails, panics, hangs or waits at the named place if the environment asks for that:
/// `AO_NIGHT_FAULT` is `PLACE`, `panic-PLACE`, `hang-PLACE`, or `wait-PLACE`, which waits until the
/// file that `AO_NIGHT_GO` names is there; `each-PLACE` takes that file away, so that it waits again
/// the next time.
#[cfg(debug_assertions)]
pub(crate) fn fault(place: &str) -> Result<(), String> {
    use std::time::Duration;
    const HANG: Duration = Duration::from_mins(1);
    const LOOK: Duration = Duration::from_millis(2);
    let Some(wanted) = std::env::var_os("AO_NIGHT_FAULT") else { return Ok(()) };
    let wanted = wanted.to_string_lossy();
    if wanted == place {
        return Err(format!("a fault was asked for in {place}"));
    }
    match wanted.split_once('-') {
        Some(("panic", at)) if at == place => panic!("a panic was asked for in {place}"),
        Some(("hang", at)) if at == place => std::thread::sleep(HANG),
        Some((word @ ("wait" | "each"), at)) if at == place => {
            let file =
                std::path::PathBuf::from(std::env::var_os("AO_NIGHT_GO").unwrap_or_default());
            let here = file.with_extension(place);
            // Whoever watches learns that the place was reached.
            let nothing = ao_vault::redactor().bytes(b"", ao_vault::Ansi::Keep);
            let _ = ao_vault::out::replace_cache(&here, &nothing);
            for _ in 0..HANG.as_millis() / LOOK.as_millis() {
                if file.exists() {
                    break;
                }
                std::thread::sleep(LOOK);
            }
            if word == "each" {
                let _ = ao_tree::remove_cache(&file);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "as where faults can be asked for")]
pub(crate) fn fault(_place: &str) -> Result<(), String> {
    Ok(())
}
