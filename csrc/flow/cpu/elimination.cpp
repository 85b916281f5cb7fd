// Inverse Laplacians by elimination: vertices of low degree are eliminated one by one, which leaves a smaller network
// for a dense inverse, and the rows of the others follow from it.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "core/cpu/pages.h"
#include "core/cpu/tasks.h"
#include "core/cpu/team.h"
#include "core/cpu/view.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int64_t kBlock = 64;  // rows of the inverse that are completed together

using Arcs = std::vector<std::pair<int32_t, double>>;  // neighbours in increasing order, and conductances

// The network while vertices are eliminated. An eliminated leaf stays in the list of its neighbour until that is next
// read, since taking it out of the list of a hub costs as much as the hub has neighbours.
struct Network {
  std::vector<Arcs> arcs;
  std::vector<int64_t> degree;  // neighbours that are left
  std::vector<bool> gone;

  const Arcs& of(int32_t v) {
    Arcs& own = arcs[v];
    if (static_cast<int64_t>(own.size()) > degree[v])
      own.erase(std::remove_if(own.begin(), own.end(), [&](const auto& arc) { return gone[arc.first]; }), own.end());
    return own;
  }
};

// The star-mesh transform: each pair of neighbours of v gets the conductance of its path over v.
void eliminate(Network& network, int32_t v, double total, Arcs& merged) {
  const Arcs& star = network.of(v);
  network.gone[v] = true;
  if (star.size() == 1) {
    --network.degree[star[0].first];
    return;
  }
  for (const auto& [u, to_u] : star) {
    merged.clear();
    const double share = to_u / total;
    auto old = network.arcs[u].cbegin();
    const auto end = network.arcs[u].cend();
    for (const auto& [w, to_w] : star) {
      if (w == u) continue;
      for (; old != end && old->first < w; ++old)
        if (!network.gone[old->first]) merged.push_back(*old);
      double conductance = share * to_w;
      if (old != end && old->first == w) conductance += (old++)->second;
      merged.emplace_back(w, conductance);
    }
    for (; old != end; ++old)
      if (!network.gone[old->first]) merged.push_back(*old);
    network.arcs[u].assign(merged.begin(), merged.end());
    network.degree[u] = static_cast<int64_t>(merged.size());
  }
}

}  // namespace

// Eliminates the vertices, those of the lowest degree first, as long as a degree times `ratio` is at most the number of
// vertices left; never vertex `ground`. Vertices are numbered: `ground` 0, then the others that are left, then those
// eliminated, the last one first. Returns `number` of each vertex; the Laplacian of the network left, with a row and a
// column of zeros for `ground` and 1 on its diagonal; and of each eliminated vertex the numbers of its neighbours when
// it was eliminated (`ptr`, `neighbour`), their shares of its conductance, and the reciprocal of its sum.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> eliminated(const Tensor& ends, const Tensor& conductance,
                                                                      int64_t num_nodes, int64_t ground,
                                                                      int64_t ratio) {
  const int64_t n = num_nodes, m = conductance.numel();
  const int64_t* const end = ends.const_data_ptr<int64_t>();
  const double* const weight = conductance.const_data_ptr<double>();
  Network network = {std::vector<Arcs>(n), std::vector<int64_t>(n), std::vector<bool>(n)};
  std::vector<Arcs>& graph = network.arcs;
  for (int64_t i = 0; i < 2 * m; ++i) ++network.degree[end[i]];
  for (int64_t v = 0; v < n; ++v) graph[v].reserve(network.degree[v]);
  for (int64_t e = 0; e < m; ++e) {
    graph[end[e]].emplace_back(static_cast<int32_t>(end[m + e]), weight[e]);
    graph[end[m + e]].emplace_back(static_cast<int32_t>(end[e]), weight[e]);
  }
  using Entry = std::pair<int64_t, int32_t>;  // degree and vertex
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> next;
  const auto enter = [&](int32_t v) {
    if (v != ground) next.emplace(network.degree[v], v);
  };
  for (int64_t v = 0; v < n; ++v) {
    std::sort(graph[v].begin(), graph[v].end());
    enter(static_cast<int32_t>(v));
  }
  std::vector<int32_t> order;  // of elimination
  std::vector<double> total(n);
  Arcs merged;
  int64_t entries = 0;
  while (!next.empty()) {
    const auto [degree, v] = next.top();
    next.pop();
    if (network.gone[v] || degree != network.degree[v]) continue;
    if (degree * ratio > n - static_cast<int64_t>(order.size())) break;
    for (const auto& [u, to_u] : network.of(v)) total[v] += to_u;
    eliminate(network, v, total[v], merged);
    order.push_back(v);
    entries += degree;
    for (const auto& [u, to_u] : graph[v]) enter(u);
  }

  Tensor numbers = empty(ends, n, ScalarType::Long);
  int64_t* const number = numbers.mutable_data_ptr<int64_t>();
  int64_t left = 1;
  for (int64_t v = 0; v < n; ++v)
    if (!network.gone[v]) number[v] = v == ground ? 0 : left++;
  const auto count = static_cast<int64_t>(order.size());
  for (int64_t i = 0; i < count; ++i) number[order[i]] = n - 1 - i;

  Tensor matrix = torch::stable::new_zeros(conductance, {left, left}, ScalarType::Double);
  double* const entry = matrix.mutable_data_ptr<double>();
  entry[0] = 1;
  for (int64_t v = 0; v < n; ++v) {
    if (network.gone[v] || v == ground) continue;
    double* const row = entry + number[v] * left;
    for (const auto& [u, to_u] : network.of(static_cast<int32_t>(v))) {
      row[number[v]] += to_u;
      if (u != ground) row[number[u]] = -to_u;
    }
  }

  Tensor ptrs = empty(ends, count + 1, ScalarType::Long), neighbours = empty(ends, entries, ScalarType::Int);
  Tensor shares = empty(ends, entries, ScalarType::Double), owns = empty(ends, count, ScalarType::Double);
  int64_t* const ptr = ptrs.mutable_data_ptr<int64_t>();
  int32_t* neighbour = neighbours.mutable_data_ptr<int32_t>();
  double* share = shares.mutable_data_ptr<double>();
  double* const own = owns.mutable_data_ptr<double>();
  ptr[0] = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t v = order[count - 1 - i];
    own[i] = 1 / total[v];
    for (const auto& [u, to_u] : graph[v]) {
      *neighbour++ = static_cast<int32_t>(number[u]);
      *share++ = to_u / total[v];
    }
    ptr[i + 1] = ptr[i] + static_cast<int64_t>(graph[v].size());
  }
  return {numbers, matrix, ptrs, neighbours, shares, owns};
}

// The inverse of all vertices, [n, n], from that of the vertices left by `eliminated`. The row of an eliminated vertex
// is the mean of those of its neighbours by their shares, plus `own` on the diagonal.
Tensor expanded(const Tensor& inverse, const Tensor& ptr, const Tensor& neighbour, const Tensor& share,
                const Tensor& own, int64_t threads) {
  const int64_t left = inverse.size(0), n = left + own.numel();
  const double* const core = inverse.const_data_ptr<double>();
  const int64_t* const begin = ptr.const_data_ptr<int64_t>();
  const int32_t* const index = neighbour.const_data_ptr<int32_t>();
  const double* const part = share.const_data_ptr<double>();
  const double* const diagonal = own.const_data_ptr<double>();
  Tensor result = torch::stable::new_empty(inverse, {n, n}, ScalarType::Double);
  double* const z = with_huge_pages(result.mutable_data_ptr<double>(), n * n);
  Team team(static_cast<int>(threads_for(n * n, threads)));
  const auto in_parts = [&](int64_t size, auto work) {
    const int64_t parts = team.size();
    team.run([&](int rank) {
      const auto [from, to] = part_of(size, rank, parts);
      work(from, to);
    });
  };
  in_parts(left, [&](int64_t from, int64_t to) {
    for (int64_t v = from; v < to; ++v) std::copy_n(core + v * left, left, z + v * n);
  });
  const auto add_row = [&](int64_t v, int64_t from, int64_t to) {  // columns [from, to) of row v
    double* const row = z + v * n;
    std::fill(row + from, row + to, 0.0);
    for (int64_t i = begin[v - left]; i < begin[v - left + 1]; ++i) {
      const double factor = part[i];
      const double* const other = z + index[i] * n;
      for (int64_t j = from; j < to; ++j) row[j] += factor * other[j];
    }
  };
  constexpr int64_t kColumns = 1024;  // of a row, so that the rows of a block are read from the cache
  for (int64_t first = left; first < n; first += kBlock) {
    const int64_t last = std::min(first + kBlock, n);
    in_parts(first, [&](int64_t from, int64_t to) {
      for (int64_t j = from; j < to; j += kColumns)
        for (int64_t v = first; v < last; ++v) add_row(v, j, std::min(j + kColumns, to));
    });
    in_parts(first, [&](int64_t from, int64_t to) {
      for (int64_t u = from; u < to; ++u)
        for (int64_t v = first; v < last; ++v) z[u * n + v] = z[v * n + u];
    });
    for (int64_t v = first; v < last; ++v) {
      add_row(v, first, v);
      for (int64_t u = first; u < v; ++u) z[u * n + v] = z[v * n + u];
      double sum = diagonal[v - left];
      for (int64_t i = begin[v - left]; i < begin[v - left + 1]; ++i) sum += part[i] * z[index[i] * n + v];
      z[v * n + v] = sum;
    }
  }
  return result;
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // eliminated leaves out vertices of low degree, expanded computes the rows of the inverse Laplacian that they have.
  m.def(
      "eliminated(Tensor ends, Tensor conductance, int num_nodes, int ground, int ratio) -> "
      "(Tensor number, Tensor matrix, Tensor ptr, Tensor neighbour, Tensor share, Tensor own)");
  m.def("expanded(Tensor inverse, Tensor ptr, Tensor neighbour, Tensor share, Tensor own, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("eliminated", TORCH_BOX(&eliminated));
  m.impl("expanded", TORCH_BOX(&expanded));
}

}  // namespace torchcent
