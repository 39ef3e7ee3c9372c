"""Files to documents: what may be read, and `extends`."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from planner import source
from planner.findings import Finding, Location
from planner.source import loading, reader
from planner.source.files import LARGEST_BYTES


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder; `outside.yaml` lies beside it."""
    folder = tmp_path / "project"
    (folder / "specs").mkdir(parents=True)
    (folder / "planner.yaml").write_text("apiVersion: planner/v1\nkind: Project\n")
    (tmp_path / "outside.yaml").write_text("secret: 1\n")
    return folder


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def loaded(path: Path, display: str = "specs/spec.yaml") -> source.Document:
    document, findings = source.load(path, display=display)
    assert findings == ()
    assert document is not None
    return document


def refused(path: Path, display: str = "specs/spec.yaml") -> Finding:
    document, findings = source.load(path, display=display)
    assert document is None
    assert len(findings) == 1
    return findings[0]


def test_a_document_knows_its_file_folder_and_root(project: Path) -> None:
    document = loaded(write(project, "specs/spec.yaml", "kind: Deployment\nversion: 0.10\n"))
    assert document.file == "specs/spec.yaml"
    assert document.folder == project / "specs"
    assert document.root == project
    assert document.kind == "Deployment"
    assert document.texts == {("version",): "0.10"}
    assert document.sources == ("specs/spec.yaml",)
    assert document.location(("version",)) == Location("specs/spec.yaml", 2, 10)
    assert document.location(("version",), key=True) == Location("specs/spec.yaml", 2, 1)
    assert document.location(("version", "deeper")) == Location("specs/spec.yaml", 2, 10)


def test_the_name_is_the_path_unless_another_is_given(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "specs/spec.yaml", "a: 1\n")
    monkeypatch.chdir(project)
    document, _ = source.load(Path("specs/spec.yaml"))
    assert document is not None and document.file == "specs/spec.yaml"


def test_the_digest_is_of_the_data_not_of_its_order(project: Path) -> None:
    one = loaded(write(project, "one.yaml", "a: 1\nb: [x]\n"))
    two = loaded(write(project, "two.yaml", "# comment\nb:\n  - 'x'\na: 1\n"))
    other = loaded(write(project, "three.yaml", "b: [x]\na: 2\n"))
    assert one.sha256 == two.sha256 != other.sha256
    # printf '{"a":1,"b":["x"]}' | sha256sum
    assert one.sha256 == "fd5e92badbe24726f55b88132dd5fa1ceec0efd960b3bcd44f527b4bcc84af34"


def test_items_are_pointed_to_by_name(project: Path) -> None:
    document = loaded(write(project, "s.yaml", "levers: [{use: a/b}, {use: change, name: x~}, {y: 1}]\n"))
    assert document.pointer(("levers", 0)) == "/levers/a~1b"
    assert document.pointer(("levers", 1, "use")) == "/levers/x~0/use"
    assert document.pointer(("levers", 2, "y")) == "/levers/2/y"


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("- a\n", "yaml-not-a-map"),
        ("text\n", "yaml-not-a-map"),
        ("null\n", "yaml-empty"),
        ("a: 1\na: 2\n", "yaml-duplicate-key"),
    ],
)
def test_what_is_no_document(project: Path, text: str, id_: str) -> None:
    assert refused(write(project, "s.yaml", text)).id == id_


def test_files_that_cannot_be_read(project: Path) -> None:
    assert refused(project / "none.yaml").id == "file-not-found"
    assert refused(project / "none" / "none.yaml").id == "file-not-found"
    assert refused(project / "planner.yaml" / "x.yaml").id == "file-not-found"
    assert refused(project / "specs").id == "file-is-folder"
    assert refused(project / "a\x00b.yaml").id in ("file-not-found", "file-unreadable")
    large = project / "large.yaml"
    large.write_bytes(b"#" * (LARGEST_BYTES + 1))
    assert refused(large).id == "file-too-large"
    os.mkfifo(project / "pipe.yaml")
    assert refused(project / "pipe.yaml").id == "file-not-regular"
    (project / "circle.yaml").symlink_to("circle.yaml")
    assert refused(project / "circle.yaml").id == "file-unreadable"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission(project: Path) -> None:
    path = write(project, "s.yaml", "a: 1\n")
    path.chmod(0)
    assert refused(path).id == "file-unreadable"


def test_bytes_that_are_not_utf_8(project: Path) -> None:
    path = project / "latin.yaml"
    path.write_bytes("a: 1\nb: é\xff\n".encode("latin-1"))
    finding = refused(path)
    assert (finding.id, str(finding.location)) == ("file-encoding", "specs/spec.yaml:2:4")
    path.write_bytes("a: 1\n".encode("utf-16"))
    assert refused(path).id == "file-encoding"


def test_a_link_may_not_lead_outside(project: Path) -> None:
    (project / "specs" / "link.yaml").symlink_to("../../outside.yaml")
    assert refused(project / "specs" / "link.yaml").id == "file-outside-project"
    write(project, "shared/real.yaml", "a: 1\n")
    (project / "specs" / "inside.yaml").symlink_to("../shared/real.yaml")
    assert loaded(project / "specs" / "inside.yaml").data == {"a": 1}


def test_names_of_files_are_printed_harmlessly(project: Path) -> None:
    document, _ = source.load(write(project, "\x1b[31m.yaml", "a: 1\n"))
    assert document is not None and document.file.isprintable()


def test_extends_merges_and_every_value_keeps_its_file_and_line(project: Path) -> None:
    write(
        project,
        "base.yaml",
        "kind: Base\nengine:\n  name: vllm\n  max_model_len: 8192\n  max_num_seqs: 128\n"
        "workload:\n  classes:\n    - name: chat\n      share: 1\n",
    )
    spec = write(
        project,
        "specs/spec.yaml",
        "kind: Deployment\nextends: ../base.yaml\nengine:\n  max_model_len: 4096\n  max_num_seqs: null\n"
        "workload: {classes: [{name: chat, share: 0.5}, {name: batch}]}\n",
    )
    document = loaded(spec)
    assert document.data == {
        "kind": "Deployment",
        "engine": {"name": "vllm", "max_model_len": 4096},
        "workload": {"classes": [{"name": "chat", "share": 0.5}, {"name": "batch"}]},
    }
    assert document.sources == ("base.yaml", "specs/spec.yaml")
    assert str(document.location(("engine", "name"))) == "base.yaml:3:9"
    assert str(document.location(("engine", "name"), key=True)) == "base.yaml:3:3"
    assert str(document.location(("engine", "max_model_len"))) == "specs/spec.yaml:4:18"
    assert str(document.location(("engine",), key=True)) == "specs/spec.yaml:3:1"
    assert str(document.location(("workload", "classes", 0, "name"))) == "specs/spec.yaml:6:29"
    assert str(document.location(("workload", "classes", 1))) == "specs/spec.yaml:6:48"


def test_a_chain_of_bases(project: Path) -> None:
    write(project, "a.yaml", "kind: Base\nx: 1\ny: 1\nz: 1\n")
    write(project, "b.yaml", "kind: Base\nextends: a.yaml\ny: 2\nz: 2\n")
    document = loaded(write(project, "c.yaml", "kind: Deployment\nextends: ./b.yaml\nz: 3\n"), "c.yaml")
    assert document.data == {"kind": "Deployment", "x": 1, "y": 2, "z": 3}
    assert document.sources == ("a.yaml", "b.yaml", "c.yaml")
    assert document.location(("y",)).file == "b.yaml"


def test_kind_base_is_not_inherited(project: Path) -> None:
    # A spec that forgets its kind must be told so, not be passed over as a Base.
    write(project, "base.yaml", "apiVersion: planner/v1\nkind: Base\n")
    document = loaded(write(project, "s.yaml", "extends: base.yaml\na: 1\n"))
    assert document.data == {"apiVersion": "planner/v1", "a": 1}


def test_a_deployment_may_be_extended_by_a_deployment_only(project: Path) -> None:
    write(project, "d.yaml", "kind: Deployment\na: 1\n")
    assert loaded(write(project, "s.yaml", "kind: Deployment\nextends: d.yaml\n")).data == {
        "kind": "Deployment",
        "a": 1,
    }
    finding = refused(write(project, "s.yaml", "kind: Model\nextends: d.yaml\n"))
    assert (finding.id, str(finding.location), finding.path) == ("extends-kind", "specs/spec.yaml:2:10", "/extends")


def test_cycles_name_both_files(project: Path) -> None:
    write(project, "a.yaml", "kind: Base\nextends: b.yaml\n")
    write(project, "b.yaml", "kind: Base\nextends: ./a.yaml\n")
    finding = refused(project / "a.yaml", "a.yaml")
    assert finding.id == "extends-cycle"
    assert "`b.yaml`" in finding.message and "`a.yaml`" in finding.message
    assert str(finding.location) == "b.yaml:2:10"
    assert refused(write(project, "c.yaml", "extends: c.yaml\n"), "c.yaml").message == "the file extends itself"


def test_long_chains_end(project: Path) -> None:
    for index in range(12):
        write(project, f"{index}.yaml", f"kind: Base\nextends: {index + 1}.yaml\n")
    assert refused(project / "0.yaml", "0.yaml").id == "extends-depth"


def test_a_fault_in_a_base_is_named_there(project: Path) -> None:
    write(project, "base.yaml", "a: 1\na: 2\n")
    finding = refused(write(project, "specs/spec.yaml", "extends: ../base.yaml\n"))
    assert (finding.id, str(finding.location)) == ("yaml-duplicate-key", "base.yaml:2:1")


@pytest.mark.parametrize(
    ("reference", "id_"),
    [
        ("[a]", "extends-not-a-path"),
        ("1", "extends-not-a-path"),
        ("./bas.yaml", "reference-not-found"),
        (".", "reference-not-found"),
        ("../../outside.yaml", "reference-outside-project"),
        ("link.yaml", "reference-outside-project"),
        ("/etc/passwd", "reference-not-a-path"),
        ("~/base.yaml", "reference-not-a-path"),
        ("https://example.com/base.yaml", "reference-not-a-path"),
        ("file:///etc/passwd", "reference-not-a-path"),
        ("C:\\base.yaml", "reference-not-a-path"),
        ("''", "reference-not-a-path"),
    ],
)
def test_bases_that_cannot_be_extended(project: Path, reference: str, id_: str) -> None:
    write(project, "specs/base.yaml", "kind: Base\n")
    (project / "specs" / "link.yaml").symlink_to("../../outside.yaml")
    finding = refused(write(project, "specs/spec.yaml", f"kind: Deployment\nextends: {reference}\n"))
    assert (finding.id, str(finding.location), finding.path) == (id_, "specs/spec.yaml:2:10", "/extends")
    assert str(project.parent) not in finding.message + finding.hint


def test_the_nearest_file_is_named(project: Path) -> None:
    write(project, "specs/base.yaml", "kind: Base\n")
    finding = refused(write(project, "specs/spec.yaml", "extends: ./bas.yaml\n"))
    assert finding.hint == "did you mean `./base.yaml`?"


def test_null_that_removes_nothing_is_a_warning(project: Path) -> None:
    write(project, "base.yaml", "kind: Base\nengine: {max_num_seqs: 128}\n")
    document, findings = source.load(write(project, "s.yaml", "extends: base.yaml\nengine: {max_num_seq: null}\n"))
    assert document is not None
    assert [(finding.id, finding.path, finding.verdict) for finding in findings] == [
        ("extends-removes-nothing", "/engine/max_num_seq", None)
    ]
    assert findings[0].hint == "did you mean `max_num_seqs`?"


def test_text_without_a_file(tmp_path: Path) -> None:
    document, findings = source.parse("kind: Deployment\n", file="<input>", folder=tmp_path)
    assert findings == () and document is not None
    assert (document.file, document.folder, document.data) == ("<input>", tmp_path, {"kind": "Deployment"})


def test_memory_does_not_grow_with_the_number_of_files(project: Path) -> None:
    path = write(project, "s.yaml", "a: {b: [1, 2, 3]}\n" + "".join(f"k{index}: text\n" for index in range(100)))
    source.load(path)
    tracemalloc.start()
    for _ in range(20):
        source.load(path)
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(100):
        source.load(path)
    second = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert second - first < 100_000


def test_a_base_is_read_once_for_many_specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed base is read anew, and what one spec lays over it stays out of the next."""
    (tmp_path / "planner.yaml").write_text("apiVersion: planner/v1\nkind: Project\n", "utf-8")
    read: list[str] = []
    real = reader.read
    loading._base_read.cache_clear()
    monkeypatch.setattr(reader, "read", lambda text, name: read.append(name) or real(text, name))
    base = tmp_path / "base.yaml"
    base.write_text("kind: Base\na: {x: 1}\n", "utf-8")
    for index in range(3):
        path = tmp_path / f"{index}.yaml"
        path.write_text(f"extends: base.yaml\na: {{y: {index}}}\n", "utf-8")
        document, findings = source.load(path, display=path.name)
        assert document is not None, findings
        assert document.data["a"] == {"x": 1, "y": index}
    assert read == ["0.yaml", "base.yaml", "1.yaml", "2.yaml"]
    base.write_text("kind: Base\na: {x: 2}\n", "utf-8")
    document, _ = source.load(tmp_path / "0.yaml", display="0.yaml")
    assert document is not None and document.data["a"]["x"] == 2
