//! The check that the fuzz target runs on frames.

use serde_json::Value;
use smartspace_domain::{limits, messages::MessageText};

use crate::requests::{Action, Request};

/// Reads a frame and returns the first rule that it breaks. The rules hold for every input.
pub fn frame(frame: &str) -> Result<(), String> {
    let request = Request::read(frame);
    let sent =
        serde_json::from_str::<Value>(frame).ok().filter(|_| frame.len() <= limits::FRAME_BYTES);
    let id = sent.as_ref().and_then(|sent| sent.as_object()?.get("id").cloned());
    if request.id.is_some() && request.id != id {
        return Err(format!("the id {id:?} came back as {:?}", request.id));
    }
    if sent.is_none() && request.action.is_ok() {
        return Err("a frame that is too long or not JSON was accepted".to_owned());
    }
    match request.action {
        Ok(Action::Send { text, attachments, .. })
            if text.len() > limits::SOCKET_TEXT_BYTES
                || (!text.is_empty() || attachments.is_empty())
                    && MessageText::check(&text).is_err() =>
        {
            Err("a message text that is not allowed was accepted".to_owned())
        }
        Ok(_) | Err(_) => Ok(()),
    }
}
