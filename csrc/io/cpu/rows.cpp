// Rows of numbers in text, on all threads. The format is defined by the reader in Python that goes line by line
// (torchcent/io/_text.py): a row that is not read here is left to it, so that nothing here decides whether a file is
// valid.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/cpu/tasks.h"
#include "core/cpu/view.h"
#include "io/cpu/fields.h"
#include "io/cpu/names.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

// How a row is split, and what its columns are.
struct Layout {
  char separator;                         // 0: any run of blanks and tabs
  int64_t width, source, target, weight;  // weight is -1 if there is none
  bool names, quotes;                     // whether ends are names, and fields may be in quotes

  const char* skip_blanks(const char* at, const char* end) const {
    while (at < end && is_blank(*at) && *at != separator) ++at;
    return at;
  }

  // Whether this is text; what is not of ASCII only if all of it is known to be UTF-8.
  bool is_text(char c) const {
    return static_cast<signed char>(c) >= ' ' || c == '\t' || (names && static_cast<signed char>(c) < 0);
  }
};

// A field behind blanks, or a word if blanks separate.
const char* pass_field(const char* at, const char* end, const Layout& layout) {
  const char* const first = at;
  for (; at < end && *at != layout.separator; ++at) {
    if (layout.separator == 0 && is_blank(*at)) break;
    if (*at == '"' && layout.separator != '\t' && layout.separator != 0) return nullptr;
    if (!layout.is_text(*at)) return nullptr;
  }
  return at == first && layout.separator == 0 ? nullptr : at;
}

// The quote that ends a field in quotes, which begins at `at` behind blanks; nullptr if it is not read here.
const char* closing_quote(const char* blanks, const char* at, const char* end, const Layout& layout) {
  if (std::find(blanks, at, '\t') != at) return nullptr;  // quotes behind a tab are part of the field
  const char* const last = std::find(at + 1, end, '"');
  const auto is_text = [&](char c) { return layout.is_text(c); };
  return last < end && std::all_of(at + 1, last, is_text) ? last : nullptr;
}

// An id that is written as it would be printed: 007 and -0 would lose zeros.
const char* read_plain_id(const char* at, const char* end, int64_t& id) {
  const bool minus = at < end && *at == '-';
  const char* const first = at + minus;
  if (first < end && *first == '0' && (minus || (first + 1 < end && is_digit(first[1])))) return nullptr;
  return read_id(at, end, id);
}

// Where a name stands in a text, as one number.
struct Span {
  static constexpr int kSizeBits = 20;
  static bool fits(int64_t begin, int64_t size) { return begin >> (63 - kSizeBits) == 0 && size >> kSizeBits == 0; }
  static int64_t of(int64_t begin, int64_t size) { return begin << kSizeBits | size; }
  static std::string_view name(const char* text, int64_t span) {
    return {text + (span >> kSizeBits), static_cast<size_t>(span & ((int64_t{1} << kSizeBits) - 1))};
  }
};

// What a part of the text holds.
struct Part {
  const char *begin, *end;
  std::unique_ptr<int64_t[]> source, target;  // ids, or spans of names
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
      } else if (read_row(text, line, stop, layout)) {
        ++rows;
        continue;
      }
      irregular = line - text;
      return;
    }
  }

  bool read_row(const char* text, const char* at, const char* stop, const Layout& layout) {
    for (int64_t k = 0; k < layout.width; ++k) {
      const char* const blanks = at;
      at = layout.skip_blanks(at, stop);
      if (layout.quotes && at < stop && *at == '"') {
        const char* const last = closing_quote(blanks, at, stop, layout);
        if (last == nullptr || read_field(text, k, layout.skip_blanks(at + 1, last), last, true, layout) != last)
          return false;
        at = last + 1;
      } else {
        at = read_field(text, k, at, stop, false, layout);
        if (at == nullptr) return false;
      }
      if (layout.separator == 0) {
        if (at < stop && !is_blank(*at)) return false;
      } else if (k + 1 < layout.width) {
        at = layout.skip_blanks(at, stop);
        if (at == stop || *at++ != layout.separator) return false;
      }
    }
    return layout.skip_blanks(at, stop) == stop;
  }

  const char* read_field(const char* text, int64_t column, const char* at, const char* end, bool whole,
                         const Layout& layout) {
    if (column == layout.weight) return read_weight(at, end, weight[rows]);
    const bool is_end = column == layout.source || column == layout.target;
    int64_t& id = column == layout.source ? source[rows] : target[rows];
    if (is_end && !layout.names) return read_plain_id(at, end, id);
    const char* const last = whole ? end : pass_field(at, end, layout);
    if (!is_end || last == nullptr) return last;
    const char* stop = last;
    while (stop > at && is_blank(stop[-1])) --stop;
    if (stop == at || !Span::fits(at - text, stop - at)) return nullptr;
    id = Span::of(at - text, stop - at);
    return last;
  }
};

// From spans of names, [2, rows], to places in the list of distinct names; false if they are not read here.
bool number(const char* text, int64_t* id, int64_t rows, int64_t threads, bool sorted,
            std::vector<std::string_view>& list) {
  NameNumbers names(
      2 * rows, threads, [&](int64_t i) { return Span::name(text, id[(i & 1) * rows + (i >> 1)]); },
      [&](int64_t i, uint32_t number) { id[(i & 1) * rows + (i >> 1)] = number; });
  if (!names.complete) return false;
  if (sorted) {
    const std::vector<int64_t> rank = names.sort();
    each_range(threads_for(rows, threads), 2 * rows, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) id[i] = rank[id[i]];
    });
  }
  list = std::move(names.names);
  return true;
}

}  // namespace

// See the schema. text: uint8, of whole lines. separator: a character, or 0 for any run of blanks and tabs.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> read_rows(const Tensor& text, int64_t separator, int64_t width,
                                                             int64_t source, int64_t target, int64_t weight,
                                                             int64_t threads, bool names, bool quotes, bool sorted) {
  constexpr int64_t kLeast = int64_t{1} << 16;  // characters of a part
  const Layout layout = {static_cast<char>(separator), width, source, target, weight, names, quotes};
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
  int64_t* const id = ids.mutable_data_ptr<int64_t>();
  int64_t* span = spans.mutable_data_ptr<int64_t>();
  int64_t row = 0;
  for (Part& each : part) {
    std::copy_n(each.source.get(), each.rows, id + row);
    std::copy_n(each.target.get(), each.rows, id + rows + row);
    if (weight >= 0) std::copy_n(each.weight.get(), each.rows, value.mutable_data_ptr<double>() + row);
    span = std::copy(each.comments.begin(), each.comments.end(), span);
    row += each.rows;
    each = {};
  }
  std::vector<std::string_view> list;
  if (names && irregular < 0 && !number(begin, id, rows, threads, sorted, list)) irregular = 0;
  int64_t size = 0;
  for (const std::string_view name : list) size += static_cast<int64_t>(name.size()) + 1;
  Tensor lines = empty(text, size, ScalarType::Byte);
  char* letter = reinterpret_cast<char*>(lines.mutable_data_ptr<uint8_t>());
  for (const std::string_view name : list) {
    letter = std::copy(name.begin(), name.end(), letter);
    *letter++ = '\n';
  }
  Tensor fault = empty(text, irregular < 0 ? 0 : 1, ScalarType::Long);
  if (irregular >= 0) *fault.mutable_data_ptr<int64_t>() = irregular;
  return {ids, value, spans, fault, lines};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // The ids [2, rows] and weights of lines of text, begin and end of each comment, and where the first line begins that
  // it leaves to others, if there is one; a separator of 0 is any run of blanks and tabs. With names, ids are places in
  // a list of distinct names, which are lines, in the order in which they come or sorted.
  m.def(
      "read_rows(Tensor text, int separator, int width, int source, int target, int weight, int threads=1, "
      "bool names=False, bool quotes=False, bool sorted=False) -> "
      "(Tensor ids, Tensor weight, Tensor comments, Tensor irregular, Tensor lines)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("read_rows", TORCH_BOX(&read_rows)); }

}  // namespace torchcent
