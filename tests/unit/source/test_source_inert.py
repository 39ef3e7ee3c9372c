"""Nothing that a spec or its name says is a command to the runner that prints it; appending where no list is."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import source
from planner.api import check_spec, render_findings
from planner.quoting import inert
from planner.report.markdown import escape

SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: names}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm}
engine: {name: vllm, max_model_len: 8192}
workload: {load: {concurrency: 1}, classes: [{name: "##[add-mask]all", prompt_tokens: 9000, output_tokens: 9}]}
"""


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("::add-mask::secret", "\\::add-mask::secret"),
        ("a ##[error]b", "a # #[error]b"),
        ("##vso[task.setvariable variable=x]y", "# #vso[task.setvariable variable=x]y"),
        ("specs/a.yaml:1:1: x::y", "specs/a.yaml:1:1: x::y"),
    ],
)
def test_a_line_is_no_command_to_a_runner(line: str, shown: str) -> None:
    assert inert(line) == shown


def test_a_file_named_like_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("::stop-commands::x.yaml").write_text(SPEC, encoding="utf-8")
    lines = render_findings([check_spec("::stop-commands::x.yaml")], "text").splitlines()
    assert any("requests of # #[add-mask]all may take" in line for line in lines)
    assert not [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


def test_a_paragraph_of_a_report_is_no_command() -> None:
    assert escape("::error::x") == "\\::error::x"


def test_an_item_is_appended_where_there_is_no_list() -> None:
    document, problems = source.parse(SPEC)
    assert document is not None, problems
    for item in ("{use: quantize-weights, format: fp8}", "{use: cuda-graphs}"):
        document, problems = source.set_value(document, f"/levers/-={item}")
        assert document is not None, problems
    assert [item["use"] for item in document.data["levers"]] == ["quantize-weights", "cuda-graphs"]
