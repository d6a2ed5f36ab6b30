//! YAML and JSON files as JSON values that know their lines.

#[cfg(test)]
mod hostile;
mod reader;
mod scalars;
mod tree;
mod writer;

pub(crate) use self::{
    reader::read,
    tree::{Node, NodeKind},
    writer::write,
};
