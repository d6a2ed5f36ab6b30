//! The response to an external call: its outcome, and its pictures, which the space stores.

use serde_json::{Value, json};
use smartspace_domain::{
    Error,
    attachments::{IMAGES_OF_RESULT, ReturnedImage},
    ids::SpaceId,
    steps::CallStatus,
};
use smartspace_egress::http_tool::HttpResult;
use smartspace_store::{messages::MessageFile, runs::steps::CallFile};

use crate::{
    prompt::lines::file_line,
    tools::{
        calling::{Calling, Outcome},
        output::bounded,
    },
};

/// The response of a server to a call.
pub(crate) struct CallResponse {
    pub(crate) outcome: Outcome,
    /// The pictures of the answer. Nothing of them is checked.
    pub(crate) images: Vec<ReturnedImage>,
    /// The name of the pictures. If it is empty, they are named after the tool.
    pub(crate) title: String,
}

impl From<Outcome> for CallResponse {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, images: Vec::new(), title: String::new() }
    }
}

impl From<HttpResult> for CallResponse {
    fn from(result: HttpResult) -> Self {
        let HttpResult { failed, output, image, .. } = result;
        let status = if failed { CallStatus::Failed } else { CallStatus::Completed };
        match image {
            Some(image) => picture(image),
            None => Outcome { status, ..Outcome::completed(output) }.into(),
        }
    }
}

impl CallResponse {
    /// Stores the pictures in the space of the call's card, or else in the active space. The
    /// outcome names them, and says which could not be stored: the call itself was made.
    pub(crate) async fn store_pictures(
        self,
        calling: &Calling<'_>,
        card: Option<SpaceId>,
    ) -> Outcome {
        let Self { mut outcome, images, title } = self;
        let mut notes = Vec::new();
        let many = images.len();
        let tool = &calling.begun.name;
        let stem = if title.is_empty() { tool } else { &title };
        for (image, number) in images.into_iter().take(IMAGES_OF_RESULT).zip(1..) {
            let name = if many > 1 { format!("{stem}-{number}") } else { stem.clone() };
            let stored = match card.or(calling.active_space) {
                Some(space) => store_picture(calling, space, image, &name).await,
                None => Err("no space is active".to_owned()),
            };
            match stored {
                Ok((space_id, file)) => {
                    let line = file_line(outcome.files.len() + 1, &file.part);
                    let label = format!("From {tool}: {line}");
                    outcome.files.push(CallFile { space_id, label, file });
                }
                Err(why) => notes.push(format!("picture {number} is not stored: {why}")),
            }
        }
        if many > IMAGES_OF_RESULT {
            notes.push(format!("of {many} pictures only the first {IMAGES_OF_RESULT} are stored"));
        }
        if outcome.output == Value::Null {
            // The answer was a picture and nothing else.
            if let Some(id) = outcome.files.first().map(|first| first.file.part.attachment_id) {
                return Outcome { output: json!({"attachmentId": id}), ..outcome };
            }
            let text = format!("the call was made, but {}", notes.join("; "));
            return Outcome { used: outcome.used, ..Outcome::error(text) };
        }
        outcome.output = noted(outcome.output, &notes);
        outcome
    }
}

async fn store_picture(
    calling: &Calling<'_>,
    space: SpaceId,
    image: ReturnedImage,
    stem: &str,
) -> Result<(SpaceId, MessageFile), String> {
    let context = calling.context;
    let known = context.egress.secrets().await.map_err(|error| error.to_string())?;
    if known.is_in_bytes(&image.bytes) {
        return Err("it contains a secret".into());
    }
    let image = image.checked(stem)?;
    let agent = context.run.agent_id;
    let pipeline = context.pipeline.clone();
    // In a task of its own: if the run is stopped in between, the file is still stored whole or
    // cleaned up.
    let storing = async move { pipeline.keep_made(agent, space, image).await };
    let stored = tokio::spawn(storing).await.map_err(|error| error.to_string())?;
    match stored {
        Ok(file) => Ok((space, file.named())),
        Err(Error::NotAMember | Error::NotFound(_)) => Err(format!("you are not in {space}")),
        Err(error) => {
            tracing::warn!(run = %context.run.id, %error, "a picture of a call was not stored");
            Err(match error {
                Error::Conflict(text) | Error::NoRoom(text) => text,
                _ => "it could not be stored".into(),
            })
        }
    }
}

/// An output with notes after it.
fn noted(output: Value, notes: &[String]) -> Value {
    if notes.is_empty() {
        return output;
    }
    let notes = notes.join("; ");
    bounded(match output {
        Value::String(text) => format!("{text}\n({notes})").into(),
        output => json!({"output": output, "note": notes}),
    })
}

/// The outcome of a call that has returned a picture alone.
pub(crate) fn picture(image: ReturnedImage) -> CallResponse {
    let outcome = Outcome { status: CallStatus::Completed, ..Outcome::completed(Value::Null) };
    CallResponse { outcome, images: vec![image], title: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_stand_behind_an_output() {
        let notes = ["one".to_owned(), "two".to_owned()];
        assert_eq!(noted(json!("text"), &notes), json!("text\n(one; two)"));
        assert_eq!(noted(json!([1]), &notes), json!({"output": [1], "note": "one; two"}));
        assert_eq!(noted(json!([1]), &[]), json!([1]));
    }
}
