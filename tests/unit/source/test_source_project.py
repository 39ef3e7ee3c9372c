"""The project's folder, and references inside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import source
from planner.findings import Finding, Location


def write(folder: Path, name: str, text: str = "a: 1\n") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_root_is_the_nearest_marked_folder(tmp_path: Path) -> None:
    deep = write(tmp_path, "repo/specs/team/a.yaml").parent
    assert source.root_of(deep) == deep or (tmp_path / "repo") not in source.root_of(deep).parents
    (tmp_path / "repo" / ".git").mkdir()
    assert source.root_of(deep) == tmp_path / "repo"
    write(tmp_path, "repo/specs/planner.yaml")
    assert source.root_of(deep) == tmp_path / "repo" / "specs"


def test_a_git_work_tree_may_have_a_file(tmp_path: Path) -> None:
    write(tmp_path, "tree/.git", "gitdir: elsewhere\n")
    deep = write(tmp_path, "tree/x/a.yaml").parent
    assert source.root_of(deep) == tmp_path / "tree"


@pytest.fixture
def document(tmp_path: Path) -> source.Document:
    write(tmp_path, "p/planner.yaml")
    write(tmp_path, "p/base/base.yaml", "kind: Base\nmodel: {config: ./config.json}\n")
    write(tmp_path, "p/base/config.json", "{}")
    write(tmp_path, "p/specs/config.json", "{}")
    write(tmp_path, "p/specs/traces/day.csv", "")
    write(tmp_path, "outside.json", "{}")
    path = write(tmp_path, "p/specs/a.yaml", "kind: Deployment\nextends: ../base/base.yaml\nconfig: ./config.json\n")
    found, findings = source.load(path, display="specs/a.yaml")
    assert findings == () and found is not None
    return found


def test_references_are_relative_to_the_file_that_writes_them(document: source.Document) -> None:
    own = source.resolve("./config.json", document.location(("config",)), document)
    inherited = source.resolve("./config.json", document.location(("model", "config")), document)
    assert own == document.root / "specs" / "config.json"
    assert inherited == document.root / "base" / "config.json"
    assert (
        source.resolve("traces/day.csv", Location("specs/a.yaml"), document) == document.root / "specs/traces/day.csv"
    )
    assert source.resolve("../base/config.json", Location("specs/a.yaml"), document) == inherited


@pytest.mark.parametrize(
    ("reference", "id_"),
    [
        ("../../outside.json", "reference-outside-project"),
        ("/etc/passwd", "reference-not-a-path"),
        ("\\\\host\\share", "reference-not-a-path"),
        ("c:/x.json", "reference-not-a-path"),
        ("~/x.json", "reference-not-a-path"),
        ("https://example.com/x.json", "reference-not-a-path"),
        ("hf://a/b", "reference-not-a-path"),
        ("a\\b.json", "reference-not-a-path"),
        ("a\x00b", "reference-not-a-path"),
        ("x" * 5000, "reference-not-found"),
        ("traces", "reference-not-found"),
        ("konfig.json", "reference-not-found"),
        ("config.json/x", "reference-not-found"),
        ("a:b.json", "reference-not-a-path"),
    ],
)
def test_references_that_lead_nowhere(document: source.Document, reference: str, id_: str) -> None:
    place = Location("specs/a.yaml", 3, 9)
    finding = source.resolve(reference, place, document, path="/config")
    assert isinstance(finding, Finding)
    assert (finding.id, finding.location, finding.path) == (id_, place, "/config")
    assert str(document.root) not in finding.message + finding.hint
    assert finding.message.isprintable()


def test_links_are_followed_before_they_are_judged(document: source.Document) -> None:
    (document.root / "specs" / "out.json").symlink_to("../../outside.json")
    (document.root / "specs" / "up").symlink_to("../..")
    place = Location("specs/a.yaml")
    for reference in ("out.json", "up/outside.json"):
        finding = source.resolve(reference, place, document)
        assert isinstance(finding, Finding) and finding.id == "reference-outside-project"
    # a link to a folder deep below, and back up from there: what is checked must be what is returned
    (document.root / "deep" / "er" / "est").mkdir(parents=True)
    (document.root / "specs" / "down").symlink_to("../deep/er/est")
    write(document.root, "x.json", "{}")
    assert source.resolve("down/../../../x.json", place, document) == document.root / "x.json"
