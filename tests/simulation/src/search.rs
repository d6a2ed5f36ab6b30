//! The seeds that find the mutants, as `mutants.md` and `conditions.md` list them.
//!
//! A test plays each listed seed once. [`refresh`] searches for the seeds that no longer find their
//! mutants, and writes them into the pages.

use std::{fs, path::Path};

use clap::ValueEnum;

use crate::{
    conditions::catalog::{CATALOG, Condition},
    input::Input,
    mutants::Mutant,
    simulate,
};

/// The rows of the mutants: name, promise, mechanism, seed.
const MUTANTS: &str = include_str!("../mutants.md");
/// The pages whose last column has seeds.
const PAGES: [&str; 2] = ["mutants.md", "conditions.md"];
/// A mutant that this many seeds do not find counts as not found.
const MAX_SEEDS: u64 = 400;

/// A mutant, the promise that it breaks, and the seed that shows it.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The name of the mutant in its page.
    pub name: String,
    pub promise: u8,
    pub seed: u64,
    input: Input,
}

impl Trial {
    /// The trial of a mechanism's mutant. `None` if `mutants.md` does not list it.
    pub fn of_mutant(mutant: Mutant) -> Option<Self> {
        let name = mutant.to_possible_value()?.get_name().to_owned();
        let row = MUTANTS.lines().find(|line| line.starts_with(&format!("| `{name}` |")))?;
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, promise, _, seed] = cells.as_slice() else { return None };
        Some(Self {
            name,
            promise: promise.parse().ok()?,
            seed: seed.parse().ok()?,
            input: Input { mutant: Some(mutant), ..Input::default() },
        })
    }

    /// The trial of a dropped condition. `None` if no seed is known to find it.
    pub fn of_condition(condition: &Condition) -> Option<Self> {
        let (promise, seed) = condition.found?;
        let dropped = Some(condition.clause.clone());
        let input = Input { dropped, ..Input::default() };
        Some(Self { name: condition.mutant.clone(), promise, seed, input })
    }

    /// All trials, in the order of the pages.
    pub fn all() -> Vec<Self> {
        let mutants = Mutant::value_variants().iter().filter_map(|it| Self::of_mutant(*it));
        mutants.chain(CATALOG.iter().filter_map(Self::of_condition)).collect()
    }

    /// Whether the oracle reports in this seed that the promise is broken.
    pub fn is_found_by(&self, seed: u64) -> Result<bool, String> {
        let input = Input { seed, ..self.input.clone() };
        let violations = simulate(&input)?.violations;
        Ok(violations.iter().any(|(broken, _)| *broken == self.promise))
    }

    /// The listed seed if it finds the mutant, or else the first one that does.
    pub fn find_seed(&self) -> Result<Option<u64>, String> {
        for seed in std::iter::once(self.seed).chain(1..=MAX_SEEDS) {
            if self.is_found_by(seed)? {
                return Ok(Some(seed));
            }
        }
        Ok(None)
    }
}

/// Searches for the seeds of the mutants with these names, or of all if there are no names.
/// `report` gets one line for each. Returns whether each mutant has a seed.
pub fn refresh(names: &[String], report: impl Fn(&str)) -> Result<bool, String> {
    let trials = Trial::all();
    if let Some(name) = names.iter().find(|name| trials.iter().all(|it| it.name != **name)) {
        return Err(format!("{name}: expected a mutant with a seed in {}", PAGES.join(" or ")));
    }
    let mut all_found = true;
    for trial in trials.iter().filter(|it| names.is_empty() || names.contains(&it.name)) {
        let Trial { name, promise, seed, .. } = trial;
        let Some(found) = trial.find_seed()? else {
            all_found = false;
            report(&format!("{name}: promise {promise}, not found by {MAX_SEEDS} seeds"));
            continue;
        };
        report(&format!("{name}: promise {promise}, seed {found}, was {seed}"));
        if found != *seed {
            write_seed(name, found)?;
        }
    }
    Ok(all_found)
}

/// Writes a seed into the row of a mutant.
fn write_seed(name: &str, seed: u64) -> Result<(), String> {
    let start = format!("| `{name}` |");
    for page in PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = fs::read_to_string(&path).map_err(|error| format!("{page}: {error}"))?;
        let lines: Vec<_> = text
            .lines()
            .map(
                |line| {
                    if line.starts_with(&start) { with_seed(line, seed) } else { line.to_owned() }
                },
            )
            .collect();
        let changed = format!("{}\n", lines.join("\n"));
        if changed != text {
            fs::write(&path, changed).map_err(|error| format!("{page}: {error}"))?;
        }
    }
    Ok(())
}

/// A row with another seed in its last cell.
fn with_seed(row: &str, seed: u64) -> String {
    let row = row.trim_end().trim_end_matches('|');
    let cells = row.rsplit_once('|').map_or(row, |(cells, _)| cells);
    format!("{cells}| {seed} |")
}
