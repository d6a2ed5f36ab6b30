//! `search_messages`: finds older messages by words, where everybody who reads along has been, too.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
};

use async_trait::async_trait;
use serde_json::{Value, json};
use smartspace_domain::{
    Error, Result,
    agents::SpacesShown,
    entities::EntityType,
    ids::{EntityId, SpaceId},
    search::{Filters, Query, Sort},
    tools::SEARCH_MESSAGES,
};
use smartspace_pipeline::search::{SearchRequest, SearchScope};
use smartspace_store::{Store, spaces::SpaceOverview};

use crate::{
    prompt::found::{senders, write_found},
    tools::{
        calling::{Calling, Outcome},
        input::text_of,
        naming::{named, space_of},
        tool::{BuiltInTool, Concurrency, Spec, ToolGroup},
    },
};

/// How many searches a run may make.
const MAX_SEARCHES: u32 = 10;
/// How many items a search asks for. Those that are not shown are counted.
const LIMIT: usize = 20;
/// The `spaceId` that stands for all spaces which the people of the active space share.
const ALL: &str = "all";
/// What a model reads that has found nothing in the active space.
const ELSEWHERE: &str = "spaceId \"all\" searches other spaces, too";

pub(crate) struct SearchMessages;

#[async_trait]
impl BuiltInTool for SearchMessages {
    fn spec(&self) -> Spec {
        Spec {
            name: SEARCH_MESSAGES.into(),
            description: "Search older messages by words.".into(),
            input: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string"},
                    "spaceId": {"type": "string"},
                    "from": {"type": "string"},
                    "before": {"type": "string"},
                    "after": {"type": "string"}
                },
                "required": ["query"],
                "additionalProperties": false
            }),
            read_only: true,
            changes_space: false,
            group: Some(ToolGroup::Search),
        }
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Reading
    }

    async fn call(&self, calling: &Calling<'_>, input: &Value) -> Result<Outcome> {
        let context = calling.context;
        if context.searches_made.fetch_add(1, Ordering::Relaxed) >= MAX_SEARCHES {
            return Ok(Outcome::error(format!(
                "{MAX_SEARCHES} searches in this run are enough; read_messages shows more around \
                 a number"
            )));
        }
        let scope = match scope_of(calling, input).await? {
            Ok(scope) => scope,
            Err(text) => return Ok(Outcome::error(text)),
        };
        let query = match query_of(calling, &scope, input).await? {
            Ok(query) => query,
            Err(error) => return refused(error),
        };
        let names_others = !query.from.is_empty() || !query.spaces.is_empty();
        let only_here = input.get("spaceId").is_none() && calling.active_space.is_some();
        let request =
            SearchRequest { query, sort: Sort::Relevance, limit: Some(LIMIT), cursor: None };
        let answer = match Box::pin(context.pipeline.search(scope, &request)).await {
            Ok(answer) => answer,
            Err(Error::NotFound(_)) if names_others => {
                return Ok(Outcome::error(
                    "there is no such sender or space; expected names or ids as the prompt has \
                     them",
                ));
            }
            Err(error) => return refused(error),
        };
        let mut names = calling.names.clone();
        names.add(senders(&answer));
        let lists_all = context.config.spaces_shown() == SpacesShown::All;
        let has_others = only_here && lists_all && !context.is_in_one_space;
        let elsewhere = if has_others { ELSEWHERE } else { "" };
        Ok(Outcome::lines(write_found(&answer, &names, LIMIT, elsewhere)))
    }
}

/// An error of a search as the result for the model, if the model has made a mistake.
fn refused(error: Error) -> Result<Outcome> {
    match error {
        Error::Invalid(faults) => {
            let texts = faults.iter().map(|fault| {
                let field = fault.pointer.trim_start_matches('/');
                let field = if field == "q" { "query" } else { field };
                format!("{field}: {}", fault.detail)
            });
            Ok(Outcome::error(texts.collect::<Vec<_>>().join("; ")))
        }
        Error::NotFound(text) => Ok(Outcome::error(text)),
        error => Err(error),
    }
}

/// The query of an input, whose sender is named as prompts name it.
async fn query_of(
    calling: &Calling<'_>,
    scope: &SearchScope,
    input: &Value,
) -> Result<Result<Query, Error>> {
    let text = |field: &str| input.get(field).and_then(Value::as_str).map(str::to_owned);
    let from = match text("from") {
        Some(given) => vec![sender_of(calling.context.store(), scope, &given).await?],
        None => Vec::new(),
    };
    let filters =
        Filters { from, before: text("before"), after: text("after"), ..Filters::default() };
    Ok(Query::parse(text_of(input, "query"), &filters))
}

/// The id or the name of the sender that a model names: `You`, `Sara`, `@Sara`, or
/// `"Sara"~7K2P` if several have the name.
async fn sender_of(store: &Store, scope: &SearchScope, given: &str) -> Result<String> {
    let given = given.trim().trim_end_matches(" (guest)");
    let name = given.trim_start_matches('@').trim_matches('"');
    if name.eq_ignore_ascii_case("you") {
        return Ok("me".to_owned());
    }
    if let SearchScope::Agent { spaces, .. } = scope
        && given.contains('~')
    {
        let cards = store.spaces().overviews(spaces).await?;
        let members = cards.values().flat_map(|card| &card.members);
        let members: BTreeMap<EntityId, &str> =
            members.map(|member| (member.sender.id, member.sender.name.as_str())).collect();
        if let Ok(id) = named(given, "sender", members.into_iter()) {
            return Ok(id.to_string());
        }
    }
    Ok(name.to_owned())
}

/// The spaces that a call searches. The error is for the model.
async fn scope_of(calling: &Calling<'_>, input: &Value) -> Result<Result<SearchScope, String>> {
    let context = calling.context;
    let agent = context.run.agent_id;
    let scope = |spaces| SearchScope::Agent { agent, spaces };
    let is_all = text_of(input, "spaceId").trim().eq_ignore_ascii_case(ALL);
    match (input.get("spaceId"), calling.active_space) {
        (Some(_), _) if !is_all => {
            let space = match space_of(calling, input, "spaceId").await? {
                Some(Ok(space)) => space,
                Some(Err(text)) => return Ok(Err(text)),
                None => return Ok(Err("spaceId: expected the name or id of a space".into())),
            };
            if context.store().members().get(space, agent).await?.is_none() {
                return Ok(Err(format!(
                    "you are not a member of {space}; YOUR SPACES lists where you are"
                )));
            }
            Ok(Ok(scope(vec![space])))
        }
        // Nobody reads along.
        (_, None) => Ok(Ok(SearchScope::Member(agent))),
        (None, Some(active)) => Ok(Ok(scope(vec![active]))),
        (Some(_), Some(active)) => {
            Ok(Ok(scope(shared_spaces(context.store(), agent, active).await?)))
        }
    }
}

/// The spaces of an agent in which every person of the active space is, too: what was said
/// elsewhere must not reach people through the agent who were not there.
async fn shared_spaces(store: &Store, agent: EntityId, active: SpaceId) -> Result<Vec<SpaceId>> {
    let spaces = store.agent_state().spaces(agent).await?;
    let cards = store.spaces().overviews(&spaces).await?;
    let Some(people) = people_of(store, &cards, active).await? else { return Ok(Vec::new()) };
    let mut shared = Vec::new();
    for (space, card) in &cards {
        let named = named_people(card);
        let has_all = people.is_subset(&named)
            || (card.count > card.members.len()
                && all_people(store, *space).await?.is_superset(&people));
        if *space == active || has_all {
            shared.push(*space);
        }
    }
    Ok(shared)
}

/// The people of the active space. `None` if the agent has left it.
async fn people_of(
    store: &Store,
    cards: &BTreeMap<SpaceId, SpaceOverview>,
    active: SpaceId,
) -> Result<Option<BTreeSet<EntityId>>> {
    let Some(card) = cards.get(&active) else { return Ok(None) };
    // A card names the first members only.
    let people = if card.count > card.members.len() {
        all_people(store, active).await?
    } else {
        named_people(card)
    };
    Ok(Some(people))
}

fn named_people(card: &SpaceOverview) -> BTreeSet<EntityId> {
    let people = card.members.iter().filter(|it| it.sender.kind == EntityType::Human);
    people.map(|member| member.sender.id).collect()
}

async fn all_people(store: &Store, space: SpaceId) -> Result<BTreeSet<EntityId>> {
    let rosters = store.members().rosters(&[space]).await?;
    let members = rosters.iter().flat_map(|roster| &roster.members);
    let people = members.filter(|member| member.kind == EntityType::Human);
    Ok(people.map(|member| member.entity_id).collect())
}
