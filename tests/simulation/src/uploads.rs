//! People who upload files and send them: in time, late, twice, never, or something else than they
//! announced. The storage tells of each upload at least once, perhaps late.

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{
    attachments::Sha256Hex,
    ids::{EntityId, SpaceId},
    jobs::TriggerJob,
};
use smartspace_ports::files::FileKey;
use tokio::time::{Instant, sleep};

use crate::{
    client::Caller,
    deployment::Deployment,
    ledger::{ChangeKind, SentChange, SentFiles, SentMessage},
    locked, markers,
};

/// How many messages with files are sent.
const MESSAGES: u64 = 4;
/// A file is uploaded late: up to so long after its message was first sent.
const LATE: Duration = Duration::from_secs(40);

/// Sends some messages with files, one after the other.
pub async fn send_files(deployment: Arc<Deployment>) {
    let chance = &deployment.env.chance;
    for number in 0..=chance.below("uploads/messages", MESSAGES) {
        let place = format!("uploads/{number}");
        sleep(chance.time(&place, Duration::ZERO, Duration::from_secs(20))).await;
        let sending = Sending::new(&deployment, place);
        sending.perform().await;
    }
}

/// One message with files.
struct Sending {
    deployment: Arc<Deployment>,
    place: String,
    person: EntityId,
    space: SpaceId,
}

/// A file that was announced.
#[derive(Clone)]
struct Announced {
    id: String,
    key: FileKey,
    bytes: Vec<u8>,
}

impl Sending {
    fn new(deployment: &Arc<Deployment>, place: String) -> Self {
        let (people, spaces) = {
            let ledger = locked(&deployment.env.ledger);
            (ledger.people.clone(), ledger.spaces.clone())
        };
        let chance = &deployment.env.chance;
        let person = people[chance.below(&place, people.len() as u64) as usize];
        let space = spaces[chance.below(&place, spaces.len() as u64) as usize];
        Self { deployment: Arc::clone(deployment), place, person, space }
    }

    async fn perform(&self) {
        let chance = &self.deployment.env.chance;
        let mut files = Vec::new();
        for number in 0..=chance.below(&self.place, 3) {
            files.extend(self.announce(number).await);
        }
        let mut uploads = Vec::new();
        for file in &files {
            uploads.push(self.upload(file.clone()));
        }
        let sent = self.say(&files);
        let deletion = self.delete_some(&files);
        if chance.happens(&self.place, 500) {
            // The message names files that are still being uploaded.
            tokio::join!(futures::future::join_all(uploads), sent, deletion);
        } else {
            futures::future::join_all(uploads).await;
            tokio::join!(sent, deletion);
        }
    }

    /// Deletes some of the files, perhaps before they are uploaded or sent.
    async fn delete_some(&self, files: &[Announced]) {
        let chance = &self.deployment.env.chance;
        for file in files {
            let place = format!("{}/{}/deletion", self.place, file.id);
            if !chance.happens(&place, 250) {
                continue;
            }
            sleep(chance.time(&place, Duration::ZERO, LATE)).await;
            let by_operator = chance.happens(&place, 300);
            let caller = if by_operator { Caller::Operator } else { Caller::Entity(self.person) };
            // The oracle must know of it even if no answer comes.
            locked(&self.deployment.env.ledger).deleted_files.insert(file.id.clone(), false);
            let path = format!("/v1/spaces/{}/attachments/{}", self.space, file.id);
            let answer = self
                .deployment
                .http_with_retries(&place, caller, Method::DELETE, &path, None, None)
                .await;
            let confirmed = answer.is_some_and(|(status, _)| status == 204);
            locked(&self.deployment.env.ledger).deleted_files.insert(file.id.clone(), confirmed);
        }
    }

    async fn announce(&self, number: u64) -> Option<Announced> {
        let bytes = format!("file {number} of {}", self.place).into_bytes();
        let body = json!({
            "name": format!("{number}.txt"),
            "contentType": "text/plain",
            "bytes": bytes.len(),
            "sha256": Sha256Hex::of(&bytes).as_str(),
        });
        let path = format!("/v1/spaces/{}/attachments", self.space);
        let caller = Caller::Entity(self.person);
        let (status, made) = self
            .deployment
            .http_with_retries(&self.place, caller, Method::POST, &path, None, Some(&body))
            .await?;
        if status != 201 {
            return None;
        }
        let id = made["attachmentId"].as_str()?.to_owned();
        locked(&self.deployment.env.ledger).announced_files.push((self.space, id.clone()));
        let key = FileKey { space: self.space, file: id.parse().ok()? };
        Some(Announced { id, key, bytes })
    }

    /// Uploads a file, or does not.
    async fn upload(&self, file: Announced) {
        let chance = &self.deployment.env.chance;
        let place = format!("{}/{}", self.place, file.id);
        let times = match chance.below(&place, 8) {
            0 => 0,
            1 => 2,
            _ => 1,
        };
        let is_wrong = chance.happens(&place, 100);
        for _ in 0..times {
            sleep(chance.time(&place, Duration::ZERO, LATE / 4)).await;
            // S3 refuses another length or hash; what it stores may still not be a text.
            let bytes = if is_wrong { vec![0; file.bytes.len()] } else { file.bytes.clone() };
            let stored = self.deployment.env.files.put(file.key, bytes);
            self.deployment.env.history.note(&place, || {
                format!("uploads {}, which is {}", file.id, if stored { "new" } else { "there" })
            });
            if stored {
                self.tell(&place, file.key);
            }
        }
    }

    /// Lets the storage tell of an upload: at least once.
    fn tell(&self, place: &str, key: FileKey) {
        let chance = &self.deployment.env.chance;
        let job = TriggerJob::SettleFile { space_id: key.space, attachment_id: key.file };
        for _ in 0..[1, 1, 1, 2][chance.below(place, 4) as usize] {
            let after = chance.time(place, Duration::ZERO, LATE);
            self.deployment.env.triggers.put(job.clone(), Instant::now() + after);
        }
    }

    /// Deletes the message after a while, or does not.
    async fn delete_message(&self, seq: u64) {
        let Deployment { env, .. } = &*self.deployment;
        let place = format!("{}/message", self.place);
        if !env.parameters.changes || !env.chance.happens(&place, 400) {
            return;
        }
        sleep(env.chance.time(&place, Duration::ZERO, LATE)).await;
        let change = {
            let changes = &mut locked(&env.ledger).changes;
            changes.push(SentChange {
                by: self.person,
                kind: ChangeKind::Delete,
                space: self.space,
                seq,
                text: String::new(),
                sent: Instant::now(),
                answered: None,
            });
            changes.len() - 1
        };
        let path = format!("/v1/spaces/{}/messages/{seq}", self.space);
        let caller = Caller::Entity(self.person);
        let answer = self
            .deployment
            .http_with_retries(&place, caller, Method::DELETE, &path, None, None)
            .await;
        if let Some((status, _)) = answer {
            locked(&env.ledger).changes[change].answered = Some((Instant::now(), status));
        }
    }

    /// Sends the message until it is answered.
    async fn say(&self, files: &[Announced]) {
        let mut text = format!("files of {}", self.place);
        if self.deployment.env.parameters.changes {
            text = format!("{text} {}", markers::of(&text));
        }
        let ids: Vec<_> = files.iter().map(|file| file.id.clone()).collect();
        let body = json!({ "text": text, "attachments": ids });
        let path = format!("/v1/spaces/{}/messages", self.space);
        let caller = Caller::Entity(self.person);
        let began = Instant::now();
        let accepted = loop {
            let key = Some(self.place.as_str());
            let answer = self
                .deployment
                .http_with_retries(&self.place, caller, Method::POST, &path, key, Some(&body))
                .await;
            match answer {
                Some((201, made)) => break Some(made),
                // Not all files are there yet.
                Some((422, _)) if began.elapsed() < LATE => sleep(Duration::from_secs(3)).await,
                Some(_) => return,
                None => break None,
            }
        };
        let id = |made: &Value| Some((made["id"].as_str()?.to_owned(), made["seq"].as_u64()?));
        if let Some((_, seq)) = accepted.as_ref().and_then(id) {
            self.delete_message(seq).await;
        }
        let ledger = &mut locked(&self.deployment.env.ledger);
        ledger.sent_files.push(SentFiles { text: text.clone(), files: ids });
        ledger.sent_messages.push(SentMessage {
            person: self.person,
            space: self.space,
            text,
            accepted: accepted.as_ref().and_then(id),
        });
    }
}
