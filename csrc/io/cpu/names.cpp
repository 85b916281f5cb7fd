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

// A column of names: the i-th is text[offset[i]:offset[i + 1] - last].
struct NameColumn {
  const char* text;
  std::vector<int64_t> own;  // offsets of names that end with a NUL each
  const int64_t* offset;
  int64_t rows, last = 0;

  NameColumn(const Tensor& bytes, const Tensor& offsets)
      : text(reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>())),
        offset(offsets.const_data_ptr<int64_t>()),
        rows(offsets.numel() - 1) {
    if (rows >= 0) return;
    const char* const end = text + bytes.numel();
    rows = std::count(text, end, '\0');
    last = 1;
    own.reserve(rows + 1);
    own.push_back(0);
    for (const char* at = text; at < end; ++at)
      if (*at == '\0') own.push_back(at + 1 - text);
    offset = own.data();
  }
  std::string_view name(int64_t i) const {
    return {text + offset[i], static_cast<size_t>(offset[i + 1] - last - offset[i])};
  }
};

}  // namespace

// See the schema. Names of a row stand next to each other, in the order of the columns.
std::tuple<Tensor, Tensor> name_numbers(const std::vector<Tensor>& text, const std::vector<Tensor>& offsets,
                                        int64_t sides, int64_t threads, bool sorted) {
  const int64_t columns = static_cast<int64_t>(text.size());
  std::vector<NameColumn> column;
  for (int64_t k = 0; k < columns; ++k) column.emplace_back(text[k], offsets[k]);
  const auto same = [&](const NameColumn& each) { return each.rows == column[0].rows; };
  const bool regular = sides % columns == 0 && columns * column[0].rows % sides == 0;
  const int64_t rows =
      regular && std::all_of(column.begin(), column.end(), same) ? columns * column[0].rows / sides : 0;
  Tensor ids = torch::stable::new_empty(offsets[0], {sides, rows}, ScalarType::Long);
  int64_t* const id = ids.mutable_data_ptr<int64_t>();
  const auto name_at = [&](int64_t i) {
    if (columns == 1) return column[0].name(i);
    return columns == 2 ? column[i & 1].name(i >> 1) : column[i % columns].name(i / columns);
  };
  const auto put = [&](int64_t i, uint32_t number) {
    if (sides == 1) id[i] = number;
    else if (sides == 2) id[(i & 1) * rows + (i >> 1)] = number;
    else id[i % sides * rows + i / sides] = number;
  };
  NameNumbers numbers(sides * rows, threads, name_at, put);
  const auto has_nul = [](std::string_view name) { return name.find('\0') != name.npos; };
  if (sorted && numbers.complete && std::none_of(numbers.names.begin(), numbers.names.end(), has_nul)) {
    const std::vector<int64_t> rank = numbers.sort();
    std::transform(id, id + sides * rows, id, [&](int64_t number) { return rank[number]; });
  }
  const int64_t size = numbers.complete ? static_cast<int64_t>(numbers.first.size()) : 0;
  Tensor first = empty(offsets[0], size, ScalarType::Long);
  std::copy_n(numbers.first.begin(), size, first.mutable_data_ptr<int64_t>());
  return {ids, first};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Of columns of names, of which the i-th of each is text[offsets[i]:offsets[i + 1]] (without offsets, each ends with
  // a NUL): the number of each name, in the order in which they first stand, row by row, [sides, rows]; and at which of
  // these places each first stands. One column may hold several sides in turn. Sorted, they are
  // numbered in the order of their bytes instead, if none holds a NUL. It numbers none if there are too
  // many, or too many of like hashes.
  m.def(
      "name_numbers(Tensor[] text, Tensor[] offsets, int sides, int threads=1, bool sorted=False) -> "
      "(Tensor ids, Tensor first)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("name_numbers", TORCH_BOX(&name_numbers)); }

}  // namespace torchcent
