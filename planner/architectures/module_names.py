"""Whether a list of module names and patterns, as quantised checkpoints write it, names a weight of ours.

Publishers name the same module with and without prefixes (`model.`, `language_model.`), under several words
(`mlp`, `ffn`, `block_sparse_moe`), one by one or with wildcards, as regular expressions after `re:`. A name is
matched by any run of its parts: `gate` names every router, `model.layers.0` all of a layer.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from planner.domain.model import Weight

MOST_PATTERNS = 100_000
LONGEST_PATTERN = 200
_PREFIXES = ("model", "language_model", "backbone", "transformer", "text_model", "model_text")
_WORDS = {
    "ffn": "mlp", "feed_forward": "mlp", "block_sparse_moe": "mlp", "moe": "mlp", "mlps": "mlp", "attn": "self_attn",
    "attention": "self_attn", "self_attention": "self_attn", "head": "lm_head", "in_proj_qkvz": "in_proj_qkv",
    "share_expert": "shared_expert", "w1": "gate_proj", "w3": "up_proj", "w2": "down_proj",
}  # fmt: skip


@lru_cache(maxsize=16384)
def parts(name: str) -> tuple[str, ...]:
    """The parts of a module's name, prefixes dropped, one word for each thing."""
    found = name.split(".")
    while len(found) > 1 and found[0] in _PREFIXES:
        found = found[1:]
    return tuple(_WORDS.get(item, item) for item in found if item != "weight")


def spellings(weight: Weight, layer: int | None) -> tuple[str, ...]:
    """Full names under which checkpoints may hold a weight; experts with and without a number."""
    name = weight.name.removeprefix("model.")
    if layer is not None:
        name = f"layers.{layer}.{name}"
    names = [name, name.replace("experts.", "experts.0.")] if ".experts." in name else [name]
    prefixes = ("model.", "model.language_model.", "language_model.model.", "")
    return tuple(prefix + item for item in names for prefix in prefixes)


@dataclass(slots=True, eq=False)
class Names:
    """A set of names and patterns, asked many times. layered: some of them number a layer."""

    plain: set[tuple[str, ...]] = field(default_factory=set)
    layered: bool = False
    answers: dict[tuple[str, int | None], bool] = field(default_factory=dict)
    wild: re.Pattern[str] | None = None
    expressions: list[re.Pattern[str]] = field(default_factory=list)

    @classmethod
    def of(cls, patterns: Iterable[object]) -> Names:
        """Patterns that are no text, too long, or no regular expression match nothing."""
        names, wild = cls(), []
        for pattern in list(patterns)[:MOST_PATTERNS]:
            if not isinstance(pattern, str) or not pattern or len(pattern) > LONGEST_PATTERN:
                continue
            numbered = re.search(r"[0-9\\[]", pattern.removeprefix("re:").replace("\\.", ""))
            names.layered = names.layered or numbered is not None
            if pattern.startswith("re:"):
                names._expression(pattern[3:])
            elif "*" in pattern or "?" in pattern:
                wild.append(fnmatch.translate(".".join(parts(pattern))).removesuffix(r"\Z").removesuffix(r"\z"))
            else:
                names.plain.add(parts(pattern))
        if wild:
            names.wild = re.compile(r"(?:.*\.)?(?:" + "|".join(dict.fromkeys(wild)) + r")(?:\..*)?\Z")
        return names

    def _expression(self, text: str) -> None:
        """Only expressions that cannot take exponential time: no group that repeats and is repeated."""
        if re.search(r"[*+}]\s*\)\s*[*+{]", text):
            return
        try:
            self.expressions.append(re.compile(text))
        except (re.error, OverflowError, RecursionError):
            return

    def match(self, weight: Weight, layer: int | None) -> bool:
        key = (weight.name, layer if self.layered or layer is None else 0)
        if key not in self.answers:
            self.answers[key] = self._match(weight, layer)
        return self.answers[key]

    def _match(self, weight: Weight, layer: int | None) -> bool:
        canonical = parts(weight.name if layer is None else f"layers.{layer}.{weight.name}")
        sizes = {len(name) for name in self.plain} if len(self.plain) < 64 else range(1, len(canonical) + 1)
        runs = (canonical[at : at + size] for size in sizes for at in range(len(canonical) - size + 1))
        if any(run in self.plain for run in runs):
            return True
        if self.wild is not None and self.wild.match(".".join(canonical)):
            return True
        return bool(self.expressions) and any(
            expression.match(name) for name in spellings(weight, layer) for expression in self.expressions
        )
