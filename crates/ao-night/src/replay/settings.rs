//! What a run is told to do, as it stands in the record of a night, and back.

use std::path::PathBuf;
use std::time::Duration;

use ao_contract::{Extra, Finite, NightQueue, NightSettings, NightSource, NightWish};
use ao_corpus::harvest::{Source, SourceForm};
use ao_corpus::trust::PROMOTE_AT;

use super::corpus::numbers;
use crate::queue::QueueItem;
use crate::settings::{Extent, Gate, LongHaul, Mode, Queue, Settings};
use crate::{Commits, Template, Wish};

/// As it is kept.
pub(crate) fn told(settings: &Settings) -> NightSettings {
    let harvest = settings.harvest.iter().zip(numbers(&settings.harvest));
    NightSettings {
        goal: settings.goal.clone(),
        run_timeout_ms: milliseconds(settings.run_timeout),
        requested_timeout: settings.requested_timeout.clone(),
        keep_awake: settings.keep_awake == Wish::On,
        queue: settings.queue.as_ref().map(|queue| NightQueue {
            file: queue.file.clone(),
            items: queue.items.iter().map(wish).collect(),
            extra: Extra::new(),
        }),
        max_iterations: settings.max_iterations,
        plateau_epsilon: Finite::new(settings.plateau_epsilon).unwrap_or_default(),
        plateau_window: settings.plateau_window,
        strict: settings.gate == Gate::Strict,
        checkpoint_max_bytes: settings.checkpoint_max_bytes,
        morning_command: settings.morning_command.text().to_owned(),
        harvest: harvest.map(|(source, place)| source_told(source, place)).collect(),
        promote_after_ms: milliseconds(settings.promote_after),
        trust_promote_at: Some(settings.promote_at),
        full: settings.extent == Extent::Everything,
        long_haul_ms: match settings.long_haul {
            LongHaul::Off => None,
            LongHaul::On { limit } => Some(milliseconds(limit)),
        },
        config_warnings: settings.config_warnings.clone(),
        extra: Extra::new(),
    }
}

/// As they were, with the report in `output_dir` and other corpora where `place` says.
pub(super) fn settings(
    told: &NightSettings,
    output_dir: PathBuf,
    place: impl Fn(u32) -> PathBuf,
) -> Result<Settings, String> {
    let morning_command = Template::parse(&told.morning_command)
        .map_err(|error| format!("its morning command: {error}"))?;
    let source = |source: &NightSource| Source {
        repo: source.repo.clone(),
        shown: source.path.clone(),
        agents: place(source.place),
        form: source.drafts.clone().map_or(SourceForm::Corpus, SourceForm::Drafts),
        refused: source.refused.clone(),
        is_own: source.own,
    };
    Ok(Settings {
        goal: told.goal.clone(),
        output_dir,
        run_timeout: Duration::from_millis(told.run_timeout_ms),
        requested_timeout: told.requested_timeout.clone(),
        keep_awake: if told.keep_awake { Wish::On } else { Wish::Off },
        queue: told.queue.as_ref().map(|queue| Queue {
            items: queue.items.iter().map(item).collect(),
            file: queue.file.clone(),
        }),
        max_iterations: told.max_iterations,
        plateau_epsilon: told.plateau_epsilon.get(),
        plateau_window: told.plateau_window,
        gate: if told.strict { Gate::Strict } else { Gate::WarnOnly },
        checkpoint_max_bytes: told.checkpoint_max_bytes,
        morning_command,
        harvest: told.harvest.iter().map(source).collect(),
        transcripts: None,
        promote_after: Duration::from_millis(told.promote_after_ms),
        promote_at: told.trust_promote_at.unwrap_or(PROMOTE_AT),
        commits: Commits::none(),
        mode: Mode::Real,
        // A night that is kept read everything.
        extent: Extent::Everything,
        long_haul: told
            .long_haul_ms
            .map_or(LongHaul::Off, |limit| LongHaul::On { limit: Duration::from_millis(limit) }),
        config_warnings: told.config_warnings.clone(),
    })
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn wish(item: &QueueItem) -> NightWish {
    NightWish {
        line: item.line as u64,
        title: item.title.clone(),
        description: item.description.clone(),
        severity: item.severity.clone(),
        files: item.files.clone(),
        id: item.id.clone(),
        mentioned: item.mentioned.clone(),
        blockers: item.blockers.clone(),
        mark: item.mark.clone(),
        extra: Extra::new(),
    }
}

fn item(wish: &NightWish) -> QueueItem {
    QueueItem {
        line: usize::try_from(wish.line).unwrap_or(usize::MAX),
        title: wish.title.clone(),
        description: wish.description.clone(),
        severity: wish.severity.clone(),
        files: wish.files.clone(),
        id: wish.id.clone(),
        mentioned: wish.mentioned.clone(),
        blockers: wish.blockers.clone(),
        mark: wish.mark.clone(),
    }
}

fn source_told(source: &Source, place: u32) -> NightSource {
    NightSource {
        repo: source.repo.clone(),
        path: source.shown.clone(),
        drafts: match &source.form {
            SourceForm::Corpus => None,
            SourceForm::Drafts(folder) => Some(folder.clone()),
        },
        refused: source.refused.clone(),
        own: source.is_own,
        place,
        extra: Extra::new(),
    }
}
