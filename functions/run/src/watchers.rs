//! Watchers look at a run between two of its steps. What they say stands in front of the next step, is kept in it, and goes to the browsers.
//!
//! A watcher is a small file. To add one, add it to [`WATCHERS`].

mod context;
mod news;
mod repetition;
pub(crate) mod start;
mod steps;
mod time;

use std::{collections::BTreeMap, time::Duration};

use smartspace_domain::steps::SystemMessage;

/// All of them, in the order in which they speak.
const WATCHERS: [Watcher; 6] = [start::WATCHER, context::WATCHER, steps::WATCHER, time::WATCHER, repetition::WATCHER, news::WATCHER];

/// One that looks.
struct Watcher {
    /// As the API and events name it.
    name: &'static str,
    /// What it has to say, if anything. What it has said before in the run is not said again.
    look: fn(&Look<'_>) -> Vec<String>,
}

/// A run between two steps, as the watchers see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Look<'a> {
    /// The step that comes next, from 0.
    pub(crate) step: u32,
    /// Steps that the run may have.
    pub(crate) max_steps: u32,
    /// How long it has been working.
    pub(crate) used: Duration,
    /// How long it may.
    pub(crate) limit: Duration,
    /// Tokens that stand in the conversation: what the provider counted, and a quarter of the characters added since. None before the first answer.
    pub(crate) tokens: Option<u64>,
    /// Tokens that the model reads at most.
    pub(crate) window: u64,
    /// How often each tool was called with each input.
    pub(crate) calls: Option<&'a BTreeMap<(String, String), u32>>,
    /// What was said in the active space since the last step.
    pub(crate) news: Option<String>,
    /// What there is to say before the first step.
    pub(crate) start: Vec<String>,
}

/// What the watchers say of a run that was told `said` before.
pub(crate) fn look(at: &Look<'_>, said: &[SystemMessage]) -> Vec<SystemMessage> {
    let speak = |watcher: &Watcher| {
        let name = watcher.name;
        (watcher.look)(at).into_iter().map(move |text| SystemMessage { watcher: name.to_owned(), text })
    };
    WATCHERS.iter().flat_map(speak).filter(|message| !said.contains(message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(at: &Look<'_>) -> Vec<String> {
        look(at, &[]).into_iter().map(|said| format!("{}: {}", said.watcher, said.text)).collect()
    }

    #[test]
    fn each_says_its_own_once() {
        let calm = Look { step: 2, max_steps: 20, limit: Duration::from_mins(30), window: 1_000, ..Look::default() };
        assert_eq!(says(&calm), Vec::<String>::new());
        let calls = BTreeMap::from([(("read_messages".to_owned(), "{}".to_owned()), 3), (("get_memories".to_owned(), "{}".to_owned()), 2)]);
        let busy = Look {
            step: 15,
            used: Duration::from_mins(24),
            tokens: Some(860),
            calls: Some(&calls),
            news: Some("Said meanwhile".into()),
            ..calm
        };
        insta::assert_snapshot!(says(&busy).join("\n"));
        let said = look(&busy, &[]);
        assert_eq!(look(&busy, &said), []);
        // What lies behind a threshold that was passed is not said any more, and the next threshold is.
        let later = Look { step: 19, tokens: Some(960), ..busy };
        let texts: Vec<_> = look(&later, &said).into_iter().map(|said| said.watcher).collect();
        assert_eq!(texts, ["context", "steps"]);
    }

    #[test]
    fn before_the_first_step_only_the_start_speaks() {
        let first = Look {
            max_steps: 5,
            limit: Duration::from_mins(30),
            window: 1_000,
            start: vec!["Your last run here was 2d 3h ago.".into(), "Overdue, see GOALS: q4.".into()],
            ..Look::default()
        };
        assert_eq!(says(&first), ["start: Your last run here was 2d 3h ago. Overdue, see GOALS: q4."]);
        let only = Look { max_steps: 1, start: Vec::new(), ..first };
        assert_eq!(says(&only).len(), 1, "who has one step only is told so");
    }
}
