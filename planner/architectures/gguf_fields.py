"""Metadata of a GGUF file, under the names of its architecture: counts, per-layer heads, windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.architectures.fields import MOST_LAYERS
from planner.architectures.gguf_types import CHUNK_TOKENS, CHUNKED, SLIDING_PERIODS
from planner.architectures.gguf_weights import Sizes
from planner.findings import Finding, Severity, Verdict
from planner.quoting import quoted

LARGEST = 1 << 40


def error(field: str, slug: str, message: str, hint: str = "") -> Finding:
    return Finding(
        f"model-gguf-{slug}",
        Severity.ERROR,
        f"{field}: {message}",
        hint,
        values={"field": field},
        verdict=Verdict.INVALID,
    )


class GgufFields:
    """Typed reads; what is missing or impossible is noted in `problems`, and a harmless value returned."""

    def __init__(self, metadata: Mapping[str, Any], dtype: str) -> None:
        self.metadata = metadata
        self.dtype = dtype
        self.problems: list[Finding] = []
        found = metadata.get("general.architecture")
        self.architecture = found if isinstance(found, str) else ""
        if not self.architecture:
            self.problems.append(error("general.architecture", "missing-field", "the file does not say what it is"))
        self.layers = min(self.count("block_count", None, smallest=1), MOST_LAYERS)
        self.hidden = self.count("embedding_length", None, smallest=1)
        self.heads = self.per_layer("attention.head_count", 1)
        self.kv_heads = self._kv_heads()
        self.chunked = self.architecture in CHUNKED
        self.windows = self._windows()
        self.first_shared = self.layers - self.count("attention.shared_kv_layers", 0)

    def problem(self, name: str, message: str) -> None:
        self.problems.append(error(f"{self.architecture}.{name}", "bad-value", message))

    def raw(self, name: str) -> Any:
        return self.metadata.get(f"{self.architecture}.{name}")

    def count(self, name: str, default: int | None, *, smallest: int = 0) -> int:
        """A whole number in range; needed where the default is None."""
        found = self.raw(name)
        if isinstance(found, list) and found:
            found = max((item for item in found if isinstance(item, int)), default=None)
        if found is None:
            if default is None:
                self.problems.append(error(f"{self.architecture}.{name}", "missing-field", "the file does not give it"))
            return smallest if default is None else default
        if isinstance(found, bool) or not isinstance(found, int) or not smallest <= found <= LARGEST:
            self.problem(name, f"a whole number from {smallest} is expected, {quoted(found)} was read")
            return smallest
        return found

    def per_layer(self, name: str, default: int) -> list[int]:
        """One number a layer: a list, or one for all of them."""
        found = self.raw(name)
        if not isinstance(found, list):
            return [self.count(name, default)] * self.layers
        if len(found) < self.layers or not all(isinstance(item, int) and 0 <= item <= LARGEST for item in found):
            self.problem(name, f"{self.layers} whole numbers are expected, {len(found)} items were read")
            return [default] * self.layers
        return [int(item) for item in found[: self.layers]]

    def _kv_heads(self) -> list[int]:
        return (
            self.heads if self.raw("attention.head_count_kv") is None else self.per_layer("attention.head_count_kv", 1)
        )

    def head_dims(self, index: int) -> tuple[int, int]:
        """(key, value) values of one head where no tensor tells; hidden / heads where the file does not."""
        usual = self.hidden // max(1, self.heads[index])
        if self.windows[index] is not None and self.raw("attention.key_length_swa") is not None:
            return self.count("attention.key_length_swa", usual), self.count("attention.value_length_swa", usual)
        return self.count("attention.key_length", usual), self.count("attention.value_length", usual)

    def _windows(self) -> list[int | None]:
        """The window of each layer: by the file's pattern, else by what its architecture does; none without either."""
        window = self.count("attention.sliding_window", CHUNK_TOKENS if self.architecture in CHUNKED else 0)
        pattern = self.raw("attention.sliding_window_pattern")
        if isinstance(pattern, list) and pattern:
            slides = [bool(pattern[index % len(pattern)]) for index in range(self.layers)]
        else:
            given = isinstance(pattern, int) and not isinstance(pattern, bool) and 0 <= pattern <= MOST_LAYERS
            period = pattern if given else SLIDING_PERIODS.get(self.architecture)
            slides = [
                period is not None and (period == 0 or index % period < period - 1) for index in range(self.layers)
            ]
        return [window if slide and window else None for slide in slides]

    def sizes(self, index: int) -> Sizes:
        used = self.count("expert_used_count", 0) or None
        return Sizes(self.dtype, max(1, self.kv_heads[index]) if index < self.layers else 1, used)
