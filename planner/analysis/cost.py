"""Where the figures of cost and energy come from: inputs with their sources and dates, and each formula."""

from __future__ import annotations

from collections.abc import Iterator

from planner.domain.cost import Cost
from planner.domain.plan import Plan
from planner.evaluation import Detail
from planner.evaluation.break_even import cached_by_service
from planner.evaluation.phases import Phase, phases_of
from planner.evaluation.power_figures import PowerFigures, power_figures
from planner.format import Dimension, count, duration, percent, quantity, rate, significant
from planner.report.analysis_types import ProvenanceRow, Quantity

Inputs = tuple[tuple[str, str], ...]
DECLARED = "declared"


def cost_rows(plan: Plan, detail: Detail) -> tuple[ProvenanceRow, ...]:
    """Inputs first, then what is computed of them."""
    inputs = (*_prices(plan), *_power_inputs(plan, detail.evaluation.cost), *_service(plan))
    return (*inputs, *_costs(plan, detail), *_energies(plan, detail))


def _row(figure: str, value: float, dimension: Dimension, word: str, source: str) -> ProvenanceRow:
    return ProvenanceRow(figure, Quantity(value, dimension), word, source)


def _prices(plan: Plan) -> Iterator[ProvenanceRow]:
    hardware, origin = plan.hardware, plan.origins.get("price")
    if hardware.price_usd_per_hour is not None and origin is not None:
        price = hardware.price_usd_per_hour
        yield _row("Price of an accelerator", price, "usd/hour", origin.word, origin.source)
    if hardware.spares:
        yield _row("Spare accelerators", hardware.spares, "count", DECLARED, "hardware.spares")


def _power_inputs(plan: Plan, cost: Cost) -> Iterator[ProvenanceRow]:
    card, supply = plan.hardware.accelerator, plan.hardware.power
    if cost.power is None:
        return
    if card.power_w is not None:
        word, source = ("catalogue", card.catalogue_id) if card.catalogue_id else (DECLARED, "hardware.accelerator")
        yield _row("Rated power of an accelerator", card.power_w, "watts", word, source)
    declared: tuple[tuple[str, float | None, Dimension, str], ...] = (
        ("Power limit of an accelerator", supply.limit_w, "watts", "limit"),
        ("Hosts of a replica", supply.host_w, "watts", "host"),
        ("Power budget", supply.budget_w, "watts", "budget"),
        ("Power budget of a rack", supply.rack_budget_w, "watts", "rack.budget"),
    )
    for figure, value, dimension, key in declared:
        if value is not None:
            yield _row(figure, value, dimension, DECLARED, f"hardware.power.{key}")
    if supply.pue != 1.0:
        yield ProvenanceRow("PUE", significant(supply.pue), DECLARED, "hardware.power.pue")
    if supply.electricity_usd_per_j is not None:
        text = f"{significant(supply.electricity_usd_per_j * 3.6e6)} USD/kWh"
        yield ProvenanceRow("Electricity", text, DECLARED, "hardware.power.electricity_price")
    figures = power_figures(card)
    names = (("idle", "idle"), ("active", "while steps run"), ("memory", "added at peak bandwidth"))
    for key, words in (*names, ("arithmetic", "added at peak arithmetic")):
        share = getattr(figures.shares, key)
        source = f"power/{figures.file if key in figures.own else 'default'}"
        yield _row(f"Share of rated power, {words}", share, "share", "catalogue", source)


def _service(plan: Plan) -> Iterator[ProvenanceRow]:
    price = plan.api_price
    if price is None:
        return
    named = f"{price.name}, {price.date}" if price.name else price.date
    kinds = (("prompt", price.input_usd), ("cached prompt", price.cached_usd), ("output", price.output_usd))
    for kind, value in kinds:
        if value is not None:
            yield _row(f"Service's price, a million {kind} tokens", value, "usd", DECLARED, f"api_price, {named}")


# ------------------------------------------------------------------ what is computed


def _computed(
    figure: str, value: float | None, dimension: Dimension, formula: str, inputs: Inputs
) -> Iterator[ProvenanceRow]:
    if value is not None:
        yield ProvenanceRow(figure, Quantity(value, dimension), "formula", "", formula, inputs)


def _costs(plan: Plan, detail: Detail) -> Iterator[ProvenanceRow]:
    cost, throughput, hardware = detail.evaluation.cost, detail.evaluation.throughput, plan.hardware
    cards = f"{hardware.count} x {max(1, detail.paid.hardware.replicas.minimum)} + {hardware.spares}"
    hourly = [("price", quantity(hardware.price_usd_per_hour, "usd/hour")), ("accelerators", cards)]
    if cost.electricity_usd_per_hour is not None:
        hourly.append(("electricity", quantity(cost.electricity_usd_per_hour, "usd/hour")))
    formula = "price x (count x replicas + spares) + electricity"
    yield from _computed("Cost of an hour", cost.usd_per_hour, "usd/hour", formula, tuple(hourly))
    speed = rate(throughput.output_tokens_per_s, "tokens")
    yield from _computed(
        "A million output tokens, all of the cost on them",
        cost.usd_per_million_output_tokens,
        "usd",
        "USD an hour / (output tokens a second x 0.0036)",
        (("USD an hour", quantity(cost.usd_per_hour, "usd/hour")), ("output tokens a second", speed)),
    )
    yield from _split(detail)
    yield from _break_even(plan, detail)


def _split(detail: Detail) -> Iterator[ProvenanceRow]:
    cost, service = detail.evaluation.cost, detail.served.service
    phases = phases_of(service, detail.served.operating.batch)
    if phases.prefill is None:
        return
    times: Inputs = (
        ("prefill of one prompt", duration(phases.prefill.seconds)),
        ("its share of the decode steps", duration(phases.decode.seconds)),
    )
    formula = "prefill / (prefill + (output - 1) / tokens a step x step / (batch x fill))"
    yield from _computed("Prefill's share of engine time", cost.prefill_share, "share", formula, times)
    request = ("USD a request", quantity(cost.usd_per_request, "usd"))
    share = ("prefill's share", percent(cost.prefill_share))
    yield from _computed(
        "A million input tokens, by engine time",
        cost.split_usd_per_million_input_tokens,
        "usd",
        "USD a request x prefill's share / prompt tokens x 1e6",
        (request, share, ("prompt tokens, cached ones included", count(service.mix.prompt))),
    )
    yield from _computed(
        "A million output tokens, by engine time",
        cost.split_usd_per_million_output_tokens,
        "usd",
        "USD a request x (1 - prefill's share) / output tokens x 1e6",
        (request, share, ("output tokens", count(service.mix.output))),
    )


def _break_even(plan: Plan, detail: Detail) -> Iterator[ProvenanceRow]:
    even, mix = detail.evaluation.cost.break_even, detail.served.service.mix
    if even is None or plan.api_price is None:
        return
    tokens = (
        ("prompt", count(mix.prompt)),
        ("cached by the service", count(cached_by_service(mix))),
        ("output", count(mix.output)),
    )
    formula = "((prompt - cached) x input + cached x cached price + output x output price) / 1e6"
    yield from _computed("A request at the service", even.api_usd_per_request, "usd", formula, tokens)
    yield from _computed(
        "Break-even, tokens a month",
        even.tokens_per_month,
        "tokens",
        "USD a month here / USD a request there x (prompt + output)",
        (
            ("USD a month here", quantity(even.usd_per_month, "usd/month")),
            ("USD a request there", quantity(even.api_usd_per_request, "usd")),
        ),
    )


def _energies(plan: Plan, detail: Detail) -> Iterator[ProvenanceRow]:
    cost = detail.evaluation.cost
    power = cost.power
    if power is None:
        return
    figures = power_figures(plan.hardware.accelerator)
    phases = phases_of(detail.served.service, detail.served.operating.batch)
    formula = "min(limit, rated x (active + memory x share of bandwidth + arithmetic x share of arithmetic))"
    named = (
        ("decode", power.accelerator_decode_watts, phases.decode),
        ("prefill", power.accelerator_prefill_watts, phases.prefill),
    )
    for name, watts, phase in named:
        if phase is not None:
            yield from _computed(f"Accelerator in {name}", watts, "watts", formula, _driven(figures, phase))
    idle, hosts = power.accelerator_idle_watts, plan.hardware.power.host_w
    parts = (
        ("busy", percent(power.busy)),
        ("idle", quantity(idle, "watts")),
        ("prefill's share", percent(cost.prefill_share)),
        ("accelerators", f"{plan.hardware.count} x {max(1, detail.paid.hardware.replicas.minimum)}"),
        ("idle spares", str(plan.hardware.spares)),
        ("hosts of a replica", quantity(hosts, "watts") if hosts is not None else "not declared"),
    )
    formula = "accelerators x ((1 - busy) idle + busy (p prefill + (1 - p) decode)) + spares x idle + hosts"
    yield from _computed("Mean power, accelerators and hosts", cost.watts, "watts", formula, parts)
    speed = rate(detail.evaluation.throughput.output_tokens_per_s, "tokens")
    yield from _computed(
        "Energy of an output token",
        cost.joules_per_output_token,
        "joules",
        "mean power / output tokens a second",
        (("mean power", quantity(cost.watts, "watts")), ("output tokens a second", speed)),
    )


def _driven(figures: PowerFigures, phase: Phase) -> Inputs:
    shares = figures.shares
    return (
        ("active", percent(shares.active)),
        ("memory", percent(shares.memory)),
        ("share of bandwidth", percent(phase.bandwidth)),
        ("arithmetic", percent(shares.arithmetic)),
        ("share of arithmetic", percent(phase.arithmetic)),
    )
