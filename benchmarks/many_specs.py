"""A thousand varied specs checked in one call: seconds, and the peak of resident memory. Goals: 10 s and 300 MB.

The specs are generated into a temporary folder: models, accelerators, engines, loads and levers of the catalogue in
turn, so that no two are alike; some do not fit, and one in fifty is invalid.

    python benchmarks/many_specs.py [--count 1000] [--format json] [--profile FILE]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODELS = (
    ("meta-llama/Llama-3.1-8B-Instruct", 1),
    ("meta-llama/Llama-3.1-70B-Instruct", 4),
    ("mistralai/Mixtral-8x7B-Instruct-v0.1", 4),
    ("deepseek-ai/DeepSeek-V3", 8),
)
ACCELERATORS = ("h100-sxm", "h200-sxm", "a100-sxm-80", "l40s", "mi300x", "b200-sxm")
ENGINES = ("{name: ideal", '{name: vllm, version: "0.11"', '{name: sglang, version: "0.5"')
LEVERS = (
    "[]",
    "[{use: quantize-kv-cache, format: fp8, status: consider}]",
    "[{use: quantize-weights, format: fp8, status: consider}, {use: prefix-caching}]",
    "[{use: change, name: shorter, set: {engine: {max_model_len: 4096}}, status: consider}]",
)
SPEC = """\
apiVersion: planner/v1
kind: Deployment
metadata: {{name: spec-{index}, description: "Number {index} of many."}}
model:
  ref: {model}
hardware:
  accelerator: {accelerator}
  count: {count}
  replicas: {replicas}
  price: {price} USD/hour
engine: {engine}, tensor_parallel_size: {count}, max_model_len: 8192, max_num_seqs: 128}}
workload:
  load: {{concurrency: {concurrency}}}
  classes:
    - name: chat
      prompt_tokens: {{p50: {prompt}, p95: {long}, max: 6000}}
      output_tokens: {{p50: 250, p95: 800, max: 1500}}
objectives:
  time_to_first_token: {{p95: 2 s}}
  inter_token_latency: {{mean: {limit} ms}}
  cost_per_million_output_tokens: {{max: 5 USD}}
  memory_headroom: {{min: 10 %}}
levers: {levers}
"""


def spec_text(index: int) -> str:
    model, count = MODELS[index % len(MODELS)]
    text = SPEC.format(
        index=index,
        model=model,
        count=count,
        accelerator=ACCELERATORS[index // 4 % len(ACCELERATORS)],
        engine=ENGINES[index // 24 % len(ENGINES)],
        levers=LEVERS[index // 72 % len(LEVERS)],
        replicas=1 + index % 3,
        price=f"{1 + index % 37 / 10:.2f}",
        concurrency=8 + index % 97,
        prompt=500 + index,
        long=2500 + index,
        limit=20 + index % 41,
    )
    return text.replace("USD/hour", "USD", 1) if index % 50 == 49 else text


def peak_bytes() -> int:
    """Peak resident memory of the largest child so far (Linux counts it in KiB, macOS in bytes)."""
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def processor_s() -> float:
    """Processor seconds of the children so far: what a busy machine adds to the wall time is not in them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description="many specs in one call")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--format", default="text")
    parser.add_argument("--profile", type=Path, help="write cProfile's statistics to this file")
    given = parser.parse_args()
    profiling = ("-m", "cProfile", "-o", str(given.profile.resolve())) if given.profile else ()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "planner.yaml").write_text("apiVersion: planner/v1\nkind: Project\n", "utf-8")
        (folder / "specs").mkdir()
        for index in range(given.count):
            (folder / "specs" / f"{index:05}.yaml").write_text(spec_text(index), "utf-8")
        command = [sys.executable, *profiling, "-m", "planner", "check", "--format", given.format, "specs"]
        begin = time.perf_counter()
        found = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        took = time.perf_counter() - begin
    if found.returncode != 1:  # some do not hold, and that is meant
        raise SystemExit(f"exit status {found.returncode}: {found.stderr}")
    if given.format == "text":
        print(found.stdout.splitlines()[-1])
    wall = f"{took:.2f} s ({processor_s():.2f} s of processor), {took / given.count * 1e3:.2f} ms a spec"
    print(f"{wall}, peak {peak_bytes() / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
