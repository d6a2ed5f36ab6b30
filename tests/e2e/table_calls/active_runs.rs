//! How much of an agent with many active runs a prompt reads.

use serde_json::json;
use smartspace_domain::ids::EntityId;

use super::{at, counted::CountedStore, delivered, read};

#[tokio::test]
async fn a_prompt_reads_the_newest_active_runs_and_its_own() {
    let counted = CountedStore::new().await;
    let settings = json!({"type": "agent", "name": "Ada", "agent": {
        "model": {"provider": "scripted", "name": "m"},
        "budget": {"runsPerMinute": 600},
    }});
    let id = EntityId::new(at(0), 1);
    let agent = counted.store.entities().create(id, read(settings), None, at(0)).await.unwrap();
    let mut runs = Vec::new();
    for number in 0..120 {
        runs.push(delivered(&counted, agent.id, 100 + number, at(1)).await);
    }
    runs.sort();
    let context = counted.store.agent_state().context(agent.id, runs[0]);
    let (context, cost) = Box::pin(counted.cost_of(context)).await;
    let mut shown: Vec<_> = context.unwrap().active.iter().map(|active| active.run_id).collect();
    assert_eq!(shown.pop(), Some(runs[0]));
    assert_eq!(shown, runs[70..]);
    // The newest items, and the run's own item.
    assert_eq!(cost.calls, 2);
    let newest = counted.store.agent_state().context(agent.id, runs[119]);
    let (newest, cost) = Box::pin(counted.cost_of(newest)).await;
    assert_eq!((newest.unwrap().active.len(), cost.calls), (50, 1));
    assert_eq!(counted.store.agent_state().active(agent.id).await.unwrap().len(), 120);
}
