//! What is to become of objects that no file of the project names any more.

use smartspace_domain::{
    Result,
    projects::{Apply, ManagedBy, ObjectAction, ObjectKind, ObjectResult, drift_of},
};
use smartspace_store::projects::ObjectRecord;

use super::{
    comparison::{Planned, What, Work, value_at},
    found::{Existing, Found, existing},
};
use crate::Api;

/// Plans before agents, since the plans of an agent end with it.
pub(super) async fn plan(api: &Api, apply: &Apply, found: &Found) -> Result<Vec<Planned>> {
    let is_named = |record: &&ObjectRecord| {
        let is_target = |target: &super::found::Target| target.id == Some(record.id);
        let is_same = |object: &smartspace_domain::projects::Object| {
            object.kind == record.id.kind() && object.external_id == record.external_id
        };
        found.targets.iter().any(is_target) || apply.objects.iter().any(is_same)
    };
    let mut unnamed: Vec<_> = found.project.objects.iter().filter(|it| !is_named(it)).collect();
    unnamed.sort_by_key(|record| record.id.kind() != ObjectKind::Plan);
    let mut planned = Vec::new();
    for record in unnamed {
        let existing = existing(api, record.id).await?;
        planned.push(pruned(apply, record, existing));
    }
    Ok(planned)
}

fn pruned(apply: &Apply, record: &ObjectRecord, existing: Option<Existing>) -> Planned {
    let kind = record.id.kind();
    let is_own = |managed: &ManagedBy| {
        managed.project == apply.project.as_str()
            && managed.external_id.as_ref() == Some(&record.external_id)
    };
    // Another project may have taken it over, and people may have ended it.
    let existing = existing.filter(|it| it.managed_by().is_some_and(is_own));
    let drift = match existing.as_ref().and_then(Existing::document) {
        Some(now) if kind != ObjectKind::Space => {
            let gone = |_: &str| serde_json::Value::Null;
            drift_of(&record.fields, |pointer| value_at(&now, pointer), gone)
        }
        _ => Vec::new(),
    };
    let action = match kind {
        ObjectKind::Space => ObjectAction::Released,
        ObjectKind::Agent | ObjectKind::Plan => ObjectAction::Pruned,
    };
    let result = ObjectResult {
        kind,
        external_id: record.external_id.clone(),
        id: Some(record.id.shown()),
        action,
        revision: existing.as_ref().and_then(Existing::revision),
        changes: Vec::new(),
        drift,
        warnings: Vec::new(),
        error: None,
    };
    let managed_by = ManagedBy {
        project: apply.project.as_str().to_owned(),
        path: None,
        external_id: Some(record.external_id.clone()),
        commit: None,
        applied_at: None,
        revision: None,
    };
    let what = existing.map_or(What::Forget, |existing| What::End(Box::new(existing)));
    let (object, before) = (record.clone(), Some(record.clone()));
    Planned { result, work: Some(Box::new(Work { object, before, managed_by, other: None, what })) }
}
