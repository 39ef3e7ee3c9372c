"""Number formats of weights and caches, by definition: bits with scales and zero points, and what computes on them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Format:
    """One way to store a matrix of [outputs, inputs] values.

    bits: of one value, which is also what an ideal engine charges. group: values along the inputs that share
    a scale, rows: outputs that share it (128 x 128 blocks); group 0 is one scale for the tensor, not counted.
    scale_bits: of one group's scale, zero point and whatever else its block holds. row_bits: for each output
    row. input_bits: for each input. compute: what the products run in where the hardware has it; `dtype` is
    the model's own 16 bits (weight-only formats).
    """

    name: str
    bits: float
    group: int = 0
    rows: int = 1
    scale_bits: float = 0.0
    row_bits: float = 0.0
    input_bits: float = 0.0
    compute: str = "dtype"

    @property
    def stored_bits(self) -> float:
        """Bits of one value with its share of a group's scale: bits + scale_bits / (group rows)."""
        return self.bits + (self.scale_bits / (self.group * self.rows) if self.group else 0.0)

    def stored_bytes(self, outputs: float, inputs: float) -> float:
        """Bytes of an [outputs, inputs] matrix, partial groups counted as whole.

        (outputs inputs bits + ceil(outputs/rows) ceil(inputs/group) scale_bits
         + outputs row_bits + inputs input_bits) / 8
        """
        total = outputs * inputs * self.bits + outputs * self.row_bits + inputs * self.input_bits
        if self.group:
            total += -(-outputs // self.rows) * -(-inputs // self.group) * self.scale_bits
        return total / 8


def _block(name: str, values: int, block_bytes: int, nominal: float) -> Format:
    """A GGUF type: `values` in a block of `block_bytes` (ggml's block structures)."""
    return Format(name, nominal, group=values, scale_bits=block_bytes * 8 - values * nominal)


_WEIGHTS = (
    Format("fp64", 64, compute="fp64"),
    Format("fp32", 32, compute="fp32"),
    Format("bf16", 16, compute="bf16"),
    Format("fp16", 16, compute="fp16"),
    Format("fp8", 8, compute="fp8"),
    Format("fp8-channel", 8, row_bits=32, compute="fp8"),
    Format("fp8-block", 8, group=128, rows=128, scale_bits=32, compute="fp8"),
    Format("mxfp8", 8, group=32, scale_bits=8, compute="fp8"),
    Format("int8", 8, row_bits=32, compute="int8"),
    Format("int8-weight-only", 8, group=128, scale_bits=16),
    Format("int4", 4, group=128, scale_bits=16),
    Format("int4-channel", 4, row_bits=16),
    Format("int2", 2, group=128, scale_bits=16),
    Format("int3", 3, group=128, scale_bits=16),
    Format("awq-int4", 4, group=128, scale_bits=16 + 4),
    Format("gptq-int4", 4, group=128, scale_bits=16 + 4, input_bits=32),
    Format("gptq-int8", 8, group=128, scale_bits=16 + 8, input_bits=32),
    Format("gptq-int3", 3, group=128, scale_bits=16 + 3, input_bits=32),
    Format("gptq-int2", 2, group=128, scale_bits=16 + 2, input_bits=32),
    # Absolute maxima of 64 values, themselves 8 bits with a 32-bit maximum for 256 of them.
    Format("bnb-nf4", 4, group=64, scale_bits=8 + 32 / 256),
    Format("bnb-nf4-single", 4, group=64, scale_bits=32),
    Format("bnb-int8", 8, row_bits=32, compute="int8"),
    Format("nvfp4", 4, group=16, scale_bits=8, compute="fp4"),
    Format("mxfp4", 4, group=32, scale_bits=8),
    _block("q4_0", 32, 18, 4),
    _block("q4_1", 32, 20, 4),
    _block("q5_0", 32, 22, 5),
    _block("q5_1", 32, 24, 5),
    _block("q8_0", 32, 34, 8),
    _block("q8_1", 32, 36, 8),
    _block("q2_k", 256, 84, 2),
    _block("q3_k", 256, 110, 3),
    _block("q4_k", 256, 144, 4),
    _block("q5_k", 256, 176, 5),
    _block("q6_k", 256, 210, 6),
    _block("q8_k", 256, 292, 8),
    _block("iq1_s", 256, 50, 1),
    _block("iq1_m", 256, 56, 1),
    _block("iq2_xxs", 256, 66, 2),
    _block("iq2_xs", 256, 74, 2),
    _block("iq2_s", 256, 82, 2),
    _block("iq3_xxs", 256, 98, 3),
    _block("iq3_s", 256, 110, 3),
    _block("iq4_nl", 32, 18, 4),
    _block("iq4_xs", 256, 136, 4),
    _block("tq1_0", 256, 54, 1),
    _block("tq2_0", 256, 66, 2),
)
_ALIASES = {
    "float32": "fp32", "float": "fp32", "f32": "fp32", "float64": "fp64", "bfloat16": "bf16", "float16": "fp16",
    "half": "fp16", "f16": "fp16", "float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "fp8_e4m3": "fp8", "awq": "awq-int4",
    "gptq": "gptq-int4", "nf4": "bnb-nf4", "fp4": "nvfp4", "uint8": "int8",
}  # fmt: skip
_BY_NAME = {item.name: item for item in _WEIGHTS}

_CACHE = (
    Format("fp32", 32, compute="fp32"),
    Format("bf16", 16, compute="bf16"),
    Format("fp16", 16, compute="fp16"),
    Format("fp8", 8, compute="fp8"),
    Format("int8", 8, compute="int8"),
    Format("int4", 4),
    # One 32-bit scale for each head of a token, of which there are about 128 values.
    Format("int8_per_token_head", 8, group=128, scale_bits=32),
    Format("fp8_per_token_head", 8, group=128, scale_bits=32),
    # Keys of an index: 128 values and one 32-bit scale.
    Format("fp8_index", 8, group=128, scale_bits=32, compute="fp8"),
    Format("nvfp4", 4, group=16, scale_bits=8, compute="fp4"),
    # 512 latent values in 8 bits, four 32-bit scales, 64 rotary values in 16 bits: 656 bytes for 576 values.
    Format("fp8_ds_mla", 8, group=576, scale_bits=656 * 8 - 576 * 8, compute="fp8"),
    _block("q4_0", 32, 18, 4),
    _block("q4_1", 32, 20, 4),
    _block("q5_0", 32, 22, 5),
    _block("q5_1", 32, 24, 5),
    _block("q8_0", 32, 34, 8),
    _block("iq4_nl", 32, 18, 4),
)
_CACHE_ALIASES = {
    "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "fp8_inc": "fp8", "f16": "fp16", "f32": "fp32", "bfloat16": "bf16",
    "float16": "fp16", "float32": "fp32", "half": "fp16", "fp4": "nvfp4", "fp4_e2m1": "nvfp4",
    "q8": "q8_0", "q4": "q4_0",
}  # fmt: skip
_CACHE_BY_NAME = {item.name: item for item in _CACHE}

MIXES = (
    "q2_k_s", "q3_k_s", "q3_k_m", "q3_k_l", "q4_k_s", "q4_k_m", "q5_k_s", "q5_k_m", "iq2_m", "iq3_xs", "iq3_m",
    "q2_k_l", "q4_k_l", "q5_k_l", "q6_k_l", "q3_k_xl", "q2_k_xl", "q4_k_xl", "q5_k_xl", "q6_k_xl", "q8_k_xl",
)  # fmt: skip
"""Names of GGUF files that mix tensor types; `planner.domain.requantize` says which tensor gets which."""

_GROUP_SUFFIX = re.compile(r"^(.*)-g(\d{1,5})$")


def mix_base(name: str) -> str | None:
    """The type that most tensors of a mix have: `q4_k_m` -> `q4_k`; None if `name` is no mix."""
    if name not in MIXES:
        return None
    return {"iq2_m": "iq2_s", "iq3_xs": "iq3_s", "iq3_m": "iq3_s"}.get(name, name[:4])


_GGUF_BLOCK = re.compile(r"^(q\d+_[\dk]|iq\d_|tq\d_)")


def is_gguf(name: str) -> bool:
    """Whether weights called `name` are stored as GGUF files store them: `q8_0`, `q4_k_m`, `iq4_xs`."""
    return _GGUF_BLOCK.match(name) is not None


@lru_cache(maxsize=512)
def get(name: str) -> Format | None:
    """The weight format called `name`: any spelling of the spec, a config's dtype, `…-g32` for other groups.

    A mix is its main type here. None: unknown.
    """
    name = name.lower().removeprefix("torch.")
    name = _ALIASES.get(name, name)
    found = _BY_NAME.get(name) or _BY_NAME.get(mix_base(name) or "")
    if found is not None:
        return found
    match = _GROUP_SUFFIX.match(name)
    base = _BY_NAME.get(match[1]) if match else None
    if match is None or base is None or not base.group or int(match[2]) == 0:
        return None
    return replace(base, name=name, group=int(match[2]))


def known(name: str) -> Format:
    """The weight format called `name`, which must exist: names inside a Model do."""
    found = get(name)
    if found is None:
        raise ValueError(f"no weight format is called {name!r}")
    return found


def spellings() -> tuple[str, ...]:
    """Every name that `weights:` takes, for hints and the schema."""
    return (*_BY_NAME, *MIXES)


def cache_spellings() -> tuple[str, ...]:
    """Every name that a cache precision takes, for hints and the schema."""
    return ("auto", *_CACHE_BY_NAME, *_CACHE_ALIASES)


@lru_cache(maxsize=128)
def get_cache(name: str) -> Format | None:
    """The cache format called `name`; None if unknown. `auto` is the model's dtype: resolve it first."""
    name = name.lower()
    return _CACHE_BY_NAME.get(_CACHE_ALIASES.get(name, name))


def cache_element_bytes(name: str) -> float:
    """Bytes of one cached value, with its share of scales. Raises ValueError for a name that does not exist."""
    found = get_cache(name)
    if found is None:
        raise ValueError(f"no cache format is called {name!r}")
    return found.stored_bits / 8


def compute_format(name: str, dtype: str, available: Collection[str]) -> str:
    """What products with weights stored in `name` run in, on hardware that has the arithmetic `available`.

    A format whose arithmetic is missing is stored only: its products run in the model's own `dtype`
    (fp8 weights on Ampere, nvfp4 on Hopper).
    """
    found = known(name)
    wanted = dtype if found.compute == "dtype" else found.compute
    return wanted if wanted in available else dtype
