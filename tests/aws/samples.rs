//! The samples of `events/`: a folder for each function, a file for each way to invoke it.

use std::{fs, path::PathBuf};

use crate::{Result, text};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// The function.
    pub function: String,
    /// The case: the file's name.
    pub case: String,
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../events"))
}

impl Sample {
    /// The one named like `run/message`.
    pub fn named(name: &str) -> Result<Self> {
        let (function, case) = name.split_once('/').ok_or_else(|| format!("expected function/case, got {name:?}"))?;
        Ok(Self { function: function.into(), case: case.into() })
    }

    /// The event, as it is.
    pub fn event(&self) -> Result<String> {
        let path = folder().join(&self.function).join(format!("{}.json", self.case));
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// All that are there, in order.
    pub fn all() -> Result<Vec<Self>> {
        let mut samples = Vec::new();
        for function in fs::read_dir(folder()).map_err(text)? {
            let function = function.map_err(text)?;
            for case in fs::read_dir(function.path()).map_err(text)? {
                let case = case.map_err(text)?.file_name().to_string_lossy().trim_end_matches(".json").to_owned();
                samples.push(Self { function: function.file_name().to_string_lossy().into_owned(), case });
            }
        }
        samples.sort();
        Ok(samples)
    }
}
