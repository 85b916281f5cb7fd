"""The internal names of torchcent that tests use: the seam between the tests and the package.

A test imports the public package and this module. Sizes that decide which way a run takes, and
functions that a test puts its own in the place of, are in tuning.py. Unit tests import the private
modules that they test; test_structure.py lists them, with their packages.
"""

from torchcent.approx import _pivots, _sampler
from torchcent.check import _common, _run
from torchcent.clustering import _dense
from torchcent.distribute import _group, _ledger, _queue, _ranks
from torchcent.distribute import _run as _units
from torchcent.engines.measures import _kernels, _measures, _request, _visitors
from torchcent.engines.plan import _flight, _plan, _preparation, _room
from torchcent.engines.reduce import _chains, _fold, _hierarchy, _reduce, _twins
from torchcent.engines.search import _driver, _tiny
from torchcent.generate import _models
from torchcent.graph import _batch, _device, _fixed_point, _weights
from torchcent.io import _formats, _mcl, _scores, _tokens, _transform, _write
from torchcent.pairs import _blocks, _streams
from torchcent.paths import _path_sums
from torchcent.runtime import _codes, _host, _interrupt, _memory, _ops, _watch

# What is compiled here, to skip what cannot run.
COMPILED = _ops.available
COMPILED_FOR_CUDA = _ops.cuda
has_kernel = _ops.has_kernel

# Records that the operators of torch.ops.torchcent take, and the choices that are codes there.
Launch = _codes.Launch
control_record = _codes.control
CANCEL = _codes.CANCEL
DONE = _codes.DONE
# by hops, and by weights
STRATEGIES = {False: _common.STRATEGIES, True: _common.WEIGHTED_STRATEGIES}
WARP_SIZES = _common.WARP_SIZES
Visitor = _visitors.Visitor
WIDTHS = _flight.WIDTHS

# Tables, from which sweeps over measures and formats are derived.
MEASURES = _measures.MEASURES
KERNELS = _kernels.KERNELS
has_command = _measures.has_command
HOLDS = _formats.HOLDS
WRITERS = {**_write._WRITERS, **_write._COLUMN_WRITERS}
SUFFIXES_OF_SCORES = _scores._SUFFIXES
SIMILARITIES = _transform.SIMILARITIES

# The steps of a run: for sums that are no public measure, and for what is kept with a graph.
Request = _request.Request
surrounding = _run.surrounding
plan_of = _plan.plan
Preparation = _preparation.Preparation
Fold = _fold.Fold
Twins = _twins.Twins
Chains = _chains.Chains
Hierarchy = _hierarchy.Hierarchy
levels_of = _hierarchy.levels
core_of = _reduce.core
problem_of = _reduce.problem
run_search = _driver.run
counts_in_float64 = _driver.counts_in_float64
run_tiny = _tiny.run
path_sums = _path_sums.sums

# Random paths and pivots, which are the same for a seed everywhere.
Sampler = _sampler.Sampler
Pivots = _pivots.Pivots
dependency_sums = _pivots.dependency_sums
distinct = _common.distinct
pair_of = _models._pair_of

# Units of work and checkpoints, to stop or delay a run between two of them.
Ledger = _ledger.Ledger
LocalQueue = _queue.LocalQueue
RemoteQueue = _ranks.RemoteQueue
group_of = _group.group_of
copied_inputs = _units._copied

# Threads and signals that a run is watched by.
progress_bar = _watch.progress_bar
watched = _watch.watched
handle_interrupt = _interrupt.interrupt
warn_without_kernels = _host._warn_once

# Bytes that plans count, which tests compare with what is taken.
Building = _memory.Building
bytes_to_scale = _weights.bytes_to_scale
bytes_to_transpose = _device.bytes_to_transpose
held_bytes = _room.held_bytes

# Graphs as the engines see them.
checked_vertices = _common.vertices
in_fixed_point = _fixed_point.of
part_of_batch = _batch.part

# Products, rows and text on their way.
dense_product = _dense._product
Blocks = _blocks.Blocks
HostRows = _streams.HostRows
streamed = _streams.streamed
IrregularText = _tokens.IrregularText
read_tab = _mcl.read_tab
