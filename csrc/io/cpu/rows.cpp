// Rows of numbers in text, on all threads. The format is defined by the reader in Python that goes line by line
// (torchcent/io/_text.py): a row that is not read here is left to it, so that nothing here decides whether a file is
// valid.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
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

// Distinct names, in the order in which they come, with a table of hashes that is at most half full.
struct Names {
  struct Slot {
    uint32_t hash = 0;
    int32_t place = -1;
  };
  std::vector<std::string_view> names = {};
  std::vector<Slot> table = std::vector<Slot>(64);

  // The place of a name, which may be new; -1 if there are too many, or too many of like hashes, as in a hostile file.
  int64_t place(std::string_view name) {
    constexpr int kMostSteps = 1000;
    constexpr size_t kMostSlots = size_t{1} << 31;
    if (2 * names.size() == table.size()) {
      if (table.size() > kMostSlots) return -1;
      grow();
    }
    const uint32_t hash = static_cast<uint32_t>(std::hash<std::string_view>()(name));
    for (int step = 0; step < kMostSteps; ++step) {
      Slot& slot = table[(hash + step) & (table.size() - 1)];
      if (slot.place < 0) {
        slot = {hash, static_cast<int32_t>(names.size())};
        names.push_back(name);
      } else if (slot.hash != hash || names[slot.place] != name) {
        continue;
      }
      return slot.place;
    }
    return -1;
  }

  void grow() {
    std::vector<Slot> larger(4 * table.size());
    for (const Slot& slot : table) {
      size_t at = slot.hash & (larger.size() - 1);
      while (larger[at].place >= 0) at = (at + 1) & (larger.size() - 1);
      if (slot.place >= 0) larger[at] = slot;
    }
    table.swap(larger);
  }

  // The places of the names in increasing order of their bytes, which in UTF-8 is that of their characters.
  std::vector<int64_t> order() const {
    struct Key {
      uint64_t bytes;
      int64_t place;
    };
    struct Alike {
      int64_t begin, end;  // of a range of keys
      size_t depth;        // how many first bytes their names share
    };
    constexpr size_t kBytes = sizeof(uint64_t);
    std::vector<Key> keys(names.size());
    for (size_t i = 0; i < keys.size(); ++i) keys[i].place = static_cast<int64_t>(i);
    std::vector<Alike> ranges = {{0, static_cast<int64_t>(keys.size()), 0}};
    while (!ranges.empty()) {
      const auto [begin, end, depth] = ranges.back();
      ranges.pop_back();
      for (int64_t i = begin; i < end; ++i) keys[i].bytes = bytes_of(names[keys[i].place], depth);
      std::sort(keys.data() + begin, keys.data() + end, [](const Key& a, const Key& b) { return a.bytes < b.bytes; });
      for (int64_t first = begin, last = begin; first < end; first = last) {
        while (last < end && keys[last].bytes == keys[first].bytes) ++last;
        if (last - first > 1) ranges.push_back({first, last, depth + kBytes});
      }
    }
    std::vector<int64_t> places(keys.size());
    std::transform(keys.begin(), keys.end(), places.begin(), [](const Key& key) { return key.place; });
    return places;
  }

  // Eight bytes of a name as a number that orders them. Names have no zeros, so that those behind its end are unique.
  static uint64_t bytes_of(std::string_view name, size_t from) {
    uint64_t bytes = 0;
    for (size_t i = from; i < from + sizeof(bytes); ++i)
      bytes = bytes << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0);
    return bytes;
  }
};

// What a part of the text holds.
struct Part {
  const char *begin, *end;
  std::unique_ptr<int64_t[]> source, target;
  std::unique_ptr<double[]> weight;
  int64_t rows = 0;
  std::vector<int64_t> comments = {};  // begin and end of each
  Names names = {};
  int64_t irregular = -1;  // where a line begins that is not read here

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
      const char* const blanks = at;
      at = layout.skip_blanks(at, stop);
      if (layout.quotes && at < stop && *at == '"') {
        const char* const last = closing_quote(blanks, at, stop, layout);
        if (last == nullptr || read_field(k, layout.skip_blanks(at + 1, last), last, true, layout) != last)
          return false;
        at = last + 1;
      } else {
        at = read_field(k, at, stop, false, layout);
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

  const char* read_field(int64_t column, const char* at, const char* end, bool whole, const Layout& layout) {
    if (column == layout.weight) return read_weight(at, end, weight[rows]);
    const bool is_end = column == layout.source || column == layout.target;
    int64_t& id = column == layout.source ? source[rows] : target[rows];
    if (is_end && !layout.names) return read_plain_id(at, end, id);
    const char* const last = whole ? end : pass_field(at, end, layout);
    if (!is_end || last == nullptr) return last;
    const char* stop = last;
    while (stop > at && is_blank(stop[-1])) --stop;
    if (stop == at) return nullptr;
    id = names.place({at, static_cast<size_t>(stop - at)});
    return id < 0 ? nullptr : last;
  }
};

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
  Names known;
  std::vector<std::vector<int64_t>> places(parts);  // of the names of a part among those of all
  for (int64_t i = 0; i < parts; ++i) {
    const Part& each = part[i];
    rows += each.rows;
    comments += static_cast<int64_t>(each.comments.size()) / 2;
    if (irregular < 0) irregular = each.irregular;
    for (const std::string_view name : each.names.names) {
      places[i].push_back(known.place(name));
      if (places[i].back() < 0) irregular = 0;
    }
  }
  std::vector<std::string_view> list = known.names;
  if (sorted && irregular < 0) {
    const std::vector<int64_t> order = known.order();
    std::vector<int64_t> rank(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      list[i] = known.names[order[i]];
      rank[order[i]] = static_cast<int64_t>(i);
    }
    for (std::vector<int64_t>& of_part : places)
      for (int64_t& place : of_part) place = rank[place];
  }
  Tensor ids = torch::stable::new_empty(text, {2, rows}, ScalarType::Long);
  Tensor value = empty(text, weight < 0 ? 0 : rows, ScalarType::Double);
  Tensor spans = torch::stable::new_empty(text, {comments, 2}, ScalarType::Long);
  Tensor fault = empty(text, irregular < 0 ? 0 : 1, ScalarType::Long);
  int64_t* const id = ids.mutable_data_ptr<int64_t>();
  int64_t* span = spans.mutable_data_ptr<int64_t>();
  int64_t row = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const Part& each = part[i];
    const auto numbered = [&](int64_t x) { return names ? places[i][x] : x; };
    std::transform(each.source.get(), each.source.get() + each.rows, id + row, numbered);
    std::transform(each.target.get(), each.target.get() + each.rows, id + rows + row, numbered);
    if (weight >= 0) std::copy_n(each.weight.get(), each.rows, value.mutable_data_ptr<double>() + row);
    span = std::copy(each.comments.begin(), each.comments.end(), span);
    row += each.rows;
  }
  int64_t size = 0;
  for (const std::string_view name : list) size += static_cast<int64_t>(name.size()) + 1;
  Tensor lines = empty(text, size, ScalarType::Byte);
  char* letter = reinterpret_cast<char*>(lines.mutable_data_ptr<uint8_t>());
  for (const std::string_view name : list) {
    letter = std::copy(name.begin(), name.end(), letter);
    *letter++ = '\n';
  }
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
