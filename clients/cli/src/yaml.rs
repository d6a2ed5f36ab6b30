//! YAML and JSON files as JSON values that know their lines.

mod reader;
mod scalars;
mod tree;
mod writer;

pub(crate) use self::{
    reader::read,
    tree::{Node, NodeKind, Origin},
    writer::write,
};
