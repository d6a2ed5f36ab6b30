//! Clients of large rooms: those that see a gap in a stream ask for a snapshot, and some join in
//! the middle of an answer.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::http::Method;
use serde_json::json;
use smartspace_domain::{
    ids::{ConnectionId, SpaceId},
    limits::RoomLimits,
};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    client::Caller, connections::Latecomer, deployment::Deployment, locked, people::Person,
    view::View,
};

/// How often clients look for gaps.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a client waits for a snapshot before it asks again.
const ASK_EVERY: Duration = Duration::from_secs(2);
/// A stream that was not heard for this long has ended.
const OVER_AFTER: Duration = Duration::from_secs(5);
/// How many answers somebody tries to join.
const ANSWERS: usize = 4;
/// Faults of the time before the calm phase are over by then: the longest stall, and the latest
/// job.
pub(crate) const FAULTS_LAST: Duration = Duration::from_mins(2);
/// How long an answer may take to begin.
const BEGINS_WITHIN: Duration = Duration::from_mins(1);

/// Whether jobs post the frames of this deployment.
pub(crate) fn has_large_rooms(deployment: &Deployment) -> bool {
    deployment.env.parameters.room_limits != RoomLimits::SPACE
}

/// Lets every connection ask for a snapshot when it sees a gap, forever.
pub(crate) async fn ask_at_gaps(deployment: Arc<Deployment>) {
    let mut asked: BTreeMap<(ConnectionId, String), Instant> = BTreeMap::new();
    loop {
        sleep(LOOK_EVERY).await;
        let now = Instant::now();
        for (connection, view) in deployment.env.connections.all() {
            let since = now.checked_sub(OVER_AFTER).unwrap_or(now);
            for (stream, space) in view.with(|seen| seen.gaps(since)) {
                let key = (connection.clone(), stream.clone());
                if asked.get(&key).is_some_and(|at| now.duration_since(*at) < ASK_EVERY) {
                    continue;
                }
                asked.insert(key, now);
                let frame = json!({"action": "snapshot", "streamId": stream, "spaceId": space});
                let deployment = Arc::clone(&deployment);
                let connection = connection.clone();
                tokio::spawn(
                    async move { deployment.receive(&connection, &frame.to_string()).await },
                );
            }
        }
    }
}

/// In the calm phase, asks agents and joins their answers in the middle.
pub(crate) async fn join_answers(deployment: &Arc<Deployment>, people: &[Person]) {
    sleep(FAULTS_LAST).await;
    for number in 0..ANSWERS {
        let person = &people[number % people.len()];
        let place = format!("late {number}");
        let space = {
            let ledger = locked(&deployment.env.ledger);
            ledger.spaces[deployment.env.chance.below(&place, ledger.spaces.len() as u64) as usize]
        };
        let began = Instant::now();
        person.ask_an_agent(&place, space).await;
        let is_new = || {
            person.view.with(|seen| {
                let mut heard = seen.heard.values();
                heard.any(|heard| heard.first >= began && heard.space == space.to_string())
            })
        };
        while !is_new() && began.elapsed() < BEGINS_WITHIN {
            sleep(Duration::from_millis(100)).await;
        }
        if is_new()
            && let Some(latecomer) = join(deployment, person, space, &place).await
        {
            locked(&deployment.env.latecomers).push(latecomer);
        }
    }
}

/// Opens another connection of a person and subscribes to a space.
async fn join(
    deployment: &Arc<Deployment>,
    person: &Person,
    space: SpaceId,
    place: &str,
) -> Option<Latecomer> {
    let caller = Caller::Entity(person.id);
    let path = "/v1/socketTickets";
    let (status, ticket) =
        deployment.http_with_retries(place, caller, Method::POST, path, None, None).await?;
    let process = deployment.some_process(place).filter(|_| status == 201)?;
    let connection = ConnectionId(format!("l{place}").replace(' ', "."));
    process.socket.connect(ticket["ticket"].as_str()?, &connection).await.ok()?;
    let view = Arc::<View>::default();
    deployment.env.connections.open(connection.clone(), Arc::clone(&view));
    let frame = json!({"action": "subscribe", "id": 1, "spaceId": space});
    deployment.receive(&connection, &frame.to_string()).await.ok()?;
    let answer = timeout(Duration::from_secs(10), view.answer(1)).await.ok()?;
    let since = Instant::now();
    let is_following = answer["type"] == "subscribed";
    is_following.then_some(Latecomer { person: person.index, connection, space, since, view })
}
