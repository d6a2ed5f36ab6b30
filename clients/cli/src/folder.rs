//! A folder of agents, spaces and plans.
//!
//! The subfolder gives the kind of an object and the file's name its external id. What is read here
//! is what the API gets: tool sets and texts are inserted, variables replaced.

mod environment;
mod files;
mod objects;
mod texts;
mod tool_sets;
mod variables;

pub(crate) use self::{
    environment::Environment,
    files::FileTree,
    objects::{FileObject, Folder, folder_of, is_external_id},
    texts::place as text_place,
    variables::{Variables, escaped},
};
