//! People and a guest who search the archive, while people write, edit and delete messages in it,
//! and while one of them is not a member for a while.
//!
//! `writers` has the changes that they make.

mod writers;

use std::{sync::Arc, time::Duration};

use axum::http::Method;
use futures::future::join_all;
use serde_json::Value;
use smartspace_domain::ids::EntityId;
use tokio::time::{Instant, sleep};

use crate::{
    client::Caller,
    deployment::Deployment,
    fixtures::archive,
    ledger::{
        ChangeKind,
        searches::{Absence, Archive, SearchPage, SearchQuery, SentSearch, Term},
    },
    locked, markers,
};

/// How many searches each of them makes while the archive changes.
const SEARCHES: u64 = 12;
/// The longest pause between two searches, in seconds. A job builds blocks once a minute at most.
const PAUSE: u64 = 20;
/// How many pages a search reads.
const PAGES: usize = 8;

/// Somebody who searches.
pub(super) struct Searcher {
    deployment: Arc<Deployment>,
    archive: Archive,
    id: EntityId,
    bearer: String,
    name: String,
}

/// Lets everyone search and change the archive. At last it may be deleted, together with all other
/// spaces that are deleted in this seed.
pub(crate) async fn use_archive(deployment: Arc<Deployment>) {
    let searchers = searchers(&deployment);
    let (people, guests) = searchers.split_at(searchers.len().saturating_sub(1));
    let searching = searchers.iter().map(Searcher::search_often);
    let writing = (0..).zip(people).map(|(index, person)| person.write_often(index, people.len()));
    let leaves = async {
        // Somebody stays.
        if let [.., other, last] = people {
            last.leave_for_a_while(other).await;
        }
    };
    tokio::join!(join_all(searching), join_all(writing), leaves);
    if deployment.env.parameters.deletes_space
        && let [guest] = guests
    {
        guest.delete_archive().await;
    }
}

/// Searches for every text that an edit or a deletion has replaced or made, in the calm phase.
pub(crate) async fn search_for_changes(deployment: &Arc<Deployment>) {
    let searchers = searchers(deployment);
    let Some(person) = searchers.first() else { return };
    let (is_deleted, changes) = {
        let ledger = locked(&deployment.env.ledger);
        let of_archive = ledger.changes.iter().filter(|it| it.space == person.archive.space);
        let changes: Vec<_> = of_archive.cloned().collect();
        (ledger.deleted.contains(&person.archive.space), changes)
    };
    if is_deleted {
        return;
    }
    for (number, change) in changes.iter().enumerate() {
        let place = format!("calm/search/{number}");
        let texts = [Some(change.text.clone()), person.past_text(change.seq)];
        for marker in texts.iter().flatten().flat_map(|text| markers::all_in(text)) {
            person.search(&place, SearchQuery::word(marker), true).await;
        }
    }
}

/// All people and the guest, who is the last one. Nobody if there is no archive.
fn searchers(deployment: &Arc<Deployment>) -> Vec<Searcher> {
    let (archive, people) = {
        let ledger = locked(&deployment.env.ledger);
        (ledger.searches.archive.clone(), ledger.people.clone())
    };
    let Some(archive) = archive else { return Vec::new() };
    let guest = (archive.guest, archive.token.clone());
    let people = people.into_iter().map(|id| (id, Caller::Entity(id).bearer().unwrap_or_default()));
    let searcher = |(index, (id, bearer)): (usize, (EntityId, String))| Searcher {
        deployment: Arc::clone(deployment),
        archive: archive.clone(),
        id,
        bearer,
        name: format!("searcher {index}"),
    };
    people.chain([guest]).enumerate().map(searcher).collect()
}

impl Searcher {
    async fn search_often(&self) {
        for number in 0..SEARCHES {
            let place = format!("{}/{number}", self.name);
            let chance = &self.deployment.env.chance;
            sleep(chance.time(&place, Duration::ZERO, Duration::from_secs(PAUSE))).await;
            let query = self.draw(&place);
            let names_space = chance.happens(&place, 600);
            self.search(&place, query, names_space).await;
        }
    }

    /// Draws a query: for words of several messages, or for the own word of a text that is or was
    /// in the archive.
    fn draw(&self, place: &str) -> SearchQuery {
        let chance = &self.deployment.env.chance;
        let word = || archive::word(chance, place);
        let one = |term: Term| SearchQuery { terms: vec![term], ..SearchQuery::default() };
        match chance.below(place, 8) {
            0 => SearchQuery::word(&word()),
            1 => SearchQuery {
                terms: vec![Term::Word(word()), Term::Word(word())],
                ..SearchQuery::default()
            },
            2 => one(Term::Phrase(self.some_words(place))),
            3 => SearchQuery { without: Some(word()), ..one(Term::Word(word())) },
            // Ten of the words begin so.
            4 => one(Term::Prefix(word()[..5].to_owned())),
            5 => SearchQuery { from: Some(self.id), ..one(Term::Prefix(word()[..4].to_owned())) },
            6 => self.query_for_change(place).unwrap_or_else(|| SearchQuery::word(&word())),
            _ => SearchQuery::word(&markers::of(&format!(
                "archive/{}",
                1 + chance.below(place, self.archive.past.len() as u64)
            ))),
        }
    }

    /// Two neighbouring words of a message.
    fn some_words(&self, place: &str) -> Vec<String> {
        let chance = &self.deployment.env.chance;
        let past = &self.archive.past;
        let text = &past[chance.below(place, past.len() as u64) as usize];
        text.split_whitespace().skip(1).take(2).map(str::to_owned).collect()
    }

    /// A query for the text of an edit, or for the first text of a changed message.
    fn query_for_change(&self, place: &str) -> Option<SearchQuery> {
        let chance = &self.deployment.env.chance;
        let changes: Vec<_> = {
            let ledger = locked(&self.deployment.env.ledger);
            let of_archive = ledger.changes.iter().filter(|it| it.space == self.archive.space);
            of_archive.map(|change| (change.kind, change.seq, change.text.clone())).collect()
        };
        let chosen = chance.below(place, changes.len() as u64) as usize;
        let (kind, seq, text) = changes.get(chosen)?;
        let is_new = *kind == ChangeKind::Edit && chance.happens(place, 700);
        let text = if is_new { text.clone() } else { self.past_text(*seq)? };
        Some(SearchQuery::word(markers::all_in(&text).first()?))
    }

    /// The text that a message of the past had at first.
    fn past_text(&self, seq: u64) -> Option<String> {
        self.archive.past.get((seq as usize).checked_sub(1)?).cloned()
    }

    /// Searches once, page by page, and records all that it sees.
    async fn search(&self, place: &str, query: SearchQuery, names_space: bool) {
        let first = self.path(place, &query, names_space);
        let mut path = first.clone();
        let mut pages: Vec<SearchPage> = Vec::new();
        while pages.len() < PAGES {
            let from = Instant::now();
            let Some((status, body)) = self.get(&path).await else { break };
            let next = body["nextCursor"].as_str().map(encoded);
            pages.push(SearchPage { from, to: Instant::now(), status, body });
            let Some(next) = next.filter(|_| status == 200) else { break };
            path = format!("{first}&cursor={next}");
        }
        self.deployment
            .env
            .history
            .note(&self.name, || format!("searches by {first}: {} pages", pages.len()));
        if !pages.is_empty() {
            let search = SentSearch { by: self.id, query, names_space, pages };
            locked(&self.deployment.env.ledger).searches.sent.push(search);
        }
    }

    fn path(&self, place: &str, query: &SearchQuery, names_space: bool) -> String {
        let chance = &self.deployment.env.chance;
        let limit = [20, 20, 3][chance.below(place, 3) as usize];
        let mut parameters =
            vec![format!("q={}", encoded(&query.text())), format!("limit={limit}")];
        if names_space {
            parameters.push(format!("spaceId={}", self.archive.space));
        }
        parameters.extend(query.from.map(|sender| format!("from={sender}")));
        if chance.happens(place, 250) {
            parameters.push("sort=newest".into());
        }
        format!("/v1/search?{}", parameters.join("&"))
    }

    /// Sends a request once. Returns `None` if no answer came, or one about a fault.
    async fn get(&self, path: &str) -> Option<(u16, Value)> {
        let headers = [("authorization", format!("Bearer {}", self.bearer))];
        let deployment = &self.deployment;
        let answer =
            deployment.request(&self.name, Method::GET, path, &headers, String::new()).await;
        answer.ok().filter(|(status, _)| *status < 500 && *status != 429)
    }

    /// Is removed from the archive by the operator, searches, and is added again.
    async fn leave_for_a_while(&self, other: &Self) {
        let place = format!("{}/leaves", self.name);
        let chance = &self.deployment.env.chance;
        sleep(chance.time(&place, Duration::from_secs(5), Duration::from_mins(1))).await;
        let mut absence = Absence { entity: self.id, sent: Instant::now(), out: None, back: None };
        let number = {
            let absences = &mut locked(&self.deployment.env.ledger).searches.absences;
            absences.push(absence);
            absences.len() - 1
        };
        let is_out = self.change_membership(Method::DELETE).await == Some(204);
        let from = Instant::now();
        if is_out {
            let query = SearchQuery::word(&archive::word(chance, &place));
            self.search(&place, query.clone(), true).await;
            self.search(&place, query.clone(), false).await;
            other.search(&place, query, false).await;
        }
        sleep(chance.time(&place, Duration::ZERO, Duration::from_secs(40))).await;
        absence.out = is_out.then(|| (from, Instant::now()));
        let is_back = self.change_membership(Method::PUT).await == Some(200);
        absence.back = is_back.then(Instant::now);
        locked(&self.deployment.env.ledger).searches.absences[number] = absence;
    }

    /// Removes itself or adds itself again, as the operator. Returns the status.
    async fn change_membership(&self, method: Method) -> Option<u16> {
        let path = format!("/v1/spaces/{}/members/{}", self.archive.space, self.id);
        self.deployment.env.history.note(&self.name, || format!("{method} {path}"));
        let operator = Caller::Operator;
        let deployment = &self.deployment;
        let answer =
            deployment.http_with_retries(&self.name, operator, method, &path, None, None).await;
        answer.map(|(status, _)| status)
    }

    /// Deletes the archive, as the operator, while a job may build its blocks.
    async fn delete_archive(&self) {
        let Self { deployment, archive, name, .. } = self;
        let path = format!("/v1/spaces/{}", archive.space);
        self.search("archive/last", SearchQuery::word("tok000"), true).await;
        deployment.env.history.note(name, || format!("deletes {}", archive.space));
        locked(&deployment.env.ledger).deleted.insert(archive.space);
        for _ in 0..20 {
            let operator = Caller::Operator;
            let ask =
                |method| deployment.http_with_retries(name, operator, method, &path, None, None);
            ask(Method::DELETE).await;
            if ask(Method::GET).await.is_some_and(|(status, _)| status == 404) {
                return;
            }
        }
    }
}

/// A value of a query parameter.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(byte).collect()
}
