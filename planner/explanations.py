"""What `planner explain` says of findings that are no check module, and of figures."""

from __future__ import annotations

from collections.abc import Mapping

from planner import engines, finding_ids, levers
from planner.domain.cost import Cost
from planner.format import duration, memory, percent, quantity
from planner.pipeline import Judgement
from planner.reading_explanations import READING
from planner.spec_explanations import DECLARED

CONTRACT: Mapping[str, str] = {**READING, **DECLARED}


def topics() -> list[str]:
    return sorted({*finding_ids.known(), *levers.names(), *engines.names()})


# figure -> (what it is, formula)
FIGURES: Mapping[str, tuple[str, str]] = {
    "weights": (
        "bytes of the weights on the fullest rank",
        "sum over weights: outputs x inputs x stored bits / 8, by their shard",
    ),
    "kv_cache": (
        "cache of the declared load on the fullest rank",
        "sequences x sum over layers of kept tokens x bytes a token",
    ),
    "decode_step": (
        "one step of the declared batch",
        "max(bytes read / bandwidth, operations / arithmetic) + communication + overhead",
    ),
    "prefill": (
        "the prefill of one prompt, alone",
        "max(bytes read / bandwidth, operations / arithmetic) + communication + overhead",
    ),
    "time_to_first_token": (
        "from arrival to the first token",
        "waiting + fixed latencies + prefill, whose last step samples the first token",
    ),
    "inter_token_latency": ("the gap between two tokens", "step / tokens a step + others' prefills that fall into it"),
    "output_tokens_per_second": ("of the whole deployment", "requests a second x output tokens"),
    "cost_per_million_output_tokens": (
        "idle time included",
        "price x accelerators / (output tokens a second x 3600) x 1e6",
    ),
    "energy_per_output_token": (
        "accelerators and declared hosts, prompts and idle time included",
        "accelerators x ((1 - busy) idle + busy (p prefill + (1 - p) decode)) / output tokens a second",
    ),
}


def figures() -> list[str]:
    return list(FIGURES)


def figure_text(what: str, judgement: Judgement) -> str | None:
    """The figure with its formula and its terms, of what ships; None where there is no such figure."""
    if what not in FIGURES or judgement.result is None:
        return None
    title, formula = FIGURES[what]
    terms = _terms(what, judgement)
    sources = [
        (name, f"{value}  [{word}{': ' + source if source else ''}]")
        for name, value, word, source in _sources(what, judgement)
    ]
    width = max(len(label) for label, _ in (*terms, *sources))
    return "\n".join(
        (
            f"{what}: {title}",
            "",
            f"  formula  {formula}",
            "",
            *(f"  {label:<{width}}  {value}" for label, value in terms),
            "",
            "  Where its inputs come from:",
            *(f"  {label:<{width}}  {value}" for label, value in sources),
            "",
        )
    )


def _terms(what: str, judgement: Judgement) -> list[tuple[str, str]]:
    assert judgement.result is not None
    shipped = judgement.result.shipped
    latency, throughput, cost = shipped.latency, shipped.throughput, shipped.cost
    if what == "weights":
        return [
            ("on an accelerator", memory(shipped.memory.weights_bytes)),
            ("all ranks", memory(shipped.memory.weights_total_bytes)),
        ]
    if what == "kv_cache":
        pool = ("the engine's pool", memory(shipped.memory.kv_pool_bytes))
        return [("declared load", memory(shipped.memory.kv_cache_bytes)), pool]
    if what in ("decode_step", "prefill"):
        split = latency.decode if what == "decode_step" else latency.prefill
        total = latency.decode_step_s if what == "decode_step" else latency.prefill_s
        terms = [(name.removesuffix("_s"), duration(value)) for name, value in split.terms.items()] if split else []
        return [*terms, ("bound", split.bound if split else "n/a"), ("total", duration(total))]
    if what in ("time_to_first_token", "inter_token_latency"):
        found = latency.time_to_first_token_s if what == "time_to_first_token" else latency.inter_token_latency_s
        return [(name, duration(found.at(name))) for name in ("mean", "p50", "p90", "p95", "p99", "max")]
    if what == "output_tokens_per_second":
        return [
            ("output", quantity(throughput.output_tokens_per_s, "tokens/s")),
            ("requests", quantity(throughput.requests_per_s, "requests/s")),
        ]
    if what == "energy_per_output_token":
        return _energy(cost)
    return [
        ("an hour", quantity(cost.usd_per_hour, "usd/hour")),
        ("a million", quantity(cost.usd_per_million_output_tokens, "usd")),
        ("at saturation", quantity(cost.saturation.usd_per_million_output_tokens if cost.saturation else None, "usd")),
    ]


def _energy(cost: Cost) -> list[tuple[str, str]]:
    power, full = cost.power, cost.saturation
    if power is None:
        return [("the power of an accelerator", "n/a: declare it, or use one of the catalogue")]
    return [
        ("idle, one accelerator", quantity(power.accelerator_idle_watts, "watts")),
        ("decode", quantity(power.accelerator_decode_watts, "watts")),
        ("prefill", quantity(power.accelerator_prefill_watts, "watts")),
        ("prefill's share of engine time (p)", percent(cost.prefill_share)),
        ("busy", percent(power.busy)),
        ("the deployment, mean", quantity(cost.watts, "watts")),
        ("a token", quantity(cost.joules_per_output_token, "joules")),
        ("at saturation", quantity(full.joules_per_output_token if full else None, "joules")),
    ]


def _sources(what: str, judgement: Judgement) -> list[tuple[str, str, str, str]]:
    from planner.analysis.cost import cost_rows
    from planner.analysis.provenance import provenance

    assert judgement.plan is not None and judgement.result is not None
    spent = what.startswith(("cost", "energy"))
    rows = (cost_rows if spent else provenance)(judgement.plan, judgement.result.detail)
    shown = [
        (row, row.value if isinstance(row.value, str) else quantity(row.value.value, row.value.dimension))
        for row in rows
    ]
    return [(row.figure, value, row.word, row.source) for row, value in shown]
