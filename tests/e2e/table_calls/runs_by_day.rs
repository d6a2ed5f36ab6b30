//! The list of all runs, over several days.

use serde_json::json;
use smartspace_domain::{ids::EntityId, runs::RunStatus};
use smartspace_store::{runs::listing::RunFilter, table::pages::PageRequest};

use super::{at, counted::CountedStore, delivered, read};

const DAY: i64 = 24 * 60 * 60;

#[tokio::test]
async fn runs_of_many_days_are_listed_once_and_in_order() {
    let counted = CountedStore::new().await;
    let settings = json!({"type": "agent", "name": "Ada", "agent": {
        "model": {"provider": "scripted", "name": "m"},
    }});
    let agent = EntityId::new(at(0), 1);
    counted.store.entities().create(agent, read(settings), None, at(0)).await.unwrap();
    // One busy day, some with a run, and more than a month without any.
    let moments = (0..250).map(|number| 10 * number).chain([3 * DAY, 4 * DAY, 60 * DAY]);
    let mut runs = Vec::new();
    for moment in moments {
        runs.push(delivered(&counted, agent, 7, at(moment)).await);
    }
    runs.reverse();

    let now = at(61 * DAY);
    let everything = RunFilter::default();
    let mut listed = Vec::new();
    let mut cursor = None;
    let mut empty = 0;
    loop {
        let request = PageRequest { cursor, limit: Some(70) };
        let page = counted.store.runs().list_short(&everything, &request, now);
        let (page, cost) = Box::pin(counted.cost_of(page)).await;
        let page = page.unwrap();
        empty += usize::from(page.items.is_empty());
        assert!(cost.calls <= 32 * 17, "{} calls for a page", cost.calls);
        listed.extend(page.items.iter().map(|run| run.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed, runs);
    assert!(empty >= 1, "a month without runs ends a page");

    let request = PageRequest { cursor: None, limit: Some(200) };
    let span = RunFilter { since: Some(at(3 * DAY)), until: Some(at(5 * DAY)), ..everything };
    let page = counted.store.runs().list_short(&span, &request, now).await.unwrap();
    assert_eq!(page.items.iter().map(|run| run.id).collect::<Vec<_>>(), runs[1..3]);
    let none = RunFilter { status: Some(RunStatus::Failed), until: Some(at(DAY)), ..everything };
    let page = counted.store.runs().list_short(&none, &request, now).await.unwrap();
    assert_eq!(page.items.len(), 0);
}
