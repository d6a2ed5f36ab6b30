//! `smartspace rollback`.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use smartspace_client::{Page, Session};

use super::Target;
use crate::{
    connection::{all, connect},
    folder::{Environment, FileTree},
    output::{DONE, Output, Stop, printable},
};

#[derive(Debug, Args)]
pub struct Flags {
    /// The agent: its name in files, its id, or its name
    agent: String,
    /// The revision whose configuration it gets again [default: the one before the newest]
    #[arg(long, value_name = "N")]
    to: Option<u64>,
    #[command(flatten)]
    target: Target,
    /// The folder with the file of --env
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Agent {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    external_id: Option<String>,
    revision: Option<u64>,
    managed_by: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Revision {
    revision: u64,
}

pub(super) async fn run(flags: &Flags, output: &mut Output) -> Result<u8, Stop> {
    let environment = flags.target.environment(&flags.dir)?;
    let session = connect(flags.target.url.as_deref(), environment.as_ref())?;
    let agent = find(&session, &flags.agent).await?;
    let path = format!("/v1/agents/{}/revisions", agent.id);
    let revisions: Page<Revision> = session.get(&path, &[]).await?;
    let numbers: Vec<u64> = revisions.items.iter().map(|it| it.revision).collect();
    let name = printable(&agent.name);
    let to = flags.to.or_else(|| numbers.get(1).copied());
    let Some(to) = to.filter(|to| numbers.contains(to)) else {
        let kept = match (numbers.last(), numbers.first()) {
            (Some(first), Some(last)) if first != last => format!("{first} to {last} are kept"),
            _ => "there is only one".to_owned(),
        };
        return Err(Stop::said(format!("{name} has no such revision to go back to; {kept}")));
    };
    let path = format!("{path}/{to}/restore");
    let restored: Agent = session.post(&path, &json!({}), None).await?;
    let revision = restored.revision.map_or_else(String::new, |it| format!(", revision {it}"));
    output.line(&format!("{name} is as in revision {to} again{revision}."));
    if let Some(managed) = restored.managed_by.or(agent.managed_by) {
        let text = |name: &str| managed[name].as_str().map(printable);
        let project = text("project").unwrap_or_default();
        let file = text("path").unwrap_or_else(|| "a file".to_owned());
        output.line(&format!(
            "{file} of the project {project} says otherwise. Take this into the file with \
             `smartspace export config`, or the next apply is refused."
        ));
    }
    Ok(DONE)
}

/// The agent with this id, name in files, or name.
async fn find(session: &Session, wanted: &str) -> Result<Agent, Stop> {
    let mut named: Vec<Agent> = Vec::new();
    let entities: Vec<Agent> = all(session, "/v1/entities").await?;
    for agent in entities.into_iter().filter(|it| it.kind == "agent") {
        if agent.id == wanted || agent.external_id.as_deref() == Some(wanted) {
            return Ok(agent);
        }
        if agent.name == wanted {
            named.push(agent);
        }
    }
    match named.len() {
        0 => Err(Stop::said(format!("there is no agent {wanted:?}"))),
        1 => Ok(named.remove(0)),
        _ => {
            let ids: Vec<_> = named.into_iter().map(|agent| agent.id).collect();
            let ids = ids.join(", ");
            Err(Stop::said(format!("several agents are named {wanted:?}; give the id: {ids}")))
        }
    }
}

impl Target {
    /// The environment of `--env`, without the other files of its folder.
    pub(super) fn environment(&self, dir: &std::path::Path) -> Result<Option<Environment>, Stop> {
        let Some(name) = &self.env else { return Ok(None) };
        Ok(Some(Environment::read(&FileTree::open(dir)?, name)?))
    }
}
