//! The trees, and the weights that they are made of.
//!
//! `weights.bin`, little endian: `WAKE`, then as `u32` the version, the number of features and that
//! of trees, then the base as `f32`. A tree is its number of nodes as a byte, and the nodes. A node
//! is its feature as a byte, the positions of its left and its right child as bytes, the threshold
//! and the value as `f32`; a leaf is the byte 255 and the value. A value that is not above the
//! threshold goes left. A node that is no leaf has the mean value of what is below it.

use std::sync::LazyLock;

use crate::gate::{self, Because, VERSION, features::Row};

/// The trained weights.
pub(super) static MODEL: LazyLock<Model> =
    LazyLock::new(|| Model::read(WEIGHTS, gate::feature_names().len()).unwrap_or_default());

const WEIGHTS: &[u8] = include_bytes!("weights.bin");

/// The feature of a leaf.
const LEAF: u8 = 255;

#[derive(Default)]
pub(super) struct Model {
    base: f32,
    trees: Vec<Vec<Node>>,
}

#[derive(Clone, Copy)]
struct Node {
    feature: u8,
    left: u8,
    right: u8,
    threshold: f32,
    value: f32,
}

/// The score of a row.
pub(super) struct Scored {
    /// The probability, with four decimals.
    pub(super) score: f64,
    /// How far each kind of features moved it, in log odds.
    pub(super) moved: Vec<(Because, f32)>,
}

impl Model {
    /// Reads weights. `None` if they are of another version or other features, or damaged.
    fn read(bytes: &[u8], features: usize) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        if bytes.take::<4>()? != *b"WAKE" || bytes.u32()? != VERSION {
            return None;
        }
        if bytes.u32()? as usize != features {
            return None;
        }
        let count = bytes.u32()?;
        let base = bytes.f32()?;
        let trees = (0..count).map(|_| bytes.tree(features)).collect::<Option<_>>()?;
        bytes.0.is_empty().then_some(Self { base, trees })
    }

    /// Scores a row. The sums have a fixed order, so that each machine gets the same score.
    pub(super) fn score(&self, row: &Row) -> Scored {
        let mut moved: Vec<(Because, f32)> = Vec::new();
        let mut sum = self.base;
        for tree in &self.trees {
            let mut node = tree[0];
            while node.feature != LEAF {
                let feature = usize::from(node.feature);
                let is_left = row.values[feature] <= node.threshold;
                let next = tree[usize::from(if is_left { node.left } else { node.right })];
                let because = row.columns[feature].0;
                let change = next.value - node.value;
                match moved.iter_mut().find(|(known, _)| *known == because) {
                    Some((_, moved)) => *moved += change,
                    None => moved.push((because, change)),
                }
                node = next;
            }
            sum += node.value;
        }
        Scored { score: (probability(f64::from(sum)) * 10_000.0).round() / 10_000.0, moved }
    }
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn f32(&mut self) -> Option<f32> {
        self.take().map(f32::from_le_bytes)
    }

    /// A tree in which each child stands behind its parent, so that every way down ends.
    fn tree(&mut self, features: usize) -> Option<Vec<Node>> {
        let [count] = self.take()?;
        let mut nodes = Vec::with_capacity(usize::from(count));
        for at in 0..count {
            let [feature] = self.take()?;
            if feature == LEAF {
                nodes.push(Node { feature, left: 0, right: 0, threshold: 0.0, value: self.f32()? });
                continue;
            }
            let [left, right] = self.take()?;
            let goes_on = |child: u8| child > at && child < count;
            if usize::from(feature) >= features || !goes_on(left) || !goes_on(right) {
                return None;
            }
            nodes.push(Node { feature, left, right, threshold: self.f32()?, value: self.f32()? });
        }
        Some(nodes).filter(|nodes| !nodes.is_empty())
    }
}

/// The probability of log odds. The libraries of platforms round `exp` differently, so it is summed
/// here.
fn probability(log_odds: f64) -> f64 {
    let x = -log_odds.clamp(-30.0, 30.0) / 64.0;
    let mut term = 1.0;
    let mut sum = 1.0;
    for n in 1..=12 {
        term = term * x / f64::from(n);
        sum += term;
    }
    // The 64th power.
    for _ in 0..6 {
        sum *= sum;
    }
    1.0 / (1.0 + sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_can_be_read_and_fit() {
        assert!(WEIGHTS.len() <= 64 * 1024);
        let features = gate::feature_names().len();
        assert!(!Model::read(WEIGHTS, features).unwrap().trees.is_empty());
        assert!(Model::read(WEIGHTS, features + 1).is_none());
        assert!(Model::read(&WEIGHTS[..WEIGHTS.len() - 1], features).is_none());
    }

    #[test]
    fn probabilities_are_those_of_the_logistic_function() {
        for log_odds in [-30.0, -7.25, -1.0, 0.0, 0.5, 4.0, 30.0_f64] {
            let expected = 1.0 / (1.0 + (-log_odds).exp());
            assert!((probability(log_odds) - expected).abs() < 1e-12);
        }
    }
}
