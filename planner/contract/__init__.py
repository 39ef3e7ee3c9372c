"""Document to findings: schema, units, names, and rules that span several keys. Everything wrong, in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import islice

from planner.contract import across, kinds, shape
from planner.contract.problem import Problem
from planner.findings import Finding, Location
from planner.quoting import plain
from planner.source.document import Document

MOST_FINDINGS = 200
MOST_SOUGHT = 1000


def validate(document: Document, known_good: Collection[str] = ()) -> tuple[Finding, ...]:
    """Every error of the document, the deepest (so the most specific) first; empty where it may be bound.

    known_good: sections whose shape need not be looked at again; rules that span sections still see them.
    """
    faults = tuple(kinds.problems(document.data))
    if faults:
        return tuple(problem.finding(document) for problem in faults)
    sought = {key: value for key, value in document.data.items() if key not in known_good}
    shapes = islice(shape.problems(sought, document.kind), MOST_SOUGHT)
    spanning = islice(across.problems(document.data, document.kind), MOST_SOUGHT)
    found = [_as_written(problem, document) for problem in (*_without_echoes(shapes), *spanning)]
    ordered = sorted(found, key=lambda problem: (-len(problem.path), str(problem.path)))
    findings = [problem.finding(document) for problem in ordered[:MOST_FINDINGS]]
    findings.sort(key=lambda finding: (-finding.path.count("/"), finding.location or Location("")))
    if len(ordered) > MOST_FINDINGS:
        message = f"more than {MOST_FINDINGS} errors: the others are not shown"
        findings.append(Problem("too-many-errors", (), message).finding(document))
    return tuple(findings)


def _as_written(problem: Problem, document: Document) -> Problem:
    """A version that was read as a number, with the digits that the file has: 0.10 and not 0.1."""
    text = document.texts.get(problem.path)
    if problem.id != "version-not-text" or text is None:
        return problem
    key = problem.path[-1]
    message = f"`{key}: {plain(text)}` was read as a number, and 0.10 and 0.1 are one number"
    return replace(problem, message=message, hint=f'Put it in quotes: {key}: "{plain(text)}".')


def _without_echoes(problems: Iterable[Problem]) -> list[Problem]:
    """A misspelt key is one error: the key that it should have been is not missing as well."""
    found = list(problems)
    meant = {
        (problem.path[:-1], word)
        for problem in found
        if problem.id == "unknown-key" and problem.hint.startswith("Did you mean")
        for word in problem.hint.split("`")[1:2]
    }
    return [
        problem
        for problem in found
        if problem.id != "missing-key" or (problem.path, problem.values.get("key")) not in meant
    ]
