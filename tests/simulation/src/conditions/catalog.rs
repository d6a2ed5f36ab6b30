//! The catalog of all conditions: the tables of `tests/simulation/conditions.md`.

use std::sync::LazyLock;

use crate::conditions::Clause;

/// The page that lists all conditions.
const PAGE: &str = include_str!("../../conditions.md");

/// A condition of the product, with the mutant that drops it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The name of the mutant.
    pub mutant: String,
    /// The clause that the mutant drops.
    pub clause: Clause,
    /// The promise that the mutant breaks, and a seed that shows it. `None` if the simulation does
    /// not find the mutant.
    pub found: Option<(u8, u64)>,
}

/// All conditions, in the order of the page.
pub static CATALOG: LazyLock<Vec<Condition>> =
    LazyLock::new(|| PAGE.lines().filter_map(parse).collect());

/// The clause of a mutant, given by the name of the mutant or by the first cells of a row.
pub fn clause(name: &str) -> Result<Clause, String> {
    if let Some(condition) = CATALOG.iter().find(|condition| condition.mutant == name) {
        return Ok(condition.clause.clone());
    }
    match cells(name).as_slice() {
        [write, text, condition] => {
            Ok(Clause { write: write.clone(), text: text.clone(), condition: condition.clone() })
        }
        _ => Err(format!(
            "{name}: expected a mutant of conditions.md, or \"WRITE | CLAUSE | CONDITION\""
        )),
    }
}

/// Reads a row: mutant, write, clause, whole condition, purpose, promise, seed.
fn parse(line: &str) -> Option<Condition> {
    let line = line.strip_prefix("| `")?.strip_suffix('|')?;
    let cells = cells(line);
    let [mutant, write, text, condition, _, rest @ ..] = cells.as_slice() else { return None };
    let found = match rest {
        [promise, seed] => promise.parse().ok().zip(seed.parse().ok()),
        _ => None,
    };
    let clause = Clause { write: write.clone(), text: text.clone(), condition: condition.clone() };
    Some(Condition { mutant: mutant.clone(), clause, found })
}

fn cells(line: &str) -> Vec<String> {
    line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
}
