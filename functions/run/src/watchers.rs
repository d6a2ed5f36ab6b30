//! Watchers look at a run between two steps. Their messages precede the next step, are stored with
//! it and are sent to clients.
//!
//! A watcher is one file. To add one, write its file and add it to [`WATCHERS`].

pub(crate) mod budget;
mod context;
mod news;
mod repetition;
pub(crate) mod resumed;
pub(crate) mod start;
mod steps;
mod time;
pub(crate) mod unposted;

use std::{collections::BTreeMap, time::Duration};

use smartspace_domain::steps::SystemMessage;

/// All watchers, in the order of their messages.
const WATCHERS: [Watcher; 9] = [
    start::WATCHER,
    resumed::WATCHER,
    unposted::WATCHER,
    context::WATCHER,
    steps::WATCHER,
    time::WATCHER,
    budget::WATCHER,
    repetition::WATCHER,
    news::WATCHER,
];

struct Watcher {
    /// The name that the API and events show.
    name: &'static str,
    /// Returns the messages for the next step. Messages that the run already had are dropped.
    look: fn(&RunSnapshot<'_>) -> Vec<String>,
}

/// The state of a run between two steps, as watchers see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunSnapshot<'a> {
    /// The index of the next step, from 0.
    pub(crate) step: u32,
    pub(crate) max_steps: u32,
    /// How long the run has been working.
    pub(crate) time_worked: Duration,
    /// How long the run may work.
    pub(crate) time_limit: Duration,
    /// Tokens in the conversation: the count of the provider, plus a quarter of the characters
    /// added since. `None` before the first answer.
    pub(crate) tokens: Option<u64>,
    /// The size of the model's context window in tokens.
    pub(crate) window: u64,
    /// How often each tool was called with each input. The key is the tool's name and the input.
    pub(crate) calls: Option<&'a BTreeMap<(String, String), u32>>,
    /// Messages posted to the active space since the last step.
    pub(crate) news: Option<String>,
    /// Sentences for the first step, see [`start::facts`].
    pub(crate) start: Vec<String>,
    /// What the run has to know after a pause.
    pub(crate) resumed: Option<String>,
    /// Texts about budgets that are nearly used.
    pub(crate) budgets: Vec<String>,
    /// The model was named, and has answered with text alone.
    pub(crate) is_unposted: bool,
}

/// Returns the messages of all watchers, without those that the run already had (`earlier`).
pub(crate) fn look(run: &RunSnapshot<'_>, earlier: &[SystemMessage]) -> Vec<SystemMessage> {
    let messages_of = |watcher: &Watcher| {
        let name = watcher.name;
        (watcher.look)(run)
            .into_iter()
            .map(move |text| SystemMessage { watcher: name.to_owned(), text })
    };
    // Two pauses of a run may end alike, and each has its notice.
    let is_new =
        |message: &SystemMessage| message.watcher == resumed::NAME || !earlier.contains(message);
    WATCHERS.iter().flat_map(messages_of).filter(is_new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(run: &RunSnapshot<'_>) -> Vec<String> {
        look(run, &[])
            .into_iter()
            .map(|message| format!("{}: {}", message.watcher, message.text))
            .collect()
    }

    #[test]
    fn each_watcher_speaks_once_per_threshold() {
        let calm = RunSnapshot {
            step: 2,
            max_steps: 20,
            time_limit: Duration::from_mins(30),
            window: 1_000,
            ..RunSnapshot::default()
        };
        assert_eq!(messages(&calm), Vec::<String>::new());
        let calls = BTreeMap::from([
            (("read_messages".to_owned(), "{}".to_owned()), 3),
            (("get_memories".to_owned(), "{}".to_owned()), 2),
        ]);
        let busy = RunSnapshot {
            step: 15,
            time_worked: Duration::from_mins(24),
            tokens: Some(860),
            calls: Some(&calls),
            news: Some("Said meanwhile".into()),
            ..calm
        };
        insta::assert_snapshot!(messages(&busy).join("\n"));
        let earlier = look(&busy, &[]);
        assert_eq!(look(&busy, &earlier), []);
        // Each threshold is reported once. Only those that are new are in the second answer.
        let later = RunSnapshot { step: 19, tokens: Some(960), ..busy };
        let names: Vec<_> =
            look(&later, &earlier).into_iter().map(|message| message.watcher).collect();
        assert_eq!(names, ["context", "steps"]);
    }

    #[test]
    fn only_the_start_watcher_speaks_before_the_first_step() {
        let first = RunSnapshot {
            max_steps: 5,
            time_limit: Duration::from_mins(30),
            window: 1_000,
            start: vec![
                "Your last run here was 2d 3h ago.".into(),
                "Overdue, see GOALS: q4.".into(),
            ],
            ..RunSnapshot::default()
        };
        assert_eq!(
            messages(&first),
            ["start: Your last run here was 2d 3h ago. Overdue, see GOALS: q4."]
        );
        let only = RunSnapshot { max_steps: 1, start: Vec::new(), ..first };
        assert_eq!(messages(&only).len(), 1, "a run with one step gets no notice");
    }
}
