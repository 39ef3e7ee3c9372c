"""What a serving engine takes besides weights and cache. Pure arithmetic, bytes, no names of models or cards."""

from __future__ import annotations

from typing import Any

from planner.physics import elementwise

GIB = 2.0**30
MIB = 2.0**20


def prefill_peak_bytes(tokens: Any, values_per_token: Any, bytes_per_value: Any = 2.0) -> Any:
    """Largest set of activations alive in one layer of one prefill step.

    tokens x values_per_token x bytes_per_value

    tokens: batched tokens of the step. values_per_token: activations of one token alive at the peak
    (`feed_forward_values`, `attention_values`). Scores are not stored (exact attention kernels).
    Source: counting tensors; within 2-15 % of nine start-up logs of dense 16-bit models.
    """
    return tokens * values_per_token * bytes_per_value


def feed_forward_values(hidden: Any, width_per_rank: Any) -> Any:
    """Values of one token alive in a gated feed-forward: 3 width + 3 hidden.

    width_per_rank: gate and up projections and their product, three of them, already divided over ranks.
    hidden: input, residual and output.
    """
    return 3.0 * width_per_rank + 3.0 * hidden


def expert_peak_bytes(
    tokens: Any,
    gathered_tokens: Any,
    chunk_tokens: Any,
    hidden: Any,
    buffer_values: Any,
    quantized_bytes: Any,
    bytes_per_value: Any = 2.0,
) -> Any:
    """Peak of a layer of experts: what a rank keeps of its own tokens, the gathered ones, and the kernel's buffers.

    (3 tokens hidden + gathered hidden + chunk buffer_values) bytes + chunk quantized

    tokens: of this rank (input, residual, output). gathered_tokens: of all ranks that share the experts, 0 where
    none are gathered. chunk_tokens: tokens of one kernel call. buffer_values: buffers of one token over all of its
    experts. quantized_bytes: quantised copies of one token's inputs. Source: counting the tensors of fused kernels.
    """
    kept = (3.0 * tokens + gathered_tokens) * hidden + chunk_tokens * buffer_values
    return kept * bytes_per_value + chunk_tokens * quantized_bytes


def attention_values(hidden: Any, query_width: Any, key_value_width: Any, output_width: Any) -> Any:
    """Values of one token alive around attention: queries, keys, values, the result, and three of hidden width."""
    return query_width + key_value_width + output_width + 3.0 * hidden


def scan_values(hidden: Any, inner: Any, chunk_states: Any = 0.0) -> Any:
    """Values of one token alive around a selective scan: 6 inner + chunk_states + 3 hidden.

    inner: channels of the rank: input and gate, the convolution's output, 32-bit steps (two), the result.
    chunk_states: states kept for each chunk of tokens, a token's share of them. hidden: input, residual, output.
    Source: counting the tensors of Mamba's kernels.
    """
    return 6.0 * inner + chunk_states + 3.0 * hidden


def delta_rule_values(hidden: Any, keys: Any, values: Any, gates: Any, rows: Any, chunk_states: Any) -> Any:
    """Values of one token alive around a chunked delta rule: 2 (2 keys + values) + keys + 4 values + the rest.

    keys, values: of all heads of the rank. Queries, keys and values, and the convolution's copy of them; the gate, the
    two corrections of a chunk, new values and the result. gates: decays, two of 32 bits each. rows: of a chunk's own
    attention, three of its length for each head. chunk_states: states kept for each chunk, a token's share.
    hidden: input, residual, output. Source: counting the tensors of flash-linear-attention's chunk kernels.
    """
    return 2.0 * (2.0 * keys + values) + keys + 4.0 * values + gates + rows + chunk_states + 3.0 * hidden


def sampler_bytes(sequences: Any, vocabulary: Any, bytes_per_logit: Any) -> Any:
    """Logits and what sampling makes of them: sequences x vocabulary x bytes_per_logit. Not divided over ranks."""
    return sequences * vocabulary * bytes_per_logit


def graph_bytes(layers: Any, captured_sizes: Any, bytes_per_layer_and_size: Any, base_bytes: Any) -> Any:
    """Memory of captured graphs: base + layers x sizes x bytes for each.

    A graph keeps a node with its arguments for every kernel, and kernels grow with layers; activations are
    shared by all sizes, which is the base.
    """
    return elementwise.where(captured_sizes > 0, base_bytes + layers * captured_sizes * bytes_per_layer_and_size, 0.0)


def captured_sizes(largest: int, step_above_256: int = 16) -> int:
    """How many batch sizes are captured up to `largest`: 1, 2, 4, every 8 to 256, every `step_above_256` above.

    Source: vLLM, `CompilationConfig.cudagraph_capture_sizes` (35 sizes to 256; 67 or 51 to 512).
    """
    small = sum(1 for size in (1, 2, 4) if size <= largest)
    return small + min(largest, 256) // 8 + max(0, (largest - 256) // step_above_256)


def static_reserve_bytes(chunk_tokens: Any, graph_sequences: Any, ranks: Any) -> Any:
    """What SGLang's own default leaves outside its static share, bytes.

    (512 + 1.5 max(chunk, 2048) + 2 graph_sequences + 1024 ranks/8) MiB

    Source: SGLang, `ServerArgs._handle_gpu_memory_settings`.
    """
    tokens = elementwise.maximum(chunk_tokens, 2048)
    return (512.0 + 1.5 * tokens + 2.0 * graph_sequences + 128.0 * ranks) * MIB


def score_buffer_bytes(heads: Any, context: Any, batch_tokens: Any) -> Any:
    """Attention scores kept in 32 bits where no fused kernel is used: heads x context x tokens x 4."""
    return 4.0 * heads * context * batch_tokens


def logits_buffer_bytes(vocabulary: Any, batch_tokens: Any) -> Any:
    """32-bit logits of every token of a physical batch: vocabulary x tokens x 4."""
    return 4.0 * vocabulary * batch_tokens


def adapter_bytes(rank: Any, inputs: Any, outputs: Any, slots: Any, bytes_per_value: Any = 2.0) -> Any:
    """Preallocated low-rank adapters of one projection: slots x rank x (inputs + outputs) x bytes."""
    return slots * rank * (inputs + outputs) * bytes_per_value
