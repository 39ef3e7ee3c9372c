"""Every check module keeps its contract: its failing example gets the finding, its passing one does not."""

from pathlib import Path
from types import ModuleType

import pytest

from planner import checks, discovery, source
from planner.findings import Severity
from planner.pipeline import judge_document

MODULES = discovery.modules(checks.__name__)
TODAY = "2026-01-01"


def found(spec: str, module: ModuleType, folder: Path) -> set[str]:
    for name, text in getattr(module, "FILES", {}).items():
        (folder / name).write_text(text, "utf-8")
    document, findings = source.parse(spec, folder=folder)
    assert document is not None, findings
    judgement = judge_document(document, today=TODAY)
    assert judgement.plan is not None, judgement.findings
    return {finding.id for finding in judgement.findings}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.ID)
class TestContract:
    def test_id_is_the_file_name(self, module: ModuleType) -> None:
        assert module.__name__.rpartition(".")[2].replace("_", "-") == module.ID

    def test_documented(self, module: ModuleType) -> None:
        assert module.__doc__ and len(module.__doc__) > 60
        assert isinstance(module.SEVERITY, Severity)

    def test_failing_example_fails(self, module: ModuleType, tmp_path: Path) -> None:
        assert module.ID in found(module.FAILING, module, tmp_path)

    def test_passing_example_passes(self, module: ModuleType, tmp_path: Path) -> None:
        assert module.ID not in found(module.PASSING, module, tmp_path)
