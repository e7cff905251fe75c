"""Every example in README.md and docs/ works as it is written."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memgene.cli.docs import verbs
from memgene.cli.main import build

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def runnable() -> list[Any]:
    pages = [page for page in PAGES if blocks(page, "python")]
    slow = {"README.md": [pytest.mark.slow]}  # it evolves
    return [pytest.param(p, id=p.name, marks=slow.get(p.name, [])) for p in pages]


@pytest.mark.parametrize("page", runnable())
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__example__"}
    for number, block in enumerate(blocks(page, "python"), start=1):
        exec(compile(block, f"{page.name} example {number}", "exec"), names)


def commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in blocks(page, "console"):
            for line in block.replace("\\\n", " ").splitlines():
                found += [(page.name, part.strip()) for part in line.split("&&")]
    return [(name, c) for name, c in found if Path(c.split()[0]).name == "memgene"]


@pytest.mark.parametrize(("page", "command"), commands())
def test_commands_exist_with_their_options(page: str, command: str) -> None:
    known = dict(verbs(build()))
    words = shlex.split(command)[1:]
    depth = 2 if " ".join(["memgene", *words[:2]]) in known else 1
    verb = known[" ".join(["memgene", *words[:depth]])]
    taken = {opt for p in verb.params for opt in p.opts if opt.startswith("--")}
    for word in words[depth:]:
        if word.startswith("--"):
            assert word in taken, f"{page}: {command}"


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", ["quickstart.md", "models.md"])
def test_the_settings_example_is_accepted(page: str, tmp_path: Path) -> None:
    from memgene.settings import load_settings

    (example,) = blocks(ROOT / "docs" / page, "toml")
    (tmp_path / "memgene.toml").write_text(example, encoding="utf-8")
    found = load_settings(folder=tmp_path, environment={})
    assert found != load_settings(folder=tmp_path / "nowhere", environment={})


def test_the_picture_is_an_image_of_its_own() -> None:
    picture = (ROOT / "docs" / "flow.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "prefers-color-scheme: dark" in picture
    assert "<script" not in picture
    assert "href" not in picture


def test_the_files_of_a_task_are_those_the_page_shows(tmp_path: Path) -> None:
    page = ROOT / "docs" / "tasks.md"
    task, *_ = blocks(page, "toml")
    episode, question = blocks(page, "json")
    (tmp_path / "task.toml").write_text(task, encoding="utf-8")
    (tmp_path / "episodes.jsonl").write_text(episode, encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text(question, encoding="utf-8")
    read: Callable[..., Any] = __import__(
        "memgene.tasks.reading", fromlist=["read_content"]
    ).read_content
    assert read(tmp_path).problems == ()
