"""Finding entries: names, folders of the project, suggestions, digests, files that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import catalogue

CARD = """apiVersion: planner/v1
kind: Accelerator
metadata: {name: lab-card}
accelerator: {memory: 10 GB, bandwidth: 1 TB/s}
"""


def test_names_come_from_the_listing_and_case_does_not_matter() -> None:
    assert "h100-sxm" in catalogue.accelerator_ids()
    found = catalogue.find("accelerators", "H100-SXM")
    assert found is not None
    assert found.stem == "h100-sxm"


@pytest.mark.parametrize("name", ["../accelerators/t4", "/etc/passwd", "", ".", "t4.yaml", "t4\x00", "no-such-card"])
def test_a_name_never_leads_out_of_the_folders(name: str) -> None:
    assert catalogue.find("accelerators", name) is None


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("h100", "h100-sxm"),
        ("rtx4090", "rtx-4090"),
        ("H100-SXN", "h100-sxm"),
        ("a100-80", "a100-sxm-80"),
        ("MI300", "mi300x"),
    ],
)
def test_suggestions(written: str, first: str) -> None:
    assert first in catalogue.suggest("accelerators", written)


def test_nothing_is_suggested_for_nonsense() -> None:
    assert catalogue.suggest("accelerators", "zzzzqqqq") == ()


def test_a_projects_folder_comes_first(tmp_path: Path) -> None:
    (tmp_path / "accelerators").mkdir()
    (tmp_path / "accelerators" / "T4.yaml").write_text(CARD, encoding="utf-8")
    (tmp_path / "lab-card.yaml").write_text(CARD, encoding="utf-8")
    (tmp_path / "spec.yaml").write_text("kind: Deployment\n", encoding="utf-8")
    names = catalogue.accelerator_ids((tmp_path,))
    assert "lab-card" in names
    assert "spec" not in names
    assert len(names) == len(catalogue.accelerator_ids()) + 1
    found = catalogue.entry("accelerators", "t4", (tmp_path,))
    assert found is not None
    assert found["accelerator"]["memory"] == "10 GB"
    packaged = catalogue.entry("accelerators", "t4")
    assert packaged is not None
    assert packaged["accelerator"]["memory"]["marketed"] == "16 GB"


def test_model_names_use_the_hubs_slash(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "acme--Big-7B.yaml").write_text("kind: Model\n", encoding="utf-8")
    assert "acme/Big-7B" in catalogue.model_ids((tmp_path,))
    assert catalogue.find("models", "ACME/big-7b", (tmp_path,)) is not None


def test_the_digest_is_of_the_content_not_of_its_layout(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CARD, encoding="utf-8")
    (tmp_path / "b.yaml").write_text("# a comment\n" + CARD.replace("1 TB/s", "'1 TB/s'"), encoding="utf-8")
    (tmp_path / "c.yaml").write_text(CARD.replace("1 TB/s", "2 TB/s"), encoding="utf-8")
    first, second, third = (catalogue.digest("accelerators", name, (tmp_path,)) for name in "abc")
    assert first == second
    assert first != third
    assert first is not None
    assert len(first) == 64


@pytest.mark.parametrize(
    "text",
    ["kind: Accelerator\n a: [", "kind: Accelerator\na: &x [*x]\n", "kind: Accelerator\na: " + "[" * 20_000, "- 1\n"],
)
def test_a_file_that_cannot_be_used_says_so(text: str, tmp_path: Path) -> None:
    (tmp_path / "accelerators").mkdir()
    (tmp_path / "accelerators" / "bad.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(catalogue.UnreadableError, match=r"bad\.yaml"):
        catalogue.entry("accelerators", "bad", (tmp_path,))


def test_listing_reads_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    assert len(catalogue.accelerator_ids()) > 100
    assert catalogue.suggest("accelerators", "h100")
