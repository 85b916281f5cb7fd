"""The command line with --device cuda: the results of --device cpu."""

from pathlib import Path

import numpy as np
import pytest
import torch
from commands import run
from internals import COMPILED_FOR_CUDA

import torchcent
from torchcent import generate

if not (COMPILED_FOR_CUDA and torch.cuda.is_available()):
    pytest.skip("needs a CUDA device and torchcent._CUDA", allow_module_level=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    edges = generate.ba(400, 3, seed=2)
    once = edges[:, edges[0] < edges[1]]
    length = 1 + torch.arange(once.size(1)) % 5
    torchcent.write("g.gr", torchcent.EdgeList(once, length.double(), None, 400, False))
    Path("states.txt").write_text("".join(f"{v} {v % 7}\n" for v in range(1, 401)))


@pytest.mark.parametrize("weights", ["--no-weights", "--weights"])
@pytest.mark.parametrize(
    "command",
    [
        "betweenness", "edge-betweenness", "stress", "betweenness --sources 90",
        "percolation --states states.txt", "closeness", "harmonic --cutoff 3", "eccentricity",
    ],
)  # fmt: skip
def test_scores(capsys, folder, command, weights):
    name, *options = command.split()
    for device in ("cpu", "cuda"):
        arguments = [name, "g.gr", *options, weights, "--device", device, "-o", f"{device}.npy"]
        assert run(capsys, *arguments)[0] == 0
    found, expected = np.load("cuda.npy"), np.load("cpu.npy")
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    "command",
    ["diameter --average", "closure", "apsp -o d.npy --sources 9", "mcl", "mcl --sweep 1.4,2"],
)
def test_what_is_printed(capsys, folder, command):
    name, *options = command.split()
    arguments = [name, "g.gr", *options, "--quiet", "--device"]
    code, expected, _ = run(capsys, *arguments, "cpu")
    assert code == 0
    assert run(capsys, *arguments, "cuda")[:2] == (code, expected)


def test_files(capsys, folder):
    """What reads results beside the table: figures, clusters, closures, matrices."""
    pytest.importorskip("matplotlib")
    for device in ("cpu", "cuda"):
        for arguments in (
            f"mcl g.gr -o {device}.csv --plot {device}.png",
            f"closure g.gr -o {device}.npz",
            f"apsp g.gr -o {device}.npy",
            f"betweenness-approx g.gr --epsilon 0.05 -o {device}.json --plot {device}.svg",
        ):
            assert run(capsys, *arguments.split(), "--device", device)[0] == 0
    for name in ("csv", "npz", "npy"):
        assert Path(f"cuda.{name}").read_bytes() == Path(f"cpu.{name}").read_bytes()


def test_checkpoint(capsys, folder):
    command = ["betweenness", "g.gr", "--device", "cuda:0", "--checkpoint", "run"]
    code, out, _ = run(capsys, *command)
    assert code == 0
    assert run(capsys, "resume", "run")[:2] == (0, out)
    assert torch.cuda.get_device_name(0) in run(capsys, "info", "run")[1]
