"""Runs untrusted Python: one zygote, a fresh locked-down process for each guest."""
