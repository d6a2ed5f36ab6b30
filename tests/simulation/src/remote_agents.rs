//! Remote agents: they get webhooks, and answer over the HTTP API. They are slow, die, answer twice
//! and too late, claim other runs, and stream garbage.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{Time, ids::SpaceId};
use tokio::time::sleep;

use crate::{
    client::Lost,
    deployment::Deployment,
    env::Env,
    ledger::{RemoteAnswer, RemoteEnd, RemotePost, RemoteRun, SentFiles},
    locked,
    webhooks::{TIMEOUT, Webhook},
};

/// Milliseconds before each retry.
const RETRY_WAITS: [u64; 6] = [100, 500, 2_000, 5_000, 10_000, 20_000];

/// Answers the webhooks that arrive, each in a task of its own.
pub async fn answer_all(deployment: Arc<Deployment>) {
    let Some(mut arriving) = locked(&deployment.env.arriving).take() else { return };
    while let Some(webhook) = arriving.recv().await {
        tokio::spawn(Answering::new(Arc::clone(&deployment), webhook).perform());
    }
}

/// What an agent sends until it is answered.
#[derive(Clone, Copy)]
enum Answer {
    Post(usize),
    /// The end of the run.
    End,
}

/// An agent that answers a webhook.
struct Answering {
    deployment: Arc<Deployment>,
    webhook: Webhook,
    place: String,
}

impl Answering {
    fn new(deployment: Arc<Deployment>, webhook: Webhook) -> Self {
        let place = format!("remote/{}/{}", webhook.run, webhook.number);
        Self { deployment, webhook, place }
    }

    async fn perform(self) {
        let chance = &self.deployment.env.chance;
        let place = &self.place;
        let Some(run) = self.decided() else { return };
        let posts = run.posts.len();
        for number in 0..posts {
            self.pause().await;
            if self.fails(60) {
                self.deployment.env.history.note(place, || "dies".into());
                return;
            }
            if chance.happens(place, 100) {
                self.lie().await;
            }
            if chance.happens(place, 500) {
                self.stream(number).await;
            }
            if chance.happens(place, 150) {
                // Two at the same moment.
                tokio::join!(self.post(number), self.post(number));
            }
            if !self.until_answered(Answer::Post(number)).await {
                return;
            }
        }
        self.pause().await;
        if self.fails(60) {
            self.deployment.env.history.note(place, || "dies before the end".into());
            return;
        }
        for _ in 0..[1, 1, 1, 2][chance.below(place, 4) as usize] {
            self.until_answered(Answer::End).await;
        }
    }

    /// Whether something goes wrong now. In the calm phase nothing does.
    fn fails(&self, per_mille: u64) -> bool {
        self.deployment.env.chance.happens(&self.place, per_mille)
            && !self.deployment.env.chance.is_calm()
    }

    /// Thinks for a while, now and then until its time is up.
    async fn pause(&self) {
        let most = if self.fails(40) {
            TIMEOUT + Duration::from_mins(2)
        } else {
            Duration::from_secs(
                [0, 1, 20][self.deployment.env.chance.below(&self.place, 3) as usize],
            )
        };
        sleep(self.deployment.env.chance.time(&self.place, Duration::ZERO, most)).await;
    }

    /// Calls until a conclusive answer comes. Returns whether the agent should go on.
    async fn until_answered(&self, answer: Answer) -> bool {
        for wait in RETRY_WAITS {
            let status = match answer {
                Answer::Post(number) => self.post(number).await,
                Answer::End => self.complete().await,
            };
            if let Some(status) = status {
                return status != 409;
            }
            sleep(Duration::from_millis(wait)).await;
        }
        true
    }

    /// Shows the beginning of a text, and now and then garbage that belongs to no message.
    async fn stream(&self, number: usize) {
        let Some(RemotePost { text, .. }) = self.planned(number) else { return };
        let chance = &self.deployment.env.chance;
        let half = text.len() / 2;
        let key = format!("answer {number}");
        let mut pieces =
            vec![(key.clone(), 0, &text[..half], true), (key, half, &text[half..], false)];
        if chance.happens(&self.place, 100) {
            pieces.push(("junk".into(), 7, "garbage", false));
        }
        for (key, offset, text, is_all) in pieces {
            let body =
                json!({"streamKey": key, "offset": offset, "text": text, "snapshot": is_all});
            self.expect(
                self.call("stream", &self.webhook.run, None, body).await,
                &[202, 404, 409, 422],
            );
            sleep(chance.time(&self.place, Duration::ZERO, Duration::from_secs(1))).await;
        }
    }

    /// What the agent does about its run. `None` once the oracle judges: it takes the ledger, and
    /// an agent may still be at work.
    fn decided(&self) -> Option<RemoteRun> {
        locked(&self.deployment.env.ledger).remote.get(&self.webhook.run).cloned()
    }

    fn planned(&self, number: usize) -> Option<RemotePost> {
        self.decided()?.posts.get(number).cloned()
    }

    /// The files of a message: one of a person, which may be of another space, or not uploaded yet.
    /// A message that is sent again names the same one.
    fn files(&self, number: usize) -> Vec<String> {
        let env = &self.deployment.env;
        let place = format!("remote/{}/files/{number}", self.webhook.run);
        let mut ledger = locked(&env.ledger);
        let announced = ledger.announced_files.clone();
        let Some(run) = ledger.remote.get_mut(&self.webhook.run) else { return Vec::new() };
        let post = &mut run.posts[number];
        let is_there =
            |space: &SpaceId| post.space.as_ref().is_none_or(|it| *it == space.to_string());
        let known: Vec<_> = announced.into_iter().filter(|(space, _)| is_there(space)).collect();
        let choose = || {
            let names_one = !known.is_empty() && env.chance.happens(&place, 700);
            let chosen = || env.chance.below(&place, known.len() as u64) as usize;
            names_one.then(|| known[chosen()].1.clone()).into_iter().collect()
        };
        post.files.get_or_insert_with(choose).clone()
    }

    /// Posts a message. Returns the status, unless the request must be sent again.
    async fn post(&self, number: usize) -> Option<u16> {
        let RemotePost { key, text, space, .. } = self.planned(number)?;
        let files = self.files(number);
        let mut body = json!({"text": text, "streamKey": format!("answer {number}")});
        if !files.is_empty() {
            body["attachments"] = json!(files);
        }
        if let Some(space) = space {
            body["spaceId"] = space.into();
        }
        self.note(|run| run.posts[number].sends += 1);
        let sent = self.deployment.env.wall();
        let answer = self.call("messages", &self.webhook.run, Some(key), body).await;
        self.expect(answer.clone(), &[201, 404, 409, 422]);
        let (status, body) = conclusive(answer)?;
        if status == 201 {
            locked(&self.deployment.env.ledger).sent_files.push(SentFiles { text, files });
        }
        self.note(|run| {
            let id = body["id"].as_str().map(str::to_owned);
            run.posts[number].answers.push(RemoteAnswer { sent, status, id });
        });
        Some(status)
    }

    async fn complete(&self) -> Option<u16> {
        let status = if self.decided()?.is_failed { "failed" } else { "completed" };
        let body = json!({"status": status, "usage": {"inputTokens": 3, "outputTokens": 2}});
        self.note(|run| run.ends_sent += 1);
        let sent = self.deployment.env.wall();
        let answer = self.call("complete", &self.webhook.run, None, body).await;
        self.expect(answer.clone(), &[200, 409]);
        let (status, _) = conclusive(answer)?;
        self.note(|run| run.ends.push(RemoteEnd { sent, status }));
        Some(status)
    }

    /// Claims another run, or its own one with a wrong token.
    async fn lie(&self) {
        let others: Vec<_> = locked(&self.deployment.env.ledger)
            .remote
            .keys()
            .filter(|run| **run != self.webhook.run)
            .cloned()
            .collect();
        let Some(other) = others.first() else { return };
        let body = json!({"text": format!("a lie about {other}")});
        let answer = self.call("messages", other, Some("lie".into()), body).await;
        self.expect(answer, &[401]);
    }

    async fn call(
        &self,
        what: &str,
        run: &str,
        key: Option<String>,
        body: Value,
    ) -> Result<(u16, Value), Lost> {
        let mut headers = vec![("authorization", format!("Bearer {}", self.webhook.token))];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        let path = format!("/v1/runs/{run}/{what}");
        self.deployment.env.history.note(&self.place, || format!("calls {what} of {run}: {body}"));
        let answer = self
            .deployment
            .request(&self.place, Method::POST, &path, &headers, body.to_string())
            .await;
        self.deployment.env.history.note(&self.place, || format!("gets {answer:?}"));
        answer
    }

    /// Notes an answer with an unexpected status.
    fn expect(&self, answer: Result<(u16, Value), Lost>, statuses: &[u16]) {
        if let Some((status, body)) = conclusive(answer)
            && !statuses.contains(&status)
        {
            self.note(|run| run.wrong.push(format!("{status} {body}, expected {statuses:?}")));
        }
    }

    fn note(&self, change: impl FnOnce(&mut RemoteRun)) {
        if let Some(run) = locked(&self.deployment.env.ledger).remote.get_mut(&self.webhook.run) {
            change(run);
        }
    }
}

/// The answer, unless the request must be sent again.
fn conclusive(answer: Result<(u16, Value), Lost>) -> Option<(u16, Value)> {
    answer.ok().filter(|(status, _)| *status < 500 && *status != 429)
}

/// Whether a request that was sent then must be refused, because the agent's time was up on every
/// clock.
pub(crate) fn is_late(env: &Env, sent: Time, until: &Value) -> bool {
    let until: Option<Time> = until.as_str().and_then(|until| until.parse().ok());
    until.is_some_and(|until| sent > until + env.parameters.clock_spread + CLOCKS_JUMP)
}

/// The wall clock of the simulation jumps at most so far.
const CLOCKS_JUMP: Duration = Duration::from_secs(30);
