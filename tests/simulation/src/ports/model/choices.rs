//! The answers of models: `choices` draws the calls, and `inputs` their inputs.

mod inputs;

use std::collections::VecDeque;

use smartspace_domain::{runs::Usage, steps::FinishReason};
use smartspace_models::port::{Piece, Request};

use crate::{
    external_tools::DRAWS,
    ledger::ModelRequest,
    locked,
    ports::model::{SimModel, first_text},
};

impl SimModel {
    /// Draws an answer. Each piece comes with the word that it completes.
    pub(super) fn pieces(
        &self,
        ask: &ModelRequest,
        request: &Request,
        number: usize,
        place: &str,
    ) -> VecDeque<(String, Piece)> {
        let chance = &self.env.chance;
        let mut pieces = VecDeque::from([(String::new(), Piece::Text("Hm.".into()))]);
        if !chance.happens(place, self.silence(ask, request)) {
            for (index, tool) in (0..).zip(self.calls(ask, request, place)) {
                pieces
                    .push_back((String::new(), Piece::CallStarted { index, name: (*tool).into() }));
                for (word, json) in self.input(tool, request, &format!("a{number}c{index}"), place)
                {
                    pieces.push_back((word, Piece::CallInput { index, json }));
                }
            }
        }
        let input_tokens = if self.env.parameters.long_runs { 700 } else { 100 };
        let output_tokens = pieces.len() as u64;
        let usage = Usage { input_tokens, output_tokens, ..Usage::default() };
        pieces
            .push_back((String::new(), Piece::Finished { reason: FinishReason::ToolCalls, usage }));
        pieces
    }

    /// How many answers of a thousand make no calls.
    fn silence(&self, ask: &ModelRequest, request: &Request) -> u64 {
        let by_agent = ask.lines.iter().any(|line| line.message == ask.trigger_line && line.own)
            || trigger_is_agent(request);
        if self.env.parameters.long_runs {
            50
        } else if self.env.parameters.agents > 3 {
            930
        } else if ask.step > 0 && ask.space.is_empty() {
            400
        } else if ask.step > 0 {
            750
        } else if by_agent {
            450
        } else {
            50
        }
    }

    /// Whether the model stays silent at a question.
    fn ignores_question(&self, ask: &ModelRequest, request: &Request, place: &str) -> bool {
        // The draw has a place of its own, so that seeds without questions do not change.
        let question = format!("{place}/question");
        self.env.parameters.questions
            && ask.step == 0
            && trigger_is_question(request)
            && self.env.chance.happens(&question, 800)
    }

    /// Draws the tools that an answer calls.
    fn calls(&self, ask: &ModelRequest, request: &Request, place: &str) -> Calls {
        let chance = &self.env.chance;
        let parameters = &self.env.parameters;
        let with_forms = parameters.tools && !chance.is_calm();
        if parameters.long_runs {
            return &["fetch"];
        }
        if self.ignores_question(ask, request, place) {
            return &["skip_response"];
        }
        // A run that no space triggered usually enters a space first.
        if ask.space.is_empty() && ask.step == 0 && !chance.happens(place, 100) {
            return first_calls_without_space(chance.below(place, 10), with_forms);
        }
        // These draws have a place of their own, so that seeds without plans do not change.
        let later = format!("{place}/plans");
        if parameters.plans && !chance.is_calm() && chance.happens(&later, 120) {
            return calls_of_plans(chance.below(&later, 8));
        }
        let is_admin =
            parameters.policy == "admin" && locked(&self.env.ledger).agents[0].0 == ask.agent;
        if is_admin && chance.happens(place, 300) {
            return if chance.happens(place, 200) {
                &["send_message", "delegate"]
            } else {
                &["delegate"]
            };
        }
        if !other_runs(request).is_empty() && chance.happens(place, 200) {
            return calls_about_runs(chance.below(place, 6));
        }
        if let Some(calls) = self.calls_of_features(place, with_forms) {
            return calls;
        }
        // In the calm phase nobody answers forms.
        if with_forms && chance.happens(place, 350) {
            return calls_with_forms(chance.below(place, 16));
        }
        match chance.below(place, 20) {
            0..13 => &["send_message"],
            13..15 => &["send_message", "send_message"],
            15 => &["read_messages", "send_message"],
            16 => &["enter_space", "send_message"],
            17 => &["skip_response"],
            18 if chance.happens(place, 500) => &["read_messages"],
            18 => &["set_memories", "send_message"],
            _ if chance.happens(place, 100) => &["delegate"],
            _ => &["no_such_tool"],
        }
    }

    /// Calls of features that not all seeds have. Each draw has a place of its own, so that seeds
    /// without the feature do not change.
    fn calls_of_features(&self, place: &str, with_forms: bool) -> Option<Calls> {
        let chance = &self.env.chance;
        let parameters = &self.env.parameters;
        let outside = format!("{place}/outside");
        if parameters.outside && chance.happens(&outside, 300) {
            return Some(external_calls(chance.below(&outside, 20), with_forms));
        }
        let ruled = format!("{place}/ruled");
        if parameters.approvals && chance.happens(&ruled, 350) {
            return Some(calls_with_rules(chance.below(&ruled, 16), with_forms));
        }
        let changes = format!("{place}/changes");
        if parameters.changes && chance.happens(&changes, 250) {
            let number = chance.below(&changes, 10);
            // People decide edits, if they decide calls. Without people models only react.
            let is_decided = with_forms || !parameters.approvals;
            return Some(calls_about_messages(if is_decided { number } else { number % 6 }));
        }
        let search = format!("{place}/search");
        if parameters.searches && chance.happens(&search, 250) {
            return Some(calls_that_search(chance.below(&search, 6)));
        }
        let drawing = format!("{place}/drawing");
        let draws = parameters.files && chance.happens(&drawing, 150);
        draws.then(|| calls_that_draw(chance.below(&drawing, 6)))
    }
}

/// The names of the tools that an answer calls, in order.
type Calls = &'static [&'static str];

fn first_calls_without_space(number: u64, with_forms: bool) -> Calls {
    match number {
        0..3 => &["enter_space", "send_message"],
        3 => &["enter_space", "send_message", "enter_space", "send_message"],
        4 => &["enter_space", "enter_space"],
        5 => &["skip_response"],
        6 if with_forms => &["enter_space", "ask"],
        _ => &["enter_space"],
    }
}

fn calls_of_plans(number: u64) -> Calls {
    match number {
        0..3 => &["set_plans"],
        3..5 => &["set_plans", "send_message"],
        5 => &["set_plans", "set_plans"],
        6 => &["get_plans", "set_plans"],
        _ => &["delete_plans"],
    }
}

fn calls_about_runs(number: u64) -> Calls {
    match number {
        0 => &["stop_run"],
        1 => &["stop_run", "send_message"],
        2 => &["absorb_run", "send_message"],
        3 => &["send_message", "absorb_run"],
        _ => &["absorb_run"],
    }
}

fn calls_with_forms(number: u64) -> Calls {
    match number {
        0..5 => &["ask"],
        5..7 => &["ask", "ask"],
        7 => &["ask", "ask", "ask"],
        8 => &["send_message", "ask"],
        9 => &["ask", "send_message"],
        10 => &["send_message", "ask", "send_message"],
        11 => &["ask", "note", "ask"],
        12 => &["note"],
        13 => &["note", "send_message"],
        14 => &["ask", "read_messages"],
        _ => &["ask", "skip_response"],
    }
}

/// External calls, alone and among others, and with forms only if people can answer them.
fn external_calls(number: u64, with_forms: bool) -> Calls {
    match number {
        0..3 => &["charge"],
        3 => &["fetch"],
        4..6 => &["order"],
        6 => &["track"],
        7 => &["charge", "track"],
        8 => &["order", "order"],
        9 => &["fetch", "charge", "order"],
        10 => &["charge", "charge", "fetch", "order"],
        11 => &["order", "send_message"],
        12 => &["send_message", "charge"],
        13 => &["fetch", "set_memories", "track"],
        14 => &["charge", "skip_response"],
        // Calls after the end of a run are never sent.
        15 => &["skip_response", "charge", "order"],
        16 if with_forms => &["order", "ask"],
        17 if with_forms => &["ask", "charge", "note"],
        18 if with_forms => &["ask", "order"],
        _ => &["order", "charge"],
    }
}

/// Calls that people decide. In the calm phase nobody does.
fn calls_with_rules(number: u64, people_decide: bool) -> Calls {
    if !people_decide {
        return &["drop"];
    }
    match number {
        0..5 => &["transfer"],
        5..7 => &["transfer", "transfer"],
        7 => &["transfer", "send_message"],
        8 => &["send_message", "transfer"],
        9 => &["transfer", "set_memories"],
        10 => &["transfer", "transfer", "send_message"],
        11 => &["drop", "transfer"],
        12 => &["transfer", "drop", "send_message"],
        13 => &["transfer", "skip_response"],
        _ => &["transfer", "read_messages", "send_message"],
    }
}

fn calls_about_messages(number: u64) -> Calls {
    match number {
        0..3 => &["react"],
        3 => &["react", "react"],
        4 => &["send_message", "react"],
        5 => &["read_messages", "react"],
        6 => &["send_message", "edit_message"],
        7 => &["edit_message", "react"],
        _ => &["edit_message"],
    }
}

fn calls_that_search(number: u64) -> Calls {
    match number {
        0 | 1 => &["search_messages"],
        2 => &["search_messages", "search_messages"],
        3 => &["send_message", "search_messages"],
        4 => &["read_messages", "search_messages", "send_message"],
        _ => &["search_messages", "send_message"],
    }
}

fn calls_that_draw(number: u64) -> Calls {
    match number {
        0..3 => &[DRAWS],
        3 => &[DRAWS, DRAWS],
        4 => &["send_message", DRAWS],
        _ => &[DRAWS, "skip_response"],
    }
}

fn trigger_is_agent(request: &Request) -> bool {
    first_text(request).lines().any(|line| {
        line.starts_with("  sender: ") && line.contains("(agent, id:")
            || line.starts_with("TRIGGER: message ") && line.contains(" (agent), ")
    })
}

fn trigger_is_question(request: &Request) -> bool {
    let text = first_text(request);
    let mut lines = text.lines().skip_while(|line| !line.starts_with("TRIGGER: message "));
    lines.nth(1).is_some_and(|text| text.contains('?'))
}

/// The agent's other runs, as the prompt shows them.
fn other_runs(request: &Request) -> Vec<String> {
    let text = first_text(request);
    let run = |line: &str| {
        let (run, state) = line.trim_start().strip_prefix("- ")?.split_once(" (")?;
        (run.starts_with("run_") && !state.starts_with("this run")).then(|| run.to_owned())
    };
    text.lines().filter_map(run).collect()
}
