"""The packages: built, installed away from the repository, and put to the main job there.

Dependencies are those of the running interpreter, reached by a path file, so that nothing is downloaded: what is
proved is that the package itself is whole.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SPEC = REPOSITORY / "specs" / "textbook-single.yaml"
BASE = REPOSITORY / "specs" / "textbook-base.yaml"


@dataclass(frozen=True)
class Installed:
    """An environment of its own with the planner in it."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.folder / "bin" / "planner"), *arguments], cwd=cwd, env=clean(), capture_output=True, text=True
        )

    def prints(self, code: str, cwd: Path) -> str:
        return subprocess.run(
            [str(self.python), "-c", code], cwd=cwd, env=clean(), capture_output=True, text=True, check=True
        ).stdout.strip()


def clean() -> dict[str, str]:
    """The surroundings without what points Python at other packages."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def environment(folder: Path) -> Installed:
    """Without pip, with the dependencies of this interpreter behind its own packages."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", "utf-8")
    return Installed(folder)


def pip_install(target: Installed, *arguments: str) -> None:
    """By this interpreter's pip, into the other environment, from what is on this machine."""
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "--python", str(target.python), "install", *offline, *arguments]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """{"sdist": file, "wheel": file}, the wheel built from the sdist, as an index would."""
    folder = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(REPOSITORY)]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    return {"sdist": next(folder.glob("*.tar.gz")), "wheel": next(folder.glob("*.whl"))}


@pytest.fixture(scope="module")
def wheel(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    installed = environment(tmp_path_factory.mktemp("wheel") / "venv")
    pip_install(installed, str(packages["wheel"]))
    return installed


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that knows nothing of the repository, with a spec of it."""
    folder = tmp_path / "elsewhere"
    (folder / "specs").mkdir(parents=True)
    (folder / "planner.yaml").write_text("apiVersion: planner/v1\nkind: Project\n", "utf-8")
    for source in (SPEC, BASE):
        (folder / "specs" / source.name).write_bytes(source.read_bytes())
    return folder


def test_the_wheel_holds_the_schemas_templates_and_catalogue(packages: dict[str, Path]) -> None:
    with zipfile.ZipFile(packages["wheel"]) as archive:
        names = set(archive.namelist())
    wanted = {
        "planner/_data": (REPOSITORY / "schema", "schema"),
        "planner/_data/templates": (REPOSITORY / "reports" / "templates", ""),
        "planner/catalogue": (REPOSITORY / "planner" / "catalogue", ""),
    }
    for prefix, (folder, inner) in wanted.items():
        for file in sorted(folder.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                assert "/".join(filter(None, (prefix, inner, file.relative_to(folder).as_posix()))) in names
    assert {"planner/py.typed", "planner/units.txt"} <= names


def test_the_wheel_holds_nothing_else(packages: dict[str, Path]) -> None:
    with zipfile.ZipFile(packages["wheel"]) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"planner", "inference_planner"}
    assert not [name for name in names if name.endswith(".pyc") or "/tests/" in name]


def test_the_sdist_holds_what_a_checkout_needs_to_be_tested(packages: dict[str, Path]) -> None:
    with tarfile.open(packages["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "pyproject.toml", "specs/textbook-single.yaml", "docs/api.md"} <= names
    assert {"schema/v1/deployment.schema.json", "tests/packaging/test_packages.py"} <= names
    assert not [name for name in names if name.split("/")[0] in {".venv", ".git", "dist", "build"}]


def test_the_wheel_uses_its_own_files(wheel: Installed, project: Path) -> None:
    code = "from planner import resources; print(resources.PACKAGE, *map(resources.folder, ('schema', 'templates')))"
    for path in wheel.prints(code, project).split():
        assert Path(path).is_relative_to(wheel.folder), path
    assert wheel.prints("from planner import resources; print(resources.folder('schema'))", project).endswith(
        "site-packages/planner/_data/schema"
    )


def test_the_wheel_checks_a_spec_elsewhere(wheel: Installed, project: Path) -> None:
    """The textbook's last row: 15.1 ms, 66 tokens a second."""
    found = wheel.run("check", "specs/textbook-single.yaml", cwd=project)
    assert (found.returncode, found.stderr) == (0, "")
    assert "specs/textbook-single.yaml: feasible" in found.stdout
    assert "ITL mean 15.1 ms" in found.stdout
    assert "66.3 tokens/s" in found.stdout


def test_the_wheel_writes_the_committed_report(wheel: Installed, project: Path) -> None:
    """To the byte what the repository's own tree writes."""
    found = wheel.run("report", "specs/textbook-single.yaml", cwd=project)
    assert found.returncode == 0, found.stderr
    here = subprocess.run(
        [sys.executable, "-m", "planner", "report", "--directory", str(project / "here"), "specs/textbook-single.yaml"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert here.returncode == 0, here.stderr
    for suffix in ("md", "html"):
        name = f"textbook-single.{suffix}"
        assert (project / "reports" / name).read_bytes() == (project / "here" / name).read_bytes()


def test_the_wheel_starts_a_project(wheel: Installed, project: Path) -> None:
    assert wheel.run("init", "mine", cwd=project).returncode == 0
    found = wheel.run("check", "specs/mine.yaml", cwd=project)
    assert found.returncode == 0, found.stdout
    assert wheel.run("schema", "--check", cwd=project).returncode == 0
    assert "h100-sxm" in wheel.run("catalog", "list", "accelerators", cwd=project).stdout


def test_an_editable_install_uses_the_repository(tmp_path: Path, project: Path) -> None:
    installed = environment(tmp_path / "venv")
    pip_install(installed, "--editable", str(REPOSITORY))
    code = "from planner import resources; print(*map(resources.folder, ('schema', 'templates')))"
    expected = [str(REPOSITORY / "schema"), str(REPOSITORY / "reports" / "templates")]
    assert installed.prints(code, project).split() == expected
    found = installed.run("check", "specs/textbook-single.yaml", cwd=project)
    assert (found.returncode, found.stderr) == (0, "")
    assert installed.run("report", "specs/textbook-single.yaml", cwd=project).returncode == 0
