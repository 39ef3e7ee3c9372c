"""The first screen: the verdict in one sentence, what binds, the next step, and the figures one asks for first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from planner.domain import held
from planner.domain.evaluation import Evaluation, PlanResult
from planner.domain.loosened import loosened
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.format import memory, percent, significant
from planner.report.analysis_types import Analysis
from planner.report.binding import bound_of, needed_bytes
from planner.report.deployment import deployed, facts
from planner.report.figures import banded, figures
from planner.report.report_model import Labelled, VerdictSection, bracketed
from planner.report.text import sentence

# verdict -> (title, icon, tone)
_FACES = {
    Verdict.FEASIBLE: ("Feasible", "✓", "good"),
    Verdict.AT_RISK: ("At risk", "▲", "warn"),
    Verdict.UNPROVEN: ("Unproven", "?", "info"),
    Verdict.INFEASIBLE: ("Infeasible", "✕", "bad"),
    Verdict.INVALID: ("Invalid", "⊘", "bad"),
}
_HEADLINES = ("time_to_first_token", "inter_token_latency", "tokens_per_user", "tokens", "usd_per_million")
_OUTCOMES = ("met", "at-risk", "missed", "unknown")


def section(
    name: str,
    plan: Plan | None,
    result: PlanResult | None,
    findings: Sequence[Finding],
    verdict: Verdict,
    analysis: Analysis | None,
) -> VerdictSection:
    title, icon, tone = _FACES[verdict]
    if plan is None or result is None:
        return VerdictSection(
            verdict.value, title, icon, tone, _invalid(findings), "", _next(findings, verdict, None, None), ""
        )
    shipped = result.shipped
    bound = bound_of(shipped)
    return VerdictSection(
        word=verdict.value,
        title=title,
        icon=icon,
        tone=tone,
        sentence=_sentence(name, deployed(plan, _pools(result)), plan, result, findings, verdict)
        + _loosened(plan, result)
        + _expected(plan, verdict),
        binds=f"{bound.limit.capitalize()}. {bound.sentence}",
        next_step=_next(findings, verdict, result, analysis),
        objectives=_objectives(shipped),
        headlines=_headlines(plan, result),
        facts=(*facts(plan, _pools(result)), *_growth(plan, result)),
    )


def _errors(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.ERROR and finding.waived is None]


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _invalid(findings: Sequence[Finding]) -> str:
    return f"The spec has {_plural(len(_errors(findings)), 'error')}; nothing was evaluated."


def _loosened(plan: Plan, result: PlanResult) -> str:
    """What was asked for first, where a change that ships asks for less."""
    found = loosened(plan, result)
    if not found:
        return ""
    said = "; ".join(f"{item.name} {item.change}" for item in found)
    return f" {'A limit was' if len(found) == 1 else 'Limits were'} loosened by a change: {said}."


def _expected(plan: Plan, verdict: Verdict) -> str:
    if plan.expect is None:
        return ""
    if plan.expect == verdict.value:
        return " That is the verdict which the spec expects."
    return f" The spec expects another verdict: {plan.expect}."


def _growth(plan: Plan, result: PlanResult) -> tuple[Labelled, ...]:
    """The declared growth, and when the deployment runs out under it."""
    growth, found = plan.workload.growth, result.runs_out
    if growth is None or found is None:
        return ()
    grows = f"{percent(growth.rate_per_month)} a month from {growth.since}"
    if found.month is None:
        return (Labelled("Growth", f"{grows}: {found.reason}"),)
    times = "" if found.factor is None else f" at {significant(found.factor)} times the load"
    return (Labelled("Growth", f"{grows}: runs out in {found.month}{times} ({found.reason})"),)


def _pools(result: PlanResult) -> dict[str, Plan]:
    """The plan of each pool, where prompts and answers have pools of their own."""
    found = result.detail.served.pools if result.detail is not None else {}
    return {name: pool.plan for name, pool in found.items()}


def _sentence(
    name: str, hardware: str, plan: Plan, result: PlanResult, findings: Sequence[Finding], verdict: Verdict
) -> str:
    shipped, part = result.shipped, held.short(plan, result)
    if not shipped.memory.fits and verdict is Verdict.INFEASIBLE:
        used = shipped.memory
        return (
            f"{name} does not fit {hardware}: it needs {memory(needed_bytes(used))} on each accelerator, "
            f"of {memory(used.usable_bytes)} usable."
        )
    start = f"{name} starts on {hardware}, and {part.sentence}" if part else f"{name} fits {hardware}"
    match verdict:
        case Verdict.FEASIBLE:
            met = _all_met(shipped)
            return f"{start}{met.replace(' and meets', '; it meets')}." if part else f"{start}{_free(shipped)}{met}."
        case Verdict.AT_RISK:
            return f"{start}; {_with_outcome(shipped, 'at-risk', 'inside the band of the estimate', 'lie')}."
        case Verdict.UNPROVEN:
            return f"{start} on paper; {_first(findings, verdict)}"
    if any(outcome.outcome == "missed" for outcome in shipped.objectives):
        return f"{start}; {_with_outcome(shipped, 'missed', 'missed')}."
    return f"{name} cannot be deployed as declared: {_first(findings, verdict)}"


def _free(shipped: Evaluation) -> str:
    used = shipped.memory
    if used.free_bytes is None or used.free_bytes < 0 or not used.usable_bytes:
        return ""
    expected = "expected to stay " if used.cache_basis == "expected" else ""
    return f" with {percent(used.free_bytes / used.usable_bytes)} of usable memory {expected}free"


def _all_met(shipped: Evaluation) -> str:
    number = len(shipped.objectives)
    if not number:
        return "; it declares no objective"
    if any(outcome.outcome != "met" for outcome in shipped.objectives):
        return f" and meets {sum(outcome.outcome == 'met' for outcome in shipped.objectives)} of {number} objectives"
    return " and meets its objective" if number == 1 else f" and meets all {number} objectives"


def _with_outcome(shipped: Evaluation, outcome: str, words: str, verb: str = "are") -> str:
    named = [entry.objective for entry in shipped.objectives if entry.outcome == outcome]
    verb = {"are": "is", "lie": "lies"}[verb] if len(named) == 1 else verb
    of = f"{len(named)} of {_plural(len(shipped.objectives), 'objective')} {verb} {words}"
    shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    return f"{of}: {shown}" if named else "one of its findings puts it at risk"


def _first(findings: Sequence[Finding], verdict: Verdict) -> str:
    for finding in findings:
        if finding.verdict is verdict and finding.waived is None:
            return sentence(finding.message)
    return "see the findings."


def _next(findings: Sequence[Finding], verdict: Verdict, result: PlanResult | None, analysis: Analysis | None) -> str:
    """One thing to do: what the finding that forces the verdict says, else what to measure, else how to verify."""
    forcing = [finding for finding in findings if finding.waived is None and finding.verdict is verdict]
    deciding = analysis.deciding if analysis else None
    if verdict is Verdict.AT_RISK and deciding is not None:
        return sentence(deciding.measure or f"Measure {deciding.figure}")
    for finding in (*forcing, *_errors(findings)):
        if finding.hint:
            return sentence(finding.hint)
    if forcing or _errors(findings):
        return sentence(f"Correct what the first finding names: {(forcing or _errors(findings))[0].message}")
    warnings = [finding for finding in findings if finding.severity is Severity.WARNING and finding.waived is None]
    if warnings and (hint := next((finding.hint for finding in warnings if finding.hint), "")):
        return sentence(hint)
    if analysis and analysis.verification:
        return sentence(f"Verify it on the real system: {analysis.verification[0].what}")
    return "Review the figures and ship it."


def _objectives(shipped: Evaluation) -> str:
    if not shipped.objectives:
        return "None is declared."
    counted = Counter(entry.outcome for entry in shipped.objectives)
    return ", ".join(f"{counted[outcome]} {outcome}" for outcome in _OUTCOMES if counted[outcome])


def _headlines(plan: Plan, result: PlanResult) -> tuple[Labelled, ...]:
    shipped = result.shipped
    by_key = {figure.key.partition(".")[0]: figure for figure in figures(plan, shipped)}
    chosen = [by_key[key] for key in _HEADLINES]
    if by_key["inter_token_latency"].read(shipped) is None:
        chosen[1] = by_key["step"]
    cells = [(figure.title, bracketed(banded(figure, shipped))) for figure in chosen]
    return (_free_memory(plan, result), *(Labelled(title, cell.text, cell.note) for title, cell in cells))


def _free_memory(plan: Plan, result: PlanResult) -> Labelled:
    used, part = result.shipped.memory, held.short(plan, result)
    expected = "expected to stay " if used.cache_basis == "expected" else ""
    label = f"Usable memory {expected}free, each accelerator"
    if part is not None:
        return Labelled(label, "none at the promised length", f"{part.guaranteed:.2f} of {part.declared:g} sequences")
    if used.free_bytes is not None and used.free_bytes < 0:
        too_much = memory(-used.free_bytes).replace(" (", ", ")[:-1]
        return Labelled(label, "none", f"{too_much} too much")
    if used.free_bytes is None or not used.usable_bytes:
        return Labelled(label, "n/a")
    return Labelled(
        label, percent(used.free_bytes / used.usable_bytes), memory(used.free_bytes).replace(" (", ", ")[:-1]
    )
