//! Measures searches: in one long space, in many spaces, in a space without blocks, and beside a
//! person who writes.
//!
//! - [`texts`]: the generated messages, and a naive search of them

mod texts;

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval, sleep};

use self::texts::{Random, Texts};
use crate::{
    flood::token,
    measure::{Latency, latency},
    product::{Caller, Product, Room},
};

/// How many messages of a long space are filled in at a time: a space stores them one by one.
const FILLED_AT_ONCE: usize = 4;
/// How many queries a latency is measured with.
const QUERIES: usize = 200;
/// The spaces of somebody who is in many.
const SPACES: usize = 40;
/// How long the blocks of a space may take.
const COMPLETE_WITHIN: Duration = Duration::from_mins(2);

/// How much is searched, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct SearchSettings {
    /// The messages of the long space, and those of all other spaces together.
    pub(crate) messages: usize,
    /// How often the product is killed while the blocks are built.
    pub(crate) kills: usize,
    /// How long a person writes beside a searcher.
    pub(crate) time: Duration,
}

/// The figures of searches, in milliseconds unless they say otherwise.
pub(crate) struct SearchFigures {
    /// The first answer in a space without blocks, and whether it was incomplete.
    pub(crate) cold: Duration,
    pub(crate) cold_incomplete: bool,
    /// Until a search was complete.
    pub(crate) complete: Duration,
    pub(crate) long: Latency,
    /// The time for which all messages of the long space are read.
    pub(crate) read_all: Duration,
    /// One search of all spaces.
    pub(crate) many: Latency,
    /// The time from a POST to its 201, alone and beside a searcher.
    pub(crate) posts: [Latency; 2],
    /// The answers to the searcher, by status.
    pub(crate) statuses: BTreeMap<u16, usize>,
    /// Answers that were incomplete, or that a naive search contradicts.
    pub(crate) wrong: Vec<String>,
}

/// Sends the searches of one person.
struct Searcher {
    caller: Caller,
    token: String,
}

/// Measures everything. `unlimited` are the flags of a product without rate limits.
pub(crate) async fn measure(
    binary: &Path,
    unlimited: &[&str],
    model: &str,
    settings: SearchSettings,
) -> Result<SearchFigures, String> {
    let mut product = Product::start(binary, false, unlimited, model, None).await?;
    let long = room(&product, None).await?;
    let texts = Texts::new(settings.messages);
    fill(&product, &long, texts.all()).await?;
    let mut wrong = Vec::new();
    let searcher = Searcher::new(&product, &long.person);
    let begun = Instant::now();
    let (first, cold) = searcher.search(&long, &Texts::query(0)).await?;
    for _ in 0..settings.kills {
        sleep(Duration::from_millis(150)).await;
        product = product.restarted(binary, unlimited, model).await?;
        Searcher::new(&product, &long.person).search(&long, &Texts::query(0)).await?;
    }
    let searcher = Searcher::new(&product, &long.person);
    searcher.wait_until_complete(&long).await?;
    let complete = begun.elapsed();
    let long_times = searcher.search_often(Some(&long), &mut wrong).await?;
    wrong.extend(searcher.compare(&long, &texts).await?);
    let begun = Instant::now();
    product.message_ids(&long.space).await?;
    let read_all = begun.elapsed();
    let many = in_many_spaces(&product, settings.messages, &mut wrong).await?;
    let product = product.restarted(binary, &[], model).await?;
    let alone = post_often(&product, &long, settings.time).await?;
    let searcher = Searcher::new(&product, &long.person);
    let other = member(&product, &long).await?;
    let (beside, statuses) = tokio::try_join!(
        post_often(&product, &other, settings.time),
        searcher.search_in_a_loop(&long, settings.time),
    )?;
    Ok(SearchFigures {
        cold,
        cold_incomplete: first["incomplete"] == true,
        complete,
        long: latency(long_times),
        read_all,
        many,
        posts: [latency(alone), latency(beside)],
        statuses,
        wrong,
    })
}

/// A space with a person and no agents. The person is new unless one is given.
async fn room(product: &Product, person: Option<&str>) -> Result<Room, String> {
    let person = match person {
        Some(person) => person.to_owned(),
        None => product.make("/v1/entities", json!({"type": "human", "name": "Sara"})).await?,
    };
    let space = json!({"name": "Search", "members": [person]});
    Ok(Room { space: product.make("/v1/spaces", space).await?, person })
}

/// Another member of a room.
async fn member(product: &Product, room: &Room) -> Result<Room, String> {
    let person = product.make("/v1/entities", json!({"type": "human", "name": "Omar"})).await?;
    product.add(&room.space, &person).await?;
    Ok(Room { space: room.space.clone(), person })
}

async fn fill(product: &Product, room: &Room, texts: &[String]) -> Result<(), String> {
    for some in texts.chunks(FILLED_AT_ONCE) {
        // They get their numbers in any order, so the naive search compares texts.
        try_join_all(some.iter().map(|text| product.post(room, text))).await?;
    }
    Ok(())
}

/// Searches all spaces of a person who is in many.
async fn in_many_spaces(
    product: &Product,
    messages: usize,
    wrong: &mut Vec<String>,
) -> Result<Latency, String> {
    let first = room(product, None).await?;
    let texts = Texts::new(messages);
    let share = messages.div_ceil(SPACES).max(1);
    let mut rooms = vec![first.clone()];
    for _ in 1..SPACES {
        rooms.push(room(product, Some(&first.person)).await?);
    }
    let parts = rooms.iter().zip(texts.all().chunks(share));
    try_join_all(parts.map(|(room, part)| fill(product, room, part))).await?;
    let searcher = Searcher::new(product, &first.person);
    for room in &rooms {
        searcher.wait_until_complete(room).await?;
    }
    let times = searcher.search_often(None, wrong).await?;
    Ok(latency(times))
}

/// Posts at even times, as a person. Returns how long each 201 took.
async fn post_often(
    product: &Product,
    room: &Room,
    time: Duration,
) -> Result<Vec<Duration>, String> {
    let caller = product.caller();
    let token = token(&room.person);
    let path = format!("/v1/spaces/{}/messages", room.space);
    let mut tick = interval(Duration::from_millis(250));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let until = Instant::now() + time;
    let mut times = Vec::new();
    while Instant::now() < until {
        tick.tick().await;
        let begun = Instant::now();
        let body = json!({"text": "How long does it take?"}).to_string();
        let (status, answer) =
            caller.post(&path, &[("authorization", token.as_str())], body).await?;
        if status != 201 {
            return Err(format!("a message was answered with {status}: {answer}"));
        }
        times.push(begun.elapsed());
    }
    Ok(times)
}

impl Searcher {
    fn new(product: &Product, person: &str) -> Self {
        Self { caller: product.caller(), token: token(person) }
    }

    async fn ask(&self, query: &str) -> Result<(u16, Value), String> {
        let headers = [("authorization", self.token.as_str())];
        self.caller.get(&format!("/v1/search?{query}"), &headers).await
    }

    /// Searches a space. Returns the answer, and how long it took.
    async fn search(&self, room: &Room, words: &str) -> Result<(Value, Duration), String> {
        self.timed(&format!("q={words}&spaceId={}", room.space)).await
    }

    async fn timed(&self, query: &str) -> Result<(Value, Duration), String> {
        let begun = Instant::now();
        let (status, answer) = self.ask(query).await?;
        if status == 200 {
            Ok((answer, begun.elapsed()))
        } else {
            Err(format!("the search {query} was answered with {status}: {answer}"))
        }
    }

    /// Searches again until an answer is complete.
    async fn wait_until_complete(&self, room: &Room) -> Result<(), String> {
        let begun = Instant::now();
        while begun.elapsed() < COMPLETE_WITHIN {
            let (answer, _) = self.search(room, &Texts::query(0)).await?;
            if answer["incomplete"] == false {
                return Ok(());
            }
            sleep(Duration::from_millis(50)).await;
        }
        Err(format!("no search was complete within {COMPLETE_WITHIN:?}"))
    }

    /// Searches one space, or all. Returns how long each search took.
    async fn search_often(
        &self,
        room: Option<&Room>,
        wrong: &mut Vec<String>,
    ) -> Result<Vec<Duration>, String> {
        let mut times = Vec::new();
        for number in 0..QUERIES {
            let words = Texts::query(number);
            let space = room.map_or_else(String::new, |room| format!("&spaceId={}", room.space));
            let (answer, took) = self.timed(&format!("q={words}{space}")).await?;
            if answer["incomplete"] != false {
                wrong.push(format!("{words} was searched incompletely: {}", answer["searched"]));
            }
            times.push(took);
        }
        Ok(times)
    }

    /// Compares the newest hits of some queries with those of a naive search.
    async fn compare(&self, room: &Room, texts: &Texts) -> Result<Vec<String>, String> {
        let mut wrong = Vec::new();
        for number in 0..QUERIES / 10 {
            let words = Texts::query(number);
            let query = format!("q={words}&spaceId={}&sort=newest&limit=20", room.space);
            let (answer, _) = self.timed(&query).await?;
            let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            let shown: usize =
                items.iter().map(|it| 1 + it["alsoSeqs"].as_array().map_or(0, Vec::len)).sum();
            let hits = texts.hits(&words);
            let has_all = answer["nextCursor"].is_string() || shown == hits;
            let fits = |item: &Value| {
                let excerpt = item["excerpt"].as_str().unwrap_or_default();
                words.split('+').any(|word| excerpt.split(' ').any(|it| it == word))
            };
            if !has_all || shown > hits || !items.iter().all(fits) {
                wrong.push(format!("{words} shows {shown} messages of {hits}"));
            }
        }
        Ok(wrong)
    }

    /// Searches ten times a second. Returns the statuses of the answers.
    async fn search_in_a_loop(
        &self,
        room: &Room,
        time: Duration,
    ) -> Result<BTreeMap<u16, usize>, String> {
        let mut random = Random::new(7);
        let mut tick = interval(Duration::from_millis(100));
        let until = Instant::now() + time;
        let mut statuses = BTreeMap::new();
        while Instant::now() < until {
            tick.tick().await;
            let words = Texts::query(random.below(QUERIES));
            let (status, _) = self.ask(&format!("q={words}&spaceId={}", room.space)).await?;
            *statuses.entry(status).or_default() += 1;
        }
        Ok(statuses)
    }
}
