"""The token-wise part of a layer: gated and plain products, mixtures of experts."""

from __future__ import annotations

from dataclasses import dataclass

from planner.architectures import weights
from planner.domain.model import FeedForward, Weight

NONE = FeedForward("none")


def gated(hidden: int, width: int, *, bias: bool = False, prefix: str = "mlp") -> FeedForward:
    """Gate, up and down: 3 h I."""
    return FeedForward("dense", _gated(hidden, width, bias, prefix), width)


def plain(hidden: int, width: int, *, bias: bool = False, prefix: str = "mlp") -> FeedForward:
    """Up and down: 2 h I."""
    up, down = f"{prefix}.up_proj", f"{prefix}.down_proj"
    found = (*weights.column(up, width, hidden, bias=bias), *weights.row(down, hidden, width, bias=bias))
    return FeedForward("dense", found, width)


def _gated(hidden: int, width: int, bias: bool, prefix: str) -> tuple[Weight, ...]:
    return (
        *weights.column(f"{prefix}.gate_proj", width, hidden, bias=bias),
        *weights.column(f"{prefix}.up_proj", width, hidden, bias=bias),
        *weights.row(f"{prefix}.down_proj", hidden, width, bias=bias),
    )


@dataclass(frozen=True, slots=True)
class Experts:
    """A mixture of experts.

    width: of one expert. shared_width: of all shared experts together. router_bias: a value for each expert
    added in selection. bias: experts' products have biases. gated: three products an expert, else two.
    shared_gate: a sigmoid gate of h weights on the shared experts. latent: the width that experts work on
    where it is not `hidden`; latent_norm: a norm on it. projections: False where the latent's own two
    products do not exist.
    """

    hidden: int
    experts: int
    per_token: int
    width: int
    shared_width: int = 0
    router_bias: bool = False
    bias: bool = False
    gated: bool = True
    shared_gate: bool = False
    latent: int | None = None
    latent_norm: bool = False
    prefix: str = "mlp"
    router: str = "gate"
    shared: str = "shared_experts"
    names: tuple[str, str, str] = ("gate_proj", "up_proj", "down_proj")
    extra: tuple[Weight, ...] = ()

    def feed_forward(self) -> FeedForward:
        """Router h E, experts E 3 h I (2 h I where not gated), shared experts, and what else was asked for."""
        return FeedForward(
            "experts",
            (*self._router(), *self._experts(), *self._shared(), *self.extra),
            width=self.width,
            experts=self.experts,
            experts_per_token=self.per_token,
            shared_width=self.shared_width,
        )

    def _router(self) -> tuple[Weight, ...]:
        router = f"{self.prefix}.{self.router}"
        found = weights.whole(router, self.experts, self.hidden, role="router")
        return (*found, weights.vector(f"{router}.bias", self.experts)) if self.router_bias else found

    def _experts(self) -> tuple[Weight, ...]:
        inner = self.latent or self.hidden
        gate, up, down = (f"{self.prefix}.experts.{name}" for name in self.names)
        into = (gate, up) if self.gated else (up,)
        found = [self._copies(name, self.width, inner, "column") for name in into]
        found.append(self._copies(down, inner, self.width, "row"))
        if self.bias:
            found += [self._copies(f"{name}.bias", self.width, 1, "column") for name in into]
            found.append(self._copies(f"{down}.bias", inner, 1, "replicated"))
        if self.latent:
            found += weights.whole(f"{self.prefix}.fc1_latent_proj", self.latent, self.hidden)
            found += weights.whole(f"{self.prefix}.fc2_latent_proj", self.hidden, self.latent)
        if self.latent_norm:
            found.append(weights.vector(f"{self.prefix}.latent_norm", inner))
        return tuple(found)

    def _copies(self, name: str, outputs: int, inputs: int, shard: str) -> Weight:
        return Weight(
            name, outputs, inputs, "expert", shard,  # type: ignore[arg-type]
            copies=self.experts, active_copies=min(self.per_token, self.experts),
        )  # fmt: skip

    def _shared(self) -> tuple[Weight, ...]:
        if not self.shared_width:
            return ()
        at = f"{self.prefix}.{self.shared}"
        if self.gated:
            found = _gated(self.hidden, self.shared_width, False, at)
        else:
            found = plain(self.hidden, self.shared_width, prefix=at).weights
        return (*found, *weights.whole(f"{at}_gate", 1, self.hidden, role="router")) if self.shared_gate else found
