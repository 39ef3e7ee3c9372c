"""The ladder of levers: one row a lever, every figure before and after, class by class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.domain.evaluation import Evaluation, LeverStep, PlanResult
from planner.domain.levers import LEVER_CLASSES
from planner.domain.plan import Plan
from planner.format import change, quantity
from planner.report.figures import Figure, cell, figures, relative
from planner.report.report_model import (
    Cell,
    Column,
    LadderSection,
    LeverDetail,
    LeverGroup,
    Row,
    Table,
    TableSection,
    bracketed,
)
from planner.report.text import first_rows, sentence

_TITLES = {
    "output-preserving": (
        "Output-preserving levers",
        "The model says the same with and without them. They come first.",
    ),
    "output-changing": (
        "Output-changing levers",
        "Each changes what the model says, and obliges the evaluation beside it before it ships.",
    ),
    "requirement-changing": (
        "Requirement-changing levers",
        "Each changes what is asked for or what is paid, and needs the agreement of whoever asked.",
    ),
}
_STATUS = {"adopt": "adopted", "consider": "considered", "reject": "rejected"}
_SOURCE = {
    "engine-key": "An engine key switches it on.",
    "model-key": "A model key switches it on.",
    "default": "The engine switches it on by default.",
}
_EVIDENCE = {
    "missing": "Its evidence documents do not cover that",
    "stale": "Its evidence is stale",
    "covered": "Its evidence covers that",
}
_EVIDENCE_TONE = {"missing": "bad", "stale": "warn", "covered": "good"}


@dataclass(frozen=True, slots=True)
class Rung:
    """A lever, the evaluation that it starts from and the one that it leads to, found in the same way."""

    step: LeverStep
    before: Evaluation
    after: Evaluation | None


def rungs(result: PlanResult) -> Iterator[Rung]:
    """An adopted lever starts where the one before it ended; a considered one from what ships."""
    standing = result.baseline
    for step in result.steps:
        if step.compared is not None:
            before, standing = step.compared
            yield Rung(step, before, standing)
        else:
            yield Rung(step, standing, step.after)


def status_of(step: LeverStep) -> str:
    return _STATUS[step.lever.status]


def section(plan: Plan, result: PlanResult) -> LadderSection:
    """The three classes in the planner's own order."""
    known = figures(plan, result.shipped)
    ladder = tuple(rungs(result))
    groups, standing = [], result.baseline
    for lever_class in LEVER_CLASSES:
        own = [rung for rung in ladder if rung.step.lever.lever_class == lever_class]
        evaluated = [rung for rung in own if rung.step.compared is not None]
        adopted = [rung for rung in evaluated if rung.step.lever.status == "adopt"]
        for rung in (*adopted, *evaluated)[:1]:
            standing = rung.before
        groups.append(_group(lever_class, own, standing, known))
        standing = adopted[-1].after or standing if adopted else standing
    return LadderSection(tuple(groups))


def _group(lever_class: str, own: Sequence[Rung], standing: Evaluation, known: Sequence[Figure]) -> LeverGroup:
    title, meaning = _TITLES[lever_class]
    if not own:
        return LeverGroup(title, meaning, None, (), "None is declared.")
    columns = [figure for figure in known if figure.ladder]
    heads = (
        Column("Lever"),
        Column("Status"),
        *(Column(figure.short, True) for figure in columns),
    )
    before = Row((Cell("before these levers"), Cell(""), *(cell(figure, standing) for figure in columns)), "before")
    rows = (before, *(_row(rung, columns) for rung in own))
    kept, omitted = first_rows(rows)
    details = tuple(_detail(rung, known) for rung in own[: len(kept)])
    return LeverGroup(title, meaning, Table(title, heads, kept, omitted, remarks=True), details, "")


def _row(rung: Rung, columns: Sequence[Figure]) -> Row:
    step, after = rung.step, rung.after
    if after is None:
        numbers = tuple(Cell("n/a") for _ in columns)
    else:
        numbers = tuple(cell(figure, after, rung.before) for figure in columns)
    cells = (Cell(step.lever.title), Cell(status_of(step)), *numbers)
    return Row(cells, step.lever.status, " ".join(_remarks(step)))


def _remarks(step: LeverStep) -> Iterator[str]:
    if step.lever.source in _SOURCE:
        yield _SOURCE[step.lever.source]
    if step.lever.status == "reject":
        yield sentence(step.lever.reason) if step.lever.reason else "No reason is given."
        return
    if step.lever.reason:
        yield sentence(step.lever.reason)
    if step.note:
        yield sentence(step.note)
    elif step.after is None:
        yield "Its effect is not evaluated."
    yield from _evidence(step)


def _evidence(step: LeverStep) -> Iterator[str]:
    """What it obliges to evaluate, grouped by the state of its evidence."""
    for word in dict.fromkeys(obligation.evidence for obligation in step.obligations):
        evaluated = [item.evaluate.rstrip(".") for item in step.obligations if item.evidence == word]
        named = "; ".join(_lowered(text) for text in evaluated)
        yield f"Needs evaluation of {named}. {_evidence_words(step, word)}."


def _evidence_words(step: LeverStep, word: str) -> str:
    if word == "missing" and not step.lever.evidence:
        return "No evidence document is given"
    return _EVIDENCE.get(word, f"Its evidence is {word}")


def _lowered(text: str) -> str:
    """`text` to go on inside a sentence: a capital that only began its own is lowered."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _detail(rung: Rung, known: Sequence[Figure]) -> LeverDetail:
    step, after = rung.step, rung.after
    reduces = ", ".join(step.reduces)
    title, status = step.lever.title, status_of(step)
    if after is None:
        return LeverDetail(title, status, reduces, None, "")
    moved = [figure for figure in known if _moves(figure, rung.before, after)]
    kept = [figure.title for figure in known if figure not in moved]
    rows = tuple(_before_after(figure, rung.before, after) for figure in moved)
    heads = (Column("Figure"), Column("Before", True), Column("After", True), Column("Change", True))
    table = Table(f"Before and after {title}", heads, rows) if rows else None
    unchanged = "; ".join(kept) if rows else "It moves no figure here."
    return LeverDetail(title, status, reduces, table, unchanged)


def _moves(figure: Figure, before: Evaluation, after: Evaluation) -> bool:
    first, second = figure.read(before), figure.read(after)
    if first is None or second is None or first == 0:
        return first != second
    return change(relative(first, second)) != ""


def _before_after(figure: Figure, before: Evaluation, after: Evaluation) -> Row:
    first, second = figure.read(before), figure.read(after)
    moved = relative(first, second)
    return Row(
        (
            Cell(figure.title),
            bracketed(quantity(first, figure.dimension), first),
            bracketed(quantity(second, figure.dimension), second),
            Cell(change(moved) or "n/a", moved, tone=figure.tone(moved)),
        )
    )


def obligations(result: PlanResult) -> TableSection:
    """What the adopted and considered levers oblige to evaluate or to measure."""
    rows, missing, adopted = [], 0, 0
    for step in result.steps:
        if step.lever.status == "reject":
            continue
        for obligation in step.obligations:
            ships = step.lever.status == "adopt"
            adopted += ships
            missing += ships and obligation.evidence != "covered"
            evidence = Cell(obligation.evidence, tone=_EVIDENCE_TONE.get(obligation.evidence, ""))
            files = Cell(", ".join(step.lever.evidence) or "no document is given")
            rows.append(
                Row((Cell(step.lever.title), Cell(status_of(step)), Cell(obligation.evaluate), evidence, files))
            )
    if not rows:
        return TableSection("Nothing: no lever that changes the output is adopted or considered.")
    heads = tuple(Column(title) for title in ("Lever", "Status", "Evaluate or measure", "Evidence", "Evidence files"))
    kept, omitted = first_rows(rows)
    return TableSection(_obligation_sentence(adopted, missing), Table("What must be evaluated", heads, kept, omitted))


def _obligation_sentence(adopted: int, missing: int) -> str:
    if not adopted:
        return "What ships obliges to no evaluation; adopting a considered lever would."
    if not missing:
        return f"The evidence covers all {adopted} that the shipped levers oblige to."
    return f"{missing} of the {adopted} evaluations that the shipped levers oblige to lack evidence that covers them."
