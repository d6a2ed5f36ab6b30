//! Where files come from: the commit, if there is one.

use std::{env, path::Path, process::Command};

use smartspace_domain::projects::ApplySource;

/// The commit of a folder, and its page if the program runs in a CI that says it.
pub(super) fn source(folder: &Path) -> ApplySource {
    let Some(head) = git(folder, &["rev-parse", "HEAD"]) else { return ApplySource::default() };
    let changed = git(folder, &["status", "--porcelain", "--", "."]);
    let is_clean = changed.is_some_and(|changed| changed.is_empty());
    let url = if is_clean { page(&head) } else { None };
    let commit = if is_clean { head } else { format!("{head}-dirty") };
    ApplySource { commit: Some(commit), url }
}

/// What Git says. `None` without Git, or outside a repository.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    // A folder that somebody else has sent must not run programs of its own.
    let safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    let answer = Command::new("git").arg("-C").arg(folder).args(safe).args(arguments).output();
    let answer = answer.ok().filter(|answer| answer.status.success())?;
    Some(String::from_utf8(answer.stdout).ok()?.trim_end().to_owned())
}

fn page(commit: &str) -> Option<String> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    if variable("GITHUB_SHA").as_deref() == Some(commit) {
        let (server, repository) = (variable("GITHUB_SERVER_URL")?, variable("GITHUB_REPOSITORY")?);
        return Some(format!("{server}/{repository}/commit/{commit}"));
    }
    if variable("CI_COMMIT_SHA").as_deref() == Some(commit) {
        return Some(format!("{}/-/commit/{commit}", variable("CI_PROJECT_URL")?));
    }
    None
}
