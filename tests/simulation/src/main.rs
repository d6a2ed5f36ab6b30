//! Plays seeds by hand.

use std::{
    io::Write,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use smartspace_simulation::{Outcome, Size, plan::Setup, planted::Planted, shorten::shorten, simulate};

/// Plays seeds until one fails, and shows its history, made as short as it can.
#[derive(Parser)]
struct Flags {
    /// The first seed
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// How many seeds
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Go on until so many steps were taken, however many seeds that takes
    #[arg(long)]
    steps: Option<u64>,
    /// A mistake to plant
    #[arg(long)]
    planted: Option<Planted>,
    /// Plays to shorten a failing history with
    #[arg(long, default_value_t = 150)]
    plays: usize,
    /// Show the history of a seed, whether or not it fails
    #[arg(long)]
    history: bool,
    /// Go on after a failure, and only count
    #[arg(long)]
    count: bool,
}

/// A seed that takes longer is worth a look.
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
    let (mut steps, mut failed, mut seed) = (0, 0, flags.from);
    let (mut size, mut faults) = (Size::default(), 0);
    while seed < flags.from + flags.seeds || flags.steps.is_some_and(|most| steps < most) {
        let setup = Setup { seed, planted: flags.planted, history: flags.history, ..Setup::default() };
        let playing = Instant::now();
        let outcome = simulate(&setup)?;
        if playing.elapsed() > SLOW {
            say(&format!("seed {seed} took {:?}, {} steps", playing.elapsed(), outcome.steps));
        }
        steps += outcome.steps;
        size += outcome.size;
        faults += outcome.struck.len();
        if flags.history {
            say(&outcome.history);
        }
        if !outcome.complaints.is_empty() {
            failed += 1;
            if flags.count {
                say(&format!(
                    "seed {seed}: {}",
                    outcome.complaints.iter().map(|(promise, text)| format!("{promise}: {text}")).collect::<Vec<_>>().join("; ")
                ));
            } else {
                show(&setup, &outcome, flags.plays)?;
                return Ok(ExitCode::FAILURE);
            }
        }
        seed += 1;
    }
    say(&format!(
        "{} seeds, {failed} failed, {steps} steps, {faults} faults, {size:?}, {:.1} s",
        seed - flags.from,
        begun.elapsed().as_secs_f64()
    ));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(setup: &Setup, outcome: &Outcome, plays: usize) -> Result<(), String> {
    say(&format!("seed {} fails: {:#?}\nmaking it short …", setup.seed, outcome.complaints));
    let (short, outcome) = shorten(setup, outcome, plays)?;
    say(&outcome.history);
    say(&format!("{} faults struck, {} deeds were left out: {:#?}", outcome.struck.len(), short.undone.len(), outcome.complaints));
    say(&format!("again: cargo run -p smartspace-simulation -- --from {}", setup.seed));
    Ok(())
}

fn say(text: &str) {
    // Nobody may be there to read it.
    let _ = writeln!(std::io::stdout(), "{text}");
}
