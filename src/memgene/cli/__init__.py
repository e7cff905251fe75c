"""The command line: one file per verb under `verbs`, no logic."""
