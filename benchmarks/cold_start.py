"""Wall time of a cold `planner check` over that of importing its five packages alone.

The ratio says what the planner costs beyond what nobody can avoid; 1.2 is the goal. The runs alternate, so that both
see the same machine, and the interpreter is the one that runs this script. Run it where numpy is not installed: pint
imports numpy where it finds it, which slows the imports more than the check and flatters the ratio.

    python benchmarks/cold_start.py [--runs 25] [SPEC]
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

SPEC = Path(__file__).parents[1] / "specs" / "textbook-gqa.yaml"
IMPORTS = (sys.executable, "-c", "import click, yaml, jsonschema, jinja2, pint")


def wall_time_s(command: Sequence[str]) -> float:
    """Seconds that `command` takes, from start to end."""
    begin = time.perf_counter()
    found = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took = time.perf_counter() - begin
    if found.returncode != 0:
        raise SystemExit(f"exit status {found.returncode}: {' '.join(command)}")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description="cold `planner check` over the imports of its packages")
    parser.add_argument("spec", nargs="?", type=Path, default=SPEC)
    parser.add_argument("--runs", type=int, default=25)
    given = parser.parse_args()
    script = Path(sys.executable).with_name("planner")
    check = (str(script), "check", str(given.spec))
    if importlib.util.find_spec("numpy"):
        print("numpy is installed here: pint imports it, and the ratio flatters", file=sys.stderr)
    for command in (check, IMPORTS):
        wall_time_s(command)  # compiles, and fills the file cache
    pairs = [(wall_time_s(check), wall_time_s(IMPORTS)) for _ in range(given.runs)]
    checks, imports = zip(*pairs, strict=True)
    for name, statistic in (("min", min), ("median", statistics.median)):
        ours, theirs = statistic(checks), statistic(imports)
        print(f"{name:7} check {ours * 1e3:6.1f} ms, imports {theirs * 1e3:6.1f} ms, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
