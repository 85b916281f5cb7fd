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

namespace {

// A column of names: the i-th is text[offset[i]:offset[i + 1]].
struct NameColumn {
  const char* text;
  std::vector<int64_t> own;  // offsets of names that end with a NUL each
  const int64_t* offset;
  int64_t rows;

  NameColumn(const Tensor& bytes, const Tensor& offsets)
      : text(reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>())),
        offset(offsets.const_data_ptr<int64_t>()),
        rows(offsets.numel() - 1) {
    if (rows >= 0) return;
    const char* const end = text + bytes.numel();
    rows = std::count(text, end, '\0');
    own.reserve(rows + 1);
    own.push_back(0);
    for (const char* at = text; at < end; ++at)
      if (*at == '\0') own.push_back(at + 1 - text);
    offset = own.data();
  }
  std::string_view name(int64_t i) const { return {text + offset[i], static_cast<size_t>(offset[i + 1] - offset[i])}; }
};

}  // namespace

// See the schema. Names of a row stand next to each other, in the order of the columns.
std::tuple<Tensor, Tensor> name_numbers(const std::vector<Tensor>& text, const std::vector<Tensor>& offsets,
                                        int64_t threads) {
  const int64_t columns = static_cast<int64_t>(text.size());
  std::vector<NameColumn> column;
  for (int64_t k = 0; k < columns; ++k) column.emplace_back(text[k], offsets[k]);
  const auto same = [&](const NameColumn& each) { return each.rows == column[0].rows; };
  const int64_t rows = std::all_of(column.begin(), column.end(), same) ? column[0].rows : 0;
  const NameNumbers names(columns * rows, threads, [&](int64_t i) {
    return columns == 1 ? column[0].name(i) : column[i % columns].name(i / columns);
  });
  Tensor ids = torch::stable::new_empty(offsets[0], {rows, columns}, ScalarType::Long);
  Tensor first = empty(offsets[0], static_cast<int64_t>(names.first.size()), ScalarType::Long);
  if (names.complete) std::copy(names.number.begin(), names.number.end(), ids.mutable_data_ptr<int64_t>());
  std::copy(names.first.begin(), names.first.end(), first.mutable_data_ptr<int64_t>());
  return {ids, first};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Of columns of names, of which the i-th of each is text[offsets[i]:offsets[i + 1]] (without offsets, each ends with
  // a NUL): the number of each name, in the order in which they first stand, row by row, [rows, columns]; and at which
  // of these places each first stands. It numbers none if there are too many, or too many of like hashes.
  m.def("name_numbers(Tensor[] text, Tensor[] offsets, int threads=1) -> (Tensor ids, Tensor first)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("name_numbers", TORCH_BOX(&name_numbers)); }

}  // namespace torchcent
