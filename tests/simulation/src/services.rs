//! Services: they send signed webhooks, and repeat them, at once and much later. The operator sends
//! some deliveries in their name, and replays some.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{agents::WebhookScheme, webhooks::sign};
use tokio::time::sleep;

use crate::{
    client::Lost,
    deployment::Deployment,
    ledger::{ReplayedDelivery, SentDelivery},
    locked,
    process::{ADMIN_KEY, SERVICE_SECRETS},
};

/// The services' number among the clients, after the operator.
const INDEX: usize = 4;
const NAME: &str = "services";
/// The service in whose name the operator sends, with its own idempotency keys.
const BY_HAND: &str = "by.hand";
/// How much later a webhook is repeated.
const REPEATED_AFTER: Duration = Duration::from_hours(8 * 24);
/// Milliseconds before each retry.
const RETRY_WAITS: [u64; 6] = [100, 500, 2_000, 5_000, 10_000, 20_000];

pub struct Services {
    deployment: Arc<Deployment>,
}

impl Services {
    /// Services that have sent nothing yet.
    pub fn new(deployment: &Arc<Deployment>) -> Self {
        Self { deployment: Arc::clone(deployment) }
    }

    /// Performs their actions, one after the other.
    pub async fn perform_actions(self) -> Self {
        let deployment = Arc::clone(&self.deployment);
        for action in 0..4 + deployment.env.chance.below(NAME, 6) as usize {
            let place = format!("{NAME}/{action}");
            let pause = [0, 2, 15, 60][deployment.env.chance.below(&place, 4) as usize];
            sleep(deployment.env.chance.time(&place, Duration::ZERO, Duration::from_secs(pause)))
                .await;
            if deployment.env.skipped.contains(&(INDEX, action)) {
                continue;
            }
            let count = locked(&deployment.env.ledger).sent.len() as u64;
            match deployment.env.chance.below(&place, 100) {
                60..80 if count > 0 => {
                    self.until_answered(deployment.env.chance.below(&place, count) as usize).await;
                }
                80.. if count > 0 => {
                    self.replay(deployment.env.chance.below(&place, count) as usize, &place).await;
                }
                _ => self.send_new(&place).await,
            }
        }
        self
    }

    /// Repeats everything in the calm phase, whether it was answered before or not.
    pub async fn repeat_all(&self) {
        let count = locked(&self.deployment.env.ledger).sent.len();
        for number in 0..count {
            self.until_answered(number).await;
        }
    }

    /// Repeats every webhook long after its run has ended. Idempotency keys have expired by then.
    pub async fn repeat_much_later(&self) {
        self.deployment.env.set_clock(self.deployment.env.wall() + REPEATED_AFTER);
        let sent = locked(&self.deployment.env.ledger).sent.clone();
        for (number, _) in sent.iter().enumerate().filter(|(_, sent)| sent.service != BY_HAND) {
            self.until_answered(number).await;
        }
    }

    async fn send_new(&self, place: &str) {
        let chance = &self.deployment.env.chance;
        let service = ["shop", "shop", "forge", "forge", BY_HAND][chance.below(place, 5) as usize];
        // Now and then so deep that it triggers no run.
        let depth = [0, 0, 0, 1, 2, 3, 7][chance.below(place, 7) as usize];
        let number = {
            let ledger = &mut locked(&self.deployment.env.ledger);
            let agent = ledger.agents[chance.below(place, ledger.agents.len() as u64) as usize].0;
            ledger.sent.push(SentDelivery {
                agent,
                service: service.to_owned(),
                text: place.to_owned(),
                depth,
                answers: Vec::new(),
            });
            ledger.sent.len() - 1
        };
        if chance.happens(place, 200) {
            // Two at the same moment.
            tokio::join!(self.send_once(number, false), self.send_once(number, true));
        }
        if chance.happens(place, 800) {
            self.until_answered(number).await;
        } else {
            // Once, even without an answer. It may be sent again much later.
            self.send_once(number, false).await;
        }
    }

    /// Sends a delivery until a conclusive answer comes.
    async fn until_answered(&self, number: usize) {
        for wait in RETRY_WAITS {
            if self.send_once(number, false).await {
                return;
            }
            sleep(Duration::from_millis(wait)).await;
        }
    }

    /// Sends a delivery, now and then as a copy with another id if the signature does not cover the
    /// id. Returns whether a conclusive answer came.
    async fn send_once(&self, number: usize, copies: bool) -> bool {
        let sent = locked(&self.deployment.env.ledger).sent[number].clone();
        let SentDelivery { agent, service, text, depth, .. } = &sent;
        let payload = json!({"what": text});
        let mut headers = vec![("smartspace-chain-depth", depth.to_string())];
        let key = text.replace('/', "-");
        let (path, body) = match service.as_str() {
            "shop" | "forge" => {
                let is_shop = service == "shop";
                let scheme = if is_shop { WebhookScheme::Standard } else { WebhookScheme::Github };
                let secret = SERVICE_SECRETS[usize::from(!is_shop)].1;
                let copies =
                    copies || self.deployment.env.chance.happens(&format!("{text}/copy"), 150);
                let key = if copies && !is_shop { format!("{key}-copy") } else { key };
                let body = payload.to_string();
                headers.extend(sign(
                    scheme,
                    secret,
                    &key,
                    body.as_bytes(),
                    self.deployment.env.wall(),
                ));
                (format!("/v1/hooks/{agent}/{service}"), body)
            }
            _ => {
                headers.extend([
                    ("authorization", format!("Bearer {ADMIN_KEY}")),
                    ("idempotency-key", key),
                ]);
                let body = json!({"service": service, "payload": payload}).to_string();
                (format!("/v1/agents/{agent}/trigger"), body)
            }
        };
        self.deployment
            .env
            .history
            .note(NAME, || format!("{service} sends {text} to {agent}, {depth} deep"));
        let answer = self.deployment.request(NAME, Method::POST, &path, &headers, body).await;
        self.deployment.env.history.note(NAME, || format!("gets the answer to {text}: {answer:?}"));
        let answer = conclusive(answer);
        let is_answered = answer.is_some();
        locked(&self.deployment.env.ledger).sent[number].answers.extend(answer);
        is_answered
    }

    /// The operator replays a delivery that was accepted.
    async fn replay(&self, number: usize, place: &str) {
        let sent = locked(&self.deployment.env.ledger).sent[number].clone();
        let Some(delivery) = sent
            .answers
            .iter()
            .find(|(status, _)| *status == 202)
            .and_then(|(_, answer)| answer["deliveryId"].as_str())
        else {
            return;
        };
        let number = {
            let replayed = &mut locked(&self.deployment.env.ledger).replayed;
            replayed.push(ReplayedDelivery { text: sent.text.clone(), answers: Vec::new() });
            replayed.len() - 1
        };
        let path = format!("/v1/agents/{}/deliveries/{delivery}/replay", sent.agent);
        let headers = [
            ("authorization", format!("Bearer {ADMIN_KEY}")),
            ("idempotency-key", place.replace('/', "-")),
        ];
        for wait in RETRY_WAITS {
            self.deployment.env.history.note(NAME, || format!("{delivery} is sent once more"));
            let answer = conclusive(
                self.deployment.request(NAME, Method::POST, &path, &headers, String::new()).await,
            );
            let is_answered = answer.is_some();
            locked(&self.deployment.env.ledger).replayed[number].answers.extend(answer);
            if is_answered && !self.deployment.env.chance.happens(place, 300) {
                return;
            }
            sleep(Duration::from_millis(wait)).await;
        }
    }
}

/// The answer, unless the request must be sent again.
fn conclusive(answer: Result<(u16, Value), Lost>) -> Option<(u16, Value)> {
    answer.ok().filter(|(status, _)| *status < 500 && *status != 429)
}
