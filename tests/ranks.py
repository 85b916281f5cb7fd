"""A rank of the tests: `torchrun ranks.py FOLDER`, with what to do in FOLDER/jobs.json.

Each job is a case of runs.py with options; the digests of its results, or its error, go to
FOLDER/found-RANK.json. A job with "kill": [rank, gives] ends that rank by SIGKILL after it has
given so many units, in the first attempt only; "fail" names a rank that raises an error.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from internals import LocalQueue, RemoteQueue
from runs import CASES, PAIRS, digest
from tuning import tuned

import torchcent

RANK = int(os.environ.get("RANK", "0"))


def main(folder: Path) -> None:
    found: list[Any] = []
    for job in json.loads((folder / "jobs.json").read_text()):
        with pytest.MonkeyPatch.context() as patch:
            found.append(_done(job, patch))
        (folder / f"found-{RANK}.json").write_text(json.dumps(found))
    if dist.is_initialized():
        dist.destroy_process_group()


def _done(job: dict[str, Any], patch: pytest.MonkeyPatch) -> dict[str, Any]:
    case = (CASES | PAIRS)[job["case"]]
    tuned(patch)(**case.sizes)
    gives = _watch_gives(patch, job.get("kill"))
    if job.get("fail") == RANK:
        for queue in (LocalQueue, RemoteQueue):
            patch.setattr(queue, "take", _fails)
    graph = (
        case.graph()
        if RANK not in job.get("other graph", [])
        else torchcent.Graph.from_edge_index(torchcent.generate.ba(500, 2, seed=9), directed=False)
    )
    case = case._replace(graph=lambda: graph)
    try:
        results = case(**job["options"])
    except (RuntimeError, ValueError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"digest": [digest(each) for each in results], "gives": len(gives)}


def _fails(*_: Any) -> int:
    raise RuntimeError("on purpose")


def _watch_gives(patch: pytest.MonkeyPatch, kill: list[int] | None) -> list[int]:
    gives: list[int] = []
    first = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"
    for queue in (LocalQueue, RemoteQueue):
        real = queue.give

        def give(self: Any, result: Any, real: Any = real) -> None:
            if isinstance(self, LocalQueue) and RANK == 0 and _of_other(self):
                return real(self, result)
            if kill and first and kill[0] == RANK and len(gives) == kill[1]:
                os.kill(os.getpid(), signal.SIGKILL)
            gives.append(result.unit)
            return real(self, result)

        patch.setattr(queue, "give", give)
    return gives


def _of_other(queue: Any) -> bool:
    """Whether the thread that answers other ranks gives their unit."""
    return threading.current_thread().name.startswith("torchcent units")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
