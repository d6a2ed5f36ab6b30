//! Measures latency and throughput of the whole local stack. Run by hand (docs/performance.md says
//! how).
//!
//! It starts the product's release binary as a child process and a model that answers at once, and
//! prints a table. Latency and throughput are measured without rate limits, because one space gets
//! more than 20 messages a second. Floods are measured with them.
//!
//! - [`product`]: the product as a child process, and its HTTP API.
//! - [`model`]: a model without latency.
//! - [`measure`]: the measurements.
//! - [`flood`]: with `--flood`, how long people wait during a flood of messages.
//! - [`room`]: with `--room`, a space with many followers.
//! - [`endurance`]: with `--minutes`, latency, memory and files in the course of a long load.
//! - [`hostile`]: with `--hostile`, how much a hostile member disturbs others.
//! - [`search`]: with `--search`, how long searches take, and how much they disturb others.

mod endurance;
mod flood;
mod hostile;
mod measure;
mod model;
mod product;
mod room;
mod search;

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

/// Measures the whole local stack
#[derive(Parser)]
struct Flags {
    /// The product's binary [default: `smartspace` in the folder of this program]
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Measure the product without a folder, on `:memory:`
    #[arg(long)]
    memory: bool,
    /// Ask the model once more after an answer has posted a message: `loop.endAfterSend` is false
    #[arg(long)]
    asks_twice: bool,
    /// Messages in each space before the measurement; one row for each number
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
    /// Measure instead how long a person waits for an answer during a flood by a service or a
    /// member, for `--seconds` each
    #[arg(long)]
    flood: bool,
    /// Measure instead how much a hostile member disturbs other spaces and a quiet member of its
    /// space, in phases of `--seconds` each
    #[arg(long)]
    hostile: bool,
    /// Measure instead a space with so many followers, in which three agents answer at the same
    /// time; one row for each number, `--rounds` messages each
    #[arg(long, value_delimiter = ',')]
    room: Vec<usize>,
    /// Measure instead searches, in a space of so many messages and in 40 spaces with as many
    /// together; a person writes beside a searcher for `--seconds`
    #[arg(long)]
    search: Option<usize>,
    /// How often the product is killed with `--search` while it builds blocks
    #[arg(long, default_value_t = 0)]
    kills: usize,
    /// Measure instead so many minutes of load: a message every `--every-ms` in each of `--spaces`
    #[arg(long)]
    minutes: Option<u64>,
    /// Undisturbed and hostile phases with `--hostile`
    #[arg(long, default_value_t = 3)]
    phases: usize,
    /// Limit the partitions of the table as DynamoDB does: 1,000 write and 3,000 read units a
    /// second
    #[arg(long)]
    partition_limits: bool,
    /// The flooded agent's limit of runs a minute; its space has twice as many
    #[arg(long, default_value_t = 600)]
    runs_per_minute: u32,
    /// Milliseconds between two messages of a person
    #[arg(long, default_value_t = 500)]
    every_ms: u64,
    /// Milliseconds until the model answers
    #[arg(long, default_value_t = 0)]
    model_ms: u64,
}

#[tokio::main]
async fn main() -> Result<(), String> {
    let flags = Flags::parse();
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let name = if flags.partition_limits { "smartspace-limited" } else { "smartspace" };
    let binary = flags.binary.clone().unwrap_or(program.with_file_name(name));
    let model = model::start(Duration::from_millis(flags.model_ms)).await?;
    if !flags.room.is_empty() {
        rooms(&flags, &binary).await
    } else if let Some(minutes) = flags.minutes {
        long_load(&flags, &binary, &model, minutes).await
    } else if let Some(messages) = flags.search {
        searches(&flags, &binary, &model, messages).await
    } else if flags.hostile {
        hostilities(&flags, &binary, &model).await
    } else if flags.flood {
        floods(&flags, &binary, &model).await
    } else {
        figures(&flags, &binary, &model).await
    }
}

/// The flag of a product that accepts any number of messages in one space.
const UNLIMITED: [&str; 1] = ["--no-rate-limit"];

const FLOODS_HEADER: &str = "\
| flooded by | answer, median | p95 | posted | answered | answers to the service \
| answers to the member |
|---|---|---|---|---|---|---|";

const FIGURES_HEADER: &str = "\
| history | ready | first text, median | p95 | reply stored, median | p95 | runs a second \
| processor time a run | memory | maximum |
|---|---|---|---|---|---|---|---|---|---|";

/// Prints how long a person waits during each flood.
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn floods(flags: &Flags, binary: &Path, model: &str) -> Result<(), String> {
    let settings = flood::FloodSettings {
        runs_per_minute: flags.runs_per_minute,
        time: Duration::from_secs(flags.seconds),
        every: Duration::from_millis(flags.every_ms),
    };
    println!("{FLOODS_HEADER}");
    for flood in flood::FLOODS {
        let product = Product::start(binary, flags.memory, &[], model, None).await?;
        let flood::FloodFigures { answer, posted, answered, service, member } =
            flood::measure(&product, settings, flood).await?;
        let answer = answer.map_or("– | –".to_owned(), |answer| {
            format!("{:.1} ms | {:.1} ms", answer.median, answer.p95)
        });
        let list = |outcomes: BTreeMap<String, usize>| {
            outcomes
                .into_iter()
                .map(|(outcome, count)| format!("{outcome}: {count}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        println!(
            "| {flood:?} | {answer} | {posted} | {answered} | {} | {} |",
            list(service),
            list(member)
        );
    }
    Ok(())
}

const HOSTILE_HEADER: &str = "\
| member | posted | 201, median | p95 | first text, median | p95 | answers |
|---|---|---|---|---|---|---|";

/// Prints how much a hostile member disturbs others.
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn hostilities(flags: &Flags, binary: &Path, model: &str) -> Result<(), String> {
    let settings = hostile::HostileSettings {
        rounds: flags.phases,
        phase: Duration::from_secs(flags.seconds),
        every: Duration::from_millis(flags.every_ms),
    };
    let product = Product::start(binary, flags.memory, &[], model, None).await?;
    let figures = hostile::measure(&product, settings).await?;
    println!("{HOSTILE_HEADER}");
    for waits in figures.waits {
        let times = |times: Option<measure::Latency>| {
            times.map_or("– | –".to_owned(), |times| {
                format!("{:.1} ms | {:.1} ms", times.median, times.p95)
            })
        };
        println!(
            "| {} | {} | {} | {} | {:?} |",
            waits.name,
            waits.posted,
            times(waits.accepted),
            times(waits.first_delta),
            waits.statuses,
        );
    }
    println!("\nThe hostile member:");
    for (outcome, count) in figures.flooder {
        println!("- {outcome}: {count}");
    }
    let (now, most) = product.memory()?;
    println!(
        "\n{} messages were accepted, {} of them are lost; {} calls of the table were throttled; \
         memory {now:.0} MB, at most {most:.0} MB",
        figures.accepted, figures.lost, figures.throttled,
    );
    Ok(())
}

const ENDURANCE_HEADER: &str = "\
| messages | first text, median | p95 | reply stored, median | p95 | memory | files \
| of these, log |
|---|---|---|---|---|---|---|---|";

/// Prints what a long load does to the product.
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn long_load(flags: &Flags, binary: &Path, model: &str, minutes: u64) -> Result<(), String> {
    let settings = endurance::EnduranceSettings {
        rooms: flags.spaces,
        every: Duration::from_millis(flags.every_ms),
        time: Duration::from_mins(minutes),
    };
    println!("{ENDURANCE_HEADER}");
    let show = |part: endurance::Part| {
        println!(
            "| {} | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms | {:.0} MB | {:.1} MB | {:.1} MB |",
            part.messages,
            part.first_delta.median,
            part.first_delta.p95,
            part.stored.median,
            part.stored.p95,
            part.memory,
            part.folder as f64 / 1e6,
            part.log as f64 / 1e6,
        );
    };
    let ready = endurance::measure(binary, &UNLIMITED, model, settings, show).await?;
    println!(
        "\nStarted again on these files, it answers after {:.0} ms",
        ready.as_secs_f64() * 1e3
    );
    Ok(())
}

/// Prints how long searches take.
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn searches(
    flags: &Flags,
    binary: &Path,
    model: &str,
    messages: usize,
) -> Result<(), String> {
    let settings = search::SearchSettings {
        messages,
        kills: flags.kills,
        time: Duration::from_secs(flags.seconds),
    };
    let figures = Box::pin(search::measure(binary, &UNLIMITED, model, settings)).await?;
    let seconds = |time: Duration| time.as_secs_f64();
    let row = |what: &str, times: measure::Latency| {
        println!("| {what} | {:.1} ms | {:.1} ms |", times.median, times.p95);
    };
    println!("| {messages} messages | median | p95 |\n|---|---|---|");
    row("one space", figures.long);
    row("40 spaces", figures.many);
    row("a message, alone", figures.posts[0]);
    row("a message, beside a searcher", figures.posts[1]);
    println!(
        "\nWithout blocks: first answer after {:.3} s, incomplete: {}; complete after {:.1} s",
        seconds(figures.cold),
        figures.cold_incomplete,
        seconds(figures.complete),
    );
    println!("All messages were read in {:.1} s", seconds(figures.read_all));
    println!("Answers to the searcher: {:?}", figures.statuses);
    for text in figures.wrong {
        println!("WRONG {text}");
    }
    Ok(())
}

const ROOMS_HEADER: &str = "\
| followers | delta's age, median | p95 | maximum | message, median | p95 | frames | table calls \
| queue requests | warnings | memory | maximum |
|---|---|---|---|---|---|---|---|---|---|---|---|";

/// Prints how late the frames of large rooms are, and what they take.
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn rooms(flags: &Flags, binary: &Path) -> Result<(), String> {
    println!("{ROOMS_HEADER}");
    for followers in &flags.room {
        let room = room::measure(binary, flags.memory, *followers, flags.rounds).await?;
        println!(
            "| {} | {:.0} ms | {:.0} ms | {:.0} ms | {:.0} ms | {:.0} ms | {} | {} | {} | {} \
             | {:.0} MB | {:.0} MB |",
            room.followers,
            room.deltas.median,
            room.deltas.p95,
            room.latest.as_secs_f64() * 1e3,
            room.messages.median,
            room.messages.p95,
            room.frames,
            room.table_calls,
            room.queue_requests,
            room.warnings,
            room.memory.0,
            room.memory.1,
        );
    }
    Ok(())
}

/// Prints latencies, throughput, memory, and the table calls of a message.
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn figures(flags: &Flags, binary: &Path, model: &str) -> Result<(), String> {
    println!("{FIGURES_HEADER}");
    for messages in &flags.history {
        let mut product = Product::start(binary, flags.memory, &UNLIMITED, model, None).await?;
        product.ends_after_send = !flags.asks_twice;
        let history = History { messages: *messages, spaces: flags.spaces };
        let Figures { first_delta, stored, runs_a_second, processor } =
            measure::all(&product, &history, flags.rounds, flags.in_flight, flags.seconds).await?;
        let (now, most) = product.memory()?;
        println!(
            "| {messages} | {:.0} ms | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms \
             | {runs_a_second:.0} | {processor:.2} ms | {now:.0} MB | {most:.0} MB |",
            product.ready.as_secs_f64() * 1e3,
            first_delta.median,
            first_delta.p95,
            stored.median,
            stored.p95,
        );
    }
    println!("\nTable calls from one message to the reply of its agent:");
    let mut product =
        Product::start(binary, true, &[], model, Some("smartspace::sqlite_table=trace")).await?;
    product.ends_after_send = !flags.asks_twice;
    for (operation, count) in measure::table_calls(&product).await? {
        println!("- {operation}: {count}");
    }
    Ok(())
}
