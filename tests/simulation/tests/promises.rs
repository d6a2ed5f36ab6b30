//! Plays fixed seeds, none of which may break a promise, and every mutant, each of which must break
//! its promise in the seed that `mutants.md` lists.
//!
//! Each change plays the seeds 1 to 30, in parts that the processors share, and the mutants with
//! short plays, some for each promise. The seeds 31 to 2030 and the mutants with long plays are
//! ignored tests: `tests/run --all` and the nightly job play them.

use clap::ValueEnum;
use smartspace_simulation::{
    Outcome, input::Input, mutants::Mutant, search::Trial, shorten::shorten, simulate,
};

use crate::conditions::expect_listed;

/// Seeds of one test of each change.
const SEEDS_PER_TEST: u64 = 10;
/// Seeds of one ignored test.
const FURTHER_SEEDS_PER_TEST: u64 = 50;
/// The seeds up to this one send only conditions that `conditions.md` lists.
const LISTED: u64 = 70;

/// Plays `count` seeds, starting at `from`. Panics at the first one that breaks a promise.
fn play(from: u64, count: u64) {
    let mut steps = 0;
    for seed in from..from + count {
        let input = Input { seed, ..Input::default() };
        let outcome = simulate(&input).unwrap();
        steps += outcome.steps;
        if seed <= LISTED {
            expect_listed(&outcome.sent_clauses);
        }
        if !outcome.violations.is_empty() {
            fail(&input, &outcome);
        }
    }
    // A deployment in which nothing happens keeps every promise.
    assert!(steps > count * 100, "{steps} steps in {count} seeds");
}

/// Panics with the shortened history of a seed, and the command that plays it again.
fn fail(input: &Input, outcome: &Outcome) -> ! {
    let (short, shown) = shorten(input, outcome, 60).unwrap();
    panic!(
        "seed {seed}: {violations:#?}\n{history}\n\
         shortened ({faults} faults, {skipped} actions skipped): {remaining:#?}\n\
         play it again: cargo run -p smartspace-simulation -- --from {seed}",
        seed = input.seed,
        violations = outcome.violations,
        history = shown.history,
        faults = shown.faults.len(),
        skipped = short.skipped.len(),
        remaining = shown.violations,
    );
}

macro_rules! seeds {
    ($($name:ident: $from:literal)*) => { $(#[test] fn $name() { play($from, SEEDS_PER_TEST); })* };
}

seeds! {
    seeds_from_0001: 1 seeds_from_0011: 11 seeds_from_0021: 21
}

macro_rules! further_seeds {
    ($($name:ident: $from:literal)*) => {
        $(
            #[test]
            #[ignore = "by hand and in the nightly job: tests/run --all"]
            fn $name() {
                play($from, FURTHER_SEEDS_PER_TEST);
            }
        )*
    };
}

further_seeds! {
    seeds_from_0031: 31 seeds_from_0081: 81 seeds_from_0131: 131 seeds_from_0181: 181
    seeds_from_0231: 231 seeds_from_0281: 281 seeds_from_0331: 331 seeds_from_0381: 381
    seeds_from_0431: 431 seeds_from_0481: 481 seeds_from_0531: 531 seeds_from_0581: 581
    seeds_from_0631: 631 seeds_from_0681: 681 seeds_from_0731: 731 seeds_from_0781: 781
    seeds_from_0831: 831 seeds_from_0881: 881 seeds_from_0931: 931 seeds_from_0981: 981
    seeds_from_1031: 1031 seeds_from_1081: 1081 seeds_from_1131: 1131 seeds_from_1181: 1181
    seeds_from_1231: 1231 seeds_from_1281: 1281 seeds_from_1331: 1331 seeds_from_1381: 1381
    seeds_from_1431: 1431 seeds_from_1481: 1481 seeds_from_1531: 1531 seeds_from_1581: 1581
    seeds_from_1631: 1631 seeds_from_1681: 1681 seeds_from_1731: 1731 seeds_from_1781: 1781
    seeds_from_1831: 1831 seeds_from_1881: 1881 seeds_from_1931: 1931 seeds_from_1981: 1981
}

/// Seeds that once found a mistake: of the product (2009 asked a model once too often, 325 sent
/// messages to a removed member, 303 summarized too few messages, 2078 never cleared a space with a
/// question) or of the oracle (the others). Most of their histories have changed since then.
#[test]
fn seeds_that_failed_once() {
    for seed in [303, 325, 464, 2009, 2078, 2880] {
        play(seed, 1);
    }
}

/// Plays the listed seed of a mutant, in which the oracle must report its promise.
fn find(mutant: Mutant) {
    let trial = Trial::of_mutant(mutant).unwrap_or_else(|| panic!("{mutant:?} is not listed"));
    assert_eq!(trial.promise, mutant.promise(), "mutants.md lists another promise of {mutant:?}");
    expect_found(&trial);
}

/// Plays the listed seed of a mutant. Panics with the command that searches for another one.
pub(crate) fn expect_found(trial: &Trial) {
    let Trial { name, promise, seed, .. } = trial;
    assert!(
        trial.is_found_by(*seed).unwrap(),
        "{name} no longer breaks promise {promise} in seed {seed}; \
         search for another seed: just find-seeds {name}"
    );
}

macro_rules! mutants {
    ($($(#[$attribute:meta])* $name:ident: $mutant:ident)*) => {
        $(
            #[test]
            $(#[$attribute])*
            fn $name() {
                find(Mutant::$mutant);
            }
        )*

        #[test]
        fn every_mutant_is_played() {
            assert_eq!(Mutant::value_variants(), [$(Mutant::$mutant),*]);
        }
    };
}

mutants! {
    #[ignore = "long: tests/run --all"]
    finds_answers_before_keeping: AnswersBeforeKeeping
    finds_lost_runs: LosesRuns
    finds_forgotten_keys: ForgetsKeys
    finds_forgotten_tokens: ForgetsTokens
    finds_forgotten_deliveries: ForgetsDeliveries
    finds_retried_again: RetriesAgain
    finds_joined_ended_runs: JoinsEndedRun
    finds_forgotten_pictures: ForgetsPictures
    finds_skipped_numbers: SkipsNumbers
    finds_overwritten_numbers: OverwritesNumbers
    finds_forgotten_results: ForgetsResults
    finds_forgotten_answers: ForgetsAnswers
    finds_lost_last_answers: LosesLastAnswers
    #[ignore = "long: tests/run --all"]
    finds_ends_in_other_spaces: EndsInOtherSpace
    #[ignore = "long: tests/run --all"]
    finds_forgotten_beginnings: ForgetsBeginnings
    finds_repeated_what_began: RepeatsWhatBegan
    #[ignore = "long: tests/run --all"]
    finds_forgotten_cards: ForgetsCards
    finds_calls_left_open: LeavesCallsOpen
    finds_forgotten_cuts: ForgetsCuts
    finds_ignored_leases: IgnoresLeases
    finds_claims_anyway: ClaimsAnyway
    finds_canceled_nothing: CancelsNothing
    finds_forgotten_duties: ForgetsDuties
    finds_swept_nothing: SweepsNothing
    finds_finishes_in_parts: FinishesInParts
    finds_unsent_webhooks: ForgetsUnsent
    #[ignore = "long: tests/run --all"]
    finds_abandoned_remote_runs: AbandonsRemoteRuns
    finds_forgotten_depth: ForgetsDepth
    finds_ignored_depth: IgnoresDepth
    #[ignore = "long: tests/run --all"]
    finds_forgotten_auto_replies: ForgetsAutoReplies
    finds_ignored_stopped_chains: IgnoresStoppedChains
    #[ignore = "long: tests/run --all"]
    finds_absorbed_nothing: AbsorbsNothing
    #[ignore = "long: tests/run --all"]
    finds_forgotten_absorbing: ForgetsAbsorbing
    finds_forgotten_waiting_runs: ForgetsWaitingRuns
    finds_forms_left_open: LeavesFormsOpen
    #[ignore = "long: tests/run --all"]
    finds_answers_twice: AnswersTwice
    finds_fired_in_parts: FiresInParts
    #[ignore = "long: tests/run --all"]
    finds_fired_anyway: FiresAnyway
    finds_forgotten_times: ForgetsTimes
    #[ignore = "long: tests/run --all"]
    finds_read_to_the_newest: ReadsToTheNewest
    #[ignore = "long: tests/run --all"]
    finds_forgotten_reading: ForgetsReading
    finds_read_backwards: ReadsBackwards
    finds_forgotten_tokens_of_frames: ForgetsTokensOfFrames
    #[ignore = "long: tests/run --all"]
    finds_abandoned_reads: AbandonsReads
    finds_left_unread: LeavesUnread
    #[ignore = "long: tests/run --all"]
    finds_kept_roster_version: KeepsRosterVersion
    finds_ignored_membership: IgnoresMembership
    finds_forgotten_seconds: ForgetsSeconds
    finds_kept_old_places: KeepsOldPlaces
    finds_uncounted_cards: CountsNoCards
    finds_dispatches_again: DispatchesAgain
    finds_ignored_slots: IgnoresSlots
    #[ignore = "long: tests/run --all"]
    finds_ignored_lanes: IgnoresLanes
    finds_kept_turns: KeepsTurns
    finds_forgotten_joined: ForgetsJoined
    finds_ignored_budgets: IgnoresBudgets
    finds_forgotten_settling: ForgetsSettling
    finds_forgotten_usage: ForgetsUsage
    finds_overused_invites: OverusesInvites
    finds_lost_parts: LosesParts
    finds_forgotten_snapshots: ForgetsSnapshots
    finds_left_items: LeavesItems
    finds_reset_minutes: ResetsMinutes
    finds_raw_characters: SendsRawCharacters
    finds_applied_older_frames: AppliesOlderFrames
    finds_reads_before_following: ReadsBeforeFollowing
    finds_kept_old_cards: KeepsOldCards
    #[ignore = "long: tests/run --all"]
    finds_left_out_messages: LeavesOutMessages
    finds_summarized_unread: SummarizesUnread
    finds_stored_lost_summaries: StoresLostSummaries
    #[ignore = "long: tests/run --all"]
    finds_accepted_late_answers: AcceptsLateAnswers
    finds_people_who_count_twice: CountsPeopleTwice
    finds_denied_calls_that_are_asked: AsksInsteadOfDenying
    finds_kept_approvals: KeepsOldApprovals
    #[ignore = "long: tests/run --all"]
    finds_approvals_that_are_used_twice: UsesApprovalsTwice
    finds_skipped_waiting_calls: SkipsWaitingCalls
    #[ignore = "long: tests/run --all"]
    finds_counted_deleted_files: CountsDeletedFiles
    finds_ended_joined_spaces: EndsJoinedSpaces
    #[ignore = "long: tests/run --all"]
    finds_forgotten_router_calls: ForgetsRouterCalls
    finds_dropped_skip_duty: DropsSkipDuty
    finds_scores_without_head: ScoresWithoutHead
    #[ignore = "long: tests/run --all"]
    finds_forgotten_without_waiting: ForgetsWithoutWaiting
    finds_kept_shared_parts: KeepsSharedParts
    #[ignore = "long: tests/run --all"]
    finds_skipped_former_agents: SkipsFormerAgents
    finds_kept_summary_claims: KeepsSummaryClaim
    #[ignore = "long: tests/run --all"]
    finds_cached_changed_messages: CachesChangedMessages
    #[ignore = "long: tests/run --all"]
    finds_edited_tombstones: EditsTombstones
    finds_reactions_that_count_twice: ReactsTwice
    finds_lost_thread_items: LosesThreadItems
    finds_forgotten_uses: ForgetsUses
    finds_blocks_built_without_rev: BuildsWithoutRev
    finds_blocks_that_edits_keep: EditsKeepBlocks
    finds_skipped_gaps: SkipsGaps
    finds_old_blocks: ReadsOldBlocks
    finds_searches_of_left_spaces: SearchesLeftSpaces
    finds_lost_revisions: LosesRevisions
    finds_forgotten_applies: ForgetsApplied
    finds_overwritten_changes: OverwritesChanges
    finds_kept_locks: KeepsLocks
}

#[test]
fn one_seed_has_one_history() {
    for seed in [3, 9, 12, 13] {
        let input = Input { seed, history: true, ..Input::default() };
        let one = simulate(&input).unwrap();
        let other = simulate(&input).unwrap();
        assert_eq!(one.history, other.history, "seed {seed}");
        assert_eq!((one.digest, one.steps, one.faults), (other.digest, other.steps, other.faults));
    }
}
