# make demo    exact betweenness of two networks, on a machine that has only Python and g++
# make test    everything the tests need, then the suite, in a process per core (JOBS=...), with a
#              random part of the large sweeps (PART=...)
# make test-all  every test, on every kind of kernel
# make test-seeds  the tests that draw examples, with N=20 seeds one after the other (SEED=...)
# make sanitize  tests and a soak on kernels with sanitizers, for hours; sanitize-quick: minutes
# make coverage  lines of the package and of the CPU kernels that the tests run
# make lint    ruff, clang-format, mypy, sentences of more than 30 words
# make fuzz    every reader of files against mutated files, FUZZ_SECONDS=30 for each
# make docs    the documentation in docs/_build
# make notebooks  runs the notebooks and keeps their outputs
# make bench   side by side with the peers
# make history  instructions of pinned calls (valgrind), a row per commit; history-check: compares
# make test-torch  the wheel on the oldest PyTorch that it supports and on the newest
# make wheel   a wheel in dist/, checked; with the CUDA kernels where nvcc is there
# make wheels  wheels for Linux, macOS and Windows, of the CUDA kernels (CUDA_HOMES="DIR ..."), and an
#              archive of the sources in dist/, checked
# make release VERSION=0.3.0  checks, tests, wheels and a tag; DRY_RUN=1 only says what is missing,
#              REHEARSE=1 does it in a clone with a part of the tests
# make clean   back to the sources

# Without bytecode an import of PyTorch takes 1.7 s longer, in every process of the tests.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Bytecode is written when a module is first imported: of most modules, never.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
# Tests run in JOBS processes, each with two threads of PyTorch's and up to 1 GB.
JOBS ?= $(shell nproc 2> /dev/null || echo 2)
# How much of each large sweep is run, chosen by a seed that is printed (tests/parts.py). All that is
# random in the tests comes from it (tests/seeds.py); by default it is that of the commit.
PART ?= 0.08
KERNELS_PART ?= 0.1
SEED ?=
ifneq ($(SEED),)
export TORCHCENT_TEST_SEED := $(SEED)
endif
PYTEST := $(BIN)/python -m pytest --numprocesses $(JOBS) --maxprocesses 8 --dist worksteal

# What the extension is made of. Python files are not in it: the package is installed in place.
BUILT_FROM := setup.py pyproject.toml tools/build_backend.py tools/kernels.py $(shell find csrc -type f)
CPP := $(shell find csrc -name '*.h' -o -name '*.cpp' -o -name '*.cuh' -o -name '*.cu')
CUDA := $(wildcard csrc/*/cuda/*.cu)

.PHONY: demo test test-all test-seeds coverage sanitize sanitize-quick test-kernels test-networkx test-networkx-3.7 networkx-3.7 test-torch fuzz lint docs notebooks bench history history-check wheel wheels cuda-wheels release cuda-check gpu-status clean
.DELETE_ON_ERROR:

# One stamp per step: a second run does nothing again.

# The demonstration alone needs kernels for this machine only, and takes all where they are built.
BUILT := $(VENV)/.$(if $(filter-out demo,$(MAKECMDGOALS))$(wildcard $(VENV)/.built),built,native)

$(VENV)/.torch: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "torchcent needs Python 3.11 or newer"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' || { echo "No venv in this Python. On Debian: apt install python3-venv"; exit 1; }
	@command -v $${CXX:-g++} > /dev/null || { echo "No C++ compiler. Install g++: apt install g++ (Debian, Ubuntu), dnf install gcc-c++ (Fedora), conda install -c conda-forge cxx-compiler (conda)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "Installing PyTorch into $(VENV) ..."
	$(PIP) torch numpy setuptools ninja argparse-manpage
	@touch $@

# pip would hide what setup.py prints, so the kernels are compiled before pip installs them.
$(VENV)/.native: export TORCHCENT_KERNELS := native
$(VENV)/.built $(VENV)/.native: $(VENV)/.torch $(BUILT_FROM)
	@echo "Compiling torchcent with all cores: about a minute and a half of processor time (MAX_JOBS=1 for one core) ..."
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python setup.py --quiet build_ext --inplace
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-build-isolation --editable .
	@touch $@

# Names an installed torchcent, so pip adds what the extra lists and builds nothing.
$(VENV)/.extra-%: $(BUILT)
	$(PIP) "torchcent[$*]"
	@touch $@

$(VENV)/.lint: $(VENV)/.torch
	$(PIP) ruff clang-format mypy numpy scipy tqdm
	@touch $@

demo: $(VENV)/.extra-plot,networkx
	@mkdir -p demo
	@echo; echo "== Les Miserables: who connects the others? (77 characters, ships with networkx)"
	$(BIN)/torchcent betweenness networkx:les_miserables -o demo/les_miserables.csv --top 10 --plot demo/les_miserables.png
	@echo; echo "== A generated R-MAT network of 2^16 vertices: every shortest path between all of them"
	$(BIN)/torchcent generate rmat --scale 16 --edge-factor 8 --seed 1 -o demo/rmat16.npz
	$(BIN)/torchcent betweenness demo/rmat16.npz -o demo/rmat16.csv --top 10 --plot demo/rmat16.png
	@echo; echo "Scores and plots are in $(CURDIR)/demo:"; ls -1 demo

test: $(VENV)/.extra-test
	$(PYTEST) --part $(PART) $(TEST_OPTIONS)

# The tests that draw examples, with N seeds; those that failed are named at the end.
N ?= 20
SEEDS_PART ?= 0.05
test-seeds: $(VENV)/.extra-test
	$(BIN)/python tools/many_seeds.py --number $(N) --part $(SEEDS_PART) --jobs $(JOBS)

test-all:
	$(MAKE) test PART=1
	$(MAKE) test-kernels KERNELS_PART=1
	$(MAKE) test-networkx test-networkx-3.7

# The engines again, on the kernels that this machine would not choose, and without any; but not
# what comes before a kernel, nor the tests that choose kernels themselves.
ENGINES := (lanes or queue or bits or relax or dijkstra or tiny or fused or sampl or test_weighted_ops or test_mcl_ops) and not (bad_input or plan or package or interrupt or cuda)

test-kernels: $(VENV)/.extra-test
	if [ "$$($(BIN)/python -c 'from torchcent.runtime import _ops; print(_ops.simd)')" = avx512 ]; then \
	  TORCHCENT_SIMD=avx2 $(PYTEST) tests -k "$(ENGINES)" --part $(KERNELS_PART); fi
	TORCHCENT_SIMD=portable $(PYTEST) tests -k "$(ENGINES)" --part $(KERNELS_PART)
	TORCHCENT_NO_EXTENSION=1 $(PYTEST) tests -k tensor --part $(KERNELS_PART)

# The kernels with the sanitizers of g++ in them (docs/notes/reliability.md).
SANITIZE_SECONDS ?= 300
sanitize: $(VENV)/.extra-fuzz $(VENV)/.extra-test
	$(BIN)/python tools/sanitize.py --jobs $(JOBS) --part $(PART) --seconds $(SANITIZE_SECONDS)

sanitize-quick: $(VENV)/.extra-test
	$(BIN)/python tools/sanitize.py --quick --jobs $(JOBS)

# Lines of the package and of the CPU kernels that the tests run (CONTRIBUTING.md).
COVERED := build/sanitize/coverage
coverage: $(VENV)/.extra-test
	$(PIP) pytest-cov gcovr
	TORCHCENT_SANITIZE=coverage TORCHCENT_CUDA=0 $(BIN)/python setup.py --quiet build_ext --build-lib $(COVERED)
	find $(COVERED) -name '*.gcda' -delete
	TORCHCENT_LIBRARY=$(CURDIR)/$(COVERED)/torchcent/_C.abi3.so $(PYTEST) --part $(PART) --cov torchcent --cov-report term -k "$(COVERAGE_TESTS)"
	$(BIN)/gcovr --root . --filter csrc/ --gcov-ignore-parse-errors=all --merge-mode-functions=separate --json $(COVERED)/kernels.json $(COVERED)/objects
	$(BIN)/python tools/covered.py $(COVERED)/kernels.json
COVERAGE_TESTS ?= not (interrupt or package or wheel)

# NetworkX's own tests on the backend: with the NetworkX of the tests, and with 3.7, where there is a
# Python that it runs on, in an environment with the wheel (several GB, removed afterwards).
NEWER = $(firstword $(foreach python,python3.14 python3.13 python3.12 $(wildcard $(HOME)/.pyenv/versions/3.1[2-4].*/bin/python),$(shell $(python) -c 'import ensurepip' 2> /dev/null && echo $(python))))

test-networkx: $(VENV)/.extra-test
	$(BIN)/python tools/networkx_suite.py

test-networkx-3.7:
	@if [ -n "$(NEWER)" ]; then $(MAKE) networkx-3.7; \
	else echo "test-networkx-3.7: NetworkX 3.7 needs Python 3.12 or newer, which is not here; skipped"; fi

networkx-3.7:
	ls dist/*.whl > /dev/null 2>&1 || $(MAKE) wheel
	rm -rf $(VENV)-3.7
	$(NEWER) -m venv $(VENV)-3.7
	$(VENV)-3.7/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch numpy scipy tqdm pytest pandas
	$(VENV)-3.7/bin/pip install --quiet --disable-pip-version-check networkx==3.7
	$(VENV)-3.7/bin/pip install --quiet --disable-pip-version-check --no-deps --no-index --find-links dist torchcent
	cd tools && ../$(VENV)-3.7/bin/python networkx_suite.py
	rm -rf $(VENV)-3.7

# The wheel with the oldest PyTorch that it promises and with the newest, each in an environment of
# its own (several GB), without the checkout in sight.
TORCH ?= torch==2.10.0 torch
test-torch:
	ls dist/*.whl > /dev/null 2>&1 || $(MAKE) wheel
	set -e; python=$(CURDIR)/$(VENV)-torch/bin/python; for torch in $(TORCH); do \
	  rm -rf $(VENV)-torch; $(PYTHON) -m venv $(VENV)-torch; \
	  $$python -m pip install --quiet --disable-pip-version-check $$torch numpy scipy tqdm pytest pytest-xdist hypothesis networkx; \
	  $$python -m pip install --quiet --disable-pip-version-check --no-deps --no-index --find-links dist torchcent; \
	  $$python tools/test_wheel.py --jobs $(JOBS); \
	done

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/python tools/sentences.py

# Fuzz targets, two at a time. A failure leaves its input in fuzz/failures and its story in the log
# there; what a target ran is the line that it prints. FUZZ_SEED=0
# draws another seed every time; FUZZ_RUNS=-1 sets no limit but the time.
FUZZ_SECONDS ?= 30
FUZZ_SEED ?= 0
FUZZ_RUNS ?= -1
FUZZ ?= edges abc mci mtx metis gr graphml gml npz npy pt parquet tab clusters packed graph

fuzz: $(VENV)/.extra-fuzz
	@rm -rf fuzz/failures; mkdir -p fuzz/failures
	@printf '%s\n' $(FUZZ) | xargs -P 2 -I{} sh -c 'timeout -k 5 $$(($(FUZZ_SECONDS) + 120)) \
	  $(BIN)/python fuzz/readers.py {} -max_total_time=$(FUZZ_SECONDS) -seed=$(FUZZ_SEED) -runs=$(FUZZ_RUNS) \
	  -artifact_prefix=fuzz/failures/{}- > fuzz/failures/{}.log 2>&1; status=$$?; \
	  runs=$$(sed -n "s/^stat::number_of_executed_units: *//p" fuzz/failures/{}.log); \
	  echo "fuzz {}: $${runs:-no} inputs, exit status $$status"; \
	  [ $$status -eq 0 ] || { tail -n 40 fuzz/failures/{}.log; exit 1; }'

docs: $(VENV)/.extra-docs
	rm -rf docs/_build
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "The documentation is in $(CURDIR)/docs/_build/html/index.html"

notebooks: $(VENV)/.extra-test
	$(BIN)/python tools/notebooks.py

bench: $(VENV)/.extra-bench
	$(BIN)/python benchmarks/cpu.py --scaling
	$(BIN)/python benchmarks/distances.py
	$(BIN)/python benchmarks/plot.py
	$(BIN)/python benchmarks/tables.py

# Instructions of pinned calls, a row per commit (docs/contributing/history.md), and a comparison
# with the last row.
history: $(VENV)/.extra-bench
	$(BIN)/python benchmarks/history.py record
	$(BIN)/python benchmarks/tables.py

history-check: $(VENV)/.built
	@command -v valgrind > /dev/null || { echo "history-check: no valgrind; install it: apt install valgrind (Debian, Ubuntu)"; exit 1; }
	$(BIN)/python benchmarks/history.py check

# WHEEL_CUDA=0 leaves the CUDA kernels out.
WHEEL_CUDA ?= $(if $(shell command -v nvcc),1,0)
wheel: $(VENV)/.built
	rm -rf build/lib* build/bdist* dist
	TORCHCENT_CUDA=$(WHEEL_CUDA) $(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(PIP) abi3audit
	PATH="$(BIN):$$PATH" $(BIN)/python tools/check_wheel.py dist/*.whl

# Wheels for every platform, or those of WHEELS (WHEELS=linux-x86_64), on Linux alone
# (tools/wheels.py), and of the CUDA kernels for each
# toolkit in CUDA_HOMES, by default for that of nvcc (tools/cuda_wheels.py).
WHEELS ?=
CUDA_HOMES ?=
WHEEL_TOOLS := ziglang setuptools wheel build ninja lief auditwheel abi3audit torch-abi-audit check-wheel-contents twine
wheels: export TORCHCENT_CUDA := 0
wheels: $(VENV)/.torch
	rm -rf dist
	$(PIP) $(WHEEL_TOOLS)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tools/wheels.py --jobs $(JOBS) $(WHEELS)
	$(MAKE) cuda-wheels
	$(BIN)/python -m build --sdist --no-isolation --outdir dist .
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tools/check_wheels.py dist

cuda-wheels: $(VENV)/.torch
	$(PIP) $(WHEEL_TOOLS)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tools/cuda_wheels.py --jobs $(JOBS) $(CUDA_HOMES)

# A version that is ready; the tag is not pushed (tools/release.py).
release: $(VENV)/.torch
	$(PIP) towncrier
	$(BIN)/python tools/release.py $(if $(DRY_RUN),--dry-run) $(if $(REHEARSE),--rehearse) "$(VERSION)"

# Compiles the CUDA sources for one architecture; no GPU is needed. `make wheel` does so for all.
NVCC := nvcc -c -std=c++20 -O3 -arch=sm_90 -DUSE_CUDA -DTORCH_TARGET_VERSION=0x020a000000000000

cuda-check: $(VENV)/.torch
	@if ! command -v nvcc > /dev/null; then echo "cuda-check: nvcc is not here, skipped"; exit 0; fi; \
	include=$$($(BIN)/python -c 'import torch; print(torch.__path__[0] + "/include")'); \
	printf '%s\n' $(CUDA) | xargs -P "$$(nproc)" -I{} \
	  sh -c 'echo "nvcc {}" && $(NVCC) -Icsrc -Icsrc/include -isystem "$$0" -o /dev/null {}' "$$include"

# Are the results in benchmarks/results from a GPU those of these sources?
gpu-status:
	@$(PYTHON) benchmarks/gpu_status.py $(wildcard benchmarks/results/h?00.json)

clean:
	rm -rf $(VENV) $(VENV)-3.7 build dist demo docs/_build docs/notebooks docs/api *.egg-info torchcent/*.so torchcent/installed_without_extension
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis
