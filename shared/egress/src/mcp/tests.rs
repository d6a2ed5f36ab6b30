mod calling;
mod failing;
mod fake;
mod hostile;
mod hostile_lists;
mod listing;
mod redacting;
mod stateless;
