"""Hardware: an accelerator's figures, and how many of which make one replica. SI units throughout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Interconnect:
    """Links between accelerators, per accelerator and direction.

    domain: accelerators that share the scale-up fabric. topology: `nvswitch`, `nvlink-pair`, `xgmi-mesh`,
    `pcie-p2p`, `pcie-host`, `torus`, `ethernet`, or "" where unknown.
    all_reduce: {(ranks, captured in a graph): ((message bytes, seconds), ...)} measured, ascending.
    """

    domain: int = 1
    scale_up_bytes_per_s: float | None = None
    scale_out_bytes_per_s: float | None = None
    topology: str = ""
    all_reduce: Mapping[tuple[int, bool], tuple[tuple[float, float], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostMemory:
    """What offloading uses: memory of the host, its bandwidth, and the link to one accelerator."""

    memory_bytes: float | None = None
    bandwidth_bytes_per_s: float | None = None
    link_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Derate:
    """Achieved fractions of peak: bandwidth for reads, arithmetic for large products."""

    bandwidth: float
    compute: float


@dataclass(frozen=True, slots=True)
class Price:
    """A dated price of one accelerator. `kind`: hyperscaler_list, neocloud_list, marketplace, ..."""

    usd_per_hour: float
    provider: str = ""
    region: str = ""
    kind: str = ""
    as_of: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One accelerator (or slice of one).

    marketed_bytes: capacity as the vendor prints it, in bytes, with its printed text beside it.
    capacity_bytes: what the framework reports as total: the total that an engine's fraction is a share of.
    driver_bytes: what the driver's tool prints. arithmetic_flop_per_s: dense, by number format
    (`fp32 tf32 bf16 fp16 fp8 int8 fp4 int4`). generation: the fallback key of measured efficiencies
    (`ampere`, `hopper`, `cdna3`, ...). compute_capability: NVIDIA's, as text. unified: memory is the host's.
    partition_of: the id of the accelerator that a slice is a part of.
    """

    id: str
    name: str
    vendor: str = ""
    kind: str = "gpu"
    generation: str = ""
    marketed_bytes: float | None = None
    marketed_text: str = ""
    capacity_bytes: float = 0.0
    driver_bytes: float | None = None
    bandwidth_bytes_per_s: float = 0.0
    arithmetic_flop_per_s: Mapping[str, float] = field(default_factory=dict)
    storage_formats: tuple[str, ...] = ()
    compute_capability: str | None = None
    interconnect: Interconnect = field(default_factory=Interconnect)
    derate: Derate = Derate(bandwidth=0.8, compute=0.6)
    unified: bool = False
    memory_type: str = ""
    power_w: float | None = None
    prices: tuple[Price, ...] = ()
    efficiencies: Mapping[str, float] = field(default_factory=dict)
    confidence: str = "high"
    sources: tuple[str, ...] = ()
    disagreements: str = ""
    catalogue_id: str | None = None
    partition_of: str = ""


@dataclass(frozen=True, slots=True)
class Replicas:
    """How many copies of the deployment run. `start_time_s` is how long a new one takes to serve.

    target_requests: in one of them, that scaling aims at. None: the planner's own. limit: what scaling may go up to,
    where minimum and maximum are what it has settled at.
    """

    minimum: int = 1
    maximum: int = 1
    start_time_s: float | None = None
    target_requests: float | None = None
    limit: int | None = None

    @property
    def most(self) -> int:
        return self.maximum if self.limit is None else self.limit

    @property
    def scales(self) -> bool:
        return self.maximum > self.minimum


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """How replicas run as pods. None: left out. shared_memory_bytes: of a volume in memory at /dev/shm."""

    shared_memory_bytes: float | None = None
    strategy: str = "RollingUpdate"
    max_surge: int | None = None
    max_unavailable: int | None = None
    accelerators: int | None = None

    def surge(self, replicas: int) -> int:
        """Pods above the replicas during an update: a quarter, rounded up, where nothing is said."""
        return -(-replicas // 4) if self.max_surge is None else self.max_surge

    def unavailable(self, replicas: int) -> int:
        """Replicas that may be missing during an update: a quarter, rounded down, where nothing is said."""
        return replicas // 4 if self.max_unavailable is None else self.max_unavailable


@dataclass(frozen=True, slots=True)
class PowerSupply:
    """What feeds and cools the deployment. None: not declared.

    limit_w: cap of one accelerator. host_w: of one replica's hosts, everything but accelerators. pue: power of the
    facility over that of its machines. electricity_usd_per_j: paid beside the price of the hardware. budget_w: of all
    accelerators and hosts; rack_budget_w: of a rack of rack_accelerators.
    """

    limit_w: float | None = None
    host_w: float | None = None
    pue: float = 1.0
    electricity_usd_per_j: float | None = None
    budget_w: float | None = None
    rack_accelerators: int | None = None
    rack_budget_w: float | None = None


@dataclass(frozen=True, slots=True)
class Hardware:
    """One replica's accelerators and what is declared about them.

    cards: the accelerators, in order, `count` of them; unlike cards where the spec lists several.
    usable_bytes: the declared total in place of the catalogue's. reserved_bytes: in use before the engine
    starts; it lowers what is free, not the total. ecc: as declared, None where nothing is.
    price_usd_per_hour: per accelerator, None where unknown; price_date: ISO date on which it held, "" where unknown.
    accelerator: the card that limits, with the least memory. spares: accelerators beside those of the replicas, idle
    until one fails.
    """

    cards: tuple[Accelerator, ...]
    replicas: Replicas = field(default_factory=Replicas)
    usable_bytes: float | None = None
    reserved_bytes: float = 0.0
    derate: Derate | None = None
    interconnect: Interconnect | None = None
    host: HostMemory = field(default_factory=HostMemory)
    price_usd_per_hour: float | None = None
    placement: str | None = None
    ecc: bool | None = None
    kubernetes: Kubernetes | None = None
    price_date: str = ""
    spares: int = 0
    power: PowerSupply = field(default_factory=PowerSupply)
    accelerator: Accelerator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "accelerator", min(self.cards, key=lambda card: card.capacity_bytes))

    @property
    def count(self) -> int:
        return len(self.cards)

    @property
    def capacity_bytes(self) -> float:
        """Total of one accelerator that an engine's fraction is a share of."""
        return self.usable_bytes if self.usable_bytes is not None else self.accelerator.capacity_bytes

    @property
    def links(self) -> Interconnect:
        return self.interconnect if self.interconnect is not None else self.accelerator.interconnect
