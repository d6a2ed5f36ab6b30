//! What became of the objects of an apply, in lines.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;
use smartspace_domain::{
    agents::revisions::Actor,
    field_changes::FieldChange,
    projects::{ApplySummary, Drift, ObjectAction, ObjectKind, ObjectResult},
};

use crate::{
    folder::Folder,
    output::{Colour, Output, counted, printable},
};

/// The paths of the files of objects.
pub(super) type Paths<'a> = BTreeMap<(ObjectKind, &'a str), &'a str>;

pub(super) fn paths(folder: &Folder) -> Paths<'_> {
    let objects = folder.objects.iter();
    objects.map(|it| ((it.kind, it.external_id.as_str()), it.path.as_str())).collect()
}

/// Writes what became of each object, except those that are as before.
pub(super) fn show(results: &[ObjectResult], paths: &Paths<'_>, output: &mut Output) {
    for result in results {
        let is_quiet = result.action == ObjectAction::Unchanged && !result.needs_force();
        if !is_quiet {
            show_one(result, paths, output);
        }
        for warning in &result.warnings {
            let (kind, name) = (result.kind.as_str(), printable(&result.external_id));
            output.problem(&format!("warning: {kind} {name}: {}", printable(warning)));
        }
    }
}

fn show_one(result: &ObjectResult, paths: &Paths<'_>, output: &mut Output) {
    let (colour, sign, word) = match result.action {
        _ if !result.drift.is_empty() => (Colour::Yellow, '!', "changed by hand"),
        ObjectAction::Failed => (Colour::Red, '!', "failed"),
        _ if result.error.is_some() => (Colour::Yellow, '!', "not of these files"),
        ObjectAction::Created => (Colour::Green, '+', "new"),
        ObjectAction::Changed => (Colour::Yellow, '~', "changed"),
        ObjectAction::Pruned => (Colour::Red, '-', "ended: no file names it"),
        ObjectAction::Released => (Colour::Red, '-', "left to people: no file names it"),
        ObjectAction::Unchanged => (Colour::Grey, '=', "unchanged"),
    };
    let sign = output.coloured(colour, &sign.to_string());
    let name = printable(&result.external_id);
    let path = paths.get(&(result.kind, result.external_id.as_str()));
    let path = path.map(|path| output.coloured(Colour::Grey, &format!("  {}", printable(path))));
    let (kind, path) = (result.kind.as_str(), path.unwrap_or_default());
    output.line(&format!("{sign} {kind} {name}: {word}{path}"));
    if let Some(error) = &result.error {
        output.line(&format!("    {}", printable(error)));
    }
    for drift in &result.drift {
        show_drift(drift, output);
    }
    let is_drift =
        |change: &&FieldChange| result.drift.iter().all(|it| it.pointer != change.pointer);
    for change in result.changes.iter().filter(is_drift) {
        let (from, to) = (value(change.from.as_ref()), value(change.to.as_ref()));
        output.line(&format!("    {}: {from} → {to}", printable(&change.pointer)));
    }
}

fn show_drift(drift: &Drift, output: &mut Output) {
    let Drift { pointer, applied, now, file, revision, at, by } = drift;
    let by = match by {
        None => String::new(),
        Some(Actor::AdminKey) => " with the admin key".to_owned(),
        Some(Actor::Entity { id }) => format!(" by {id}"),
        Some(Actor::Unknown) => " by somebody".to_owned(),
    };
    let at = at.map_or_else(String::new, |at| format!(" at {}", at.to_whole_seconds()));
    let made = match revision {
        Some(revision) => format!("  (revision {revision}{at}{by})"),
        None => String::new(),
    };
    let (now, file, applied) = (value(now.as_ref()), value(file.as_ref()), value(applied.as_ref()));
    output.line(&format!("    {}: {now} is there{made}", printable(pointer)));
    let was = if applied == file { String::new() } else { format!("; {applied} was applied last") };
    output.line(&format!("      the file says {file}{was}"));
}

fn value(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => format!("\"{}\"", printable(text)),
        Some(value) => printable(&value.to_string()),
    }
}

/// The counts of an apply, such as `1 new, 2 changed, 97 unchanged`.
pub(super) fn summed(summary: &ApplySummary) -> String {
    let ApplySummary { created, changed, unchanged, pruned, failed } = *summary;
    let counts = [
        (created, "new"),
        (changed, "changed"),
        (unchanged, "unchanged"),
        (pruned, "ended or left to people"),
        (failed, "failed"),
    ];
    let counts: Vec<_> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if counts.is_empty() { "no objects".to_owned() } else { counts.join(", ") }
}

/// How many objects would need force, in words, and what to do about it in this folder.
pub(super) fn advice(results: &[ObjectResult], folder: &Path) -> Option<String> {
    let of = |has: fn(&ObjectResult) -> bool| results.iter().filter(|it| has(it)).count();
    let drifted = of(|it| !it.drift.is_empty());
    let other = of(|it| it.drift.is_empty() && it.error.is_some());
    let mut texts = Vec::new();
    if drifted > 0 {
        let were = if drifted == 1 { "was" } else { "were" };
        let objects = counted(drifted, "object");
        texts.push(format!("{objects} {were} changed by hand"));
    }
    if other > 0 {
        let belong = if other == 1 { "does" } else { "do" };
        let objects = counted(other, "object");
        texts.push(format!("{objects} {belong} not belong to these files"));
    }
    let names: Vec<_> = results.iter().filter(|it| it.needs_force()).collect();
    let names = match names.as_slice() {
        [] => return None,
        [one] => format!(" {}", printable(&one.external_id)),
        _ => String::new(),
    };
    let folder = printable(&folder.display().to_string());
    Some(format!(
        "{}. `smartspace export config --to {folder}{names}` takes what is there into the files, \
         `apply --force` overwrites it.",
        texts.join(", ")
    ))
}
