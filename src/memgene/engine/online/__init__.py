"""A memory that learns while it is used: the log of feedback, and what is learned from it."""

from memgene.engine.online.learning import Learnt, learn
from memgene.engine.online.log import FEEDBACK, LEARN, LOG, Logged, read_log
from memgene.engine.online.step import Progress, Step

__all__ = [
    "FEEDBACK",
    "LEARN",
    "LOG",
    "Learnt",
    "Logged",
    "Progress",
    "Step",
    "learn",
    "read_log",
]
