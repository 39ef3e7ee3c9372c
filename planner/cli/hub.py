"""Fetching a model's small files through huggingface_hub: the only module that imports it, and only when asked."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.cli.writing import CouldNotError
from planner.quoting import plain, quoted

PREFIX = "hf:"
CONFIG = "config.json"
QUANTIZATION = "hf_quant_config.json"
INDEX = "model.safetensors.index.json"
LARGEST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Fetched:
    """Files of one commit. checkpoint_bytes: what the safetensors index says that all tensors hold."""

    name: str
    revision: str
    config: Path
    checkpoint_bytes: int | None


def fetch(name: str, revision: str | None) -> Fetched:
    """config.json and what stands beside it, in the hub's own cache. Raises CouldNotError."""
    hub = _client()
    try:
        info = hub.HfApi().model_info(name, revision=revision)
        commit = str(info.sha)
        published = {str(item.rfilename) for item in info.siblings or ()}
        if CONFIG not in published:
            raise CouldNotError(f"{quoted(name)} holds no {CONFIG}")
        wanted = [file for file in (CONFIG, QUANTIZATION, INDEX) if file in published]
        paths = {file: Path(hub.hf_hub_download(name, file, revision=commit)) for file in wanted}
    except CouldNotError:
        raise
    except Exception as error:  # what the client raises differs by its version
        first = str(error).strip().split("\n", 1)[0]
        raise CouldNotError(f"{quoted(name)} cannot be fetched: {type(error).__name__}: {plain(first)}") from error
    return Fetched(name, commit, paths[CONFIG], _total_size(paths.get(INDEX)))


def _client() -> Any:
    try:
        return importlib.import_module("huggingface_hub")
    except ImportError:
        raise CouldNotError(
            "huggingface_hub is not installed. Install the extra: pip install 'inference-planner[hub]', "
            "or download config.json and give its path."
        ) from None


def _total_size(index: Path | None) -> int | None:
    """`metadata.total_size` of the index; None where there is none to read."""
    if index is None or index.stat().st_size > LARGEST_BYTES:
        return None
    try:
        metadata = json.loads(index.read_bytes()).get("metadata")
    except (ValueError, AttributeError, RecursionError):
        return None
    size = metadata.get("total_size") if isinstance(metadata, Mapping) else None
    return int(size) if isinstance(size, (int, float)) and not isinstance(size, bool) and 0 < size < 2**60 else None
