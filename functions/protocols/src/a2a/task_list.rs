//! `ListTasks`: the tasks of the agent in one context, or in all contexts of the caller.
//!
//! Tasks are sorted by the time of their status, which no list of the API is. So all runs of the
//! agent are read first. These are not many: an agent is in at most 100 spaces.

use std::{cmp::Reverse, collections::BTreeMap, fmt, str::FromStr};

use futures::{StreamExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smartspace_client::{Page, Refusal, Session as ApiSession};
use smartspace_domain::{
    Time,
    ids::{RunId, SpaceId},
    runs::{Run, RunStatus},
    spaces::Space,
};

use crate::a2a::{
    AgentCall,
    request::TaskListRequest,
    rpc::RpcError,
    task_runs::{TaskMessages, TaskRun, TaskStatus, answering_run},
    tasks::{TaskDetail, bare_task, task_json},
};

/// The maximum and the default number of tasks on a page.
const MAX_TASKS: usize = 100;
const DEFAULT_TASKS: usize = 50;
/// How many items a page of the API has.
const PAGE_ITEMS: usize = 200;
/// How many of the newest runs of a context are read.
const MAX_RUNS: usize = 2_000;
/// How many requests are made at the same time.
const PARALLEL_READS: usize = 4;

/// The states that A2A knows, besides the one that stands for any.
const STATES: [&str; 8] = [
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
];
const ANY_STATE: &str = "TASK_STATE_UNSPECIFIED";

/// A task of the list.
#[derive(Debug)]
struct ListedTask {
    task: TaskRun,
    status: TaskStatus,
    /// The messages of a task that waits. They say since when.
    messages: Option<TaskMessages>,
}

/// The position of a task in the list, and the token of a page that starts after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    at: Time,
    id: RunId,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.as_millis(), self.id)
    }
}

impl FromStr for Position {
    type Err = RpcError;

    fn from_str(token: &str) -> Result<Self, RpcError> {
        let parse = || {
            let (at, id) = token.split_once('.')?;
            Some(Self { at: Time::from_millis(at.parse().ok()?), id: id.parse().ok()? })
        };
        parse().ok_or_else(|| {
            RpcError::invalid("pageToken: expected the nextPageToken of the previous page")
        })
    }
}

/// Which tasks a list has.
#[derive(Debug)]
struct TaskFilter {
    /// `None` for any.
    state: Option<String>,
    since: Option<Time>,
    /// The last task of the previous page.
    after: Option<Position>,
    size: usize,
}

impl TaskFilter {
    fn of(request: &TaskListRequest) -> Result<Self, RpcError> {
        let TaskListRequest { status, page_size, page_token, status_timestamp_after, .. } = request;
        let state = Some(status.clone()).filter(|state| !["", ANY_STATE].contains(&state.as_str()));
        if state.as_ref().is_some_and(|state| !STATES.contains(&state.as_str())) {
            return Err(RpcError::invalid("status: expected a state such as TASK_STATE_WORKING"));
        }
        let size = page_size.unwrap_or(DEFAULT_TASKS);
        if !(1..=MAX_TASKS).contains(&size) {
            let detail = format!("pageSize: expected 1 to {MAX_TASKS}, got {size}");
            return Err(RpcError::invalid(detail));
        }
        let after = Some(page_token).filter(|token| !token.is_empty());
        let after = after.map(|token| token.parse::<Position>()).transpose()?;
        Ok(Self { state, since: *status_timestamp_after, after, size })
    }

    fn fits(&self, listed: &ListedTask) -> bool {
        self.state.as_ref().is_none_or(|state| state == listed.status.state)
            && self.since.is_none_or(|since| listed.status.at >= since)
    }
}

impl ListedTask {
    fn position(&self) -> Position {
        Position { at: self.status.at, id: self.task.run.id }
    }
}

/// The tasks that the caller may see, the one whose status changed last first.
pub(super) async fn list(call: &AgentCall, request: TaskListRequest) -> Result<Value, RpcError> {
    let filter = TaskFilter::of(&request)?;
    let spaces = contexts(call, &request.context_id).await?;
    let reads: Vec<_> = spaces.into_iter().map(|space| tasks_of(call, space)).collect();
    let tasks: Vec<Vec<_>> = stream::iter(reads).buffered(PARALLEL_READS).try_collect().await?;
    let mut tasks: Vec<_> = tasks.into_iter().flatten().filter(|task| filter.fits(task)).collect();
    tasks.sort_by_key(|task| Reverse(task.position()));
    let total = tasks.len();
    tasks.retain(|task| filter.after.is_none_or(|after| task.position() < after));
    let is_last = tasks.len() <= filter.size;
    tasks.truncate(filter.size);
    let last = tasks.last().filter(|_| !is_last).map(|task| task.position().to_string());
    // Without being asked, a list has neither: each takes a request for each task.
    let detail = TaskDetail {
        artifacts: request.include_artifacts,
        history: Some(request.history_length.unwrap_or(0)),
    };
    let shown: Vec<_> = tasks.into_iter().map(|task| shown(call, task, detail)).collect();
    let shown: Vec<_> = stream::iter(shown).buffered(PARALLEL_READS).try_collect().await?;
    Ok(json!({
        "tasks": shown,
        "nextPageToken": last.unwrap_or_default(),
        "pageSize": filter.size,
        "totalSize": total,
    }))
}

async fn shown(
    call: &AgentCall,
    listed: ListedTask,
    detail: TaskDetail,
) -> Result<Value, RpcError> {
    let ListedTask { task, status, messages } = listed;
    let has_detail = detail.artifacts || detail.history != Some(0);
    let messages = match messages {
        None if has_detail => Some(messages_of(call, &task).await?),
        messages => messages,
    };
    match messages {
        Some(messages) => Box::pin(task_json(call, &task, &messages, detail)).await,
        None => Ok(bare_task(&task, status)),
    }
}

/// The spaces that are listed. A context that the caller does not know has no tasks.
async fn contexts(call: &AgentCall, context: &str) -> Result<Vec<SpaceId>, RpcError> {
    if !context.is_empty() {
        return Ok(context.parse::<SpaceId>().into_iter().collect());
    }
    let is_shared = |space: &Space| space.members.iter().any(|member| member.id == call.agent.id);
    let mut contexts = Vec::new();
    let mut cursor = None;
    loop {
        let page: Page<Space> = read_page(&call.api, "/v1/spaces", cursor).await?;
        contexts.extend(page.items.iter().filter(|space| is_shared(space)).map(|space| space.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(contexts);
        }
    }
}

/// The tasks of the agent in a space.
async fn tasks_of(call: &AgentCall, space: SpaceId) -> Result<Vec<ListedTask>, RpcError> {
    let runs = match runs_of(call, space).await {
        Err(refusal) if refusal.status == 404 => return Ok(Vec::new()),
        runs => runs?,
    };
    let by_id: BTreeMap<_, _> = runs.iter().map(|run| (run.id, run)).collect();
    let mut tasks = Vec::new();
    for run in &runs {
        let known = run.into_run_id.and_then(|into| by_id.get(&into));
        let answering = match known {
            Some(known) => Run::clone(known),
            None => answering_run(call, run).await?,
        };
        let task = TaskRun { run: run.clone(), answering, space };
        tasks.push(listed(call, task).await?);
    }
    Ok(tasks)
}

async fn listed(call: &AgentCall, task: TaskRun) -> Result<ListedTask, RpcError> {
    if task.answering.status != RunStatus::WaitingTool {
        return Ok(ListedTask { status: task.status(), task, messages: None });
    }
    let messages = messages_of(call, &task).await?;
    Ok(ListedTask { status: task.status_with(&messages), task, messages: Some(messages) })
}

/// The runs of the agent that messages of a space triggered.
async fn runs_of(call: &AgentCall, space: SpaceId) -> Result<Vec<Run>, Refusal> {
    let path = format!("/v1/spaces/{space}/runs");
    let mut runs = Vec::new();
    let mut read = 0;
    let mut cursor = None;
    loop {
        let page: Page<Run> = read_page(&call.api, &path, cursor).await?;
        read += page.items.len();
        // A fork is a dry run, which answers nobody.
        let is_task = |run: &Run| run.agent_id == call.agent.id && run.fork_of.is_none();
        runs.extend(page.items.into_iter().filter(is_task));
        cursor = page.next_cursor;
        if cursor.is_none() || read >= MAX_RUNS {
            return Ok(runs);
        }
    }
}

async fn messages_of(call: &AgentCall, task: &TaskRun) -> Result<TaskMessages, Refusal> {
    let mut retries = 0;
    loop {
        match task.messages(&call.api).await {
            Err(refusal) => refusal.wait_before_retry(&mut retries).await?,
            messages => return messages,
        }
    }
}

/// Reads a page of a list. Waits while the caller has made too many requests.
async fn read_page<T: DeserializeOwned>(
    api: &ApiSession,
    path: &str,
    cursor: Option<String>,
) -> Result<Page<T>, Refusal> {
    let mut query = vec![("limit", PAGE_ITEMS.to_string())];
    query.extend(cursor.map(|cursor| ("cursor", cursor)));
    let mut retries = 0;
    loop {
        match api.get(path, &query).await {
            Err(refusal) => refusal.wait_before_retry(&mut retries).await?,
            page => return page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{at, run, run_id};

    fn filter(request: Value) -> Result<TaskFilter, String> {
        let request = serde_json::from_value(request).map_err(|error| error.to_string())?;
        TaskFilter::of(&request).map_err(|error| error.json()["message"].to_string())
    }

    #[test]
    fn a_page_has_1_to_100_tasks() {
        assert_eq!(filter(json!({})).unwrap().size, 50);
        assert_eq!(filter(json!({"pageSize": 100})).unwrap().size, 100);
        for size in [json!(0), json!(101), json!(-1), json!("x")] {
            assert!(filter(json!({"pageSize": size})).is_err(), "{size}");
        }
    }

    #[test]
    fn a_page_token_is_a_position() {
        let position = Position { at: at(), id: run_id(1) };
        let token = position.to_string();
        assert_eq!(filter(json!({"pageToken": token})).unwrap().after, Some(position));
        for token in ["x", "5", "5.x", ".", "x.run_01KHRMMJH0E9GMVWFGJ4G07AEN"] {
            let error = filter(json!({"pageToken": token})).unwrap_err();
            assert!(error.contains("nextPageToken"), "{token}: {error}");
        }
    }

    #[test]
    fn a_list_has_the_tasks_of_a_state_and_from_a_time_on() {
        let listed = |status: &str| {
            let run = *run(1, 1, status, &json!({"finishedAt": at()}));
            let task = TaskRun { answering: run.clone(), run, space: SpaceId::new(at(), 1) };
            ListedTask { status: task.status(), task, messages: None }
        };
        let fits = |request: Value, status: &str| filter(request).unwrap().fits(&listed(status));
        assert!(fits(json!({}), "completed"));
        assert!(fits(json!({"status": "TASK_STATE_UNSPECIFIED"}), "failed"));
        assert!(fits(json!({"status": "TASK_STATE_COMPLETED"}), "completed"));
        assert!(!fits(json!({"status": "TASK_STATE_COMPLETED"}), "failed"));
        assert!(filter(json!({"status": "TASK_STATE_LOST"})).is_err());
        assert!(fits(json!({"status_timestamp_after": at()}), "completed"));
        let later = Time::from_millis(at().as_millis() + 1);
        assert!(!fits(json!({"statusTimestampAfter": later}), "completed"));
        assert!(filter(json!({"statusTimestampAfter": "yesterday"})).is_err());
    }
}
