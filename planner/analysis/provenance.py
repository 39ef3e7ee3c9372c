"""Where every figure comes from: declared, catalogue, default, formula, calibrated, measured."""

from __future__ import annotations

from collections.abc import Iterator

from planner.analysis import calibration, measured_memory
from planner.domain.evaluation import Bands
from planner.domain.plan import Origin, Plan
from planner.domain.shards import Parallel, kv_bytes_per_token, weight_bytes
from planner.domain.workload import Length
from planner.evaluation import Detail
from planner.evaluation.efficiencies import efficiencies_of
from planner.format import bandwidth, memory
from planner.report.analysis_types import Assumption, ProvenanceRow, Quantity


def provenance(plan: Plan, detail: Detail) -> tuple[ProvenanceRow, ...]:
    return (
        *_hardware(plan, detail),
        *_engine(plan, detail),
        *_workload(plan),
        *_computed(detail),
        *calibration.measured(plan, detail),
        *measured_memory.rows(plan, detail),
    )


def _origin(plan: Plan, key: str, fallback: str) -> Origin:
    return plan.origins.get(key, Origin(fallback))


def _hardware(plan: Plan, detail: Detail) -> Iterator[ProvenanceRow]:
    card, hardware = plan.hardware.accelerator, plan.hardware
    word = "catalogue" if card.catalogue_id else "declared"
    source = card.catalogue_id or "hardware.accelerator"
    origin = _origin(plan, "memory", word)
    yield ProvenanceRow(
        "Memory of an accelerator", Quantity(hardware.capacity_bytes, "bytes"), origin.word, origin.source or source
    )
    yield ProvenanceRow("Bandwidth, peak", Quantity(card.bandwidth_bytes_per_s, "bytes/s"), word, source)
    for name, value in sorted(card.arithmetic_flop_per_s.items()):
        if name == plan.model.dtype or name in _formats(plan):
            yield ProvenanceRow(f"Arithmetic, {name}, dense peak", Quantity(value, "flop/s"), word, source)
    yield from _achieved(plan, detail, word)
    yield from calibration.rows(detail.plan)
    if hardware.price_usd_per_hour is not None:
        origin = _origin(plan, "price", word)
        yield ProvenanceRow(
            "Price of an accelerator", Quantity(hardware.price_usd_per_hour, "usd/hour"), origin.word, origin.source
        )


def _achieved(plan: Plan, detail: Detail, word: str) -> Iterator[ProvenanceRow]:
    """Shares of the peaks: declared, else measured under this engine, else (the ideal engine) the card's own."""
    hardware = plan.hardware
    derate, origin = hardware.derate or hardware.accelerator.derate, _origin(plan, "derate", word)
    shares = {"bandwidth": derate.bandwidth, "arithmetic": derate.compute}
    origins = dict.fromkeys(shares, origin)
    if hardware.derate is None and plan.engine.name != "ideal":
        figure = efficiencies_of(detail.plan)
        origin = Origin("catalogue", f"efficiencies of {plan.engine.name} on {hardware.accelerator.generation}")
        shares = {name: figure(name, "16") for name in shares}
        origins = {name: calibration.origin(detail.plan, name, origin) for name in shares}
    for name, share in shares.items():
        found = origins[name]
        yield ProvenanceRow(f"Achieved share of {name}, 16 bits", Quantity(share, "share"), found.word, found.source)


def _formats(plan: Plan) -> set[str]:
    return {weight.format for _, weight in plan.model.weights() if weight.format}


ENGINE_KEYS = (
    "version",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "data_parallel_size",
    "expert_parallel_size",
    "max_model_len",
    "max_num_seqs",
    "max_num_batched_tokens",
    "block_size",
    "kv_cache_dtype",
    "enforce_eager",
    "enable_chunked_prefill",
    "enable_prefix_caching",
    "memory_fraction",
    "admission",
    "routing",
)


def _engine(plan: Plan, detail: Detail) -> Iterator[ProvenanceRow]:
    """Every engine key as it runs; a default is the engine version's own."""
    settings = detail.plan.engine
    if settings.name == "ideal":
        return
    title = f"{settings.name} {settings.version}" if settings.version else settings.name
    for key in ENGINE_KEYS:
        value = getattr(settings, key)
        if value is None:
            continue
        if key in LEVER_KEYS:
            yield _of_lever(plan, key, title)
            continue
        word = {"spec": "declared", "default": "default", "lever": "declared"}.get(
            settings.origins.get(key, "default"), "default"
        )
        if key == "version":
            word = "declared" if plan.engine.version else "default"
        source = f"engine.{key}" if word == "declared" else title
        yield ProvenanceRow(f"engine {key}", _text(value), word, source)


# Engine keys that a lever is, and what they say where it is pulled.
LEVER_KEYS = {
    "enforce_eager": ("cuda-graphs", False),
    "enable_chunked_prefill": ("chunked-prefill", True),
    "enable_prefix_caching": ("prefix-caching", True),
}


def _of_lever(plan: Plan, key: str, title: str) -> ProvenanceRow:
    """On or off as the stack says, and who said so: a lever of the spec, the key itself, or the engine's version."""
    use, when_pulled = LEVER_KEYS[key]
    item = next((item for item in plan.levers if item.use == use), None)
    pulled = item is not None and item.status == "adopt"
    value = _text(when_pulled if pulled else not when_pulled)
    if item is None or item.source == "default":
        return ProvenanceRow(f"engine {key}", value, "default", title)
    return ProvenanceRow(f"engine {key}", value, "declared", item.path.lstrip("/").replace("/", "."))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _workload(plan: Plan) -> Iterator[ProvenanceRow]:
    for item in plan.workload.classes:
        for title, length in (("prompt", item.prompt), ("output", item.output)):
            if length is not None:
                yield _length(f"Mean {title} of {item.name}", length, f"workload.classes.{item.name}.{title}_tokens")
        if item.context_tokens is not None:
            yield ProvenanceRow(
                f"Context of {item.name}", Quantity(item.context_tokens, "tokens"), "declared", "workload.classes"
            )


def _length(title: str, length: Length, source: str) -> ProvenanceRow:
    if length.fixed or "mean" in length.declared:
        return ProvenanceRow(title, Quantity(length.mean, "tokens"), "declared", source)
    points = tuple((name, f"{length.points[name]:g}") for name in length.declared)
    formula = "mean of a log-normal through the declared percentiles, cut at the declared maximum"
    return ProvenanceRow(title, Quantity(length.mean, "tokens"), "formula", source, formula, points)


def _computed(detail: Detail) -> Iterator[ProvenanceRow]:
    plan, evaluation = detail.plan, detail.evaluation
    parallel, nominal = Parallel.of(plan.engine), plan.engine.name == "ideal"
    yield ProvenanceRow(
        "Weights on an accelerator",
        Quantity(evaluation.memory.weights_bytes, "bytes"),
        "formula",
        "model, engine sizes",
        "sum over the weights of the fullest rank: outputs x inputs x stored bits / 8",
        (
            ("parameters", f"{plan.model.parameters:,}"),
            ("whole model", memory(weight_bytes(plan.model, nominal=nominal))),
        ),
    )
    yield ProvenanceRow(
        "Cache of a token on an accelerator",
        Quantity(kv_bytes_per_token(plan.model, plan.cache_format, parallel), "bytes"),
        "formula",
        "model, engine sizes",
        "sum over layers: 2 x KV heads on the rank x head width x bytes; a latent once, on every rank",
        (("layers that cache", str(plan.model.attention_layers)), ("precision", plan.cache_format or plan.model.dtype)),
    )
    split = evaluation.latency.decode
    if split is not None and evaluation.latency.decode_step_s is not None:
        inputs = tuple((name.removesuffix("_s"), f"{value * 1e3:.4g} ms") for name, value in split.terms.items())
        achieved = detail.served.service.step.bandwidth_bytes_per_s
        yield ProvenanceRow(
            "Decode step",
            Quantity(evaluation.latency.decode_step_s, "seconds"),
            "formula" if calibration.used(plan) is None else "calibrated",
            "model, accelerator, load",
            "max(bytes / bandwidth, operations / arithmetic) + communication + overhead",
            (
                *inputs,
                ("achieved bandwidth", bandwidth(achieved)),
                ("batch on a rank", f"{detail.served.operating.batch:g}"),
            ),
        )


def assumptions(plan: Plan, detail: Detail) -> tuple[Assumption, ...]:
    found = [Assumption(text, "catalogue") for text in plan.assumptions]
    found += [Assumption(note, f"memory accounting of {plan.engine.name}") for note in detail.ledger.notes]
    load = plan.workload.load
    arrivals = {
        "concurrency": "Closed loop, steady: a request arrives when another ends.",
        "offline": "A queue that is never empty.",
        "rate": f"Arrivals: {load.process}, {load.rate_per_s:g} requests a second." if load.rate_per_s else "",
        "sessions": "Live sessions that pause between turns.",
        "period": "One inference at a time, on a fixed period.",
        "trace": "Recorded arrivals.",
    }[load.kind]
    if arrivals:
        found.append(Assumption(arrivals, "workload.load"))
    if plan.engine.name == "ideal":
        found.append(
            Assumption(
                "The ideal engine charges weights, cache, bandwidth and arithmetic, and nothing else: a floor.",
                "engine.name",
            )
        )
    return (*found, *calibration.assumptions(detail.plan), *_bands(detail.evaluation.bands))


BAND_TITLES = {
    "memory": "memory",
    "latency": "steps and the time between tokens",
    "prompt": "a prefill alone",
    "first_token": "the time to first token",
    "request": "whole requests",
    "throughput": "throughput",
}
BAND_SOURCES = {
    "uncalibrated": "published runs that the constants were not set on, docs/decisions/0020-latency-constants.md",
    "prior": "the planner's own, nothing was measured on this deployment",
    "calibrated": "residuals of the calibration",
    "family": "residuals of the calibration, of another precision, parallel size or speculation",
    "measured": "spread of the measurement",
    "declared": "the spec",
}


def _bands(bands: Bands) -> Iterator[Assumption]:
    """Each band that has a width, with its word."""
    for kind in ("memory", "latency", "prompt", "first_token", "request", "throughput"):
        low, high = getattr(bands, kind)
        if low != high:
            source = f"{bands.word} ({BAND_SOURCES[bands.word]})" if bands.word in BAND_SOURCES else bands.word
            yield Assumption(f"Band of {BAND_TITLES[kind]}: x{low:g} to x{high:g} of the estimate.", source)
