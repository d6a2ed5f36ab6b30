//! One form with its result.

use std::time::Duration;

use serde_json::{Value, json};
use smartspace_domain::Time;

use crate::{ledger::FormAnswer, oracle::stored::parsed};

/// A form with its call and the answers that people gave.
pub(super) struct Form<'a> {
    pub(super) item: &'a Value,
    pub(super) call: &'a Value,
    pub(super) answers: &'a [&'a FormAnswer],
}

impl Form<'_> {
    /// What is wrong with the form. Times of different clocks are compared only if the wall clock
    /// never jumps: then they differ by at most twice the spread.
    pub(super) fn wrong(&self, run: &Value, clock_spread: Option<Duration>) -> Vec<String> {
        let mut found = self.wrong_answers();
        found.extend(clock_spread.and_then(|spread| self.sent_too_late(spread)));
        // If clocks differ, a form may be closed at an earlier time than its run.
        let times_compare = clock_spread.is_some_and(|spread| spread.is_zero());
        let call = self.call;
        let status = self.status();
        let output = parsed(&call["output"]);
        match status {
            "completed" if !self.answers.iter().any(|given| self.is_result(given)) => {
                found.push(format!("has the result {output}, which nobody gave"));
            }
            // The process that accepts an answer compares the time of its own clock.
            "completed" if time(&call["finishedAt"]) >= time(&self.item["until"]) => {
                found.push(format!(
                    "was answered at {}, but had time until {}",
                    call["finishedAt"], self.item["until"]
                ));
            }
            "completed" => {}
            "expired"
                if output != json!({"error": "expired"})
                    || time(&call["finishedAt"]) < time(&self.item["until"]) =>
            {
                found.push(format!(
                    "expired at {} with {output}, but had time until {}",
                    call["finishedAt"], self.item["until"]
                ));
            }
            "expired" => {}
            "canceled"
                if output != json!({"error": "canceled"})
                    || (times_compare && time(&call["finishedAt"]) < time(&run["finishedAt"])) =>
            {
                found.push(format!(
                    "was canceled at {} with {output}, but its run ended at {}",
                    call["finishedAt"], run["finishedAt"]
                ));
            }
            "canceled" => {}
            "failed"
                if output["error"].as_str().is_some_and(|error| {
                    error.starts_with("you are not a member of the space that showed this")
                        || error == "the space that showed this was deleted"
                }) => {}
            _ => found.push(format!("is {status}, and its run is {}", run["status"])),
        }
        found
    }

    /// Answers that were accepted without effect, refused with effect, or invalid with effect.
    fn wrong_answers(&self) -> Vec<String> {
        let mut found = Vec::new();
        let output = parsed(&self.call["output"]);
        for given in self.answers.iter().filter(|given| given.was_taken() && !self.is_result(given))
        {
            found.push(format!(
                "accepted {} of {}, but is {} with {output}",
                given.output,
                given.person,
                self.status()
            ));
        }
        let results: Vec<_> = self.answers.iter().filter(|given| self.is_result(given)).collect();
        if results.iter().any(|given| !given.fits) {
            found.push(format!("accepted an invalid answer: {output}"));
        }
        let same = |one: &FormAnswer, other: &FormAnswer| {
            one.person == other.person && one.output == other.output
        };
        let was_refused = |given: &FormAnswer| {
            !results.iter().any(|other| same(other, given) && other.may_be_taken())
        };
        let refused = results.iter().filter(|given| was_refused(given));
        found.extend(refused.map(|given| {
            format!("has the result {output}, but its answers were {:?}", given.statuses)
        }));
        found
    }

    /// The result, if it was first sent when the time of the form was up.
    fn sent_too_late(&self, spread: Duration) -> Option<String> {
        let until = time(&self.item["until"])?;
        let sent = self.answers.iter().filter(|it| self.is_result(it)).map(|it| it.sent).min()?;
        // The clock that set the limit and the one that compares it may differ in opposite ways.
        (sent >= until + spread * 2).then(|| {
            format!("accepted an answer that was sent at {sent}, but had time until {until}")
        })
    }

    fn status(&self) -> &str {
        self.call["status"].as_str().unwrap_or_default()
    }

    /// Whether this answer is the form's result.
    fn is_result(&self, given: &FormAnswer) -> bool {
        self.status() == "completed"
            && self.call["answered"]["by"] == given.person.to_string().as_str()
            && parsed(&self.call["output"]) == given.output
    }
}

fn time(value: &Value) -> Option<Time> {
    value.as_str().and_then(|text| text.parse().ok())
}
