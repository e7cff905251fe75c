"""Words every layer shares: episodes, questions, hits, scopes, usage, budgets, errors. No I/O."""

from memgene.core.budget import Budget
from memgene.core.clock import Clock, FixedClock, SystemClock
from memgene.core.episode import Episode, Message
from memgene.core.errors import (
    BankError,
    BudgetExhaustedError,
    ConfigError,
    DataError,
    EmbedderMismatchError,
    InputError,
    MemgeneError,
    MissingDependencyError,
    NotFoundError,
    RunError,
    StoredConfigError,
)
from memgene.core.hit import Context, Hit, ViewScore, Why
from memgene.core.ids import content_hash, stable_id
from memgene.core.question import Answer, Gold, LabelledQuestion, Question
from memgene.core.schema import Filled, Schema, SchemaField
from memgene.core.scope import Scope
from memgene.core.usage import RoleUsage, Usage

__all__ = [
    "Answer",
    "BankError",
    "Budget",
    "BudgetExhaustedError",
    "Clock",
    "ConfigError",
    "Context",
    "DataError",
    "EmbedderMismatchError",
    "Episode",
    "Filled",
    "FixedClock",
    "Gold",
    "Hit",
    "InputError",
    "LabelledQuestion",
    "MemgeneError",
    "Message",
    "MissingDependencyError",
    "NotFoundError",
    "Question",
    "RoleUsage",
    "RunError",
    "Schema",
    "SchemaField",
    "Scope",
    "StoredConfigError",
    "SystemClock",
    "Usage",
    "ViewScore",
    "Why",
    "content_hash",
    "stable_id",
]
