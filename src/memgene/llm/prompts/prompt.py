"""A prompt: a system text and a user template with named slots."""

from __future__ import annotations

import string
from dataclasses import dataclass

from memgene.core import InputError, content_hash
from memgene.llm.protocol import ChatMessage


@dataclass(frozen=True, slots=True)
class Prompt:
    """`system` and `user` hold `$slots`; a section whose slot is empty should be left out by the
    one who fills it. `name` is what reports and snapshots call it."""

    name: str
    system: str
    user: str

    @property
    def slots(self) -> frozenset[str]:
        """Names that `render` must be given."""
        names = string.Template(self.system).get_identifiers()
        return frozenset(names) | frozenset(string.Template(self.user).get_identifiers())

    @property
    def digest(self) -> str:
        """Short name of the exact wording, for reports."""
        return content_hash(f"{self.system}\x1f{self.user}")[:12]

    def render(self, **values: str) -> tuple[ChatMessage, ...]:
        """Messages with every slot filled. Values are inserted as they are, never expanded.

        Raises InputError when a slot is missing or unknown.
        """
        if values.keys() != self.slots:
            missing = ", ".join(sorted(self.slots - values.keys()))
            unknown = ", ".join(sorted(values.keys() - self.slots))
            raise InputError(f"prompt {self.name}: missing slots [{missing}], unknown [{unknown}]")
        system = string.Template(self.system).substitute(values).strip()
        user = string.Template(self.user).substitute(values).strip()
        head = (ChatMessage("system", system),) if system else ()
        return (*head, ChatMessage("user", user))
