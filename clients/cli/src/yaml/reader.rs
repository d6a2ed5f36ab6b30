//! Reads YAML strictly. A file of an agent is read by people and by other tools, so what two
//! readers could understand differently is an error: merge keys, tags, names that occur twice.

use std::{collections::HashMap, sync::Arc};

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::{Node, NodeKind, scalars};
use crate::faults::{FileFault, Origin};

/// How long a file may be, in bytes: as long as a whole apply.
pub(crate) const FILE_BYTES: usize = smartspace_domain::projects::APPLY_BYTES;
/// How deep lists and maps may stand in each other.
const DEPTH: usize = 64;
/// How many values a file may have, those that aliases repeat included.
const NODES: usize = 100_000;
/// How many names a map may have.
const NAMES: usize = 1_000;
/// How many aliases a file may have.
const ALIASES: usize = 1_000;
/// How long all texts of a file may be together, those that aliases repeat included.
const TEXT_BYTES: usize = 2 * FILE_BYTES;

/// A file's value, and whether the file has comments.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) root: Node,
    pub(crate) has_comments: bool,
}

/// Reads the bytes of the file at the path `file`.
pub(crate) fn read(file: &str, bytes: &[u8]) -> Result<Read, FileFault> {
    let file: Arc<str> = file.into();
    let fault = |line: usize, detail: &str| {
        FileFault::new(Origin { file: Arc::clone(&file), line }, detail)
    };
    if bytes.len() > FILE_BYTES {
        return Err(fault(1, &format!("expected a file of at most {FILE_BYTES} bytes")));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let detail = "expected UTF-8, got other bytes; save the file as UTF-8";
            return Err(fault(line_after(&valid), detail));
        }
    };
    if text.starts_with('\u{feff}') {
        let detail = "expected no byte order mark; save the file as UTF-8 without one";
        return Err(fault(1, detail));
    }
    if let Some(at) = text.find('\0') {
        let line = line_after(&text[..at]);
        return Err(fault(line, "expected a text file, got a NUL character"));
    }
    let mut builder = Builder::new(Arc::clone(&file));
    let mut parser = Parser::new_from_str(text);
    builder.read(&mut parser)?;
    let Builder { root, has_comments, .. } = builder;
    let root = root.ok_or_else(|| fault(1, "expected a map such as `name: Ada`, got nothing"))?;
    Ok(Read { root, has_comments })
}

fn line_after(text: &str) -> usize {
    1 + text.matches('\n').count()
}

/// A list or a map whose end has not come.
struct Open {
    node: Node,
    anchor: usize,
    /// The name whose value comes next, with its line.
    name: Option<(String, usize)>,
}

struct Builder {
    file: Arc<str>,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Node>,
    has_comments: bool,
    documents: usize,
    aliases: usize,
    nodes: usize,
    text_bytes: usize,
}

impl Builder {
    fn new(file: Arc<str>) -> Self {
        Self {
            file,
            open: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            has_comments: false,
            documents: 0,
            aliases: 0,
            nodes: 0,
            text_bytes: 0,
        }
    }

    fn read<'input>(
        &mut self,
        parser: &mut Parser<'input, StrInput<'input>>,
    ) -> Result<(), FileFault> {
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| {
                let line = error.marker().line().max(1);
                self.fault(line, format!("expected YAML: {}", explained(&error.to_string())))
            })?;
            self.take(event, span)?;
        }
        Ok(())
    }

    fn fault(&self, line: usize, detail: impl Into<String>) -> FileFault {
        FileFault::new(Origin { file: Arc::clone(&self.file), line }, detail)
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), FileFault> {
        let line = span.start.line().max(1);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.fault(line, "expected one document, got a second one"));
                }
            }
            Event::Comment(..) => self.has_comments = true,
            Event::Alias(anchor) => {
                self.aliases += 1;
                if self.aliases > ALIASES {
                    return Err(self.fault(line, format!("expected at most {ALIASES} aliases")));
                }
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.fault(line, "expected an alias of a value that is complete"));
                };
                self.count(&node, line)?;
                self.put(node, line)?;
            }
            Event::UnresolvedAlias(name) => {
                return Err(self.fault(line, format!("there is no anchor {name:?} above")));
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), line)?;
                self.scalar(&text, style, anchor, line)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), line)?;
                self.begin(NodeKind::List(Vec::new()), anchor, line)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), line)?;
                self.begin(NodeKind::Map(Vec::new()), anchor, line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { node, anchor, .. }) = self.open.pop() {
                    let line = node.origin.line;
                    if anchor != 0 {
                        // A copy takes as much memory as what an alias repeats.
                        self.count(&node, line)?;
                        self.anchors.insert(anchor, node.clone());
                    }
                    self.put(node, line)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn refuse_tag(&self, has_tag: bool, line: usize) -> Result<(), FileFault> {
        if has_tag {
            return Err(self.fault(line, "expected a value without a tag such as `!!str`"));
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        line: usize,
    ) -> Result<(), FileFault> {
        let is_plain = style == ScalarStyle::Plain;
        if self.expects_a_name() {
            if is_plain && text == "<<" {
                return Err(self.fault(line, "expected no merge key `<<`; repeat the fields"));
            }
            // The parser gives `~` for a name that is missing.
            if is_plain && (text.is_empty() || text == "~") {
                return Err(self.fault(line, "expected a name before the colon"));
            }
            return self.name(text.to_owned(), line);
        }
        let kind = if is_plain {
            scalars::plain(text).map_err(|detail| self.fault(line, detail))?
        } else {
            NodeKind::Text(text.to_owned())
        };
        let node = Node { origin: Origin { file: Arc::clone(&self.file), line }, kind };
        self.count(&node, line)?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.put(node, line)
    }

    fn expects_a_name(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| matches!(open.node.kind, NodeKind::Map(_)) && open.name.is_none())
    }

    fn name(&mut self, name: String, line: usize) -> Result<(), FileFault> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if open.node.fields().len() >= NAMES {
            return Err(self.fault(line, format!("expected at most {NAMES} names in a map")));
        }
        let before = open.node.fields().iter().find(|(own, ..)| *own == name);
        if let Some((_, before, _)) = before {
            let detail = format!("expected each name once, got {name:?} as in line {before}");
            return Err(self.fault(line, detail));
        }
        self.text_bytes += name.len();
        open.name = Some((name, line));
        Ok(())
    }

    fn begin(&mut self, kind: NodeKind, anchor: usize, line: usize) -> Result<(), FileFault> {
        if self.expects_a_name() {
            return Err(self.fault(line, "expected a text as a name, got a list or a map"));
        }
        if self.open.len() >= DEPTH {
            let detail = format!("expected lists and maps at most {DEPTH} deep in each other");
            return Err(self.fault(line, detail));
        }
        let node = Node { origin: Origin { file: Arc::clone(&self.file), line }, kind };
        self.count(&node, line)?;
        self.open.push(Open { node, anchor, name: None });
        Ok(())
    }

    /// Counts a value, so that a few aliases can't stand for more than memory holds.
    fn count(&mut self, node: &Node, line: usize) -> Result<(), FileFault> {
        let (nodes, text_bytes) = size_of(node);
        self.nodes += nodes;
        self.text_bytes += text_bytes;
        if self.nodes > NODES {
            return Err(self.fault(line, format!("expected at most {NODES} values")));
        }
        if self.text_bytes > TEXT_BYTES {
            return Err(self.fault(line, format!("expected at most {TEXT_BYTES} bytes of texts")));
        }
        Ok(())
    }

    fn put(&mut self, node: Node, line: usize) -> Result<(), FileFault> {
        if self.expects_a_name() {
            return Err(self.fault(line, "expected a text as a name, got a list, map or alias"));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.node.kind {
            NodeKind::List(items) => items.push(node),
            NodeKind::Map(fields) => {
                if let Some((name, line)) = open.name.take() {
                    fields.push((name, line, node));
                }
            }
            _ => {}
        }
        if self.depth_of_last() > DEPTH {
            let detail = format!("expected lists and maps at most {DEPTH} deep in each other");
            return Err(self.fault(line, detail));
        }
        Ok(())
    }

    /// How deep the value stands that came last: an alias may bring a deep one.
    fn depth_of_last(&self) -> usize {
        let Some(open) = self.open.last() else { return 0 };
        let last = match &open.node.kind {
            NodeKind::List(items) => items.last(),
            NodeKind::Map(fields) => fields.last().map(|(.., value)| value),
            _ => None,
        };
        self.open.len() + last.map_or(0, depth)
    }
}

fn size_of(node: &Node) -> (usize, usize) {
    let add = |(nodes, bytes): (usize, usize), (more_nodes, more_bytes)| {
        (nodes + more_nodes, bytes + more_bytes)
    };
    match &node.kind {
        NodeKind::Text(text) => (1, text.len()),
        NodeKind::List(items) => items.iter().map(size_of).fold((1, 0), add),
        NodeKind::Map(fields) => {
            let sizes = fields.iter().map(|(name, _, value)| add((0, name.len()), size_of(value)));
            sizes.fold((1, 0), add)
        }
        _ => (1, 0),
    }
}

fn depth(node: &Node) -> usize {
    match &node.kind {
        NodeKind::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        NodeKind::Map(fields) => {
            1 + fields.iter().map(|(.., value)| depth(value)).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// The parser's text without its position, which stands before it anyway.
fn explained(error: &str) -> String {
    let text = error.split(" at byte ").next().unwrap_or(error);
    text.split(" at char ").next().unwrap_or(text).to_owned()
}
