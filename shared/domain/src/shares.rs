//! The runs of a minute, and who causes them: `budget.runsPerMinute` of agents and of spaces.
//!
//! Half of a minute's runs are kept for what people say, and of that half one person causes at most half. The rest is for everything else, and for people
//! once their half is used; of a space's rest one sender causes at most half, too. So whoever floods a space or an agent (a service, another agent, a member)
//! leaves room for what people say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Time, ids::EntityId};

/// Senders that are counted by themselves; those beyond count as one.
const SENDERS: usize = 100;
/// Their name.
const OTHERS: &str = "others";

/// Who causes a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Its name among others in the minute, of letters and digits.
    pub sender: String,
    /// It is a person.
    pub is_person: bool,
}

impl Cause {
    /// A member of a space, by what it says.
    pub fn member(id: EntityId, is_person: bool) -> Self {
        Self { sender: id.to_string().replace('_', ""), is_person }
    }

    /// A service.
    pub fn service(name: &str) -> Self {
        let letters = name.bytes().fold("service".to_owned(), |letters, byte| letters + &format!("{byte:02x}"));
        Self { sender: letters, is_person: false }
    }

    /// The agent's own plans.
    pub fn plans() -> Self {
        Self { sender: "plans".to_owned(), is_person: false }
    }

    /// The operator, by hand.
    pub fn operator() -> Self {
        Self { sender: "operator".to_owned(), is_person: true }
    }
}

/// The two halves of a minute's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// For what people say.
    Kept,
    /// For everything.
    Rest,
}

/// How many runs one sender caused in a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caused {
    /// Of people's half.
    #[serde(default)]
    pub kept: u32,
    /// Of the rest.
    #[serde(default)]
    pub rest: u32,
}

/// The runs of one minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Minute {
    /// Which one, since 1970.
    pub number: i64,
    /// All of them.
    #[serde(flatten)]
    pub all: Caused,
    /// Those of each sender.
    #[serde(default)]
    pub by: BTreeMap<String, Caused>,
}

impl Minute {
    /// The number of the minute that `at` lies in.
    pub fn number_of(at: Time) -> i64 {
        at.as_millis().div_euclid(60_000)
    }

    /// The runs of the minute that `now` lies in: `known` where it is that one.
    pub fn now(known: Option<&Self>, now: Time) -> Self {
        let number = Self::number_of(now);
        known.filter(|known| known.number == number).cloned().unwrap_or(Self { number, ..Self::default() })
    }

    /// From which half of a space's runs another one is taken, of `limit` in all; none where there is no room for it.
    pub fn room_in_space(&self, limit: u32, cause: &Cause) -> Option<Half> {
        let rest = limit - limit / 2;
        self.room(limit, cause, rest.div_ceil(2))
    }

    /// The same of an agent's runs: what wakes it besides people is mostly one service, or its plans.
    pub fn room_of_agent(&self, limit: u32, cause: &Cause) -> Option<Half> {
        self.room(limit, cause, u32::MAX)
    }

    /// `most_of_rest` is what one sender may have of what is not kept for people.
    fn room(&self, limit: u32, cause: &Cause, most_of_rest: u32) -> Option<Half> {
        let kept = limit / 2;
        let rest = limit - kept;
        let caused = self.by.get(self.counted_as(cause)).copied().unwrap_or_default();
        if cause.is_person && self.all.kept < kept && caused.kept < kept.div_ceil(2) {
            Some(Half::Kept)
        } else if self.all.rest < rest && caused.rest < most_of_rest {
            Some(Half::Rest)
        } else {
            None
        }
    }

    /// The name by which a sender is counted: its own, or the one of all for whom there is no room.
    fn counted_as<'a>(&self, cause: &'a Cause) -> &'a str {
        if self.by.len() < SENDERS || self.by.contains_key(&cause.sender) { &cause.sender } else { OTHERS }
    }

    /// Counts a run.
    pub fn count(&mut self, half: Half, cause: &Cause) {
        let sender = self.counted_as(cause).to_owned();
        let by = self.by.entry(sender).or_default();
        for caused in [&mut self.all, by] {
            match half {
                Half::Kept => caused.kept += 1,
                Half::Rest => caused.rest += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cause(sender: &str, is_person: bool) -> Cause {
        Cause { sender: sender.to_owned(), is_person }
    }

    /// How many of `count` runs a cause gets.
    fn flood(minute: &mut Minute, limit: u32, cause: &Cause, count: u32) -> u32 {
        let got = (0..count).filter(|_| {
            let half = minute.room_in_space(limit, cause);
            half.inspect(|half| minute.count(*half, cause)).is_some()
        });
        got.count() as u32
    }

    #[test]
    fn who_floods_leaves_room_for_others() {
        let (husam, sarah, service, agent) = (cause("husam", true), cause("sarah", true), cause("jira", false), cause("ada", false));
        let mut minute = Minute::default();
        assert_eq!(flood(&mut minute, 120, &husam, 1_000), 60, "half of each half");
        assert_eq!(flood(&mut minute, 120, &service, 1_000), 30);
        assert_eq!(flood(&mut minute, 120, &agent, 1_000), 0, "the rest is used");
        assert_eq!(flood(&mut minute, 120, &sarah, 1_000), 30, "people's half is not");
        let mut minute = Minute::default();
        assert_eq!([&service, &agent].map(|cause| flood(&mut minute, 60, cause, 100)), [15, 15]);
        assert_eq!(flood(&mut minute, 60, &husam, 100), 15);
    }

    #[test]
    fn one_service_may_have_all_of_an_agents_minute_that_is_not_kept_for_people() {
        let mut minute = Minute::default();
        let mut flood = |cause: &Cause| {
            let got = (0..100).filter(|_| minute.room_of_agent(60, cause).inspect(|half| minute.count(*half, cause)).is_some());
            got.count()
        };
        let (service, other) = (cause("jira", false), cause("stripe", false));
        let (husam, sarah) = (cause("husam", true), cause("sarah", true));
        assert_eq!([&service, &other, &husam, &sarah].map(&mut flood), [30, 0, 15, 15]);
    }

    #[test]
    fn the_smallest_budgets() {
        let both = |limit| {
            let got = |is_person| flood(&mut Minute::default(), limit, &cause("a", is_person), 10);
            (got(true), got(false))
        };
        assert_eq!([1, 2, 3, 4].map(both), [(1, 1), (2, 1), (2, 1), (2, 1)]);
    }

    #[test]
    fn those_for_whom_there_is_no_room_count_as_one() {
        let mut minute = Minute::default();
        for number in 0..SENDERS {
            assert_eq!(flood(&mut minute, 400, &cause(&format!("p{number}"), true), 1), 1);
        }
        let others = [100, 101].map(|number| flood(&mut minute, 400, &cause(&format!("p{number}"), true), 1_000));
        assert_eq!((others, minute.by.len()), ([200, 0], SENDERS + 1));
        assert_eq!(flood(&mut minute, 400, &cause("p1", true), 1_000), 100);
    }

    #[test]
    fn a_minute_begins_with_nothing() {
        let at = Time::from_millis(119_999);
        let mut minute = Minute::now(None, at);
        minute.count(Half::Rest, &cause("a", false));
        assert_eq!(Minute::now(Some(&minute), Time::from_millis(60_000)), minute);
        assert_eq!(Minute::now(Some(&minute), Time::from_millis(120_000)), Minute { number: 2, ..Minute::default() });
    }

    proptest! {
        #[test]
        fn no_more_than_the_limit_and_people_always_have_a_quarter(
            limit in 2_u32..300,
            floods in prop::collection::vec((0_u8..6, any::<bool>(), 1_u32..200), 0..12),
        ) {
            let mut minute = Minute::default();
            let mut by_one_person = 0;
            for (sender, is_person, count) in floods {
                // One flooding person, and any number of others that are none.
                let (name, is_person) = if is_person && sender == 0 { ("p".to_owned(), true) } else { (format!("s{sender}"), false) };
                let got = flood(&mut minute, limit, &cause(&name, is_person), count);
                by_one_person += if is_person { got } else { 0 };
            }
            prop_assert!(minute.all.kept + minute.all.rest <= limit);
            prop_assert!(by_one_person <= (limit / 2).div_ceil(2) + limit.div_ceil(2).div_ceil(2));
            let kept = limit / 2;
            prop_assert!(flood(&mut minute, limit, &cause("new", true), 1_000) >= kept / 2);
        }
    }
}
