"""The report as data: strings ready to print, and the raw numbers behind them for charts and for sorting.

Strings are plain text here, whatever the spec wrote; each format escapes them when it prints them.
"""

from __future__ import annotations

from dataclasses import dataclass

OUTCOME_TONES = {"met": "good", "at-risk": "warn", "missed": "bad", "unknown": "warn"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One table cell. number: what to sort by. note: what stands in brackets behind the text.

    change: from the row before it. tone: good, bad, warn or "". share: 0 to 1 and above, drawn as a small bar
    where a format can. span: a band to draw, else None. link: a file beside the report, "" for none.
    """

    text: str
    number: float | None = None
    note: str = ""
    change: str = ""
    tone: str = ""
    share: float | None = None
    span: Span | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A band, its estimate and a limit as shares (0 to 1) of the width they are drawn on."""

    low: float
    high: float
    estimate: float
    limit: float


def bracketed(text: str, number: float | None = None, *, tone: str = "", change: str = "") -> Cell:
    """A cell of "value (note)", as `planner.format` prints bands and memory."""
    value, bracket, note = text.partition(" (")
    return Cell(value, number, note.removesuffix(")") if bracket else "", change, tone)


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """kind: "" or what sets it apart: adopt, consider, reject, before, binding. remark: a sentence about it."""

    cells: tuple[Cell, ...]
    kind: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """omitted: rows left out because there are too many to read. remarks: whether rows have them."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    omitted: int = 0
    remarks: bool = False


@dataclass(frozen=True, slots=True)
class Labelled:
    label: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class VerdictSection:
    """word: as in the result. icon: says the same as the colour. tone: good, warn, bad or info."""

    word: str
    title: str
    icon: str
    tone: str
    sentence: str
    binds: str
    next_step: str
    objectives: str
    headlines: tuple[Labelled, ...] = ()
    facts: tuple[Labelled, ...] = ()


@dataclass(frozen=True, slots=True)
class BindingSection:
    sentence: str
    prefill: str
    table: Table


@dataclass(frozen=True, slots=True)
class BaselineSection:
    floor: str
    table: Table
    bands: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a bar: `start` and `width` in per cent of the scale."""

    part: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class MemoryBar:
    """One configuration. capacity: where the line stands, in per cent of the scale. text: the bar in characters."""

    configuration: str
    segments: tuple[Segment, ...]
    capacity: float
    text: str
    used: str
    of: str
    parts: str
    free: str
    fits: bool


@dataclass(frozen=True, slots=True)
class MemorySection:
    """account: how the memory of an accelerator adds up as shipped; fraction: what is inside the engine's share."""

    bars: tuple[MemoryBar, ...]
    key: str
    account: Table | None = None
    fraction: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis, in per cent of its length from where it begins, and what stands there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class ChartLine:
    """points: (x, y) in per cent of the width from the left and of the height from above. style: 1, 2, 3."""

    name: str
    points: tuple[tuple[float, float], ...]
    style: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line. across: at a height of the chart, else at a place from the left. kind: limit, offered, edge."""

    name: str
    at: float
    across: bool
    kind: str


@dataclass(frozen=True, slots=True)
class Chart:
    """description: the chart in words, for who does not see it."""

    key: str
    title: str
    description: str
    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[ChartLine, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class LoadSection:
    """What happens under arrivals. charts stand beside tables of the same figures."""

    sentence: str
    notes: tuple[str, ...]
    charts: tuple[Chart, ...]
    rates: Table
    over_time: Table
    distribution: Table | None


@dataclass(frozen=True, slots=True)
class LeverDetail:
    """What one lever does, in full. figures: before and after of all that it moves; None where not evaluated."""

    title: str
    status: str
    reduces: str
    figures: Table | None
    unchanged: str


@dataclass(frozen=True, slots=True)
class LeverGroup:
    """The levers of one class. `title` and `meaning` say what the class promises."""

    title: str
    meaning: str
    table: Table | None
    details: tuple[LeverDetail, ...]
    empty: str


@dataclass(frozen=True, slots=True)
class LadderSection:
    groups: tuple[LeverGroup, ...]


@dataclass(frozen=True, slots=True)
class TableSection:
    """A lead sentence and a table, or the sentence alone."""

    sentence: str
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class RegimeSection:
    sentence: str
    table: Table | None
    formulas: tuple[Labelled, ...]


@dataclass(frozen=True, slots=True)
class MarginSection:
    objectives: TableSection
    sensitivity: TableSection
    flips: TableSection | None = None


@dataclass(frozen=True, slots=True)
class CostSection:
    """sentence: how cost is shared out. even: from where on hosting is cheaper than a service, "" for none."""

    sentence: str
    costs: Table | None
    energy: Table | None
    energy_note: str
    even: str
    inputs: Table | None
    formulas: tuple[FormulaDetail, ...]


@dataclass(frozen=True, slots=True)
class ReplicaSection:
    """pools: of prompts and of answers. missing: what holds while some are lost, replaced, or not yet started."""

    sentence: str
    pools: Table | None
    missing: Table | None


@dataclass(frozen=True, slots=True)
class DecidingSection:
    sentence: str
    figure: str
    band: str
    decides: tuple[str, ...]
    measure: str


@dataclass(frozen=True, slots=True)
class FormulaDetail:
    figure: str
    value: str
    formula: str
    inputs: tuple[Labelled, ...]


@dataclass(frozen=True, slots=True)
class ProvenanceSection:
    table: Table | None
    formulas: tuple[FormulaDetail, ...]
    assumptions: Table | None
    catalogue: tuple[Labelled, ...]


@dataclass(frozen=True, slots=True)
class VerificationSection:
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Step:
    what: str
    command: str
    expect: str


@dataclass(frozen=True, slots=True)
class FindingSection:
    sentence: str
    table: Table | None
    waived: Table | None


@dataclass(frozen=True, slots=True)
class ReportModel:
    """Everything that both formats print. Sections are None where nothing was evaluated."""

    name: str
    description: str
    spec: str
    verdict: VerdictSection
    findings: FindingSection
    binding: BindingSection | None = None
    baseline: BaselineSection | None = None
    memory: MemorySection | None = None
    load: LoadSection | None = None
    replicas: ReplicaSection | None = None
    ladder: LadderSection | None = None
    obligations: TableSection | None = None
    regime: RegimeSection | None = None
    cost: CostSection | None = None
    margins: MarginSection | None = None
    deciding: DecidingSection | None = None
    provenance: ProvenanceSection | None = None
    verification: VerificationSection | None = None
