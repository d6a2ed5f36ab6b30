//! Checks the limits and the names of a script.

use crate::{
    errors::Faults,
    scripts::{Script, When},
};

impl Script {
    /// Adds all faults of the script.
    pub fn check(&self, faults: &mut Faults) {
        faults.check_range(&self.word_delay_ms, 0..=60_000, "wordDelayMs");
        faults.check(self.rules.len() <= 100, "rules", "expected at most 100 rules");
        for (index, rule) in self.rules.iter().enumerate() {
            faults.within("rules", |faults| {
                faults.within(index, |faults| {
                    faults.within("when", |faults| rule.when.check(faults));
                    faults.check(rule.steps.len() <= 200, "steps", "expected at most 200 steps");
                });
            });
        }
    }
}

impl When {
    pub(crate) fn check(&self, faults: &mut Faults) {
        if let Some(trigger) = &self.trigger {
            let is_known = ["space_message", "plan", "service"].contains(&trigger.as_str());
            faults.check(is_known, "trigger", "expected space_message, plan or service");
        }
        if let Some(source) = &self.source {
            let known = [
                "delegated",
                "admin",
                "mention",
                "reply",
                "auto",
                "partner",
                "router",
                "unanswered",
                "broadcast",
            ];
            faults.check(
                known.contains(&source.as_str()),
                "source",
                "expected delegated, admin, mention, reply, auto, partner, router, unanswered \
                 or broadcast",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triggers::Source;

    #[test]
    fn a_rule_may_name_every_source() {
        let check = |source: &str| {
            let when = When { source: Some(source.to_owned()), ..When::default() };
            let mut faults = Faults::default();
            when.check(&mut faults);
            faults.done()
        };
        for source in [
            Source::Delegated,
            Source::Admin,
            Source::Mention,
            Source::Reply,
            Source::Auto,
            Source::Partner,
            Source::Router,
            Source::Unanswered,
            Source::Broadcast,
        ] {
            assert_eq!(check(source.as_str()), Ok(()), "{source:?}");
        }
        let refused = check("shout").unwrap_err().to_string();
        assert!(refused.contains("mention, reply, auto"), "{refused}");
    }
}
