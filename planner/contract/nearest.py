"""The known name that an unknown one probably means."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from planner.quoting import quoted

LONGEST = 64
# What other tools and people call a key, where spelling alone does not lead to it.
_ALIASES = {
    "tp": "tensor_parallel_size",
    "tp_size": "tensor_parallel_size",
    "pp": "pipeline_parallel_size",
    "pp_size": "pipeline_parallel_size",
    "dp": "data_parallel_size",
    "dp_size": "data_parallel_size",
    "ep": "expert_parallel_size",
    "ep_size": "expert_parallel_size",
    "context_length": "max_model_len",
    "ctx_size": "max_model_len",
    "num_ctx": "max_model_len",
    "max_seq_len": "max_model_len",
    "max_running_requests": "max_num_seqs",
    "max_batch_size": "max_num_seqs",
    "n_gpu_layers": "gpu_layers",
    "num_gpu_layers": "gpu_layers",
    "gpu": "accelerator",
    "gpus": "count",
    "vram": "memory",
    "quantization": "weights",
    "dtype": "weights",
    "precision": "weights",
    "users": "concurrency",
    "qps": "rate",
    "rps": "rate",
    "ttft": "time_to_first_token",
    "itl": "inter_token_latency",
    "tpot": "time_per_output_token",
    "latency": "request_latency",
    "input_tokens": "prompt_tokens",
    "completion_tokens": "output_tokens",
    "parent": "extends",
    "lever": "use",
    "type": "use",
}


def nearest(word: object, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Up to `count` of `known`, best first; none where nothing is near."""
    if not isinstance(word, str) or len(word) > LONGEST:
        return ()
    folded = {_folded(name): name for name in known}
    wanted = _folded(word)
    meant = _ALIASES.get(wanted)
    found = [meant] if meant is not None and meant in folded.values() else []
    found += [
        folded[name] for name in difflib.get_close_matches(wanted, folded, count, 0.6 if len(wanted) <= 4 else 0.7)
    ]
    if not found and len(wanted) >= 3:
        found = [name for fold, name in folded.items() if wanted in fold or (len(fold) >= 4 and fold in wanted)]
    return tuple(dict.fromkeys(found))[:count]


def alias(word: str) -> str:
    """The key that other tools call `word`; "" where none is."""
    return _ALIASES.get(_folded(word), "")


def suggestion(word: object, known: Iterable[str], what: str) -> str:
    """A sentence with the nearest names, or with all of them where nothing is near."""
    names = list(known)
    near = nearest(word, names)
    if near:
        return f"Did you mean {' or '.join(quoted(name) for name in near)}?"
    return f"{what}: {', '.join(names[:30])}{', …' if len(names) > 30 else ''}." if names else ""


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")
