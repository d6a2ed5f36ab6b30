//! Names in the message, and its form.

use super::{Pair, Row};
use crate::gate::{Because, names::Named};

pub(super) fn add(pair: &Pair<'_>, row: &mut Row) {
    names(pair, row);
    form(pair, row);
}

fn names(pair: &Pair<'_>, row: &mut Row) {
    let message = pair.window.message();
    let own = message.named.iter().find(|named| named.who == pair.agent);
    let sure = |named: &Named| f32::from(named.sure as u8) + 1.0;
    row.add(Because::Named, "named", own.map_or(0.0, sure));
    row.add(Because::Named, "named at", own.map_or(-1.0, |named| named.at as f32));
    row.is(Because::Named, "named with mark", own.is_some_and(|named| named.has_mark));
    let others = || message.named.iter().filter(|named| named.who != pair.agent);
    row.add(Because::OtherNamed, "others named", others().count() as f32);
    let best = others().map(sure).fold(0.0, f32::max);
    row.add(Because::OtherNamed, "other named", best);
    let first = others().map(|named| named.at).min();
    row.add(Because::OtherNamed, "other named at", first.map_or(-1.0, |at| at as f32));
    let marked = others().any(|named| named.has_mark && named.at == 0);
    row.is(Because::OtherNamed, "other addressed", marked);
    row.add(Because::OtherNamed, "stranger named", f32::from(message.names_stranger));
}

fn form(pair: &Pair<'_>, row: &mut Row) {
    let message = pair.window.message();
    row.add(Because::Form, "length", message.length as f32);
    row.is(Because::Form, "asks", message.asks);
    row.is(Because::Form, "ends asking", message.ends_asking);
    row.add(Because::Form, "end", f32::from(message.end));
    row.is(Because::Form, "link", message.has_link);
    row.is(Because::Form, "code", message.has_code);
    row.is(Because::Form, "command", message.is_command);
    row.is(Because::Form, "file", message.has_file);
}
