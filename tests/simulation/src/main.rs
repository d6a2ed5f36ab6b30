//! Plays seeds by hand.

use std::{
    collections::BTreeMap,
    io::Write,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use smartspace_simulation::{
    Outcome, Size,
    conditions::{Clause, catalog},
    input::Input,
    mutants::Mutant,
    search,
    shorten::shorten,
    simulate,
};

/// Plays seeds until one fails, shortens its history and prints it.
#[derive(Parser)]
struct Flags {
    /// The first seed to play
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// How many seeds
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Play seeds until this many steps were taken
    #[arg(long)]
    steps: Option<u64>,
    /// Play with one mechanism removed
    #[arg(long)]
    mutant: Option<Mutant>,
    /// Play with one clause of the product's conditions dropped: a mutant of conditions.md, or
    /// "WRITE | CLAUSE | CONDITION"
    #[arg(long)]
    drop: Option<String>,
    /// Print the clauses of the product's conditions, each with the seeds in which it alone
    /// refused a write
    #[arg(long)]
    races: bool,
    /// How many plays shortening a failing history may take
    #[arg(long, default_value_t = 150)]
    plays: usize,
    /// Print the history of each seed, even if the seed passes
    #[arg(long)]
    history: bool,
    /// Let a later version add unknown fields to all items
    #[arg(long)]
    later_version: bool,
    /// Continue after a failure, and only count failures
    #[arg(long)]
    count: bool,
    /// Search for the seeds of these mutants, or of all, and write them into mutants.md and
    /// conditions.md
    #[arg(long, num_args = 0.., value_name = "MUTANT")]
    find_seeds: Option<Vec<String>>,
}

/// A seed that takes longer is reported.
const SLOW: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let flags = Flags::parse();
    let passed = match &flags.find_seeds {
        Some(names) => search::refresh(names, say),
        None => play(&flags),
    };
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&error);
            ExitCode::FAILURE
        }
    }
}

/// The sums over all seeds that were played.
#[derive(Default)]
struct Totals {
    failed: u64,
    steps: u64,
    faults: usize,
    size: Size,
    /// The seeds in which each clause alone refused a write.
    races: BTreeMap<Clause, Vec<u64>>,
}

impl Totals {
    fn add(&mut self, seed: u64, outcome: &Outcome) {
        self.failed += u64::from(!outcome.violations.is_empty());
        self.steps += outcome.steps;
        self.faults += outcome.faults.len();
        self.size += outcome.size;
        for clause in &outcome.sent_clauses {
            let seeds = self.races.entry(clause.clone()).or_default();
            seeds.extend(outcome.deciding_clauses.contains_key(clause).then_some(seed));
        }
    }
}

/// Plays the seeds that the flags name. Returns whether all of them passed.
fn play(flags: &Flags) -> Result<bool, String> {
    let begun = Instant::now();
    let mut seed = flags.from;
    let mut totals = Totals::default();
    let dropped = flags.drop.as_deref().map(catalog::clause).transpose()?;
    while seed < flags.from + flags.seeds || flags.steps.is_some_and(|most| totals.steps < most) {
        let input = Input {
            seed,
            mutant: flags.mutant,
            dropped: dropped.clone(),
            finds_deciding: flags.races,
            history: flags.history,
            later_version: flags.later_version,
            ..Input::default()
        };
        let outcome = play_one(&input)?;
        totals.add(seed, &outcome);
        if flags.history {
            say(&outcome.history);
        }
        if flags.count {
            say_violations(seed, &outcome);
        } else if !outcome.violations.is_empty() {
            show(&input, &outcome, flags.plays)?;
            return Ok(false);
        }
        seed += 1;
    }
    let asked = |clause: &Clause| flags.races || Some(clause) == dropped.as_ref();
    for (clause, seeds) in totals.races.iter().filter(|(clause, _)| asked(clause)) {
        say(&format!("| {clause} | {} | {seeds:?}", seeds.len()));
    }
    let Totals { failed, steps, faults, size, .. } = totals;
    say(&format!(
        "{} seeds, {failed} failed, {steps} steps, {faults} faults, {size:?}, {:.1} s",
        seed - flags.from,
        begun.elapsed().as_secs_f64()
    ));
    Ok(failed == 0)
}

fn play_one(input: &Input) -> Result<Outcome, String> {
    let playing = Instant::now();
    let outcome = simulate(input)?;
    if playing.elapsed() > SLOW {
        say(&format!("seed {} took {:?}, {} steps", input.seed, playing.elapsed(), outcome.steps));
    }
    Ok(outcome)
}

fn say_violations(seed: u64, outcome: &Outcome) {
    let broken: Vec<_> =
        outcome.violations.iter().map(|(promise, text)| format!("{promise}: {text}")).collect();
    if !broken.is_empty() {
        say(&format!("seed {seed}: {}", broken.join("; ")));
    }
}

fn show(input: &Input, outcome: &Outcome, plays: usize) -> Result<(), String> {
    say(&format!("seed {} fails: {:#?}\nshortening it …", input.seed, outcome.violations));
    let (short, outcome) = shorten(input, outcome, plays)?;
    say(&outcome.history);
    say(&format!(
        "{} faults struck, {} actions were skipped: {:#?}",
        outcome.faults.len(),
        short.skipped.len(),
        outcome.violations
    ));
    say(&format!("play it again: cargo run -p smartspace-simulation -- --from {}", input.seed));
    Ok(())
}

fn say(text: &str) {
    // The reader may have closed the pipe.
    let _ = writeln!(std::io::stdout(), "{text}");
}
