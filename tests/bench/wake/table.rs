//! The table of `docs/wake.md`.

use std::{io::Write, path::Path};

use smartspace_domain::gate::{Dial, Would};

use crate::{
    Result,
    measure::{Pair, Reached, Set},
};

pub(crate) fn print(folder: &Path, out: &mut impl Write) -> Result<()> {
    let set = Set::read(folder)?;
    counts(&set, out)?;
    policies(&set, out)?;
    curve(&set, out)?;
    calibration(&set, out)?;
    router(&set, out)?;
    questions(&set, out)?;
    time(&set, out)
}

fn counts(set: &Set, out: &mut impl Write) -> Result<()> {
    let out_of_reach: usize = set.messages.iter().map(|message| message.out_of_reach).sum();
    writeln!(
        out,
        "{} messages, {} pairs, {} answered, {out_of_reach} answers out of reach\n",
        set.messages.len(),
        set.pairs().count(),
        set.answers(),
    )?;
    Ok(())
}

fn policies(set: &Set, out: &mut impl Write) -> Result<()> {
    writeln!(out, "| policy | wakes | recall | precision |\n|---|---|---|---|")?;
    let mut row = |name: &str, wakes: &dyn Fn(&Pair) -> bool| {
        let Reached { wakes, recall, precision } = set.reached(wakes);
        writeln!(out, "| {name} | {wakes:.2} | {recall:.3} | {precision:.2} |")
    };
    row("`all`", &|_| true)?;
    row("`mention` (exact name)", &|pair| pair.woken.by_mention)?;
    row("`partner`", &|pair| pair.woken.by_partner)?;
    row("mention, else partner, else previous speaker", &|pair| pair.woken.by_previous)?;
    for dial in Dial::ALL {
        let thresholds = dial.thresholds(false);
        let name = format!("gate {dial:?}, from {}", thresholds.wake).to_lowercase();
        row(&name, &|pair| thresholds.would(pair.score) == Would::Wake)?;
    }
    writeln!(out)?;
    Ok(())
}

fn curve(set: &Set, out: &mut impl Write) -> Result<()> {
    let curve = set.curve();
    writeln!(out, "| at | wakes | recall | threshold |\n|---|---|---|---|")?;
    for most in [0.5, 0.75, 1.0, 1.15, 1.5, 2.0] {
        let found = curve.iter().rev().find(|(_, reached)| reached.wakes <= most);
        if let Some((threshold, Reached { wakes, recall, .. })) = found {
            writeln!(out, "| {most} wakes | {wakes:.3} | {recall:.3} | {threshold} |")?;
        }
    }
    for least in [0.8, 0.85, 0.9] {
        let found = curve.iter().find(|(_, reached)| reached.recall >= least);
        if let Some((threshold, Reached { wakes, recall, .. })) = found {
            writeln!(out, "| recall {least} | {wakes:.3} | {recall:.3} | {threshold} |")?;
        }
    }
    writeln!(out)?;
    Ok(())
}

fn calibration(set: &Set, out: &mut impl Write) -> Result<()> {
    writeln!(out, "| scores | pairs | mean score | answered |\n|---|---|---|---|")?;
    for fifth in 0..5 {
        let (from, to) = (f64::from(fifth) / 5.0, f64::from(fifth + 1) / 5.0);
        let within = || set.pairs().filter(move |pair| pair.score >= from && pair.score < to);
        let count = within().count() as f64;
        let mean = within().map(|pair| pair.score).sum::<f64>() / count;
        let answered = within().filter(|pair| pair.answered).count() as f64 / count;
        writeln!(out, "| {from:.1} to {to:.1} | {count} | {mean:.3} | {answered:.3} |")?;
    }
    writeln!(out)?;
    Ok(())
}

/// How often a router model is asked, and what the gate wakes without it then.
fn router(set: &Set, out: &mut impl Write) -> Result<()> {
    writeln!(out, "| dial with a model | asked at | of unnamed | pairs asked | surely woken |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for dial in Dial::ALL {
        let thresholds = dial.thresholds(true);
        let asks = |pair: &Pair| thresholds.would(pair.score) == Would::Ask;
        let wakes = set.reached(|pair| thresholds.would(pair.score) == Would::Wake).wakes;
        let pairs = set.reached(asks).wakes;
        let asked: Vec<_> =
            set.messages.iter().filter(|message| message.pairs.iter().any(asks)).collect();
        let share = asked.len() as f64 / set.messages.len() as f64;
        let unnamed = set.messages.iter().filter(|message| message.names_nobody).count();
        let asked_unnamed = asked.iter().filter(|message| message.names_nobody).count();
        let of_unnamed = asked_unnamed as f64 / unnamed as f64;
        let name = format!("{dial:?}").to_lowercase();
        writeln!(
            out,
            "| {name} | {:.1} % | {:.1} % | {pairs:.2} | {wakes:.2} |",
            share * 100.0,
            of_unnamed * 100.0,
        )?;
    }
    writeln!(out)?;
    Ok(())
}

fn questions(set: &Set, out: &mut impl Write) -> Result<()> {
    let thresholds = Dial::Balanced.thresholds(false);
    let is_silent = |pair: &Pair| thresholds.would(pair.score) == Would::Silent;
    let open: Vec<_> = set.messages.iter().filter(|message| message.is_open_question).collect();
    let silent = open.iter().filter(|message| message.pairs.iter().all(is_silent)).count();
    writeln!(out, "Of {} unnamed questions `balanced` leaves {silent} to nobody.", open.len())?;
    Ok(())
}

fn time(set: &Set, out: &mut impl Write) -> Result<()> {
    let mut micros: Vec<f64> = set.messages.iter().map(|message| message.micros).collect();
    micros.sort_by(f64::total_cmp);
    let at = |share: f64| micros.get((micros.len() as f64 * share) as usize).copied();
    let median = at(0.5).unwrap_or_default();
    let slowest = at(0.99).unwrap_or_default();
    writeln!(out, "{median:.1} µs for each member, median; 99 of 100 below {slowest:.1} µs.")?;
    Ok(())
}
