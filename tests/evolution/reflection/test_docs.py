"""The settings that docs/reflector.md shows are accepted. Its other examples run with all docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memgene.programs.patching import apply_reply
from memgene.settings import load_settings

PAGE = Path(__file__).parents[3] / "docs" / "reflector.md"
SECTIONS = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("section", SECTIONS, ids=["command", "files", "openai"])
def test_the_settings_are_accepted(section: str, tmp_path: Path) -> None:
    (tmp_path / "memgene.toml").write_text(section, encoding="utf-8")
    model = load_settings(folder=tmp_path, environment={}).llm.reflector.model
    assert f'model = "{model.split(":")[0]}' in section


def test_the_patch_can_be_applied() -> None:
    (reply,) = re.findall(
        r"^```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    source = (
        "class KnowledgeBase:\n"
        "    def read(self, query: Query) -> str:\n"
        "        return self.texts[-1]\n"
    )
    made = apply_reply(source, reply)
    assert made.source.endswith('        return "\\n\\n".join(best)[:3000]\n')
    assert made.title == "Return the texts that share most words with the query"
