//! People decide calls of agents: they approve, change and decline them, often two at once.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use tokio::time::{sleep, sleep_until};

use crate::{
    client::Caller,
    ledger::CallDecision,
    locked,
    people::{
        Person,
        answers::{CONTEST_TICK, RETRY_WAITS},
    },
    view::Seen,
};

impl Person {
    /// Decides one of the calls that this person sees, or none.
    pub(super) async fn decide_calls(&mut self, place: &str) {
        let deployment = Arc::clone(&self.deployment);
        let place = &format!("{place}/decision");
        let chance = &deployment.env.chance;
        if !deployment.env.parameters.approvals {
            return;
        }
        // Now and then a call that is decided.
        let is_open = !chance.happens(place, 60);
        let calls = self.view.with(|seen: &Seen| {
            let known = seen.forms.iter();
            let known = known.filter(|(_, form)| form.is_approval && form.is_open == is_open);
            known.map(|(call, form)| (call.clone(), form.run.clone())).collect::<Vec<_>>()
        });
        if calls.is_empty() || !chance.happens(place, 800) {
            return;
        }
        let (call, run) = calls[chance.below(place, calls.len() as u64) as usize].clone();
        match chance.below(place, 10) {
            // The time of the rule may be over by then.
            0 => {
                let time = chance.time(place, Duration::from_secs(20), Duration::from_secs(40));
                sleep(time).await;
            }
            1..6 => sleep_until(deployment.env.next(CONTEST_TICK)).await,
            _ => {}
        }
        self.answers += 1;
        let action = match chance.below(place, 12) {
            0..7 => "approve",
            7..9 => "edit",
            9 => "respond",
            10 => "decline",
            _ => "end",
        };
        let number = self.index as u64 * 10_000 + self.answers;
        let mut body = json!({"action": action});
        match action {
            "edit" => body["input"] = json!({"text": format!("edit{number}")}),
            "respond" => body["text"] = json!(format!("number {number}")),
            _ => {}
        }
        self.send_decision(place, &run, &call, action, &body).await;
        if chance.happens(place, 250) {
            self.send_decision(place, &run, &call, action, &body).await;
        }
    }

    /// Sends a decision until its outcome is known, and records the statuses.
    async fn send_decision(
        &mut self,
        place: &str,
        run: &str,
        call: &str,
        action: &'static str,
        body: &Value,
    ) {
        let deployment = Arc::clone(&self.deployment);
        let chance = &deployment.env.chance;
        deployment.env.history.note(&self.name, || format!("decides {call} of {run}: {body}"));
        let by_socket = chance.happens(place, 250);
        let tries = if chance.happens(place, 100) { 1 } else { RETRY_WAITS.len() };
        let mut statuses = Vec::new();
        for wait in RETRY_WAITS.into_iter().take(tries) {
            let status = if by_socket {
                self.decide_by_socket(run, call, body).await
            } else {
                let path = format!("/v1/runs/{run}/toolCalls/{call}/decision");
                let caller = Caller::Entity(self.id);
                let sent =
                    deployment.http(&self.name, caller, Method::POST, &path, None, Some(body));
                sent.await.ok().map(|(status, _)| status)
            };
            statuses.push(status);
            if status.is_some_and(|status| status < 500 && status != 429) {
                break;
            }
            sleep(Duration::from_millis(wait)).await;
        }
        deployment.env.history.note(&self.name, || {
            format!("gets the outcome of its decision on {call}: {statuses:?}")
        });
        locked(&deployment.env.ledger).decisions.push(CallDecision {
            person: self.id,
            call: call.to_owned(),
            action,
            input: body["input"].clone(),
            statuses,
        });
    }

    async fn decide_by_socket(&mut self, run: &str, call: &str, body: &Value) -> Option<u16> {
        let frame = json!({
            "action": "decide", "runId": run, "callId": call, "decision": body,
        });
        match self.request(frame).await {
            Some(answer) if answer["type"] == "accepted" => Some(202),
            Some(answer) => {
                if answer["status"] == 500 {
                    let text = format!("a decision over the socket got {answer}");
                    self.deployment.env.report(0, text);
                }
                answer["status"].as_u64().and_then(|status| u16::try_from(status).ok())
            }
            None => {
                self.reconnect().await;
                None
            }
        }
    }
}
