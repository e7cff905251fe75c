"""`python -m memgene.cli`."""

from memgene.cli.main import main

main()
