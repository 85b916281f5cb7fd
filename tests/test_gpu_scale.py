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


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="needs the compiled library")
def test_a_trial_of_the_billion_edges(tmp_path):
    output = tmp_path / "billion.json"
    command = [sys.executable, str(BENCHMARKS / "billion.py"), "--device", "cpu", "--small"]
    command += ["--output", str(output), "--graphs", "orkut", "--measures"]
    for measures in (["betweenness", "closeness"], ["closeness"]):
        done = subprocess.run(
            [*command, *measures], capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 0, done.stderr
        rows = json.loads(output.read_text())["rows"]
        assert [row["measure"] for row in rows] == ["betweenness", "closeness"]
        for row in rows:  # whole runs
            assert 0 < row["sources"] == row["of"] <= row["nodes"] == 3000
            assert row["whole"] == row["clock"] > row["seconds"] > 0 and row["spread"] is None
            assert row["slots"] > 50_000 and 200 < row["largest"] < 400
