//! The names of the table's key attributes and of its indexes. Indexes project keys only.

/// The key attributes of the table or of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyNames {
    pub pk: &'static str,
    pub sk: &'static str,
}

impl KeyNames {
    /// The keys of the table itself.
    pub const TABLE: Self = Self { pk: "PK", sk: "SK" };
}

/// An index and its key attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    pub name: &'static str,
    pub keys: KeyNames,
}

impl Index {
    /// Items that the sweep must come back to, by time.
    pub const DUE: Self = Self { name: "GSI1", keys: KeyNames { pk: "due", sk: "dueAt" } };
    /// Entities, spaces, the spaces of an entity, the runs of an agent and its deliveries, and open
    /// cards.
    pub const LISTS: Self = Self { name: "GSI2", keys: KeyNames { pk: "g2pk", sk: "g2sk" } };
    /// The runs of a space: one partition for all of them, one for those that are active.
    pub const SPACE_RUNS: Self = Self { name: "GSI3", keys: KeyNames { pk: "g3pk", sk: "g3sk" } };

    /// The runs of all agents by day. Its sort key is the one of [`Self::LISTS`]: the run's id.
    pub const RUNS: Self = Self { name: "GSI4", keys: KeyNames { pk: "g4pk", sk: "g2sk" } };

    /// Every index.
    pub const ALL: [Self; 4] = [Self::DUE, Self::LISTS, Self::SPACE_RUNS, Self::RUNS];
}
