"""Kill an evolution at random moments, resume it, and compare best/ with an undisturbed run.

    python benchmarks/kill_resume.py --kills 5 --seed 1 demo
    python benchmarks/kill_resume.py --kills 5 --seed 1 locomo --data PATH

Everything after this script's own options goes to `memgene evolve`. First one run is left alone;
its length gives the range of the moments. Then `--kills` runs are killed once each with SIGKILL
and resumed to their end, and one more run is killed that many times on its way. A process that
was through before its moment came counts as not killed, and the script says so.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import finish, note, table

_BEST = "best"


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that came to its end: moments of its kills (seconds after each start), its result."""

    kills: tuple[float, ...]
    best: dict[str, bytes]
    test: dict[str, Any]
    seconds: float


def main() -> None:
    options = _options()
    draw = random.Random(options.seed)
    folder = options.runs or Path(tempfile.mkdtemp(prefix="kill-resume-"))
    note(f"run folders in {folder}")
    whole = _run(options.evolve, folder / "undisturbed", ())
    note(f"undisturbed: {whole.seconds:.1f} s")
    moments = [draw.uniform(0.0, whole.seconds) for _ in range(options.kills)]
    rows, ended = [], []
    for number, moment in enumerate(moments, 1):
        name = f"killed-{number}"
        ended.append(_run(options.evolve, folder / name, (moment,)))
        rows.append(_row(name, ended[-1], whole, 1))
    cuts = sorted(draw.uniform(0.0, whole.seconds) for _ in range(options.kills))
    steps = [after - before for before, after in zip((0.0, *cuts), cuts, strict=False)]
    ended.append(_run(options.evolve, folder / "killed-often", steps))
    rows.append(_row("killed-often", ended[-1], whole, options.kills))
    header = ("run", "killed after s", "kills", f"{_BEST}/ same", "test result same")
    table(f"memgene evolve {' '.join(options.evolve)}", header, rows)
    same_best = [one.best == whole.best for one in ended]
    same_test = [one.test == whole.test for one in ended]
    kills = sum(len(one.kills) for one in ended)
    passed = all(same_best) and all(same_test) and kills > 0
    if passed and options.runs is None:
        shutil.rmtree(folder)
    finish(
        "kill_resume",
        {
            "evolve": options.evolve,
            "seed": options.seed,
            "undisturbed_s": round(whole.seconds, 1),
            "runs": len(ended),
            "kills": kills,
            "kills_missed": 2 * options.kills - kills,
            "best_identical": sum(same_best),
            "test_identical": sum(same_test),
            "files": sorted(whole.best),
            "passed": passed,
        },
    )
    raise SystemExit(0 if passed else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else None,
        usage="%(prog)s [--kills N] [--seed S] [--runs DIR] TASK [options of memgene evolve]",
    )
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the moments, not of the evolution")
    parser.add_argument(
        "--runs",
        type=Path,
        help="new folder for the runs, which is kept",
    )
    parser.add_argument("evolve", nargs=argparse.REMAINDER, help="TASK and options")
    options = parser.parse_args()
    if not options.evolve:
        parser.error("name a task")
    if options.runs is not None and options.runs.exists():
        parser.error(f"{options.runs} exists already; name a new folder")
    return options


def _run(evolve: Sequence[str], run: Path, kills: Sequence[float]) -> Ended:
    """Start, kill and resume as asked, then let it end. Raises SystemExit when it fails."""
    started, killed = time.perf_counter(), []
    for moment in kills:
        process = _process(evolve, run)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
            killed.append(moment)
        _, errors = process.communicate()
        if process.returncode > 0:
            raise SystemExit(f"{run.name}: memgene evolve failed\n{errors}")
    process = _process(evolve, run)
    said, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"{run.name}: memgene evolve failed\n{errors}")
    result = json.loads(said.splitlines()[-1])
    best = run / _BEST
    files = {str(p.relative_to(best)): p.read_bytes() for p in sorted(best.rglob("*"))}
    return Ended(tuple(killed), files, result["test"], time.perf_counter() - started)


def _process(evolve: Sequence[str], run: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "memgene.cli", "evolve", *evolve, "--run", str(run), "--json"]
    if run.exists():
        command.append("--resume")
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def _row(name: str, one: Ended, whole: Ended, wanted: int) -> tuple[str, ...]:
    def told(same: bool) -> str:
        return "yes" if same else "NO"

    moments = ", ".join(f"{moment:.2f}" for moment in one.kills) or "–"
    return (
        name,
        moments,
        f"{len(one.kills)} of {wanted}",
        told(one.best == whole.best),
        told(one.test == whole.test),
    )


if __name__ == "__main__":
    main()
