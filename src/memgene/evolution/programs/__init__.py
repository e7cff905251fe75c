"""Strategy `program`: evolve executable memory programs (M*)."""
