//! Expressions and what they come to; hostile ones, and what they cost.

mod hostile;
mod results;
