//! The tables that the program writes.

use crate::{
    ledger::{Counter, Ledger},
    prices,
};

/// Writes one line of the report.
pub(crate) type Out<'a> = &'a mut dyn FnMut(String) -> Result<(), String>;

/// Writes the counts of one message, and the cost of a million.
pub(crate) fn show(
    ledger: &Ledger,
    deployed: &prices::Deployed,
    messages: f64,
    items: bool,
    write: Out,
) -> Result<(), String> {
    show_calls(ledger, messages, write)?;
    if items {
        show_items(ledger, messages, write)?;
    }
    show_functions(ledger, messages, write)?;
    let (costs, apart) = deployed.of_a_million(ledger, messages);
    bill(&costs, "a million messages", write)?;
    bill(&apart, "apart", write)?;
    for doubt in &ledger.doubts {
        write(format!("DOUBT {doubt}"))?;
    }
    Ok(())
}

fn show_calls(ledger: &Ledger, messages: f64, write: Out) -> Result<(), String> {
    let each = |count: f64| format!("{:.2}", count / messages);
    write("| function | call | calls | write units | read units |\n|---|---|---|---|---|".into())?;
    for ((function, operation), (count, units)) in &ledger.calls {
        write(format!(
            "| {function} | {operation} | {} | {} | {} |",
            each(*count as f64),
            each(units.write),
            each(units.read)
        ))?;
    }
    let units = ledger.units();
    let calls: usize = ledger.calls.values().map(|(count, _)| count).sum();
    write(format!(
        "| all | | {} | {} | {} |\n",
        each(calls as f64),
        each(units.write),
        each(units.read)
    ))
}

fn show_items(ledger: &Ledger, messages: f64, write: Out) -> Result<(), String> {
    let each = |count: f64| format!("{:.2}", count / messages);
    write("| function | item | times | write units | read units |\n|---|---|---|---|---|".into())?;
    for ((function, what), (count, units)) in &ledger.items {
        write(format!(
            "| {function} | {what} | {} | {} | {} |",
            each(*count as f64),
            each(units.write),
            each(units.read)
        ))?;
    }
    write(String::new())
}

const FUNCTIONS_HEADER: &str = "\
| function | invocations | seconds | asks a model | sends | receives | deletes | visibility \
| frames | alarms |
|---|---|---|---|---|---|---|---|---|---|";

fn show_functions(ledger: &Ledger, messages: f64, write: Out) -> Result<(), String> {
    let each = |count: f64| format!("{:.2}", count / messages);
    write(FUNCTIONS_HEADER.into())?;
    for function in ledger.functions() {
        let count =
            |what: Counter| ledger.counts.get(&(function, what)).copied().unwrap_or_default();
        let seconds = each(count(Counter::Milliseconds) / 1e3);
        let rest = [
            Counter::Question,
            Counter::Send,
            Counter::Receive,
            Counter::Delete,
            Counter::Visibility,
            Counter::Post,
            Counter::Alarm,
        ];
        write(format!(
            "| {function} | {} | {seconds} | {} |",
            each(count(Counter::Invocation)),
            rest.map(|what| each(count(what))).join(" | ")
        ))?;
    }
    write(String::new())
}

/// Writes a bill with its sum.
pub(crate) fn bill(lines: &[prices::Line], title: &str, write: Out) -> Result<(), String> {
    write(format!("| {title} | count | dollars |\n|---|---|---|"))?;
    for (what, count, dollars) in lines {
        write(format!("| {what} | {count:.2} | {dollars:.2} |"))?;
    }
    let sum: f64 = lines.iter().map(|(_, _, dollars)| dollars).sum();
    write(format!("| all | | {sum:.2} |\n"))
}
