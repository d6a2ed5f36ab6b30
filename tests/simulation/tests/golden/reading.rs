//! Reads an item through the store that stands for the whole table.

use std::sync::Arc;

use serde_json::{Value, json};
use smartspace_domain::{
    Error, Time,
    budgets::BudgetScope,
    dispatch::WakeLimits,
    ids::{CallId, ConnectionId, EntityId, RunId, SpaceId},
};
use smartspace_embedded_table::{EmbeddedTable, NAME};
use smartspace_simulation::storage::samples::kind;
use smartspace_store::{
    Store,
    messages::Range,
    search::BlockBounds,
    table::{Table, dynamodb::DynamoDb, keys::Key, pages::PageRequest, schema},
    usage::UsageQuery,
};

/// A store whose table has only this item.
async fn store_with(item: &Value) -> (Store, Table) {
    let table = EmbeddedTable::in_memory().unwrap();
    schema::create_table(&table.client(), NAME).await.unwrap();
    let put = json!({"TableName": NAME, "Item": item}).to_string();
    let (status, answer) = table.answer("PutItem", put.as_bytes());
    assert_eq!(status, 200, "{answer}");
    let random = Arc::new(|| 4);
    (
        Store::new(table.client(), NAME, None, random.clone()),
        Table::new(Arc::new(DynamoDb::new(table.client(), NAME)), random),
    )
}

/// The part of a key after its prefix.
fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(item: &Value, key: &str) -> T {
    let text = item[key]["S"].as_str().unwrap();
    text.rsplit_once('#').unwrap().1.parse().unwrap()
}

/// Reads an item by the store's own API. Items that only a secret or its hash can find, and those
/// that other items must name, are read in the simulation of a later version.
pub(super) async fn read(item: &Value) -> Result<(), Error> {
    let (store, table) = store_with(item).await;
    let kind = kind(item);
    let (group, _) = kind.split_once('-').unwrap_or((&kind, ""));
    match group {
        "space" => read_of_space(&store, &table, item, &kind).await,
        "entity" | "invites" | "project" => read_of_entity(&store, &table, item, &kind).await,
        "run" => read_of_run(&store, item, &kind).await,
        "conn" | "presence" => read_of_connection(&store, item, &kind).await,
        "usage" | "budget" => read_sums(&store, item, &kind).await,
        _ => read_other(&store, item, &kind).await,
    }
}

async fn read_of_space(
    store: &Store,
    table: &Table,
    item: &Value,
    kind: &str,
) -> Result<(), Error> {
    match kind {
        "space-meta" => drop(table.get::<smartspace_store::spaces::SpaceRecord>(&key(item)).await?),
        "space-head" => drop(store.members().head(id(item, "PK")).await?),
        "space-card" => drop(store.spaces().overviews(&[id(item, "PK")]).await?),
        "space-member" => {
            store.members().get(id(item, "PK"), id::<EntityId>(item, "SK")).await?;
        }
        "space-conn" => drop(store.connections().followers(id(item, "PK")).await?),
        "space-msg" => {
            let space: SpaceId = id(item, "PK");
            drop(store.messages().list(space, Range::After(0), 10).await?);
        }
        "space-changes" => drop(store.messages().changes(id(item, "PK")).await?),
        "space-page" => {
            let seq = item["SK"]["S"].as_str().unwrap().trim_start_matches("PAGE#");
            let page = store.messages().page(id(item, "PK"), seq.parse().unwrap()).await?.unwrap();
            assert!(!page.tools.is_empty() && !page.context.is_empty());
        }
        "space-react" => {
            let seq = item["SK"]["S"].as_str().unwrap().trim_start_matches("REACT#");
            let reacted = [seq.parse().unwrap()];
            let (_, given) = store.messages().with_reactions(id(item, "PK"), &[], &reacted).await?;
            assert!(given.values().all(|reactions| !reactions.is_empty()));
        }
        "space-thread" => {
            let first = item["SK"]["S"].as_str().unwrap().split('#').nth(1).unwrap();
            let first = first.parse().unwrap();
            let thread = store.messages().thread(id(item, "PK"), first, Range::After(0), 10);
            assert_eq!(thread.await?.count, 2);
        }
        "space-summary" => drop(store.summaries().get(id(item, "PK")).await?),
        _ => {}
    }
    Ok(())
}

async fn read_of_entity(
    store: &Store,
    table: &Table,
    item: &Value,
    kind: &str,
) -> Result<(), Error> {
    let all = PageRequest::default();
    let long_ago = Time::default();
    match kind {
        "entity-conn" => {
            drop(store.connections().of_entity(id(item, "PK"), long_ago).await?);
        }
        "entity-gate" => {
            table.get::<WakeLimits>(&key(item)).await?;
        }
        "entity-meta" => drop(store.entities().any_record(id(item, "PK")).await?),
        "entity-ctx-active" | "entity-ctx-goal" | "entity-ctx-memory" | "entity-ctx-plan"
        | "entity-ctx-space" => {
            let agent: EntityId = id(item, "PK");
            let run = id(&json!({"PK": {"S": "RUN#run_00000000000000000000000000"}}), "PK");
            store.agent_state().context(agent, run).await?;
            store.goals().list(agent, &all).await?;
            store.memories().all(agent).await?;
            store.plans().all(agent).await?;
        }
        "entity-rev" => {
            assert_eq!(store.entities().revisions(id(item, "PK")).await?.len(), 1);
        }
        "entity-guest" => {
            table.get::<smartspace_store::invites::GuestRecord>(&key(item)).await?;
        }
        "project-meta" | "project-obj" => {
            let project = item["PK"]["S"].as_str().unwrap().trim_start_matches("PROJECT#");
            drop(store.projects().get(&project.parse().unwrap()).await?);
        }
        "invites-invite" => {
            drop(store.invites().of_space(id(item, "PK"), id(item, "SK")).await?);
        }
        _ => {}
    }
    Ok(())
}

async fn read_of_run(store: &Store, item: &Value, kind: &str) -> Result<(), Error> {
    match kind {
        "run-meta" => {
            let record = store.runs().record(id(item, "PK")).await?;
            store.runs().get(&record).await?;
        }
        "run-step" | "run-call" | "run-prompt" => {
            drop(store.steps().progress(id(item, "PK")).await?);
        }
        "run-fork" => drop(store.runs().fork_changes(id(item, "PK")).await?),
        "run-shown" => {
            store.runs().active_in_space(id::<SpaceId>(item, "SK")).await?;
        }
        "run-form" => {
            let call: CallId = id(item, "SK");
            store.forms().get(id::<RunId>(item, "PK"), call).await?;
        }
        _ => {}
    }
    Ok(())
}

async fn read_of_connection(store: &Store, item: &Value, kind: &str) -> Result<(), Error> {
    match kind {
        "presence-conn" | "presence-meta" => {
            drop(store.connections().presence(id(item, "PK")).await?);
        }
        "conn-was" => {
            let was = store.connections().disconnect(&ConnectionId(id(item, "PK"))).await?;
            assert!(!was.is_empty());
        }
        "conn-meta" => {
            let connection = ConnectionId(id(item, "PK"));
            store.connections().get(&connection, Time::default()).await?;
        }
        _ => {}
    }
    Ok(())
}

async fn read_sums(store: &Store, item: &Value, kind: &str) -> Result<(), Error> {
    match kind {
        "usage" => {
            let day = item["PK"]["S"].as_str().unwrap().split('#').nth(1).unwrap();
            let day = day.parse().unwrap();
            let query = UsageQuery { from: day, to: day, agent: None, space: None, by: Vec::new() };
            assert_ne!(store.usage().report(&query).await?.items, []);
        }
        "budget-meta" => {
            let pk = key(item).pk;
            let [_, scope, day] = pk.split('#').collect::<Vec<_>>()[..] else { unreachable!() };
            let agent = scope.parse().map(BudgetScope::Agent).ok();
            let space = scope.parse().map(BudgetScope::Space).ok();
            let scope = agent.or(space).unwrap_or(BudgetScope::Deployment);
            store.budgets().settle_left(scope, day.parse().unwrap(), "", |_| None).await?;
        }
        _ => {}
    }
    Ok(())
}

async fn read_other(store: &Store, item: &Value, kind: &str) -> Result<(), Error> {
    match kind {
        "files-file" => {
            // Also one that is being deleted.
            store.attachments().find_any(id(item, "PK"), id(item, "SK")).await?;
            store.attachments().left_in(id(item, "PK")).await?;
        }
        "find-block" => {
            let bounds = BlockBounds { before: 1_001, bytes: 1 << 20, without_block: 1_000 };
            store.blocks().read(id(item, "PK"), bounds).await?;
        }
        "find-meta" => {
            store.blocks().state(id(item, "PK")).await?;
        }
        "dlv-meta" => {
            let agent = item["agentId"]["S"].as_str().unwrap().parse().unwrap();
            store.deliveries().get(agent, id(item, "PK")).await?;
        }
        "mentions-msg" => {
            let (listed, _) =
                store.mentions().list(id(item, "PK"), None, 1, Time::default()).await?;
            assert_eq!(listed.len(), 1);
        }
        _ => {}
    }
    Ok(())
}

fn key(item: &Value) -> Key {
    let name = |key: &str| item[key]["S"].as_str().unwrap().to_owned();
    Key { pk: name("PK"), sk: name("SK") }
}
