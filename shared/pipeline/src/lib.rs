//! What more than one function does: keep first, then tell.
