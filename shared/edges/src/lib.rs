//! What lies outside: queues, sockets, clock, ids. Each port beside its AWS adapter.
