//! Measures how much a hostile member disturbs others: other spaces, and a quiet member of its own
//! space.
//!
//! Undisturbed and hostile phases alternate within one run of the product, so that whatever else
//! happens on the machine happens to both.
//!
//! - [`talker`]: a member whose waiting times are measured.
//! - [`flooder`]: the hostile member.

mod flooder;
mod talker;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::sleep;

use self::{
    flooder::Flooder,
    talker::{Talked, Talker},
};
use crate::{
    measure::{Latency, latency},
    product::Product,
};

/// The spaces without the hostile member.
const OTHER_SPACES: usize = 4;
/// How long the product rests after each phase.
const PAUSE: Duration = Duration::from_secs(3);

/// The settings of the measurement.
#[derive(Clone, Copy)]
pub(crate) struct HostileSettings {
    /// How often an undisturbed phase and a hostile phase follow each other.
    pub(crate) rounds: usize,
    /// How long a phase lasts.
    pub(crate) phase: Duration,
    /// The interval between two messages of a member in another space. The quiet member writes half
    /// as often.
    pub(crate) every: Duration,
}

/// The figures of one kind of member in one kind of phase.
pub(crate) struct Waits {
    pub(crate) name: &'static str,
    pub(crate) posted: usize,
    /// From the POST to the 201.
    pub(crate) accepted: Option<Latency>,
    /// From the POST to the first text of the answer.
    pub(crate) first_delta: Option<Latency>,
    /// The statuses of the answers, with counts.
    pub(crate) statuses: BTreeMap<u16, usize>,
}

/// The result of the measurement.
pub(crate) struct HostileFigures {
    pub(crate) waits: Vec<Waits>,
    /// The outcomes of the hostile member's requests, with counts.
    pub(crate) flooder: BTreeMap<String, usize>,
    /// The messages that were answered with 201, and those of them that are not stored.
    pub(crate) accepted: usize,
    pub(crate) lost: usize,
    /// How many calls the table throttled.
    pub(crate) throttled: usize,
}

/// Measures all phases.
pub(crate) async fn measure(
    product: &Product,
    settings: HostileSettings,
) -> Result<HostileFigures, String> {
    let shared = Team::create(product, 3).await?;
    let others = try_join_all((0..OTHER_SPACES).map(|_| Team::create(product, 1))).await?;
    let mut quiet = Talker::new(product, &shared.space, &shared.people[0]).await?;
    let mut elsewhere =
        try_join_all(others.iter().map(|team| Talker::new(product, &team.space, &team.people[0])))
            .await?;
    let flooder = Flooder::new(product, &shared.space, &shared.people[1]);
    let mut talked: [[Talked; 2]; 2] = Default::default();
    let mut flooded = BTreeMap::new();
    for phase in 0..settings.rounds * 2 {
        let is_hostile = phase % 2 == 1;
        let until = Instant::now() + settings.phase;
        let flood =
            async { if is_hostile { flooder.flood(until).await } else { Ok(BTreeMap::new()) } };
        let talk =
            try_join_all(elsewhere.iter_mut().map(|talker| talker.talk(settings.every, until)));
        let (of_others, of_quiet, outcomes) =
            futures::try_join!(talk, quiet.talk(settings.every * 2, until), flood)?;
        let [by_others, by_quiet] = &mut talked[usize::from(is_hostile)];
        for new in of_others {
            by_others.add(new);
        }
        by_quiet.add(of_quiet);
        for (outcome, count) in outcomes {
            *flooded.entry(outcome).or_default() += count;
        }
        sleep(PAUSE).await;
    }
    let mut accepted: BTreeSet<String> = flooder.accepted();
    accepted.extend(talked.iter().flatten().flat_map(|talked| talked.accepted.iter().cloned()));
    let mut stored = BTreeSet::new();
    for team in others.iter().chain([&shared]) {
        stored.extend(product.message_ids(&team.space).await?);
    }
    Ok(HostileFigures {
        waits: waits(talked),
        flooder: flooded,
        accepted: accepted.len(),
        lost: accepted.difference(&stored).count(),
        throttled: product.log()?.lines().filter(|line| line.contains(r#""throttled":"#)).count(),
    })
}

fn waits(talked: [[Talked; 2]; 2]) -> Vec<Waits> {
    let names = [
        ["other spaces, undisturbed", "quiet member, undisturbed"],
        ["other spaces, hostile", "quiet member, hostile"],
    ];
    let each = |(name, talked): (&'static str, Talked)| {
        let distribution = |times: Vec<Duration>| (!times.is_empty()).then(|| latency(times));
        Waits {
            name,
            posted: talked.statuses.values().sum(),
            accepted: distribution(talked.waited_for_201),
            first_delta: distribution(talked.waited_for_text),
            statuses: talked.statuses,
        }
    };
    names.into_iter().flatten().zip(talked.into_iter().flatten()).map(each).collect()
}

/// A space with people and an agent.
struct Team {
    space: String,
    people: Vec<String>,
}

impl Team {
    async fn create(product: &Product, people: usize) -> Result<Self, String> {
        let budget = json!({"runsPerMinute": 2_000});
        let model = json!({"provider": "openai", "name": "zero"});
        let concurrency = json!({"mode": "parallel"});
        let config = json!({"model": model, "budget": budget, "concurrency": concurrency});
        let agent = json!({"type": "agent", "name": "Ada", "agent": config});
        let agent = product.make("/v1/entities", agent).await?;
        let mut ids = Vec::new();
        for number in 0..people {
            let person = json!({"type": "human", "name": format!("Person {number}")});
            ids.push(product.make("/v1/entities", person).await?);
        }
        let members: Vec<Value> = ids.iter().chain([&agent]).map(|id| json!(id)).collect();
        let space = json!({"name": "Load", "members": members, "budget": budget});
        Ok(Self { space: product.make("/v1/spaces", space).await?, people: ids })
    }
}
