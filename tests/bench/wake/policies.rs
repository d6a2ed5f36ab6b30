//! The policies without weights, by the features of the gate.

use smartspace_domain::gate;

use crate::Result;

/// Which policies wake a member.
#[derive(Clone, Copy, Default)]
pub(crate) struct Woken {
    /// The message has its name.
    pub(crate) by_mention: bool,
    /// It is named; if nobody is, it is the one with which the sender spoke last.
    pub(crate) by_partner: bool,
    /// As by partner; if there is none, it is the one that spoke last.
    pub(crate) by_previous: bool,
}

/// Where the features stand that the policies need.
pub(crate) struct Columns {
    named: usize,
    talk_ago: usize,
    ago: usize,
    asks: usize,
}

impl Columns {
    pub(crate) fn new() -> Result<Self> {
        let names = gate::feature_names();
        let place = |name: &str| {
            let place = names.iter().position(|known| *known == name);
            place.ok_or_else(|| format!("expected a feature {name:?}"))
        };
        Ok(Self {
            named: place("named")?,
            talk_ago: place("talk ago")?,
            ago: place("ago")?,
            asks: place("asks")?,
        })
    }

    /// Which policies wake the member of each row.
    pub(crate) fn woken(&self, rows: &[Vec<f32>]) -> Vec<Woken> {
        let named: Vec<bool> = rows.iter().map(|row| self.is_named(row)).collect();
        let anyone = named.contains(&true);
        let partner = nearest(rows, self.talk_ago).filter(|_| !anyone);
        let previous = nearest(rows, self.ago).filter(|_| !anyone && partner.is_none());
        let woken = |(at, is_named): (usize, &bool)| Woken {
            by_mention: *is_named,
            by_partner: *is_named || partner == Some(at),
            by_previous: *is_named || partner == Some(at) || previous == Some(at),
        };
        named.iter().enumerate().map(woken).collect()
    }

    pub(crate) fn names_nobody(&self, rows: &[Vec<f32>]) -> bool {
        !rows.iter().any(|row| self.is_named(row))
    }

    pub(crate) fn is_open_question(&self, rows: &[Vec<f32>]) -> bool {
        self.names_nobody(rows) && rows.first().is_some_and(|row| row[self.asks] > 0.0)
    }

    /// Whether the exact name stands in the message.
    fn is_named(&self, row: &[f32]) -> bool {
        row[self.named] >= 2.0
    }
}

/// The row with the smallest value of a feature that counts messages, if any is in the window.
fn nearest(rows: &[Vec<f32>], column: usize) -> Option<usize> {
    let ago = |at: &usize| rows[*at][column];
    let within = (0..rows.len()).filter(|at| ago(at) <= gate::WINDOW as f32);
    within.min_by(|one, other| ago(one).total_cmp(&ago(other)))
}
