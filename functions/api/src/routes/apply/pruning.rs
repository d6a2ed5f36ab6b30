//! Ends the objects of a project that its files do not name any more.

use serde_json::Value;
use smartspace_domain::{
    Result,
    projects::{Apply, ManagedBy, ManagedObject, ObjectAction, ObjectKind, ObjectResult, drift_of},
};
use smartspace_store::projects::ObjectRecord;

use super::{
    Applying,
    comparison::{Planned, What, Work, value_at},
    found::{Existing, Found, Target, existing},
};

/// Plans before agents, since the plans of an agent end with it.
pub(super) async fn plan(applying: Applying<'_>, found: &Found) -> Result<Vec<Planned>> {
    let Applying { api, apply, .. } = applying;
    let is_named = |record: &&ObjectRecord| {
        let is_target = |target: &Target| target.id == Some(record.id);
        let is_same = |object: &ManagedObject| {
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
    let is_own = |managed: &ManagedBy| managed.is(apply.project.as_str(), &record.external_id);
    // Another project may have taken it over, and people may have ended it.
    let existing = existing.filter(|it| it.managed_by().is_some_and(is_own));
    let drift = match existing.as_ref().and_then(Existing::document) {
        Some(now) if kind != ObjectKind::Space => {
            let gone = |_: &str| Value::Null;
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
    let what = existing.map_or(What::Forget, |existing| What::End(Box::new(existing)));
    let object = record.clone();
    let work = Work { object, before: None, managed_by: None, other: None, what };
    Planned { result, work: Some(Box::new(work)) }
}
