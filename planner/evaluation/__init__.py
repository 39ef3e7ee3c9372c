"""Plan to figures: the baseline, each lever, the shipped stack. Pure: the same plan gives the same figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from planner.domain.evaluation import Evaluation, PlanResult
from planner.domain.plan import Plan
from planner.engines import MemoryLedger
from planner.evaluation import cost, cost_bands, latency, objectives, pools, replicas
from planner.evaluation.bands import bands_of
from planner.evaluation.configure import configure, shipped
from planner.evaluation.expected_memory import with_load
from planner.evaluation.extra_memory import ledger_of as ledger_of
from planner.evaluation.latency import Served


@dataclass(frozen=True, slots=True)
class Detail:
    """An evaluation and what it was made from, for findings and the report.

    running: the plan with the replicas that serve at the peak; paid: with those of the mean rate. memo: searches
    already made of it.
    """

    plan: Plan
    ledger: MemoryLedger
    served: Served
    evaluation: Evaluation
    running: Plan
    paid: Plan
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def replicas(self) -> int:
        """That serve at the peak, those of all pools together."""
        found = sum(pool.replicas for pool in self.served.pools.values())
        return found or max(1, self.running.hardware.replicas.minimum)

    @property
    def accelerators(self) -> int:
        return self.running.hardware.count * max(1, self.running.hardware.replicas.minimum)


Simulator = Callable[[Plan, MemoryLedger, Served], Served]
"""Closed forms to what is served, by a run of its own."""


def detail(
    plan: Plan, *, simulate: bool = False, simulator: Simulator | None = None, lost: int = 0, of_pool: str = ""
) -> Detail:
    """Of a configured plan (`planner.evaluation.configure`). simulate: loads without a closed form are run.

    simulator: runs any load, in place of that. lost: of the replicas that serve, or of those of one pool, so many are
    down; they are paid for all the same.
    """
    if pools.apart(plan):
        return _of_pools(plan, simulate, simulator, lost, of_pool)
    ledger = ledger_of(plan)
    fitting = sequences_that_fit(plan, ledger)
    whole = replicas.settled(plan, fitting)
    running = replicas.fixed(whole, max(whole.hardware.replicas.minimum - lost, 1)) if lost else whole
    ledger = ledger if running is plan else ledger_of(running)
    served = latency.evaluate(running, fitting)
    if simulator is not None:
        served = simulator(running, ledger, served)
    elif simulate:
        served = _simulated(running, whole, ledger, served)
    ledger = with_load(running, ledger, served, fitting)
    paid = replicas.settled(plan, fitting, peak=False)
    evaluation = evaluated(running, ledger, served, paid)
    return Detail(plan, ledger, served, evaluation, running, paid)


def _of_pools(plan: Plan, simulate: bool, simulator: Simulator | None, lost: int, of_pool: str) -> Detail:
    """Prompts and answers in pools of their own."""
    ledgers: dict[str, tuple[Plan, MemoryLedger, float | None]] = {}
    for name, pool in zip(("prefill", "decode"), pools.plans(plan), strict=True):
        fitting = sequences_that_fit(pool, ledger_of(pool))
        own = replicas.settled(pool, fitting)
        if lost and name == of_pool:
            own = replicas.fixed(own, max(own.hardware.replicas.minimum - lost, 1))
        ledgers[name] = (own, ledger_of(own), fitting)
    served = pools.served(plan, ledgers)
    tight = pools.tightest(served.pools)
    if simulator is not None:
        served = simulator(plan, tight, served)
    elif simulate:
        served = _simulated(plan, plan, tight, served)
    found = {
        name: replace(pool, ledger=with_load(pool.plan, pool.ledger, pool.served, pool.served.sequences_that_fit))
        for name, pool in served.pools.items()
    }
    served, tight = replace(served, pools=found), pools.tightest(found)
    paid = replace(plan, hardware=pools.hardware_of({name: pool.plan for name, pool in found.items()}))
    evaluation = evaluated(plan, tight, served, paid)
    of_pools = {
        name: {"memory": pool.ledger.memory, "throughput": pool.served.throughput} for name, pool in found.items()
    }
    return Detail(plan, tight, served, replace(evaluation, pools=of_pools), paid, paid)


def evaluated(plan: Plan, ledger: MemoryLedger, served: Served, paid: Plan) -> Evaluation:
    """The figures, their cost and the objectives. paid: the plan with the replicas that are paid for."""
    spent = cost.evaluate(paid, served, latency.seats_of(plan, served.sequences_that_fit))
    overloaded = served.operating.overloaded
    bands = cost_bands.with_cost(
        paid,
        bands_of(plan, served.latency, _utilisation(plan, served)),
        spent,
        served.throughput,
        overloaded=overloaded,
    )
    outcomes = objectives.judge(
        plan,
        ledger.memory,
        served.latency,
        served.throughput,
        spent,
        bands,
        served.classes,
        overloaded=overloaded,
    )
    classes = {name: {"latency": own, "throughput": rate} for name, (own, rate) in served.classes.items()}
    return Evaluation(ledger.memory, served.latency, served.throughput, spent, outcomes, bands, classes)


def _simulated(plan: Plan, whole: Plan, ledger: MemoryLedger, served: Served) -> Served:
    """The load run through the event simulation, where closed forms only bound it and the queue does not grow.

    whole: the plan before replicas were lost; what they had begins anew elsewhere.
    """
    from planner.evaluation import simulation

    if not simulation.wanted(plan) or falls_behind(plan, served):
        return served
    if whole is not plan and not served.operating.overloaded and ledger.memory.fits:
        run = simulation.failing(whole, plan, ledger, served)
        if run is not None:
            return simulation.applied(plan, served, run)
    return simulation.run_of(plan, ledger, served)


def falls_behind(plan: Plan, served: Served) -> bool:
    """Whether a control loop's inference takes longer than its periods: it then runs slower, and nothing queues."""
    return plan.workload.load.kind == "period" and served.operating.utilisation > 1.0


def evaluate(plan: Plan, *, simulate: bool = False) -> Evaluation:
    """The figures of a configured plan."""
    return detail(plan, simulate=simulate).evaluation


def _utilisation(plan: Plan, served: Served) -> float:
    """Of loads that come whether or not the engine keeps up; a closed loop waits for it."""
    return served.operating.utilisation if plan.workload.load.kind in ("rate", "trace", "sessions") else 0.0


def sequences_that_fit(plan: Plan, ledger: MemoryLedger) -> float | None:
    """Sequences of one data-parallel rank that the cache holds: by the promise, or by what they use on average."""
    promised = plan.engine.admission == "reserve-maximum" or ledger.expected_concurrency is None
    found = ledger.guaranteed_concurrency if promised else ledger.expected_concurrency
    return None if found is None else found / plan.engine.data_parallel_size


def run(plan: Plan) -> PlanResult:
    """Baseline, ladder and shipped stack, the largest load that the shipped one holds, and what disturbs it."""
    from planner.evaluation.disturbed import disturbances
    from planner.evaluation.growth import runs_out
    from planner.evaluation.ladder import climb
    from planner.evaluation.limits import largest_concurrency, largest_context

    bare = configure(plan, ())
    baseline = evaluate(bare, simulate=True)
    final = shipped(plan)
    found = detail(final, simulate=True)
    return PlanResult(
        baseline=baseline,
        shipped=found.evaluation,
        steps=climb(plan, baseline, found.evaluation),
        largest_concurrency=largest_concurrency(final),
        largest_context=largest_context(final),
        baseline_concurrency=largest_concurrency(bare),
        baseline_context=largest_context(bare),
        detail=found,
        disturbed=disturbances(found),
        runs_out=runs_out(found),
    )


def run_simulated(plan: Plan, simulator: Simulator) -> PlanResult:
    """The shipped stack as `simulator` runs it; the baseline in closed form, and no ladder."""
    final = shipped(plan)
    found = detail(final, simulator=simulator)
    return PlanResult(baseline=evaluate(configure(plan, ())), shipped=found.evaluation, detail=found)
