//! Items of the store as items of the engine, and back.

use serde_dynamo::AttributeValue;
use smartspace_store::table::write::Item;

/// An item as the engine takes it.
pub(super) fn to_engine(item: Item) -> dynoxide::Item {
    item.into_iter().map(|(name, value)| (name, value_to_engine(value))).collect()
}

/// An item that the engine returned.
pub(super) fn from_engine(item: dynoxide::Item) -> Item {
    item.into_iter().map(|(name, value)| (name, value_from_engine(value))).collect()
}

fn value_to_engine(value: AttributeValue) -> dynoxide::AttributeValue {
    use dynoxide::AttributeValue as Engine;
    match value {
        AttributeValue::S(text) => Engine::S(text),
        AttributeValue::N(number) => Engine::N(number),
        AttributeValue::Bool(is) => Engine::BOOL(is),
        AttributeValue::B(bytes) => Engine::B(bytes),
        AttributeValue::Null(_) => Engine::NULL(true),
        AttributeValue::M(map) => Engine::M(to_engine(map)),
        AttributeValue::L(list) => Engine::L(list.into_iter().map(value_to_engine).collect()),
        AttributeValue::Ss(texts) => Engine::SS(texts),
        AttributeValue::Ns(numbers) => Engine::NS(numbers),
        AttributeValue::Bs(values) => Engine::BS(values),
    }
}

fn value_from_engine(value: dynoxide::AttributeValue) -> AttributeValue {
    use dynoxide::AttributeValue as Engine;
    match value {
        Engine::S(text) => AttributeValue::S(text),
        Engine::N(number) => AttributeValue::N(number),
        Engine::BOOL(is) => AttributeValue::Bool(is),
        Engine::B(bytes) => AttributeValue::B(bytes),
        Engine::NULL(_) => AttributeValue::Null(true),
        Engine::M(map) => AttributeValue::M(from_engine(map)),
        Engine::L(list) => AttributeValue::L(list.into_iter().map(value_from_engine).collect()),
        Engine::SS(texts) => AttributeValue::Ss(texts),
        Engine::NS(numbers) => AttributeValue::Ns(numbers),
        Engine::BS(values) => AttributeValue::Bs(values),
    }
}
