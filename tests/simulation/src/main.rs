//! Plays seeds by hand.

use std::{
    collections::BTreeMap,
    io::Write,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use smartspace_simulation::{
    Outcome, Size, conditions::catalog, mutants::Mutant, setup::Setup, shorten::shorten, simulate,
};

/// Plays seeds until one fails, shortens its history and prints it.
#[derive(Parser)]
struct Flags {
    /// The first seed
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
}

/// A seed that takes longer is reported.
const SLOW: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let flags = Flags::parse();
    match run(&flags) {
        Ok(code) => code,
        Err(error) => {
            say(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> Result<ExitCode, String> {
    let begun = Instant::now();
    let mut seed = flags.from;
    let mut failed = 0;
    let mut steps = 0;
    let mut faults = 0;
    let mut size = Size::default();
    let dropped = flags.drop.as_deref().map(catalog::clause).transpose()?;
    let mut races = BTreeMap::<_, Vec<_>>::new();
    while seed < flags.from + flags.seeds || flags.steps.is_some_and(|most| steps < most) {
        let setup = Setup {
            seed,
            mutant: flags.mutant,
            dropped: dropped.clone(),
            finds_deciding: flags.races,
            history: flags.history,
            later_version: flags.later_version,
            ..Setup::default()
        };
        let playing = Instant::now();
        let outcome = simulate(&setup)?;
        if playing.elapsed() > SLOW {
            say(&format!("seed {seed} took {:?}, {} steps", playing.elapsed(), outcome.steps));
        }
        steps += outcome.steps;
        size += outcome.size;
        for clause in &outcome.sent_clauses {
            let seeds = races.entry(clause.clone()).or_default();
            seeds.extend(outcome.deciding_clauses.contains_key(clause).then_some(seed));
        }
        faults += outcome.faults.len();
        if flags.history {
            say(&outcome.history);
        }
        if !outcome.violations.is_empty() {
            failed += 1;
            if flags.count {
                say(&format!(
                    "seed {seed}: {}",
                    outcome
                        .violations
                        .iter()
                        .map(|(promise, text)| format!("{promise}: {text}"))
                        .collect::<Vec<_>>()
                        .join("; ")
                ));
            } else {
                show(&setup, &outcome, flags.plays)?;
                return Ok(ExitCode::FAILURE);
            }
        }
        seed += 1;
    }
    for (clause, seeds) in
        races.iter().filter(|(clause, _)| flags.races || Some(*clause) == dropped.as_ref())
    {
        say(&format!("| {clause} | {} | {seeds:?}", seeds.len()));
    }
    say(&format!(
        "{} seeds, {failed} failed, {steps} steps, {faults} faults, {size:?}, {:.1} s",
        seed - flags.from,
        begun.elapsed().as_secs_f64()
    ));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(setup: &Setup, outcome: &Outcome, plays: usize) -> Result<(), String> {
    say(&format!("seed {} fails: {:#?}\nshortening it …", setup.seed, outcome.violations));
    let (short, outcome) = shorten(setup, outcome, plays)?;
    say(&outcome.history);
    say(&format!(
        "{} faults struck, {} actions were skipped: {:#?}",
        outcome.faults.len(),
        short.skipped.len(),
        outcome.violations
    ));
    say(&format!("play it again: cargo run -p smartspace-simulation -- --from {}", setup.seed));
    Ok(())
}

fn say(text: &str) {
    // The reader may have closed the pipe.
    let _ = writeln!(std::io::stdout(), "{text}");
}
