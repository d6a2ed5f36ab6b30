//! All that is played, in one program: linking one takes as long as playing it.

#![cfg(test)]

mod calls;
mod changed_tools;
mod hand_over;
mod kept_for_ever;
mod long_history;
mod plans;
mod promises;
mod settling;
