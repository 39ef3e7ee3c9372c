"""A sweep on a Dask cluster of two workers that the test starts: the same bytes, and nothing is lost with a worker."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs the extra `distributed`")

ROOT = Path(__file__).parents[3]
SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {name: swept}
model: {ref: meta-llama/Llama-3.1-8B-Instruct}
hardware: {accelerator: h100-sxm, count: 1}
engine: {name: vllm, version: "0.11.0", max_model_len: 16384}
workload:
  load: {rate: 4 request/s}
  classes: [{name: all, prompt_tokens: {p50: 1000, p95: 3000, max: 8000}, output_tokens: {p50: 130, max: 1500}}]
objectives: {time_to_first_token: {p95: 600 ms}}
"""
CALL = (
    "simulate",
    "specs/swept.yaml",
    "--rates",
    "2,4,8,12",
    "--seeds",
    "0..5",
    "--requests",
    "1500",
    "--format",
    "json",
)
# A scheduler and two workers, in processes of their own. Tells its address and the workers' process ids, and goes when
# its standard input is closed.
CLUSTER = """
import json, sys
from distributed import LocalCluster, Client

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            client.wait_for_workers(2, timeout=120)
            import os
            pids = sorted(client.run(os.getpid).values())
        print(json.dumps([cluster.scheduler_address, pids]), flush=True)
        sys.stdin.read()
"""


@dataclass(frozen=True)
class Cluster:
    address: str
    workers: tuple[int, ...]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PLANNER_TODAY": "2026-06-01"}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env=environment(),
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        address, workers = json.loads(process.stdout.readline())
        yield Cluster(address, tuple(workers))
    finally:
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@pytest.fixture
def swept(project: Path) -> Path:
    (project / "specs" / "swept.yaml").write_text(SPEC, "utf-8")
    return project


def call(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "planner", *CALL, *more]
    return subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_cluster_gives_the_same_bytes_though_a_worker_dies(swept: Path, cluster: Cluster) -> None:
    here = call(swept, "--results", "here.json").communicate()[0]
    there = call(swept, "--results", "there.json", "--scheduler", cluster.address)
    # As soon as a first run is kept, a worker is killed in the middle of another.
    deadline = time.monotonic() + 120
    while not (swept / "there.json").exists() and there.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.kill(cluster.workers[0], signal.SIGKILL)
    out, said = there.communicate(timeout=300)
    assert there.returncode == 0, said
    assert out == here and len(json.loads(out)["rows"]) == 24
    assert (swept / "there.json").read_bytes() == (swept / "here.json").read_bytes()


def test_no_scheduler_there_is_status_two_and_says_so(swept: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", CANNOT_WAIT, "simulate", "specs/swept.yaml", "--seeds", "1", "--scheduler", "tcp://127.0.0.1:9"],
        cwd=swept, env=environment(), capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (2, "")
    assert "cannot reach the scheduler `tcp://127.0.0.1:9`" in found.stderr and "Traceback" not in found.stderr


# Waits one second for a scheduler.
CANNOT_WAIT = "import sys; from planner.cli import cluster, main; cluster.PATIENCE_S = 1; main()"
