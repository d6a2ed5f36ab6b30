//! No name and no message can forge a line of a prompt.

#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};

#[derive(Debug, arbitrary::Arbitrary)]
struct Input<'a> {
    person: &'a str,
    agent: &'a str,
    space: &'a str,
    other_space: &'a str,
    first: &'a str,
    texts: Vec<&'a str>,
}

/// The prompt shortens longer texts.
const LONGEST_BYTES: usize = 4_000;

fuzz_target!(|input: Input<'_>| {
    let texts: Vec<&str> = std::iter::once(input.first)
        .chain(input.texts)
        .filter(|text| text.len() <= LONGEST_BYTES)
        .take(20)
        .collect();
    if texts.is_empty() {
        return;
    }
    let fault = smartspace_run::fuzzing::prompt(
        input.person,
        input.agent,
        input.space,
        input.other_space,
        &texts,
    );
    assert_eq!(fault, Ok(()));
});
