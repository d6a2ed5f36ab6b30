//! Evaluates macros: `all`, `exists`, `exists_one`, `map` and `filter`.

mod items;

use self::items::Items;
use super::{Evaluation, HOLDER, ITEM};
use crate::{
    limits::Fault,
    syntax::{Macro, Node},
    values::Value,
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

fn no_items(value: &Value) -> String {
    let kind = value.kind();
    format!("expected a list or a map for a macro such as map, filter, all or exists, got {kind}")
}
