// Sums over the rows of a CSR. A row is cut into pieces of kRowPiece slots, of which each is added up from its
// beginning and then the pieces in turn, so that bits depend on the row alone: not on the number of threads, nor on the
// rows beside it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "core/cpu/tasks.h"

namespace torchcent {

inline constexpr int64_t kRowPiece = 4096;
inline constexpr int64_t kSumWorth = 4;         // numbers are added faster than the entries of threads_for are searched
inline constexpr int64_t kColumnsTogether = 8;  // columns whose sums are in registers

struct RowTerms {
  const int64_t* begin;
  const int32_t* col;    // null: slot i has row i of the values
  const double* weight;  // null: 1
  const double* values;
  int64_t width;
};

struct AddUp {
  static constexpr double empty = 0;
  static double merge(double a, double b) { return a + b; }
};

struct Largest {
  static constexpr double empty = -std::numeric_limits<double>::infinity();
  static double merge(double a, double b) { return b > a || b != b ? b : a; }
};

// Of the slots [from, to), in 4 chains of additions that do not wait for each other.
template <class Kind, bool kGather, bool kWeighted>
double of_vector(const RowTerms& rows, int64_t from, int64_t to) {
  double part[4] = {Kind::empty, Kind::empty, Kind::empty, Kind::empty};
  const auto term = [&](int64_t slot) {
    const double value = rows.values[kGather ? rows.col[slot] : slot];
    return kWeighted ? rows.weight[slot] * value : value;
  };
  int64_t slot = from;
  for (; slot + 4 <= to; slot += 4)
    for (int i = 0; i < 4; ++i) part[i] = Kind::merge(part[i], term(slot + i));
  for (int i = 0; slot < to; ++slot, ++i) part[i] = Kind::merge(part[i], term(slot));
  return Kind::merge(Kind::merge(part[0], part[1]), Kind::merge(part[2], part[3]));
}

template <class Kind>
void of_columns(const RowTerms& rows, int64_t from, int64_t to, int64_t first, int64_t count, double* result) {
  double part[kColumnsTogether];
  std::fill(part, part + kColumnsTogether, Kind::empty);
  const auto add = [&](int64_t slot, int64_t columns) {
    const double* const value = rows.values + (rows.col ? rows.col[slot] : slot) * rows.width + first;
    const double weight = rows.weight ? rows.weight[slot] : 1;
    for (int64_t c = 0; c < columns; ++c) part[c] = Kind::merge(part[c], weight * value[c]);
  };
  if (count == kColumnsTogether)
    for (int64_t slot = from; slot < to; ++slot) add(slot, kColumnsTogether);
  else
    for (int64_t slot = from; slot < to; ++slot) add(slot, count);
  std::copy(part, part + count, result + first);
}

template <class Kind>
void of_piece(const RowTerms& rows, int64_t from, int64_t to, double* result) {
  if (rows.width == 1) {
    *result = rows.col      ? rows.weight ? of_vector<Kind, true, true>(rows, from, to)
                                          : of_vector<Kind, true, false>(rows, from, to)
              : rows.weight ? of_vector<Kind, false, true>(rows, from, to)
                            : of_vector<Kind, false, false>(rows, from, to);
    return;
  }
  for (int64_t first = 0; first < rows.width; first += kColumnsTogether)
    of_columns<Kind>(rows, from, to, first, std::min(kColumnsTogether, rows.width - first), result);
}

template <class Kind>
void reduce_rows(const RowTerms& rows, int64_t n, int64_t threads, double* out) {
  const int64_t width = rows.width, slots = rows.begin[n];
  const int64_t team = threads_for((n + slots) * width / kSumWorth, threads);
  std::vector<int64_t> lengthy;
  std::mutex mutex;
  // Shares of as many rows and slots together.
  const auto row_at = [&](int64_t place) {
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (middle + rows.begin[middle] < place) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  each_range(team, n + slots, [&](int64_t from, int64_t to) {
    const int64_t last = row_at(to);
    for (int64_t r = row_at(from); r < last; ++r) {
      const int64_t begin = rows.begin[r], end = rows.begin[r + 1];
      double* const result = out + r * width;
      if (begin == end) {
        std::fill(result, result + width, 0);
      } else if (end - begin <= kRowPiece) {
        of_piece<Kind>(rows, begin, end, result);
      } else {
        const std::lock_guard lock(mutex);
        lengthy.push_back(r);
      }
    }
  });
  if (lengthy.empty()) return;
  std::vector<std::pair<int64_t, int64_t>> pieces;  // row and first slot
  for (const int64_t r : lengthy)
    for (int64_t begin = rows.begin[r]; begin < rows.begin[r + 1]; begin += kRowPiece) pieces.emplace_back(r, begin);
  std::vector<double> part(pieces.size() * width);
  each_range(team, static_cast<int64_t>(pieces.size()), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const auto [r, begin] = pieces[i];
      of_piece<Kind>(rows, begin, std::min(begin + kRowPiece, rows.begin[r + 1]), part.data() + i * width);
    }
  });
  for (size_t i = 0; i < pieces.size(); ++i) {
    double* const result = out + pieces[i].first * width;
    const double* const own = part.data() + i * width;
    const bool first = pieces[i].second == rows.begin[pieces[i].first];
    for (int64_t c = 0; c < width; ++c) result[c] = first ? own[c] : Kind::merge(result[c], own[c]);
  }
}

}  // namespace torchcent
