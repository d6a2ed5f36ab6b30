//! The process is killed again and again while people talk and agents answer, each time in another moment, and started again on the same
//! folder. In the end nothing that was accepted is lost, and nothing happened twice.
//!
//! `SMARTSPACE_KILLS` says how often (10), `SMARTSPACE_KILLS_SEED` in which moments; the seed of a failing run is printed.

mod chance;
mod judged;
mod load;

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

use self::{
    chance::Chance,
    load::{Load, Town},
};
use super::{
    deployed::deployed,
    process::{Process, Setup},
    socket::Socket,
    waiting::{is_ended, wait_for},
};

/// Kills in the suite.
const KILLS: u64 = 10;
/// How long after a start everything may take to go again: people are answered, and what was left is done.
const GOING_WITHIN: Duration = Duration::from_secs(30);

/// When it is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after its start, which may not be over.
    Starting(Duration),
    /// So long after it was ready, with everybody coming back at once.
    Ready(Duration),
    /// So long after everything was going again.
    Going(Duration),
}

impl Moment {
    fn any(chance: &mut Chance) -> Self {
        match chance.below(10) {
            0..2 => Self::Starting(chance.millis(0..250)),
            2..6 => Self::Ready(chance.millis(0..300)),
            6..9 => Self::Going(chance.millis(0..300)),
            _ => Self::Going(chance.millis(300..900)),
        }
    }
}

#[tokio::test]
async fn kills_in_any_moment_lose_nothing_and_repeat_nothing() {
    if let Some(deployed) = deployed() {
        deployed.skip("it needs a process of its own");
        return;
    }
    let kills = number("SMARTSPACE_KILLS").unwrap_or(KILLS);
    let seed = number("SMARTSPACE_KILLS_SEED").unwrap_or_else(chance::seed);
    eprintln!("SMARTSPACE_KILLS={kills} SMARTSPACE_KILLS_SEED={seed}");
    // Clients are tasks of this thread: their futures borrow what can't be sent.
    LocalSet::new().run_until(kill_and_judge(kills, Chance::new(seed))).await;
}

async fn kill_and_judge(kills: u64, mut chance: Chance) {
    let admin_key = "the-key-of-the-killed".to_owned();
    let nowhere = "http://127.0.0.1:9/v1".to_owned();
    let mut process = Process::start(Setup { on_disk: true, admin_key: admin_key.clone(), model_url: nowhere, ..Setup::default() }).await;
    let town = Town::found(&process.url, &admin_key).await;
    let load = Load::begin(&town, &process.url, &mut chance);
    let mut longest = Duration::ZERO;
    for kill in 0..=kills {
        let moment = if kill == kills { Moment::Going(Duration::ZERO) } else { Moment::any(&mut chance) };
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
        load.go_on(&process.url);
        let (Moment::Starting(after) | Moment::Ready(after) | Moment::Going(after)) = moment;
        if let Moment::Going(_) = moment {
            load.calm(true);
            going_again(&town, &process, started, kill).await;
            load.calm(false);
            let took = started.elapsed();
            eprintln!("{kill}: everything was going again after {took:?}");
            longest = longest.max(took);
        }
        sleep(after).await;
        if kill < kills {
            load.pause();
            process.kill();
        }
    }
    let done = load.end().await;
    let judged = judged::judge(&town, &town.client(&process.url), done).await;
    eprintln!("{kills} kills, {judged}, longest time until everything was going again: {longest:?}");
}

fn number(name: &str) -> Option<u64> {
    Some(env::var(name).ok()?.parse().unwrap_or_else(|_| panic!("{name}: expected a number")))
}

/// Waits until a new message in every space is answered, and all that was left by the process before is done.
async fn going_again(town: &Town, process: &Process, started: Instant, kill: u64) {
    let client = town.client(&process.url);
    let waits_for = RefCell::new(String::from("a socket"));
    let going = async {
        let socket = Socket::open(&client.ticket(None).await).await.unwrap();
        let mut left = Vec::new();
        for space in &town.spaces {
            let answer = socket.subscribe(&space.id, None).await;
            left.extend(answer["active"].as_array().unwrap().iter().map(|run| run["runId"].as_str().unwrap().to_owned()));
        }
        for space in &town.spaces {
            let text = format!("are you there after start {kill}?");
            let request =
                json!({ "action": "send", "spaceId": space.id, "senderId": space.people[0], "text": text, "idempotencyKey": text });
            let sent = socket.request(request).await;
            assert_eq!(sent["type"], "sent", "{sent}");
            let answer = load::answer_to(&text);
            *waits_for.borrow_mut() = format!("{answer:?} in {}", space.id);
            socket.shows(&space.id, "an answer", GOING_WITHIN, |view| view.texts().contains(&answer.as_str()).then_some(())).await;
        }
        for run in left {
            *waits_for.borrow_mut() = format!("the end of {run}, which was left");
            wait_for("its end", GOING_WITHIN, async || is_ended(&client.run(&run).await).then_some(())).await;
        }
    };
    let in_time = timeout_at((started + GOING_WITHIN).into(), going).await;
    let waits_for = waits_for.into_inner();
    assert!(in_time.is_ok(), "not within {GOING_WITHIN:?} of start {kill}: {waits_for}\n{}", process.log());
}
