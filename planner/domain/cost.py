"""What a deployment costs and draws: at its declared load, at saturation, against a price for tokens.

None means that the spec does not allow the figure to be computed. `split_` figures share the cost out by the engine
time of prompt and answer; the others put all of it on the tokens that they name.
"""

from __future__ import annotations

from dataclasses import dataclass

HOURS_A_MONTH = 730.0


@dataclass(frozen=True, slots=True)
class Saturation:
    """The same hardware with every seat taken all of the time: a lower bound that no declared load has."""

    requests_per_s: float
    prefill_share: float
    usd_per_request: float | None = None
    usd_per_million_output_tokens: float | None = None
    usd_per_million_tokens: float | None = None
    split_usd_per_million_input_tokens: float | None = None
    split_usd_per_million_output_tokens: float | None = None
    watts: float | None = None
    joules_per_output_token: float | None = None


@dataclass(frozen=True, slots=True)
class Power:
    """accelerator_*: of one accelerator. facility_watts: the mean, cooling included. peak_watts: every replica that
    may run in its hungrier phase, hosts included; limit_watts: the same at the accelerators' limit. busy: share of
    time in which steps run. decode, prefill: accelerators run nothing else."""

    accelerator_limit_watts: float
    accelerator_idle_watts: float
    accelerator_decode_watts: float
    accelerator_prefill_watts: float | None
    busy: float
    facility_watts: float
    peak_watts: float
    limit_watts: float
    band: tuple[float, float]


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Hosting against a service. requests, tokens (prompt and output): a month at which both cost the same.

    utilisation: of what the hardware serves; above 1 the service is cheaper at any load. api_usd_per_month: of the
    declared load.
    """

    api_usd_per_request: float
    requests_per_month: float
    tokens_per_month: float
    utilisation: float | None
    api_usd_per_month: float | None
    usd_per_month: float
    cheaper: str | None


@dataclass(frozen=True, slots=True)
class Cost:
    """The whole deployment. usd_per_hour: replicas that the load takes, spares, and electricity where it has a price.

    usd_per_hour_most: with every replica that may run. watts: mean, accelerators and declared hosts.
    utilisation: declared load over what the hardware serves. prefill_share: of the engine time of a request.
    """

    usd_per_hour: float | None = None
    usd_per_month: float | None = None
    usd_per_million_output_tokens: float | None = None
    usd_per_million_tokens: float | None = None
    usd_per_request: float | None = None
    usd_total: float | None = None
    watts: float | None = None
    joules_per_output_token: float | None = None
    usd_per_hour_most: float | None = None
    electricity_usd_per_hour: float | None = None
    usd_per_session: float | None = None
    split_usd_per_million_input_tokens: float | None = None
    split_usd_per_million_output_tokens: float | None = None
    prefill_share: float | None = None
    utilisation: float | None = None
    joules_per_request: float | None = None
    saturation: Saturation | None = None
    power: Power | None = None
    break_even: BreakEven | None = None
