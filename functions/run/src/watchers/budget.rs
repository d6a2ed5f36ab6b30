//! Reports that most of a budget, or all of it, is used.
//!
//! The model reads all reports. Of people, owners read those about the budget of their space, and
//! only the operator those about the budgets of an agent and of the deployment.

use smartspace_domain::{
    budgets::BudgetScope,
    steps::{BUDGET, SPACE_BUDGET, SystemMessage},
};
use smartspace_pipeline::spending::BudgetNotice;

use crate::watchers::{RunSnapshot, Watcher};

pub(super) const WATCHER: Watcher = Watcher { name: BUDGET, look: |run| texts(run, BUDGET) };
pub(super) const OF_SPACE: Watcher =
    Watcher { name: SPACE_BUDGET, look: |run| texts(run, SPACE_BUDGET) };

fn texts(run: &RunSnapshot<'_>, watcher: &str) -> Vec<String> {
    let own = run.budgets.iter().filter(|notice| watcher_of(notice.scope) == watcher);
    own.map(|notice| notice.text.clone()).collect()
}

/// Such a notice as a system message for people, when the run has no next step.
pub(crate) fn message(notice: BudgetNotice) -> SystemMessage {
    SystemMessage { watcher: watcher_of(notice.scope).to_owned(), text: notice.text }
}

fn watcher_of(scope: BudgetScope) -> &'static str {
    match scope {
        BudgetScope::Space(_) => SPACE_BUDGET,
        BudgetScope::Agent(_) | BudgetScope::Deployment => BUDGET,
    }
}
