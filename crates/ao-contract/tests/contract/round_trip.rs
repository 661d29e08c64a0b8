use crate::samples;

#[test]
fn every_format_has_a_sample() {
    let samples = samples::all();
    for schema in ao_contract::schemas() {
        assert!(samples.iter().any(|sample| sample.format == schema.name), "{}", schema.name);
    }
}

#[test]
fn what_is_read_is_written_back_unchanged() {
    for sample in samples::all() {
        let written = ao_contract::check(&sample.format, &sample.value)
            .unwrap_or_else(|error| panic!("{}: {error}", sample.file));
        assert_eq!(written, sample.value, "{}", sample.file);
    }
}

#[test]
fn what_is_written_is_valid() {
    for sample in samples::all() {
        let written = ao_contract::check(&sample.format, &sample.value).unwrap();
        if let Err(error) = samples::validator(&sample.format).validate(&written) {
            panic!("{}: {}: {error}", sample.file, error.instance_path());
        }
    }
}

#[test]
fn unknown_fields_come_last_and_in_their_order() {
    let value =
        serde_json::json!({ "zeta": 1, "target": "t", "alpha": 2, "cycle": 3, "result": "r" });
    let written = ao_contract::check("cycle-history", &value).unwrap();
    let keys: Vec<_> = written.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["cycle", "target", "result", "zeta", "alpha"]);
}
