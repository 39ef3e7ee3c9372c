"""The score matrix that attention stores when its kernel is not a fused, exact one."""

from __future__ import annotations

from typing import Any


def stored_score_bytes(heads: Any, query_tokens: Any, key_tokens: Any, bytes_per_score: Any) -> Any:
    """Memory of one layer's attention scores of one sequence, stored whole.

    heads * queries * keys * bytes

    heads: query heads on the rank. query_tokens: tokens processed at once (the prompt, or a chunk).
    key_tokens: tokens that they see. A prompt of n tokens, alone: heads n^2 bytes. Layers run one after
    another, so one matrix is alive at a time. A fused kernel keeps a tile on the chip in its place
    (Dao et al., arXiv 2205.14135).
    """
    return heads * query_tokens * key_tokens * bytes_per_score


def stored_score_traffic_bytes(heads: Any, query_tokens: Any, key_tokens: Any, bytes_per_score: Any) -> Any:
    """Bytes that one layer moves because its scores are stored: written, read and written by the softmax, read again.

    4 * heads * queries * keys * bytes

    Symbols as in `stored_score_bytes`. Source: the standard attention algorithm of arXiv 2205.14135.
    """
    return 4 * stored_score_bytes(heads, query_tokens, key_tokens, bytes_per_score)
