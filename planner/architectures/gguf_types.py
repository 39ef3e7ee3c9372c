"""Tensor types and file types of GGUF, by their numbers (ggml.h `ggml_type`, llama.h `llama_ftype`)."""

from __future__ import annotations

TENSOR_TYPES: dict[int, str] = {
    0: "fp32", 1: "fp16", 2: "q4_0", 3: "q4_1", 6: "q5_0", 7: "q5_1", 8: "q8_0", 9: "q8_1", 10: "q2_k", 11: "q3_k",
    12: "q4_k", 13: "q5_k", 14: "q6_k", 15: "q8_k", 16: "iq2_xxs", 17: "iq2_xs", 18: "iq3_xxs", 19: "iq1_s",
    20: "iq4_nl", 21: "iq3_s", 22: "iq2_s", 23: "iq4_xs", 24: "fp8", 25: "fp16", 26: "fp32", 27: "fp64", 28: "fp64",
    29: "iq1_m", 30: "bf16", 34: "tq1_0", 35: "tq2_0", 39: "mxfp4", 40: "nvfp4",
}  # fmt: skip
"""Our format of the same size. Whole numbers (24 to 27) are named by the format of as many bits."""

FILE_TYPES: dict[int, str] = {
    0: "fp32", 1: "fp16", 2: "q4_0", 3: "q4_1", 7: "q8_0", 8: "q5_0", 9: "q5_1", 10: "q2_k", 11: "q3_k_s",
    12: "q3_k_m", 13: "q3_k_l", 14: "q4_k_s", 15: "q4_k_m", 16: "q5_k_s", 17: "q5_k_m", 18: "q6_k", 19: "iq2_xxs",
    20: "iq2_xs", 21: "q2_k_s", 22: "iq3_xs", 23: "iq3_xxs", 24: "iq1_s", 25: "iq4_nl", 26: "iq3_s", 27: "iq3_m",
    28: "iq2_s", 29: "iq2_m", 30: "iq4_xs", 31: "iq1_m", 32: "bf16", 36: "tq1_0", 37: "tq2_0", 38: "mxfp4",
}  # fmt: skip
"""What `general.file_type` calls the whole file."""

SLIDING_PERIODS: dict[str, int] = {
    "gemma2": 2, "gpt-oss": 2, "openai-moe": 2, "cohere2": 4, "llama4": 4, "olmo2": 4, "exaone4": 4, "exaone-moe": 4,
    "gemma3n": 5, "gemma3": 6, "plamo3": 8,
}  # fmt: skip
"""Where a file has a window and no pattern: layer i slides if i % period < period - 1 (llama.cpp `set_swa_pattern`)."""

CHUNKED = ("llama4",)
CHUNK_TOKENS = 8192
"""Llama 4's window is a fixed chunk, of this size where the file names none."""
