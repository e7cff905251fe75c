"""Strategy `joint`: structure, parameters, router and values of one genome, in turns."""
