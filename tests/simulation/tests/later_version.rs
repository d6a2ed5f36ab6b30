//! A later version works on the same table: all items have fields that this version does not know.
//! It keeps every promise, and no item loses such a field.

use smartspace_simulation::{input::Input, simulate};

#[test]
fn items_of_a_later_version_are_read_and_keep_their_unknown_fields() {
    play([3, 9, 12, 13, 14, 16]);
}

#[test]
#[ignore = "by hand and in the nightly job: tests/run --all"]
fn items_of_a_later_version_are_read_in_more_seeds() {
    play(1..=100);
}

fn play(seeds: impl IntoIterator<Item = u64>) {
    for seed in seeds {
        let input = Input { seed, later_version: true, ..Input::default() };
        let outcome = simulate(&input).unwrap();
        assert!(outcome.violations.is_empty(), "seed {seed}: {:#?}", outcome.violations);
    }
}
