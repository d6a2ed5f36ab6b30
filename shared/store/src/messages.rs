//! Messages: how they are kept, and how they are read.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Time,
    dispatch::Dispatch,
    ids::{CallId, EntityId, MessageId, RunId, SpaceId, StreamId},
    limits,
    messages::{Message, Origin, Part, Sender, ToolPart, excerpt},
    steps::CallStatus,
    tools::AnswerBy,
};

use crate::{
    Result, Store, keys,
    table::{Query, WriteError, read},
    write::Write,
};

/// A message, as it is kept. Its item is small: a long text, and decisions on many agents, are items of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageRecord {
    /// Its id.
    pub id: MessageId,
    /// Its place.
    pub seq: u64,
    /// Its state's number.
    pub rev: u64,
    /// Who said it.
    pub sender: Sender,
    /// The first 4,000 characters of what was said.
    pub text: String,
    /// The tool call that it shows, where it is a card: then there is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<ToolCard>,
    /// How many characters stand in `TEXT#`, besides those here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_chars: usize,
    /// The run that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The stream that it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<StreamId>,
    /// Its depth.
    pub chain_depth: u32,
    /// Why an agent said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// When.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// Whom it woke; none until decided, or where it stands in `WOKEN#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Vec<Dispatch>>,
    /// The decision stands in `WOKEN#`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dispatch_apart: bool,
    /// How many agents it may wake of the space's runs of its minute, which are counted; where it is decided later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_wake: Option<usize>,
    /// Who must come back to it: it is not decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
}

/// A tool call, as a message shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCard {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub name: String,
    /// What it was called with.
    pub input: CutJson,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<CutJson>,
    /// How it stands.
    pub status: CallStatus,
    /// What it asks people, where it is a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<Asks>,
}

/// A form, as its card keeps it. The schema of its answer stands in `TEXT#`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asks {
    /// How it is shown.
    pub ui: String,
    /// Its answer has a schema.
    pub has_schema: bool,
    /// Who may answer.
    pub answer_by: AnswerBy,
    /// Until when.
    pub until: Time,
    /// Who answered; none also where the operator did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<EntityId>,
}

/// JSON as text, the first 4,000 characters of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutJson {
    /// What stands here.
    pub text: String,
    /// How many characters stand in `TEXT#`, besides those here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
}

impl CutJson {
    /// The beginning of a value, and the whole text where that is not all.
    pub fn of(value: &Value) -> (Self, Option<String>) {
        let text = value.to_string();
        let (short, more) = excerpt(&text, limits::TIMELINE_CHARS);
        (Self { text: short.to_owned(), more }, (more > 0).then_some(text))
    }

    fn whole(&self, apart: Option<&String>) -> Value {
        serde_json::from_str(apart.unwrap_or(&self.text)).unwrap_or_default()
    }
}

impl ToolCard {
    /// Whether something of it stands in `TEXT#`.
    pub(crate) fn is_apart(&self) -> bool {
        let is_cut = |json: &CutJson| json.more > 0;
        is_cut(&self.input) || self.output.as_ref().is_some_and(is_cut) || self.asks.as_ref().is_some_and(|asks| asks.has_schema)
    }

    fn view(self, apart: &Apart) -> Part {
        let (ui, answer_by, expires_at, resolved_by) = match self.asks {
            Some(asks) => (Some(asks.ui), Some(asks.answer_by), Some(asks.until), asks.resolved_by),
            None => (None, None, None, None),
        };
        Part::Tool(Box::new(ToolPart {
            call_id: self.call_id,
            name: self.name,
            input: self.input.whole(apart.input.as_ref()),
            output: self.output.map(|output| output.whole(apart.output.as_ref())),
            status: self.status,
            ui,
            result_schema: apart.result_schema.as_ref().and_then(|text| serde_json::from_str(text).ok()),
            answer_by,
            resolved_by,
            expires_at,
        }))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What of a message is too long for its item: `TEXT#`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Apart {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// A card's, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result_schema: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct LongDispatch {
    pub(crate) dispatch: Vec<Dispatch>,
}

impl MessageRecord {
    /// Whether it is known whom it wakes.
    pub fn is_decided(&self) -> bool {
        self.dispatch.is_some() || self.dispatch_apart
    }

    /// As the API shows it, given what stands apart.
    pub(crate) fn view(self, space: SpaceId, apart: Apart, dispatch: Option<Vec<Dispatch>>) -> Message {
        Message {
            id: self.id,
            space_id: space,
            seq: self.seq,
            rev: self.rev,
            sender: self.sender,
            parts: match self.card {
                // A card's text says how far its call is.
                Some(card) => {
                    [card.view(&apart)].into_iter().chain((!self.text.is_empty()).then_some(Part::Text { text: self.text })).collect()
                }
                None => vec![Part::Text { text: apart.text.unwrap_or(self.text) }],
            },
            run_id: self.run_id,
            stream_id: self.stream_id,
            chain_depth: self.chain_depth,
            origin: self.origin,
            created_at: self.created_at,
            updated_at: self.updated_at,
            dispatch: self.dispatch.or(dispatch),
            truncated: false,
        }
    }

    /// Whether something of it stands in `TEXT#`.
    pub(crate) fn is_apart(&self) -> bool {
        self.more_chars > 0 || self.card.as_ref().is_some_and(ToolCard::is_apart)
    }

    /// Whether it may still change: a call that it shows has no result yet.
    pub fn is_open(&self) -> bool {
        self.card.as_ref().is_some_and(|card| card.status == CallStatus::Pending)
    }

    /// Splits a text into what stands in the item, and the whole where that is not all.
    pub(crate) fn split(text: &str) -> (String, usize, Apart) {
        let (short, more) = excerpt(text, limits::TIMELINE_CHARS);
        (short.to_owned(), more, Apart { text: (more > 0).then(|| text.to_owned()), ..Apart::default() })
    }
}

/// Which messages of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Those behind this number, the oldest of them first chosen.
    After(u64),
    /// Those before this number, the newest of them chosen.
    Before(u64),
}

impl Store {
    /// Up to `limit` messages of a space as they are kept, oldest first.
    pub async fn message_records(&self, space: SpaceId, range: Range, limit: usize) -> Result<Vec<MessageRecord>> {
        let place = |seq| keys::place(keys::MSG, seq);
        // Number 10¹² is behind every message that is ever written.
        let last = 999_999_999_999;
        let query = Query::of(keys::space(space)).limit(limit);
        let query = match range {
            Range::After(seq) if seq >= last => return Ok(Vec::new()),
            Range::After(seq) => query.between(&place(seq + 1), &place(last)),
            Range::Before(seq) if seq <= 1 => return Ok(Vec::new()),
            Range::Before(seq) => query.between(&place(1), &place((seq - 1).min(last))).newest_first(),
        };
        let items = self.table.all(query).await?;
        let mut records = items.into_iter().map(read).collect::<Result<Vec<MessageRecord>>>()?;
        if matches!(range, Range::Before(_)) {
            records.reverse();
        }
        Ok(records)
    }

    /// The same, whole, as the API shows them.
    pub async fn messages(&self, space: SpaceId, range: Range, limit: usize) -> Result<Vec<Message>> {
        let records = self.message_records(space, range, limit).await?;
        self.whole(space, records).await
    }

    /// One message as it is kept.
    pub async fn message_record(&self, space: SpaceId, seq: u64) -> Result<Option<MessageRecord>> {
        self.table.get(&keys::numbered(space, keys::MSG, seq)).await
    }

    /// Several messages as they are kept, by space and number, in the order asked; none for one that is gone.
    pub async fn messages_at(&self, places: &[(SpaceId, u64)]) -> Result<Vec<Option<MessageRecord>>> {
        let mut wanted: Vec<_> = places.iter().map(|(space, seq)| keys::numbered(*space, keys::MSG, *seq)).collect();
        let order = wanted.clone();
        // One request must not name a key twice: several runs have one message as their trigger.
        wanted.sort();
        wanted.dedup();
        let mut items = self.table.get_all(&wanted).await?;
        let mut found = std::collections::HashMap::new();
        for key in wanted {
            if let Some(record) = items.take::<MessageRecord>(&key)? {
                found.insert(key, record);
            }
        }
        Ok(order.iter().map(|key| found.get(key).cloned()).collect())
    }

    /// Adds to messages what stands apart from them.
    pub async fn whole(&self, space: SpaceId, records: Vec<MessageRecord>) -> Result<Vec<Message>> {
        let mut apart = Vec::new();
        for record in &records {
            apart.extend(record.is_apart().then(|| keys::numbered(space, keys::TEXT, record.seq)));
            apart.extend(record.dispatch_apart.then(|| keys::numbered(space, keys::WOKEN, record.seq)));
        }
        let mut items = if apart.is_empty() { crate::table::Items::default() } else { self.table.get_all(&apart).await? };
        let mut messages = Vec::with_capacity(records.len());
        for record in records {
            let apart: Option<Apart> = items.take(&keys::numbered(space, keys::TEXT, record.seq))?;
            let dispatch: Option<LongDispatch> = items.take(&keys::numbered(space, keys::WOKEN, record.seq))?;
            messages.push(record.view(space, apart.unwrap_or_default(), dispatch.map(|long| long.dispatch)));
        }
        Ok(messages)
    }

    /// Stores whom a message wakes, if nobody has, and returns what is stored. See `trigger`.
    pub async fn decide_message(&self, space: SpaceId, seq: u64, decided: &[Dispatch], now: Time) -> Result<()> {
        let write =
            Write::update(keys::numbered(space, keys::MSG, seq), "SET #dispatchApart = :yes, #updatedAt = :now, #rev = #rev + :one")
                .when("attribute_not_exists(#dispatchApart) AND attribute_not_exists(#dispatch)")
                .value(":yes", true)?
                .value(":now", now)?
                .value(":one", 1)?;
        let list = LongDispatch { dispatch: decided.to_vec() };
        match self.table.transact(&[write, Write::put(keys::numbered(space, keys::WOKEN, seq), &list)?.if_absent()]).await {
            // Somebody had decided, or we had and the answer was lost: what is stored counts.
            Ok(()) | Err(WriteError::Refused(_)) => Ok(()),
            Err(WriteError::Other(error)) => Err(error),
        }
    }

    /// Ends the duty to come back to a message: all that it wakes are queued.
    pub async fn message_settled(&self, space: SpaceId, seq: u64) -> Result<()> {
        let write = Write::update(keys::numbered(space, keys::MSG, seq), "REMOVE #due, #dueAt, #dueCount");
        self.table.write_where_it_holds(write).await
    }
}
