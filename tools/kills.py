"""Interrupts and kills the command line at random moments, and looks at what is left.

    python tools/kills.py --interrupts 1000 --kills 1000 --seed 1

After each run every output must be whole (equal in bytes to that of an undisturbed run) or as it
was before: absent, or the older file. After Ctrl-C, in half of the runs twice, the exit status is
130, nothing looks like a traceback and no temporary file is left. After SIGKILL a temporary file
may be left, under a name that tells it: `.NAME.xxxxxxxx.tmp`.

Importing PyTorch takes longer than a run. So most runs are forks of a process that has imported
everything and has not used a thread. All but one in ten of them end without freeing what was
imported. Every `--fresh`th is a process of its own, for moments within the import. A moment is
aimed at a phase. Starting, reading, building, searching, writing, renaming and leaving have an even
share of the runs each. Renaming is given a millisecond before and after, or it would never be hit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from forks import PHASES, phases_at

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = {
    "betweenness": "betweenness rmat.npz -o out.csv --quiet",
    "edges": "edge-betweenness rmat.npz -o out.npz --quiet",
    "weights": "betweenness weights.gr --weights --sources 200 -o out.parquet --quiet",
    "approx": "betweenness-approx rmat.npz --epsilon 0.02 -o out.json --quiet",
    "closeness": "closeness grid.txt.gz -o out.csv.gz --quiet",
    "harmonic": "harmonic grid.txt.gz -o out.npy --quiet",
    "apsp": "apsp grid.txt.gz -o out.npy --quiet",
    "closure": "closure rmat.npz --directed -o out.npz --quiet",
    "mcl": "mcl weights.gr -o out.txt --quiet",
    "sweep": "mcl weights.gr --sweep 1.4,2 -o out.csv --quiet",
    "plot": "closeness grid.txt.gz -o out.tsv.xz --plot out.png --quiet",
    "parquet": "convert rmat.npz out.parquet",
    "packed": "convert rmat.npz out.mtx.gz",
    "text": "convert weights.gr out.txt.bz2",
    "stream": "stream grid.txt.gz changes.txt --every 40 --no-strict -o out.csv --quiet",
    "generate": "generate ba --n 3000 --m 4 --seed 1 -o out.npz",
}
ENDS = 10  # one forked run in so many ends as an interpreter does
TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{8}\.tmp")
STATES = {False: "as before", True: "whole"}
OLD = b"as it was before\n"
PATIENCE = 60.0  # seconds within which a process ends


@dataclass
class Run:
    """One run of a command: what it is told to do, and what came of it."""

    name: str
    folder: Path
    phase: str = ""  # in which the signal was sent
    status: int = 0
    seconds: float = 0
    entered: dict[str, float] = field(default_factory=dict)  # seconds after the start

    @property
    def errors(self) -> str:
        path = Path(f"{self.folder}.stderr")  # not there if it was killed before that
        return path.read_text(errors="replace") if path.exists() else ""


class Launcher:
    """Starts runs, forked or fresh, and watches them."""

    def __init__(self, graphs: Path, work: Path):
        self.graphs, self.work = graphs, work
        self.phases = work / "phases"
        self.phases.write_bytes(b"\0")
        self.shared = phases_at(str(self.phases))
        self.count = 0
        self.server = subprocess.Popen(
            [sys.executable, str(ROOT / "tools" / "forks.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            bufsize=0,
        )
        assert self._answer() == "ready"

    def close(self) -> None:
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait()

    def _answer(self) -> str:
        assert self.server.stdout is not None
        return self.server.stdout.readline().decode().strip()

    def folder(self, older: dict[str, bytes]) -> Path:
        """A folder with the graphs, and with what stands there from before."""
        self.count += 1
        folder = self.work / f"run{self.count}"
        folder.mkdir()
        for path in self.graphs.iterdir():
            os.link(path, folder / path.name)
        for name, content in older.items():
            (folder / name).write_bytes(content)
        return folder

    def run(
        self, name: str, older: dict[str, bytes], disturb: Callable[[int, Run], None], fresh: bool
    ) -> Run:
        """Runs a command; `disturb` gets its process and may send signals as long as it runs."""
        run = Run(name, self.folder(older))
        arguments = COMMANDS[name].split()
        self.shared[0] = PHASES.index("importing")
        started = time.monotonic()
        if fresh:
            self._run_fresh(run, arguments, disturb)
        else:
            asked = {
                "arguments": arguments,
                "folder": str(run.folder),
                "phases": str(self.phases),
                "ends": self.count % ENDS == 0,
            }
            assert self.server.stdin is not None
            self.server.stdin.write(json.dumps(asked).encode())
            disturb(int(self._answer()), run)
            run.status = os.waitstatus_to_exitcode(int(self._answer()))
        run.seconds = time.monotonic() - started
        return run

    def _run_fresh(
        self, run: Run, arguments: list[str], disturb: Callable[[int, Run], None]
    ) -> None:
        text = "import os, sys; os.write(1, b'*'); from _torchcent_command import main; "
        text += f"sys.argv = {['torchcent', *arguments]!r}; sys.exit(main())"
        with (
            open(f"{run.folder}.stderr", "wb") as errors,
            subprocess.Popen(
                [sys.executable, "-c", text],
                cwd=run.folder,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment(),
                preexec_fn=_listen,
            ) as process,
        ):
            assert process.stdout is not None
            process.stdout.read(1)  # the interpreter's own start is not ours
            disturb(process.pid, run)
            process.stdout.read()
        run.status = process.returncode


def _listen() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in a shell's background jobs


def environment() -> dict[str, str]:
    # One thread of OpenBLAS, which would start its others when NumPy is imported.
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}


def running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def watch(launcher: Launcher) -> Callable[[int, Run], None]:
    """Notes when an undisturbed run enters its phases."""

    def disturb(process: int, run: Run) -> None:
        started, last = time.monotonic(), -1
        while running(process):
            if (now := launcher.shared[0]) != last:
                last = now
                run.entered.setdefault(PHASES[now], time.monotonic() - started)
            time.sleep(0.0002)
        run.entered["end"] = time.monotonic() - started

    return disturb


def at_random(
    launcher: Launcher, chance: random.Random, usual: Run, phase: str, number: int, again: bool
) -> Callable[[int, Run], None]:
    """Sends a signal at a random moment of a phase, and another one up to 30 ms later."""
    later = [t for t in usual.entered.values() if t > usual.entered[phase]]
    wait = chance.random() * (min(later) - usual.entered[phase])
    pause = chance.random() * 0.03

    def disturb(process: int, run: Run) -> None:
        while launcher.shared[0] < PHASES.index(phase) and running(process):
            time.sleep(0.0005)
        time.sleep(wait)
        run.phase = PHASES[launcher.shared[0]] if running(process) else "ended"
        for second in (False, again):
            if second:
                time.sleep(pause)
            if (not second or again) and running(process):
                os.kill(process, number)
            if not again:
                break
        limit = time.monotonic() + PATIENCE
        while running(process):
            if time.monotonic() > limit:
                os.kill(process, signal.SIGKILL)
                run.phase += ", hangs"
                return
            time.sleep(0.002)

    return disturb


def outputs(folder: Path, graphs: Path) -> dict[str, bytes]:
    known = {path.name for path in graphs.iterdir()}
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name not in known}


def faults(run: Run, number: int, left: dict[str, bytes], whole: dict[str, bytes],
           older: dict[str, bytes]) -> list[str]:  # fmt: skip
    """What is wrong with the end of a run."""
    found = []
    if "hangs" in run.phase:
        found.append(f"did not end within {PATIENCE:g} s")
    for name, content in left.items():
        part = TEMPORARY.fullmatch(name)
        if part is not None and part[1] in whole:
            if number == signal.SIGINT or run.status == 0:
                found.append(f"{name} is left")
        elif name not in whole:
            found.append(f"{name} is nobody's")
        elif content not in (whole[name], older.get(name)):
            found.append(f"{name} is neither whole nor as before ({len(content)} bytes)")
    if missing := [name for name in older if name not in left]:
        found.append(f"the older {missing} is gone")
    if run.status == 0:
        found += [f"status 0 without {n}" for n in whole if left.get(n) != whole[n]]
    elif run.status != {signal.SIGINT: 130, signal.SIGKILL: -9}[signal.Signals(number)]:
        found.append(f"status {run.status}")
    errors = run.errors
    if "Traceback" in errors or "Exception ignored" in errors or "Error" in errors:
        found.append("a traceback")
    return found


def make_graphs(folder: Path) -> None:
    import torch

    from torchcent import EdgeList, generate, write

    def once(index: torch.Tensor) -> torch.Tensor:
        return index[:, index[0] < index[1]]

    folder.mkdir()
    rmat, grid = once(generate.rmat(9, 8, seed=1)), once(generate.grid(20, 20))
    road = once(generate.delaunay(500, seed=2))
    length = torch.randint(1, 20, (road.size(1),), generator=torch.Generator().manual_seed(3))
    write(folder / "rmat.npz", EdgeList(rmat, None, None, 1 << 9, False))
    write(folder / "grid.txt.gz", EdgeList(grid, None, None, 400, False))
    vertices = random.Random(4).choices(range(400), k=400)
    lines = (f"{'+-'[u % 2]} {u} {v}\n" for u, v in zip(vertices, vertices[1:], strict=False))
    (folder / "changes.txt").write_text("".join(lines))
    write(folder / "weights.gr", EdgeList(road, length.double(), None, 500, False))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--interrupts", type=int, default=1000, metavar="N", help="(1000)")
    parser.add_argument("--kills", type=int, default=1000, metavar="N", help="(1000)")
    parser.add_argument("--fresh", type=int, default=10, metavar="K", help="every Kth run (10)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commands", nargs="*", choices=COMMANDS, default=list(COMMANDS))
    args = parser.parse_args()
    chance = random.Random(args.seed)
    started, bad = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as name:
        graphs = Path(name) / "graphs"
        subprocess.run(
            [sys.executable, "-c", f"import kills; kills.make_graphs(kills.Path({str(graphs)!r}))"],
            env=environment() | {"PYTHONPATH": f"{ROOT / 'tools'}{os.pathsep}{ROOT}"}, check=True,
        )  # fmt: skip
        launcher = Launcher(graphs, Path(name))
        usual, whole = {}, {}
        for one in args.commands:
            usual[one] = launcher.run(one, {}, watch(launcher), False)
            whole[one] = outputs(usual[one].folder, graphs)
            assert usual[one].status == 0 and whole[one], (one, usual[one].errors)
        import_ = launcher.run(args.commands[0], {}, watch(launcher), True)
        for kind, number, count in (
            ("interrupts", signal.SIGINT, args.interrupts),
            ("kills", signal.SIGKILL, args.kills),
        ):
            where: Counter[str] = Counter()
            how: Counter[str] = Counter()
            for at in range(count):
                one = chance.choice(args.commands)
                fresh = args.fresh > 0 and at % args.fresh == 0
                known = dict(usual[one].entered)
                aims = [p for p in known if p not in ("importing", "end")]
                phase = "importing" if fresh else chance.choice(aims)
                model = usual[one]
                if fresh:
                    model = Run(one, model.folder, entered={"importing": 0, "end": import_.seconds})
                older = {n: OLD for n in whole[one]} if chance.random() < 0.5 else {}
                twice = number == signal.SIGINT and chance.random() < 0.5
                disturb = at_random(launcher, chance, model, phase, number, twice)
                run = launcher.run(one, older, disturb, fresh)
                left = outputs(run.folder, graphs)
                where["a process of its own" if fresh else run.phase] += 1
                done = {left.get(n) == content for n, content in whole[one].items()}
                how["outputs " + " and ".join(STATES[whether] for whether in sorted(done))] += 1
                how[f"status {run.status}"] += 1
                how["temporary file left"] += any(TEMPORARY.fullmatch(n) for n in left)
                if wrong := faults(run, number, left, whole[one], older):
                    bad += 1
                    print(f"{kind} {at}, {COMMANDS[one]}, {run.phase}: {'; '.join(wrong)}")
                    print(run.errors[-3000:], flush=True)
                shutil.rmtree(run.folder)
            print(f"{kind}: {count}; {time.monotonic() - started:.0f} s since the start")
            print("  sent while " + ", ".join(f"{k} {v}" for k, v in sorted(where.items())))
            print("  then " + ", ".join(f"{k} {v}" for k, v in sorted(how.items())), flush=True)
        launcher.close()
    print("faults:", bad)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
