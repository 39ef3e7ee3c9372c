"""Data goes through the house once, in one direction: who may import whom, as a table.

A row names a part of the planner (a folder or a module right below `planner/`) and all that it may import. Imports for
types alone (`if TYPE_CHECKING`) do not count. docs/decisions/0004-import-direction.md says why the table is as it is.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PLANNER = Path(__file__).parents[2] / "planner"

# Parts that stand on nothing but each other; everyone may import them.
GROUND = {"discovery", "findings", "format", "quoting", "resources", "dimensions"}

MAY_IMPORT: dict[str, set[str]] = {
    # text -> Document
    "source": set(),
    # Document -> findings
    "contract": {"source", "units", "domain", "levers", "engines", "schema_composer"},
    "schema_composer": {"levers", "engines", "schema_partial"},
    "schema_partial": set(),
    # quantities -> SI floats
    "units": {"unit_factors", "unit_messages"},
    "unit_factors": set(),
    "unit_messages": set(),
    # the vocabulary and the arithmetic
    "physics": set(),
    "domain": {"physics"},
    "traffic": {"domain", "physics"},
    # one module an item
    "architectures": {"domain"},
    "catalogue": {"source"},
    "engines": {"domain", "physics"},
    "levers": {"domain", "physics", "engines", "units"},
    "checks": {"domain", "evaluation", "levers", "engines", "calibration"},
    # Document + catalogue -> Plan
    "bind": {
        "source",
        "contract",
        "units",
        "domain",
        "catalogue",
        "architectures",
        "engines",
        "levers",
        "measurements",
    },
    # Plan -> PlanResult
    "evaluation": {"domain", "physics", "engines", "levers", "traffic"},
    # backwards, and across a space: by evaluation, never by physics of their own
    "solve": {"domain", "evaluation", "levers", "engines", "pipeline"},
    "search": {"domain", "evaluation", "levers", "engines", "pipeline"},
    # Plan, Measurements -> Calibration
    "calibration": {"domain", "evaluation", "physics", "catalogue"},
    "calibrating": {"source", "contract", "bind", "project", "domain", "measurements", "calibration"},
    # files of benchmarks -> Measurements
    "measurements": {"source", "contract", "units", "domain"},
    # Plan, PlanResult -> what the report says beyond the figures
    "analysis": {"domain", "evaluation", "engines", "report", "calibration", "traffic"},
    # findings -> verdict
    "finding_ids": {"checks", "reading_explanations", "spec_explanations"},
    "project": {"source", "contract", "finding_ids"},
    "waivers": {"source", "finding_ids"},
    "pipeline": {"source", "contract", "bind", "domain", "evaluation", "checks", "project", "waivers"},
    # all of it -> text
    "report": {"source", "domain"},
    "reporting": {"pipeline", "analysis", "report"},
    "output": {"pipeline", "domain"},
    "simulate": {"source", "domain", "engines", "evaluation", "traffic", "pipeline", "output"},
    "explanations": {
        "domain",
        "pipeline",
        "analysis",
        "finding_ids",
        "levers",
        "engines",
        "reading_explanations",
        "spec_explanations",
    },
    "schema_reference": {"schema_composer", "schema_text"},
    "schema_text": set(),
    "reading_explanations": set(),
    "spec_explanations": set(),
    # the doors
    "api": {"source", "pipeline", "output", "reporting"},
    "__main__": {"cli"},
}
DOORS = {"cli"}  # may import everything

# Packages from elsewhere, and the only parts (or modules) that import them.
OUTSIDE: dict[str, set[str]] = {
    "click": {"cli"},
    "jinja2": {"report"},
    "markupsafe": {"report"},
    "jsonschema": {"contract"},
    "referencing": {"contract"},
    "numpy": {"physics.elementwise"},
    "pint": {"units"},
    "yaml": {"source", "catalogue", "engines._catalogue", "evaluation.efficiencies", "evaluation.power_figures"},
    "huggingface_hub": {"cli"},
    "distributed": {"cli.cluster"},
}

# A spec is untrusted text: what judges it reaches no network and starts no program.
FORBIDDEN = {
    "socket",
    "ssl",
    "urllib",
    "http",
    "ftplib",
    "smtplib",
    "subprocess",
    "multiprocessing",
    "pickle",
    "ctypes",
}
CLOCK = {
    "date.today",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "time.time",
    "time.time_ns",
    "time.localtime",
}
SURROUNDINGS = {"os.environ", "os.getenv", "os.getcwd", "Path.cwd", "Path.home", "sys.argv", "sys.exit", "sys.stdout"}


def part_of(module: str) -> str:
    """The part that a dotted name belongs to: "bind" of `planner.bind.model`, "" of `planner`."""
    return module.split(".")[1] if "." in module else ""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the planner with its syntax tree, without what is for types alone."""
    found: dict[str, ast.Module] = {}
    for file in sorted(PLANNER.rglob("*.py")):
        parts = file.relative_to(PLANNER.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = WithoutTypes().visit(ast.parse(file.read_text("utf-8")))
    return found


class WithoutTypes(ast.NodeTransformer):
    """Drops `if TYPE_CHECKING:` blocks."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return None
        return self.generic_visit(node)


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            whole = node.module == "planner"
            yield from (f"planner.{alias.name}" for alias in node.names) if whole else (node.module,)


def edges() -> Iterator[tuple[str, str]]:
    """(module, part that it imports) of every import across parts."""
    for module, tree in modules().items():
        for name in imports(tree):
            own, other = part_of(module), part_of(name)
            if name.startswith("planner.") and other not in (own, "__version__", "api") and own != "":
                yield module, other


def test_every_part_imports_only_what_the_table_allows() -> None:
    wrong = {
        f"{module} imports {other}"
        for module, other in edges()
        if part_of(module) not in DOORS and other not in GROUND | MAY_IMPORT.get(part_of(module), set())
    }
    assert not wrong


def test_nobody_imports_the_doors() -> None:
    """The command line and the API stand on everything; nothing stands on them."""
    importers = {
        module
        for module, tree in modules().items()
        for name in imports(tree)
        if part_of(name) in ("cli", "api") and part_of(module) not in ("cli", "__main__", "api")
    }
    assert not importers


def test_the_table_has_a_row_for_every_part() -> None:
    parts = {part_of(module) for module in modules()} - {""}
    assert not parts - MAY_IMPORT.keys() - GROUND - DOORS


def test_the_table_goes_in_one_direction() -> None:
    """No cycle: a part never reaches itself through others. static_order raises CycleError at one."""
    graph = {part: others | GROUND for part, others in MAY_IMPORT.items() if part != "__main__"}
    assert set(TopologicalSorter(graph).static_order()) >= graph.keys()


def test_the_ground_stands_on_itself() -> None:
    assert not {
        f"{module} imports {other}" for module, other in edges() if part_of(module) in GROUND and other not in GROUND
    }


@pytest.mark.parametrize("package", OUTSIDE)
def test_a_package_is_imported_only_where_the_table_says(package: str) -> None:
    for module, tree in modules().items():
        if any(name.split(".")[0] == package for name in imports(tree)):
            inside = module.removeprefix("planner.")
            assert any(inside == allowed or inside.startswith(f"{allowed}.") for allowed in OUTSIDE[package]), module


def test_no_other_package_is_imported() -> None:
    known = {"planner", *OUTSIDE, *sys.stdlib_module_names}
    assert not {
        f"{module}: {name}"
        for module, tree in modules().items()
        for name in imports(tree)
        if name.split(".")[0] not in known
    }


def test_nothing_but_the_doors_reaches_out() -> None:
    for module, tree in modules().items():
        if part_of(module) not in DOORS:
            assert not {name for name in imports(tree) if name.split(".")[0] in FORBIDDEN}, module


def attributes(tree: ast.AST) -> set[str]:
    """`owner.name` of every attribute of a plain name."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {f"{node.value.id}.{node.attr}" for node in nodes if isinstance(node.value, ast.Name)}


def called(tree: ast.AST) -> set[str]:
    """Plain names that are called or raised."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {node.func.id for node in nodes if isinstance(node.func, ast.Name)}


def test_only_the_command_line_prints_exits_and_reads_its_surroundings() -> None:
    for module, tree in modules().items():
        if part_of(module) not in DOORS:
            assert not called(tree) & {"print", "input", "breakpoint", "exit", "quit", "SystemExit"}, module
            assert not attributes(tree) & SURROUNDINGS, module


def test_only_the_doors_read_the_clock() -> None:
    """The API's default date is the clock's, as the command line's is; every stage takes the date as an argument."""
    readers = {module for module, tree in modules().items() if attributes(tree) & CLOCK}
    assert {part_of(module) for module in readers} <= DOORS | {"api"}


def test_nothing_runs_text_as_code() -> None:
    for module, tree in modules().items():
        assert not called(tree) & {"eval", "exec", "compile", "__import__"}, module


def test_physics_knows_no_one() -> None:
    """Pure arithmetic: the standard library's mathematics, and numpy where an argument is an array."""
    allowed = {
        "bisect",
        "__future__",
        "collections",
        "dataclasses",
        "functools",
        "itertools",
        "math",
        "numbers",
        "operator",
        "typing",
    }
    for module, tree in modules().items():
        if part_of(module) == "physics":
            own = {name.split(".")[0] for name in imports(tree) if not name.startswith("planner.physics")}
            extra = {"numpy", "sys"} if module == "planner.physics.elementwise" else set()
            assert own <= allowed | extra, module
