//! The weather: what the numbers of the night make of the sky.
//!
//! Every number is taken from the summary that the landscape will stand in, with its place there,
//! so that the legend cannot say anything else than the report.

use ao_contract::{DreamScape, Extra, Finite, Reading, Sky, Summary, Weather, Wind};
use serde_json::Value;

/// From this composite on the sky is clear.
pub const CLEAR_AT: f64 = 0.85;
/// From this composite on it is fair.
pub const FAIR_AT: f64 = 0.70;
/// From this composite on it is mixed.
pub const MIXED_SKY_AT: f64 = 0.55;
/// From this composite on it is overcast; under it there is a storm.
pub const OVERCAST_AT: f64 = 0.40;
/// A composite that fell by so much makes any sky overcast.
pub const OVERCAST_FALL: f64 = 0.01;
/// A composite that fell by so much is a storm.
pub const STORM_FALL: f64 = 0.05;
/// A composite that moved by less than this did not move.
pub const STEADY: f64 = 0.001;

const COMPOSITE: &str = "composite";
const COMPOSITE_DELTA: &str = "composite_delta";

/// Where each number stands in the summary.
const PLACES: [(&str, &str); 5] = [
    (COMPOSITE, "/metrics_health/fitness/composite"),
    (COMPOSITE_DELTA, "/fitness_delta/composite"),
    ("sigma", "/metrics_health/sigma"),
    ("rho", "/metrics_health/rho"),
    ("delta", "/metrics_health/delta"),
];
const ABSENT: &str = "/metrics_health/absent";
const ESCAPE: &str = "/metrics_health/escape_velocity";

/// What the summary says that weather is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Readings {
    numbers: Vec<Reading>,
    escape_velocity: Option<bool>,
}

impl Readings {
    /// From a summary that holds everything but the landscape.
    pub fn of(summary: &Summary) -> Self {
        let parts = [
            ("metrics_health", summary.metrics_health.clone().map(Value::Object)),
            ("fitness_delta", serde_json::to_value(&summary.fitness_delta).ok()),
        ];
        let named = |(key, part): (&str, Option<Value>)| Some((key.to_owned(), part?));
        let summary = Value::Object(parts.into_iter().filter_map(named).collect());
        let numbers = PLACES.iter().map(|(name, at)| reading(&summary, name, at)).collect();
        let escape_velocity = summary.pointer(ESCAPE).and_then(Value::as_bool);
        Self { numbers, escape_velocity }
    }

    /// Puts this weather over a landscape that is known.
    pub fn over(&self, scape: &mut DreamScape) {
        scape.weather = self.weather(scape.entries);
        scape.legend = self.legend();
    }

    pub(super) fn legend(&self) -> Vec<Reading> {
        self.numbers.clone()
    }

    fn number(&self, name: &str) -> Option<f64> {
        let found = self.numbers.iter().find(|reading| reading.name == name)?;
        found.value.as_ref().map(Finite::get)
    }

    pub(super) fn weather(&self, entries: u64) -> Weather {
        let (composite, moved) = (self.number(COMPOSITE), self.number(COMPOSITE_DELTA));
        let mut why = Vec::new();
        let sky = match composite {
            _ if entries == 0 => {
                why.push("there is nothing in the corpus".to_owned());
                Sky::Fog
            }
            None => {
                why.push("the fitness of the corpus is not known".to_owned());
                Sky::Fog
            }
            Some(composite) => self.sky(composite, moved, &mut why),
        };
        let wind = match moved {
            None => Wind::Unknown,
            Some(moved) if moved >= STEADY => Wind::Rising,
            Some(moved) if moved <= -STEADY => Wind::Falling,
            Some(_) => Wind::Steady,
        };
        Weather { sky, wind, why, escape_velocity: self.escape_velocity, extra: Extra::new() }
    }

    /// The worst that any of the numbers makes of it.
    fn sky(&self, composite: f64, moved: Option<f64>, why: &mut Vec<String>) -> Sky {
        let by_level = [
            (CLEAR_AT, Sky::Clear),
            (FAIR_AT, Sky::Fair),
            (MIXED_SKY_AT, Sky::Mixed),
            (OVERCAST_AT, Sky::Overcast),
        ];
        let level = by_level.iter().find(|(from, _)| composite >= *from);
        let mut sky = level.map_or(Sky::Storm, |(_, sky)| *sky);
        let better = by_level.iter().rev().find(|(from, _)| composite < *from);
        if let Some((from, _)) = better {
            why.push(format!("the composite is under {from}"));
        }
        let mut worsen = |to: Sky, reason: String| {
            if rank(to) > rank(sky) {
                sky = to;
                why.clear();
            }
            why.push(reason);
        };
        if self.escape_velocity == Some(false) {
            worsen(Sky::Mixed, "escape velocity is not reached".to_owned());
        }
        match moved {
            Some(moved) if moved <= -STORM_FALL => {
                worsen(Sky::Storm, format!("the composite fell by {STORM_FALL} or more"));
            }
            Some(moved) if moved <= -OVERCAST_FALL => {
                worsen(Sky::Overcast, format!("the composite fell by {OVERCAST_FALL} or more"));
            }
            _ => {}
        }
        sky
    }
}

fn rank(sky: Sky) -> u8 {
    match sky {
        Sky::Clear => 0,
        Sky::Fair => 1,
        Sky::Mixed => 2,
        Sky::Overcast => 3,
        Sky::Storm => 4,
        Sky::Fog => 5,
    }
}

fn reading(summary: &Value, name: &str, at: &str) -> Reading {
    let value = match summary.pointer(at) {
        Some(Value::Number(number)) => Some(Finite::from(number.clone())),
        _ => None,
    };
    let reason = || {
        let told = summary.pointer(ABSENT).and_then(|absent| absent.get(name)?.as_str());
        told.unwrap_or("it was not measured").to_owned()
    };
    let absent = value.is_none().then(reason);
    Reading { name: name.to_owned(), value, at: at.to_owned(), absent, extra: Extra::new() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn readings(health: &Value, moved: Option<f64>) -> Readings {
        let mut summary: Value = json!({
            "schema_version": 2, "mode": "m", "run_id": "r", "repo_root": "/", "output_dir": "/",
            "status": "done", "dry_run": false, "started_at": "", "steps": [],
            "runtime": {
                "keep_awake": false, "keep_awake_mode": "disabled", "requested_timeout": "",
                "effective_timeout": "", "lock_path": "", "log_path": "",
                "process_contract_doc": "", "report_contract_doc": "",
            },
            "metrics_health": health,
        });
        if let Some(moved) = moved {
            summary["fitness_delta"] = json!({ "composite": moved });
        }
        Readings::of(&serde_json::from_value(summary).unwrap())
    }

    #[test]
    fn the_sky_follows_the_published_thresholds() {
        let cases = [
            (0.85, None, None, Sky::Clear),
            (0.849, None, None, Sky::Fair),
            (0.70, Some(true), Some(0.1), Sky::Fair),
            (0.9, Some(false), None, Sky::Mixed),
            (0.9, None, Some(-0.009), Sky::Clear),
            (0.9, None, Some(-0.01), Sky::Overcast),
            (0.9, Some(false), Some(-0.05), Sky::Storm),
            (0.55, None, None, Sky::Mixed),
            (0.40, None, None, Sky::Overcast),
            (0.399, None, None, Sky::Storm),
        ];
        for (composite, escape, moved, sky) in cases {
            let health =
                json!({ "fitness": { "composite": composite }, "escape_velocity": escape });
            let weather = readings(&health, moved).weather(1);
            assert_eq!(weather.sky, sky, "{composite} {escape:?} {moved:?}");
            assert_eq!(weather.why.is_empty(), sky == Sky::Clear, "{weather:?}");
        }
        let nothing = readings(&json!({}), None);
        assert_eq!((nothing.weather(1).sky, nothing.weather(1).wind), (Sky::Fog, Wind::Unknown));
        let empty = readings(&json!({ "fitness": { "composite": 0 } }), Some(0.0)).weather(0);
        assert_eq!((empty.sky, empty.wind), (Sky::Fog, Wind::Steady));
    }

    #[test]
    fn a_number_that_is_not_known_says_why() {
        let health =
            json!({ "sigma": 0.50, "rho": null, "absent": { "rho": "nothing was cited" } });
        let legend = readings(&health, Some(-1e-9)).legend();
        let told: Vec<(String, String)> = legend
            .iter()
            .map(|reading| {
                let value = reading.value.as_ref().map(|value| value.number().to_string());
                (reading.name.clone(), value.or_else(|| reading.absent.clone()).unwrap())
            })
            .collect();
        let expected = [
            (COMPOSITE, "it was not measured"),
            (COMPOSITE_DELTA, "-1e-9"),
            ("sigma", "0.5"),
            ("rho", "nothing was cited"),
            ("delta", "it was not measured"),
        ];
        assert_eq!(told, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
