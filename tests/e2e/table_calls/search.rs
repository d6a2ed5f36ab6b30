//! What a search costs in calls of the table, before and after the job that builds blocks, and
//! what it costs those who post.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use smartspace_domain::{
    Time,
    found::SearchAnswer,
    ids::{EntityId, MessageId, SpaceId},
    search::{Filters, Query, Sort},
};
use smartspace_pipeline::{
    Pipeline,
    search::{SearchRequest, SearchScope},
};
use smartspace_ports::{clock::Clock, files::MemoryFiles};
use smartspace_store::messages::append::{Content, MessageSource, NewMessage};

use super::{
    at,
    blocks::scene,
    counted::{Cost, CountedStore},
    files::pipeline_of,
};

/// More messages than a call reads without blocks, and some that no block covers.
const MESSAGES: u32 = 1_250;

/// A clock that goes on by a second each time that somebody looks at it.
#[derive(Default)]
struct Seconds(AtomicI64);

impl Clock for Seconds {
    fn now(&self) -> Time {
        at(1_000 + self.0.fetch_add(1, Ordering::Relaxed))
    }
}

async fn search(
    counted: &CountedStore,
    pipeline: &Pipeline,
    person: EntityId,
    q: &str,
    cursor: Option<String>,
) -> (SearchAnswer, Cost) {
    let query = Query::parse(q, &Filters::default()).unwrap();
    let request = SearchRequest { query, sort: Sort::Relevance, limit: None, cursor };
    let searching = pipeline.search(SearchScope::Member(person), &request);
    let (answer, cost) = Box::pin(counted.cost_of(searching)).await;
    (answer.unwrap(), cost)
}

fn found(answer: &SearchAnswer) -> Vec<u64> {
    answer.items.iter().map(|item| item.seq).collect()
}

/// What it costs to post a message.
async fn post(
    counted: &CountedStore,
    pipeline: &Pipeline,
    space: SpaceId,
    sender: EntityId,
    number: u32,
) -> usize {
    let message = NewMessage {
        id: MessageId::new(at(i64::from(number)), number.into()),
        space,
        sender,
        content: Content::Text("One more".parse().unwrap()),
        files: Vec::new(),
        reply_to: None,
        by: MessageSource::External { key: None, depth: 0, page: None },
    };
    let (posted, cost) = Box::pin(counted.cost_of(pipeline.post(&message))).await;
    posted.unwrap();
    cost.calls
}

#[tokio::test]
async fn a_cold_space_is_searched_in_parts_and_then_with_blocks() {
    let counted = CountedStore::new().await;
    let texts = (1..=MESSAGES).map(|number| match number {
        10 | 1_240 => format!("needle {number}"),
        _ => format!("hay {number}"),
    });
    let (space, sara) = scene(&counted.store, texts).await;
    let pipeline = pipeline_of(&counted, &Arc::new(MemoryFiles::default()));
    post(&counted, &pipeline, space, sara, 2_001).await;
    let usual = post(&counted, &pipeline, space, sara, 2_002).await;
    let all = u64::from(MESSAGES) + 2;

    // The newest 1,000 messages at once, and the others with the cursor.
    let (first, _) = search(&counted, &pipeline, sara, "needle", None).await;
    assert_eq!((found(&first), first.searched.messages), (vec![1_240], 1_000));
    assert!(first.incomplete);
    let cursor = first.next_cursor;
    assert!(cursor.is_some());
    let (second, _) = search(&counted, &pipeline, sara, "needle", cursor).await;
    assert_eq!((found(&second), second.searched.messages), (vec![10], all - 1_000));
    assert!(!second.incomplete && second.next_cursor.is_none());
    let state = counted.store.blocks().state(space).await.unwrap();
    assert!(state.building_until.is_some(), "the first search starts a job");

    // With blocks one call searches all.
    pipeline.index_messages(space, None).await.unwrap();
    let (warm, cost) = search(&counted, &pipeline, sara, "needle", None).await;
    assert_eq!((found(&warm), warm.searched.messages), (vec![1_240, 10], all));
    assert!(!warm.incomplete && warm.next_cursor.is_none());
    // The caller's spaces, the head, the blocks, the newest messages, the batch, and the
    // membership.
    assert_eq!(cost.calls, 6);
    let (prefix, _) = search(&counted, &pipeline, sara, "needl*", None).await;
    assert_eq!(found(&prefix), found(&warm));
    let (none, _) = search(&counted, &pipeline, sara, "unicorn", None).await;
    assert_eq!((found(&none), none.searched.messages), (vec![], all));

    // A search makes later posts no dearer.
    assert_eq!(post(&counted, &pipeline, space, sara, 2_003).await, usual);
}

#[tokio::test]
async fn a_search_that_takes_too_long_goes_on_with_its_cursor() {
    let counted = CountedStore::new().await;
    let needles: Vec<u64> = (1..=20).map(|number| number * 50).collect();
    let texts = (1..=1_020).map(|number: u32| match number % 50 {
        0 => format!("needle {number}"),
        _ => format!("hay {number}"),
    });
    let (space, sara) = scene(&counted.store, texts).await;
    let usual = pipeline_of(&counted, &Arc::new(MemoryFiles::default()));
    usual.index_messages(space, None).await.unwrap();
    let slow = Pipeline { clock: Arc::new(Seconds::default()), ..usual };
    let (mut shown, mut cursor) = (Vec::new(), None);
    for call in 0.. {
        assert!(call < 100, "the search never ends");
        let (answer, _) = search(&counted, &slow, sara, "needle", cursor).await;
        assert!(call > 0 || answer.incomplete);
        assert!(answer.items.len() < needles.len());
        shown.extend(found(&answer));
        cursor = answer.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    shown.sort_unstable();
    assert_eq!(shown, needles);
}
