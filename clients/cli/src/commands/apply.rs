//! `smartspace apply` and `smartspace diff`.

use std::io::{self, BufRead, IsTerminal};

use clap::Args;
use serde_json::Value;
use smartspace_client::{Refusal, Session};
use smartspace_domain::projects::{Applied, Apply, ApplyAnswer, ObjectAction, ObjectResult};

use super::{
    Folder, Target,
    results::{advice, paths, show, summed},
    source::source,
};
use crate::{
    checks::Checked,
    connection::connect,
    output::{DONE, Output, PARTLY, REFUSED, Stop, counted},
};

#[derive(Debug, Args)]
pub struct Flags {
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    target: Target,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// End agents and plans of the project that no file names, and leave its spaces to people
    #[arg(long)]
    prune: bool,
    /// Do not ask before something ends
    #[arg(long)]
    yes: bool,
    /// Overwrite changes by hand, and take over what belongs to other files or to none
    #[arg(long)]
    force: bool,
    /// Write the deployment's answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct DiffFlags {
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    target: Target,
    /// Write the deployment's answer as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn diff(flags: &DiffFlags, output: &mut Output) -> Result<u8, Stop> {
    let (checked, session) = prepared(&flags.folder, &flags.target, output)?;
    let answer = asked(&session, &checked, &checked.apply, true).await?;
    let answer = match answer {
        Answer::Done(answer) => answer,
        Answer::Hindered { .. } => return Err(Stop::said("a dry run was refused")),
    };
    if flags.json {
        output.line(&answer.shown.to_string());
    } else {
        show(&answer.parsed.results, &paths(&checked.folder), output);
        output.line(&summed(&answer.parsed.summary));
        if let Some(advice) = advice(&answer.parsed.results, &flags.folder.dir) {
            output.line(&advice);
        }
    }
    let is_same = |it: &ObjectResult| it.action == ObjectAction::Unchanged && !it.needs_force();
    Ok(if answer.parsed.results.iter().all(is_same) { DONE } else { PARTLY })
}

pub(super) async fn run(flags: &Flags, output: &mut Output) -> Result<u8, Stop> {
    let (checked, session) = prepared(&flags.folder, &flags.target, output)?;
    let mut apply = checked.apply.clone();
    apply.source = source(&flags.folder.dir);
    (apply.force, apply.prune) = (flags.force, flags.prune);
    if let Err(smartspace_domain::Error::Invalid(faults)) = apply.check() {
        return Err(checked.placed(&faults).into());
    }
    if flags.prune && !flags.yes && !flags.dry_run {
        confirm(&session, &checked, &apply, output).await?;
    }
    match asked(&session, &checked, &apply, flags.dry_run).await? {
        Answer::Done(answer) => Ok(done(flags, &checked, &answer, output)),
        Answer::Hindered { results, shown } => {
            if flags.json {
                output.line(&shown.to_string());
            } else {
                show(&results, &paths(&checked.folder), output);
            }
            let advice = advice(&results, &flags.folder.dir).unwrap_or_default();
            Err(Stop::said(format!("Nothing was written. {advice}")))
        }
    }
}

fn prepared(
    folder: &Folder,
    target: &Target,
    output: &mut Output,
) -> Result<(Checked, Session), Stop> {
    let checked = Checked::read(&folder.dir, target.env.as_deref())?;
    output.warnings(&checked.warnings);
    let session = connect(target.url.as_deref(), checked.environment.as_ref())?;
    Ok((checked, session))
}

fn done(flags: &Flags, checked: &Checked, answer: &Done, output: &mut Output) -> u8 {
    let Done { parsed, shown } = answer;
    let advice =
        advice(&parsed.results, &flags.folder.dir).filter(|_| flags.dry_run && !flags.force);
    if flags.json {
        output.line(&shown.to_string());
    } else {
        show(&parsed.results, &paths(&checked.folder), output);
        let counts = summed(&parsed.summary);
        output.line(&match parsed.applied {
            _ if flags.dry_run => format!("Would apply: {counts}"),
            Applied::All => format!("Applied: {counts}"),
            Applied::Partly | Applied::None => {
                format!("Applied a part only: {counts}. The next apply writes the rest.")
            }
        });
    }
    if let Some(advice) = advice {
        output.problem(&format!("It would be refused. {advice}"));
        return REFUSED;
    }
    if flags.dry_run || parsed.applied == Applied::All { DONE } else { PARTLY }
}

/// An answer, and as it came.
struct Done {
    parsed: ApplyAnswer,
    shown: Value,
}

/// How a deployment has answered. All other refusals are errors.
enum Answer {
    Done(Done),
    /// It was refused because of what is there.
    Hindered {
        results: Vec<ObjectResult>,
        shown: Value,
    },
}

async fn asked(
    session: &Session,
    checked: &Checked,
    apply: &Apply,
    is_dry_run: bool,
) -> Result<Answer, Stop> {
    let other = |error: serde_json::Error| {
        let own = env!("CARGO_PKG_VERSION");
        Stop::said(format!("the answer is of another version than {own}: {error}"))
    };
    let body = serde_json::to_value(apply).map_err(other)?;
    let refusal: Refusal = match session.apply::<Value>(&body, is_dry_run).await {
        Ok(shown) => {
            let parsed = serde_json::from_value(shown.clone()).map_err(other)?;
            return Ok(Answer::Done(Done { parsed, shown }));
        }
        Err(refusal) => refusal,
    };
    if let Some(shown) = refusal.results {
        let results = serde_json::from_value((*shown).clone()).map_err(other)?;
        return Ok(Answer::Hindered { results, shown: *shown });
    }
    if refusal.errors.is_empty() {
        return Err(refusal.into());
    }
    let mut faults = checked.placed(&refusal.errors);
    for fault in &mut faults {
        if fault.detail.contains("(this is Smartspace ") {
            let own = env!("CARGO_PKG_VERSION");
            fault.detail = format!("{}; this command is {own}", fault.detail);
        }
    }
    Err(faults.into())
}

/// Asks whether what no file names shall end, if there is such a thing.
async fn confirm(
    session: &Session,
    checked: &Checked,
    apply: &Apply,
    output: &mut Output,
) -> Result<(), Stop> {
    if !io::stdin().is_terminal() {
        let expected = "expected --yes with --prune where nobody can be asked";
        return Err(Stop::said(format!("{expected}; `apply --dry-run --prune` shows what ends")));
    }
    let results = match asked(session, checked, apply, true).await? {
        Answer::Done(answer) => answer.parsed.results,
        Answer::Hindered { results, .. } => results,
    };
    let ends =
        |it: &ObjectResult| matches!(it.action, ObjectAction::Pruned | ObjectAction::Released);
    let ending: Vec<_> = results.into_iter().filter(ends).collect();
    if ending.is_empty() {
        return Ok(());
    }
    show(&ending, &paths(&checked.folder), output);
    output.ask(&format!("Go on, and end {}? [y/N] ", counted(ending.len(), "object")));
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    if ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()) {
        Ok(())
    } else {
        Err(Stop::said("Nothing was written."))
    }
}
