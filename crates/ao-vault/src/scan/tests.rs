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
    assert_eq!(scanner.rules(), 213);
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
    let digest = blake3::hash(rules::FILE.as_bytes()).to_hex().to_string();
    assert!(include_str!("../../rules/README.md").contains(&digest), "{digest}");
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
