//! Requests about the objects of files.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    Applier,
    files::{Files, Object},
};
use crate::client::Caller;

/// How often an apply is sent again until it is whole or refused. An apply that died blocks the
/// next one for a minute.
const TRIES: usize = 40;

/// What the API shows of an object.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    /// The project that manages it.
    pub(super) project: Option<String>,
    pub(super) is_described: bool,
}

impl Applier {
    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Option<(u16, Value)> {
        let who = self.files.project;
        let operator = Caller::Operator;
        self.deployment.http_with_retries(who, operator, method, path, None, body).await
    }

    /// Applies files until all is written or the apply is refused because of what they find.
    pub(super) async fn apply(
        &self,
        files: &Files,
        force: bool,
        prune: bool,
    ) -> Option<(u16, Value)> {
        let body = files.body(force, prune);
        let history = &self.deployment.env.history;
        history.note(files.project, || format!("applies {body}"));
        let mut last = None;
        for _ in 0..TRIES {
            let answer = self.ask(Method::POST, "/v1/apply", Some(&body)).await;
            history.note(files.project, || format!("gets {answer:?}"));
            match &answer {
                Some((200, done)) if done["applied"] == "all" => return answer,
                Some((409, problem)) if problem["results"].is_array() => return answer,
                Some((422, _)) => break,
                // Another apply is at work, or something was changed at the same time.
                _ => sleep(Duration::from_secs(5)).await,
            }
            last = answer;
        }
        self.report(format!("an apply never ends: {last:?}"));
        None
    }

    /// Changes the text of an object. Returns whether that was confirmed.
    pub(super) async fn change_by_hand(&self, object: Object, text: &str) -> bool {
        let Some(path) = self.path(object) else { return false };
        let (method, body) = match object {
            Object::Keeper | Object::Helper => {
                (Method::PATCH, json!({"agent": {"instructions": text}}))
            }
            Object::Room => (Method::PATCH, json!({"name": text})),
            Object::Report => (Method::PUT, json!({"instruction": text})),
        };
        let answer = self.ask(method, &path, Some(&body)).await;
        let history = &self.deployment.env.history;
        history.note(self.files.project, || format!("changes {path} by hand: {answer:?}"));
        answer.is_some_and(|(status, _)| status == 200)
    }

    /// What the API shows of an object. `None` if it did not answer.
    pub(super) async fn shown(&self, object: Object) -> Option<Shown> {
        let path = self.path(object)?;
        let is_plan = object == Object::Report;
        let path = if is_plan { path.rsplit_once('/')?.0 } else { &path };
        let (status, answer) = self.ask(Method::GET, path, None).await?;
        if status != 200 {
            self.report(format!("{object:?} is answered with {status}: {answer}"));
            return None;
        }
        let found = if is_plan { &answer["items"][0] } else { &answer };
        let text = match object {
            Object::Keeper | Object::Helper => &found["agent"]["instructions"],
            Object::Room => &found["name"],
            Object::Report => &found["instruction"],
        };
        Some(Shown {
            text: text.as_str().unwrap_or_default().to_owned(),
            project: found["managedBy"]["project"].as_str().map(str::to_owned),
            is_described: found["agent"]["description"].as_str().is_some_and(|it| !it.is_empty()),
        })
    }

    /// Whether an agent exists. `None` if the API did not answer.
    pub(super) async fn exists(&self, id: &str) -> Option<bool> {
        let answer = self.ask(Method::GET, &format!("/v1/entities/{id}"), None).await;
        answer.map(|(status, _)| status == 200)
    }

    fn path(&self, object: Object) -> Option<String> {
        let id = self.ids.get(&object)?;
        Some(match object {
            Object::Keeper | Object::Helper => format!("/v1/entities/{id}"),
            Object::Room => format!("/v1/spaces/{id}"),
            Object::Report => {
                let keeper = self.ids.get(&Object::Keeper)?;
                format!("/v1/agents/{keeper}/plans/{id}")
            }
        })
    }
}
