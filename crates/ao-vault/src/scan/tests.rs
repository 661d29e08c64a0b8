//! The public rules on texts that they are meant for.

use super::{Scanner, Secret, rules};

fn scanner() -> Scanner {
    let value = zeroize::Zeroizing::new(b"s3cr3t-value-of-the-vault".to_vec());
    Scanner::new(&[("db".parse().unwrap(), Secret::new(value).unwrap())]).unwrap()
}

fn found(path: &str, text: &str) -> Vec<String> {
    scanner().scan(path, text.as_bytes()).into_iter().map(|finding| finding.rule).collect()
}

/// Put together here, so that this file holds none.
fn github() -> String {
    format!("gh{}_{}", "p", "1Ab2Cd3Ef4Gh5Ij6Kl7Mn8Op9Qr0St1Uv2Wx")
}

#[test]
fn every_rule_can_be_used() {
    let scanner = scanner();
    assert_eq!(scanner.rules(), 222 + 119);
    for (_, expression) in scanner.expressions() {
        let _ = expression.get();
    }
    assert_eq!(scanner.unusable(), Vec::<String>::new());
    let near = scanner.rules.rules.iter().filter(|rule| rule.reach.is_some()).count();
    assert!(near > 150, "{near} rules are tried around their keywords alone");
}

#[test]
fn the_rules_file_is_the_published_one() {
    // The digest that rules/README.md names.
    let digest = blake3::hash(rules::PUBLIC_FILE.as_bytes()).to_hex().to_string();
    assert!(include_str!("../../rules/README.md").contains(&digest), "{digest}");
}

#[derive(serde::Deserialize)]
struct OwnRules {
    rules: Vec<OwnRule>,
}

/// What `rules/own.toml` says beside what a rule needs.
#[derive(serde::Deserialize)]
struct OwnRule {
    id: String,
    documentation: String,
    forms: Vec<String>,
}

/// A value of a form: `{20w}` is twenty letters and digits. With a `share` of the letters only.
fn filled(form: &str, seed: u64, share: usize) -> String {
    const HEX: &[u8] = b"0123456789abcdef";
    let mut random =
        blake3::Hasher::new_derive_key("forms").update(&seed.to_le_bytes()).finalize_xof();
    let mut one_of = |letters: &[u8], count: usize| -> String {
        let mut bytes = vec![0; count];
        random.fill(&mut bytes);
        bytes.iter().map(|byte| char::from(letters[usize::from(*byte) % letters.len()])).collect()
    };
    let mut text = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('{') {
        let (what, behind) = after.split_once('}').unwrap();
        text.push_str(before);
        rest = behind;
        let alphanumeric = [b'A'..=b'Z', b'a'..=b'z', b'0'..=b'9'].into_iter().flatten();
        let word: Vec<u8> = alphanumeric.collect();
        let is = |wanted: fn(&u8) -> bool| word.iter().copied().filter(wanted).collect::<Vec<_>>();
        let (count, class) = what.split_at(what.len() - 1);
        if class == "g" {
            let parts = [8, 4, 4, 4, 12].map(|count| one_of(HEX, count / share));
            text.push_str(&parts.join("-"));
            continue;
        }
        let letters = match class {
            "w" => word,
            "l" => is(|byte| !byte.is_ascii_uppercase()),
            "U" => is(|byte| !byte.is_ascii_lowercase()),
            "z" => is(|byte| !b"0OIl".contains(byte)),
            "d" => is(u8::is_ascii_digit),
            "x" => HEX.to_vec(),
            "X" => HEX.to_ascii_uppercase(),
            "u" => [&word[..], b"_-"].concat(),
            "b" => [&word[..], b"+/"].concat(),
            other => panic!("{other}"),
        };
        text.push_str(&one_of(&letters, count.parse::<usize>().unwrap() / share));
    }
    text + rest
}

#[test]
fn every_rule_of_ours_finds_the_forms_that_its_maker_documents() {
    const TRIES: u64 = 8;
    let scanner = scanner();
    let own: OwnRules = toml::from_str(rules::OWN_FILE).unwrap();
    let (mut missed, mut taken) = (Vec::new(), Vec::new());
    for own in own.rules {
        assert!(own.documentation.starts_with("https://"), "{}", own.id);
        assert!(!own.forms.is_empty(), "{}", own.id);
        let of = |rule: &&rules::Rule| rule.author == rules::RuleAuthor::Ours && rule.id == own.id;
        let rule = scanner.rules.rules.iter().find(of).unwrap();
        let finds = |text: &str| {
            let all = super::everywhere(text.len());
            let seen = rule.found(text.as_bytes(), &all).into_iter();
            seen.filter(|seen| !scanner.is_allowed(rule, "notes.txt", seen)).count() > 0
        };
        for form in &own.forms {
            for seed in 0..TRIES {
                let value = filled(form, seed, 1);
                let lost: Vec<_> = [
                    value.clone(),
                    format!("see ({value}), then go on"),
                    format!("KEY='{value}'\nNEXT=1\n"),
                    format!("{{\"text\":\"first\\n{value}\\nlast\"}}"),
                    format!("<td>{value}</td>"),
                ]
                .into_iter()
                .filter(|text| {
                    !finds(text) || scanner.scan("notes.txt", text.as_bytes()).is_empty()
                })
                .collect();
                missed.extend(lost.into_iter().map(|text| format!("{}: {text}", own.id)));
            }
            // A twelfth of its letters is no key.
            let short = filled(form, 0, 12);
            taken.extend(finds(&short).then(|| format!("{}: {short}", own.id)));
        }
    }
    assert!(missed.is_empty() && taken.is_empty(), "{}\n\n{}", missed.join("\n"), taken.join("\n"));
}

#[test]
fn secrets_are_found_by_place_and_rule() {
    let text = format!("first line\ntoken = \"{}\"\n", github());
    let found = scanner().scan("src/a.rs", text.as_bytes());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].rule.as_str(), found[0].place), ("github-pat", Some((2, 10))));
    assert!(!format!("{found:?}").contains("1Ab2Cd3"), "{found:?}");
}

/// Written by nights, and committed by people whose hook asks these rules.
#[test]
fn the_hash_of_a_ledger_line_is_no_key() {
    let line = |key: &str, rest: &str| {
        format!(
            "{{\"key\":\"{key}\",\"from\":\"transcripts\",\"entry\":\"knowledge/pending/a.md\"{rest}}}\n"
        )
    };
    let ledger = ".agents/knowledge/taken/transcripts-2026-11.jsonl";
    let hash = "fc54b3498e896bc815a748c4221c93c6";
    assert_eq!(found("a.jsonl", &line(hash, "")), ["generic-api-key"]);
    assert!(found(ledger, &line(hash, "")).is_empty());
    assert_eq!(found(ledger, &line(hash, &format!(",\"x\":\"{}\"", github()))), ["github-pat"]);
    assert_eq!(
        found(ledger, &line(hash, &format!(",\"api_key\":\"{hash}\""))),
        ["generic-api-key"]
    );
    assert_eq!(found(ledger, &line("9wCZ7Uw9xfogoEmvnEN5N1aE", "")), ["generic-api-key"]);
}

#[test]
fn what_the_rules_allow_is_allowed() {
    let aws = |tail: &str| format!("key: AKIA{tail}\n");
    assert_eq!(found("a.txt", &aws("QYLPMN5HHHFPZAM2")), ["aws-access-token"]);
    assert!(found("a.txt", &aws("IOSFODNN7EXAMPLE")).is_empty(), "an exception of the rule");
    assert!(found("node_modules/a.txt", &aws("QYLPMN5HHHFPZAM2")).is_empty(), "a path");
    let marked = format!("key: AKIA{} # gitleaks:allow\n", "QYLPMN5HHHFPZAM2");
    assert!(found("a.txt", &marked).is_empty(), "a line that says so");
    assert!(found("a.txt", "api_key = \"aaaaaaaaaaaaaaaaaaaaaaaa\"\n").is_empty(), "entropy");
    assert!(found("a.txt", "binary\0AKIAQYLPMN5HHHFPZAM2").is_empty(), "no text");
    assert_eq!(found("keys/a.p12", "\0"), ["pkcs12-file"]);
}

#[test]
fn the_vaults_own_values_are_found_in_every_form_also_in_what_is_no_text() {
    for text in [
        "x s3cr3t-value-of-the-vault",
        "\0s3cr3t-value-of-the-vault",
        "czNjcjN0LXZhbHVlLW9mLXRoZS12YXVsdA==",
        "7333637233742d76616c75652d6f662d7468652d7661756c74",
    ] {
        assert_eq!(found("node_modules/x.png", text), ["vault-value"], "{text:?}");
    }
    assert!(found("a", "s3cr3t-value-of-the").is_empty());
}

/// What is tried around keywords alone must be what a search of the whole text finds.
#[test]
fn around_the_keywords_as_much_is_found_as_everywhere() {
    let mut everywhere = scanner();
    for rule in &mut everywhere.rules.rules {
        rule.reach = None;
    }
    let near = scanner();
    let filler = "let value = compute(input, key_of(table)).unwrap_or_default(); // token\n";
    let secrets = [
        format!("password = \"{}\"", "x9Fq2LmZ7rT4bVw8"),
        format!("AKIA{}", "QYLPMN5HHHFPZAM2"),
        github(),
        format!("adobe_secret: p8e-{}", "0a1b2c3d4e5f60718293a4b5c6d7e8f9"),
        format!("auth_token={}", "kZ83hQpL0vXe5TyR"),
    ];
    for gap in [0, 1, 3, 40, 200] {
        let mut text = String::new();
        for secret in &secrets {
            text.push_str(&filler.repeat(gap));
            text.push_str(secret);
            text.push('\n');
        }
        // With and without an end of the line at the end.
        for text in [text.as_str(), text.trim_end()] {
            let found = near.scan("a.rs", text.as_bytes());
            assert_eq!(found, everywhere.scan("a.rs", text.as_bytes()), "gap {gap}");
            assert!(found.len() >= secrets.len(), "{found:?}");
        }
    }
}
