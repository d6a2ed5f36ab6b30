//! Models that play their part by chance. Each answer is like no other, so what was said twice, or lost, shows.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::json;
use smartspace_domain::{
    ids::EntityId,
    runs::{FailureCode, Usage},
    steps::FinishReason,
};
use smartspace_models::{
    limits::Limits,
    port::{Message, Model, ModelError, Piece, Pieces, Request},
};
use tokio::time::{Instant, sleep};

use crate::{
    ledger::{Ask, Line},
    life::Life,
    locked,
    world::World,
};

/// A model as one process reaches it.
pub struct SimModel {
    pub(crate) world: Arc<World>,
    pub(crate) life: Arc<Life>,
}

#[async_trait]
impl Model for SimModel {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        LIMITS.ask(&Unlimited(self), request).await
    }

    fn longest_answer(&self) -> Duration {
        LIMITS.total
    }
}

/// Answers take two minutes at most: short enough for invocations that end in the middle of a run.
const LIMITS: Limits = Limits { silence: Duration::from_mins(1), total: Duration::from_mins(2) };

/// Without time limits, as providers are.
struct Unlimited<'a>(&'a SimModel);

#[async_trait]
impl Model for Unlimited<'_> {
    async fn ask(&self, request: &Request) -> Result<Pieces, ModelError> {
        let SimModel { world, life } = self.0;
        if request.tools.is_empty() {
            return self.0.summarise(request).await;
        }
        let sent = Instant::now();
        world.begins(life, "ask").await;
        let ask = Ask { sent, ..read(request, &life.name) };
        let place = format!("model/{}/{}/{}", ask.agent, ask.trigger, ask.step);
        world.history.note(&life.name, || format!("asks for step {} of the run of {} on {}", ask.step, ask.agent, ask.trigger));
        let number = {
            let mut ledger = locked(&world.ledger);
            ledger.asks.push(ask.clone());
            ledger.asks.len()
        };
        let fault = world.chance.strikes(&place, world.plan.weather.model).then(|| world.chance.below(&place, 6));
        if let Some(fault) = fault {
            world.history.note("model", || format!("fails in way {fault}"));
        }
        match fault {
            Some(0) => {
                let error = ModelError::new(FailureCode::RateLimited, "later");
                return Err(ModelError { retry_after: Some(Duration::from_secs(1)), ..error });
            }
            Some(1) => return Err(ModelError::new(FailureCode::Overloaded, "too much")),
            Some(2) => return Err(ModelError::new(FailureCode::ContextTooLong, "too long")),
            Some(3) => std::future::pending().await,
            _ => {}
        }
        let mut pieces = self.0.pieces(&ask, request, number, &place);
        if fault.is_some() {
            let kept = world.chance.below(&place, pieces.len() as u64) as usize;
            pieces.truncate(kept);
        }
        let (hangs, world, life) = (fault == Some(4), Arc::clone(world), Arc::clone(life));
        let pace = if world.chance.happens(&place, 50) { 2_500 } else { 120 };
        let answer = stream::unfold(pieces, move |mut pieces| {
            let (world, life, place) = (Arc::clone(&world), Arc::clone(&life), place.clone());
            async move {
                sleep(world.chance.time(&place, Duration::ZERO, Duration::from_millis(pace))).await;
                life.acts().await;
                let Some((word, piece)) = pieces.pop_front() else {
                    if hangs {
                        std::future::pending::<()>().await;
                    }
                    return None;
                };
                locked(&world.ledger).words.entry(word).or_insert_with(Instant::now);
                Some((Ok(piece), pieces))
            }
        });
        Ok(answer.boxed())
    }
}

impl SimModel {
    /// A summary of older history, which is no run's.
    async fn summarise(&self, request: &Request) -> Result<Pieces, ModelError> {
        self.world.begins(&self.life, "summarise").await;
        if self.world.chance.strikes("summary", self.world.plan.weather.model) {
            return Err(ModelError::new(FailureCode::ContextTooLong, "too long"));
        }
        let lines = first_text(request).lines().filter(|line| line.contains("[msg:")).count();
        let finished = Piece::Finished { reason: FinishReason::Stop, usage: Usage::default() };
        Ok(stream::iter([Ok(Piece::Text(format!("{lines} messages"))), Ok(finished)]).boxed())
    }

    /// An answer, with the word that each piece completes.
    fn pieces(&self, ask: &Ask, request: &Request, number: usize, place: &str) -> VecDeque<(String, Piece)> {
        let chance = &self.world.chance;
        let by_agent = ask.lines.iter().any(|line| line.message == ask.trigger && line.own) || trigger_is_agent(request);
        let crowd = self.world.plan.agents > 3;
        let silent = if crowd {
            930
        } else if ask.step > 0 {
            750
        } else if by_agent {
            450
        } else {
            50
        };
        let mut pieces = VecDeque::from([(String::new(), Piece::Text("Hm.".into()))]);
        if !chance.happens(place, silent) {
            let calls: &[&str] = match chance.below(place, 20) {
                0..13 => &["send_message"],
                13..15 => &["send_message", "send_message"],
                15 => &["read_messages", "send_message"],
                16 => &["enter_space", "send_message"],
                17 => &["skip_response"],
                18 if chance.happens(place, 500) => &["read_messages"],
                18 => &["set_memories", "send_message"],
                _ => &["no_such_tool"],
            };
            for (index, tool) in (0..).zip(calls) {
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

    /// A call's input in pieces, each with the word that it completes.
    fn input(&self, tool: &str, request: &Request, name: &str, place: &str) -> Vec<(String, String)> {
        let chance = &self.world.chance;
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
            "enter_space" => {
                let spaces: Vec<_> =
                    between(&request.system.concat(), "(id: ", ")").into_iter().filter(|id| id.starts_with("spc_")).collect();
                let space = spaces.get(chance.below(place, spaces.len() as u64) as usize).cloned().unwrap_or_default();
                vec![(String::new(), json!({"spaceId": space}).to_string())]
            }
            // Under a key like no other: what was set twice, or lost, shows.
            "set_memories" => vec![(String::new(), json!({"memories": [{"key": name, "value": name}]}).to_string())],
            "skip_response" => vec![(String::new(), json!({"reason": "nothing to add"}).to_string())],
            _ => vec![(String::new(), "{}".to_owned())],
        }
    }
}

fn trigger_is_agent(request: &Request) -> bool {
    let sender = first_text(request).lines().find(|line| line.starts_with("  sender: ")).map(str::to_owned);
    sender.is_some_and(|sender| sender.contains("(agent, id:"))
}

fn first_text(request: &Request) -> String {
    let Some(Message::User { blocks }) = request.messages.first() else { return String::new() };
    blocks.concat()
}

/// The messages that timeline lines show.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let line = |line: &str| {
        let seen = line.starts_with("  [SEEN] [msg:");
        let new = line.starts_with("  [NEW]  [msg:");
        let message = line.get(14..)?.split(']').next()?.to_owned();
        (seen || new).then(|| Line { message, seen, own: line.contains(" (agent, you): ") })
    };
    text.lines().filter_map(line).collect()
}

/// What is asked, read from the prompt alone.
fn read(request: &Request, process: &str) -> Ask {
    let text = first_text(request);
    let agent = between(&request.system.concat(), "entityId: \"", "\"").pop().and_then(|id| id.parse::<EntityId>().ok());
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned();
    let told =
        request.messages.iter().filter_map(|message| if let Message::System { text } = message { Some(text.as_str()) } else { None });
    let shown = [lines(&text), told.flat_map(lines).collect()].concat();
    // What is said before this very step is not kept yet: another worker may say something else.
    let kept = request.messages.iter().rposition(|message| !matches!(message, Message::System { .. })).map_or(0, |last| last + 1);
    let before = request.messages[..kept].iter().skip(1).filter_map(|message| serde_json::to_string(message).ok());
    Ask {
        sent: Instant::now(),
        at: Instant::now(),
        process: process.to_owned(),
        agent: agent.unwrap_or_else(|| EntityId::new(smartspace_domain::Time::default(), 0)),
        trigger: field("  messageId: "),
        space: between(&text, "SPACE HISTORY (", "):\n")
            .pop()
            .and_then(|name| name.rsplit("id: ").next().map(str::to_owned))
            .unwrap_or_default(),
        step: request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count(),
        lines: shown,
        before: before.collect(),
    }
}

/// Every text between `from` and `to`.
fn between(text: &str, from: &str, to: &str) -> Vec<String> {
    text.split(from).skip(1).filter_map(|rest| rest.split_once(to)).map(|(found, _)| found.to_owned()).collect()
}
