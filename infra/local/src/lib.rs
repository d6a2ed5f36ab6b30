//! Smartspace on one machine, in one process.
