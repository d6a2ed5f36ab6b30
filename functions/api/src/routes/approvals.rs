//! `/v1/agents/{id}/approvals/preview`: says what a call would need.

use std::{ops::RangeInclusive, sync::Arc};

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smartspace_domain::{
    Error, Result,
    approvals::{ApprovalRule, Approvers, CheckedCall, Named, Verdict, verdict},
    entities::Entity,
    ids::{AllowanceId, EntityId, SpaceId},
    limits::CARD_BYTES,
    spaces::Space,
};
use utoipa::ToSchema;

use super::store_for_agent;
use crate::{
    Api,
    annotated_routes::{Routes, routes},
    answers::ApiResult,
    auth::Authenticated,
    input::{Body, Id},
};

/// How many characters the name of a tool has.
const TOOL_NAME: RangeInclusive<usize> = 1..=128;

pub(super) fn routes() -> Routes {
    routes![preview]
}

/// A call that is not made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SuggestedCall {
    /// The name of the tool, as the model sees it.
    #[schema(min_length = 1, max_length = 128)]
    tool: String,
    /// The input, at most 64 KiB of JSON.
    input: Value,
    /// The space in which the call would be made. The default is none.
    space_id: Option<SpaceId>,
}

/// What happens to a call.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum PreviewedVerdict {
    /// It is made.
    Make,
    /// It is refused.
    Deny,
    /// It waits for people.
    Ask,
}

/// What a call would need.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ApprovalPreview {
    /// What happens to the call.
    verdict: PreviewedVerdict,
    /// The place of the rule that decides in the list of rules, from 0. Null if none does.
    #[schema(required)]
    rule: Option<usize>,
    /// Who may decide, if the rule asks.
    #[schema(required)]
    by: Option<Approvers>,
    /// How many people have to approve, if the rule asks.
    #[schema(required)]
    quorum: Option<u32>,
    /// The allowance for which the call is made although the rule asks.
    #[schema(required)]
    allowance_id: Option<AllowanceId>,
}

impl ApprovalPreview {
    fn of(verdict: PreviewedVerdict, rule: Option<usize>) -> Self {
        Self { verdict, rule, by: None, quorum: None, allowance_id: None }
    }

    fn asking(rule: &ApprovalRule, index: usize, allowance_id: Option<AllowanceId>) -> Self {
        let verdict = match allowance_id {
            Some(_) => PreviewedVerdict::Make,
            None => PreviewedVerdict::Ask,
        };
        Self {
            by: Some(rule.by.clone()),
            quorum: Some(rule.quorum),
            allowance_id,
            ..Self::of(verdict, Some(index))
        }
    }
}

/// Preview what a call needs
///
/// Says what the agent's rules and allowances would do with a call. Nothing is called, stored or
/// asked.
#[utoipa::path(
    post, path = "/v1/agents/{id}/approvals/preview", operation_id = "previewApproval",
    tag = "agents",
    params(("id" = EntityId, Path)),
    request_body = SuggestedCall,
    responses((status = 200, body = ApprovalPreview))
)]
async fn preview(
    State(api): State<Arc<Api>>,
    Authenticated(caller): Authenticated,
    Id(agent): Id<EntityId>,
    body: Body,
) -> ApiResult<Json<ApprovalPreview>> {
    store_for_agent(&api, caller, agent).await?;
    let call: SuggestedCall = body.read()?;
    if !TOOL_NAME.contains(&call.tool.chars().count()) {
        return Err(Error::invalid("/tool", "expected 1 to 128 characters").into());
    }
    let bytes = call.input.to_string().len();
    if bytes > CARD_BYTES {
        let text = format!("expected an input of at most {CARD_BYTES} bytes, got {bytes}");
        return Err(Error::TooLarge(text).into());
    }
    let agent = api.pipeline.store.entities().agent(agent).await?;
    let space = match call.space_id {
        Some(id) => Some(space_of(&api, id).await?),
        None => None,
    };
    Ok(Json(previewed(&api, &agent, space.as_ref(), &call).await?))
}

async fn space_of(api: &Api, id: SpaceId) -> Result<Space> {
    match api.pipeline.store.spaces().get(id).await {
        Err(Error::NotFound(_)) => Err(Error::invalid("/spaceId", "expected an existing space")),
        found => found,
    }
}

async fn previewed(
    api: &Api,
    agent: &Entity,
    space: Option<&Space>,
    call: &SuggestedCall,
) -> Result<ApprovalPreview> {
    let Some(config) = &agent.agent else {
        return Ok(ApprovalPreview::of(PreviewedVerdict::Make, None));
    };
    let call = CheckedCall {
        tool: &call.tool,
        input: &call.input,
        agent: Named { id: agent.id, name: agent.name.as_str() },
        space: space.map(|space| Named { id: space.id, name: space.settings.name.as_str() }),
    };
    Ok(match verdict(&config.approvals, &call) {
        Verdict::Make => ApprovalPreview::of(PreviewedVerdict::Make, None),
        Verdict::Deny(_, index) => ApprovalPreview::of(PreviewedVerdict::Deny, Some(index)),
        Verdict::Ask(rule, index) => {
            let now = api.pipeline.now();
            let allowances = api.pipeline.store.allowances().of_agent(agent.id, now).await?;
            let tool = config.tool_fingerprint(call.tool);
            let fitting = allowances.iter().find(|it| it.fits(rule, &call, &tool, now));
            ApprovalPreview::asking(rule, index, fitting.map(|allowance| allowance.id))
        }
    })
}
