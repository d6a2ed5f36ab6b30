//! Logs of IRC with links from answers to what they answer.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use smartspace_domain::{
    Time,
    gate::{Line, Member, Talk, WINDOW},
    ids::EntityId,
};

use crate::Result;

/// Lines before this one are history only: they have no links.
const FIRST: usize = 1_000;
const MINUTES_OF_DAY: i64 = 1_440;

/// The messages of a log, and which answer which.
pub(crate) struct Log {
    /// The names of its people and bots.
    names: Vec<String>,
    messages: Vec<Spoken>,
    /// The message that stands at a line, for lines that are none of the server.
    by_line: HashMap<usize, usize>,
    /// The messages that answer a message.
    answers: HashMap<usize, Vec<usize>>,
    /// The last line that has a link.
    last: usize,
}

struct Spoken {
    line: usize,
    minute: i64,
    speaker: usize,
    text: String,
}

/// A message, those who could answer it, and those who did.
pub(crate) struct Asked<'a> {
    before: Vec<Line<'a>>,
    message: Line<'a>,
    members: Vec<Member<'a>>,
    /// Who spoke in the 50 messages before, without the sender, sorted.
    pub(crate) candidates: Vec<EntityId>,
    /// Whether each of them answered.
    pub(crate) answered: Vec<bool>,
    /// How many others answered, who had not spoken.
    pub(crate) out_of_reach: usize,
}

impl Asked<'_> {
    /// The message as the gate reads it.
    pub(crate) fn talk(&self) -> Talk<'_> {
        Talk { before: &self.before, message: &self.message, members: &self.members }
    }
}

/// The logs of a folder, by their names.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Log>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".ascii.txt") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| Log::read(path)).collect()
}

impl Log {
    fn read(path: &Path) -> Result<Self> {
        let links = path.to_string_lossy().replace(".ascii.txt", ".annotation.txt");
        let mut log = Self {
            names: Vec::new(),
            messages: Vec::new(),
            by_line: HashMap::new(),
            answers: HashMap::new(),
            last: 0,
        };
        log.read_lines(&fs::read_to_string(path)?);
        log.read_links(&fs::read_to_string(links)?)?;
        Ok(log)
    }

    fn read_lines(&mut self, text: &str) {
        let mut places: HashMap<String, usize> = HashMap::new();
        let (mut day, mut last) = (0, 0);
        for (line, text) in text.lines().enumerate() {
            let Some((minute, name, text)) = said(text) else { continue };
            if minute + MINUTES_OF_DAY / 2 < last {
                day += MINUTES_OF_DAY;
            }
            last = minute;
            let next = self.names.len();
            // IRC ignores the case of names.
            let speaker = *places.entry(name.to_lowercase()).or_insert(next);
            if speaker == next {
                self.names.push(name.to_owned());
            }
            self.by_line.insert(line, self.messages.len());
            let minute = day + minute;
            self.messages.push(Spoken { line, minute, speaker, text: text.to_owned() });
        }
    }

    fn read_links(&mut self, text: &str) -> Result<()> {
        for link in text.lines() {
            let mut lines = link.split_whitespace();
            let mut next = || lines.next().unwrap_or_default().parse::<usize>();
            let (one, other) = (next()?, next()?);
            let (asked, answer) = (one.min(other), one.max(other));
            self.last = self.last.max(answer);
            let found = (self.by_line.get(&asked), self.by_line.get(&answer));
            if let (Some(asked), Some(answer)) = found
                && asked < answer
            {
                self.answers.entry(*asked).or_default().push(*answer);
            }
        }
        Ok(())
    }

    /// The messages that have links, each with the 50 before it.
    pub(crate) fn asked(&self) -> impl Iterator<Item = Asked<'_>> {
        let has_links = |said: &Spoken| (FIRST..=self.last).contains(&said.line);
        let chosen = (0..self.messages.len()).filter(move |at| has_links(&self.messages[*at]));
        chosen.map(|at| self.asked_at(at))
    }

    fn asked_at(&self, at: usize) -> Asked<'_> {
        let start = at.saturating_sub(WINDOW);
        let said = &self.messages[at];
        let mut speakers: Vec<usize> =
            self.messages[start..at].iter().map(|said| said.speaker).collect();
        speakers.push(said.speaker);
        speakers.sort_unstable();
        speakers.dedup();
        let answers = self.answers.get(&at).map_or(&[][..], Vec::as_slice);
        let answered: HashSet<usize> =
            answers.iter().map(|answer| self.messages[*answer].speaker).collect();
        let candidates: Vec<usize> =
            speakers.iter().copied().filter(|who| *who != said.speaker).collect();
        Asked {
            before: (start..at).map(|at| self.line(at)).collect(),
            message: self.line(at),
            members: speakers.iter().map(|who| self.member(*who)).collect(),
            candidates: candidates.iter().map(|who| id(*who)).collect(),
            answered: candidates.iter().map(|who| answered.contains(who)).collect(),
            out_of_reach: answered
                .iter()
                .filter(|who| **who != said.speaker && !candidates.contains(who))
                .count(),
        }
    }

    fn line(&self, at: usize) -> Line<'_> {
        let said = &self.messages[at];
        let time = Time::from_millis(said.minute * 60_000);
        Line::new(at as u64 + 1, time, id(said.speaker), &said.text)
    }

    fn member(&self, who: usize) -> Member<'_> {
        Member { id: id(who), name: &self.names[who], description: None }
    }
}

fn id(who: usize) -> EntityId {
    EntityId::new(Time::from_millis(0), who as u128)
}

/// The minute of the day, the sender and the text of a line. `None` for lines of the server.
fn said(line: &str) -> Option<(i64, &str, &str)> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (hours, minutes) = time.split_once(':')?;
    let minute = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
    if let Some(rest) = rest.strip_prefix(" <") {
        let (name, text) = rest.split_once('>')?;
        return Some((minute, name, text.trim()));
    }
    let action = rest.trim_start().strip_prefix("* ")?;
    let (name, text) = action.split_once(' ').unwrap_or((action, ""));
    Some((minute, name, text))
}
