//! A run: what an agent does once it is woken.
