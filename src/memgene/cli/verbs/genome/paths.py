"""Arguments that the verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FORMS = "a folder such as RUN/best, a .memgene or a .zip"

Bundle = Annotated[Path, typer.Argument(metavar="PATH", help=f"A genome: {FORMS}.")]
