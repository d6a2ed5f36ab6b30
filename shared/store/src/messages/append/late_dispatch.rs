//! The late dispatch of a message: the `trigger` function decides it after the message was stored,
//! since a router had to be asked or one transaction could not hold all runs.

use smartspace_domain::{
    Time,
    dispatch::{Decided, Gating, IncomingMessage, Routed, Routing},
    entities::EntityType,
    gate::Gate,
    ids::{EntityId, SpaceId},
    limits,
    messages::Message,
    quota::RateWindow,
    usage::{Usage, UsageByModel},
};

use crate::{
    Messages, Result,
    limits::quota::minute_stays,
    messages::append::{SpaceAsRead, talk::Asked},
    shared::message::{LongDispatch, MessageRecord},
    table::{WriteError, keys, write::Write},
    usage::{self, UsageScope},
};

/// Which agents a stored message triggers.
#[derive(Clone, Debug)]
pub struct LateDispatch {
    /// The decision. It is final unless it
    /// [asks the router](smartspace_domain::dispatch::Decided::asks_router).
    pub decided: Decided,
    /// What the gate said about so many agents that it leaves the message's item.
    long_gate: Option<Gate>,
    space: SpaceId,
    seq: u64,
    sender: EntityId,
    /// The version of the roster. A space that was paused meanwhile, or in which the chain was
    /// stopped, has another one.
    roster: u64,
    /// The space's minute, as it was and as it will be, if more runs have to be counted than when
    /// the message was stored.
    minute: Option<(Option<RateWindow>, RateWindow)>,
}

/// The outcome of storing a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    Now,
    /// The message was decided already.
    Before,
    /// The space's runs of this minute, its members or its settings have changed, so it has to be
    /// made again.
    Outdated,
}

/// The wait after an outdated decision, as a number of tries: up to 80 ms.
const PAUSE: u32 = 4;

impl Messages<'_> {
    /// Makes the decision for a message that was stored without one. The sender may have left the
    /// space since.
    pub async fn decide_late(
        self,
        space: SpaceId,
        record: &MessageRecord,
        routing: Routing<'_>,
        now: Time,
    ) -> Result<LateDispatch> {
        let whole = self.with_long_texts(space, vec![record.clone()]).await?;
        let text = whole.first().map_or("", Message::text);
        let incoming = IncomingMessage {
            auto_since: record.auto_since,
            mentions: &record.mentions,
            ..IncomingMessage::new(&record.sender, text, record.chain_depth)
        };
        let reply_to = record.reply_to.map(|parent| parent.seq);
        let asked = Asked::stored(record.seq, &incoming, reply_to);
        let (mut as_read, _) = self.read_with_talk(space, None, &asked, now).await?;
        // `may_wake` runs were counted when the message was stored.
        let chain_stopped = as_read.is_stopped(Some(record.chain_id()), now);
        let incoming = as_read.with_parent(IncomingMessage { chain_stopped, ..incoming });
        let limit = as_read.space.settings.budget.runs_per_minute;
        as_read.space.settings.budget.runs_per_minute = u32::MAX;
        let mut minute = RateWindow::default();
        // The scores are those of the moment at which the message was stored.
        let gating = record.gate.as_ref().map(|gate| Gating {
            gate,
            texts: &record.gate_texts,
            would_wake: &[],
        });
        let at = record.created_at;
        let mut decided = as_read.decide(record.id, incoming, routing, gating, &mut minute, at);
        if record.asks && as_read.space.settings.answers_questions() {
            self.wake_best(record, incoming, &as_read, &mut decided).await?;
        }
        let counted = record.may_wake.unwrap_or(usize::MAX).min(decided.taken.len());
        let user = incoming.quota_user();
        let before = as_read.head.minute;
        let mut minute = RateWindow::now(before.as_ref(), now);
        let others = decided.taken.split_off(counted);
        for (agent, own_bucket) in others {
            if let Some(bucket) = minute.room_in_space(limit, &user) {
                minute.count(bucket, &user);
                decided.taken.push((agent, own_bucket));
            } else {
                decided.refuse_by_rate(agent, limit, record.sender.kind == EntityType::Agent);
            }
        }
        let minute = (decided.taken.len() > counted).then_some((before, minute));
        let is_long = |gate: &Gate| gate.scores.len() > limits::DISPATCH_INLINE;
        let long_gate = record.gate.clone().filter(is_long);
        Ok(LateDispatch {
            decided,
            long_gate,
            space,
            seq: record.seq,
            sender: record.sender.id,
            roster: as_read.roster.head.roster,
            minute,
        })
    }

    /// Wakes the agent with the best score, if a question would wake nobody.
    async fn wake_best(
        self,
        record: &MessageRecord,
        incoming: IncomingMessage<'_>,
        as_read: &SpaceAsRead,
        decided: &mut Decided,
    ) -> Result<()> {
        let left_out = decided.all_left_out();
        if left_out.is_empty() {
            return Ok(());
        }
        let scores = self.scores(as_read.space.id, record, &as_read.roster, &left_out).await?;
        // The runs of the space are counted from what is taken.
        let minute = &mut RateWindow::default();
        as_read.wake_best(decided, record.id, incoming, &scores, minute, record.created_at);
        Ok(())
    }

    /// Stores which agents a message triggers, and the question to the router, unless that is
    /// already decided.
    pub async fn store_decision(
        self,
        late: &LateDispatch,
        router: Option<&Routed>,
        now: Time,
    ) -> Result<Stored> {
        let LateDispatch { decided, long_gate, space, seq, sender, roster, minute } = late;
        let message = keys::numbered(*space, keys::MSG, *seq);
        let asked = if router.is_some() { "#router = :router, " } else { "" };
        let ended = if decided.chain_ended.is_some() { "#chainEnded = :ended, " } else { "" };
        let moved = if long_gate.is_some() { ", #gate" } else { "" };
        let mut write = Write::update(
            message.clone(),
            format!(
                "SET {asked}{ended}#dispatchApart = :yes, #updatedAt = :now, #rev = #rev + :one \
                 REMOVE #gateTexts{moved}"
            ),
        )
        .when("attribute_not_exists(#dispatchApart) AND attribute_not_exists(#dispatch)")
        .value(":yes", true)?
        .value(":now", now)?
        .value(":one", 1)?;
        if let Some(router) = router {
            write = write.value(":router", router)?;
        }
        if let Some(ended) = decided.chain_ended {
            write = write.value(":ended", ended)?;
        }
        let list = LongDispatch { dispatch: decided.dispatch.clone(), gate: long_gate.clone() };
        let apart = keys::numbered(*space, keys::WOKEN, *seq);
        let mut writes = vec![write, Write::put(apart, &list)?.if_absent()];
        let head = keys::space_head(*space);
        let head = match minute {
            Some((before, after)) => {
                let counted = Write::update(head, "SET #minute = :after");
                minute_stays(counted, before.as_ref())?.value(":after", after)?
            }
            None => Write::check(head),
        };
        writes.push(head.when("#roster = :roster").value(":roster", roster)?);
        if let Some(Routed { model: Some(model), usage: Some(usage), .. }) = router
            && *usage != Usage::default()
        {
            let scope = UsageScope { agent: Some(*sender), space: Some(*space) };
            writes.extend(usage::writes(scope, &UsageByModel::one(model, *usage), 0, now)?);
        }
        match self.store.table.transact(&writes).await {
            Ok(()) => Ok(Stored::Now),
            // Another worker has decided, or the first try took effect and its answer was lost.
            Err(WriteError::Refused(refusal)) if refusal.names(&message) => Ok(Stored::Before),
            Err(WriteError::Refused(_)) => {
                self.store.table.pause(PAUSE).await;
                Ok(Stored::Outdated)
            }
            Err(WriteError::Other(error)) => Err(error),
        }
    }
}
