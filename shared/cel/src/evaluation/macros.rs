//! Evaluates macros: `all`, `exists`, `exists_one`, `map` and `filter`.

use std::rc::Rc;

use super::{Evaluation, HOLDER, ITEM};
use crate::{
    limits::Fault,
    syntax::{Macro, Node},
    values::{List, Map, Value},
};

impl Evaluation {
    pub(super) fn each(&mut self, kind: &Macro, over: &Node) -> Result<Value, Fault> {
        let over = self.value(over)?;
        let mut items =
            Items::of(&over).map_or_else(|| self.budget.error(|| no_items(&over)), Ok)?;
        match kind {
            Macro::All(predicate) => self.any(&mut items, predicate, false).map(Value::Bool),
            Macro::Exists(predicate) => self.any(&mut items, predicate, true).map(Value::Bool),
            Macro::ExistsOne(predicate) => {
                let mut found = 0;
                for item in items {
                    found += usize::from(self.with(item, |this| this.bool(predicate))?);
                }
                Ok(Value::Bool(found == 1))
            }
            Macro::Map(predicate, item) => {
                self.budget.allocate(HOLDER)?;
                let mut made = Vec::new();
                for each in items {
                    if let Some(value) =
                        self.with(each, |this| this.made(predicate.as_deref(), item))?
                    {
                        self.budget.allocate(ITEM)?;
                        made.push(value);
                    }
                }
                Value::list(made)
            }
        }
    }

    /// Returns `deciding` if the predicate gives `deciding` for any item, otherwise its opposite.
    /// An error counts only if no item decides.
    fn any(&mut self, items: &mut Items, predicate: &Node, deciding: bool) -> Result<bool, Fault> {
        let mut error = None;
        for item in items {
            match self.with(item, |this| this.bool(predicate)) {
                Ok(value) if value == deciding => return Ok(deciding),
                Ok(_) => {}
                Err(Fault::Error(text)) => error = Some(text),
                limit @ Err(Fault::Limit(_)) => return limit,
            }
        }
        error.map_or(Ok(!deciding), |text| Err(Fault::Error(text)))
    }

    /// The value of an item, if the predicate holds.
    fn made(&mut self, predicate: Option<&Node>, item: &Node) -> Result<Option<Value>, Fault> {
        let holds = predicate.map_or(Ok(true), |predicate| self.bool(predicate))?;
        if holds { self.value(item).map(Some) } else { Ok(None) }
    }

    /// Evaluates with a further variable.
    fn with<T>(
        &mut self,
        variable: Value,
        evaluate: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.budget.spend(2)?;
        self.variables.push(variable);
        let value = evaluate(self);
        self.variables.pop();
        value
    }
}

/// The items that a macro goes over: those of a list, or the keys of a map.
struct Items {
    of: Source,
    next: usize,
}

enum Source {
    List(Rc<List>),
    Map(Rc<Map>),
}

impl Items {
    fn of(value: &Value) -> Option<Self> {
        let of = match value {
            Value::List(list) => Source::List(Rc::clone(list)),
            Value::Map(map) => Source::Map(Rc::clone(map)),
            _ => return None,
        };
        Some(Self { of, next: 0 })
    }
}

impl Iterator for Items {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let item = match &self.of {
            Source::List(list) => list.items.get(self.next).cloned(),
            Source::Map(map) => map.entries.get(self.next).map(|(key, _)| key.value()),
        };
        self.next += 1;
        item
    }
}

fn no_items(value: &Value) -> String {
    let kind = value.kind();
    format!("expected a list or a map for a macro such as map, filter, all or exists, got {kind}")
}
