//! People answer forms: once or twice, several people at once, with invalid values, too late, or
//! not at all.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use tokio::time::{sleep, sleep_until};

use crate::{
    client::Caller,
    ledger::FormAnswer,
    locked,
    people::Person,
    view::{Form, Seen},
};

/// Actions about forms after all other actions of a person.
const LAST_ACTIONS: usize = 4;
/// People who compete to answer first both answer at a whole multiple of this time.
pub(super) const CONTEST_TICK: Duration = Duration::from_secs(4);
/// Milliseconds that a person waits before each retry.
pub(super) const RETRY_WAITS: [u64; 7] = [100, 300, 1_000, 3_000, 5_000, 8_000, 8_000];

/// An answer to a form.
struct Answer {
    run: String,
    call: String,
    output: Value,
    fits: bool,
}

impl Person {
    /// Answers one of the forms that this person sees, or none.
    pub(super) async fn answer_forms(&mut self, place: &str) {
        let deployment = Arc::clone(&self.deployment);
        let chance = |per_mille: u64| deployment.env.chance.happens(place, per_mille);
        let seen = |wanted: bool| {
            let known = |seen: &Seen| {
                let is_wanted = |form: &&Form| form.is_open == wanted && !form.is_approval;
                let forms = seen.forms.iter().filter(|(_, form)| is_wanted(form));
                forms.map(|(call, form)| (call.clone(), form.run.clone())).collect::<Vec<_>>()
            };
            self.view.with(known)
        };
        // Now and then a form that is closed.
        let forms = seen(!chance(40));
        if forms.is_empty() || !chance(700) {
            return;
        }
        let (call, run) =
            forms[deployment.env.chance.below(place, forms.len() as u64) as usize].clone();
        match deployment.env.chance.below(place, 10) {
            // The form may have expired by then.
            number if number < deployment.env.parameters.late_answers => {
                sleep(deployment.env.chance.time(
                    place,
                    Duration::from_secs(20),
                    Duration::from_secs(40),
                ))
                .await;
            }
            1..5 => sleep_until(deployment.env.next(CONTEST_TICK)).await,
            _ => {}
        }
        self.answers += 1;
        let number = self.index as u64 * 10_000 + self.answers;
        let (output, fits) = match deployment.env.chance.below(place, 8) {
            0 => (json!({"declined": true, "reason": format!("number {number}")}), true),
            1 => (json!({"number": format!("{number}")}), false),
            _ => (json!({"number": number}), true),
        };
        let answer = Answer { run, call, output, fits };
        self.send_answer(place, &answer).await;
        if chance(200) {
            self.send_answer(place, &answer).await;
        }
    }

    /// Waits for further forms, and answers some of them.
    pub(super) async fn answer_the_last(&mut self, actions: usize) {
        for action in actions..actions + LAST_ACTIONS {
            let place = format!("{}/{action}", self.name);
            let nothing_comes = self.view.with(|seen| seen.active.is_empty());
            if nothing_comes || self.deployment.env.skipped.contains(&(self.index, action)) {
                continue;
            }
            sleep(self.deployment.env.chance.time(&place, Duration::ZERO, Duration::from_secs(6)))
                .await;
            self.answer_forms(&place).await;
            self.decide_calls(&place).await;
        }
    }

    /// Gives an answer, retries until its outcome is known, and records the statuses.
    async fn send_answer(&mut self, place: &str, answer: &Answer) {
        let Answer { run, call, output, fits } = answer;
        self.deployment
            .env
            .history
            .note(&self.name, || format!("answers {call} of {run} with {output}"));
        let sent = self.deployment.env.wall();
        let mut statuses = Vec::new();
        let declines = !output["declined"].is_null();
        let by_socket = !declines && self.deployment.env.chance.happens(place, 250);
        let tries =
            if self.deployment.env.chance.happens(place, 100) { 1 } else { RETRY_WAITS.len() };
        for wait in RETRY_WAITS.into_iter().take(tries) {
            let status = if by_socket {
                self.send_by_socket(answer).await
            } else {
                self.send_by_http(answer, declines).await
            };
            statuses.push(status);
            if status.is_some_and(|status| status < 500 && status != 429) {
                break;
            }
            sleep(Duration::from_millis(wait)).await;
        }
        self.deployment
            .env
            .history
            .note(&self.name, || format!("gets the outcome of its answer to {call}: {statuses:?}"));
        locked(&self.deployment.env.ledger).answers.push(FormAnswer {
            person: self.id,
            call: call.clone(),
            output: output.clone(),
            fits: *fits,
            sent,
            statuses,
        });
    }

    async fn send_by_http(&self, answer: &Answer, declines: bool) -> Option<u16> {
        let path = format!("/v1/runs/{}/toolCalls/{}/result", answer.run, answer.call);
        let body = if declines { answer.output.clone() } else { json!({"output": answer.output}) };
        let answer = self
            .deployment
            .http(&self.name, Caller::Entity(self.id), Method::POST, &path, None, Some(&body))
            .await;
        answer.ok().map(|(status, _)| status)
    }

    async fn send_by_socket(&mut self, answer: &Answer) -> Option<u16> {
        let frame = json!({
            "action": "toolResult", "runId": answer.run, "callId": answer.call,
            "output": answer.output,
        });
        match self.request(frame).await {
            Some(answer) if answer["type"] == "accepted" => Some(202),
            Some(answer) => {
                if answer["status"] == 500 {
                    self.deployment
                        .env
                        .report(0, format!("an answer to a form over the socket got {answer}"));
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
