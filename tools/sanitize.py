"""Runs the tests and a soak on kernels that check themselves.

    python tools/sanitize.py               # everything, the sweeps of the tests whole: for hours
    python tools/sanitize.py --part 0.25   # the tests with a random part of each sweep
    python tools/sanitize.py --quick       # what CI runs: a few minutes

AddressSanitizer with UndefinedBehaviorSanitizer on each instruction set that the processor has, and
LeakSanitizer on our library's allocations; ThreadSanitizer on what has threads. Each is a build of
its own in build/sanitize, g++'s, which TORCHCENT_LIBRARY has the package load. Python, PyTorch and
OpenMP are not instrumented: of memory that they take, its ends are known, of their own accesses
nothing. Before a run counts, it must find faults that are planted (tools/sanitizers/planted.cpp).
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "sanitize"
SOURCES = ROOT / "tools" / "sanitizers"
SIMD = ("avx512", "avx2", "portable")
RUNTIMES = {"address": ("libasan.so", "libubsan.so"), "thread": ("libtsan.so",)}
#: functions of planted.cpp, and what is said of each
PLANTED = {
    "address": "heap-buffer-overflow",
    "undefined": "outside the range",
    "leak": "leak of",
    "thread": "data race",
}
SHIM = {"address": "reports", "thread": "threads"}
FLAGS = {
    "address": "-fsanitize=address,undefined,float-cast-overflow -fsanitize-recover=all",
    "thread": "-fsanitize=thread",
}
#: what the tests of engines are called; those of limits on memory and time cannot hold here, for
#: a sanitizer takes terabytes of addresses and several times the time
ENGINES = (
    "lanes or queue or teams or bits or relax or dijkstra or hierarchy or tiny or tensor or ops"
    " or mcl or closure"
)
#: targets of fuzz/readers.py
READERS = tuple(sorted(path.name for path in (ROOT / "fuzz" / "corpus").glob("*")))
PLAIN = ("tensor", "dense")  # engines without kernels of ours
UNFIT = (
    "memory or room or interrupt or processors or package or cpp or docs or notebooks or wheel"
    " or grants or takes_what_is_said"
)
#: where one report ends and the next one begins
PARTS = re.compile(r"^=+$|\n(?=(?:Direct|Indirect) leak)|(?<=\n)(?=\S+: runtime)", re.M)
#: of a race, where its threads and mutexes come from; not in it: what else it tells
MADE = re.compile(r"^  (?:Thread|Mutex) \w+ .*\n(?:    .*\n?)*", re.M)
#: whatever the library; of too many leaks, ours may be among those that are left out
FAULTS = re.compile(r"runtime error|CHECK failed|SEGV|ERROR: AddressSanitizer|Too many leaks")
OURS = ("/csrc/", "_C.abi3.so", "planted")  # what a stack of ours goes through


@dataclass
class Task:
    """One command under a sanitizer, on an instruction set."""

    kind: str
    simd: str
    title: str
    command: list[str]
    leaks: bool = False

    @property
    def log(self) -> Path:
        return BUILD / "logs" / f"{self.kind}-{self.simd}-{self.title}"


def compiler() -> str:
    return os.environ.get("CXX", "g++")


def build(kind: str, kernels: str = "all", quick: bool = False) -> Path:
    """Our library with the sanitizer in it, with all kernels or the "native" ones."""
    folder = BUILD / kind
    mark, wanted = folder / "wanted", f"{kernels} {quick}"
    if folder.exists() and not (mark.exists() and mark.read_text() == wanted):
        shutil.rmtree(folder)  # a build does not notice that others are wanted
    command = [sys.executable, "setup.py", "--quiet", "build_ext"]
    command += ["--build-lib", str(folder)]
    own = {"TORCHCENT_SANITIZE": kind, "TORCHCENT_CUDA": "0", "TORCHCENT_KERNELS": kernels}
    if quick:
        own |= {"CXX": str(SOURCES / "quick-g++"), "TORCHCENT_CXX": compiler()}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    mark.write_text(wanted)
    shared = [compiler(), "-std=c++20", "-O1", "-g1", "-fno-omit-frame-pointer", "-fPIC", "-shared"]
    for name, flags in (("planted", FLAGS[kind].split()), (SHIM[kind], ["-ldl"])):
        source, library = SOURCES / f"{name}.cpp", folder / f"{name}.so"
        subprocess.run([*shared, str(source), "-pthread", *flags, "-o", str(library)], check=True)
    return folder / "torchcent" / "_C.abi3.so"


def environment(kind: str, simd: str, log: Path, leaks: bool = False) -> dict[str, str]:
    """What a process needs to have the sanitizer loaded first and its reports in files."""
    names = [*RUNTIMES[kind], "libstdc++.so.6"]  # exceptions are looked up before torch is loaded
    found = [_runtime(name) for name in names]
    found.insert(-1, str(BUILD / kind / f"{SHIM[kind]}.so"))
    options = f"log_path={log}/report:halt_on_error=0:exitcode=0"
    if leaks:
        # Python and PyTorch leave thousands of blocks, of which only 5,000 kinds are told, and each
        # frame in no library costs 50 ms. So a kind is who called the allocator, by library and
        # offset (addr2line -Cfe LIBRARY OFFSET). Blocks that we have libstdc++ or PyTorch take are
        # not known for ours then.
        options += ":symbolize=0:malloc_context_size=2"
    return os.environ | {
        "LD_PRELOAD": " ".join(found),
        # As malloc does for sizes that nobody has: PyTorch makes an error of it.
        "ASAN_OPTIONS": f"{options}:detect_leaks={int(leaks)}:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TORCHCENT_REPORTS": f"{log}/report",
        "TSAN_OPTIONS": f"{options}:second_deadlock_stack=1",
        "TORCHCENT_LIBRARY": str(BUILD / kind / "torchcent" / "_C.abi3.so"),
        "TORCHCENT_SIMD": simd,
        "OMP_WAIT_POLICY": "passive",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }


def _runtime(name: str) -> str:
    said = subprocess.run(
        [compiler(), f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    path = said.stdout.strip()
    if path == name:
        sys.exit(f"{compiler()} has no {name}; on Debian it comes with g++")
    return path


def reports(log: Path) -> list[str]:
    """What the sanitizers wrote that is about our library: lost blocks of PyTorch's and Python's
    are not, nor races between libraries that are not instrumented. Of a race, the accesses decide,
    not who made the threads. The stack of one of our threads, when it is gone, becomes memory of
    others (pyarrow's allocator maps it). ThreadSanitizer does not see glibc unmap it."""
    found = []
    for path in sorted(log.glob("report*")):
        text = path.read_text(errors="replace")
        for part in PARTS.split(text):
            if re.search(FAULTS, part) or (
                re.search(r"^(Direct|Indirect) leak|WARNING: ThreadSanitizer", part, re.M)
                and any(name in MADE.sub("", part) for name in OURS)
            ):
                found.append("\n".join(line[:160] for line in part.splitlines()[:40]))
    return found


def available(native: bool) -> list[str]:
    """The instruction sets that this processor has, or the best, as the library itself tells."""
    text = "import torchcent.runtime._ops as o; print(o.simd)"
    known = []
    for simd in ("",) if native else SIMD:
        env = environment("address", simd, BUILD) | {"ASAN_OPTIONS": "detect_leaks=0"}
        done = subprocess.run(
            [sys.executable, "-c", text], cwd=ROOT, env=env, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(done.stderr)
        if not simd or done.stdout.strip() == simd:
            known.append(done.stdout.strip())
        else:
            print(f"skipped: {simd}, which this processor has not")
    return known


def check_planted(kind: str) -> None:
    """Every planted fault is found, or no run under this sanitizer means anything."""
    log = BUILD / "logs" / f"{kind}-planted"
    _empty(log)
    faults = ("thread",) if kind == "thread" else ("address", "undefined", "leak")
    for fault in faults:
        command = [sys.executable, __file__, "--plant", f"{BUILD / kind}/planted.so", fault]
        env = environment(kind, "portable", log, leaks=fault == "leak")
        subprocess.run(command, env=env, check=True)
        if not any(PLANTED[fault] in report for report in reports(log)):
            sys.exit(f"the planted fault {fault!r} was not found: {kind} does not work here")
        _empty(log)


def plant(library: str, fault: str) -> None:
    function = getattr(ctypes.CDLL(library), fault)
    if fault == "undefined":
        function.argtypes = [ctypes.c_double]
        function(1.0)
    else:
        function(1000 if fault == "thread" else 0)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def run(task: Task) -> bool:
    """Was it clean?"""
    _empty(task.log)
    started = time.monotonic()
    env = environment(task.kind, task.simd, task.log, task.leaks)
    with open(task.log / "output", "w") as file:
        status = subprocess.run(
            task.command, cwd=ROOT, env=env, stdout=file, stderr=file
        ).returncode
    said = (task.log / "output").read_text(errors="replace").splitlines()
    found, seconds = reports(task.log), time.monotonic() - started
    clean = not found and status == 0
    name = f"{task.kind:8} {task.simd:9} {task.title:10}"
    print(f"{name} {len(found)} reports, {seconds:.0f} s; {' '.join(said[-1:])}", flush=True)
    if not clean:
        print(*said[-40:], *found[:3], sep="\n", flush=True)
    return clean


def tasks(quick: bool, simd: Sequence[str], jobs: int, part: float, seconds: int) -> list[Task]:
    def soak(seconds: int) -> list[str]:
        command = [sys.executable, "tools/soak.py", "--seconds", str(seconds)]
        return [*command, "--without", *PLAIN] if quick else command

    def tests(*chosen: str) -> list[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
        if quick:
            return command
        return [*command, "-v", "--part", str(part), "--numprocesses", str(jobs)]

    def fuzz(seconds: int) -> list[str]:
        return [sys.executable, "fuzz/arguments.py", "--seconds", str(seconds)]

    def reader(name: str, seconds: int) -> list[str]:
        return [sys.executable, "fuzz/readers.py", name, f"-max_total_time={seconds}"]

    if quick:
        fit = ("-k", f"not ({UNFIT})", "--part", "0.3")
        others = [f"tests/test_{name}.py" for name in ("mcl_ops", "bad_input")]
        return [
            Task("address", simd[0], "operators", tests("tests/test_ops.py", *fit)),
            Task("address", simd[0], "arguments", tests(*others, *fit)),
            Task("address", simd[0], "soak", soak(4), leaks=True),
            *(Task("address", other, "soak", soak(4)) for other in simd[1:][-1:]),
            Task("thread", simd[0], "soak", soak(4)),
        ]
    chosen = []
    for one in simd:
        chosen += [
            Task("address", one, "tests", tests("tests", "-k", f"not ({UNFIT})")),
            Task("address", one, "soak", soak(seconds), leaks=True),
            Task("address", one, "arguments", fuzz(seconds)),
            Task("thread", one, "soak", soak(seconds)),
        ]
    # Coverage does not guide them here: they mutate the kept inputs. No instruction set matters.
    chosen += [Task("address", simd[0], name, reader(name, seconds // 3)) for name in READERS]
    some = f"({ENGINES}) and not ({UNFIT} or golden)"  # those take minutes, ten times as long here
    return [*chosen, Task("thread", simd[0], "tests", tests("tests", "-k", some))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="what fits into a few minutes")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    parser.add_argument("--part", type=float, default=1.0, help="of the tests' sweeps (1)")
    parser.add_argument("--seconds", type=int, default=300, help="of soak and fuzzers, each (300)")
    parser.add_argument("--simd", nargs="+", choices=SIMD, help="(all that the processor has)")
    parser.add_argument("--plant", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.plant:
        plant(*args.plant)
        return 0
    started = time.monotonic()
    # Quick tasks run on the best kernels, and on portable ones where g++ does not instrument the
    # best: it leaves out masked accesses of AVX-512.
    import torch  # which planted faults would wait for

    native = args.quick and torch.backends.cpu.get_cpu_capability() != "AVX512"
    for kind in RUNTIMES:
        build(kind, "native" if native or args.quick and kind == "thread" else "all", args.quick)
        check_planted(kind)
        print(f"built: {kind}, {time.monotonic() - started:.0f} s since the start", flush=True)
    chosen = tasks(args.quick, args.simd or available(native), args.jobs, args.part, args.seconds)
    # Side by side only where a task has one process.
    with ThreadPoolExecutor(args.jobs if args.quick else 1) as workers:
        results = list(workers.map(run, chosen))
    bad = results.count(False)
    print(f"{len(results)} runs, {bad} not clean, {time.monotonic() - started:.0f} s")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
