// Rows of numbers in text, on all threads. The format is defined by the reader in Python that goes line by line
// (torchcent/io/_text.py): a row that is not read here is left to it, so that nothing here decides whether a file is
// valid.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "io/cpu/fields.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// How a row is split, and what its columns are.
struct Layout {
  char separator;                         // 0: any run of blanks and tabs
  int64_t width, source, target, weight;  // weight is -1 if there is none

  const char* skip_blanks(const char* at, const char* end) const {
    while (at < end && is_blank(*at) && *at != separator) ++at;
    return at;
  }
};

// As those of io/cpu/fields.h.
const char* pass_field(const char* at, const char* end, const Layout& layout) {
  const char* const first = at;
  for (; at < end && *at != layout.separator; ++at) {
    if (layout.separator == 0 && is_blank(*at)) break;
    if (*at == '"' && layout.separator != '\t' && layout.separator != 0) return nullptr;
    if (static_cast<signed char>(*at) < ' ' && *at != '\t') return nullptr;  // no text, or not of ASCII
  }
  return at == first && layout.separator == 0 ? nullptr : at;
}

// An id that is written as it would be printed: 007 and -0 would lose zeros.
const char* read_plain_id(const char* at, const char* end, int64_t& id) {
  const bool minus = at < end && *at == '-';
  const char* const first = at + minus;
  if (first < end && *first == '0' && (minus || (first + 1 < end && is_digit(first[1])))) return nullptr;
  return read_id(at, end, id);
}

// What a part of the text holds.
struct Part {
  const char *begin, *end;
  std::unique_ptr<int64_t[]> source, target;
  std::unique_ptr<double[]> weight;
  int64_t rows = 0;
  std::vector<int64_t> comments = {};  // begin and end of each
  int64_t irregular = -1;              // where a line begins that is not read here

  void read(const char* text, const Layout& layout) {
    const int64_t lines = std::count(begin, end, '\n') + 1;
    source = std::make_unique_for_overwrite<int64_t[]>(lines);
    target = std::make_unique_for_overwrite<int64_t[]>(lines);
    if (layout.weight >= 0) weight = std::make_unique_for_overwrite<double[]>(lines);
    for (const char *line = begin, *next; line < end; line = next) {
      const char* stop = static_cast<const char*>(std::memchr(line, '\n', end - line));
      next = stop == nullptr ? end : stop + 1;
      if (stop == nullptr) stop = end;
      if (stop > line && stop[-1] == '\r') --stop;
      const char* first = line;
      while (first < stop && is_blank(*first)) ++first;
      if (first == stop) continue;
      if (*first == '#' || *first == '%') {
        const size_t size = stop - first;
        if (std::memchr(first, '\r', size) == nullptr && std::memchr(first, '\0', size) == nullptr) {
          comments.insert(comments.end(), {first - text, stop - text});
          continue;
        }
      } else if (read_row(line, stop, layout)) {
        ++rows;
        continue;
      }
      irregular = line - text;
      return;
    }
  }

  bool read_row(const char* at, const char* stop, const Layout& layout) {
    for (int64_t k = 0; k < layout.width; ++k) {
      at = layout.skip_blanks(at, stop);
      if (k == layout.source) at = read_plain_id(at, stop, source[rows]);
      else if (k == layout.target) at = read_plain_id(at, stop, target[rows]);
      else if (k == layout.weight) at = read_weight(at, stop, weight[rows]);
      else at = pass_field(at, stop, layout);
      if (at == nullptr) return false;
      if (layout.separator == 0) {
        if (at < stop && !is_blank(*at)) return false;
      } else if (k + 1 < layout.width) {
        at = layout.skip_blanks(at, stop);
        if (at == stop || *at++ != layout.separator) return false;
      }
    }
    return layout.skip_blanks(at, stop) == stop;
  }
};

}  // namespace

// See the schema. text: uint8, of whole lines. separator: a character, or 0 for any run of blanks and tabs.
std::tuple<Tensor, Tensor, Tensor, Tensor> read_rows(const Tensor& text, int64_t separator, int64_t width,
                                                     int64_t source, int64_t target, int64_t weight, int64_t threads) {
  constexpr int64_t kLeast = int64_t{1} << 16;  // characters of a part
  const Layout layout = {static_cast<char>(separator), width, source, target, weight};
  const char* const begin = reinterpret_cast<const char*>(text.const_data_ptr<uint8_t>());
  const char* const end = begin + text.numel();
  const int64_t parts = std::max<int64_t>(1, std::min(threads, text.numel() / kLeast));
  std::vector<Part> part(parts);
  for (int64_t i = 0; i < parts; ++i) {
    const char* const from = begin + part_of(text.numel(), i, parts).first;
    part[i].begin = i == 0 ? begin : std::min(std::find(from - 1, end, '\n') + 1, end);
  }
  for (int64_t i = 0; i < parts; ++i) part[i].end = i + 1 < parts ? part[i + 1].begin : end;
  each_task(threads, parts, [&](int64_t i) { part[i].read(begin, layout); });

  int64_t rows = 0, comments = 0, irregular = -1;
  for (const Part& each : part) {
    rows += each.rows;
    comments += static_cast<int64_t>(each.comments.size()) / 2;
    if (irregular < 0) irregular = each.irregular;
  }
  Tensor ids = torch::stable::new_empty(text, {2, rows}, ScalarType::Long);
  Tensor value = empty(text, weight < 0 ? 0 : rows, ScalarType::Double);
  Tensor spans = torch::stable::new_empty(text, {comments, 2}, ScalarType::Long);
  Tensor fault = empty(text, irregular < 0 ? 0 : 1, ScalarType::Long);
  int64_t* const id = ids.mutable_data_ptr<int64_t>();
  int64_t* span = spans.mutable_data_ptr<int64_t>();
  int64_t row = 0;
  for (const Part& each : part) {
    std::copy_n(each.source.get(), each.rows, id + row);
    std::copy_n(each.target.get(), each.rows, id + rows + row);
    if (weight >= 0) std::copy_n(each.weight.get(), each.rows, value.mutable_data_ptr<double>() + row);
    span = std::copy(each.comments.begin(), each.comments.end(), span);
    row += each.rows;
  }
  if (irregular >= 0) *fault.mutable_data_ptr<int64_t>() = irregular;
  return {ids, value, spans, fault};
}

STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("read_rows", TORCH_BOX(&read_rows)); }

}  // namespace torchcent
