"""Judgements to text, one module a format: `render(judgements, options) -> str`. Found by file name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner import discovery

if TYPE_CHECKING:
    from planner.pipeline import Judgement


@dataclass(frozen=True, slots=True)
class Options:
    """color: ANSI colours. failed: whether the run as a whole fails. verbose: notes whole, in text.

    skipped: YAML files of folders that are no planner documents.
    """

    color: bool = False
    failed: bool = False
    verbose: bool = False
    skipped: int = 0


def names() -> tuple[str, ...]:
    return discovery.names(__name__)


def render(name: str, judgements: Sequence[Judgement], options: Options) -> str:
    """The judgements in the format `name`, ending with a newline."""
    module = discovery.module(__name__, name)
    if module is None:
        raise LookupError(name)
    text: str = module.render(judgements, options)
    return text
