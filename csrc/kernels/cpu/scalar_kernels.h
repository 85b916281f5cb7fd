// All kernels that take one source at a time, for one instruction set (see kernels/cpu/lane_kernels.h).
#include "core/cpu/buffer.h"
#include "core/cpu/wide.h"
#include "paths/cpu/queue.h"
#include "paths/cpu/team_queue.h"
#include "weighted/cpu/dijkstra.h"
#include "chains/cpu/chain_ends.h"
#include "chains/cpu/chain_sources.h"
#include "tiny/cpu/tiny_weights.h"
#include "hierarchy/cpu/climb_rows.h"
#include "hierarchy/cpu/wide_sweep.h"

namespace torchcent::TORCHCENT_ISA {

void scalar_kernels() {}

}  // namespace torchcent::TORCHCENT_ISA
