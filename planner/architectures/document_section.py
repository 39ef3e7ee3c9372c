"""One mapping of a Model document: typed reads, every problem noted with its place and a harmless value returned."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from planner.architectures.document_weights import LARGEST, weight_of
from planner.domain.model import Weight
from planner.findings import Finding, Severity, Verdict
from planner.quoting import quoted

MOST_ITEMS = 20_000
"""No list of a document is longer."""


def fault(slug: str, at: str, message: str, hint: str = "") -> Finding:
    """An error of a Model document; `at` is the place in it."""
    return Finding(
        f"model-document-{slug}",
        Severity.ERROR,
        f"{at}: {message}",
        hint,
        values={"field": at},
        verdict=Verdict.INVALID,
    )


class Section:
    """Reads by key; `finish` then notes the keys that nothing read."""

    __slots__ = ("at", "data", "problems", "read")

    def __init__(self, data: Any, at: str, problems: list[Finding]) -> None:
        self.at = at
        self.problems = problems
        self.read: set[str] = set()
        self.data: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        if not isinstance(data, Mapping):
            problems.append(fault("bad-value", at or "document", f"a mapping is expected, {quoted(data)} was read"))

    def take(self, key: str) -> Any:
        self.read.add(key)
        return self.data.get(key)

    def place(self, key: str) -> str:
        return f"{self.at}.{key}" if self.at else key

    def note(self, key: str, message: str, *, slug: str = "bad-value", hint: str = "") -> None:
        self.problems.append(fault(slug, self.place(key), message, hint))

    def whole(self, key: str, default: int | None = None, *, smallest: int = 0) -> int:
        """A whole number in range; needed where there is no default."""
        found = self.take(key)
        if found is None:
            if default is None:
                self.note(key, "a whole number is needed here", slug="missing-field")
            return default if default is not None else 1
        if isinstance(found, bool) or not isinstance(found, int) or not smallest <= found <= LARGEST:
            self.note(key, f"a whole number from {smallest} to {LARGEST} is expected, {quoted(found)} was read")
            return smallest
        return found

    def optional(self, key: str, *, smallest: int = 1) -> int | None:
        return None if self.take(key) is None else self.whole(key, smallest=smallest)

    def number(self, key: str, default: float) -> float:
        found = self.take(key)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found <= LARGEST:
            self.note(key, f"a number is expected, {quoted(found)} was read")
            return default
        return float(found)

    def flag(self, key: str, default: bool = False) -> bool:
        found = self.take(key)
        if found is not None and not isinstance(found, bool):
            self.note(key, f"true or false is expected, {quoted(found)} was read")
        return found if isinstance(found, bool) else default

    def text(self, key: str, longest: int = 200) -> str | None:
        found = self.take(key)
        if found is not None and not (isinstance(found, str) and len(found) <= longest):
            self.note(key, f"a text of at most {longest} characters is expected, {quoted(found)} was read")
            return None
        return found

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> Any:
        """One of `choices`; the nearest is named where it is none."""
        found = self.take(key)
        if found is None and default is not None:
            return default
        if found not in choices:
            near = difflib.get_close_matches(str(found)[:60], choices, 1)
            hint = f"Did you mean {near[0]}?" if near else f"It is one of {', '.join(choices)}."
            self.note(key, f"{quoted(found)} is not known", hint=hint)
            return choices[0]
        return found

    def items(self, key: str) -> list[Any]:
        """A list, empty where it is absent."""
        found = self.take(key)
        if found is None:
            return []
        if not isinstance(found, list) or len(found) > MOST_ITEMS:
            self.note(key, f"a list of at most {MOST_ITEMS} items is expected, {quoted(found)} was read")
            return []
        return found

    def sections(self, key: str) -> list[Section]:
        return [Section(item, f"{self.place(key)}[{i}]", self.problems) for i, item in enumerate(self.items(key))]

    def weights(self, key: str = "weights") -> tuple[Weight, ...]:
        found = []
        for index, line in enumerate(self.items(key)):
            weight = weight_of(line) if isinstance(line, str) else f"a line is expected, {quoted(line)} was read"
            if isinstance(weight, str):
                self.note(f"{key}[{index}]", weight, slug="weight")
            else:
                found.append(weight)
        return tuple(found)

    def finish(self) -> None:
        """Notes every key that was not read, with the nearest that was."""
        for key in self.data:
            if key not in self.read:
                near = difflib.get_close_matches(str(key)[:60], self.read, 1)
                self.note(
                    str(key)[:60],
                    "this key is not known here",
                    slug="unknown-key",
                    hint=f"Did you mean {near[0]}?" if near else "",
                )
