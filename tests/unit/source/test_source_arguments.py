"""Files and folders of a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import source

OURS = "apiVersion: planner/v1\nkind: Deployment\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "specs/b.yaml": OURS,
        "specs/a.yaml": "# comment\n\n" + OURS,
        "specs/quoted.yaml": '"apiVersion": "planner/v1"\n',
        "specs/json.yaml": '{"kind": "Deployment", "apiVersion": "planner/v1"}\n',
        "specs/newer.yaml": "apiVersion: planner/v2\n",
        "specs/broken.yaml": OURS + "a: [\n",
        "specs/kubernetes.yaml": "apiVersion: apps/v1\nkind: Deployment\n",
        "specs/mention.yaml": "note: see apiVersion planner/v1\n",
        "specs/notes.md": OURS,
        "specs/.hidden/x.yaml": OURS,
        "specs/.x.yaml": OURS,
        "specs/team/c.yaml": OURS,
        "empty/x.txt": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "specs" / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*paths: str) -> list[str]:
    files, findings = source.expand([Path(path) for path in paths])
    assert findings == ()
    return [file.as_posix() for file in files]


# "binary" cannot be read, so that it is reported
FOUND = [f"specs/{name}.yaml" for name in ("a", "b", "binary", "broken", "json", "newer", "quoted")]


def test_a_folder_stands_for_its_specs_sorted() -> None:
    assert names("specs") == [*FOUND, "specs/team/c.yaml"]
    assert names("specs/") == names("specs")
    assert names(".") == names("specs")


def test_files_are_taken_as_named_and_once() -> None:
    assert names("specs/kubernetes.yaml", "specs/b.yaml", "specs/b.yaml") == ["specs/kubernetes.yaml", "specs/b.yaml"]
    assert names("specs/b.yaml", "specs/team", "specs/team/c.yaml") == ["specs/b.yaml", "specs/team/c.yaml"]


def test_links_to_folders_are_not_followed(folder: Path) -> None:
    (folder / "specs" / "loop").symlink_to("..")
    assert names("specs") == [*FOUND, "specs/team/c.yaml"]


def test_what_names_nothing_could_not_be_judged() -> None:
    files, findings = source.expand([Path("none.yaml"), Path("empty"), Path("specs/team")])
    assert [file.as_posix() for file in files] == ["specs/team/c.yaml"]
    assert [(finding.id, str(finding.location)) for finding in findings] == [
        ("file-not-found", "none.yaml:1:1"),
        ("file-none-matched", "empty:1:1"),
    ]
    assert {finding.id for finding in findings} <= source.COULD_NOT_JUDGE


def test_broken_links_are_reported_when_read(folder: Path) -> None:
    (folder / "specs" / "team" / "gone.yaml").symlink_to("nowhere.yaml")
    files, _ = source.expand([Path("specs/team")])
    assert [file.as_posix() for file in files] == ["specs/team/c.yaml", "specs/team/gone.yaml"]
    assert source.load(files[1])[1][0].id == "file-not-found"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("bom.yaml", ("\ufeff" + OURS).encode()),
        ("wide.yaml", OURS.encode("utf-16")),
        ("wide-without-mark.yaml", OURS.encode("utf-16-le")),
        ("latin.yaml", OURS.encode() + b"# caf\xe9"),
        ("small.yaml", b"apiversion: planner/v1\nkind: Deployment\n"),
        ("snake.yaml", b"api_version: planner/v1\n"),
        ("unversioned.yaml", b"kind: Deployment\nmetadata: {name: a}\n"),
        ("sections.yaml", b"# a plan\nmodel: {}\nhardware: {}\n"),
        ("unversioned-flow.yaml", b"{metadata: {name: a}, engine: {name: vllm}}\n"),
        ("loud.YAML", OURS.encode()),
        ("short.yml", OURS.encode()),
        ("loud.YML", OURS.encode()),
    ],
)
def test_what_looks_like_a_spec_is_never_passed_over(folder: Path, name: str, data: bytes) -> None:
    (folder / "look").mkdir()
    (folder / "look" / name).write_bytes(data)
    assert names("look") == [f"look/{name}"]


def test_what_is_passed_over_is_counted(folder: Path) -> None:
    (folder / "specs" / "compose.yml").write_text("services:\n  chat: {image: x, model: y}\n")
    skipped: list[Path] = []
    source.expand([Path("specs")], skipped)
    assert [file.name for file in skipped] == ["compose.yml", "kubernetes.yaml", "mention.yaml"]
