//! Decisions on calls that wait for approval: who makes them, and what a request may hold.

use serde_json::{Value, json};

use super::{
    Approval, ApprovalCount, ApprovalRule, ApprovalState, Approvers, Decision, DecisionAction,
    MadeDecision,
};
use crate::{
    Error, Result,
    errors::Faults,
    forms,
    limits::{CARD_BYTES, REASON_CHARS},
    tools::AnswerBy,
};

/// The longest schema of an input that the schema of a decision contains, in bytes of JSON.
const SCHEMA_BYTES: usize = 16 * 1024;

impl Approvers {
    /// The widest group of entities of whom some may decide, as forms name it.
    pub fn answer_by(&self) -> AnswerBy {
        match self {
            Self::Group(_) => AnswerBy::default(),
            Self::Entities(named) => AnswerBy::Entities(named.clone()),
        }
    }
}

impl Approval {
    /// The approvals of a call that nobody has decided yet, as its card shows them.
    pub fn open(rule: &ApprovalRule) -> Self {
        Self {
            by: rule.by.clone(),
            needed: rule.quorum,
            state: ApprovalState::Open,
            input_revision: 0,
            decisions: Vec::new(),
        }
    }
}

impl ApprovalCount {
    /// How many different people have approved.
    pub fn of(rule: &ApprovalRule, decisions: &[MadeDecision]) -> Self {
        let mut people: Vec<_> =
            decisions.iter().filter(|it| it.action.approves()).map(|it| it.by).collect();
        people.sort_unstable();
        people.dedup();
        Self { given: people.len() as u32, needed: rule.quorum }
    }

    /// Whether enough people have approved.
    pub fn is_reached(self) -> bool {
        self.given >= self.needed
    }
}

impl DecisionAction {
    /// Whether the decision counts as an approval.
    pub fn approves(self) -> bool {
        matches!(self, Self::Approve | Self::Edit)
    }
}

impl Decision {
    /// The decision to decline a call, perhaps with a reason.
    pub fn decline(text: Option<String>) -> Self {
        Self {
            action: DecisionAction::Decline,
            input: None,
            text,
            remember: None,
            input_revision: None,
        }
    }

    /// The decision that the output of a form is, if the form is the card of a call that waits for
    /// approval.
    pub fn of_output(output: &Value) -> Result<Self> {
        forms::check_value(&result_schema(&Value::Null), output, "/output")?;
        serde_json::from_value(output.clone())
            .map_err(|error| Error::invalid("/output", format!("expected a decision: {error}")))
    }

    /// Checks the fields that the action needs, and that it has no others. A new input has to fit
    /// the schema of the tool.
    pub fn check(&self, rule: &ApprovalRule, input_schema: &Value) -> Result<()> {
        let mut faults = Faults::default();
        let Self { action, input, text, remember, input_revision } = self;
        let edits = *action == DecisionAction::Edit;
        let unneeded = |with: &str| format!("expected none: only for the action {with}");
        faults.check(edits || input.is_none(), "input", unneeded("edit"));
        faults.check(!edits || input.is_some(), "input", "required: the new input of the call");
        let responds = *action == DecisionAction::Respond;
        let takes_text = responds || *action == DecisionAction::Decline;
        faults.check(takes_text || text.is_none(), "text", unneeded("respond or decline"));
        let has_text = text.as_ref().is_some_and(|text| !text.trim().is_empty());
        faults.check(!responds || has_text, "text", "required: the result for the model");
        let is_short = text.as_ref().is_none_or(|text| text.chars().count() <= REASON_CHARS);
        faults.check(is_short, "text", format!("expected at most {REASON_CHARS} characters"));
        let counts = action.approves() || input_revision.is_none();
        faults.check(counts, "inputRevision", unneeded("approve or edit"));
        let approves = *action == DecisionAction::Approve;
        faults.check(approves || remember.is_none(), "remember", unneeded("approve"));
        faults.check(
            remember.is_none() || rule.quorum == 1,
            "remember",
            "expected none: the rule wants more than one person for each call",
        );
        let bytes = input.as_ref().map_or(0, |input| input.to_string().len());
        faults.check(
            bytes <= CARD_BYTES,
            "input",
            format!("expected at most {CARD_BYTES} bytes of JSON, got {bytes}"),
        );
        faults.done()?;
        input.as_ref().map_or(Ok(()), |input| forms::check_value(input_schema, input, "/input"))
    }

    /// The result of the call for the model, unless the decision approves the call.
    pub fn output(&self) -> Value {
        match (self.action, &self.text) {
            (DecisionAction::Respond, text) => json!({"response": text}),
            (DecisionAction::End, _) => {
                json!({"declined": true, "reason": "the run was ended in place of an approval"})
            }
            (_, None) => json!({"declined": true}),
            (_, Some(reason)) => json!({"declined": true, "reason": reason}),
        }
    }
}

/// The result for the model of a call that nobody decided in time.
pub fn expired_output() -> Value {
    json!({"declined": true, "reason": "nobody decided in time"})
}

/// The JSON Schema of a decision, so that any client can answer the card like a form.
pub fn result_schema(input_schema: &Value) -> Value {
    let schema = input_schema.to_string();
    // A reference points from the root of a schema, so such a schema can't be a part of another.
    let is_whole = schema.contains("\"$ref\"") || schema.len() > SCHEMA_BYTES;
    let input =
        if is_whole || !input_schema.is_object() { json!({}) } else { input_schema.clone() };
    json!({
        "type": "object",
        "properties": {
            "action": {"enum": ["approve", "edit", "respond", "decline", "end"]},
            "input": input,
            "text": {"type": "string", "maxLength": REASON_CHARS},
            "inputRevision": {"type": "integer", "minimum": 0}
        },
        "required": ["action"],
        "additionalProperties": false
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Time, errors::Fault, ids::EntityId};

    fn rule(quorum: u32) -> ApprovalRule {
        serde_json::from_value(json!({"tools": ["transfer"], "quorum": quorum})).unwrap()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {"amount": {"type": "integer"}, "to": {"type": "object"}},
            "required": ["amount"]
        })
    }

    fn read(decision: Value) -> Decision {
        serde_json::from_value(decision).unwrap()
    }

    /// The pointers of the faults of a decision.
    fn faults(decision: Value, quorum: u32) -> Vec<String> {
        match read(decision).check(&rule(quorum), &schema()) {
            Ok(()) => Vec::new(),
            Err(error) => {
                error.faults().unwrap().into_iter().map(|Fault { pointer, .. }| pointer).collect()
            }
        }
    }

    #[test]
    fn an_action_needs_its_fields_and_takes_no_others() {
        let long = "x".repeat(1_001);
        let large = json!({"amount": 1, "to": {"text": "x".repeat(CARD_BYTES)}});
        let everywhere = json!({"in": "everywhere"});
        let table = [
            (json!({"action": "approve"}), vec![]),
            (json!({"action": "approve", "remember": everywhere}), vec![]),
            (
                json!({"action": "approve", "input": {"amount": 1}, "text": "a"}),
                vec!["/input", "/text"],
            ),
            (json!({"action": "edit", "input": {"amount": 1}}), vec![]),
            (json!({"action": "edit"}), vec!["/input"]),
            (
                json!({"action": "edit", "input": {"amount": "1", "to": 2}}),
                vec!["/input/amount", "/input/to"],
            ),
            (json!({"action": "edit", "input": {}}), vec!["/input/amount"]),
            (json!({"action": "edit", "input": large}), vec!["/input"]),
            (
                json!({"action": "edit", "input": {"amount": 1}, "remember": everywhere}),
                vec!["/remember"],
            ),
            (json!({"action": "respond", "text": "No."}), vec![]),
            (json!({"action": "respond"}), vec!["/text"]),
            (json!({"action": "respond", "text": " "}), vec!["/text"]),
            (json!({"action": "respond", "text": long}), vec!["/text"]),
            (json!({"action": "decline"}), vec![]),
            (json!({"action": "decline", "text": "too much"}), vec![]),
            (json!({"action": "decline", "input": {"amount": 1}}), vec!["/input"]),
            (json!({"action": "end"}), vec![]),
            (json!({"action": "approve", "inputRevision": 0}), vec![]),
            (json!({"action": "edit", "input": {"amount": 1}, "inputRevision": 2}), vec![]),
            (json!({"action": "decline", "inputRevision": 0}), vec!["/inputRevision"]),
            (json!({"action": "end", "text": "a"}), vec!["/text"]),
        ];
        for (decision, expected) in table {
            assert_eq!(faults(decision.clone(), 1), expected, "{decision}");
        }
        let remembered = json!({"action": "approve", "remember": everywhere});
        assert_eq!(faults(remembered, 2), ["/remember"]);
    }

    #[test]
    fn the_output_of_the_card_is_a_decision() {
        let output = json!({"action": "decline", "text": "too much"});
        assert_eq!(Decision::of_output(&output), Ok(Decision::decline(Some("too much".into()))));
        assert_eq!(
            Decision::decline(Some("too much".into())).output(),
            json!({"declined": true, "reason": "too much"})
        );
        for (output, pointer) in [
            (json!({}), "/output/action"),
            (json!({"action": "accept"}), "/output/action"),
            (json!({"action": "approve", "by": "me"}), "/output"),
            (json!("approve"), "/output"),
        ] {
            let faults = Decision::of_output(&output).unwrap_err().faults().unwrap();
            assert_eq!(faults[0].pointer, pointer, "{output}");
        }
    }

    #[test]
    fn the_schema_of_a_decision_contains_that_of_the_input() {
        assert_eq!(result_schema(&schema())["properties"]["input"], schema());
        let refers = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}});
        assert_eq!(result_schema(&refers)["properties"]["input"], json!({}));
    }

    #[test]
    fn each_person_counts_once() {
        let made = |person: u128, action| MadeDecision {
            by: EntityId::new(Time::default(), person),
            name: "Olga".into(),
            action,
            at: Time::default(),
            by_operator: false,
            remembers: false,
        };
        let [approve, edit] = [DecisionAction::Approve, DecisionAction::Edit];
        let count = |made: &[MadeDecision]| ApprovalCount::of(&rule(2), made);
        let twice = count(&[made(1, edit), made(1, approve)]);
        assert_eq!((twice.given, twice.is_reached()), (1, false));
        let both = count(&[made(1, edit), made(2, approve), made(3, DecisionAction::Decline)]);
        assert_eq!((both.given, both.needed, both.is_reached()), (2, 2, true));
    }
}
