//! Reminds a model that its text was not posted: the most common mistake of real models.

use smartspace_domain::steps::SystemMessage;

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: NAME, look };

/// The API says "unsaid" for "unposted", as in `loop.remindUnsaid`.
const NAME: &str = "unsaid";

fn look(run: &RunSnapshot<'_>) -> Vec<String> {
    let text = "Nothing was posted. Text outside send_message is private. Post your answer with \
                send_message, or call skip_response with a reason.";
    if run.is_unposted { vec![text.into()] } else { Vec::new() }
}

/// Whether a run was reminded. It is reminded once.
pub(crate) fn was_reminded(messages: &[SystemMessage]) -> bool {
    messages.iter().any(|message| message.watcher == NAME)
}
