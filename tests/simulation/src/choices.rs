//! What models answer: which calls they make, and with which inputs.

use std::collections::VecDeque;

use serde_json::{Value, json};
use smartspace_domain::{runs::Usage, steps::FinishReason};
use smartspace_models::port::{Piece, Request};

use crate::{
    ledger::Ask,
    locked,
    model::{SimModel, between, first_text},
};

impl SimModel {
    /// An answer, with the word that each piece completes.
    pub(crate) fn pieces(&self, ask: &Ask, request: &Request, number: usize, place: &str) -> VecDeque<(String, Piece)> {
        let chance = &self.world.chance;
        let by_agent = ask.lines.iter().any(|line| line.message == ask.trigger && line.own) || trigger_is_agent(request);
        let crowd = self.world.plan.agents > 3;
        let silent = if crowd {
            930
        } else if ask.step > 0 && ask.space.is_empty() {
            400
        } else if ask.step > 0 {
            750
        } else if by_agent {
            450
        } else {
            50
        };
        let mut pieces = VecDeque::from([(String::new(), Piece::Text("Hm.".into()))]);
        if !chance.happens(place, silent) {
            for (index, tool) in (0..).zip(self.calls(ask, request, place)) {
                pieces.push_back((String::new(), Piece::CallStarted { index, name: (*tool).into() }));
                for (word, json) in self.input(tool, request, &format!("a{number}c{index}"), place) {
                    pieces.push_back((word, Piece::CallInput { index, json }));
                }
            }
        }
        let usage = Usage { input_tokens: 100, output_tokens: pieces.len() as u64, ..Usage::default() };
        pieces.push_back((String::new(), Piece::Finished { reason: FinishReason::ToolCalls, usage }));
        pieces
    }

    /// What it calls.
    fn calls(&self, ask: &Ask, request: &Request, place: &str) -> &'static [&'static str] {
        let (chance, plan) = (&self.world.chance, &self.world.plan);
        // Woken by no space, it enters one first, as a rule.
        if ask.space.is_empty() && ask.step == 0 && !chance.happens(place, 100) {
            return match chance.below(place, 10) {
                0..3 => &["enter_space", "send_message"],
                3 => &["enter_space", "send_message", "enter_space", "send_message"],
                4 => &["enter_space", "enter_space"],
                5 => &["skip_response"],
                6 if plan.tools && !chance.is_calm() => &["enter_space", "ask"],
                _ => &["enter_space"],
            };
        }
        // At a place of its own, as below.
        let later = format!("{place}/plans");
        if plan.plans && !chance.is_calm() && chance.happens(&later, 120) {
            return match chance.below(&later, 8) {
                0..3 => &["set_plans"],
                3..5 => &["set_plans", "send_message"],
                5 => &["set_plans", "set_plans"],
                6 => &["get_plans", "set_plans"],
                _ => &["delete_plans"],
            };
        }
        let is_admin = plan.policy == "admin" && locked(&self.world.ledger).agents[0].0 == ask.agent;
        if is_admin && chance.happens(place, 300) {
            return if chance.happens(place, 200) { &["send_message", "delegate"] } else { &["delegate"] };
        }
        if !other_runs(request).is_empty() && chance.happens(place, 200) {
            return match chance.below(place, 6) {
                0 => &["stop_run"],
                1 => &["stop_run", "send_message"],
                2 => &["absorb_run", "send_message"],
                3 => &["send_message", "absorb_run"],
                _ => &["absorb_run"],
            };
        }
        // At a place of its own: where nobody reaches outside, all else is as it was.
        let outside = format!("{place}/outside");
        if plan.outside && chance.happens(&outside, 300) {
            return calls_outside(chance.below(&outside, 20), plan.tools && !chance.is_calm());
        }
        // In the calm nobody is there to answer.
        if plan.tools && !chance.is_calm() && chance.happens(place, 350) {
            return match chance.below(place, 16) {
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
            };
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

    /// A call's input in pieces, each with the word that it completes.
    fn input(&self, tool: &str, request: &Request, name: &str, place: &str) -> Vec<(String, String)> {
        let chance = &self.world.chance;
        let one_of = |some: Vec<String>| some.get(chance.below(place, some.len() as u64) as usize).cloned().unwrap_or_default();
        match tool {
            "send_message" => {
                let mut pieces = vec![(String::new(), r#"{"te"#.to_owned()), (String::new(), r#"xt": ""#.to_owned())];
                for word in 0..=chance.below(place, 6) {
                    let word = format!("{name}w{word}");
                    match chance.below(place, 6) {
                        // A pair of surrogates, cut in the middle.
                        0 => pieces.extend([(String::new(), r"\ud83d".to_owned()), (word.clone(), format!(r"\ude00{word} "))]),
                        1 => pieces.extend([(String::new(), "\\".to_owned()), (word.clone(), format!("n{word} "))]),
                        2 => {
                            let agents = &locked(&self.world.ledger).agents;
                            let named = &agents[chance.below(place, agents.len() as u64) as usize].1;
                            pieces.push((word.clone(), format!("@{named} {word} ")));
                        }
                        _ => pieces.push((word.clone(), format!("{word} "))),
                    }
                }
                pieces.push((String::new(), r#""}"#.to_owned()));
                pieces
            }
            // Written as their cards will hold them, so that what streamed can be compared.
            "ask" | "note" | "order" | "track" => {
                let mut pieces = vec![(String::new(), "{".to_owned())];
                if self.world.plan.spaces > 1 && chance.happens(place, 150) {
                    let space = one_of(own_spaces(request));
                    pieces.push((String::new(), format!(r#""targetSpaceId":"{space}","#)));
                }
                pieces.push((String::new(), format!(r#""{}":""#, if tool == "ask" { "question" } else { "text" })));
                for word in 0..=chance.below(place, 3) {
                    let word = format!("{name}w{word}");
                    pieces.push((word.clone(), format!("{word} ")));
                }
                pieces.push((String::new(), r#""}"#.to_owned()));
                pieces
            }
            "charge" | "fetch" => vec![(String::new(), json!({"text": name}).to_string())],
            "enter_space" => vec![(String::new(), json!({"spaceId": one_of(own_spaces(request))}).to_string())],
            // Under a key like no other: what was set twice, or lost, shows.
            "set_memories" => vec![(String::new(), json!({"memories": [{"key": name, "value": name}]}).to_string())],
            "set_plans" => vec![(String::new(), self.plans_to_set(name, place).to_string())],
            "delete_plans" => vec![(String::new(), json!({"planIds": [one_of(own_plans(request))]}).to_string())],
            "skip_response" => vec![(String::new(), json!({"reason": "nothing to add"}).to_string())],
            "stop_run" | "absorb_run" => vec![(String::new(), json!({"runId": one_of(other_runs(request))}).to_string())],
            "delegate" => {
                let agents = locked(&self.world.ledger).agents.iter().map(|(agent, _)| agent.to_string()).collect();
                vec![(String::new(), json!({"entityId": one_of(agents), "note": name}).to_string())]
            }
            _ => vec![(String::new(), "{}".to_owned())],
        }
    }
}

impl SimModel {
    /// Plans under names like no other.
    fn plans_to_set(&self, name: &str, place: &str) -> Value {
        let chance = &self.world.chance;
        let plan = |name: String| {
            let mut plan = json!({"name": name, "instruction": format!("do {name}")});
            match chance.below(place, 6) {
                0..3 => plan["runAfter"] = json!("10 seconds"),
                3 => plan["runAfter"] = json!("1 minute"),
                4 => plan["runAfter"] = json!("1 hour"),
                _ => plan["cron"] = json!("*/3 * * * *"),
            }
            plan
        };
        let mut plans = vec![plan(name.to_owned())];
        if chance.happens(place, 250) {
            plans.push(plan(format!("{name}b")));
        }
        json!({"plans": plans})
    }
}

/// Calls that reach outside, alone and among others; with forms beside them only where somebody is there to answer.
fn calls_outside(number: u64, with_forms: bool) -> &'static [&'static str] {
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
        // What comes behind the end of a run is never sent.
        15 => &["skip_response", "charge", "order"],
        16 if with_forms => &["order", "ask"],
        17 if with_forms => &["ask", "charge", "note"],
        18 if with_forms => &["ask", "order"],
        _ => &["order", "charge"],
    }
}

fn trigger_is_agent(request: &Request) -> bool {
    let sender = first_text(request).lines().find(|line| line.starts_with("  sender: ")).map(str::to_owned);
    sender.is_some_and(|sender| sender.contains("(agent, id:"))
}

/// The spaces that the prompt names.
fn own_spaces(request: &Request) -> Vec<String> {
    between(&request.system.concat(), "(id: ", ")").into_iter().filter(|id| id.starts_with("spc_")).collect()
}

/// The agent's plans, as the prompt shows them.
fn own_plans(request: &Request) -> Vec<String> {
    between(&first_text(request), "(id: ", ", ").into_iter().filter(|id| id.starts_with("pln_")).collect()
}

/// The agent's other runs, as the prompt shows them.
fn other_runs(request: &Request) -> Vec<String> {
    let text = first_text(request);
    let run = |line: &str| {
        let (run, state) = line.strip_prefix("  - ")?.split_once(" (")?;
        (run.starts_with("run_") && !state.starts_with("this run")).then(|| run.to_owned())
    };
    text.lines().filter_map(run).collect()
}
