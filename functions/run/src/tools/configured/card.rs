//! A call as a card: a message that shows what was called and what came of it.

use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    ids::{MessageId, SpaceId},
    limits::CARD_BYTES,
    messages::Message,
};
use smartspace_store::{
    messages::append::{Content, MessageSource, NewCard, NewForm, NewMessage},
    runs::steps::CallRecord,
};

use crate::tools::{
    calling::{Calling, Outcome},
    configured::{Configured, TARGET},
};

/// A card that was posted, or what to tell the model instead.
pub(crate) enum Posted {
    Yes(Box<Message>, Outcome),
    No(Outcome),
}

impl Calling<'_> {
    /// The space in which a call is shown, and its input without the target.
    pub(crate) fn shown_in(
        &self,
        configured: &Configured,
        mut input: Value,
    ) -> Result<(SpaceId, Value), String> {
        let target = if configured.takes_target() {
            match input.as_object_mut().and_then(|input| input.shift_remove(TARGET)) {
                Some(Value::String(target)) => Some(target),
                Some(Value::Null) | None => None,
                Some(other) => {
                    return Err(format!(
                        "{TARGET}: expected the id of a space, got {}",
                        crate::tools::output::bounded_to(other, 100)
                    ));
                }
            }
        } else {
            None
        };
        let space = match target {
            Some(target) => {
                target.parse().map(Some).map_err(|error| format!("{TARGET}: {error}"))?
            }
            None => configured.target.or(self.active_space),
        };
        match space {
            Some(space) => Ok((space, input)),
            None => Err(format!(
                "this is shown in a space, and none is active; call enter_space first, or give {TARGET}"
            )),
        }
    }

    /// Posts a call as a card, with its result if that is known. The message, the record of the call
    /// and the check of the lease are one transaction.
    pub(crate) async fn post_card(
        &self,
        space: SpaceId,
        input: Value,
        outcome: Outcome,
        asks: Option<NewForm>,
    ) -> Result<Posted> {
        let bytes = input.to_string().len();
        if bytes > CARD_BYTES {
            return Ok(Posted::No(Outcome::error(format!(
                "the input is too long to be shown: {bytes} bytes; expected at most {CARD_BYTES}"
            ))));
        }
        let context = self.context;
        let id = MessageId::of_call(self.begun.call_id);
        let card = NewCard {
            call_id: self.begun.call_id,
            name: self.begun.name.clone(),
            input,
            output: Some(outcome.output.clone()).filter(|output| !output.is_null()),
            status: outcome.status,
            asks,
        };
        let record: CallRecord = self.finished(&outcome);
        let by = MessageSource::Run(Box::new(self.by_run(record)));
        let new = NewMessage {
            id,
            space,
            sender: context.run.agent_id,
            content: Content::Card(Box::new(card)),
            by,
        };
        let posted = {
            let _writing = context.writing.lock().await;
            context.pipeline.post(&new).await
        };
        match posted {
            Ok(appended) => {
                // A card right after the last message that the run has read counts as read.
                let seq = appended.message.seq;
                let mark = self
                    .marks
                    .get(&space)
                    .is_some_and(|read| read + 1 == seq)
                    .then_some((space, seq));
                let card = appended.open_card;
                Ok(Posted::Yes(
                    Box::new(appended.message),
                    Outcome { is_stored: true, message: Some(id), mark, card, ..outcome },
                ))
            }
            Err(Error::NotAMember | Error::NotFound(_)) => {
                let text = format!(
                    "you are not a member of {space}, where this was to be shown; YOUR SPACES lists where you are"
                );
                Ok(Posted::No(Outcome::error(text)))
            }
            Err(error) => Err(error),
        }
    }
}
