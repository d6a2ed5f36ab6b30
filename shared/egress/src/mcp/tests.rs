mod calling;
mod fake;
mod hostile;
mod listing;
