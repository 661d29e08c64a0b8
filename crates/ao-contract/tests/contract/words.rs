use ao_contract::{Finite, Fitness, Maybe, SchemaVersion, StepName, Unit};
use serde_json::json;

#[test]
fn step_names_keep_their_text() {
    let names = [
        ("close-loop", StepName::CloseLoop),
        ("council-packet", StepName::CouncilPacket),
        ("council-synthesis", StepName::CouncilSynthesis),
        ("council-codex", StepName::CouncilRunner("codex".to_owned())),
        ("iteration-12", StepName::Iteration(12)),
        ("iteration-012", StepName::Other("iteration-012".to_owned())),
        ("iteration-99999999999", StepName::Other("iteration-99999999999".to_owned())),
        ("wiki-lint", StepName::Other("wiki-lint".to_owned())),
    ];
    for (text, name) in names {
        assert_eq!(StepName::from(text.to_owned()), name);
        assert_eq!(name.to_string(), text);
    }
}

#[test]
fn numbers_that_json_cannot_hold_are_refused() {
    assert!(
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().all(|n| Finite::new(n).is_none())
    );
    assert!([f64::NAN, -0.01, 1.01].into_iter().all(|n| Unit::new(n).is_none()));
    assert!(serde_json::from_str::<Finite>("1e999").is_err());
}

/// A reader of YAML hands over the number itself, where JSON's own parser would have refused it.
#[test]
fn a_number_that_is_none_is_refused_from_any_source() {
    use serde::Deserialize as _;
    use serde::de::IntoDeserializer as _;
    use serde::de::value::{Error, F64Deserializer};

    let read = |number: f64| {
        let source: F64Deserializer<Error> = number.into_deserializer();
        Finite::deserialize(source)
    };
    assert!(read(0.5).is_ok());
    assert!(read(f64::NAN).is_err() && read(f64::INFINITY).is_err());
}

#[test]
fn a_fitness_is_made_of_finite_numbers() {
    let fitness: Fitness =
        [("composite".to_owned(), Finite::new(0.5).unwrap())].into_iter().collect();
    assert_eq!(serde_json::to_value(&fitness).unwrap(), json!({ "composite": 0.5 }));
}

#[test]
fn absent_null_and_value_are_told_apart() {
    assert_eq!(serde_json::from_str::<Maybe<u8>>("null").unwrap(), Maybe::Null);
    assert_eq!(serde_json::from_str::<Maybe<u8>>("1").unwrap(), Maybe::Value(1));
    assert!(Maybe::<u8>::from(None).is_absent());
}

#[test]
fn a_newer_version_is_refused() {
    assert!(serde_json::from_str::<SchemaVersion<1>>("1").is_ok());
    let error = serde_json::from_str::<SchemaVersion<1>>("2").unwrap_err();
    assert!(error.to_string().contains("this program reads 1"));
}
