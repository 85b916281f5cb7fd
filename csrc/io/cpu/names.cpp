// Numbers of the names in columns of text, such as those of Arrow.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/cpu/view.h"
#include "io/cpu/names.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// See the schema. Names of a row stand next to each other, in the order of the columns.
std::tuple<Tensor, Tensor> name_numbers(const std::vector<Tensor>& text, const std::vector<Tensor>& offsets,
                                        int64_t threads) {
  struct Column {
    const char* text;
    const int64_t* offset;
  };
  const int64_t columns = static_cast<int64_t>(text.size()), rows = offsets[0].numel() - 1;
  std::vector<Column> column;
  for (int64_t k = 0; k < columns; ++k)
    column.push_back(
        {reinterpret_cast<const char*>(text[k].const_data_ptr<uint8_t>()), offsets[k].const_data_ptr<int64_t>()});
  const NameNumbers names(columns * rows, threads, [&](int64_t i) {
    const Column& of = column[i % columns];
    const int64_t* const offset = of.offset + i / columns;
    return std::string_view(of.text + offset[0], offset[1] - offset[0]);
  });
  Tensor ids = torch::stable::new_empty(offsets[0], {rows, columns}, ScalarType::Long);
  Tensor first = empty(offsets[0], static_cast<int64_t>(names.first.size()), ScalarType::Long);
  if (names.complete) std::copy(names.number.begin(), names.number.end(), ids.mutable_data_ptr<int64_t>());
  std::copy(names.first.begin(), names.first.end(), first.mutable_data_ptr<int64_t>());
  return {ids, first};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Of columns of names, of which the i-th of each is text[offsets[i]:offsets[i + 1]]: the number of each name, in the
  // order in which they first stand, row by row, [rows, columns]; and at which of these places each first stands. It
  // names none if there are too many, or too many of like hashes.
  m.def("name_numbers(Tensor[] text, Tensor[] offsets, int threads=1) -> (Tensor ids, Tensor first)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("name_numbers", TORCH_BOX(&name_numbers)); }

}  // namespace torchcent
