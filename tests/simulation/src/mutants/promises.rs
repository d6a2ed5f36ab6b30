//! The promises that mutants break.

use crate::mutants::Mutant;

impl Mutant {
    /// The promise that this mutant breaks.
    pub fn promise(self) -> u8 {
        match self {
            Self::AnswersBeforeKeeping
            | Self::LosesRuns
            | Self::ForgetsKeys
            | Self::ForgetsTokens
            | Self::ForgetsDeliveries
            | Self::RetriesAgain
            | Self::ForgetsPictures
            | Self::ForgetsJoined
            | Self::JoinsEndedRun
            | Self::DispatchesAgain
            | Self::ScoresWithoutHead => 1,
            Self::SkipsNumbers
            | Self::OverwritesNumbers
            | Self::KeepsOldCards
            | Self::LeavesOutMessages
            | Self::CachesChangedMessages
            | Self::SummarizesUnread => 2,
            Self::ForgetsResults
            | Self::ForgetsAnswers
            | Self::LosesLastAnswers
            | Self::EndsInOtherSpace
            | Self::ForgetsBeginnings
            | Self::RepeatsWhatBegan
            | Self::ForgetsCards
            | Self::LeavesCallsOpen => 3,
            Self::ForgetsCuts
            | Self::IgnoresLeases
            | Self::ClaimsAnyway
            | Self::CancelsNothing
            | Self::AbsorbsNothing
            | Self::ForgetsAbsorbing
            | Self::StoresLostSummaries => 4,
            Self::ForgetsDuties
            | Self::SweepsNothing
            | Self::FinishesInParts
            | Self::LeavesItems
            | Self::EndsJoinedSpaces
            | Self::ForgetsUnsent
            | Self::AbandonsRemoteRuns => 5,
            Self::ForgetsDepth
            | Self::IgnoresDepth
            | Self::ForgetsAutoReplies
            | Self::IgnoresStoppedChains => 6,
            Self::ForgetsWaitingRuns
            | Self::LeavesFormsOpen
            | Self::AnswersTwice
            | Self::FiresInParts
            | Self::FiresAnyway
            | Self::ForgetsTimes
            | Self::AcceptsLateAnswers
            | Self::CountsPeopleTwice
            | Self::AsksInsteadOfDenying
            | Self::KeepsOldApprovals
            | Self::UsesApprovalsTwice
            | Self::SkipsWaitingCalls => 7,
            _ => self.later_promise(),
        }
    }

    /// The promise that this mutant breaks, from the eighth on.
    fn later_promise(self) -> u8 {
        match self {
            Self::ReadsToTheNewest | Self::ForgetsReading | Self::ReadsBackwards => 8,
            Self::KeepsRosterVersion | Self::IgnoresMembership | Self::OverusesInvites => 9,
            Self::DropsSkipDuty => 13,
            Self::ForgetsWithoutWaiting
            | Self::KeepsSharedParts
            | Self::SkipsFormerAgents
            | Self::KeepsSummaryClaim
            | Self::EditsTombstones
            | Self::ReactsTwice
            | Self::LosesThreadItems
            | Self::ForgetsUses => 14,
            Self::BuildsWithoutRev
            | Self::EditsKeepBlocks
            | Self::SkipsGaps
            | Self::ReadsOldBlocks
            | Self::SearchesLeftSpaces => 15,
            Self::LosesRevisions => 16,
            Self::ForgetsApplied | Self::OverwritesChanges | Self::KeepsLocks => 17,
            _ => 10,
        }
    }
}
