"""Every word memgene says to a language model, one file per purpose.

No prompt holds text of a benchmark; a test compares them all with every benchmark at hand.
"""
