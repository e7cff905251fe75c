"""Composed files: text, gate, lineage."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

from memgene.programs.gates import check_static
from memgene.programs.modules import (
    CHOICES,
    SEED_RECIPES,
    Recipe,
    compose,
    random_recipe,
    recipe_of,
)
from memgene.programs.program import Program
from memgene.programs.seeds import seed


def recipes(count: int, seed: int = 0) -> list[Recipe]:
    rng = Random(seed)
    return [random_recipe(rng) for _ in range(count)]


def one_lever_each() -> list[Recipe]:
    """Every option of the catalogue, the others at their default."""
    return [Recipe.from_json({lever: option}) for lever, own in CHOICES.items() for option in own]


def test_equal_recipes_give_equal_bytes() -> None:
    idle = Recipe(signals="words", lean="vectors")
    assert idle != Recipe(signals="words")
    assert compose(idle) == compose(Recipe(signals="words"))


def test_different_recipes_give_different_programs() -> None:
    normal = {recipe.normal for recipe in [*recipes(60), *one_lever_each()]}
    assert len({compose(recipe).source for recipe in normal}) == len(normal)


def test_every_composed_file_passes_the_static_gate() -> None:
    for recipe in [*recipes(60), *one_lever_each()]:
        assert check_static(compose(recipe).source) == (), recipe


def test_a_composed_file_holds_only_the_parts_it_uses() -> None:
    source = compose(Recipe(signals="words")).source
    assert "chroma" not in source
    assert "_fused" not in source
    assert "CREATE VIRTUAL TABLE" in source


@pytest.mark.skipif(find_spec("ruff") is None, reason="ruff is not installed")
def test_composed_files_are_formatted_and_clean(tmp_path: Path) -> None:
    for number, recipe in enumerate([*recipes(40), *one_lever_each()]):
        (tmp_path / f"composed_{number}.py").write_text(compose(recipe).source, encoding="utf-8")
    config = Path(__file__).parents[3] / "pyproject.toml"
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--config", config, "--no-cache", tmp_path],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_the_recipe_is_read_back_from_the_file() -> None:
    for recipe in recipes(40, seed=1):
        assert recipe_of(compose(recipe)) == recipe


def test_a_file_that_was_changed_since_has_no_recipe() -> None:
    program = compose(Recipe(limit=5))
    assert recipe_of(Program(program.source.replace("SHOWN = 5", "SHOWN = 6"))) is None
    assert recipe_of(Program(program.source.replace('"limit": 5', '"limit": 10'))) is None


@pytest.mark.parametrize(
    "header", ["", "# recipe: {", "# recipe: []", '# recipe: {"limit": 7}', '# recipe: {"x": 1}']
)
def test_other_headers_give_no_recipe(header: str) -> None:
    assert recipe_of(Program(f"{header}\nx = 1\n")) is None


def test_seeds_have_recipes_where_the_catalogue_can_say_them() -> None:
    assert {name: recipe_of(seed(name)) for name in SEED_RECIPES} == dict(SEED_RECIPES)
    assert recipe_of(seed("llm-summarizer")) is None
