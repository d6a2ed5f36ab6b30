//! The ids under which a request names the calls of its conversation.
//!
//! A provider gets back the ids that it gave, since some servers refuse all others. They are of no
//! use to another model, which gets made ones.

use std::collections::{HashMap, HashSet};

use smartspace_domain::ids::CallId;

use crate::port::{Message, Request};

/// Providers refuse longer ids.
const LONGEST: usize = 64;
/// The length of a made id: Mistral takes no other. Every server takes letters and digits.
const MADE: usize = 9;

pub(crate) struct CallIds(HashMap<CallId, String>);

impl CallIds {
    /// The provider's own id of each call that the model of the request made. A made one replaces
    /// an id that is empty, too long, or that an earlier call of the run has.
    pub(crate) fn of(request: &Request) -> Self {
        let mut ids = HashMap::new();
        let mut taken = HashSet::new();
        for message in &request.messages {
            let Message::Assistant { calls, own, .. } = message else { continue };
            let own = request.own_data(own.as_deref()).map_or(&[][..], |own| &own.call_ids);
            for (at, call) in calls.iter().enumerate() {
                let given = own.get(at).filter(|id| is_usable(id) && !taken.contains(*id));
                let id = given.cloned().unwrap_or_else(|| made(call.call_id));
                taken.insert(id.clone());
                ids.insert(call.call_id, id);
            }
        }
        Self(ids)
    }

    pub(crate) fn of_call(&self, call: CallId) -> String {
        self.0.get(&call).cloned().unwrap_or_else(|| made(call))
    }
}

fn is_usable(id: &str) -> bool {
    !id.trim().is_empty() && id.chars().count() <= LONGEST
}

/// The same id for the same call. The end of our own id is a hash, so two calls of a run differ.
fn made(call: CallId) -> String {
    let text = call.to_string();
    text[text.len() - MADE..].to_owned()
}

#[cfg(test)]
mod tests {
    use smartspace_domain::ids::RunId;

    use super::*;
    use crate::{
        port::{ModelData, ToolCall},
        samples::{call_id, request},
    };

    /// The ids for `gpt-x` of calls that these models made, one in each answer.
    fn ids(answers: &[(&str, &str)]) -> Vec<String> {
        let answer = |(index, (model, id)): (usize, &(&str, &str))| Message::Assistant {
            text: String::new(),
            calls: vec![ToolCall {
                call_id: call_id(index as u32),
                name: "f".into(),
                input: String::new(),
            }],
            own: Some(Box::new(ModelData {
                model: (*model).into(),
                call_ids: vec![(*id).into()],
                opaque: None,
            })),
        };
        let messages = answers.iter().enumerate().map(answer).collect();
        let ids = CallIds::of(&Request { messages, ..request() });
        (0..answers.len()).map(|index| ids.of_call(call_id(index as u32))).collect()
    }

    #[test]
    fn a_provider_gets_its_own_ids_back() {
        let own = "openai/gpt-x";
        let longest = "x".repeat(64);
        assert_eq!(
            ids(&[(own, "b9mgIC84m"), (own, "call:1 é"), (own, &longest)]),
            ["b9mgIC84m", "call:1 é", &longest]
        );
        let too_long = "x".repeat(65);
        let answers =
            [(own, "c1"), (own, "c1"), (own, ""), (own, " "), (own, &too_long), ("other/m", "c2")];
        let ids = ids(&answers);
        assert_eq!(ids[0], "c1");
        let made: Vec<_> = (1..6).map(|index| made(call_id(index))).collect();
        assert_eq!(ids[1..], made);
    }

    #[test]
    fn made_ids_are_nine_letters_and_digits_and_differ() {
        let run = RunId::new(smartspace_domain::Time::from_millis(1_771_427_220_000), 1);
        let ids: HashSet<_> = (0..200)
            .flat_map(|step| (0..8).map(move |at| made(CallId::of(run, step, at))))
            .collect();
        assert_eq!(ids.len(), 1_600);
        let plain = |id: &String| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric());
        assert!(ids.iter().all(plain));
    }
}
