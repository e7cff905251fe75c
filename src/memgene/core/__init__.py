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
    ModelError,
    NotFoundError,
    ReplyError,
    RequestRefusedError,
    RunError,
    StoredConfigError,
)
from memgene.core.hit import AnswerPlan, Context, Hit, ViewScore, Why
from memgene.core.ids import content_hash, stable_id
from memgene.core.instructions import Instructions
from memgene.core.metering import Meter, metering, record, unmetered
from memgene.core.question import Answer, Gold, LabelledQuestion, Question
from memgene.core.schema import Filled, Schema, SchemaField
from memgene.core.scope import Scope
from memgene.core.usage import RoleUsage, Usage

__all__ = [
    "Answer",
    "AnswerPlan",
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
    "Instructions",
    "LabelledQuestion",
    "MemgeneError",
    "Message",
    "Meter",
    "MissingDependencyError",
    "ModelError",
    "NotFoundError",
    "Question",
    "ReplyError",
    "RequestRefusedError",
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
    "metering",
    "record",
    "stable_id",
    "unmetered",
]
