//! `ao demo`: the first thing that a newcomer runs.

use crate::repo::TestRepo;

#[test]
fn the_demo_kills_recovers_and_undoes() {
    let repo = TestRepo::new();
    let before = repo.everything();
    let shown = repo.run(&["--json", "demo"]).expect(0);
    let answer = shown.json();
    assert_eq!(answer["torn"], 0);
    assert_eq!(answer["undone_exactly"], true);
    let expected = serde_json::json!({
        "merged": 1, "kept_apart": 1, "old_name_found": true, "undone_exactly": true
    });
    assert_eq!(answer["consolidated"], expected);
    assert_eq!(answer["cell"]["held"], true, "{answer:#}");
    assert_eq!(answer["secret"]["held"], true, "{answer:#}");
    assert_eq!(answer["night"]["status"], "done", "{answer:#}");
    // Twelve copies in the weeks, one in the notes, and seven pending learnings that were known.
    assert_eq!(answer["night"]["merged"], 20, "{answer:#}");
    assert!(answer["night"]["packets"].as_u64().unwrap() >= 3, "{answer:#}");
    assert_eq!(answer["night"]["replayed_to_the_byte"], true, "{answer:#}");
    // What was said to an agent is learned, what is meant for agents is held, and what disagrees is put to a person.
    assert_eq!(answer["night"]["lessons"], 1, "{answer:#}");
    assert_eq!(answer["night"]["poison_held"], true, "{answer:#}");
    assert_eq!(answer["night"]["contradictions"], 1, "{answer:#}");
    let kills = answer["kills"].as_array().unwrap();
    assert_eq!(kills.len(), 12);
    // The last one waits for the marker: it always meets a commit that is decided.
    assert_eq!(kills[11]["found"], "a decided commit, not finished");
    assert_eq!(kills[11]["recovered_to"], "after");
    // The others depend on how fast the machine is; that one does not.
    assert!(answer["killed"].as_u64().unwrap() >= 1, "{answer:#}");
    assert_eq!(repo.everything(), before, "the demo works elsewhere");
}
