//! How heavy each function is, and how long it takes to begin: measured by hand (docs/performance.md says how), on release binaries, with the samples of
//! `events/` and a stand-in for AWS on the same machine.

use std::{
    fs::File,
    io::{Read, sink},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Parser;
use flate2::{Compression, read::DeflateEncoder};
use smartspace_tests::{
    Result,
    function::{FUNCTIONS, Function},
    runtime::Outcome,
    samples::Sample,
    services::Services,
    world,
};

/// Measures each function by itself.
#[derive(Parser)]
struct Flags {
    /// Where the functions' binaries are; beside this program unless given
    #[arg(long)]
    binaries: Option<PathBuf>,
    /// Starts of each function
    #[arg(long, default_value_t = 41)]
    rounds: usize,
    /// Which functions; all unless given
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// What is measured of a function.
struct Scene {
    /// What was invoked before on the same table, by processes of their own.
    before: &'static [&'static str],
    /// The first event and one that is worked on when it is warm, which costs the same.
    events: [String; 2],
    /// What is invoked can be done once only.
    once: bool,
}

/// What one start showed.
struct Seen {
    begun: Duration,
    first: Duration,
    warm: Duration,
    /// Bytes: the most until it asked for work, and until both were answered.
    memory: (u64, u64),
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the table is what it is for")]
async fn main() -> Result<()> {
    let flags = Flags::parse();
    let beside = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = flags.binaries.clone().unwrap_or_else(|| beside.parent().unwrap_or(Path::new(".")).to_owned());
    println!(
        "| function | binary | zipped | asks for work after, median | p95 | memory then | first invocation | warm invocation | memory then |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for name in FUNCTIONS.iter().filter(|name| flags.only.is_empty() || flags.only.iter().any(|only| only == *name)) {
        let binary = folder.join(name);
        let (whole, zipped) = size(&binary)?;
        let seen = rounds(name, &folder, flags.rounds).await?;
        let times = |of: fn(&Seen) -> Duration, part: f64| nth(seen.iter().map(|seen| of(seen).as_secs_f64() * 1e3).collect(), part);
        let memory = |of: fn(&Seen) -> u64| nth(seen.iter().map(|seen| of(seen) as f64 / 1e6).collect(), 0.5);
        println!(
            "| `{name}` | {:.1} MB | {:.2} MB | {:.1} ms | {:.1} ms | {:.1} MB | {:.1} ms | {:.1} ms | {:.1} MB |",
            whole as f64 / 1e6,
            zipped as f64 / 1e6,
            times(|seen| seen.begun, 0.5),
            times(|seen| seen.begun, 0.95),
            memory(|seen| seen.memory.0),
            times(|seen| seen.first, 0.5),
            times(|seen| seen.warm, 0.5),
            memory(|seen| seen.memory.1),
        );
    }
    Ok(())
}

/// Of a binary: its bytes, and those that a zip file of it holds.
fn size(program: &Path) -> Result<(u64, u64)> {
    let told = |error: std::io::Error| format!("{}: {error}", program.display());
    let file = File::open(program).map_err(told)?;
    let whole = file.metadata().map_err(told)?.len();
    let mut zipped = DeflateEncoder::new(file, Compression::best());
    std::io::copy(&mut zipped.by_ref(), &mut sink()).map_err(told)?;
    Ok((whole, zipped.total_out()))
}

fn nth(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * part) as usize]
}

async fn rounds(name: &str, folder: &Path, count: usize) -> Result<Vec<Seen>> {
    let scene = scene(name)?;
    let mut services = prepared(&scene, folder).await?;
    let mut seen = Vec::with_capacity(count);
    // The first one brings the binary into the system's memory.
    for round in 0..=count {
        if scene.once {
            services = prepared(&scene, folder).await?;
        }
        let one = once(name, &folder.join(name), &services, &scene).await?;
        if round > 0 {
            seen.push(one);
        }
    }
    Ok(seen)
}

async fn once(name: &str, program: &Path, services: &Services, scene: &Scene) -> Result<Seen> {
    let mut function = Function::start(name, program, services).await?;
    let begun = function.begun().await?;
    let most = |function: &Function| function.memory().map_or(0, |(_, most)| most);
    let at_first = most(&function);
    let mut times = [Duration::ZERO; 2];
    for (event, time) in scene.events.iter().zip(&mut times) {
        let started = Instant::now();
        let outcome = function.invoke(event).await?;
        *time = started.elapsed();
        if let Outcome::Failed(failure) = outcome {
            return Err(format!("{name} failed: {failure}\n{}", function.log()));
        }
    }
    services.calls();
    Ok(Seen { begun, first: times[0], warm: times[1], memory: (at_first, most(&function)) })
}

/// Services on which the scene may be played.
async fn prepared(scene: &Scene, folder: &Path) -> Result<Services> {
    let services = Services::start(world::make().await?).await?;
    for step in scene.before {
        let sample = Sample::named(step)?;
        let mut function = Function::start(&sample.function, &folder.join(&sample.function), &services).await?;
        function.invoke(&sample.event()?).await?;
    }
    Ok(services)
}

fn scene(function: &str) -> Result<Scene> {
    let event = |name: &str| Sample::named(name)?.event();
    let twice = |before, name: &str| Ok(Scene { before, events: [event(name)?, event(name)?], once: false });
    match function {
        "api" => twice(&[], "api/get-messages"),
        "broadcast" => twice(&["socket/connect", "socket/subscribe"], "broadcast/event"),
        "socket" => twice(&["socket/connect"], "socket/ping"),
        // What it finds the first time is not overdue the next time.
        "sweep" => twice(&["sweep/schedule"], "sweep/schedule"),
        "trigger" => twice(&["run/form"], "trigger/wake-run"),
        "run" => Ok(Scene { before: &[], events: [event("run/message")?, event("run/mention")?], once: true }),
        other => Err(format!("there is no function {other}")),
    }
}
