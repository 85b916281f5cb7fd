// Vectors of mcl's native matrices, `j i:value i:value ... $`, on all threads. As with rows (io/cpu/rows.cpp), the
// reader in Python (torchcent/io/_native.py) defines the format: what is not read here is left to it.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "io/cpu/fields.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

bool is_space(char c) { return is_blank(c) || c == '\n'; }
bool ends_number(char c) { return is_space(c) || c == '$'; }

// What some of the vectors hold; `begin` and `end` are behind the '$' of a vector.
struct Vectors {
  const char *begin = nullptr, *end = nullptr;
  std::vector<int64_t> column = {}, row = {};
  std::vector<double> value = {};
  bool irregular = false;

  // Reads "i" or, if allowed, "i:value"; the value is then that of the entry.
  const char* read_entry(const char* at, bool valued, int64_t& id, double& value) const {
    at = *at == '-' ? nullptr : read_id(at, end, id);
    if (at != nullptr && at < end && *at == ':') at = valued ? read_weight(at + 1, end, value) : nullptr;
    return at != nullptr && at < end && ends_number(*at) ? at : nullptr;
  }

  void read() {
    int64_t head = -1;
    for (const char* at = begin; at < end;) {
      if (is_space(*at)) {
        ++at;
        continue;
      }
      int64_t id;
      double weight = 1;
      const bool first = head < 0;
      if (*at == '$') {
        head = -1;
        ++at;
        irregular |= first;
      } else {
        at = read_entry(at, !first, id, weight);
        irregular |= at == nullptr;
        if (irregular) return;
        if (first) {
          head = id;
        } else {
          column.push_back(head);
          row.push_back(id);
          value.push_back(weight);
        }
      }
    }
    irregular |= head >= 0;
  }
};

}  // namespace

// See the schema. text: uint8, what stands between "begin" and the end of the section.
std::tuple<Tensor, Tensor, Tensor> read_vectors(const Tensor& text, int64_t threads) {
  constexpr int64_t kLeast = int64_t{1} << 16;  // characters of a part
  const char* const begin = reinterpret_cast<const char*>(text.const_data_ptr<uint8_t>());
  const char* const end = begin + text.numel();
  const int64_t parts = std::max<int64_t>(1, std::min(threads, text.numel() / kLeast));
  std::vector<Vectors> part(parts);
  for (int64_t i = 0; i < parts; ++i) {
    const char* const from = begin + part_of(text.numel(), i, parts).first;
    part[i].begin = i == 0 ? begin : std::min(std::find(from - 1, end, '$') + 1, end);
  }
  for (int64_t i = 0; i < parts; ++i) part[i].end = i + 1 < parts ? part[i + 1].begin : end;
  each_task(threads, parts, [&](int64_t i) { part[i].read(); });

  int64_t entries = 0;
  bool irregular = false;
  for (const Vectors& each : part) {
    entries += static_cast<int64_t>(each.row.size());
    irregular |= each.irregular;
  }
  Tensor ids = torch::stable::new_empty(text, {2, irregular ? 0 : entries}, ScalarType::Long);
  Tensor value = empty(text, irregular ? 0 : entries, ScalarType::Double);
  Tensor fault = empty(text, irregular ? 1 : 0, ScalarType::Long);
  if (irregular) {
    *fault.mutable_data_ptr<int64_t>() = 1;
    return {ids, value, fault};
  }
  int64_t* column = ids.mutable_data_ptr<int64_t>();
  int64_t* row = column + entries;
  double* weight = value.mutable_data_ptr<double>();
  for (const Vectors& each : part) {
    column = std::copy(each.column.begin(), each.column.end(), column);
    row = std::copy(each.row.begin(), each.row.end(), row);
    weight = std::copy(each.value.begin(), each.value.end(), weight);
  }
  return {ids, value, fault};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Columns and rows [2, entries] and values of mcl's vectors; irregular has an element if it leaves them to others.
  m.def("read_vectors(Tensor text, int threads=1) -> (Tensor ids, Tensor value, Tensor irregular)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("read_vectors", TORCH_BOX(&read_vectors)); }

}  // namespace torchcent
