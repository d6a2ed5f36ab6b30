//! The process is killed again and again under load, at random moments, and started again on the
//! same folder. In the end nothing that was accepted is lost, and nothing happened twice.
//!
//! `SMARTSPACE_KILLS` is the number of kills (10), and `SMARTSPACE_KILLS_SEED` the seed of the
//! random moments. The seed of a failed test is printed.

pub(crate) mod chance;
mod judge;
mod load;
mod talker;
mod town;

use std::{
    cell::RefCell,
    env,
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::{
    task::LocalSet,
    time::{sleep, timeout_at},
};

use crate::{
    crash::kills::{
        chance::Chance,
        load::Load,
        town::{Town, answer_to},
    },
    support::{
        deployed::deployed,
        process::{Process, Setup},
        socket::Socket,
        waiting::{is_ended, wait_for},
    },
};

/// The default number of kills.
const KILLS: u64 = 10;
/// The limit after each start until new messages are answered and all interrupted runs have ended.
const RECOVERED_WITHIN: Duration = Duration::from_secs(30);

/// When the process is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// This long after the start, perhaps before the process is ready.
    Starting(Duration),
    /// This long after the process was ready, while all clients reconnect.
    Ready(Duration),
    /// This long after the process recovered.
    Recovered(Duration),
}

impl Moment {
    fn random(chance: &mut Chance) -> Self {
        match chance.below(10) {
            0..2 => Self::Starting(chance.millis(0..250)),
            2..6 => Self::Ready(chance.millis(0..300)),
            6..9 => Self::Recovered(chance.millis(0..300)),
            _ => Self::Recovered(chance.millis(300..900)),
        }
    }
}

#[tokio::test]
async fn kills_at_random_moments_lose_nothing_and_repeat_nothing() {
    if let Some(deployed) = deployed() {
        deployed.skip("it needs a process of its own");
        return;
    }
    let kills = number("SMARTSPACE_KILLS").unwrap_or(KILLS);
    let seed = number("SMARTSPACE_KILLS_SEED").unwrap_or_else(chance::seed);
    eprintln!("SMARTSPACE_KILLS={kills} SMARTSPACE_KILLS_SEED={seed}");
    // The clients run on this thread, since their futures are not `Send`.
    let killing = Box::pin(kill_and_check(kills, Chance::new(seed)));
    LocalSet::new().run_until(killing).await;
}

async fn kill_and_check(kills: u64, mut chance: Chance) {
    let admin_key = "the-key-of-the-killed".to_owned();
    let no_model = "http://127.0.0.1:9/v1".to_owned();
    let mut process = Process::start(Setup {
        on_disk: true,
        admin_key: admin_key.clone(),
        model_url: no_model,
        ..Setup::default()
    })
    .await;
    let town = Town::found(&process.url, &admin_key).await;
    let load = Load::begin(&town, &process.url, &mut chance);
    let mut longest = Duration::ZERO;
    for kill in 0..=kills {
        let moment = if kill == kills {
            Moment::Recovered(Duration::ZERO)
        } else {
            Moment::random(&mut chance)
        };
        eprintln!("{kill}: {moment:?}");
        if let Moment::Starting(after) = moment {
            load.pause();
            process.die_while_starting(after).await;
            continue;
        }
        let started = Instant::now();
        if kill > 0 {
            process.start_again().await;
        }
        load.resume(&process.url);
        let (Moment::Starting(after) | Moment::Ready(after) | Moment::Recovered(after)) = moment;
        if let Moment::Recovered(_) = moment {
            load.calm(true);
            wait_until_recovered(&town, &process, started, kill).await;
            load.calm(false);
            let took = started.elapsed();
            eprintln!("{kill}: recovered after {took:?}");
            longest = longest.max(took);
        }
        sleep(after).await;
        if kill < kills {
            load.pause();
            process.kill();
        }
    }
    let done = load.end().await;
    let counts = judge::check(&town, &town.client(&process.url), done).await;
    eprintln!("{kills} kills, {counts}, longest recovery: {longest:?}");
}

pub(crate) fn number(name: &str) -> Option<u64> {
    Some(env::var(name).ok()?.parse().unwrap_or_else(|_| panic!("{name}: expected a number")))
}

/// Waits until a new message in every space is answered and all runs of the previous process have
/// ended.
async fn wait_until_recovered(town: &Town, process: &Process, started: Instant, kill: u64) {
    let waits_for = RefCell::new(String::from("a socket"));
    let recovery = recover(town, process, kill, &waits_for);
    let in_time = timeout_at((started + RECOVERED_WITHIN).into(), recovery).await;
    let waits_for = waits_for.into_inner();
    assert!(
        in_time.is_ok(),
        "start {kill} waits for {waits_for} after {RECOVERED_WITHIN:?}\n{}",
        process.log()
    );
}

/// The waits of [`wait_until_recovered`]. `waits_for` describes the current one.
async fn recover(town: &Town, process: &Process, kill: u64, waits_for: &RefCell<String>) {
    let client = town.client(&process.url);
    let socket = Socket::open(&client.ticket(None).await).await.unwrap();
    let mut interrupted = Vec::new();
    for space in &town.spaces {
        let subscribed = socket.subscribe(&space.id, None).await;
        let active = subscribed["active"].as_array().unwrap();
        interrupted.extend(active.iter().map(|run| run["runId"].as_str().unwrap().to_owned()));
    }
    for space in &town.spaces {
        let text = format!("are you there after start {kill}?");
        let request = json!({
            "action": "send",
            "spaceId": space.id,
            "senderId": space.people[0],
            "text": text,
            "idempotencyKey": text,
        });
        *waits_for.borrow_mut() = format!("room for {text:?} in {}", space.id);
        wait_for("a message is accepted", RECOVERED_WITHIN, async || {
            let sent = socket.request(request.clone()).await;
            // What the talkers sent before they calmed down may have used up this second.
            let is_full = sent["status"] == 429;
            assert!(is_full || sent["type"] == "sent", "{sent}");
            (!is_full).then_some(())
        })
        .await;
        let answer = answer_to(&text);
        *waits_for.borrow_mut() = format!("{answer:?} in {}", space.id);
        socket
            .shows(&space.id, "an answer", RECOVERED_WITHIN, |view| {
                view.texts().contains(&answer.as_str()).then_some(())
            })
            .await;
    }
    for run in interrupted {
        *waits_for.borrow_mut() = format!("the end of the interrupted {run}");
        wait_for("the end of an interrupted run", RECOVERED_WITHIN, async || {
            is_ended(&client.run(&run).await).then_some(())
        })
        .await;
    }
}
