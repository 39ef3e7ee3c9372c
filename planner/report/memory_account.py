"""How the memory of an accelerator adds up: what the load needs, and what the engine reserves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from planner.domain.evaluation import Memory, PlanResult
from planner.domain.plan import Plan
from planner.report.report_model import Cell, Column, Row, Table

Line = tuple[str, float]
_GIB, _GB = 2.0**30, 1e9


@dataclass(frozen=True, slots=True)
class Account:
    """lines, and the sums that stand after so many of them: (name, lines before it, bytes)."""

    lines: tuple[Line, ...]
    sums: tuple[tuple[str, int, float], ...]


def needed(used: Memory) -> Account:
    """weights + ... + cache of the load = needed; + free = usable; + in use by others = capacity."""
    word = f" ({used.cache_basis})" if used.cache_basis else ""
    load = [(f"cache of the load{word}", used.kv_cache_bytes or 0.0), ("recurrent state", used.state_bytes or 0.0)]
    lines = [*_fixed(used), *(line for line in load if line[1])]
    total = sum(size for _, size in lines)
    sums = [("needed by the load", len(lines), total)]
    lines.append((_left(used, total), used.usable_bytes - total))
    sums.append(("usable", len(lines), used.usable_bytes))
    others = used.capacity_bytes - used.usable_bytes
    if others:
        lines.append(("in use by others", others))
        sums.append(("capacity", len(lines), used.capacity_bytes))
    return Account(tuple(lines), tuple(sums))


def _left(used: Memory, total: float) -> str:
    if used.usable_bytes >= total:
        return "free"
    return "free (below zero: part of the load waits)" if used.fits else "free (below zero: it does not fit)"


def reserved(used: Memory) -> Account:
    """weights + ... + cache pool = reserved by the engine; + what it leaves = capacity."""
    lines = [*_fixed(used), ("cache pool", used.kv_pool_bytes)]
    total = sum(size for _, size in lines)
    sums = [("reserved by the engine", len(lines), total)]
    left = used.capacity_bytes - total
    lines.append(("not reserved" if left >= 0 else "more than there is", left))
    sums.append(("capacity", len(lines), used.capacity_bytes))
    return Account(tuple(lines), tuple(sums))


def _fixed(used: Memory) -> list[Line]:
    named = [
        ("weights", used.weights_bytes),
        ("activations", used.activation_bytes),
        ("CUDA graphs", used.cuda_graph_bytes),
        ("runtime", used.runtime_bytes),
    ]
    return [line for line in named if line[1] or line[0] == "weights"]


def table(plan: Plan, result: PlanResult) -> Table:
    """Of what ships; an engine that reserves nothing has one account."""
    used = result.shipped.memory
    rows = _rows(needed(used))
    if plan.engine.name != "ideal":
        rows += _rows(reserved(used))
    columns = (Column("Memory of one accelerator, as shipped"), Column("GiB", True), Column("GB", True))
    return Table("How the memory of an accelerator adds up", columns, tuple(rows))


def _rows(account: Account) -> list[Row]:
    """Every line after a sign, every sum after "=": what is printed adds up as printed."""
    gib, gb = _rounded(account.lines, _GIB), _rounded(account.lines, _GB)
    rows = []
    for index, (name, size) in enumerate(account.lines):
        sign = "+ " if index else ""
        rows.append(_row(f"{sign}{name}", gib[index], gb[index], size))
        for title, after, total in account.sums:
            if after == index + 1:
                rows.append(_row(f"= {title}", sum(gib[:after]), sum(gb[:after]), total, "binding"))
    return rows


def _row(name: str, gib: int, gb: int, size: float, kind: str = "") -> Row:
    return Row((Cell(name), Cell(f"{gib / 100:,.2f}", size), Cell(f"{gb / 100:,.2f}", size)), kind)


def _rounded(lines: Sequence[Line], unit: float) -> list[int]:
    """Hundredths of `unit`: each the difference of rounded running sums, so that none of them drifts."""
    ends, total = [0], 0.0
    for _, size in lines:
        total += size
        ends.append(round(total / unit * 100))
    return [after - before for before, after in pairwise(ends)]
