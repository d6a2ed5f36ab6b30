//! Nobody who writes, or is called something, writes a line of a prompt.

#![no_main]

use libfuzzer_sys::{arbitrary, fuzz_target};

#[derive(Debug, arbitrary::Arbitrary)]
struct Written<'a> {
    person: &'a str,
    agent: &'a str,
    space: &'a str,
    other_space: &'a str,
    first: &'a str,
    texts: Vec<&'a str>,
}

/// Longer texts are cut, with a note of it.
const LONGEST: usize = 4_000;

fuzz_target!(|written: Written<'_>| {
    let texts = std::iter::once(written.first).chain(written.texts);
    let texts: Vec<&str> = texts.filter(|text| text.len() <= LONGEST).take(20).collect();
    if texts.is_empty() {
        return;
    }
    let Written { person, agent, space, other_space, .. } = written;
    let fault = smartspace_run::fuzzing::prompt(person, agent, space, other_space, &texts);
    assert_eq!(fault, Ok(()));
});
