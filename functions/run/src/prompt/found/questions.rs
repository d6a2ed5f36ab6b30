//! How well an agent finds what was said, if it searches for the words of a question.

use std::collections::BTreeSet;

use smartspace_domain::{
    found::{FoundMessage, Neighbour, SearchAnswer, Searched},
    ids::EntityId,
    messages::Message,
    search::{Block, Entry, Excerpt, Filters, Joined, Query, Ranking, Sort, join, numbers_of},
};

use super::{
    MAX_BYTES, MAX_HITS, senders,
    talk::{FACTS, Talk, minute, space},
    write_found,
};
use crate::prompt::{names::Names, tokens::count};

/// How many neighbours of a hit are shown on each side.
const AROUND: u64 = 2;
/// How many items a search returns.
const ITEMS: usize = 20;

fn blocks_of(talk: &Talk) -> Vec<Block> {
    let entries: Vec<Entry> = talk.messages.iter().filter_map(Entry::of).collect();
    entries.chunks(100).map(Block::of).collect()
}

/// The best items for a question.
fn items_of(blocks: &[Block], question: &str) -> (Query, Vec<Joined>) {
    let query = Query::parse(question, &Filters::default()).unwrap();
    let mut ranking = Ranking::new(&query);
    for (block, number) in blocks.iter().zip(0..) {
        ranking.add(space(), block.matches(&query, numbers_of(number)));
    }
    let now = minute(blocks.len() as u64 * 100);
    let mut items = join(&ranking.ordered(Sort::Relevance, now));
    items.truncate(ITEMS);
    (query, items)
}

fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[test]
fn no_question_copies_three_words_of_its_fact() {
    for (fact, question) in FACTS {
        let fact = words_of(fact);
        let copied: BTreeSet<&[String]> = fact.windows(3).collect();
        let question = words_of(question);
        assert!(question.windows(3).all(|words| !copied.contains(words)), "{question:?}");
    }
}

#[test]
fn four_of_five_questions_find_their_fact_among_ten_hits_of_five_thousand_messages() {
    let talk = Talk::of(5_000, &FACTS, 10, 4_950);
    let blocks = blocks_of(&talk);
    let mut missed = Vec::new();
    for ((_, question), fact) in FACTS.iter().zip(&talk.facts) {
        let (_, items) = items_of(&blocks, question);
        let is_shown = |item: &Joined| item.hit.seq.abs_diff(*fact) <= AROUND;
        if !items.iter().take(10).any(is_shown) {
            missed.push(question);
        }
    }
    println!("{} of {} questions miss their fact: {missed:#?}", missed.len(), FACTS.len());
    assert!(missed.len() <= FACTS.len() / 5, "{missed:#?}");
}

/// The answer that shows these items.
fn answer_of(talk: &Talk, query: &Query, items: &[Joined]) -> SearchAnswer {
    let message = |seq: u64| &talk.messages[seq as usize - 1];
    let last = talk.messages.len() as u64;
    let items = items.iter().map(|Joined { hit, also }| {
        let found = message(hit.seq);
        let before = hit.seq.saturating_sub(AROUND).max(1)..hit.seq;
        let after = hit.seq + 1..=(hit.seq + AROUND).min(last);
        FoundMessage {
            space_id: space(),
            space_name: "Team".into(),
            message_id: found.id,
            seq: found.seq,
            at: found.created_at,
            sender: found.sender.clone(),
            excerpt: Excerpt::of(&Entry::of(found).unwrap(), query).text,
            matches: Vec::new(),
            files: Vec::new(),
            score: hit.score,
            also_seqs: also.clone(),
            before: before.map(|seq| neighbour(message(seq))).collect(),
            after: after.map(|seq| neighbour(message(seq))).collect(),
        }
    });
    SearchAnswer {
        items: items.collect(),
        searched: Searched::default(),
        incomplete: false,
        ignored: Vec::new(),
        next_cursor: None,
    }
}

fn neighbour(message: &Message) -> Neighbour {
    Neighbour {
        message_id: message.id,
        seq: message.seq,
        at: message.created_at,
        sender: message.sender.clone(),
        text: message.text().to_owned(),
    }
}

#[test]
fn an_agent_reads_nine_of_ten_facts_that_are_up_to_fifty_thousand_messages_back() {
    let facts = &FACTS[..30];
    let talk = Talk::of(51_000, facts, 1_000, 50_000);
    let blocks = blocks_of(&talk);
    let mut names = Names::new(EntityId::new(minute(0), 1), []);
    let mut missed = Vec::new();
    for ((fact, question), seq) in facts.iter().zip(&talk.facts) {
        let (query, items) = items_of(&blocks, question);
        let answer = answer_of(&talk, &query, &items);
        names.add(senders(&answer));
        let text = write_found(&answer, &names, ITEMS, "").text;
        assert!(text.lines().filter(|line| line.starts_with("> #")).count() >= MAX_HITS, "{text}");
        assert!(text.len() <= MAX_BYTES, "{text}");
        let tokens = count(&text);
        assert!(tokens <= 1_500, "{tokens} tokens: {text}");
        let is_fact = |line: &str| {
            line.trim_start_matches(['>', ' ']).starts_with(&format!("#{seq} "))
                && line.contains(fact)
        };
        if !text.lines().any(is_fact) {
            missed.push(question);
        }
    }
    println!("{} of {} questions miss their fact: {missed:#?}", missed.len(), facts.len());
    assert!(missed.len() <= 3, "{missed:#?}");
}
