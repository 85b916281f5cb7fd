// Contraction of chains, the paths over vertices of degree 2, in a symmetric graph without loops.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

struct Chain {
  int32_t begin, end;   // x_0 and x_{k+1}
  int64_t first, step;  // its first inner vertex, and its first step
  int64_t count = 0;    // k
};

// The chains, found from one kept vertex after the other. Each is found again at its other end, which completes it.
struct Walk {
  explicit Walk(const Csr& of) : graph(of), chain_of(of.num_nodes, kNone), waiting(of.num_nodes, kNone) {
    const int32_t n = static_cast<int32_t>(graph.num_nodes);
    for (int32_t v = 0; v < n; ++v)
      if (graph.degree(v) != 2) keep(v);
    const size_t usual = kept.size();
    for (size_t i = 0; i < usual; ++i) walk_from(kept[i]);
    for (int32_t v = 0; v < n; ++v) {  // a bare cycle keeps one vertex
      if (chain_of[v] != kNone) continue;
      keep(v);
      walk_from(v);
    }
  }

  static constexpr int64_t kNone = -1, kKept = -2;

  Csr graph;
  std::vector<int32_t> kept, inner;
  std::vector<Chain> chains;
  std::vector<int64_t> forward, back;  // the slots of each step, from x_i to x_{i+1} and from x_{i+1} to x_i

 private:
  void keep(int32_t v) {
    chain_of[v] = kKept;
    kept.push_back(v);
  }

  void walk_from(int32_t u) {
    // The edges to kept vertices from which this one has been seen.
    for (int64_t c = waiting[u]; c != kNone; c = next[c]) direct.emplace_back(chains[c].begin, c);
    std::sort(direct.begin(), direct.end());
    for (int64_t slot = graph.rowptr[u]; slot < graph.rowptr[u + 1]; ++slot) {
      const int32_t v = graph.col[slot];
      int64_t seen = chain_of[v];
      if (seen == kKept) {
        const auto at = std::lower_bound(direct.begin(), direct.end(), std::pair<int32_t, int64_t>{v, 0});
        seen = at != direct.end() && at->first == v ? at->second : kNone;
      }
      if (seen != kNone) back[chains[seen].step + chains[seen].count] = slot;
      else walk(u, slot);
    }
    direct.clear();
  }

  void walk(int32_t u, int64_t slot) {
    const int64_t number = static_cast<int64_t>(chains.size());
    Chain chain = {u, graph.col[slot], static_cast<int64_t>(inner.size()), static_cast<int64_t>(forward.size())};
    for (int32_t before = u; chain_of[chain.end] != kKept;) {
      const int32_t v = chain.end;
      chain_of[v] = number;
      inner.push_back(v);
      const int64_t one = graph.rowptr[v], other = one + 1;
      const bool to_other = graph.col[one] == before;
      forward.push_back(slot);
      back.push_back(to_other ? one : other);
      slot = to_other ? other : one;
      before = v;
      chain.end = graph.col[slot];
      ++chain.count;
    }
    forward.push_back(slot);
    back.push_back(kNone);
    next.push_back(kNone);
    if (chain.count == 0) {
      next[number] = waiting[chain.end];
      waiting[chain.end] = number;
    }
    chains.push_back(chain);
  }

  std::vector<int64_t> chain_of;       // of inner vertices
  std::vector<int64_t> waiting, next;  // lists of chains without inner vertices, by their ends
  std::vector<std::pair<int32_t, int64_t>> direct;
};

// The numbers of the kept vertices in an order of balls of neighbours, component by component.
std::vector<int32_t> numbers_in_balls(const Walk& walk, int64_t num_nodes, int64_t ball) {
  const int64_t kept = static_cast<int64_t>(walk.kept.size());
  std::vector<int32_t> place(num_nodes, -1), number(kept, -1);
  for (int64_t i = 0; i < kept; ++i) place[walk.kept[i]] = static_cast<int32_t>(i);
  std::vector<int64_t> begin(kept + 1, 0);
  for (const Chain& chain : walk.chains) {
    ++begin[place[chain.begin] + 1];
    ++begin[place[chain.end] + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<int32_t> other(begin[kept]);
  std::vector<int64_t> fill(begin.begin(), begin.end() - 1);
  for (const Chain& chain : walk.chains) {
    other[fill[place[chain.begin]]++] = place[chain.end];
    other[fill[place[chain.end]]++] = place[chain.begin];
  }
  int32_t numbered = 0;
  std::deque<int32_t> seeds, queue;
  for (int64_t v = 0; v < kept; ++v) {
    seeds.push_back(static_cast<int32_t>(v));
    while (!seeds.empty()) {
      const int32_t seed = seeds.front();
      seeds.pop_front();
      if (number[seed] >= 0) continue;
      number[seed] = numbered++;
      queue.push_back(seed);
      for (int64_t in_ball = 1; !queue.empty(); queue.pop_front())
        for (int64_t i = begin[queue.front()]; i < begin[queue.front() + 1]; ++i) {
          if (number[other[i]] >= 0) continue;
          if (in_ball == ball) {
            seeds.push_back(other[i]);
          } else {
            ++in_ball;
            number[other[i]] = numbered++;
            queue.push_back(other[i]);
          }
        }
    }
  }
  return number;
}

template <class T>
void lengths(const Walk& walk, const std::vector<int64_t>& order, const T* weight, T* along) {
  for (const int64_t c : order) {
    const Chain& chain = walk.chains[c];
    T length = 0;
    for (int64_t i = chain.step; i <= chain.step + chain.count; ++i) {
      length += weight == nullptr ? T(1) : weight[walk.forward[i]];
      *along++ = length;
    }
  }
}

Tensor of(const Tensor& like, const std::vector<int64_t>& values) {
  Tensor made = empty(like, static_cast<int64_t>(values.size()), ScalarType::Long);
  std::copy(values.begin(), values.end(), made.mutable_data_ptr<int64_t>());
  return made;
}

}  // namespace

// See ChainGraph in chains/chains.h. kept and inner are vertices of the graph; slots, [2, inner + chains], those of
// each step forwards and backwards; rowptr, head, arc the contracted graph, with two arcs of each chain from a vertex
// to itself if `loops`.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> chains(
    const Tensor& rowptr, const Tensor& col, const std::optional<Tensor>& weight, int64_t ball, bool loops) {
  const Csr graph = view(rowptr, col);
  const Walk walk(graph);
  const int64_t kept = static_cast<int64_t>(walk.kept.size()), count = static_cast<int64_t>(walk.chains.size());
  const std::vector<int32_t> place = numbers_in_balls(walk, graph.num_nodes, ball);
  std::vector<int32_t> number(graph.num_nodes, -1);
  std::vector<int64_t> vertex(kept);
  for (int64_t i = 0; i < kept; ++i) {
    number[walk.kept[i]] = place[i];
    vertex[place[i]] = walk.kept[i];
  }
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    const auto key = [&](int64_t c) {
      const Chain& chain = walk.chains[c];
      return std::tuple(chain.count == 0, number[chain.begin], number[chain.end], c);
    };
    return key(x) < key(y);
  });

  std::vector<int64_t> first = {0}, begin(kept + 1, 0);
  Tensor inner = empty(rowptr, static_cast<int64_t>(walk.inner.size()), ScalarType::Long);
  Tensor ends = empty(rowptr, 2 * count, ScalarType::Int);
  const int64_t steps = static_cast<int64_t>(walk.forward.size());
  Tensor slots = empty(rowptr, 2 * steps, ScalarType::Long);
  int64_t *to = inner.mutable_data_ptr<int64_t>(), *forward = slots.mutable_data_ptr<int64_t>();
  int64_t* back = forward + steps;
  int32_t* const end = ends.mutable_data_ptr<int32_t>();
  for (int64_t i = 0; i < count; ++i) {
    const Chain& chain = walk.chains[order[i]];
    first.push_back(first.back() + chain.count);
    to = std::copy_n(walk.inner.begin() + chain.first, chain.count, to);
    forward = std::copy_n(walk.forward.begin() + chain.step, chain.count + 1, forward);
    back = std::copy_n(walk.back.begin() + chain.step, chain.count + 1, back);
    const int32_t from = end[2 * i] = number[chain.begin], until = end[2 * i + 1] = number[chain.end];
    if (from == until && !loops) continue;
    ++begin[from + 1];
    ++begin[until + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  Tensor head = empty(rowptr, begin[kept], ScalarType::Int), arc = empty(rowptr, begin[kept], ScalarType::Long);
  int32_t* const heads = head.mutable_data_ptr<int32_t>();
  int64_t* const arcs = arc.mutable_data_ptr<int64_t>();
  std::vector<int64_t> fill(begin.begin(), begin.end() - 1);
  for (int64_t i = 0; i < 2 * count; ++i) {
    if (end[i] == end[i ^ 1] && !loops) continue;
    const int64_t at = fill[end[i]]++;
    heads[at] = end[i ^ 1];
    arcs[at] = i;
  }
  const bool whole = !weight.has_value() || weight->element_size() == 4;
  Tensor along = empty(rowptr, steps, whole ? ScalarType::Int : ScalarType::Double);
  if (whole) {
    const int32_t* const given = weight.has_value() ? weight->const_data_ptr<int32_t>() : nullptr;
    lengths(walk, order, given, along.mutable_data_ptr<int32_t>());
  } else {
    lengths(walk, order, weight->const_data_ptr<double>(), along.mutable_data_ptr<double>());
  }
  return {of(rowptr, vertex), of(rowptr, first), inner, ends, along, of(rowptr, begin), head, arc, slots};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // Of the contraction of chains, kept and inner are vertices, ends are kept ones by their numbers, and along are the
  // distances from x_0 (chains/chains.h). slots, [2, inner + chains], are those of each step, forwards and backwards.
  // loops: whether the contracted graph, rowptr, head and arc, has the arcs of chains that return to their beginning.
  m.def(
      "chains(Tensor rowptr, Tensor col, Tensor? weight, int ball, bool loops=False) -> (Tensor kept, Tensor first, "
      "Tensor inner, Tensor ends, Tensor along, Tensor rowptr, Tensor head, Tensor arc, Tensor slots)");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) { m.impl("chains", TORCH_BOX(&chains)); }

}  // namespace torchcent
