//! A call as a card: a message that shows the call and its result.

use serde_json::Value;
use smartspace_domain::{Result, ids::SpaceId, limits::CARD_BYTES, messages::Message};
use smartspace_store::messages::append::{Content, NewCard, NewForm};

use crate::tools::calling::{Calling, Outcome};

/// The result of an attempt to post a card.
pub(crate) enum CardOutcome {
    Posted(Box<Message>, Outcome),
    /// The card can't be posted. The outcome is an error for the model.
    Refused(Outcome),
}

impl Calling<'_> {
    /// Posts a call as a card, with its result if that is known. The message, the record of the
    /// call and the check of the lease are one transaction.
    pub(crate) async fn post_card(
        &self,
        space: SpaceId,
        input: Value,
        outcome: Outcome,
        asks: Option<NewForm>,
    ) -> Result<CardOutcome> {
        if let Some(refused) = too_long(&input) {
            return Ok(CardOutcome::Refused(refused));
        }
        let id = self.message_id();
        let card = NewCard {
            call_id: self.begun.call_id,
            name: self.begun.name.clone(),
            title: self.title(),
            input,
            output: Some(outcome.output.clone()).filter(|output| !output.is_null()),
            status: outcome.status,
            asks,
        };
        let content = Content::Card(Box::new(card));
        let shown_in = self.context.run.space_id().is_none().then_some(space);
        let outcome = Outcome { shown_in, ..outcome };
        let Some(posted) = self.post(space, content.into(), self.finished(&outcome)).await? else {
            return Ok(CardOutcome::Refused(Outcome::error(format!(
                "you are not a member of {space}, where this was to be shown; YOUR SPACES lists \
                 where you are"
            ))));
        };
        self.context.show_in(space, self.active_space).await;
        let (read_up_to, changed) = (posted.read_up_to, posted.changed);
        let card = posted.appended.open_card;
        Ok(CardOutcome::Posted(
            Box::new(posted.appended.message),
            Outcome { is_stored: true, message: Some(id), read_up_to, changed, card, ..outcome },
        ))
    }

    /// The template of the title that the tool has in the agent's configuration.
    fn title(&self) -> Option<String> {
        let tools = &self.context.config.tools;
        tools.iter().find(|tool| tool.name == self.begun.name)?.title.clone()
    }
}

/// The outcome of a call whose input is too long for a card.
fn too_long(input: &Value) -> Option<Outcome> {
    let bytes = input.to_string().len();
    if bytes <= CARD_BYTES {
        return None;
    }
    Some(Outcome::error(format!(
        "the input is too long to be shown: {bytes} bytes; expected at most {CARD_BYTES}"
    )))
}
