"""Where the files that are not code live: inside an installed wheel, or in the repository."""

from __future__ import annotations

from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
_REPOSITORY = {"schema": "schema", "templates": "reports/templates"}


@cache
def folder(name: str) -> Path:
    """The folder `schema` or `templates`: packaged under `planner/_data`, else that of the repository."""
    packaged = PACKAGE / "_data" / name
    return packaged if packaged.is_dir() else PACKAGE.parent / _REPOSITORY[name]
