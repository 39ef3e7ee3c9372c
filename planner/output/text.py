"""For people at a terminal: `file:line:column: id message`, the way out under it, one line of verdict a spec.

Notes that decide nothing are counted on one line; `--verbose` prints them whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from planner import format as printed
from planner.domain import held
from planner.domain.evaluation import PlanResult
from planner.domain.plan import Plan
from planner.findings import Finding, Severity, Verdict
from planner.output import Options
from planner.pipeline import Judgement
from planner.quoting import inert, plain

UNJUDGED = "could not be judged"
COLORS = {
    Severity.ERROR: "31",
    Severity.WARNING: "33",
    Severity.NOTE: "36",
    Verdict.FEASIBLE: "32",
    Verdict.AT_RISK: "33",
    Verdict.UNPROVEN: "33",
    Verdict.INFEASIBLE: "31",
    Verdict.INVALID: "31",
}


def render(judgements: Sequence[Judgement], options: Options) -> str:
    """Findings of every spec, each spec followed by its verdict and the figures that decide."""
    lines: list[str] = []
    for judgement in judgements:
        folded = [item for item in judgement.findings if not options.verbose and _is_aside(item)]
        shown = [item for item in judgement.findings if options.verbose or not _is_aside(item)]
        lines += (line for finding in shown for line in _finding(finding, options))
        lines += _folded(judgement, folded, options)
        lines += _verdict(judgement, options)
    if options.skipped:
        files = "1 file" if options.skipped == 1 else f"{options.skipped:,} files"
        lines.append(f"{files} skipped: not planner documents")
    if len(judgements) > 1:
        lines.append(_summary(judgements))
    return "".join(f"{inert(line)}\n" for line in lines)


def _paint(text: str, code: str, options: Options) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if options.color else text


def _finding(finding: Finding, options: Options) -> Iterator[str]:
    word = _paint(finding.severity.value, COLORS[finding.severity], options)
    where = f"{plain_line(str(finding.location))}: " if finding.location else ""
    waived = (
        f" (waived until {plain_line(finding.waived.expires)}: {plain_line(finding.waived.reason)})"
        if finding.waived
        else ""
    )
    yield f"{where}{finding.id} {word}: {plain_line(finding.message)}{waived}"
    if finding.hint and not finding.waived:
        yield f"    {plain_line(finding.hint)}"


def _is_aside(finding: Finding) -> bool:
    """A note that forces no verdict and that nobody waived: nothing that a run fails or passes by."""
    return finding.severity is Severity.NOTE and finding.verdict is None and finding.waived is None


def _folded(judgement: Judgement, notes: Sequence[Finding], options: Options) -> Iterator[str]:
    """`spec.yaml: 3 notes: figure-not-computed (2), objectives-incomplete; --verbose shows them`."""
    if not notes:
        return
    counts = Counter(note.id for note in notes)
    named = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in counts.items())
    word = _paint("note" if len(notes) == 1 else "notes", COLORS[Severity.NOTE], options)
    them = "it" if len(notes) == 1 else "them"
    yield f"{plain_line(judgement.file)}: {len(notes)} {word}: {plain_line(named)}; --verbose shows {them}"


def plain_line(text: str) -> str:
    """`text` on one line with every control character spelled out, whole."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else plain(character) for character in text)


def _verdict(judgement: Judgement, options: Options) -> Iterator[str]:
    word = _paint(judgement.verdict.value, COLORS[judgement.verdict], options)
    expected = " (as expected)" if judgement.verdict is judgement.expected is not Verdict.FEASIBLE else ""
    if not judgement.judged:
        word, expected = UNJUDGED, ""
    elif _is_valid(judgement):
        word = _paint("valid", COLORS[Verdict.FEASIBLE], options)
    yield f"{plain_line(judgement.file)}: {word}{expected}"
    if judgement.result is not None:
        yield from (f"    {line}" for line in _figures(judgement))


def _is_valid(judgement: Judgement) -> bool:
    """Of what is no deployment: nothing but its text is judged."""
    return judgement.judged and not judgement.is_deployment and judgement.verdict is Verdict.FEASIBLE


def _figures(judgement: Judgement) -> Iterator[str]:
    """Memory, latency, throughput and cost of what ships, a line each."""
    assert judgement.result is not None and judgement.plan is not None
    shipped = judgement.result.shipped
    throughput, cost = shipped.throughput, shipped.cost
    yield f"memory      {_memory(judgement.plan, judgement.result)}"
    times = ", ".join(_times(judgement.result))
    if times:
        yield f"latency     {times} ({shipped.bands.word})"
    if throughput.output_tokens_per_s is not None:
        yield f"throughput  {printed.rate(throughput.output_tokens_per_s, 'tokens')}"
    if cost.usd_per_hour is not None:
        per = (
            f", {printed.dollars(cost.usd_per_million_output_tokens)} a million output tokens"
            if cost.usd_per_million_output_tokens
            else ""
        )
        yield f"cost        {printed.dollars(cost.usd_per_hour)} an hour{per}"
    if cost.watts is not None:
        joules = cost.joules_per_output_token
        per = f", {printed.quantity(joules, 'joules')} an output token" if joules else ""
        yield f"power       {printed.quantity(cost.watts, 'watts')} on average{per}"
    out = judgement.result.runs_out
    if out is not None:
        yield f"growth      {f'runs out in {out.month}: ' if out.month else ''}{plain_line(out.reason)}"
    for item in shipped.objectives:
        yield f"objective   {plain_line(item.objective)}: {item.outcome}"


def _memory(plan: Plan, result: PlanResult) -> str:
    """Whether it fits, and what it takes; of a load whose promised cache is more than there is, what is held of it."""
    memory, part = result.shipped.memory, held.short(plan, result)
    usable = f"of {printed.memory(memory.usable_bytes)} an accelerator"
    weights = f"weights {printed.memory(memory.weights_bytes)}"
    if part is not None:
        return f"starts: {weights}, cache pool {printed.memory(memory.kv_pool_bytes)} {usable}; {part.sentence}"
    fits = "fits" if memory.fits else "does not fit"
    expected = " expected" if memory.cache_basis == "expected" else ""
    cache = f",{expected} cache {printed.memory(memory.kv_cache_bytes)}" if memory.kv_cache_bytes is not None else ""
    return f"{fits}: {weights}{cache} {usable}"


def _times(result: PlanResult) -> Iterator[str]:
    """TTFT and ITL at the statistic that an objective binds, else the mean; whether TTFT has waiting in it."""
    latency = result.shipped.latency
    known = (("TTFT", "time_to_first_token"), ("ITL", "inter_token_latency"))
    for short, metric in known:
        statistic = _statistic(result, metric)
        value = getattr(latency, f"{metric}_s").at(statistic)
        if value is not None:
            queue = "" if short == "ITL" or result.detail.served.operating.waiting_s > 0 else " without queueing"
            yield f"{short} {statistic} {printed.duration(value)}{queue}"


def _statistic(result: PlanResult, metric: str) -> str:
    """Of the first objective on `metric`."""
    names = (item.objective.partition(".") for item in result.shipped.objectives)
    return next((statistic for name, _, statistic in names if name == metric and statistic), "mean")


def _summary(judgements: Sequence[Judgement]) -> str:
    """Deployments by verdict; a Base, a Project or a catalogue file that holds is valid, not feasible."""
    words = Counter(_outcome(item) for item in judgements)
    order = (*(verdict.value for verdict in Verdict), "valid", UNJUDGED)
    parts = ", ".join(f"{words[word]} {word}" for word in order if words[word])
    return f"{len(judgements)} specs: {parts}"


def _outcome(judgement: Judgement) -> str:
    if not judgement.judged:
        return UNJUDGED
    return "valid" if _is_valid(judgement) else judgement.verdict.value
