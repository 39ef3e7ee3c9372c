"""The stack of levers: what is pulled, where it was said, and what a plan becomes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

LeverClass = Literal["output-preserving", "output-changing", "requirement-changing"]
LEVER_CLASSES: tuple[LeverClass, ...] = ("output-preserving", "output-changing", "requirement-changing")
Status = Literal["adopt", "consider", "reject"]
Source = Literal["spec", "engine-key", "model-key", "default"]


@dataclass(frozen=True, slots=True)
class LeverUse:
    """One item of the stack.

    parameters: bound and in SI, as the lever's module wants them. source: where it was said.
    key: the spec path of what adopted it, for findings.
    """

    use: str
    lever_class: LeverClass
    status: Status = "adopt"
    source: Source = "spec"
    name: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    reason: str = ""
    path: str = ""

    @property
    def title(self) -> str:
        return f"{self.use} ({self.name})" if self.name else self.use


@dataclass(frozen=True, slots=True)
class MeasuredAcceptance:
    """Mean tokens a step of one drafter on one task, bonus included, by number of proposed tokens from 1 up.

    name: of the table. mode: "thinking" or "plain" answers. source: who measured.
    """

    name: str
    method: str
    task: str
    mode: str
    lengths: tuple[float, ...]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Speculation:
    """Speculative decoding as the physics needs it.

    tokens_per_step: accepted tokens and the bonus token, mean. proposed: draft tokens a step.
    draft: the draft model, None for n-grams and prediction layers.
    """

    method: str
    proposed: int
    tokens_per_step: float
    draft: Any = None
    draft_weights_format: str | None = None
    lossy: bool = False


@dataclass(frozen=True, slots=True)
class Techniques:
    """What the levers have switched on. All off is the baseline.

    exact_attention_kernel: scores are not stored. chunked_prefill: long prompts are cut to the batched-token
    budget, and decodes go on beside them. prefix_hit_rate: share of prompt tokens found in the cache.
    """

    continuous_batching: bool = False
    exact_attention_kernel: bool = False
    cuda_graphs: bool = False
    chunked_prefill: bool = False
    prefix_caching: bool = False
    speculation: Speculation | None = None
    kv_offload: Mapping[str, Any] | None = None
    disaggregated: Mapping[str, Any] | None = None
