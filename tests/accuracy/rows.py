"""Rows of ../shared/data/truth/performance.csv as specs, by the scorer that they are scored with."""

from __future__ import annotations

import gc
import importlib.util
import json
import math
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from planner import bind, source
from planner.domain.calibration import Subject
from planner.domain.measurement import Measurement, Observation, Run
from planner.domain.plan import Plan
from planner.domain.workload import Load

SHARED = Path(__file__).parents[3] / "shared"
SCORER = SHARED / "eval" / "score.py"
FEWEST = 12


@dataclass(frozen=True)
class Row:
    """One published run. itl_s: mean gap between tokens. split_group: source, model and accelerator."""

    name: str
    spec: Mapping[str, Any]
    folder: Path
    split_group: str
    itl_s: float
    resolution_s: float

    @property
    def subject(self) -> tuple[str, str, str]:
        """What one calibration can hold for: the group, the engine, the precision."""
        return self.split_group, self.spec["engine"]["name"], self.spec["model"]["weights"]

    @property
    def request(self) -> Mapping[str, int]:
        found: Mapping[str, int] = self.spec["workload"]["classes"][0]
        return found

    @property
    def load(self) -> Load:
        declared = self.spec["workload"]["load"]
        if "rate" in declared:
            return Load("rate", rate_per_s=float(declared["rate"].split()[0]))
        return Load("concurrency", concurrency=float(declared["concurrency"]), requests=declared.get("requests"))

    @property
    def place(self) -> tuple[float, ...]:
        """Where a run lies: logarithms of load, prompt, answer and parallel size."""
        load = self.load.concurrency or self.load.rate_per_s or 1.0
        size = self.spec["engine"]["tensor_parallel_size"]
        return tuple(map(math.log, (load, self.request["prompt_tokens"], self.request["output_tokens"], size)))

    def plan(self) -> Plan:
        document, findings = source.parse(json.dumps(self.spec), file=self.name, folder=self.folder)
        assert document is not None, findings
        plan, problems = bind.plan(document)
        assert plan is not None, problems
        return plan

    def measurement(self) -> Measurement:
        seen = Observation("inter_token_latency", "mean", self.itl_s, self.resolution_s)
        size = Subject(tensor_parallel_size=self.spec["engine"]["tensor_parallel_size"])
        prompt, output = float(self.request["prompt_tokens"]), float(self.request["output_tokens"])
        return Measurement(self.name, "published", (Run("row", self.load, prompt, output, (seen,), size),))


@cache
def rows() -> tuple[Row, ...]:
    """Every row with a gap between tokens, as the scorer turns it into a spec."""
    spec = importlib.util.spec_from_file_location("score", SCORER)
    assert spec is not None and spec.loader is not None
    score: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    configs = {path.stem: path for path in (SHARED / "data" / "models").glob("*.json")}
    arguments = SimpleNamespace(
        data=str(SHARED / "data" / "truth" / "performance.csv"), limit=10**9, configs=configs
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the scorer leaves its table open
        table = list(score.performance_rows(arguments))
        gc.collect()
    found = []
    for name, config, document, truth, _group, row in table:
        if "itl" in truth:
            resolution = _printed_step(row["itl_or_tpot_ms"]) * 1e-3
            found.append(Row(name, document, config.parent, row["split_group"], truth["itl"] * 1e-3, resolution))
    return tuple(found)


def _printed_step(text: str) -> float:
    """The step of the last digit: whole milliseconds, tenths, hundredths; the table writes a `.0` of its own."""
    digits = text.partition(".")[2].rstrip("0")
    return 10.0 ** -len(digits) if len(digits) < 3 else 0.0


def groups() -> Mapping[tuple[str, str, str], Sequence[Row]]:
    """{subject: its rows}, of twelve rows or more."""
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows():
        found[row.subject].append(row)
    return {subject: members for subject, members in sorted(found.items()) if len(members) >= FEWEST}


def spread(members: Sequence[Row], count: int = 5) -> list[Row]:
    """The rule for the points, the same for all groups: from the lightest load to the heaviest in equal strides over
    the loads that were measured; of each, the row whose lengths and whose parallel size were chosen least often so far,
    the first by lengths, size and name of several."""
    loads = sorted({row.place[0] for row in members})
    chosen: list[Row] = []
    for index in range(count):
        load = loads[round(index * (len(loads) - 1) / (count - 1))]
        left = [row for row in members if row.place[0] == load and row not in chosen]
        chosen.append(min(left, key=lambda row: (_used(row, chosen), row.place, row.name)))
    return chosen


def _used(row: Row, chosen: Sequence[Row]) -> int:
    """How often its lengths, and its size, were chosen."""
    return sum((row.place[1:3] == other.place[1:3]) + (row.place[3] == other.place[3]) for other in chosen)
