//! The commands of the binary `smartspace` that talk to a deployment.
//!
//! - `yaml`: YAML and JSON files as values that know their lines
//! - `folder`: a folder of agents, spaces and plans, as the API gets it

// Public items come with the commands, which are not written yet.
#![allow(dead_code, unused_imports)]

mod faults;
mod folder;
mod yaml;
