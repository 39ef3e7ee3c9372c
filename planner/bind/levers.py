"""The stack of levers: those of the spec, those that a key is, and those that the engine turns on by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from planner import engines, levers
from planner.bind.acceptance import acceptance_of
from planner.bind.context import Binding
from planner.bind.model import model as bind_model
from planner.domain import formats
from planner.domain.engine import EngineSettings
from planner.domain.levers import LEVER_CLASSES, LeverUse, MeasuredAcceptance
from planner.domain.model import Model
from planner.domain.requantize import requantize

FLOATS = ("fp32", "bf16", "fp16")
ITEM_KEYS = frozenset({"use", "name", "status", "reason", "evidence"})


class Context:
    """What binding a lever may ask for (`planner.levers.LeverContext`)."""

    def __init__(self, binding: Binding, path: tuple[str | int, ...], target: Model) -> None:
        self._binding = binding
        self._path = path
        self.target = target

    def model(self, reference: Mapping[str, Any], parameter: str = "") -> Model:
        path = (*self._path, parameter) if parameter else self._path
        found = bind_model(reference, path, self._binding)
        if found is None:
            return self.target
        weights = reference.get("weights", "published")
        return found if weights == "published" else requantize(found, weights)

    def acceptance(self) -> tuple[MeasuredAcceptance, ...]:
        return acceptance_of(self.target.name, self._binding)

    def fault(self, parameter: str, message: str, hint: str) -> None:
        path = (*self._path, parameter) if parameter else self._path
        self._binding.fault("lever-parameter", path, message, hint)


def stack(
    binding: Binding, model: Model, settings: EngineSettings, capability: str | None = None
) -> tuple[LeverUse, ...]:
    """Every lever of the plan, in the planner's own order: by class, then by each lever's ORDER, then by the file's."""
    items = [_with_key(item, settings) for item in _of_spec(binding, model)]
    items += _of_keys(binding, model, settings)
    used = {item.use for item in items if item.use != "change"}
    items += [item for item in _of_engine(settings, model, capability) if item.use not in used]
    return tuple(sorted(items, key=order))


def _with_key(item: LeverUse, settings: EngineSettings) -> LeverUse:
    """An admission policy that names no policy, only limits, beside an engine key that does."""
    if item.use != "admission-policy" or item.status == "reject" or settings.admission is None:
        return item
    return replace(item, parameters={"policy": settings.admission, **item.parameters})


def is_float(cache: str) -> bool:
    """Whether a cache precision is 16 bits or more: no lever."""
    found = formats.get_cache(cache)
    return found is not None and found.bits >= 16


def cast(model: Model, weights: str) -> Model:
    """The model in another float width where `weights` asks for one: a cast, not a quantisation.

    A model given by figures has no published precision: `weights` is it.
    """
    if weights not in FLOATS or (model.quantization is None and weights == model.dtype):
        return model
    return requantize(model, weights)


def cache_of(settings: EngineSettings, model: Model) -> str | None:
    """Precision of the cache with no lever on it: a declared float format, else what the checkpoint fixes."""
    declared = settings.kv_cache_dtype
    if declared not in (None, "auto") and is_float(declared):
        return declared
    return model.cache_format


def order(item: LeverUse) -> tuple[int, int]:
    return LEVER_CLASSES.index(item.lever_class), int(levers.get(item.use).ORDER)


def _of_spec(binding: Binding, model: Model) -> Iterator[LeverUse]:
    for index, item in enumerate(binding.document.data.get("levers") or ()):
        module = levers.get(item["use"])
        path = ("levers", index)
        raw = {key: value for key, value in item.items() if key not in ITEM_KEYS}
        status = item.get("status", "adopt")
        for number, reference in enumerate(item.get("evidence") or ()):
            binding.file(reference, (*path, "evidence", number))
        lever_class = module.lever_class(raw.get("set") or {}) if item["use"] == "change" else module.CLASS
        parameters = {} if status == "reject" else dict(module.bind(raw, Context(binding, path, model)))
        if item["use"] == "change":
            parameters["at"] = (*path, "set")
        if item["use"] == "disaggregated-prefill" and status != "reject":
            parameters["at"] = path
        yield LeverUse(
            use=item["use"],
            lever_class=lever_class,
            status=status,
            source="spec",
            name=item.get("name"),
            parameters=parameters,
            evidence=tuple(item.get("evidence") or ()),
            reason=str(item.get("reason", "")),
            path=binding.document.pointer(path),
        )


def _of_keys(binding: Binding, model: Model, settings: EngineSettings) -> Iterator[LeverUse]:
    """An engine or model key that a lever owns is that lever, unless the stack says the same already."""
    said = {item.get("use") for item in binding.document.data.get("levers") or ()}
    for item in (*_weights_key(binding, model), *_engine_keys(settings, model)):
        if item.use not in said:
            yield item


def _weights_key(binding: Binding, model: Model) -> Iterator[LeverUse]:
    declared = binding.section("model").get("weights", "published")
    if declared in ("published", *FLOATS):
        return
    module = levers.get("quantize-weights")
    yield LeverUse(
        "quantize-weights",
        module.CLASS,
        source="model-key",
        path="/model/weights",
        parameters=module.bind({"format": declared}, Context(binding, ("model", "weights"), model)),
    )


def _engine_keys(settings: EngineSettings, model: Model) -> Iterator[LeverUse]:
    cache = settings.kv_cache_dtype
    if cache not in (None, "auto") and not is_float(cache) and cache != model.cache_format:
        module = levers.get("quantize-kv-cache")
        yield LeverUse(
            "quantize-kv-cache",
            module.CLASS,
            source="engine-key",
            path="/engine/kv_cache_dtype",
            parameters={"format": cache},
        )
    switches = (
        ("cuda-graphs", None if settings.enforce_eager is None else not settings.enforce_eager, "enforce_eager"),
        ("chunked-prefill", settings.enable_chunked_prefill, "enable_chunked_prefill"),
        ("prefix-caching", settings.enable_prefix_caching, "enable_prefix_caching"),
        ("admission-policy", True if settings.admission else None, "admission"),
    )
    for use, on, key in switches:
        if on is not None:
            parameters = {"policy": settings.admission} if key == "admission" else {}
            yield LeverUse(
                use,
                levers.get(use).CLASS,
                "adopt" if on else "reject",
                "engine-key",
                path=f"/engine/{key}",
                parameters=parameters,
            )


def _of_engine(settings: EngineSettings, model: Model, capability: str | None) -> Iterator[LeverUse]:
    module = engines.get(settings.name)
    for use in module.default_levers(settings, model, capability):
        yield LeverUse(use, levers.get(use).CLASS, source="default", path="/engine/name")


def switched_off(settings: EngineSettings) -> EngineSettings:
    """The engine with every key that a lever owns undone, for the baseline: levers set them again."""
    origins = {
        key: word
        for key, word in settings.origins.items()
        if key
        not in ("kv_cache_dtype", "enforce_eager", "enable_chunked_prefill", "enable_prefix_caching", "admission")
    }
    return replace(
        settings,
        kv_cache_dtype=None,
        enforce_eager=True,
        enable_chunked_prefill=False,
        enable_prefix_caching=False,
        admission=None,
        origins=origins,
    )
