"""Checks of the rules that a program can check: names, sizes, imports and comments."""
