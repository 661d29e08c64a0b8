use ao_contract::{DreamScape, NamedBy, Sky};
use ao_corpus::Entry;

use super::*;
use crate::columns::width;

fn survey(files: &[(&str, String)]) -> DreamScape {
    let mut survey = Survey::default();
    for (path, text) in files {
        survey.add(&Entry::parse(path, || Ok(text.clone().into_bytes())).unwrap().unwrap());
    }
    survey.finish(&Readings::default())
}

/// So many learnings with these tags, from a day.
fn learnings(tags: &str, count: usize, day: &str) -> Vec<(&'static str, String)> {
    let text = format!("---\ntags: [{tags}]\ndate: {day}\n---\n# x\n");
    let path = |n: usize| Box::leak(format!("learnings/{tags}-{n}.md").into_boxed_str()) as &str;
    (0..count).map(|n| (path(n), text.clone())).collect()
}

fn sizes(scape: &DreamScape) -> Vec<(&str, u64)> {
    scape.topics.iter().map(|topic| (topic.name.as_str(), topic.entries)).collect()
}

fn md(header: &str, body: &str) -> String {
    format!("---\n{header}\n---\n{body}\n")
}

#[test]
fn topics_come_from_tags_then_category_then_scope_then_titles() {
    let scape = survey(&[
        ("learnings/a.md", md("tags: [CI, Code Review]\ncategory: unused", "# x")),
        ("learnings/b.md", md("tags: ci, ci", "# x")),
        ("findings/c.md", md("scope_tags: [ci]", "# x")),
        ("learnings/d.md", md("category: process", "# x")),
        ("learnings/e.md", md("scope: repo", "# x")),
        // A title that names a topic of others, in another form of the word.
        ("learnings/f.md", md("tags: []", "# Learning: Processes that never end")),
        // Titles that share a word.
        ("learnings/g.md", "# Deadlock in the pool\n".into()),
        ("learnings/h.md", "# Two deadlocks at once\n".into()),
        ("learnings/i.md", "# Why deadlocks hide\n".into()),
        ("learnings/j.md", "# Something of its own\n".into()),
        ("learnings/k.md", md("tags: [ci]\nsuperseded_by: a", "# x")),
        ("knowledge/processed/l.md", md("tags: [ci]", "# x")),
    ]);
    let expected = [
        ("ci", 3),
        ("code-review", 1),
        ("deadlocks", 3),
        ("process", 2),
        ("repo", 1),
        ("elsewhere", 1),
    ];
    assert_eq!(sizes(&scape), expected);
    let named: Vec<NamedBy> = scape.topics.iter().map(|topic| topic.named_by).collect();
    let expected = [
        NamedBy::Tags,
        NamedBy::Tags,
        NamedBy::Titles,
        NamedBy::Category,
        NamedBy::Scope,
        NamedBy::Rest,
    ];
    assert_eq!(named, expected);
    assert_eq!((scape.entries, scape.hidden), (10, 2));
    assert_eq!(scape.topics[0].share.number().to_string(), "0.3");
}

#[test]
fn connections_are_shared_entries_and_references_and_told_at_both_ends() {
    let scape = survey(&[
        ("learnings/2026-01-01-one.md", md("tags: [a, b]\nid: L-1", "# x")),
        ("learnings/two.md", md("tags: [a]", "See ../research/deep.md and [[L-1]].")),
        ("research/deep.md", md("tags: [c]\nrelated: two", "Nobody: gone.md, deep.md")),
        // Two entries of one name: a reference to it means neither.
        ("learnings/x/same.md", md("tags: [a]", "")),
        ("learnings/y/same.md", md("tags: [c]", "see same.md")),
        ("learnings/z.md", md("tags: [b]", "see same.md")),
    ]);
    let of = |topic: &str| -> Vec<(String, u64, u64)> {
        let topic = scape.topics.iter().find(|one| one.name == topic).unwrap();
        topic.connections.iter().map(|to| (to.to.clone(), to.shared, to.references)).collect()
    };
    // `two` refers to `L-1`, which is in a and b; `two` and `deep` refer to each other.
    assert_eq!(of("a"), [("b".into(), 1, 1), ("c".into(), 0, 2)]);
    assert_eq!(of("b"), [("a".into(), 1, 1)]);
    assert_eq!(of("c"), [("a".into(), 0, 2)]);
}

#[test]
fn fresh_is_measured_against_the_newest_day_of_the_corpus() {
    let mut files = learnings("a", 2, "2020-03-31");
    files.extend(learnings("b", 1, "2020-03-01"));
    files.extend(learnings("c", 1, "2020-02-29"));
    files.push(("learnings/u.md", md("tags: [a, u]", "# x")));
    let scape = survey(&files);
    let fresh: Vec<_> = scape
        .topics
        .iter()
        .map(|one| (one.fresh, one.dated, one.freshness.as_ref().map(ao_contract::Unit::get)))
        .collect();
    assert_eq!(fresh, [(2, 2, Some(1.0)), (1, 1, Some(1.0)), (0, 1, Some(0.0)), (0, 0, None)]);
    assert_eq!(scape.as_of.as_deref(), Some("2020-03-31"));
}

#[test]
fn the_order_of_the_entries_makes_no_difference() {
    let mut files = learnings("a, b", 3, "2026-01-01");
    files.extend(learnings("b, c", 4, "2026-02-01"));
    for n in 0..40 {
        let path = Box::leak(format!("patterns/p{n}.md").into_boxed_str()) as &str;
        files.push((
            path,
            format!("# The {} of a {}\n[[p{}]]", n % 7, ["pool", "lock", "gate"][n % 3], n + 1),
        ));
    }
    let one = survey(&files);
    files.reverse();
    files.rotate_left(7);
    assert_eq!(one, survey(&files));
    assert_eq!(draw(&one, 100), draw(&survey(&files), 100));
}

#[test]
fn at_most_a_dozen_topics_and_the_rest() {
    let tags: Vec<String> = (0..40).map(|n| format!("t{n:02}")).collect();
    let mut files: Vec<_> = tags.iter().flat_map(|tag| learnings(tag, 1, "2026-01-01")).collect();
    files.extend(learnings("big", 5, "2026-01-01"));
    let secret = format!("AKIA{}", "A1".repeat(8));
    files.extend(learnings(&secret, 6, "2026-01-01"));
    let scape = survey(&files);
    assert_eq!(scape.topics.len(), TOPICS_MAX + 1);
    assert_eq!(sizes(&scape)[0], ("big", 5));
    assert_eq!(sizes(&scape)[TOPICS_MAX], (REST, 40 - 11 + 6));
    assert!(!draw(&scape, 100).contains("akia"));
}

/// The columns of a picture in which two pictures differ.
fn differing(one: &str, other: &str) -> Vec<usize> {
    let end = one.lines().position(|line| line.starts_with('▔')).unwrap();
    let cells = |text: &str| -> Vec<Vec<char>> {
        let pad = |line: &str| format!("{line:<100}").chars().collect();
        text.lines().skip(1).take(end - 1).map(pad).collect()
    };
    let (one, other) = (cells(one), cells(other));
    (0..100).filter(|at| one.iter().zip(&other).any(|(a, b)| a[*at] != b[*at])).collect()
}

#[test]
fn two_corpora_that_differ_in_one_topic_differ_there() {
    let corpus = |growing: usize| {
        let mut files = learnings("alpha", 40, "2026-01-01");
        files.extend(learnings("beta", growing, "2026-01-01"));
        files.extend(learnings("gamma", 25, "2026-01-01"));
        files.extend(learnings("omega", 60, "2026-01-01"));
        draw(&survey(&files), 100)
    };
    let pictures: Vec<String> = [5, 10, 20, 21, 40].into_iter().map(corpus).collect();
    for pair in pictures.windows(2) {
        let differing = differing(&pair[0], &pair[1]);
        // Beta is the second of four.
        assert!(
            !differing.is_empty() && differing.iter().all(|at| (25..50).contains(at)),
            "{differing:?}\n{}\n{}",
            pair[0],
            pair[1]
        );
    }
    // One entry more is seen at least in the sign beneath.
    assert!(pictures[2].contains("beta 20") && pictures[3].contains("beta 21"));
    // Higher for more, at the same place.
    let top = |picture: &str| {
        picture
            .lines()
            .skip(7)
            .position(|line| line.chars().nth(37).is_some_and(|c| c != ' '))
            .unwrap()
    };
    let tops: Vec<usize> = pictures.iter().map(|picture| top(picture)).collect();
    assert!(tops.windows(2).all(|pair| pair[0] >= pair[1]) && tops[0] > tops[4], "{tops:?}");
}

#[test]
fn any_landscape_can_be_drawn_at_any_width() {
    let wide = "---\ntags: [数据库設計, \"e\\u0301tat\", \"\\u001b[31mred\", a|b`c]\n---\n# x\n";
    let corpora = [
        vec![],
        vec![("learnings/a.md", "x".to_owned())],
        vec![("learnings/a.md", wide.to_owned())],
        learnings("only", 1, "2026-01-01"),
        learnings("a, b, c, d, e, f, g, h, i, j, k, l, m", 3, "9999-12-31"),
    ];
    for files in &corpora {
        let scape = survey(files);
        for columns in [0, 1, 40, 41, 79, 80, 100, 1000] {
            let picture = draw(&scape, columns);
            let widest = picture.lines().map(width).max().unwrap();
            assert!(widest <= columns.clamp(COLUMNS_MIN, COLUMNS_MAX), "{columns}\n{picture}");
            assert!(!picture.contains('\u{1b}') && !picture.contains("NaN"), "{picture}");
        }
        assert_valid(&scape);
    }
    let empty = survey(&corpora[0]);
    assert_eq!((empty.weather.sky, empty.topics.len()), (Sky::Fog, 0));
    // Numbers from elsewhere, as large as they can be.
    let mut huge = survey(&corpora[4]);
    for topic in &mut huge.topics {
        topic.entries = u64::MAX;
        topic.connections.iter_mut().for_each(|one| one.shared = u64::MAX);
    }
    huge.topics = huge.topics.iter().cycle().take(300).cloned().collect();
    assert!(draw(&huge, 100).lines().all(|line| width(line) <= COLUMNS_MAX));
}

#[test]
fn as_many_birds_as_the_legend_says_under_any_sky() {
    let mut scape = survey(&learnings("only", 3, "2026-01-01"));
    scape.legend = vec![ao_contract::Reading {
        name: "sigma".into(),
        value: None,
        at: String::new(),
        absent: None,
        extra: ao_contract::Extra::new(),
    }];
    for sky in [Sky::Clear, Sky::Fair, Sky::Mixed, Sky::Overcast, Sky::Storm, Sky::Fog] {
        scape.weather.sky = sky;
        for (sigma, birds) in [(0.0, 0), (0.049, 0), (0.05, 1), (0.15, 3), (0.6, 12), (1.0, 20)] {
            scape.legend[0].value = ao_contract::Finite::new(sigma);
            let picture = draw(&scape, 80);
            let seen = picture.lines().skip(2).take(5).flat_map(str::chars).filter(|c| *c == 'v');
            assert_eq!(seen.count(), birds, "{sky:?} {sigma}\n{picture}");
        }
    }
}

/// What is written is what the schema says.
fn assert_valid(scape: &DreamScape) {
    let schemas = ao_contract::schemas();
    let schema = schemas.iter().find(|one| one.name == "dreamscape").unwrap();
    let value = serde_json::to_value(scape).unwrap();
    let validator = jsonschema::validator_for(&schema.schema).unwrap();
    if let Err(error) = validator.validate(&value) {
        panic!("{}: {error}", error.instance_path());
    }
    assert_eq!(ao_contract::check("dreamscape", &value).unwrap(), value);
}
