"""Document and catalogue to a Plan: every reference resolved, every quantity an SI float. Once, here.

The document has passed `planner.contract`; what only the catalogue can tell (a name that does not
resolve, a config that cannot be read) is found here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner import contract, source
from planner.bind import levers as stack
from planner.bind.calibration import calibration
from planner.bind.context import Binding
from planner.bind.engine import settings
from planner.bind.hardware import hardware
from planner.bind.measurements import measured
from planner.bind.model import model
from planner.bind.objectives import objectives_of
from planner.bind.power import api_price
from planner.bind.recordings import recordings
from planner.bind.workload import workload
from planner.domain.levers import LeverUse
from planner.domain.plan import Plan
from planner.findings import Finding, Verdict
from planner.source.document import Document, NodePath

SPLIT, POOLS = "disaggregated-prefill", ("prefill", "decode")

NEVER_CHANGED = ("levers", "waivers")
"""Sections that no overlay may set, and that may be long: the overlaid document has them as they were validated."""


def plan(document: Document, folders: Sequence[Path] = ()) -> tuple[Plan | None, tuple[Finding, ...]]:
    """The plan, or None and why not. folders: catalogue folders of the project."""
    binding = Binding(document, tuple(folders))
    found = _plan(binding)
    if found is None or any(finding.verdict is Verdict.INVALID for finding in binding.findings):
        return None, tuple(binding.findings)
    found = replace(found, calibration=calibration(binding), measurements=measured(binding))
    variants = _variants(found, binding)
    findings = _once(binding.findings)
    if any(finding.verdict is Verdict.INVALID for finding in findings):
        return None, findings
    found = replace(found, variants=variants, levers=tuple(_with_links(item, variants) for item in found.levers))
    return found, findings


def _once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Without repetitions: each overlay finds again what is wrong with what it leaves as it is."""
    said: list[Finding] = []
    for finding in findings:
        if finding not in said:
            said.append(finding)
    return tuple(said)


def _plan(binding: Binding) -> Plan | None:
    bound_model = model(binding.section("model"), ("model",), binding)
    bound_hardware = hardware(binding.section("hardware"), binding)
    if bound_model is None or bound_hardware is None:
        return None
    recorded = recordings(binding)
    engine = settings(binding.section("engine"), bound_hardware.count)
    uses = stack.stack(binding, bound_model, engine, bound_hardware.accelerator.compute_capability)
    metadata = binding.section("metadata")
    dtype = binding.section("model").get("weights", "published")
    shipped_as = stack.cast(bound_model, dtype)
    return Plan(
        name=str(metadata.get("name", "")),
        model=shipped_as,
        hardware=bound_hardware,
        engine=stack.switched_off(engine),
        workload=workload(binding.section("workload"), recorded),
        objectives=objectives_of(binding.section("objectives")),
        levers=uses,
        cache_format=stack.cache_of(engine, shipped_as),
        expect=metadata.get("expect"),
        description=str(metadata.get("description", "")),
        owner=str(metadata.get("owner", "")),
        revision=str(binding.section("model").get("revision") or ""),
        assumptions=tuple(dict.fromkeys(binding.assumptions)),
        origins=dict(binding.origins),
        catalogue=dict(sorted(binding.catalogue.items())),
        sha256=binding.document.sha256,
        date=str(metadata.get("date", "")),
        api_price=api_price(binding.section("api_price")),
    )


def _variants(found: Plan, binding: Binding) -> Mapping[tuple[str, ...], Plan]:
    """The plan under each set of `change` overlays that the ladder needs, by the pointers of the overlays.

    Cumulative sets of the adopted ones in order, and everything adopted plus each considered one.
    """
    changes = [item for item in found.levers if item.use == "change" and item.status != "reject"]
    adopted = [item for item in changes if item.status == "adopt"]
    wanted: list[tuple[LeverUse, ...]] = [tuple(adopted[: count + 1]) for count in range(len(adopted))]
    wanted += [(*adopted, item) for item in changes if item.status == "consider"]
    variants = {}
    for uses in wanted:
        overlays = [(item.parameters["set"], item.parameters["at"]) for item in uses]
        variant = _overlaid(overlays, binding)
        if variant is not None:
            variants[tuple(item.path for item in uses)] = variant
    for split in (item for item in found.levers if item.use == SPLIT and item.status != "reject"):
        for uses in ((), *wanted):
            overlays = [(item.parameters["set"], item.parameters["at"]) for item in uses]
            for pool in POOLS:
                own = (split.parameters[pool], (*split.parameters["at"], pool))
                variant = _overlaid([*overlays, own], binding)
                if variant is not None:
                    variants[(*(item.path for item in uses), f"{split.path}/{pool}")] = variant
    return variants


def _with_links(item: LeverUse, variants: Mapping[tuple[str, ...], Plan]) -> LeverUse:
    """A split into pools with what moves a prompt's cache between them, in each pool; None where no link is known.

    Inside one scale-up domain where all accelerators of both pools are in it, else over the network.
    """
    pools = [variants.get((f"{item.path}/{pool}",)) for pool in POOLS]
    known = [pool for pool in pools if pool is not None]
    if item.use != SPLIT or len(known) < len(POOLS):
        return item
    together = sum(pool.hardware.count * max(1, pool.hardware.replicas.maximum) for pool in known)
    near = all(together <= pool.hardware.links.domain for pool in known)
    links = [pool.hardware.links for pool in known]
    found = [one.scale_up_bytes_per_s if near else one.scale_out_bytes_per_s for one in links]
    return replace(item, parameters={**item.parameters, "links_bytes_per_s": None if None in found else tuple(found)})


def _overlaid(overlays: Sequence[tuple[Mapping[str, Any], NodePath]], binding: Binding) -> Plan | None:
    document = binding.document
    for overlay, at in overlays:
        document = source.merge(document, overlay, written_at=at)
    findings = contract.validate(document, known_good=NEVER_CHANGED)
    if findings:
        binding.findings += findings
        return None
    inner = Binding(document, binding.folders)
    variant = _plan(inner)
    binding.findings += inner.findings
    binding.catalogue.update(inner.catalogue)
    return variant
