//! `toolSets: [crm]`: the tools and MCP servers of `tools/crm.yaml`, after the agent's own.

use super::FileTree;
use crate::{
    faults::FileFault,
    yaml::{self, Node, NodeKind},
};

/// Inserts the tool sets that an agent names.
pub(super) fn insert(tree: &FileTree, agent: &mut Node) -> Result<(), FileFault> {
    let Some(named) = agent.take("toolSets") else { return Ok(()) };
    let NodeKind::List(names) = &named.kind else {
        let detail = format!("expected a list of tool sets, got {}", named.kind_name());
        return Err(FileFault::new(named.origin, detail));
    };
    for name in names {
        let fault = |detail: String| FileFault::new(name.origin.clone(), detail);
        let text = name.text().filter(|text| super::is_external_id(text));
        let Some(text) = text else {
            return Err(fault("expected the name of a file in tools/".to_owned()));
        };
        let Some(path) = tree.find(&format!("tools/{text}")) else {
            return Err(fault(format!("there is no tool set tools/{text}.yaml")));
        };
        let set = yaml::read(&path, &tree.read(&path)?)?.root;
        insert_one(set, agent)?;
    }
    Ok(())
}

fn insert_one(set: Node, agent: &mut Node) -> Result<(), FileFault> {
    let origin = set.origin.clone();
    let NodeKind::Map(fields) = set.kind else {
        return Err(FileFault::new(origin, "expected a map with `tools` and `mcp`"));
    };
    for (name, line, value) in fields {
        let mut place = value.origin.clone();
        place.line = line;
        match name.as_str() {
            "tools" => append(agent, "tools", value)?,
            "mcp" => {
                let mut value = value;
                let servers = value.take("servers");
                if let Some((other, line, _)) = value.fields().first() {
                    place.line = *line;
                    let detail = format!("expected `servers` only, got {other:?}");
                    return Err(FileFault::new(place, detail));
                }
                let Some(servers) = servers else { continue };
                if agent.get("mcp").is_none() {
                    let kind = NodeKind::Map(Vec::new());
                    let mcp = Node { origin: place.clone(), kind };
                    push(agent, "mcp", place.line, mcp);
                }
                if let Some(mcp) = agent.get_mut("mcp") {
                    append(mcp, "servers", servers)?;
                }
            }
            _ => {
                let detail = format!("expected `tools` or `mcp`, got {name:?}");
                return Err(FileFault::new(place, detail));
            }
        }
    }
    Ok(())
}

fn append(target: &mut Node, name: &str, more: Node) -> Result<(), FileFault> {
    let NodeKind::List(more_items) = more.kind else {
        let detail = format!("expected a list, got {}", more.kind_name());
        return Err(FileFault::new(more.origin, detail));
    };
    match target.get_mut(name) {
        Some(Node { kind: NodeKind::List(items), .. }) => items.extend(more_items),
        // A wrong type is reported when the agent is checked.
        Some(_) => {}
        None => {
            let line = more.origin.line;
            push(
                target,
                name,
                line,
                Node { origin: more.origin, kind: NodeKind::List(more_items) },
            );
        }
    }
    Ok(())
}

fn push(target: &mut Node, name: &str, line: usize, value: Node) {
    if let NodeKind::Map(fields) = &mut target.kind {
        fields.push((name.to_owned(), line, value));
    }
}
