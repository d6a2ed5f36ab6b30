//! A hostile member: it posts 20 messages of 32 KiB a second, opens 50 sockets and floods them with
//! `subscribe`, and reads everything all the time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures::{SinkExt, StreamExt, future::join_all, stream::FuturesUnordered};
use serde_json::json;
use tokio::time::{interval, sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    flood::token,
    product::{Caller, Product},
};

/// Messages a second.
const POSTS: u32 = 20;
const TEXT_BYTES: usize = 32 * 1024;
const SOCKETS: usize = 50;
/// Readers that read without a pause.
const READERS: usize = 4;
/// How long the member waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

type Outcomes = BTreeMap<String, usize>;

pub(super) struct Flooder<'a> {
    product: &'a Product,
    caller: Caller,
    space: String,
    token: String,
    outcomes: Mutex<Outcomes>,
    accepted: Mutex<BTreeSet<String>>,
}

impl<'a> Flooder<'a> {
    pub(super) fn new(product: &'a Product, space: &str, person: &str) -> Self {
        Self {
            product,
            caller: product.caller(),
            space: space.to_owned(),
            token: token(person),
            outcomes: Mutex::default(),
            accepted: Mutex::default(),
        }
    }

    /// The ids of its messages that were accepted.
    pub(super) fn accepted(&self) -> BTreeSet<String> {
        locked(&self.accepted).clone()
    }

    /// Floods until then. Returns the outcomes with counts.
    pub(super) async fn flood(&self, until: Instant) -> Result<Outcomes, String> {
        futures::join!(
            self.posts(until),
            join_all((0..READERS).map(|reader| self.reads(reader, until))),
            join_all((0..SOCKETS).map(|_| self.subscribes(until))),
        );
        Ok(std::mem::take(&mut *locked(&self.outcomes)))
    }

    fn note(&self, outcome: String) {
        *locked(&self.outcomes).entry(outcome).or_default() += 1;
    }

    /// Posts at a constant rate, however long the answers take.
    async fn posts(&self, until: Instant) {
        let mut tick = interval(Duration::from_secs(1) / POSTS);
        let mut posting = FuturesUnordered::new();
        while Instant::now() < until {
            tokio::select! {
                _ = tick.tick() => posting.push(self.post()),
                Some(()) = posting.next() => {}
            }
        }
        while posting.next().await.is_some() {}
    }

    async fn post(&self) {
        let path = format!("/v1/spaces/{}/messages", self.space);
        let body = json!({"text": "x".repeat(TEXT_BYTES)}).to_string();
        let headers = [("authorization", self.token.as_str())];
        match timeout(PATIENCE, self.caller.post(&path, &headers, body)).await {
            Ok(Ok((status, answer))) => {
                if status == 201 {
                    locked(&self.accepted).extend(answer["id"].as_str().map(str::to_owned));
                }
                self.note(format!("post {status}"));
            }
            _ => self.note("post without answer".into()),
        }
    }

    /// Reads the spaces and all messages, again and again.
    async fn reads(&self, reader: usize, until: Instant) {
        let messages = format!("/v1/spaces/{}/messages?limit=100", self.space);
        let paths = ["/v1/spaces".to_owned(), messages];
        let headers = [("authorization", self.token.as_str())];
        let mut number = reader;
        while Instant::now() < until {
            number += 1;
            match timeout(PATIENCE, self.caller.get(&paths[number % 2], &headers)).await {
                Ok(Ok((status, _))) => self.note(format!("read {status}")),
                _ => self.note("read without answer".into()),
            }
        }
    }

    /// Opens a socket and subscribes without a pause. Opens another one if it is closed.
    async fn subscribes(&self, until: Instant) {
        while Instant::now() < until {
            let Ok(Ok(socket)) = timeout(PATIENCE, self.product.connect(&self.token)).await else {
                self.note("socket refused".into());
                sleep(Duration::from_millis(500)).await;
                continue;
            };
            self.note("socket opened".into());
            let (mut sends, mut receives) = socket.split();
            let request = json!({"action": "subscribe", "spaceId": self.space, "afterSeq": 0});
            let request = request.to_string();
            let flood = async {
                while Instant::now() < until
                    && sends.send(Message::text(request.as_str())).await.is_ok()
                {
                    self.note("subscribe sent".into());
                    // A flood without a limit would only measure this program.
                    sleep(Duration::from_millis(20)).await;
                }
            };
            let read = async { while let Some(Ok(_)) = receives.next().await {} };
            tokio::select! { () = flood => {}, () = read => {} }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
