//! Watchers look at a run between two steps. Their messages precede the next step, are stored with
//! it and are sent to clients.
//!
//! A watcher is one file. To add one, write its file and add it to [`WATCHERS`].

pub(crate) mod budget;
pub(crate) mod context;
mod news;
mod repetition;
pub(crate) mod resumed;
pub(crate) mod start;
mod steps;
mod time;
pub(crate) mod unposted;

use std::{collections::BTreeMap, time::Duration};

use smartspace_domain::steps::SystemMessage;
use smartspace_pipeline::spending::BudgetNotice;

/// All watchers, in the order of their messages.
const WATCHERS: [Watcher; 10] = [
    start::WATCHER,
    resumed::WATCHER,
    unposted::WATCHER,
    context::WATCHER,
    steps::WATCHER,
    time::WATCHER,
    budget::WATCHER,
    budget::OF_SPACE,
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
    /// The number of results that were shortened since the last step, with all before them.
    pub(crate) shortened: Option<u32>,
    /// Other agents must not be asked to use memories.
    pub(crate) has_memories: bool,
    /// How often each tool was called with each input since results were shortened. The key is
    /// the tool's name and the input.
    pub(crate) calls: Option<&'a BTreeMap<(String, String), u32>>,
    /// Messages posted to the active space since the last step.
    pub(crate) news: Option<String>,
    /// Sentences for the first step, see [`start::facts`].
    pub(crate) start: Vec<String>,
    /// What the run has to know after a pause.
    pub(crate) resumed: Option<String>,
    /// Notices of budgets that are nearly used.
    pub(crate) budgets: Vec<BudgetNotice>,
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
            tokens: Some(760),
            shortened: Some(22),
            calls: Some(&calls),
            news: Some("Said meanwhile".into()),
            ..calm
        };
        insta::assert_snapshot!(messages(&busy).join("\n"));
        let earlier = look(&busy, &[]);
        assert_eq!(look(&busy, &earlier), []);
        // Each threshold is reported once. Only those that are new are in the second answer.
        let later = RunSnapshot { step: 19, tokens: Some(960), shortened: None, ..busy };
        let names: Vec<_> =
            look(&later, &earlier).into_iter().map(|message| message.watcher).collect();
        assert_eq!(names, ["context", "steps"]);
    }

    #[test]
    fn a_full_window_is_reported_only_if_no_result_could_be_shortened() {
        let texts = |tokens, shortened, has_memories| {
            let run = RunSnapshot {
                step: 2,
                max_steps: 20,
                time_limit: Duration::from_mins(30),
                tokens: Some(tokens),
                window: 1_000,
                shortened,
                has_memories,
                ..RunSnapshot::default()
            };
            look(&run, &[]).into_iter().map(|message| message.text).collect::<Vec<_>>()
        };
        let warned = "When your context is full, old results are shortened. \
                      Note in your text what you still need.";
        assert_eq!(texts(699, None, true), [""; 0]);
        assert_eq!([texts(700, None, true), texts(849, None, false)], [[warned]; 2]);
        let cut = "The first 22 results were shortened; call again for what you need.";
        assert_eq!(texts(500, Some(22), true), [cut]);
        assert_eq!(
            texts(500, Some(1), true),
            ["The first result was shortened; call again if you need it."]
        );
        let full = "85 % of your context window is used, and no old result is left to shorten. \
                    Come to an end before it is full";
        assert_eq!(texts(850, None, false), [format!("{full}.")]);
        assert_eq!(
            texts(850, None, true),
            [format!("{full}; what must outlast this run belongs in memories.")]
        );
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
