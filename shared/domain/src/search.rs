//! Search in messages: what a query means, which messages it finds, and in which order.
//!
//! Everything here is pure. A search reads blocks and messages, makes [`Matches`] of each with
//! [`Block::matches`] and [`Matches::of`], gives all of them to one [`Ranking`], and joins its hits
//! with [`join`]. It then reads the messages of the best hits, checks each again with
//! [`Query::is_hit`] and cuts an [`Excerpt`] from it.
//!
//! - [`Query`]: the words and filters of a search
//! - [`Entry`]: what is searched of one message
//! - [`Block`]: the words of up to 100 messages, as they are stored
//! - [`Ranking`]: BM25 over what one call has read

mod block;
mod bytes;
mod clauses;
mod entry;
mod excerpt;
mod folding;
mod matches;
mod query;
mod rank;
mod stems;
#[cfg(test)]
mod tests;
mod varint;
mod words;

pub use self::{
    block::{BLOCK_MESSAGES, Block, block_of, numbers_of},
    entry::{Entry, Has},
    excerpt::{Excerpt, Span},
    matches::{Candidate, Matches},
    query::{Filters, Query},
    rank::{Hit, Joined, Ranking, Sort, join},
};
