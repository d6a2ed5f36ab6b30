//! The parts of a value: elements, entries, fields and variants.

use std::{fmt, marker::PhantomData};

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IgnoredAny, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};

use super::{Known, Reader, Tolerant};

/// Reads a part of a value tolerantly too.
struct Part<S>(S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Part<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Tolerant(deserializer))
    }
}

pub(super) struct Items<A>(pub(super) A);

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Part(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

/// The entries of a map, all of which are read.
pub(super) struct Entries<A>(pub(super) A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Entries<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Part(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

/// The fields of a struct. Unknown ones are skipped.
pub(super) struct Fields<A> {
    pub(super) entries: A,
    pub(super) fields: &'static [&'static str],
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        while let Some(field) = self.entries.next_key_seed(OneOf(self.fields))? {
            if let Some(field) = field {
                return seed.deserialize(field.into_deserializer()).map(Some);
            }
            self.entries.next_value::<IgnoredAny>()?;
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.entries.next_value_seed(Part(seed))
    }
}

/// Reads a name, if it is one of these.
#[derive(Clone, Copy)]
struct OneOf(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_identifier(self)
    }
}

impl Visitor<'_> for OneOf {
    type Value = Option<&'static str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().copied().find(|known| *known == name))
    }
}

/// An enum. An unknown variant is read as the fallback, if there is one.
pub(super) struct Variants<A> {
    pub(super) data: A,
    pub(super) known: &'static [&'static str],
    pub(super) fallback: Option<&'static str>,
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Variants<A> {
    type Error = A::Error;
    type Variant = Content<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let Self { data, known, fallback } = self;
        let (variant, content) = data.variant_seed(Variant { seed, known, fallback })?;
        Ok((variant, Content(content)))
    }
}

struct Variant<S> {
    seed: S,
    known: &'static [&'static str],
    fallback: Option<&'static str>,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Variant<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<S::Value, D::Error> {
        name.deserialize_identifier(VariantName { variant: self, lifetime: PhantomData })
    }
}

struct VariantName<'de, S> {
    variant: Variant<S>,
    lifetime: PhantomData<&'de ()>,
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for VariantName<'de, S> {
    type Value = S::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a variant")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<S::Value, E> {
        let Variant { seed, known, fallback } = self.variant;
        let known = known.iter().copied().find(|known| *known == name).or(fallback);
        seed.deserialize(known.unwrap_or(name).into_deserializer())
    }
}

/// The content of a variant.
pub(super) struct Content<A>(A);

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Content<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Part(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Reader::new(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let reader = Reader { visitor, known: Known::Struct(fields) };
        self.0.struct_variant(fields, reader)
    }
}
