//! Posts in the calm that people watch: a connection without faults sees a message within a second
//! after its sender learned that it is stored, without a ping. Meanwhile one of the people stops
//! following the space and follows it again.

use std::{sync::Arc, time::Duration};

use futures::future::join;
use tokio::time::{Instant, sleep};

use crate::{deployment::Deployment, ledger::WatchedPost, locked, people::Person};

/// By then everything has ended that began before the calm: stalls, slow calls and late jobs.
const FAULTS_LAST: Duration = Duration::from_mins(3);
/// How much later the post begins than the frames of the one who follows again.
const LATER: Duration = Duration::from_millis(100);
/// When people stop watching. The oracle allows a second.
const WATCHED_FOR: Duration = Duration::from_secs(3);

/// Lets people post and watch, as often as the plan says.
pub(crate) async fn watch(deployment: &Arc<Deployment>, people: &mut [Person]) {
    if deployment.env.parameters.watched_posts == 0 {
        return;
    }
    sleep(FAULTS_LAST).await;
    for person in people.iter_mut() {
        person.come_back().await;
    }
    for number in 0..deployment.env.parameters.watched_posts {
        watch_one(deployment, people, &format!("watched/{number}")).await;
    }
}

async fn watch_one(deployment: &Arc<Deployment>, people: &mut [Person], place: &str) {
    let chance = &deployment.env.chance;
    let spaces = locked(&deployment.env.ledger).spaces.clone();
    let space = spaces[chance.below(place, spaces.len() as u64) as usize];
    let mover = chance.below(place, people.len() as u64) as usize;
    let sender = chance.below(place, people.len() as u64) as usize;
    if !people[mover].follows(space) {
        return;
    }
    let before = Instant::now();
    let others = people.iter().filter(|person| person.index != mover && person.follows(space));
    let mut followers: Vec<_> = others.map(|person| (person.index, before)).collect();
    let sender = people[sender].sender();
    let (followed, posted) = join(people[mover].follow_again(place, space), async {
        sleep(chance.time(place, Duration::ZERO, LATER)).await;
        sender.post_once(&format!("{place}/post"), space).await
    })
    .await;
    sleep(WATCHED_FOR).await;
    followers.extend(followed.map(|since| (mover, since)));
    if let Some((seq, at)) = posted {
        let note = || format!("number {seq} of {space}, by {} followers", followers.len());
        deployment.env.history.note("watched", note);
        locked(&deployment.env.ledger).watched.push(WatchedPost { space, seq, at, followers });
    }
}
