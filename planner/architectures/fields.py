"""A config's fields: looked up under their aliases, checked, with every problem collected instead of raised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.findings import Finding, Severity, Verdict

LARGEST = 1 << 40
"""No size in a config is larger; what is beyond it is damage, not a model."""
MOST_LAYERS = 4096


class Fields:
    """Typed reads from one config. A bad or missing field is noted, and a harmless value is returned in its place.

    values: the language model's own fields, class defaults beneath them. root: the whole file.
    """

    def __init__(self, values: Mapping[str, Any], root: Mapping[str, Any] | None = None, *, where: str = "") -> None:
        self.values = values
        self.root = values if root is None else root
        self.where = where
        self.missing: list[str] = []
        self.problems: list[Finding] = []

    def below(self, key: str) -> Fields:
        """The fields of a nested map (empty if it is not one), reporting to the same lists."""
        found = self.values.get(key)
        nested = Fields(found if isinstance(found, Mapping) else {}, self.root, where=f"{self.where}{key}.")
        nested.missing, nested.problems = self.missing, self.problems
        return nested

    def has(self, *names: str) -> bool:
        return any(self.values.get(name) is not None for name in names)

    def raw(self, *names: str) -> Any:
        """The first value given under one of `names`, None if there is none."""
        for name in names:
            found = self.values.get(name)
            if found is not None:
                return found
        return None

    def problem(self, name: str, message: str, *, slug: str = "bad-value", **values: Any) -> None:
        """Notes an error about one field."""
        field = self.where + name
        self.problems.append(
            Finding(
                f"model-config-{slug}", Severity.ERROR, f"{field}: {message}",
                values={"field": field, **values}, verdict=Verdict.INVALID,
            )
        )  # fmt: skip

    def need(self, *names: str, largest: int = LARGEST) -> int:
        """A whole number, at least 1, that the config must give under one of `names`."""
        found = self.optional(*names, largest=largest)
        if found is None:
            if self.where + names[0] not in self.missing and not self._noted(names):
                self.missing.append(self.where + names[0])
            return 1
        return found

    def _noted(self, names: Sequence[str]) -> bool:
        fields = {self.where + name for name in names}
        return any(problem.values.get("field") in fields for problem in self.problems)

    def optional(self, *names: str, smallest: int = 1, largest: int = LARGEST) -> int | None:
        """A whole number in range, or None where it is absent, null, or (for sizes) 0."""
        for name in names:
            found = self.values.get(name)
            if found is None or (found == 0 and smallest == 1 and not isinstance(found, bool)):
                continue
            number = self._whole(name, found, smallest, largest)
            if number is not None:
                return number
        return None

    def count(self, *names: str, default: int = 0) -> int:
        """A whole number that may be 0; `default` where it is absent."""
        found = self.optional(*names, smallest=0)
        return default if found is None else found

    def _whole(self, name: str, found: Any, smallest: int, largest: int) -> int | None:
        if isinstance(found, float) and found.is_integer() and abs(found) < 2**53:
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, int):
            self.problem(name, f"a whole number is expected, {_shown(found)} was read")
            return None
        if not smallest <= found <= largest:
            self.problem(name, f"a number from {smallest} to {largest} is expected, {_shown(found)} was read")
            return None
        return found

    def number(self, *names: str, default: float) -> float:
        """A finite number, not negative."""
        for name in names:
            found = self.values.get(name)
            if found is None:
                continue
            if isinstance(found, (int, float)) and not isinstance(found, bool) and 0 <= found < LARGEST:
                return float(found)
            self.problem(name, f"a number is expected, {_shown(found)} was read")
        return default

    def flag(self, *names: str, default: bool = False) -> bool:
        """A boolean; 0 and 1 are taken."""
        for name in names:
            found = self.values.get(name)
            if isinstance(found, bool) or found in (0, 1):
                return bool(found)
        return default

    def text(self, *names: str, default: str = "") -> str:
        for name in names:
            found = self.values.get(name)
            if isinstance(found, str):
                return found
        return default

    def sequence(self, *names: str) -> list[Any] | None:
        """A list of at most as many items as a model has layers, or None."""
        for name in names:
            found = self.values.get(name)
            if isinstance(found, list):
                if len(found) <= 4 * MOST_LAYERS:
                    return found
                self.problem(name, f"a list of {len(found)} items is longer than any model")
        return None

    def per_layer(self, layers: int, *names: str, default: int | None = None, smallest: int = 1) -> list[int]:
        """One whole number a layer: a list of at least `layers` items, or one number for all of them."""
        for name in names:
            found = self.values.get(name)
            if isinstance(found, list):
                return self._list(name, found, layers, smallest)
        number = self.optional(*names, smallest=smallest)
        if number is None:
            number = self.need(*names) if default is None else default
        return [number] * layers

    def _list(self, name: str, found: list[Any], layers: int, smallest: int) -> list[int]:
        if len(found) < layers:
            self.problem(name, f"a list of {layers} items, one a layer, is expected; {len(found)} were read")
            return [1] * layers
        numbers = [self._whole(name, item, smallest, LARGEST) for item in found[:layers]]
        return [1 if number is None else number for number in numbers]

    def divides(self, name: str, whole: int, part: int) -> None:
        """Notes an error unless `part` (the field `name`) divides `whole`."""
        if part < 1 or whole % part:
            self.problem(name, f"{part} does not divide {whole}", slug="heads", whole=whole, part=part)


def _shown(value: Any) -> str:
    """A short, printable form of a value of an untrusted file."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 128:
        return "a number of more than 128 bits"
    return ascii(value)[:60]
