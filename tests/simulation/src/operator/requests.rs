//! The operator's requests. The ledger records those about plans.

use axum::http::Method;
use serde_json::{Value, json};
use smartspace_domain::{ids::EntityId, runs::RunStatus};
use tokio::time::Instant;

use crate::{
    client::Caller,
    ledger::{PlanAction, PlanRequest},
    locked,
    operator::{NAME, Operator},
};

impl Operator {
    /// The plans of an agent, or `None` if the request failed.
    pub(super) async fn list_plans(&self, agent: EntityId) -> Option<Value> {
        let path = format!("/v1/agents/{agent}/plans");
        let listed =
            self.deployment.http(NAME, Caller::Operator, Method::GET, &path, None, None).await;
        listed.ok().filter(|(status, _)| *status == 200).map(|(_, page)| page)
    }

    /// The newest runs, of all or with a status. None if the request failed.
    pub(super) async fn list_runs(&self, status: Option<RunStatus>) -> Vec<Value> {
        let filter = status.map_or_else(String::new, |it| format!("&status={}", it.as_str()));
        let path = format!("/v1/runs?limit=20{filter}");
        let listed =
            self.deployment.http(NAME, Caller::Operator, Method::GET, &path, None, None).await;
        let page = listed.ok().filter(|(status, _)| *status == 200);
        page.and_then(|(_, page)| page["items"].as_array().cloned()).unwrap_or_default()
    }

    /// Pauses or resumes an agent.
    pub(super) async fn pause(&self, agent: EntityId, paused: bool) {
        self.deployment
            .env
            .history
            .note(NAME, || format!("{} {agent}", if paused { "pauses" } else { "resumes" }));
        let body = json!({"agent": {"paused": paused}});
        self.deployment
            .http_with_retries(
                NAME,
                Caller::Operator,
                Method::PATCH,
                &format!("/v1/entities/{agent}"),
                None,
                Some(&body),
            )
            .await;
    }

    /// Sends a request about a plan until its outcome is known, and records the answer.
    pub(super) async fn ask(
        &self,
        agent: EntityId,
        plan: Option<String>,
        action: PlanAction,
        mut body: Value,
        place: &str,
    ) -> Option<(u16, Value)> {
        let path = format!("/v1/agents/{agent}/plans");
        let named = plan.as_deref().unwrap_or_default();
        let (method, path, key) = match action {
            PlanAction::Make => (Method::POST, path, Some(place)),
            PlanAction::Change => (Method::PUT, format!("{path}/{named}"), None),
            PlanAction::Drop => (Method::DELETE, format!("{path}/{named}"), None),
            PlanAction::Run => (Method::POST, format!("{path}/{named}/run"), Some(place)),
        };
        let is_written = matches!(action, PlanAction::Make | PlanAction::Change);
        if is_written {
            body["name"] = json!(place);
        }
        self.deployment
            .env
            .history
            .note(NAME, || format!("asks {action:?} {named} of {agent}: {body}"));
        let number = {
            let plans = &mut locked(&self.deployment.env.ledger).plans;
            let sent = Instant::now();
            plans.push(PlanRequest {
                agent,
                plan,
                action,
                body: body.clone(),
                sent,
                answer: None,
                answered_at: sent,
            });
            plans.len() - 1
        };
        let answer = self
            .deployment
            .http_with_retries(
                NAME,
                Caller::Operator,
                method,
                &path,
                key,
                is_written.then_some(&body),
            )
            .await;
        self.deployment
            .env
            .history
            .note(NAME, || format!("gets the answer to {place}: {answer:?}"));
        let asked = &mut locked(&self.deployment.env.ledger).plans[number];
        asked.answer.clone_from(&answer);
        asked.answered_at = Instant::now();
        answer
    }
}
