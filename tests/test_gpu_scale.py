"""benchmarks/gpu_scale.py on three devices that are the CPU: it runs, and goes on where it was."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from internals import COMPILED

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
PART = "grid 1000x1000, 16,384 sources"


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
def test_a_part_is_measured_once(tmp_path):
    def run(*options):
        command = [sys.executable, str(BENCHMARKS / "gpu_scale.py"), "--device", "cpu", "--small"]
        done = subprocess.run(
            [*command, "--output", str(output), "--part", *options],
            capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout

    output = tmp_path / "scale.json"
    output.write_text(json.dumps({"tests": {"failed": 0}}))
    code, out = run(PART)
    assert code == 0, out
    result = json.loads(output.read_text())
    row = result["scale"][PART]
    assert result["tests"] == {"failed": 0} and "digests" not in result
    assert row["same_bits"] is True and sorted(row["seconds"]) == ["1", "2", "3"]
    assert row["efficiency"]["1"] == 1 and row["of"] == 3
    code, out = run(PART, "mcl", "--limit", "1")
    assert code == 1 and f"{PART}: is there" in out and "mcl: not in time" in out
    assert list(json.loads(output.read_text())["scale"]) == [PART]
