"""Learning from use: what a reward says about the memories that were shown (CoEvo-Mem §4)."""
