//! The inputs of calls. They are unique, so the oracle notices what is repeated or lost.

use serde_json::{Value, json};
use smartspace_models::port::Request;
use tokio::time::Instant;

use crate::{
    external_tools::DRAWS,
    ledger::Line,
    locked,
    ports::model::{SimModel, between, choices::other_runs, first_text},
};

/// The pieces of an input, each with the word that it completes.
type Pieces = Vec<(String, String)>;

impl SimModel {
    /// Draws the input of a call, in pieces.
    pub(super) fn input(&self, tool: &str, request: &Request, name: &str, place: &str) -> Pieces {
        let chance = &self.env.chance;
        let one_of = |some: Vec<String>| {
            some.get(chance.below(place, some.len() as u64) as usize).cloned().unwrap_or_default()
        };
        match tool {
            "send_message" => self.message(request, name, place),
            "react" => {
                let seq = self.some_number(request, place, false);
                let emoji = ["👍", "🎉", "❤"][chance.below(place, 3) as usize];
                whole(&json!({"seq": seq, "emoji": emoji}))
            }
            "search_messages" => whole(&self.search(name, place)),
            "edit_message" => whole(&self.edit(request, name, place)),
            "ask" | "note" | "order" | "track" => self.card(tool, request, name, place),
            "charge" | "fetch" | "transfer" | "drop" => whole(&json!({"text": name})),
            DRAWS => whole(&json!({"prompt": name})),
            "enter_space" => whole(&json!({"spaceId": one_of(own_spaces(request))})),
            "set_memories" => whole(&json!({"memories": [{"key": name, "value": name}]})),
            "set_plans" => whole(&self.plans_to_set(name, place)),
            "delete_plans" => whole(&json!({"planIds": [one_of(own_plans(request))]})),
            "skip_response" => whole(&json!({"reason": "nothing to add"})),
            "stop_run" | "absorb_run" => whole(&json!({"runId": one_of(other_runs(request))})),
            "delegate" => {
                let agents = locked(&self.env.ledger).agents.clone();
                let agents = agents.iter().map(|(agent, _)| agent.to_string()).collect();
                whole(&json!({"entityId": one_of(agents), "note": name}))
            }
            _ => whole(&json!({})),
        }
    }

    /// The input of `send_message`: its pieces end in the middle of escapes.
    fn message(&self, request: &Request, name: &str, place: &str) -> Pieces {
        let chance = &self.env.chance;
        let mut pieces =
            vec![(String::new(), r#"{"te"#.to_owned()), (String::new(), r#"xt": ""#.to_owned())];
        for word in 0..=chance.below(place, self.env.parameters.words) {
            let word = format!("{name}w{word}");
            match chance.below(place, 6) {
                // A surrogate pair, cut in the middle.
                0 => pieces.extend([
                    (String::new(), r"\ud83d".to_owned()),
                    (word.clone(), format!(r"\ude00{word} ")),
                ]),
                1 => pieces.extend([
                    (String::new(), "\\".to_owned()),
                    (word.clone(), format!("n{word} ")),
                ]),
                2 => {
                    let agents = &locked(&self.env.ledger).agents;
                    let named = &agents[chance.below(place, agents.len() as u64) as usize].1;
                    pieces.push((word.clone(), format!("@{named} {word} ")));
                }
                _ => pieces.push((word.clone(), format!("{word} "))),
            }
        }
        // This draw has a place of its own.
        let goes_on =
            self.env.parameters.ends_after_send && chance.happens(&format!("{place}/more"), 200);
        let more = if goes_on { r#","more":true"# } else { "" };
        // So has this one.
        let reply = format!("{place}/reply");
        let replies = self.env.parameters.changes && chance.happens(&reply, 300);
        let parent = if replies {
            format!(r#","replyTo":{}"#, self.some_number(request, &reply, false))
        } else {
            String::new()
        };
        pieces.push((String::new(), format!(r#""{more}{parent}}}"#)));
        pieces
    }

    /// A new text for a message of the agent. Now and then the text is empty, which deletes the
    /// message.
    fn edit(&self, request: &Request, name: &str, place: &str) -> Value {
        let text = if self.env.chance.happens(place, 300) {
            String::new()
        } else {
            format!("edited {name}w0")
        };
        json!({"seq": self.some_number(request, place, true), "text": text})
    }

    /// A search for words that all texts of people or many texts of agents have. Its own word makes
    /// it unique.
    fn search(&self, name: &str, place: &str) -> Value {
        let chance = &self.env.chance;
        let words = ["person", "Person -edited", "\"person 0\"", "edited", "person from:me"];
        let words = words[chance.below(place, words.len() as u64) as usize];
        locked(&self.env.ledger).searches.by_agents.insert(name.to_owned(), Instant::now());
        let mut search = json!({"query": format!("{words} {name}")});
        if chance.happens(place, 300) {
            search["spaceId"] = json!("all");
        }
        search
    }

    /// The number of a message that the prompt shows, perhaps of one that the agent wrote, or 0 if
    /// it shows none.
    fn some_number(&self, request: &Request, place: &str, own: bool) -> u64 {
        let lines = Line::all_in(&first_text(request), "");
        let shown = lines.iter().filter(|line| line.own || !own).filter_map(Line::number);
        let numbers: Vec<u64> = shown.collect();
        let chosen = self.env.chance.below(place, numbers.len() as u64) as usize;
        numbers.get(chosen).copied().unwrap_or(0)
    }

    /// The input of a visible tool. It is formatted as its card stores it, so that the oracle can
    /// compare the stream with the card.
    fn card(&self, tool: &str, request: &Request, name: &str, place: &str) -> Pieces {
        let chance = &self.env.chance;
        let mut pieces = vec![(String::new(), "{".to_owned())];
        if self.env.parameters.spaces > 1 && chance.happens(place, 150) {
            let spaces = own_spaces(request);
            let chosen = chance.below(place, spaces.len() as u64) as usize;
            let space = spaces.get(chosen).cloned().unwrap_or_default();
            pieces.push((String::new(), format!(r#""targetSpaceId":"{space}","#)));
        }
        let field = if tool == "ask" { "question" } else { "text" };
        pieces.push((String::new(), format!(r#""{field}":""#)));
        for word in 0..=chance.below(place, 3) {
            let word = format!("{name}w{word}");
            pieces.push((word.clone(), format!("{word} ")));
        }
        pieces.push((String::new(), r#""}"#.to_owned()));
        pieces
    }

    /// Plans with unique names.
    fn plans_to_set(&self, name: &str, place: &str) -> Value {
        let chance = &self.env.chance;
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

/// An input in one piece, which completes no word.
fn whole(input: &Value) -> Pieces {
    vec![(String::new(), input.to_string())]
}

/// The spaces that the prompt names.
fn own_spaces(request: &Request) -> Vec<String> {
    let text = request.system.concat().replace("(id: ", "(");
    let ids = between(&text, "(spc_", ")").into_iter();
    ids.map(|id| format!("spc_{id}")).collect()
}

/// The agent's plans, as the prompt shows them.
fn own_plans(request: &Request) -> Vec<String> {
    let text = first_text(request).replace("(id: ", "(");
    let ids = between(&text, "- \"", "\n").into_iter();
    ids.filter_map(|line| Some(format!("pln_{}", between(&line, "(pln_", ", ").pop()?))).collect()
}
