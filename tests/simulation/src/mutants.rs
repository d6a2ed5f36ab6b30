//! Mutants: each removes one mechanism of the product, and the oracle must notice.
//!
//! A check that finds nothing proves nothing. The product itself has no switches: a mutant changes
//! the product's calls on their way to the table, and the table's responses on their way back.
//!
//! [`Mutant::before`] distributes the changes of a transaction to one module for each subject:
//! `messages`, `changes`, `runs`, `lanes`, `cursors`, `plans`, `forms`, `approvals`, `outside`,
//! `budgets`, `prompts`, `searches`, `revisions` and `applies`, single writes to `runs`, `frames`,
//! `spaces`, `budgets`, `prompts`, `changes`, `rates` and `applies`, and queries to `searches`.
//! `writes` reads and edits the transaction's JSON for all of them. `promises` has the promises
//! that mutants break, and `parameters` the deployments in which they do.

mod applies;
mod approvals;
mod budgets;
mod changes;
mod cursors;
mod forms;
mod frames;
mod lanes;
mod messages;
mod outside;
mod parameters;
mod plans;
mod promises;
mod prompts;
mod rates;
mod revisions;
mod runs;
mod searches;
mod spaces;
mod writes;

use clap::ValueEnum;
use serde_json::{Value, json};
use smartspace_domain::Time;

use crate::{chance::Chance, storage::Storage};

/// A response of the table: its status and its body.
type RawResponse = (u16, String);

/// The place at which a mutant draws its random numbers. The numbers depend on this name.
const PLACE: &str = "mutant";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Mutant {
    /// Promise 1: a message is answered before it is stored, and then is not stored.
    AnswersBeforeKeeping,
    /// Promise 1: the runs that a message triggers are not part of its transaction.
    LosesRuns,
    /// Promise 1: idempotency keys are not stored.
    ForgetsKeys,
    /// Promise 1: a failed condition does not return the existing item, so no token is recognized
    /// after a lost answer.
    ForgetsTokens,
    /// Promise 1: delivery keys are not stored, so a repeated webhook triggers again.
    ForgetsDeliveries,
    /// Promise 1: a retry is made again if it exists already.
    RetriesAgain,
    /// Promise 1: a message joins a run that has ended.
    JoinsEndedRun,
    /// Promise 1: the card of a call shows a picture that is not kept with it.
    ForgetsPictures,
    /// Promise 2: now and then a number is left out.
    SkipsNumbers,
    /// Promise 2: nothing checks that a number is free.
    OverwritesNumbers,
    /// Promise 3: a call's effect is stored without its result.
    ForgetsResults,
    /// Promise 3: a model's answer is not stored before its calls run.
    ForgetsAnswers,
    /// Promise 3: the answer with which a run ends is not stored with its message.
    LosesLastAnswers,
    /// Promise 3: a run that a message triggered ends with a message to another space.
    EndsInOtherSpace,
    /// Promise 3: the beginning of a hidden external call is not stored.
    ForgetsBeginnings,
    /// Promise 3: a worker that takes over does not see hidden external calls that began, and
    /// repeats them.
    RepeatsWhatBegan,
    /// Promise 3: an external call gets its result and its card does not.
    ForgetsCards,
    /// Promise 3: a run ends and its cards of external calls stay open.
    LeavesCallsOpen,
    /// Promise 4: which results were cut is not stored with the step.
    ForgetsCuts,
    /// Promise 4: a run's writes do not check its lease.
    IgnoresLeases,
    /// Promise 4: a run is claimed even if another worker holds it.
    ClaimsAnyway,
    /// Promise 4: a cancellation is answered and not stored.
    CancelsNothing,
    /// Promise 5: runs are not due: only queues know of them.
    ForgetsDuties,
    /// Promise 5: nothing looks for overdue items.
    SweepsNothing,
    /// Promise 5: a run ends without the other writes of its transaction.
    FinishesInParts,
    /// Promise 5: a run is handed to a remote agent as if its webhook had been sent already.
    ForgetsUnsent,
    /// Promise 5: nothing looks for a run once its remote agent has got the webhook.
    AbandonsRemoteRuns,
    /// Promise 6: every message has the depth of a person's message.
    ForgetsDepth,
    /// Promise 6: the depth is counted and never checked.
    IgnoresDepth,
    /// Promise 6: lanes do not count how often an agent answers agents.
    ForgetsAutoReplies,
    /// Promise 6: a space does not remember which chains were stopped in it.
    IgnoresStoppedChains,
    /// Promise 4: a call reports that it stopped or absorbed another run, which continues.
    AbsorbsNothing,
    /// Promise 4: the call that ended a run is not stored, so a repeat finds the run ended and
    /// loses its actions.
    ForgetsAbsorbing,
    /// Promise 7: an answer is stored, and its run is neither due nor queued.
    ForgetsWaitingRuns,
    /// Promise 7: a run ends and its forms stay open.
    LeavesFormsOpen,
    /// Promise 7: nothing checks that a form is still open.
    AnswersTwice,
    /// Promise 7: a plan fires, and its next time is a second write, before which the process may
    /// die.
    FiresInParts,
    /// Promise 7: nothing checks that a plan still has the time for which it fires.
    FiresAnyway,
    /// Promise 7: plans are not due: only alarms know their times.
    ForgetsTimes,
    /// Promise 8: a completed run's cursor moves to the newest message.
    ReadsToTheNewest,
    /// Promise 8: cursors do not move.
    ForgetsReading,
    /// Promise 8: cursors also move back.
    ReadsBackwards,
    /// The limits: tokens that a connection has used are not counted.
    ForgetsTokensOfFrames,
    /// Live events: read positions wait for ever if the job that tells them was lost.
    AbandonsReads,
    /// Live events: posting does not count as reading.
    LeavesUnread,
    /// Promise 9: leaving a space does not change the roster's version.
    KeepsRosterVersion,
    /// Promise 9: nothing checks whether a sender is a member.
    IgnoresMembership,
    /// Promise 10: the messages of a second are not counted.
    ForgetsSeconds,
    /// Promise 10: messages do not move their space in the list by activity.
    KeepsOldPlaces,
    /// Promise 10: the tool cards of a space are not counted.
    CountsNoCards,
    /// Promise 1: a repeated job dispatches a message again, long after it was dispatched.
    DispatchesAgain,
    /// Promise 10: a run starts when its agent has no free slot.
    IgnoresSlots,
    /// Promise 10: runs do not wait for those before them in their lane.
    IgnoresLanes,
    /// Promise 10: a run that ends keeps its slot and its place in its lane.
    KeepsTurns,
    /// Promise 1: a message joins a queued run, which does not learn of it.
    ForgetsJoined,
    /// Promise 10: a model is asked although its budget has no room.
    IgnoresBudgets,
    /// Promise 10: a call that was answered stays reserved.
    ForgetsSettling,
    /// Promise 10: what a run has used is not added up.
    ForgetsUsage,
    /// Promise 9: an invite that is used up or revoked is used again.
    OverusesInvites,
    /// Promise 10: an event for some connections reaches only the first of them.
    LosesParts,
    /// Promise 10: a run in a large room never learns that somebody asks for a snapshot.
    ForgetsSnapshots,
    /// Promise 5: an item of a deleted space is not deleted.
    LeavesItems,
    /// Promise 10: a process whose clock is behind begins a minute of runs again.
    ResetsMinutes,
    /// Promise 10: jobs are sent with characters that SQS refuses.
    SendsRawCharacters,
    /// Promise 10: the counter of frames about subscriptions is ignored.
    AppliesOlderFrames,
    /// Promise 10: `subscribe` reads the space before it follows it.
    ReadsBeforeFollowing,
    /// Promise 2: a worker's cache keeps open cards that it has read, whatever becomes of them.
    KeepsOldCards,
    /// Promise 2: a worker's cache leaves out the messages since it was filled.
    LeavesOutMessages,
    /// Promise 2: a summary covers a message that its model has not read.
    SummarizesUnread,
    /// Promise 4: a worker does not renew its claim on a summary, and stores it without the claim.
    StoresLostSummaries,
    /// Promise 7: a form accepts answers for ten minutes after its time.
    AcceptsLateAnswers,
    /// Promise 7: a person who approves a call twice counts twice.
    CountsPeopleTwice,
    /// Promise 7: a rule that denies a call asks people instead.
    AsksInsteadOfDenying,
    /// Promise 7: an edit keeps the approvals of the input before it.
    KeepsOldApprovals,
    /// Promise 7: a worker that takes over does not see that an approved call began, and makes it
    /// again.
    UsesApprovalsTwice,
    /// Promise 7: a worker that takes over makes the calls behind one that waits for people.
    SkipsWaitingCalls,
    /// Promise 10: a deleted file still counts.
    CountsDeletedFiles,
    /// Promise 5: a space ends that an entity has joined again.
    EndsJoinedSpaces,
    /// Promise 10: the calls of routers are not counted against the sender.
    ForgetsRouterCalls,
    /// Promise 13: a run that leaves a question to silence is not due.
    DropsSkipDuty,
    /// Promise 1: the gate scores a message without the newest one before it, as if the append had
    /// not read again after a lost race.
    ScoresWithoutHead,
    /// Promise 14: a deleted message is forgotten while runs that have read it work on.
    ForgetsWithoutWaiting,
    /// Promise 14: the parts that prompts share keep the text of a deleted message.
    KeepsSharedParts,
    /// Promise 14: the runs of agents that have left the space keep the text of a deleted message.
    SkipsFormerAgents,
    /// Promise 14: a deletion leaves the summary of its space, and the claim on it, as they are.
    KeepsSummaryClaim,
    /// Promise 2: a worker's cache does not learn that messages were edited or deleted.
    CachesChangedMessages,
    /// Promise 14: an edit does not see that its message was deleted.
    EditsTombstones,
    /// Promise 14: a reaction is stored under another form of its emoji, so that it counts again.
    ReactsTwice,
    /// Promise 14: a reply is not among the messages of its thread.
    LosesThreadItems,
    /// Promise 14: a deleted message still counts as naming its files.
    ForgetsUses,
    /// Promise 15: a block is stored although a message was changed since its messages were read.
    BuildsWithoutRev,
    /// Promise 15: edits and deletions leave the blocks of their messages as they are.
    EditsKeepBlocks,
    /// Promise 15: a search does not read the messages that no block covers.
    SkipsGaps,
    /// Promise 15: a search reads blocks from a copy that lags behind.
    ReadsOldBlocks,
    /// Promise 15: a search does not look whether its caller is still a member.
    SearchesLeftSpaces,
    /// Promise 16: a change of an agent is stored without its revision.
    LosesRevisions,
    /// Promise 17: what was applied of an object is not stored with it.
    ForgetsApplied,
    /// Promise 17: an apply does not check that an object is as it was found.
    OverwritesChanges,
    /// Promise 17: an apply that died blocks its project for ever.
    KeepsLocks,
}

impl Mutant {
    /// Changes a call on its way to the table. Returns a response if the call must not reach the
    /// table.
    pub fn before(
        self,
        chance: &Chance,
        storage: &Storage,
        operation: &str,
        request: &mut Value,
    ) -> Option<RawResponse> {
        if self == Self::SweepsNothing && request["IndexName"] == "GSI1" {
            return Some((200, json!({"Items": [], "Count": 0}).to_string()));
        }
        if operation == "GetItem" && frames::hides(self, request) {
            return Some((200, "{}".into()));
        }
        if [Self::IgnoresMembership, Self::SearchesLeftSpaces].contains(&self) {
            messages::find_departed(storage, operation, request);
        }
        if operation == "Query" {
            searches::change_query(self, request);
            if let Some(answered) = searches::answer_query(self, storage, request) {
                return Some(answered);
            }
        }
        if operation == "DeleteItem" && spaces::keeps(self, request) {
            return Some((200, "{}".into()));
        }
        if operation == "PutItem" {
            rates::change_put(self, request);
        }
        if let Some(answered) = self.before_single_write(storage, operation, request) {
            return Some(answered);
        }
        if operation != "TransactWriteItems" {
            return None;
        }
        let parts = request["TransactItems"].as_array_mut()?;
        frames::change(self, parts);
        spaces::change(self, parts);
        spaces::change_ends(self, parts);
        approvals::change(self, storage, parts);
        plans::change(self, chance, parts);
        cursors::change(self, storage, parts);
        lanes::change(self, parts);
        runs::change_posts(self, storage, parts);
        budgets::change(self, parts);
        prompts::change(self, parts);
        changes::change(self, chance, storage, parts);
        searches::change(self, parts);
        revisions::change(self, parts);
        applies::change(self, parts);
        messages::change(self, chance, parts)
            .or_else(|| runs::change(self, parts))
            .or_else(|| forms::change(self, parts))
            .or_else(|| outside::change(self, parts))
    }

    /// Changes a write that is not part of a transaction, or answers it.
    fn before_single_write(
        self,
        storage: &Storage,
        operation: &str,
        request: &mut Value,
    ) -> Option<RawResponse> {
        if operation == "UpdateItem" {
            runs::change_update(self, request);
            applies::change_update(self, request);
            if let Some(settled) = budgets::change_update(self, request) {
                return Some(settled);
            }
            frames::change_update(self, request);
            let answered = frames::answer_update(self, request)
                .or_else(|| prompts::answer_update(self, request));
            if answered.is_some() {
                return answered;
            }
        }
        let is_write = ["PutItem", "UpdateItem"].contains(&operation);
        is_write.then(|| changes::answer(self, storage, request)).flatten()
    }

    /// Whether the process dies after a call.
    pub fn dies(self, request: &Value) -> bool {
        plans::dies(self, request)
    }

    /// Changes a response of the table on its way back.
    /// `now` is the clock of the process that gets it.
    pub fn after(self, operation: &str, request: &Value, answer: &mut String, now: Time) {
        let changes = match self {
            Self::ForgetsTokens => operation == "TransactWriteItems",
            Self::IgnoresDepth
            | Self::IgnoresMembership
            | Self::SearchesLeftSpaces
            | Self::DispatchesAgain
            | Self::ResetsMinutes => {
                matches!(operation, "BatchGetItem" | "GetItem")
            }
            Self::AsksInsteadOfDenying | Self::CountsPeopleTwice | Self::CachesChangedMessages => {
                matches!(operation, "BatchGetItem" | "GetItem")
            }
            Self::RepeatsWhatBegan
            | Self::LeavesOutMessages
            | Self::ScoresWithoutHead
            | Self::SkipsFormerAgents
            | Self::UsesApprovalsTwice
            | Self::SkipsWaitingCalls => operation == "Query",
            Self::IgnoresLanes
            | Self::KeepsOldCards
            | Self::EditsTombstones
            | Self::ForgetsWithoutWaiting => operation == "BatchGetItem",
            Self::AcceptsLateAnswers => operation == "GetItem",
            _ => false,
        };
        if !changes {
            return;
        }
        let Ok(mut parsed) = serde_json::from_str::<Value>(answer) else { return };
        match self {
            Self::ForgetsTokens => messages::hide_existing_items(&mut parsed),
            Self::RepeatsWhatBegan => outside::hide(request, &mut parsed),
            Self::IgnoresDepth => messages::hide_depth_limit(&mut parsed),
            Self::DispatchesAgain => messages::hide_settling(&mut parsed),
            Self::ResetsMinutes => messages::hide_later_minutes(&mut parsed, now),
            Self::IgnoresLanes => lanes::hide_lanes(&mut parsed),
            Self::KeepsOldCards => prompts::hide_results(&mut parsed),
            Self::LeavesOutMessages => prompts::hide_new_messages(request, &mut parsed),
            Self::AcceptsLateAnswers => forms::give_time(&mut parsed),
            Self::ScoresWithoutHead => messages::hide_head(request, &mut parsed),
            Self::CountsPeopleTwice => approvals::rename_people(&mut parsed),
            Self::UsesApprovalsTwice => approvals::hide_beginnings(&mut parsed),
            Self::SkipsWaitingCalls => approvals::finish_waiting(&mut parsed),
            Self::AsksInsteadOfDenying => approvals::allow_denied(&mut parsed),
            Self::EditsTombstones => changes::hide_deletions(request, &mut parsed),
            Self::CachesChangedMessages => changes::hide_changes(request, &mut parsed),
            Self::ForgetsWithoutWaiting => changes::end_readers(&mut parsed),
            Self::SkipsFormerAgents => changes::hide_former(&mut parsed),
            _ => messages::hide_departures(&mut parsed),
        }
        *answer = parsed.to_string();
    }
}
