//! The webhook that triggers a remote agent: Standard Webhooks 1.0, at least once, always with the
//! id of the run.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use serde::Serialize;
use smartspace_domain::{
    Time,
    agents::{Runtime, SpacesShown, WebhookScheme},
    attachments::FilePart,
    ids::{MessageId, SpaceId},
    limits::TIMELINE_CHARS,
    messages::{Message, Part},
    runs::{FailureCode, Run},
    triggers::Trigger,
    webhooks::{check_secret, sign},
};
use smartspace_egress::{Egress, Outgoing, SendError};
use smartspace_models::port;
use smartspace_pipeline::{Pipeline, files::Download};
use smartspace_ports::secrets::Secret;
use smartspace_store::runs::{RemoteRecord, RunRecord};
use tokio::time::{Instant, sleep};
use url::Url;

use crate::{
    prompt::Prompt,
    remote::{Callbacks, WebhookPayload},
    run_context::trace_context,
};

/// How long to wait before each further try, if the agent can't be reached or is overloaded.
const RETRY_WAITS: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_millis(1_500), Duration::from_secs(4)];
/// How many bytes of messages the webhook carries besides the text. The newest ones count.
const MAX_MESSAGES_BYTES: usize = 256 * 1024;

/// How many files of those messages have an address in the webhook. The newest ones count.
const MAX_FILES: usize = 20;

/// The dependencies and the limit of sending a webhook.
pub(crate) struct Webhook<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) callbacks: &'a Callbacks,
    pub(crate) egress: &'a Egress,
    pub(crate) runtime: &'a Runtime,
    pub(crate) limit: Duration,
}

pub(crate) enum WebhookOutcome {
    /// The agent has it, or may have it.
    Accepted,
    /// The agent does not have it, or does not want it.
    Failed(FailureCode, String),
}

#[derive(Serialize)]
struct Body<'a> {
    run: Run,
    trigger: &'a Trigger,
    context: Context,
    callbacks: Addresses,
}

#[derive(Serialize)]
struct Context {
    text: String,
    messages: Vec<Message>,
    files: Vec<KnownFile>,
    spaces: Vec<KnownSpace>,
}

/// A file of the messages, and where it can be downloaded for a while.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KnownFile {
    message_id: MessageId,
    #[serde(flatten)]
    file: FilePart,
    url: String,
    url_expires_at: Time,
}

/// A space that the prompt names.
#[derive(Serialize)]
struct KnownSpace {
    id: SpaceId,
    name: String,
}

#[derive(Serialize)]
struct Addresses {
    token: String,
    messages: String,
    reactions: String,
    stream: String,
    complete: String,
}

impl Webhook<'_> {
    /// Sends the webhook of a run.
    pub(crate) async fn send(
        &self,
        payload: &WebhookPayload<'_>,
        remote: &RemoteRecord,
        now: Time,
    ) -> WebhookOutcome {
        let secret = match self.secret().await {
            Ok(secret) => secret,
            Err(failed) => return failed,
        };
        let body = self.body(payload, remote).await;
        let request = match self.request(payload.run, &body, secret, now) {
            Ok(request) => request,
            Err(text) => return WebhookOutcome::Failed(FailureCode::NotConfigured, text),
        };
        let end = Instant::now() + self.limit;
        let mut waits = RETRY_WAITS.iter();
        loop {
            let limit = end.saturating_duration_since(Instant::now());
            let sent = match self.egress.send(Outgoing { limit, ..request.clone() }).await {
                Ok(answer) => outcome(answer.status),
                Err(SendError::Refused(text)) => {
                    let text = format!("the remote agent may not be called: {text}");
                    WebhookOutcome::Failed(FailureCode::NotConfigured, text)
                }
                Err(SendError::NotSent(text)) => {
                    let text = format!("the remote agent did not take the run: {text}");
                    WebhookOutcome::Failed(FailureCode::Overloaded, text)
                }
                // It has the run, and may answer the webhook only when it has done the work.
                Err(SendError::Unknown(_)) if Instant::now() >= end => WebhookOutcome::Accepted,
                Err(SendError::Unknown(text)) => {
                    let text = format!("the remote agent did not take the run: {text}");
                    WebhookOutcome::Failed(FailureCode::Overloaded, text)
                }
            };
            let wait = waits.next().filter(|wait| Instant::now() + **wait < end);
            match (&sent, wait) {
                // It may be starting again.
                (WebhookOutcome::Failed(FailureCode::Overloaded, _), Some(wait)) => {
                    sleep(*wait).await;
                }
                _ => return sent,
            }
            if self.is_over(payload.run).await {
                return sent;
            }
        }
    }

    /// Whether the run has ended meanwhile: somebody canceled it.
    async fn is_over(&self, run: &RunRecord) -> bool {
        let now = self.pipeline.store.runs().record(run.id).await;
        now.is_ok_and(|now| !now.status.is_active())
    }

    /// The secret that signs the webhook, from the secrets of the installation.
    async fn secret(&self) -> Result<Secret, WebhookOutcome> {
        let name = self.runtime.secret_name();
        let known =
            self.egress.secrets().await.map_err(|error| {
                WebhookOutcome::Failed(FailureCode::Overloaded, error.to_string())
            })?;
        let refused = |why: &str| {
            let text = format!("the secret {name} {why}");
            WebhookOutcome::Failed(FailureCode::NotConfigured, text)
        };
        let unset = "is not set here; set it where Smartspace runs, and start that again";
        let secret = known.get(name).ok_or_else(|| refused(unset))?;
        check_secret(WebhookScheme::Standard, secret.reveal())
            .map_err(|wrong| refused(&format!("can't sign a webhook: {wrong}")))?;
        Ok(secret.clone())
    }

    fn request(
        &self,
        run: &RunRecord,
        body: &Body<'_>,
        secret: Secret,
        now: Time,
    ) -> Result<Outgoing, String> {
        let url = Url::parse(&self.runtime.url)
            .map_err(|error| format!("the address of the remote agent can't be used: {error}"))?;
        let body = serde_json::to_vec(body)
            .map_err(|error| format!("the webhook can't be written: {error}"))?;
        let mut headers = trace_context(run).headers_of_run();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let signed =
            sign(WebhookScheme::Standard, secret.reveal(), &run.id.to_string(), &body, now);
        headers.extend(signed.into_iter().filter_map(|(name, value)| {
            Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?))
        }));
        Ok(Outgoing {
            method: Method::POST,
            url,
            headers,
            body: Some(Bytes::from(body)),
            limit: self.limit,
            repeatable: false,
            only_status: true,
            secrets: vec![secret],
        })
    }

    async fn body<'a>(&self, payload: &WebhookPayload<'a>, remote: &RemoteRecord) -> Body<'a> {
        let Callbacks { key, api_url } = self.callbacks;
        let run = payload.run;
        let messages = messages_of(payload);
        let address = |what: &str| format!("{api_url}/v1/runs/{}/{what}", run.id);
        Body {
            run: run.view(payload.trigger.clone(), None),
            trigger: payload.trigger,
            context: Context {
                text: text_of(payload.prompt),
                files: self.files_of(&messages).await,
                messages,
                spaces: spaces_of(payload),
            },
            callbacks: Addresses {
                token: key.token(run.id, &remote.lease, remote.until),
                messages: address("messages"),
                reactions: address("reactions"),
                stream: address("stream"),
                complete: address("complete"),
            },
        }
    }

    /// The addresses of the newest files of the messages. The agent may read them, because
    /// it is in their space.
    async fn files_of(&self, messages: &[Message]) -> Vec<KnownFile> {
        let mut files = Vec::new();
        for (message, file) in newest_files(messages) {
            match self.pipeline.download(message.space_id, &file).await {
                Ok(Download { url, until: url_expires_at }) => {
                    // The local host's own files have a path only.
                    let url = if url.starts_with('/') {
                        format!("{}{url}", self.callbacks.api_url)
                    } else {
                        url
                    };
                    files.push(KnownFile { message_id: message.id, file, url, url_expires_at });
                }
                Err(error) => {
                    tracing::warn!(file = %file.attachment_id, %error, "a file has no address");
                }
            }
        }
        files
    }
}

/// The newest files of the messages, each once.
fn newest_files(messages: &[Message]) -> Vec<(&Message, FilePart)> {
    let mut seen = BTreeSet::new();
    let files = messages.iter().rev().flat_map(|message| {
        message.parts.iter().filter_map(move |part| match part {
            Part::File(file) if !file.deleted => Some((message, file.clone())),
            _ => None,
        })
    });
    files.filter(|(_, file)| seen.insert(file.attachment_id)).take(MAX_FILES).collect()
}

fn outcome(status: StatusCode) -> WebhookOutcome {
    let busy = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
    if status.is_success() {
        WebhookOutcome::Accepted
    } else if status.is_server_error() || busy.contains(&status) {
        let text = format!("the remote agent is overloaded or broken: it answered {status}");
        WebhookOutcome::Failed(FailureCode::Overloaded, text)
    } else {
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; does it have the same secret?",
            _ if status.is_redirection() => "; redirects are not followed",
            _ => "",
        };
        let text = format!("the remote agent refused the run: it answered {status}{hint}");
        WebhookOutcome::Failed(FailureCode::Refused, text)
    }
}

/// The prompt as one text.
fn text_of(prompt: &Prompt) -> String {
    let texts = prompt.body.messages.iter().flat_map(|message| match message {
        port::Message::User { blocks } => blocks.iter().map(String::as_str).collect(),
        port::Message::Assistant { text, .. } | port::Message::System { text } => {
            vec![text.as_str()]
        }
        port::Message::Files { .. } | port::Message::ToolResults { .. } => Vec::new(),
    });
    prompt.system.iter().map(String::as_str).chain(texts).collect::<Vec<_>>().join("\n")
}

/// The spaces that the prompt names.
fn spaces_of(payload: &WebhookPayload<'_>) -> Vec<KnownSpace> {
    let sources = payload.sources;
    let home = sources.trigger_space.as_ref().map(|it| it.space.id);
    let config = sources.agent.agent.as_ref();
    let only_home = config.is_some_and(|config| config.spaces_shown() == SpacesShown::Active);
    let named = sources.cards.iter().filter(|(id, _)| !only_home || Some(**id) == home);
    named.map(|(id, card)| KnownSpace { id: *id, name: card.name.clone() }).collect()
}

/// The messages that the prompt shows, oldest first.
fn messages_of(payload: &WebhookPayload<'_>) -> Vec<Message> {
    let Some(trigger_space) = &payload.sources.trigger_space else { return Vec::new() };
    let shown =
        trigger_space.messages.iter().filter(|message| message.seq >= payload.prompt.first_seq);
    let mut bytes = 0;
    let mut messages: Vec<Message> = shown
        .rev()
        .map(|message| message.in_short(trigger_space.space.id).cut_to(TIMELINE_CHARS))
        .take_while(|message| {
            bytes += serde_json::to_string(message).map_or(0, |text| text.len());
            bytes <= MAX_MESSAGES_BYTES
        })
        .collect();
    messages.reverse();
    messages
}
