//! Measures the size of each function and its cold start. Run by hand (docs/performance.md says
//! how), with release binaries, the samples in `events/`, and a stand-in for AWS on the same
//! machine.

use std::{
    fs::File,
    io::{Read, sink},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Parser;
use flate2::{Compression, read::DeflateEncoder};
use serde_json::{Value, json};
use smartspace_tests::{
    Result,
    function::{FUNCTIONS, Function},
    runtime::Outcome,
    samples::Sample,
    services::Services,
    world,
};

/// Measures the size and the cold start of each function
#[derive(Parser)]
struct Flags {
    /// The folder with the functions' binaries [default: the folder of this program]
    #[arg(long)]
    binaries: Option<PathBuf>,
    /// The number of starts of each function
    #[arg(long, default_value_t = 41)]
    rounds: usize,
    /// The functions to measure [default: all]
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Let the warm invocation of `run` work on two runs
    #[arg(long)]
    two_runs: bool,
}

/// How a function is measured.
struct Scenario {
    /// The samples that are handled before on the same table, each by a new process.
    before: &'static [&'static str],
    /// The first event, and one of the same cost for the warm process.
    events: [String; 2],
    /// Whether the events can be handled only once on the same table.
    once: bool,
}

/// The figures of one start.
struct Start {
    /// From the start of the process until it asks for work.
    ready: Duration,
    first: Duration,
    warm: Duration,
    /// Processor time of the warm invocation.
    used_warm: Duration,
    /// Peak memory in bytes when it asks for work.
    memory_when_ready: u64,
    /// Peak memory in bytes after both invocations.
    memory_in_the_end: u64,
}

const HEADER: &str = "\
| function | binary | zipped | asks for work after, median | p95 | memory then \
| first invocation | warm invocation | processor time of it | memory then |
|---|---|---|---|---|---|---|---|---|---|";

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn main() -> Result<()> {
    let flags = Flags::parse();
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = flags
        .binaries
        .clone()
        .unwrap_or_else(|| program.parent().unwrap_or(Path::new(".")).to_owned());
    println!("{HEADER}");
    for name in FUNCTIONS
        .iter()
        .filter(|name| flags.only.is_empty() || flags.only.iter().any(|only| only == *name))
    {
        let binary = folder.join(name);
        let (bytes, zipped_bytes) = size(&binary)?;
        let starts = measure(scenario(name, flags.two_runs)?, name, &folder, flags.rounds).await?;
        println!("| `{name}` | {} |", cells(bytes, zipped_bytes, &starts).join(" | "));
    }
    Ok(())
}

/// The cells of a function's row.
fn cells(bytes: u64, zipped_bytes: u64, starts: &[Start]) -> [String; 9] {
    let time = |of: fn(&Start) -> Duration, part: f64| {
        let millis = starts.iter().map(|start| of(start).as_secs_f64() * 1e3).collect();
        format!("{:.1} ms", quantile(millis, part))
    };
    let memory = |of: fn(&Start) -> u64| {
        let megabytes = starts.iter().map(|start| of(start) as f64 / 1e6).collect();
        format!("{:.1} MB", quantile(megabytes, 0.5))
    };
    [
        format!("{:.1} MB", bytes as f64 / 1e6),
        format!("{:.2} MB", zipped_bytes as f64 / 1e6),
        time(|start| start.ready, 0.5),
        time(|start| start.ready, 0.95),
        memory(|start| start.memory_when_ready),
        time(|start| start.first, 0.5),
        time(|start| start.warm, 0.5),
        time(|start| start.used_warm, 0.5),
        memory(|start| start.memory_in_the_end),
    ]
}

/// The size of a binary in bytes, and its size in a zip file.
fn size(program: &Path) -> Result<(u64, u64)> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    let file = File::open(program).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let mut zipped = DeflateEncoder::new(file, Compression::best());
    std::io::copy(&mut zipped.by_ref(), &mut sink()).map_err(failed)?;
    Ok((bytes, zipped.total_out()))
}

fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part) as usize]
}

/// Measures `rounds` starts of a function.
async fn measure(
    scenario: Scenario,
    name: &str,
    folder: &Path,
    rounds: usize,
) -> Result<Vec<Start>> {
    let mut services = prepared(&scenario, folder).await?;
    let mut starts = Vec::with_capacity(rounds);
    // Round 0 only loads the binary into the page cache.
    for round in 0..=rounds {
        if scenario.once {
            services = prepared(&scenario, folder).await?;
        }
        let start = measure_start(name, &folder.join(name), &services, &scenario).await?;
        if round > 0 {
            starts.push(start);
        }
    }
    Ok(starts)
}

async fn measure_start(
    name: &str,
    program: &Path,
    services: &Services,
    scenario: &Scenario,
) -> Result<Start> {
    let mut function = Function::start(name, program, services).await?;
    let ready = function.begun().await?;
    let peak_memory = |function: &Function| function.memory().map_or(0, |(_, peak)| peak);
    let memory_when_ready = peak_memory(&function);
    let used = |function: &Function| function.processor_time().unwrap_or_default();
    let mut times = [Duration::ZERO; 2];
    let mut used_before = Duration::ZERO;
    for (event, time) in scenario.events.iter().zip(&mut times) {
        used_before = used(&function);
        let started = Instant::now();
        let outcome = function.invoke(event).await?;
        *time = started.elapsed();
        if let Outcome::Failed(failure) = outcome {
            return Err(format!("{name} failed: {failure}\n{}", function.log()));
        }
    }
    services.calls();
    let [first, warm] = times;
    let used_warm = used(&function).saturating_sub(used_before);
    let memory_in_the_end = peak_memory(&function);
    Ok(Start { ready, first, warm, used_warm, memory_when_ready, memory_in_the_end })
}

/// Starts the services of a scenario and handles its earlier samples.
async fn prepared(scenario: &Scenario, folder: &Path) -> Result<Services> {
    let services = Services::start(world::make().await?).await?;
    for step in scenario.before {
        let sample = Sample::named(step)?;
        let mut function =
            Function::start(&sample.function, &folder.join(&sample.function), &services).await?;
        function.invoke(&sample.event()?).await?;
    }
    Ok(services)
}

fn scenario(function: &str, two_runs: bool) -> Result<Scenario> {
    let event = |name: &str| Sample::named(name)?.event();
    let twice = |before, name: &str| {
        Ok(Scenario { before, events: [event(name)?, event(name)?], once: false })
    };
    match function {
        "api" => twice(&[], "api/get-messages"),
        "broadcast" => twice(&["socket/connect", "socket/subscribe"], "broadcast/event"),
        "socket" => twice(&["socket/connect"], "socket/ping"),
        // The earlier sweep handles the due items, so that both measured ones find none.
        "sweep" => twice(&["sweep/schedule"], "sweep/schedule"),
        "trigger" => twice(&["run/form"], "trigger/wake-run"),
        "run" => {
            let [message, mention] = [event("run/message")?, event("run/mention")?];
            let events = if two_runs {
                [event("run/form")?, together(&message, &mention)?]
            } else {
                [message, mention]
            };
            Ok(Scenario { before: &[], events, once: true })
        }
        other => Err(format!("there is no function {other}")),
    }
}

/// The event `first` with the run of `second` in the same job.
fn together(first: &str, second: &str) -> Result<String> {
    let parsed =
        |event: &str| serde_json::from_str::<Value>(event).map_err(|error| error.to_string());
    let body_of = |event: &Value| parsed(event["Records"][0]["body"].as_str().unwrap_or_default());
    let mut event = parsed(first)?;
    let mut body = body_of(&event)?;
    body["also"] = json!([body_of(&parsed(second)?)?]);
    event["Records"][0]["body"] = body.to_string().into();
    Ok(event.to_string())
}
