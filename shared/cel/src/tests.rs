//! Results of expressions, and the limits that hostile ones reach.

mod hostile;
mod results;
