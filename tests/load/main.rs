//! The load program: how fast the whole local stack is, measured by hand (docs/performance.md says how).
//!
//! It starts the product's release binary as a process of its own and a model that answers at once, and prints a table.
//! - [`product`]: the product as a child process, and its HTTP door
//! - [`model`]: a model without latency
//! - [`measure`]: what is measured
//! - [`flood`]: with `--flood`, how long people wait while others flood

mod flood;
mod measure;
mod model;
mod product;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Parser;

use crate::{
    measure::{Figures, History},
    product::Product,
};

/// Measures the whole local stack.
#[derive(Parser)]
struct Flags {
    /// The product's binary; the release build beside this program unless given
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Keep nothing: measures the product on `:memory:`
    #[arg(long)]
    memory: bool,
    /// Messages of history to measure at
    #[arg(long, value_delimiter = ',', default_values_t = [50, 10_000])]
    history: Vec<u64>,
    /// Rounds of each latency
    #[arg(long, default_value_t = 300)]
    rounds: usize,
    /// Spaces under load
    #[arg(long, default_value_t = 16)]
    spaces: usize,
    /// Messages in flight in each space
    #[arg(long, default_value_t = 2)]
    in_flight: usize,
    /// Seconds of load
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Measure instead how long a person waits for an answer while a service or a member floods, for so many seconds each
    #[arg(long)]
    flood: bool,
    /// Runs a minute of the flooded agent; its space has twice as many
    #[arg(long, default_value_t = 600)]
    runs_per_minute: u32,
    /// Milliseconds from one message of the person to the next
    #[arg(long, default_value_t = 500)]
    every_ms: u64,
    /// Milliseconds that the model takes for an answer
    #[arg(long, default_value_t = 0)]
    model_ms: u64,
}

#[tokio::main]
async fn main() -> Result<(), String> {
    let flags = Flags::parse();
    let beside = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("smartspace");
    let binary = flags.binary.clone().unwrap_or(beside);
    let model = model::start(Duration::from_millis(flags.model_ms)).await?;
    if flags.flood { floods(&flags, &binary, &model).await } else { figures(&flags, &binary, &model).await }
}

/// How long a person waits while others flood.
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn floods(flags: &Flags, binary: &Path, model: &str) -> Result<(), String> {
    let (time, every) = (Duration::from_secs(flags.seconds), Duration::from_millis(flags.every_ms));
    let scene = flood::Scene { runs_per_minute: flags.runs_per_minute, time, every };
    println!("| who floods | answer, median | p95 | said | answered | the service was told | the member was told |");
    println!("|---|---|---|---|---|---|---|");
    for who in flood::FLOODS {
        let product = Product::start(binary, flags.memory, model, None).await?;
        let flood::Waited { answer, said, answered, service, member } = flood::measure(&product, scene, who).await?;
        let answer = answer.map_or("– | –".to_owned(), |answer| format!("{:.1} ms | {:.1} ms", answer.median, answer.p95));
        let words =
            |told: BTreeMap<String, usize>| told.into_iter().map(|(what, count)| format!("{what}: {count}")).collect::<Vec<_>>().join(", ");
        println!("| {who:?} | {answer} | {said} | {answered} | {} | {} |", words(service), words(member));
    }
    Ok(())
}

/// Latencies, throughput, memory, and table calls.
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn figures(flags: &Flags, binary: &Path, model: &str) -> Result<(), String> {
    println!("| history | ready | first delta, median | p95 | reply kept, median | p95 | runs a second | memory | at most |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for messages in &flags.history {
        let product = Product::start(binary, flags.memory, model, None).await?;
        let history = History { messages: *messages, spaces: flags.spaces };
        let Figures { first_delta, kept, runs_a_second } =
            measure::all(&product, &history, flags.rounds, flags.in_flight, flags.seconds).await?;
        let (now, most) = product.memory()?;
        println!(
            "| {messages} | {:.0} ms | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms | {runs_a_second:.0} | {now:.0} MB | {most:.0} MB |",
            product.ready.as_secs_f64() * 1e3,
            first_delta.median,
            first_delta.p95,
            kept.median,
            kept.p95,
        );
    }
    println!("\nTable calls from one message to its agent's reply, all told:");
    let product = Product::start(binary, true, model, Some("smartspace::embedded_table=trace")).await?;
    for (operation, count) in measure::table_calls(&product).await? {
        println!("- {operation}: {count}");
    }
    Ok(())
}
