"""Fits the latency constants of planner/catalogue/efficiencies to measured rows, and says how well they hold.

    python benchmarks/latency_fit.py SHARED fit [--write]         constants on all rows; --write: into the catalogue
    python benchmarks/latency_fit.py SHARED leave group|family    error of rows left out while the constants were set

SHARED: the folder with eval/score.py, data/truth/performance.csv and data/models. Needs numpy. A fit takes minutes.
What is fitted, with which priors, and what came of it: docs/decisions/0020-latency-constants.md.

x: logarithms of the constants over their prior means. r: log(predicted / measured) / TOLERANCE. Gauss-Newton on
sum of w^2 nu/2 log(1 + r^2/nu) + (x / sd)^2, a Student's t of nu degrees; w evens out groups and families.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import json
import math
import random
import shutil
import tempfile
import types
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from planner import bind, source
from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation import efficiencies, latency, ledger_of, sequences_that_fit, simulation, step_cost
from planner.evaluation.configure import shipped
from planner.evaluation.mix import Mix, mix_of
from planner.evaluation.service import service_of
from planner.project import project_of

Place = tuple[Any, ...]
FIGURES = ("itl", "ttft", "throughput", "decode tok/s (batch 1)", "prefill tok/s (batch 1)")
TOLERANCE = dict(zip(FIGURES, (0.08, 0.18, 0.08, 0.07, 0.14), strict=True))
DEGREES = dict(zip(FIGURES, (4.0, 4.0, 4.0, 4.0, 14.0), strict=True))
DEVIATIONS = {  # of the logarithm of a constant around its prior mean
    "bandwidth": 0.08, "cache_bandwidth": 0.12, "expert_bandwidth": 0.1, "arithmetic": 0.25, "expert_arithmetic": 0.25,
    "attention": 0.35, "kernel_s": 0.3, "host_s": 0.5, "sequence_s": 0.7, "launch_s": 0.5, "first_token_s": 0.7,
    "first_token_steps": 0.5, "captured_launches": 0.4, "quantising_kernels": 0.4, "launches_of_added": 0.3,
    "launches_of_collectives": 0.3, "all_reduce": 0.25, "all_reduce_share": 0.3, "all_reduce_latency_s": 0.3,
    "unpacked_bytes": 0.3, "stage_overlap": 0.2,
}  # fmt: skip
STAND_INS = frozenset(DEVIATIONS) - {
    "captured_launches", "quantising_kernels", "launches_of_added", "launches_of_collectives", "all_reduce",
    "all_reduce_share", "all_reduce_latency_s",
}  # fmt: skip
"""Of default.yaml: what stands in where nothing was fitted, and so is not fitted itself."""
ROWS_OF_A_GROUP = 12
STEP = 0.02

TABLES = {file.stem: yaml.safe_load(file.read_text())["figures"] for file in efficiencies.FOLDER.glob("*.yaml")}


@dataclass
class Case:
    """A row, its plan, and what does not depend on the constants."""

    name: str
    spec: dict[str, Any]
    truth: dict[str, float]
    row: dict[str, str]
    plan: Plan
    ledger: MemoryLedger
    fitting: float | None
    mix: Mix


def score_module(shared: Path) -> Any:
    spec = importlib.util.spec_from_file_location("score", shared / "eval" / "score.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(shared: Path, limit: int) -> list[Case]:
    """The rows that score.py scores, as it turns them into specs."""
    score = score_module(shared)
    models = shared / "data" / "models"
    options = types.SimpleNamespace(data=str(shared / "data" / "truth" / "performance.csv"), limit=limit)
    options.configs = {path.stem: path for path in models.glob("*.json")}
    folder, found = Path(tempfile.mkdtemp(prefix="latency-fit-")), []
    for index, (name, config, spec, truth, _group, row) in enumerate(score.performance_rows(options)):
        shutil.copy(config, folder / config.name)
        file = folder / f"{index:05d}.yaml"
        file.write_text(json.dumps(spec))
        document, _ = source.load(file, display=file.name)
        assert document is not None
        bound, findings = bind.plan(document, project_of(document.root).catalogue)
        assert bound is not None, findings
        plan = shipped(bound)
        ledger = ledger_of(plan)
        found.append(Case(name, spec, truth, row, plan, ledger, sequences_that_fit(plan, ledger), mix_of(plan)))
    return found


def closed(case: Case) -> dict[str, float | None]:
    """The row's figures by closed forms."""
    service = service_of(case.plan, case.mix)
    at = latency.operate(service, latency.seats_of(case.plan, case.fitting))
    ranks = latency.engines_of(case.plan)
    whole = at.rate_per_s * ranks * case.mix.output if case.mix.has_prompt else at.batch / at.itl_s * ranks
    prompt = case.spec["workload"]["classes"][0]["prompt_tokens"]
    return {
        "itl": None if at.overloaded else at.itl_s * 1e3,
        "ttft": None if at.overloaded else (at.waiting_s + service.mean_prefill_s) * 1e3,
        "throughput": whole,
        "decode tok/s (batch 1)": 1.0 / at.itl_s,
        "prefill tok/s (batch 1)": prompt / service.mean_prefill_s,
    }


def simulated_ratios(found: Sequence[Case]) -> dict[tuple[str, str], float]:
    """{(row, figure): simulated over closed} where a run is simulated; held while the constants move."""
    ratios: dict[tuple[str, str], float] = {}
    for case in found:
        served = latency.evaluate(case.plan, case.fitting)
        if not simulation.wanted(case.plan) or not case.ledger.memory.fits or served.operating.overloaded:
            continue
        run = simulation.simulate(case.plan, case.ledger, served)
        if run is None:
            continue
        after = simulation.applied(case.plan, served, run)
        first, gap = after.latency.time_to_first_token_s.mean, after.latency.inter_token_latency_s.mean
        true = {
            "itl": gap and gap * 1e3,
            "ttft": first and first * 1e3,
            "throughput": after.throughput.output_tokens_per_s,
        }
        forms = closed(case)
        ratios |= {(case.name, k): v / forms[k] for k, v in true.items() if v and forms[k]}  # type: ignore[operator]
    return ratios


# ------------------------------------------------------------------ constants


def leaves(value: Any, path: Place = ()) -> Iterator[Place]:
    """Paths of the positive numbers of a figure, sources and versions left out."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in ("source", "from"):
                yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif isinstance(value, (int, float)) and value > 0:
        yield path


def at(path: Place) -> float:
    node: Any = TABLES
    for key in path:
        node = node[key]
    return float(node)


def put(path: Place, value: float) -> None:
    node: Any = TABLES
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value


def fitted(path: Place) -> bool:
    """Not what rests on other sources (module docstring of the decision record)."""
    file, figure = path[:2]
    elsewhere = (
        efficiencies.HALF_RATE in path
        or (file == "blackwell-consumer" and "16" in path)
        or (file == "vllm" and figure == "host_s" and path[2] in (0, 1))
        or (file == "vllm" and figure == "all_reduce")
        or (file == "default" and figure in STAND_INS)
        or (file == "llama-cpp" and figure in ("sequence_s", "launch_s", "first_token_s"))
        or file == "sglang"
        or (file, figure) == ("hopper", "cache_bandwidth")
    )
    return figure in DEVIATIONS and not elsewhere


def constants() -> list[Place]:
    every = [(file, *path) for file, figures in sorted(TABLES.items()) for path in leaves(figures)]
    return [path for path in every if fitted(path)]


def uses(found: Sequence[Case], paths: Sequence[Place]) -> dict[Place, list[int]]:
    """Which rows move with each constant."""
    base, result = [closed(case) for case in found], {}
    for path in paths:
        value = at(path)
        put(path, value * 1.3)
        result[path] = [index for index, case in enumerate(found) if closed(case) != base[index]]
        put(path, value)
    return result


# ------------------------------------------------------------------ the fit


def weights(found: Sequence[Case]) -> Any:
    groups: dict[Any, int] = defaultdict(int)
    for case in found:
        for figure in case.truth:
            groups[figure, case.row["split_group"]] += 1
    rows = [(case, figure) for case in found for figure in case.truth]
    each = [min(1.0, (ROWS_OF_A_GROUP / groups[figure, case.row["split_group"]]) ** 0.5) for case, figure in rows]
    families: dict[Any, float] = defaultdict(float)
    for (case, figure), weight in zip(rows, each, strict=True):
        families[figure, case.row["source_family"]] += weight
    even = [
        weight * min(3.0, (100.0 / families[figure, case.row["source_family"]]) ** 0.5)
        for (case, figure), weight in zip(rows, each, strict=True)
    ]
    return np.array(even) ** 0.5


def fit(found: Sequence[Case], moved: dict[Place, list[int]], prior: dict[Place, float],
        ratios: dict[tuple[str, str], float], rounds: int = 6) -> None:  # fmt: skip
    """Leave the constants of `moved` where they fit best."""
    paths = [path for path, rows in moved.items() if rows]
    rows = [(index, figure) for index, case in enumerate(found) for figure in case.truth]
    place = {row: number for number, row in enumerate(rows)}
    tolerance = np.array([TOLERANCE[figure] for _, figure in rows])
    nu = np.array([DEGREES[figure] for _, figure in rows])
    weight, deviation = weights(found), np.array([DEVIATIONS[path[1]] for path in paths])

    def residuals() -> tuple[list[dict[str, float | None]], Any]:
        guesses = [closed(case) for case in found]
        errors = []
        for index, figure in rows:
            guess, case = guesses[index][figure], found[index]
            ratio = ratios.get((case.name, figure), 1.0)
            errors.append(math.log(guess * ratio / case.truth[figure]) if guess else 1.0)
        return guesses, np.array(errors) / tolerance

    def place_at(x: Any) -> tuple[list[dict[str, float | None]], Any, float]:
        for path, value in zip(paths, x, strict=True):
            put(path, prior[path] * math.exp(value))
        guesses, r = residuals()
        return guesses, r, float(np.sum(weight**2 * nu / 2 * np.log1p(r**2 / nu)) + np.sum((x / deviation) ** 2))

    x = np.array([math.log(at(path) / prior[path]) for path in paths])
    guesses, r, best = place_at(x)
    damping = 1e-2
    for _ in range(rounds):
        slopes = np.zeros((len(rows), len(paths)))
        for column, path in enumerate(paths):
            value = at(path)
            put(path, value * math.exp(STEP))
            for index in moved[path]:
                after = closed(found[index])
                for figure in found[index].truth:
                    new, old = after[figure], guesses[index][figure]
                    if new and old:
                        number = place[index, figure]
                        slopes[number, column] = math.log(new / old) / STEP / tolerance[number]
            put(path, value)
        robust = weight**2 / (1 + r**2 / nu)
        normal = slopes.T @ (slopes * robust[:, None]) + np.diag(1 / deviation**2)
        gradient = slopes.T @ (robust * r) + x / deviation**2
        for _attempt in range(6):
            move = np.clip(np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -gradient), -0.5, 0.5)
            tried = place_at(x + move)
            if tried[2] < best:
                break
            damping *= 5
        else:
            place_at(x)
            return
        gain, x = best - tried[2], x + move
        guesses, r, best = tried
        damping = max(damping / 5, 1e-4)
        print(f"  {best:.1f}", flush=True)
        if gain < best * 1e-3:
            return


# ------------------------------------------------------------------ how well


def table(found: Sequence[Case], guesses: Sequence[dict[str, float | None]], ratios: dict[tuple[str, str], float],
          score: Any) -> str:  # fmt: skip
    """Median and 90th percentile of each figure, as score.py forms them: means over source families."""
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case, guess in zip(found, guesses, strict=True):
        for figure, true in case.truth.items():
            value = guess[figure]
            value = value * ratios.get((case.name, figure), 1.0) if value else value
            errors[figure][case.row["source_family"]].append(score.factor(value, true))
    lines = []
    for figure in (name for name in FIGURES if name in errors):
        families = list(errors[figure].values())
        counted = [values for values in families if len(values) >= 20]
        small = [value for values in families if len(values) < 20 for value in values]
        if len(small) >= 20 or not counted:
            counted.append(small)
        middle, tail = (sum(score.quantile(values, q) for values in counted) / len(counted) for q in (0.5, 0.9))
        lines.append(f"  {figure:26}{100 * middle:7.1f} {100 * tail:7.1f} %  ({sum(map(len, families))} rows)")
    return "\n".join(lines)


def neutral(path: Place) -> float:
    """What stands in where there is no row: the default's figure, else the constant itself."""
    entry = TABLES["default"].get(path[1])
    value = entry["value"] if path[0] != "default" and isinstance(entry, dict) else None
    for key in path[3:]:
        value = value.get(key, value.get("default")) if isinstance(value, dict) else value
    while isinstance(value, dict):
        value = value.get("HBM", value.get("default"))
    return float(value) if isinstance(value, (int, float)) and value > 0 else at(path)


def leave_out(found: list[Case], key: str, folds: int, shared: Path) -> None:
    """Set the constants without some rows, from neutral priors, and print the error of those rows."""
    score, ratios, start = score_module(shared), simulated_ratios(found), copy.deepcopy(TABLES)
    moved = uses(found, constants())
    names = sorted({case.row[key] for case in found})
    random.Random(1).shuffle(names)
    parts = [set(names[index::folds]) for index in range(folds)] if folds else [{name} for name in names]
    held: list[tuple[Case, dict[str, float | None]]] = []
    for part in parts:
        TABLES.clear()
        TABLES.update(copy.deepcopy(start))
        kept = [index for index, case in enumerate(found) if case.row[key] not in part]
        position = {index: number for number, index in enumerate(kept)}
        prior = {path: neutral(path) for path in moved}
        rows = {path: [position[i] for i in indices if i in position] for path, indices in moved.items()}
        for path in (path for path, indices in rows.items() if not indices):
            put(path, prior[path])
        fit([found[index] for index in kept], rows, prior, ratios, rounds=3)
        out = [(case, closed(case)) for case in found if case.row[key] in part]
        held += out
        print(f"{', '.join(sorted(part))}\n{table([c for c, _ in out], [g for _, g in out], ratios, score)}")
    print(f"all of them\n{table([c for c, _ in held], [g for _, g in held], ratios, score)}")


def write(paths: Sequence[Place]) -> None:
    """The constants into the catalogue's files, three digits, everything else as it stands."""
    for name in sorted({path[0] for path in paths}):
        file = efficiencies.FOLDER / f"{name}.yaml"
        text = file.read_text()
        edits = []
        for path in (path for path in paths if path[0] == name):
            node: Any = yaml.compose(text)
            for key in ("figures", *path[1:]):
                mapping = isinstance(node, yaml.MappingNode)
                node = next(v for k, v in node.value if k.value == str(key)) if mapping else node.value[key]
            edits.append((node.start_mark.index, node.end_mark.index, f"{at(path):.3g}"))
        for begin, end, value in sorted(edits, reverse=True):
            text = text[:begin] + value + text[end:]
        file.write_text(text)


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Work of a plan, made once: it does not depend on the constants."""
    known: dict[Any, Any] = {}

    def found(plan: Plan, **options: Any) -> Any:
        key = id(plan), *options.items()
        if key not in known:
            known[key] = plan, function(plan, **options)
        return known[key][1]

    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("what", choices=("fit", "leave"))
    parser.add_argument("by", nargs="?", choices=("group", "family"), default="group")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    efficiencies._figures = lambda name: TABLES.get(name, {})  # type: ignore[assignment]
    step_cost.step_work = remembered(step_cost.step_work)
    if options.what == "leave":
        keys = {"group": ("split_group", 6), "family": ("source_family", 0)}
        leave_out(cases(options.shared, ROWS_OF_A_GROUP), *keys[options.by], options.shared)
        return
    found, paths = cases(options.shared, 60), constants()
    prior, moved = {path: at(path) for path in paths}, uses(found, paths)
    for _ in range(2):
        ratios = simulated_ratios(found)
        fit(found, moved, prior, ratios)
    print(table(found, [closed(case) for case in found], simulated_ratios(found), score_module(options.shared)))
    if options.write:
        write(paths)


if __name__ == "__main__":
    main()
