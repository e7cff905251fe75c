"""The router: how much each route counts for a question, learned (CoEvo-Mem §3)."""
