//! The answers of routers.

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use smartspace_domain::{
    runs::{FailureCode, Usage},
    steps::FinishReason,
};
use smartspace_models::port::{ModelError, Piece, Pieces, Request};
use tokio::time::Instant;

use crate::{
    locked,
    ports::model::{SimModel, first_text},
};

impl SimModel {
    /// Chooses agents for a message, or does not answer as it should. The reasons name the answer.
    pub(super) async fn route(&self, request: &Request) -> Result<Pieces, ModelError> {
        let question = first_text(request);
        let trigger = question.lines().find(|line| line.starts_with("TRIGGER: "));
        let sender = trigger.and_then(|line| line.split(" from ").nth(1)).unwrap_or_default();
        locked(&self.env.ledger)
            .router_calls
            .entry(sender.to_owned())
            .or_default()
            .push(Instant::now());
        self.env.before_call(&self.life, "route").await;
        let (agents, _) = question.split_once("SPACE HISTORY:").unwrap_or((&question, ""));
        let agents = agents.lines().filter(|line| line.starts_with('"'));
        let names: Vec<String> = agents.filter_map(first_string).collect();
        let text = question.lines().last().and_then(first_string).unwrap_or_default();
        let place = format!("router/{text}");
        let answer = {
            let mut ledger = locked(&self.env.ledger);
            let answers = ledger.routed.entry(text).or_default();
            *answers += 1;
            *answers
        };
        let chance = &self.env.chance;
        let named = |names: &[&String], words: &str| -> Vec<Value> {
            let reason = format!("answer {answer}: {words}");
            names.iter().map(|name| json!({"name": name, "reason": reason})).collect()
        };
        let input = match chance.below(&place, 12) {
            0 => return Err(ModelError::new(FailureCode::Overloaded, "too much")),
            1 => std::future::pending::<Value>().await,
            2 => json!("nonsense"),
            3 => json!({"agents": [{"name": "Stranger", "reason": "why not"}]}),
            _ => {
                let (chosen, others): (Vec<&String>, Vec<&String>) =
                    names.iter().partition(|name| chance.happens(&format!("{place}/{name}"), 500));
                json!({"agents": named(&chosen, "yes"), "others": named(&others, "no")})
            }
        };
        let usage = Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() };
        let pieces = [
            Piece::CallStarted { index: 0, name: "choose".into() },
            Piece::CallInput { index: 0, json: input.to_string() },
            Piece::Finished { reason: FinishReason::ToolCalls, usage },
        ];
        Ok(stream::iter(pieces.map(Ok)).boxed())
    }
}

/// The JSON string at the beginning of a line.
fn first_string(line: &str) -> Option<String> {
    serde_json::Deserializer::from_str(line).into_iter().next()?.ok()
}
