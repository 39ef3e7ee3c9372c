"""The stored score matrix, against hand arithmetic."""

from __future__ import annotations

import pytest

from planner.physics import attention_scores


@pytest.mark.parametrize(
    ("tokens", "gigabytes"),
    [
        (2048, 0.27),  # 32 x 2048^2 x 2 = 268,435,456
        (8192, 4.29),  # 32 x 8192^2 x 2 = 4,294,967,296
        (32768, 68.72),  # 32 x 32768^2 x 2 = 68,719,476,736
    ],
)
def test_thirty_two_heads_in_sixteen_bits(tokens: int, gigabytes: float) -> None:
    assert round(attention_scores.stored_score_bytes(32, tokens, tokens, 2) / 1e9, 2) == gigabytes


def test_a_chunk_sees_what_came_before_it() -> None:
    # A chunk of 512 behind 7,680 tokens: 32 x 512 x 8192 x 2 = 268,435,456, a sixteenth of the whole.
    assert attention_scores.stored_score_bytes(32, 512, 8192, 2) == 268_435_456


def test_traffic_is_four_passes() -> None:
    assert attention_scores.stored_score_traffic_bytes(32, 2048, 2048, 2) == 4 * 268_435_456
