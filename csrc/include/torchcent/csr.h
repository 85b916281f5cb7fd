// A raw-pointer view of a graph in CSR form, for the kernels.
#pragma once

#include <cstdint>

namespace torchcent {

struct Csr {
  int64_t num_nodes = 0;
  const int64_t* rowptr = nullptr;  // [num_nodes + 1]
  const int32_t* col = nullptr;     // [rowptr[num_nodes]]

  int64_t num_slots() const { return rowptr[num_nodes]; }
  int64_t degree(int64_t v) const { return rowptr[v + 1] - rowptr[v]; }
};

}  // namespace torchcent
