"""Clocks stand still, random numbers come from the seed."""

from __future__ import annotations

import datetime as real
import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memgene.programs.guest.fixed import fixed_datetime, seeded_numpy, seeded_random

NOW = real.datetime(2024, 5, 8, 13, 56)
Run = Callable[..., Any]


@pytest.fixture
def clock() -> Any:
    return fixed_datetime(NOW)


def test_the_present_is_the_given_moment(clock: Any) -> None:
    assert clock.datetime.now() == clock.datetime.today() == clock.datetime.utcnow() == NOW
    assert clock.date.today() == real.date(2024, 5, 8)


def test_a_zone_shifts_the_clock_and_is_kept(clock: Any) -> None:
    east = real.timezone(real.timedelta(hours=2))
    assert clock.datetime.now(east) == real.datetime(2024, 5, 8, 15, 56, tzinfo=east)
    assert clock.datetime.now(clock.UTC).tzinfo is real.UTC


def test_a_moment_with_a_zone_is_read_as_utc_where_no_zone_is_asked_for() -> None:
    east = real.timezone(real.timedelta(hours=2))
    clock = fixed_datetime(NOW.replace(tzinfo=east))
    assert clock.datetime.now() == real.datetime(2024, 5, 8, 11, 56)


def test_parsing_and_arithmetic_work_as_ever(clock: Any) -> None:
    parsed = clock.datetime.strptime("8 May 2023", "%d %B %Y")
    assert parsed == clock.datetime.fromisoformat("2023-05-08") == clock.datetime(2023, 5, 8)
    assert (clock.datetime.now() - parsed).days == 366
    assert (parsed + clock.timedelta(days=1)).strftime("%d %b") == "09 May"
    assert sorted([clock.datetime(2024, 1, 1), parsed])[0] is parsed


def test_objects_of_both_kinds_are_instances(clock: Any) -> None:
    moment = clock.datetime.now()
    for thing in (moment, real.datetime(2020, 1, 1), moment + real.timedelta(1)):
        assert isinstance(thing, clock.datetime)
        assert isinstance(thing, clock.date)
        assert isinstance(thing, real.datetime)
    assert isinstance(moment.date(), clock.date)
    assert not isinstance(moment.date(), clock.datetime)
    assert not isinstance("2024-05-08", clock.date)
    assert issubclass(clock.datetime, clock.date)


def test_sqlite_stores_them_as_text(clock: Any) -> None:
    db = sqlite3.connect(":memory:")
    row = db.execute("select ?, ?", (clock.datetime.now(), clock.date.today())).fetchone()
    db.close()
    assert row == ("2024-05-08 13:56:00", "2024-05-08")


def test_random_numbers_follow_the_seed() -> None:
    def drawn(seed: int) -> list[float]:
        module = seeded_random(seed)
        fresh = module.Random()
        return [module.random(), module.randint(1, 1000), fresh.random(), module.choice("abcdef")]

    assert drawn(1) == drawn(1) != drawn(2)
    module = seeded_random(5)
    first = module.random()
    module.seed()
    assert module.random() == first == module.SystemRandom().random() == module.Random(5).random()


def test_numpys_random_numbers_follow_the_seed() -> None:
    def drawn(seed: int) -> list[float]:
        module = seeded_numpy(seed)
        draws = module.random
        state = draws.RandomState()
        return [draws.rand(), draws.default_rng().random(), state.rand(), draws.randint(1 << 30)]

    assert drawn(1) == drawn(1) != drawn(2)
    module = seeded_numpy(7)
    first = module.random.rand()
    module.random.seed()
    assert module.random.rand() == first
    assert module.random.default_rng(3).random() == np.random.default_rng(3).random()


def test_the_rest_of_numpy_is_numpy() -> None:
    module = seeded_numpy(0)
    assert module.ndarray is np.ndarray
    assert module.linalg.norm(module.array([3.0, 4.0])) == 5.0
    assert "linalg" in dir(module)


def test_a_program_sees_the_fixed_modules_however_it_imports_them(run: Run) -> None:
    assert run("import datetime\nreturn str(datetime.datetime.now())") == "2024-05-08 13:56:00"
    assert run("from datetime import date as d\nreturn d.today().isoformat()") == "2024-05-08"
    draws = """
        import random, numpy as np
        from numpy.random import default_rng
        return repr([random.random(), np.random.rand(), default_rng().random(), np.random.randn()])
    """
    assert run(draws, seed=3) == run(draws, seed=3) != run(draws, seed=4)
