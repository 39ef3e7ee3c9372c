"""Runs of a sweep on a Dask cluster: the only module that imports distributed, and only when asked.

The cluster is the caller's; nothing is started here. Workers need this program, of the same version. A run that a dead
worker had is made again elsewhere; one that kills three workers in a row is given up, and what was made stays.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from planner.cli.writing import CouldNotError
from planner.domain.plan import Plan
from planner.quoting import plain, quoted
from planner.simulate.asked import Asked
from planner.simulate.sweep import Row, row

PATIENCE_S = 15
EXTRA = "pip install 'inference-planner[distributed]'"


def rows(address: str, plan: Plan, asked: Mapping[str, Asked], digest: str) -> Iterator[tuple[str, Row]]:
    """(key, row) of every run, as they are done. Raises CouldNotError."""
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=PATIENCE_S, set_as_default=False, name="planner")
    except (OSError, ValueError, TypeError) as error:
        raise CouldNotError(f"cannot reach the scheduler {quoted(address)}: {plain(str(error))}") from error
    with client:
        # The plan goes there once. It is the result of a task, so that it is made again where it is lost.
        shipped = client.submit(_same, plan, key=f"planner-plan-{digest}")
        futures = {client.submit(row, shipped, item, key=f"planner-{key}"): key for key, item in asked.items()}
        for future in distributed.as_completed(list(futures), loop=client.loop):
            yield futures[future], _result(distributed, future)
            future.release()


def _same(plan: Plan) -> Plan:
    return plan


def _result(distributed: Any, future: Any) -> Row:
    try:
        found: Row = future.result()
    except distributed.KilledWorker as error:
        raise CouldNotError("a run killed several workers one after another; what was made before is kept") from error
    except ModuleNotFoundError as error:
        raise CouldNotError(
            f"the workers lack {quoted(error.name or 'planner')}: install this program there"
        ) from error
    return found


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise CouldNotError(f"--scheduler needs the extra `distributed`: {EXTRA}") from error
