//! Golden items: every kind of stored item, as each release writes it (`golden/`).
//!
//! - This version writes the shapes of its golden items, and no others.
//! - It reads the items of every release, and of a release after it: with unknown fields at every
//!   level, and with unknown values of enums.
//! - A change keeps what it does not know.

pub(crate) mod items;
mod later;
mod rare;
mod reading;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use serde_json::Value;
use smartspace_simulation::{
    input::Input,
    simulate,
    storage::samples::{kind, shape},
};

use self::items::{RELEASES, Release};

/// Every kind of item that `store/table/keys` can name. Together with the kinds that the samples
/// find, this is the complete list.
const KINDS: [&str; 68] = [
    "budget-meta",
    "conn-meta",
    "conn-space",
    "conn-was",
    "dlv-meta",
    "dlv-payload",
    "entity-conn",
    "entity-ctx-active",
    "entity-ctx-goal",
    "entity-ctx-kept",
    "entity-ctx-memory",
    "entity-ctx-plan",
    "entity-ctx-space",
    "entity-gate",
    "entity-guest",
    "entity-meta",
    "entity-parting",
    "entity-rev",
    "entity-slots",
    "entity-used",
    "ext-meta",
    "files-file",
    "files-used",
    "find-block",
    "find-meta",
    "hook-meta",
    "idem-meta",
    "invites-invite",
    "mentions-msg",
    "part-meta",
    "presence-conn",
    "presence-meta",
    "project-meta",
    "project-obj",
    "rate-agent-meta",
    "rate-followers",
    "rate-frames",
    "rate-meta",
    "rate-reactions",
    "rate-reads",
    "run-call",
    "run-error",
    "run-fork",
    "run-form",
    "run-meta",
    "run-prompt",
    "run-shown",
    "run-step",
    "run-trigger",
    "space-card",
    "space-changes",
    "space-conn",
    "space-head",
    "space-member",
    "space-meta",
    "space-msg",
    "space-page",
    "space-past",
    "space-react",
    "space-runlane",
    "space-summary",
    "space-system",
    "space-text",
    "space-thread",
    "space-woken",
    "streams-meta",
    "ticket-meta",
    "usage",
];

/// Seeds that together write every kind and shape that the simulation can.
const SEEDS: RangeInclusive<u64> = 1..=12;
/// The seeds of each change: short ones.
const FEW_SEEDS: [u64; 4] = [3, 9, 12, 13];

async fn samples(seeds: impl IntoIterator<Item = u64>) -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for seed in seeds {
        // A simulation has a runtime of its own.
        let play = move || simulate(&Input { seed, samples: true, ..Input::default() });
        let outcome = std::thread::spawn(play).join().unwrap().unwrap();
        for item in outcome.samples {
            found.entry(kind(&item)).or_default().push(item);
        }
    }
    for item in Box::pin(rare::items()).await {
        found.entry(kind(&item)).or_default().push(item);
    }
    found
}

fn paths(items: &[Value]) -> BTreeSet<String> {
    items.iter().flat_map(shape).collect()
}

/// The fewest items, roughly, that have all paths.
fn chosen(mut items: Vec<Value>) -> Vec<Value> {
    let mut chosen = Vec::new();
    let mut covered = BTreeSet::new();
    while let Some(best) =
        (0..items.len()).max_by_key(|at| shape(&items[*at]).difference(&covered).count())
    {
        let item = items.swap_remove(best);
        let paths = shape(&item);
        if paths.is_subset(&covered) {
            break;
        }
        covered.extend(paths);
        chosen.push(item);
    }
    chosen
}

#[tokio::test]
async fn every_kind_and_shape_of_item_has_a_golden_item() {
    if std::env::var_os("UPDATE_GOLDEN").is_none() {
        return expect_golden(&Box::pin(samples(FEW_SEEDS)).await);
    }
    let written = Box::pin(samples(SEEDS)).await;
    for (kind, items) in &written {
        RELEASES.last().unwrap().write(kind, &chosen(items.clone()));
    }
    expect_golden(&written);
}

#[tokio::test]
#[ignore = "by hand and in the nightly job: tests/run --all"]
async fn every_kind_and_shape_of_item_in_more_seeds_has_a_golden_item() {
    expect_golden(&Box::pin(samples(SEEDS)).await);
}

/// Each kind has a golden item, and no written item has a shape that its golden items lack.
fn expect_golden(written: &BTreeMap<String, Vec<Value>>) {
    let current = RELEASES.last().unwrap();
    let golden = current.items();
    let kinds: Vec<_> = golden.keys().map(String::as_str).collect();
    assert_eq!(kinds, KINDS, "each kind has a golden item");
    for (kind, items) in written {
        let known = golden.get(kind).unwrap_or_else(|| panic!("{kind} has no golden item"));
        let new: Vec<_> = paths(items).difference(&paths(known)).cloned().collect();
        assert!(new.is_empty(), "no golden item of {kind} has {new:#?}; set UPDATE_GOLDEN=1");
    }
}

#[tokio::test]
async fn the_items_of_every_release_are_read() {
    for release in RELEASES {
        for items in release.items().values() {
            for item in items {
                reading::read(item).await.unwrap_or_else(|error| {
                    panic!("{} {}: {error}", release.0, kind(item));
                });
            }
        }
    }
}

/// All kinds that fail, so that a failure shows how far the fault goes.
#[tokio::test]
async fn the_items_of_a_later_release_are_read() {
    let mut failed = BTreeSet::new();
    let Release(name) = RELEASES.last().unwrap();
    for items in Release(name).items().values() {
        for item in items {
            for (what, item) in later::variants(item) {
                if let Err(error) = reading::read(&item).await {
                    failed.insert(format!("{} with {what}: {error}", kind(&item)));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
