// All kernels that compute many values side by side, for one instruction set; TORCHCENT_ISA is its namespace. Standard
// headers come before the target pragma of the including file, and all definitions are in that namespace, so that no
// code for a newer processor can be linked into the portable path.
#include "core/cpu/buffer.h"
#include "paths/cpu/lanes.h"
#include "distances/cpu/bits.h"
#include "distances/cpu/measures.h"
#include "weighted/cpu/relax_search.h"
#include "mcl/cpu/flow_kernel.h"
#include "tiny/cpu/tiny_lanes.h"
#include "hierarchy/cpu/hierarchy_search.h"
#include "dense/cpu/eigen_kernel.h"

namespace torchcent::TORCHCENT_ISA {

void lane_kernels() {}

}  // namespace torchcent::TORCHCENT_ISA
