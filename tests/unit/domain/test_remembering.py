"""What is kept of a pure function: one result for one object and the same other arguments, bounded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.domain import remembering
from planner.domain.model import Model
from planner.domain.remembering import by_object, by_objects

MODEL = Model("m", hidden=8, vocabulary=16, groups=())


def test_the_same_question_is_answered_once() -> None:
    asked: list[tuple[str, int]] = []

    @by_object
    def figure(model: Model, factor: int = 1, *, offset: int = 0) -> int:
        asked.append((model.name, factor))
        return model.hidden * factor + offset

    assert [figure(MODEL), figure(MODEL), figure(MODEL, 2), figure(MODEL, 2, offset=3)] == [8, 8, 16, 19]
    assert len(asked) == 3


def test_another_model_is_another_question_even_where_it_is_equal() -> None:
    """Equal models give equal figures, so only the time differs; a changed one must be asked anew."""
    asked: list[int] = []

    @by_object
    def figure(model: Model) -> int:
        asked.append(model.hidden)
        return model.hidden

    assert [figure(MODEL), figure(replace(MODEL, hidden=32)), figure(replace(MODEL))] == [8, 32, 8]
    assert asked == [8, 32, 8]


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four are kept at most: of five models asked for twice over in turn, none may be answered for another."""
    monkeypatch.setattr(remembering, "MOST", 4)

    @by_object
    def figure(model: Model) -> int:
        return model.hidden

    models = [replace(MODEL, hidden=size) for size in (1, 2, 3, 4, 5)]
    assert [figure(model) for model in models + models] == [1, 2, 3, 4, 5] * 2


def test_several_objects_need_not_be_hashable() -> None:
    asked: list[int] = []

    @by_objects
    def total(model: Model, items: tuple[dict[str, int], ...]) -> int:
        asked.append(len(items))
        return model.hidden + sum(item["x"] for item in items)

    one, other = {"x": 1}, {"x": 1}
    assert [total(MODEL, (one,)), total(MODEL, (one,)), total(MODEL, (one, other)), total(MODEL, (other,))] == [
        9, 9, 10, 9,
    ]  # fmt: skip
    assert asked == [1, 2, 1]
