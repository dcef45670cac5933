"""The quality gate: generated files of every kind, what must come out of them, and a scorer."""
