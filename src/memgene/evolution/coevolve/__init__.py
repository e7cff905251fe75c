"""Strategy `coevolve`: the router and the values of the bank, learned in turn (CoEvo-Mem)."""
