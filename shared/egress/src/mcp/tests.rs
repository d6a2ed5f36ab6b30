mod calling;
mod failing;
mod fake;
mod hostile;
mod listing;
