//! The table: how everything that is kept is read and written.
