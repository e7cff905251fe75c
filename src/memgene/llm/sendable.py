"""What no model can be asked."""

from __future__ import annotations

from memgene.core.errors import RequestRefusedError
from memgene.llm.protocol import Request


def check_sendable(request: Request, name: str) -> None:
    """Refuse a request whose texts have no UTF-8 form.

    Raises:
        RequestRefusedError: a message holds a lone surrogate, half of a broken character.
    """
    for number, message in enumerate(request.messages, 1):
        try:
            message.content.encode()
        except UnicodeEncodeError as error:
            raise RequestRefusedError(
                f"{name}: message {number} holds a lone surrogate at character {error.start}, "
                "which no model can read"
            ) from error
