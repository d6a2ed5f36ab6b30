//! The deployments in which the absence of a mechanism shows.

use crate::{
    mutants::Mutant,
    parameters::{FEW_APPENDS, Parameters, SMALL_WINDOW},
};

impl Mutant {
    /// Changes the parameters so that the absence of the mechanism shows: with the faults that the
    /// mechanism handles, and without work that never needs it.
    pub fn adjust(self, parameters: &mut Parameters) {
        let rates = &mut parameters.fault_rates;
        match self {
            Self::ForgetsTokens => {
                rates.lost_answer = 30_000;
                parameters.keep_only_messages();
            }
            Self::ForgetsAbsorbing | Self::AnswersTwice => rates.lost_answer = 10_000,
            Self::ForgetsBeginnings | Self::RepeatsWhatBegan => {
                rates.under_way = rates.under_way.max(20_000);
            }
            Self::ForgetsPictures | Self::CountsDeletedFiles => parameters.files = true,
            Self::IgnoresSlots => {
                parameters.keep_agents_busy();
                parameters.mode = "parallel";
                parameters.max_runs = 1;
            }
            Self::IgnoresLanes => {
                parameters.keep_agents_busy();
                parameters.mode = "queue";
            }
            Self::KeepsTurns | Self::RetriesAgain => parameters.keep_agents_busy(),
            Self::IgnoresBudgets | Self::ForgetsSettling => parameters.save_tokens(),
            Self::ForgetsJoined => {
                parameters.keep_agents_busy();
                parameters.mode = "coalesce";
            }
            Self::LosesLastAnswers => parameters.ends_after_send = true,
            Self::JoinsEndedRun => {
                parameters.keep_agents_busy();
                parameters.mode = "coalesce";
            }
            Self::EndsInOtherSpace => {
                parameters.keep_agents_busy();
                parameters.spaces = 2;
            }
            Self::ForgetsUnsent | Self::AbandonsRemoteRuns => {
                rates.killed_before = rates.killed_before.max(2_000);
                parameters.remote = true;
            }
            Self::LeavesCallsOpen => rates.outside = 80_000,
            Self::ForgetsCuts => {
                rates.killed_before = rates.killed_before.max(2_000);
                parameters.keep_agents_busy();
                parameters.mode = "parallel";
                parameters.context_window = SMALL_WINDOW;
                parameters.outside = true;
                parameters.long_runs = true;
            }
            Self::ReadsToTheNewest | Self::ReadsBackwards => {
                parameters.keep_agents_busy();
                parameters.mode = "parallel";
                parameters.max_runs = 5;
            }
            Self::FiresAnyway => rates.slow = rates.slow.max(30_000),
            Self::SweepsNothing | Self::ForgetsDuties => rates.queue = rates.queue.max(5_000),
            Self::ForgetsTimes | Self::AbandonsReads => rates.alarm = 60_000,
            _ => self.adjust_clients(parameters),
        }
    }

    /// Changes what clients do, so that they need the mechanism often.
    fn adjust_clients(self, parameters: &mut Parameters) {
        match self {
            Self::KeepsRosterVersion => {
                parameters.keep_agents_busy();
                parameters.agents = 3;
                parameters.mode = "parallel";
                parameters.actions = 30;
            }
            Self::ForgetsAutoReplies => parameters.let_agents_talk(),
            Self::IgnoresStoppedChains => parameters.stop_chains(),
            Self::ForgetsTokensOfFrames => parameters.flood_connections(),
            Self::ForgetsSeconds => parameters.append_limit = FEW_APPENDS,
            Self::DispatchesAgain => parameters.make_crowd(),
            Self::KeepsOldCards | Self::CountsNoCards => parameters.show_cards(),
            Self::CountsPeopleTwice | Self::AsksInsteadOfDenying | Self::KeepsOldApprovals => {
                parameters.decide_calls();
            }
            Self::UsesApprovalsTwice | Self::SkipsWaitingCalls => {
                parameters.decide_calls();
                let rates = &mut parameters.fault_rates;
                rates.under_way = rates.under_way.max(60_000);
                rates.killed_before = rates.killed_before.max(2_000);
            }
            Self::StoresLostSummaries | Self::SummarizesUnread => parameters.need_summaries(),
            Self::AcceptsLateAnswers => {
                parameters.fault_rates.alarm = 400_000;
                parameters.show_cards();
                parameters.late_answers = 10;
            }
            Self::LosesParts | Self::ForgetsSnapshots => parameters.make_rooms_large(),
            Self::LeavesItems => parameters.delete_a_space(),
            Self::EndsJoinedSpaces => parameters.leave_spaces(),
            Self::ResetsMinutes => parameters.use_up_runs(),
            Self::ForgetsRouterCalls => parameters.ask_routers(),
            Self::DropsSkipDuty => {
                parameters.ask_questions();
                // A later message answers a question, so few are left to silence at the end.
                parameters.agents = 1;
                parameters.actions = 3;
                let rates = &mut parameters.fault_rates;
                rates.killed_before = rates.killed_before.max(40_000);
            }
            Self::ScoresWithoutHead => parameters.score_races(),
            Self::ForgetsApplied | Self::OverwritesChanges => parameters.apply_files(),
            Self::KeepsLocks => {
                parameters.apply_files();
                let rates = &mut parameters.fault_rates;
                rates.killed_before = rates.killed_before.max(20_000);
            }
            Self::AppliesOlderFrames | Self::ReadsBeforeFollowing => parameters.watch_closely(),
            _ => self.adjust_changes(parameters),
        }
    }

    /// Lets clients change messages, so that they need the mechanism often.
    fn adjust_changes(self, parameters: &mut Parameters) {
        match self {
            Self::KeepsSharedParts
            | Self::EditsTombstones
            | Self::ReactsTwice
            | Self::LosesThreadItems
            | Self::CachesChangedMessages => parameters.change_messages(),
            Self::ForgetsWithoutWaiting => {
                parameters.change_messages();
                parameters.slow_answers = 1_000;
                parameters.words = 12;
            }
            Self::SkipsFormerAgents => {
                parameters.change_messages();
                parameters.actions = 30;
            }
            Self::KeepsSummaryClaim => {
                parameters.need_summaries();
                parameters.changes = true;
                // The write of a summary waits for a deletion.
                parameters.fault_rates.held = 200_000;
            }
            Self::ForgetsUses => {
                parameters.change_messages();
                parameters.files = true;
            }
            Self::BuildsWithoutRev => {
                parameters.search_messages();
                // The write of a block waits for a change of its messages.
                parameters.fault_rates.held = 400_000;
            }
            Self::EditsKeepBlocks
            | Self::SkipsGaps
            | Self::ReadsOldBlocks
            | Self::SearchesLeftSpaces => parameters.search_messages(),
            _ => {}
        }
    }
}
