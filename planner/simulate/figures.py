"""The run as figures for machines: one JSON object (schema/v1/simulation.schema.json). SI units, deterministic."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from planner.domain.plan import Plan
from planner.evaluation.simulation import Run
from planner.output.json import SCHEMA_VERSION, finding_of, plain
from planner.pipeline import Judgement
from planner.simulate.run import Simulated
from planner.simulate.running import Ran
from planner.traffic.outcome import Outcome
from planner.traffic.series import Interval

LATENCIES = (
    ("queue_wait_s", "waiting"),
    ("time_to_first_token_s", "first_token"),
    ("inter_token_latency_s", "gap"),
    ("time_per_output_token_s", "per_token"),
    ("request_latency_s", "latency"),
    ("session_latency_s", "session"),
)
"""Key of the contract, and where `Outcome` has it."""
FIXED = ("time_to_first_token_s", "request_latency_s", "session_latency_s")
"""What the times that a spec declares as fixed are added to."""
STATISTICS = ("mean", "p50", "p90", "p95", "p99", "max")
REASONS = {
    "queue is full": "queue_full",
    "waited too long": "timed_out",
    "longer than the cache": "too_long",
    "nothing serves": "unserved",
}


def as_json(found: Simulated) -> str:
    """The whole contract, ending with a newline."""
    return json.dumps(figures(found), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def figures(found: Simulated) -> dict[str, Any]:
    """What a run says, by the names of the contract."""
    judgement = found.judgement
    result = judgement.result
    return {
        "schema_version": SCHEMA_VERSION,
        "spec": spec_of(judgement),
        "verdict": judgement.verdict.value,
        "findings": [finding_of(item) for item in judgement.findings],
        "run": run_of(found.ran, found.series) if found.ran is not None else None,
        "objectives": plain(result.shipped.objectives) if result is not None else [],
    }


def spec_of(judgement: Judgement) -> dict[str, Any]:
    document = judgement.document
    return {
        "path": judgement.file,
        "name": judgement.plan.name if judgement.plan else None,
        "sha256": document.sha256 if document else None,
    }


def run_of(found: Ran, series: Sequence[Interval] = ()) -> dict[str, Any] | None:
    """The figures of a run; None where nothing was run."""
    run = found.run
    if run is None:
        return None
    plan: Plan = found.result.detail.plan
    outcome = run.outcome
    whole = 1.0 / run.share
    return {
        "load": _load(found, plan),
        "seed": found.asked.seed,
        "requests": outcome.requests + outcome.rejected,
        "warm_up_s": run.begin_s,
        "duration_s": outcome.duration_s,
        "engines": run.of_engines,
        "simulated_engines": len(run.engines),
        "overloaded": found.overloaded,
        "latency": latencies(plan, outcome, found.overloaded),
        "throughput": {
            "requests_per_s": outcome.requests_per_s * whole,
            "output_tokens_per_s": outcome.output_tokens_per_s * whole,
            "total_tokens_per_s": outcome.total_tokens_per_s * whole,
            "goodput_requests_per_s": found.kept / outcome.duration_s * whole if outcome.duration_s else 0.0,
            "goodput_fraction": found.kept / found.looked_at if found.looked_at else 0.0,
        },
        "rejected": {
            "fraction": outcome.rejected_fraction,
            **{key: outcome.rejected_why.get(why, 0) for why, key in REASONS.items()},
        },
        "preemptions": outcome.preemptions,
        "cache": {
            "hit_fraction": outcome.hit_rate,
            "used_fraction": _cache_used(run),
            "most_used_fraction": _cache_most(run),
        },
        "engine": {
            "busy_fraction": outcome.busy,
            "prefill_fraction": outcome.prefill_busy,
            "running": outcome.batch / len(run.engines),
            "most_running": max(engine.occupancy.most_running for engine in run.engines),
            "waiting": outcome.queue / len(run.engines),
        },
        "classes": {
            name: {
                "requests": own.requests + own.rejected,
                "rejected_fraction": own.rejected_fraction,
                "latency": latencies(plan, own, found.overloaded),
            }
            for name, own in run.by_class.items()
        },
        "series": [plain(item) for item in series],
    }


def latencies(plan: Plan, outcome: Outcome, overloaded: bool = False) -> dict[str, dict[str, float | None]]:
    """Every latency at every statistic, with what the spec adds to each; null where there is none."""
    fixed = math.fsum(plan.workload.fixed_s.values())
    return {
        key: _statistics({} if overloaded else getattr(outcome, name), fixed if key in FIXED else 0.0)
        for key, name in LATENCIES
    }


def _statistics(found: Mapping[str, float], fixed: float) -> dict[str, float | None]:
    return {name: found[name] + fixed if name in found else None for name in STATISTICS}


def _load(found: Ran, plan: Plan) -> dict[str, Any]:
    """capacity_per_s: of what the load counts (requests, sessions), from which the queue grows."""
    load = plan.workload.load
    most = found.result.shipped.throughput.max_requests_per_s
    return {
        "kind": load.kind,
        "rate_per_s": load.rate_per_s,
        "process": load.process if load.kind == "rate" else None,
        "concurrency": load.concurrency,
        "sessions": load.sessions,
        "trace": load.trace,
        "scale": load.scale if load.kind == "trace" else None,
        "peak": load.peak,
        "capacity_per_s": most / found.result.detail.served.service.mix.turns if most else None,
    }


def _cache_used(run: Run) -> float | None:
    """Mean share of blocks in use, over the whole run of every engine."""
    seconds = sum(engine.now * engine.limits.blocks for engine in run.engines)
    return sum(engine.occupancy.block_s for engine in run.engines) / seconds if seconds else None


def _cache_most(run: Run) -> float | None:
    shares = [engine.occupancy.most_blocks / engine.limits.blocks for engine in run.engines if engine.limits.blocks]
    return max(shares) if shares else None
