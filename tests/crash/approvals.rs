//! An agent asks people and acts in one answer, again and again. Several people decide the act,
//! often at the same moment, and the process is killed in the middle of it. No act is done without
//! its approvals or twice, and no decision that was answered with 202 is lost.
//!
//! `SMARTSPACE_APPROVAL_PLAYS` is the number of plays (20). In three of ten a process is killed.
//! `SMARTSPACE_APPROVAL_SEED` is the seed of the decisions and the moments. It is printed.

mod bank;
mod play;

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use crate::{
    crash::{
        approvals::{bank::Bank, play::Play},
        kills::{
            chance::{self, Chance},
            number,
        },
    },
    support::{deployed::deployed, stack::Stack},
};

/// The default number of plays.
const PLAYS: u64 = 20;
/// The number of plays at the same time, each in a space of its own.
const AT_ONCE: u64 = 4;
/// The limit until a run has ended after its decisions, and until a request is answered.
const ENDED_WITHIN: Duration = Duration::from_mins(1);
/// The rounds of ten in which the process is killed.
const KILLED: [u64; 3] = [1, 4, 7];

/// How the plays ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Plays whose act has arrived at its server.
    pub(crate) done: usize,
    /// Plays whose act was approved, but has not arrived.
    pub(crate) unsent: usize,
    pub(crate) declined: usize,
    pub(crate) edited: usize,
    /// The decisions that were answered with 202, and with 409.
    pub(crate) accepted: usize,
    pub(crate) refused: usize,
}

impl Counts {
    fn add(&mut self, one: Self) {
        self.done += one.done;
        self.unsent += one.unsent;
        self.declined += one.declined;
        self.edited += one.edited;
        self.accepted += one.accepted;
        self.refused += one.refused;
    }
}

#[tokio::test]
async fn an_act_is_done_once_and_only_with_its_approvals_whatever_is_killed() {
    if let Some(deployed) = deployed() {
        deployed.skip("it needs a process of its own");
        return;
    }
    let plays = number("SMARTSPACE_APPROVAL_PLAYS").unwrap_or(PLAYS);
    let seed = number("SMARTSPACE_APPROVAL_SEED").unwrap_or_else(chance::seed);
    eprintln!("SMARTSPACE_APPROVAL_PLAYS={plays} SMARTSPACE_APPROVAL_SEED={seed}");
    let mut chance = Chance::new(seed);
    let (bank, mut stack) = Bank::found(AT_ONCE as usize).await;
    let mut counts = Counts::default();
    let mut killed = 0;
    for (round, first) in (0..plays).step_by(AT_ONCE as usize).enumerate() {
        let kills = KILLED.contains(&(round as u64 % 10));
        let numbers = first..plays.min(first + AT_ONCE);
        let spaces = bank.spaces.iter();
        let begun = numbers
            .zip(spaces)
            .map(|(number, space)| Play::begin(&bank, space, number, chance.branch()));
        let begun = join_all(begun.collect::<Vec<_>>()).await;
        let decisions = join_all(begun.iter().map(Play::decide));
        let after = chance.millis(0..250);
        let killing = async {
            if kills {
                sleep(after).await;
                kill(&bank, &mut stack).await;
            }
        };
        tokio::join!(decisions, killing);
        killed += if kills { begun.len() } else { 0 };
        for one in join_all(begun.iter().map(|play| play.judge(kills))).await {
            counts.add(one);
        }
    }
    eprintln!("{plays} plays, {killed} of them with a kill: {counts:?}");
    assert!(counts.done > 0, "no act was done");
}

/// Kills the process and starts another one on the same data.
async fn kill(bank: &Bank, stack: &mut Stack) {
    stack.kill9();
    stack.restart().await;
    bank.product.send_replace((**stack).clone());
}
