"""Ranks on two hosts, which are network namespaces of this machine joined by a virtual cable.

Each host has its own torchrun, and they meet by TCP: no rank can reach another one but through it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from internals import COMPILED
from runs import CASES, digest
from tuning import tuned

HERE = Path(__file__).resolve().parent
HOSTS = {f"torchcent{os.getpid()}{letter}": f"10.99.7.{at}" for at, letter in ((1, "a"), (2, "b"))}
JOBS = ["lanes", "closeness from pivots"]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def has_namespaces() -> bool:
    name = f"torchcent{os.getpid()}"
    try:
        ip("netns", "add", name)
        ip("netns", "delete", name)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


pytestmark = [
    pytest.mark.skipif(not COMPILED, reason="needs the compiled library"),
    pytest.mark.skipif(not torch.distributed.is_available(), reason="needs torch.distributed"),
    pytest.mark.skipif(
        not shutil.which("ip") or not has_namespaces(),
        reason="needs network namespaces: the command ip, as root",
    ),
]


@pytest.fixture
def hosts() -> Iterator[dict[str, str]]:
    """The addresses of the hosts by their names."""
    try:
        for name in HOSTS:
            ip("netns", "add", name)
        one, two = HOSTS
        ip("link", "add", "cable", "netns", one, "type", "veth", "peer", "cable", "netns", two)
        for name, address in HOSTS.items():
            ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            for device in ("lo", "cable"):
                ip("-n", name, "link", "set", device, "up")
        yield HOSTS
    finally:
        for name in HOSTS:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


@pytest.mark.slow
def test_bits_of_ranks_on_two_hosts(hosts: dict[str, str], tmp_path: Path) -> None:
    jobs = [{"case": name, "options": {"group": "world"}} for name in JOBS]
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {
        **os.environ, "PYTHONPATH": os.pathsep.join(paths), "GLOO_SOCKET_IFNAME": "cable",
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    first = next(iter(hosts.values()))
    processes = [
        subprocess.Popen(
            [
                "ip", "netns", "exec", name, sys.executable, "-m", "torch.distributed.run",
                "--nnodes", "2", "--nproc-per-node", "2", "--rdzv-backend", "c10d",
                "--rdzv-endpoint", f"{first}:29555", "--rdzv-id", "two-hosts",
                "--rdzv-conf", f"is_host={address == first}", "--local-addr", address,
                str(HERE / "ranks.py"), str(tmp_path),
            ],
            env=variables, stderr=subprocess.PIPE, text=True,
        )
        for name, address in hosts.items()
    ]  # fmt: skip
    try:
        errors = [process.communicate(timeout=240)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert all(process.returncode == 0 for process in processes), errors
    findings = [json.loads((tmp_path / f"found-{rank}.json").read_text()) for rank in range(4)]
    for at, name in enumerate(JOBS):
        with pytest.MonkeyPatch.context() as patch:
            tuned(patch)(**CASES[name].sizes)
            expected = [digest(each) for each in CASES[name]()]
        assert [each[at]["digest"] for each in findings] == [expected] * 4
