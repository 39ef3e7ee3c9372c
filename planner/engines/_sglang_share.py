"""SGLang's own default of its static share, by version: a table by ranks or by card, or a sum of what must stay free.

The share of a card that weights and cache take is what activations, graphs, drafts and image encoders leave.
Source: SGLang, `ServerArgs` of each version (`_handle_gpu_memory_settings` since 0.5.3); the rows are `static_rows` of
the catalogue: the first row that the card is below holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.domain.plan import Plan
from planner.engines._catalogue import Figures
from planner.physics import engine_memory
from planner.physics.engine_memory import GIB, MIB


def by_card(plan: Plan, chosen: Figures) -> tuple[int, int]:
    """(chunked_prefill_size, largest captured batch) by the memory that the driver reports."""
    memory_mib = driver_bytes(plan) / MIB
    row = next(row for row in chosen["by_card"] if memory_mib < row[0])
    return int(row[1]), int(row[3] if plan.engine.tensor_parallel_size >= 4 else row[2])


def driver_bytes(plan: Plan) -> float:
    return plan.hardware.accelerator.driver_bytes or plan.hardware.capacity_bytes


def default_share(plan: Plan, chosen: Figures) -> float:
    """The share where none is declared, three decimals as the engine rounds it."""
    memory_bytes = driver_bytes(plan)
    row = next(row for row in chosen["static_rows"] if memory_bytes / MIB < row.get("below_mib", float("inf")))
    share = _of_row(plan, chosen, row, memory_bytes)
    return round(share * (float(chosen["multimodal_share"]) if plan.model.multimodal else 1.0), 4)


def _of_row(plan: Plan, chosen: Figures, row: Mapping[str, Any], memory_bytes: float) -> float:
    ranks = plan.engine.tensor_parallel_size * plan.engine.pipeline_parallel_size * plan.engine.data_parallel_size
    if "share" in row:
        return float(row["share"])
    if "ranks" in row:
        table = row["ranks"]
        return float(table[max((size for size in table if size <= ranks), default=min(table))])
    if "reserve_mib" in row:
        base, each = row["reserve_mib"]
        reserve = (float(base) + float(each) * ranks) * MIB
    else:
        reserve = _summed(plan, chosen, ranks, memory_bytes)
    reserve += _speculation_mib(plan, chosen) * MIB
    if plan.engine.data_parallel_size > 1:
        reserve += float(chosen["attention_copies_mib"]) * MIB
    return float(round(max(0.01, (memory_bytes - reserve) / memory_bytes), 3))


def _summed(plan: Plan, chosen: Figures, ranks: int, memory_bytes: float) -> float:
    """Constants, a chunk's activations, decode graphs, prefill graphs; 10 GiB at least on cards above 60."""
    chunk, graph = by_card(plan, chosen)
    tokens = plan.engine.max_num_batched_tokens or chunk
    reserve = float(engine_memory.static_reserve_bytes(tokens, graph, ranks))
    copies = plan.engine.data_parallel_size
    if copies > 1:
        reserve += graph * copies * (4.5 if graph > 300 else 3.0) * MIB
    latent = any("latent" in mixer.kind for group in plan.model.groups for mixer in group.mixers)
    reserve += float(chosen["prefill_graph_mib"]["latent" if latent else "other"]) * MIB
    floor = float(chosen["reserve_floor_mib"]) * MIB
    return max(reserve, floor) if memory_bytes > 60 * GIB else reserve


def _speculation_mib(plan: Plan, chosen: Figures) -> float:
    """Drafts and their graphs, by method."""
    speculation = plan.techniques.speculation
    if speculation is None:
        return 0.0
    table = chosen["speculation_mib"]
    return float(table.get(speculation.method, table["other"]))
