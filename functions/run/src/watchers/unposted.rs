//! Reminds a model that its text was not posted: the most common mistake of real models.

use smartspace_domain::steps::SystemMessage;

use crate::watchers::{Look, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: NAME, look };

const NAME: &str = "unsaid";

fn look(at: &Look<'_>) -> Vec<String> {
    let text = "Nothing was posted. Text outside send_message is private. Post your answer with \
                send_message, or call skip_response with a reason.";
    if at.is_unposted { vec![text.into()] } else { Vec::new() }
}

/// Whether a run was reminded. It is reminded once.
pub(crate) fn has_spoken(messages: &[SystemMessage]) -> bool {
    messages.iter().any(|message| message.watcher == NAME)
}
