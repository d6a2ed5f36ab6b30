//! Calls that people decide: the rules, the cards, and the loop that waits for decisions.

pub(crate) mod act;
mod around;
mod decisions;
mod made_once;
mod order;
mod prompts;
mod rules;
