//! The checks of approval rules.

use std::collections::BTreeSet;

use super::{
    ApprovalRule, Approvers,
    verdict::{NEVER_NAMED, VARIABLES},
};
use crate::errors::Faults;

/// How many rules an agent may have.
const RULES: usize = 50;
/// How many names and patterns a rule may have.
const NAMES: usize = 20;
/// The longest name or pattern, in characters. Models see no longer names of tools.
const NAME_CHARS: usize = 128;
/// How many people `by` may name.
const PEOPLE: usize = 100;
/// How many people a rule may want.
const QUORUM: u32 = 10;
/// The longest time that a call waits for people, in seconds.
const LONGEST_WAIT: u64 = 7 * 86_400;
/// The longest `when`, in bytes.
const WHEN_BYTES: usize = 2_048;

/// Adds all faults of an agent's rules.
pub(crate) fn check_rules(rules: &[ApprovalRule], faults: &mut Faults) {
    faults.check(rules.len() <= RULES, "approvals", format!("expected at most {RULES} rules"));
    for (index, rule) in rules.iter().enumerate() {
        faults.within("approvals", |faults| {
            faults.within(index, |faults| rule.check(faults));
        });
    }
}

impl ApprovalRule {
    fn check(&self, faults: &mut Faults) {
        faults.check(
            (1..=NAMES).contains(&self.tools.len()),
            "tools",
            format!("expected 1 to {NAMES} names or patterns"),
        );
        faults.within("tools", |faults| {
            for (index, name) in self.tools.iter().enumerate() {
                check_name(name, &index.to_string(), faults);
            }
        });
        if let Some(when) = &self.when {
            let checked = check_when(when);
            faults.check(checked.is_ok(), "when", checked.err().unwrap_or_default());
        }
        self.check_people(faults);
        let wait = self.expires_after.length().as_secs();
        faults.check(wait <= LONGEST_WAIT, "expiresAfter", "expected at most 7 days");
    }

    fn check_people(&self, faults: &mut Faults) {
        faults.check_range(&self.quorum, 1..=QUORUM, "quorum");
        let Approvers::Entities(ids) = &self.by else { return };
        faults.check(
            (1..=PEOPLE).contains(&ids.len()),
            "by",
            format!("expected members, owners, or 1 to {PEOPLE} ids"),
        );
        let people = ids.iter().collect::<BTreeSet<_>>().len();
        faults.check(people == ids.len(), "by", "expected each id once");
        faults.check(
            usize::try_from(self.quorum).is_ok_and(|quorum| quorum <= people),
            "quorum",
            format!("expected at most the number of people in by, {people}"),
        );
    }
}

fn check_name(name: &str, field: &str, faults: &mut Faults) {
    let is_name = (1..=NAME_CHARS).contains(&name.len())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "_-*".contains(char));
    faults.check(
        is_name,
        field,
        format!("expected 1 to {NAME_CHARS} characters: A-Z, a-z, 0-9, _, - and *"),
    );
    faults.check(
        name != NEVER_NAMED,
        field,
        format!("expected another tool: {NEVER_NAMED} does nothing that could be approved"),
    );
}

/// Checks a `when` of a rule or of an allowance.
///
/// # Errors
/// What was expected.
pub(super) fn check_when(when: &str) -> Result<(), String> {
    if when.len() > WHEN_BYTES {
        return Err(format!("expected at most {WHEN_BYTES} bytes"));
    }
    smartspace_cel::check(when, &VARIABLES).map_err(|wrong| {
        format!("expected a CEL expression over {}: {wrong}", VARIABLES.join(", "))
    })
}
