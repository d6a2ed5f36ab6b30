//! `/v1/spaces/{id}/messages`: posts messages, reads them, and previews their dispatch.

mod lines;
mod parents;

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap};
use futures::try_join;
use serde::{Deserialize, Serialize};
use smartspace_domain::{
    Error, Result,
    access::{Caller, SpaceAction},
    client_pages::ClientPage,
    dispatch::Dispatch,
    ids::{AttachmentId, EntityId, MessageId, SpaceId},
    limits::{MESSAGE_BYTES, PAGE_BYTES},
    messages::Message,
    schemas,
};
use smartspace_pipeline::{access::KnownSpaces, files::check_count};
use smartspace_store::{
    messages::{
        MessageRecord, Range, ThreadPart,
        append::{Content, MessageSource, NewMessage},
    },
    table::pages::{Page, PageRequest, json_bytes},
};
use utoipa::{IntoParams, ToSchema, openapi::schema::Object};

use self::{
    lines::{lines_around, lines_of},
    parents::{MessagesPage, parents_of},
};
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::{ApiResult, Created},
    auth::Credential,
    description::{ChainDepth, IdempotencyKey, limit},
    input::{Body, Id, Query, depth},
};

pub(super) fn routes() -> Routes {
    routes![list, create, preview]
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MessageBody {
    /// May be left out if the message has files.
    #[serde(default)]
    #[schema(schema_with = message_text, required = false)]
    text: String,
    /// The message's files, each once. They must be ready and belong to this space.
    #[serde(default)]
    #[schema(max_items = 10)]
    attachments: Vec<AttachmentId>,
    /// The member that sends the message. Required with the admin key; otherwise the caller.
    #[serde(default)]
    sender_id: Option<EntityId>,
    /// The `seq` of the message to which it replies. A reply to an agent's message triggers that
    /// agent as a mention would.
    #[serde(default)]
    #[schema(minimum = 1)]
    reply_to: Option<u64>,
    /// What the sender's page offers to the agents that the message triggers.
    #[serde(default)]
    page: Option<ClientPage>,
}

pub(super) fn message_text() -> Object {
    schemas::with_at_most(MESSAGE_BYTES, "At most 32,768 bytes without NUL.")
}

/// Post a message
///
/// `dispatch` in the response lists the agents that the message triggered, and why others were not
/// triggered.
#[utoipa::path(
    post, path = "/v1/spaces/{id}/messages", operation_id = "createMessage", tag = "messages",
    params(("id" = SpaceId, Path), IdempotencyKey, ChainDepth),
    request_body = MessageBody,
    responses((status = 201, body = Message))
)]
async fn create(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Created<Message>> {
    let MessageBody { text, attachments, sender_id, reply_to, page } = body.read()?;
    let content = Content::of(text, !attachments.is_empty())?;
    let sender = api.pipeline.speaker(caller, space, sender_id).await?;
    let page = page.filter(|page| !page.is_empty());
    if let Some(page) = &page {
        api.pipeline.check_page(caller, space, page).await?;
    }
    let path = format!("/v1/spaces/{space}/messages");
    let key = body.key(&headers, caller, &path)?;
    let id = MessageId::new(api.pipeline.now(), api.pipeline.ids.random());
    let new = NewMessage {
        id,
        space,
        sender,
        content,
        files: Vec::new(),
        reply_to,
        by: MessageSource::External { key, depth: depth(&headers)?, page: page.map(Box::new) },
    };
    let posted = api.pipeline.post_as(caller, new, &attachments).await?;
    let mut made = posted.message;
    if caller != Caller::Operator && !posted.by_owner {
        made = made.without_owners_part();
    }
    Ok(Created { location: format!("{path}?after={}&limit=1", made.seq - 1), made })
}

#[derive(Serialize, ToSchema)]
struct PreviewResponse {
    dispatch: Vec<Dispatch>,
}

/// Preview which agents a message would wake
///
/// The message is not stored.
#[utoipa::path(
    post, path = "/v1/spaces/{id}/messages/preview",
    operation_id = "previewMessage", tag = "messages",
    params(("id" = SpaceId, Path)),
    request_body = MessageBody,
    responses((status = 200, body = PreviewResponse))
)]
async fn preview(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
    body: Body,
) -> ApiResult<Json<PreviewResponse>> {
    api.pipeline.authorise(caller, SpaceAction::Post, space).await?;
    let MessageBody { text, attachments, sender_id, reply_to, page } = body.read()?;
    // Files and page decide nothing about who is triggered.
    check_count(&attachments)?;
    page.as_ref().map_or(Ok(()), ClientPage::check)?;
    Content::of(text.clone(), !attachments.is_empty())?;
    let sender = caller.speaks_as(sender_id)?;
    let messages = api.pipeline.store.messages();
    let mut dispatch = messages.preview(space, sender, &text, reply_to, api.pipeline.now()).await?;
    // A preview creates no runs, so there is no run id to show.
    for decision in &mut dispatch {
        decision.run_id = None;
    }
    Ok(Json(PreviewResponse { dispatch }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct MessagesQuery {
    /// Messages with a higher `seq`, starting at the oldest.
    #[param(schema_with = schemas::seq)]
    after: Option<u64>,
    /// Messages with a lower `seq`, starting at the newest.
    #[param(schema_with = schemas::seq)]
    before: Option<u64>,
    /// Only the thread of the message with this `seq`: the first message and the chain of replies
    /// to it. The other parameters count within the thread.
    #[param(minimum = 1)]
    thread: Option<u64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    #[param(schema_with = limit)]
    limit: Option<usize>,
}

impl MessagesQuery {
    /// The range that is asked for; without parameters the newest messages.
    fn range(&self) -> Result<Range> {
        let refused =
            || Error::Malformed("cursor: expected the nextCursor of an earlier page".into());
        match (&self.cursor, self.after, self.before) {
            (None, None, None) => Ok(Range::Before(u64::MAX)),
            (None, Some(after), None) => Ok(Range::After(after)),
            (None, None, Some(before)) => Ok(Range::Before(before)),
            (Some(cursor), None, None) => {
                let position = cursor.strip_prefix(&self.cursor_prefix());
                let (kind, seq) = position.and_then(|it| it.split_once('-')).ok_or_else(refused)?;
                let seq = seq.parse().map_err(|_| refused())?;
                match kind {
                    "after" => Ok(Range::After(seq)),
                    "before" => Ok(Range::Before(seq)),
                    _ => Err(refused()),
                }
            }
            _ => Err(Error::Malformed("expected at most one of after, before and cursor".into())),
        }
    }

    /// How cursors begin: a cursor of a thread continues in this thread only.
    fn cursor_prefix(&self) -> String {
        self.thread.map_or_else(String::new, |seq| format!("thread-{seq}-"))
    }
}

/// List messages
///
/// Oldest first within a page. At most one of `after`, `before` and `cursor` may be given; without
/// any, the response is the newest page.
#[utoipa::path(
    get, path = "/v1/spaces/{id}/messages", operation_id = "listMessages", tag = "messages",
    params(("id" = SpaceId, Path), MessagesQuery),
    responses(
        (status = 200, body = MessagesPage),
        (status = 422, description = "`thread` is the number of no message of this space."),
    )
)]
async fn list(
    State(api): State<Arc<Api>>,
    Credential { caller, .. }: Credential,
    Id(space): Id<SpaceId>,
    Query(query): Query<MessagesQuery>,
) -> ApiResult<Json<MessagesPage>> {
    let range = query.range()?;
    let limit = PageRequest { limit: query.limit, cursor: None }.limit()?;
    api.pipeline.store.spaces().record(space).await?;
    // Before the read, which is not charged to a caller that may not have it.
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    let messages = api.pipeline.store.messages();
    let (ThreadPart { records, count }, lines) = if let Some(seq) = query.thread {
        (messages.thread(space, seq, range, limit).await?, Vec::new())
    } else {
        let lines = lines_around(api.pipeline.store.spaces(), space, range);
        let (records, lines) = try_join!(messages.records(space, range, limit), lines)?;
        (ThreadPart { count: records.len(), records }, lines)
    };
    let found = records.len();
    let fitting = fitting(records, range);
    let has_more = count == limit || fitting.len() < found;
    let found = messages.with_long_texts(space, fitting).await?;
    let Page { items, next_cursor } = page(found, range, has_more);
    let lines = lines_of(lines, range, &items, next_cursor.is_some());
    let next_cursor = next_cursor.map(|cursor| query.cursor_prefix() + &cursor);
    let parents = parents_of(messages, space, &items).await?;
    // After the read: an entity that is removed meanwhile must not see newer messages.
    api.pipeline.authorise(caller, SpaceAction::Read, space).await?;
    let mut known = KnownSpaces::of(caller);
    let mut shown = Vec::with_capacity(items.len());
    for mut message in items {
        for known_by in message.known_by() {
            if !known.has(&api.pipeline, known_by).await? {
                message = message.for_others_than(known_by);
            }
        }
        shown.push(message);
    }
    Ok(Json(MessagesPage { items: shown, next_cursor, parents, lines }))
}

/// The messages that may fit a page: the oldest ones, or the newest ones of a page before a number.
/// The long texts of the others are not read.
fn fitting(mut records: Vec<MessageRecord>, range: Range) -> Vec<MessageRecord> {
    let mut bytes = 0;
    let mut fits = |record: &MessageRecord| {
        let before = bytes;
        bytes += record.least_bytes();
        before <= PAGE_BYTES
    };
    match range {
        Range::After(_) => records.truncate(records.iter().take_while(|it| fits(it)).count()),
        Range::Before(_) => {
            let fit = records.iter().rev().take_while(|it| fits(it)).count();
            records.drain(..records.len() - fit);
        }
    }
    records
}

/// A page of at most 1 MiB, cut at the end where the next page begins, and its cursor.
fn page(mut items: Vec<Message>, range: Range, has_more: bool) -> Page<Message> {
    let mut bytes = 0;
    let mut fits = |message: &Message| {
        bytes += json_bytes(message);
        bytes <= PAGE_BYTES
    };
    let count = items.len();
    match range {
        Range::After(_) => items.truncate(items.iter().take_while(|message| fits(message)).count()),
        Range::Before(_) => {
            let fit = items.iter().rev().take_while(|message| fits(message)).count();
            items.drain(..count - fit);
        }
    }
    let more = has_more || items.len() < count;
    let next_cursor = match range {
        Range::After(_) => items.last().map(|last| format!("after-{}", last.seq)),
        Range::Before(_) => {
            items.first().filter(|first| first.seq > 1).map(|first| format!("before-{}", first.seq))
        }
    };
    Page { items, next_cursor: next_cursor.filter(|_| more) }
}
