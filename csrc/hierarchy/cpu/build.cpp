// A contraction hierarchy of a graph with positive whole lengths (docs/hierarchy.md).
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "core/control.h"
#include "core/cpu/pages.h"
#include "core/cpu/simd_level.h"
#include "core/cpu/view.h"
#include "hierarchy/cpu/contraction.h"
#include "hierarchy/cpu/elimination_tree.h"
#include "hierarchy/cpu/neighbourhoods.h"
#include "hierarchy/cpu/overlay.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

using HierarchyTensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

std::vector<int32_t> checked(const Tensor& order, int32_t n) {
  if (order.numel() != n) throw std::invalid_argument("hierarchy: no order of the vertices");
  const int64_t* const given = order.const_data_ptr<int64_t>();
  std::vector<char> seen(n, 0);
  for (int32_t r = 0; r < n; ++r) {
    if (given[r] < 0 || given[r] >= n || seen[given[r]] != 0)
      throw std::invalid_argument("hierarchy: no order of the vertices");
    seen[given[r]] = 1;
  }
  return {given, given + n};
}

// The fill of at most so many arcs per edge, or of any number of them with 0.
OverlayLimits limits_of(const Csr& graph, double most_fill) {
  constexpr int64_t kMany = std::numeric_limits<int64_t>::max();
  if (most_fill <= 0) return {kMany, kMany};
  constexpr double kAny = 1e18;  // as good as no limit
  const double n = static_cast<double>(graph.num_nodes);
  const double arcs = std::min(most_fill * static_cast<double>(graph.num_slots() / 2), kAny);
  // A graph with separators of about sqrt(n) vertices, such as a road network, has a fraction of so many; a clique,
  // whose arcs are its edges, has more.
  constexpr int64_t kFewPairs = int64_t{1} << 20;  // no time
  return {graph.num_nodes + static_cast<int64_t>(arcs),
          kFewPairs + static_cast<int64_t>(std::min(arcs * std::sqrt(n), kAny))};
}

// The same elimination, with each subtree of the elimination tree in one piece.
std::vector<int32_t> by_subtrees(const Csr& graph, const std::vector<int32_t>& order) {
  const int32_t n = static_cast<int32_t>(order.size());
  std::vector<int32_t> rank(n), made(n);
  for (int32_t r = 0; r < n; ++r) rank[order[r]] = r;
  const std::vector<int32_t> parent = elimination_parents(n, [&](int32_t r, const auto& visit) {
    for (int64_t slot = graph.rowptr[order[r]]; slot < graph.rowptr[order[r] + 1]; ++slot)
      if (rank[graph.col[slot]] < r) visit(rank[graph.col[slot]]);
  });
  const Preorder found = preorder(parent, std::vector<int32_t>(n, 0));
  for (int32_t p = 0; p < n; ++p) made[n - 1 - p] = order[found.at[p]];
  return made;
}

// Of the elimination tree of the arcs that are left.
Preorder positions(const std::vector<OverlayArcs>& directions) {
  const int32_t n = static_cast<int32_t>(directions[0].first.size()) - 1;
  std::vector<int64_t> first(n + 1, 0);  // of the arcs from below
  for (const OverlayArcs& all : directions)
    for (const int32_t x : all.to) ++first[x + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<int32_t> below(first[n]), arcs(n, 0);
  std::vector<int64_t> fill(first.begin(), first.end() - 1);
  for (const OverlayArcs& all : directions)
    for (int32_t r = 0; r < n; ++r) {
      arcs[r] += static_cast<int32_t>(all.first[r + 1] - all.first[r]);
      for (int64_t k = all.first[r]; k < all.first[r + 1]; ++k) below[fill[all.to[k]]++] = r;
    }
  const std::vector<int32_t> parent = elimination_parents(n, [&](int32_t r, const auto& visit) {
    for (int64_t k = first[r]; k < first[r + 1]; ++k) visit(below[k]);
  });
  return preorder(parent, arcs);
}

Csr renumbered(const Csr& graph, const std::vector<int32_t>& vertex, const std::vector<int32_t>& position,
               std::vector<int64_t>& rowptr, std::vector<int32_t>& col) {
  rowptr.assign(1, 0);
  col.clear();
  for (const int32_t v : vertex) {
    for (int64_t slot = graph.rowptr[v]; slot < graph.rowptr[v + 1]; ++slot) col.push_back(position[graph.col[slot]]);
    rowptr.push_back(static_cast<int64_t>(col.size()));
  }
  return {graph.num_nodes, rowptr.data(), col.data()};
}

}  // namespace

Tensor hierarchy_order(const Tensor& rowptr, const Tensor& col, double most_fill, Tensor& control, int64_t threads) {
  const Csr graph = view(rowptr, col);
  const int workers = static_cast<int>(std::max<int64_t>(threads, 1));
  const std::vector<int32_t> order =
      contraction_order(graph, limits_of(graph, most_fill).arcs, workers, &control_of(control).cancel);
  Tensor made = empty(rowptr, static_cast<int64_t>(order.size()), ScalarType::Long);
  std::copy(order.begin(), order.end(), made.mutable_data_ptr<int64_t>());
  return made;
}

HierarchyTensors hierarchy(const Tensor& rowptr, const Tensor& col, const std::optional<Tensor>& weight,
                           double most_fill, Tensor& control, int64_t threads, const std::optional<Tensor>& order,
                           const std::optional<Tensor>& arc) {
  const Csr graph = view(rowptr, col);
  const int32_t n = static_cast<int32_t>(graph.num_nodes);
  const int workers = static_cast<int>(std::max<int64_t>(threads, 1));
  const OverlayLimits limits = limits_of(graph, most_fill);
  const int64_t* const cancel = &control_of(control).cancel;
  std::vector<int32_t> contracted;
  if (order.has_value()) contracted = checked(*order, n);
  else contracted = contraction_order(graph, limits.arcs, workers, cancel);
  Overlay overlay;
  if (static_cast<int32_t>(contracted.size()) == n) {
    contracted = by_subtrees(graph, contracted);
    const int64_t* const slot = arc.has_value() ? arc->const_data_ptr<int64_t>() : nullptr;
    const auto fill = [&](const auto* weights) {
      using Weight = std::remove_cvref_t<decltype(*weights)>;
      overlay = filled(ContractedGraph<Weight>{graph, slot, weights}, contracted, limits, cancel);
    };
    if (!weight.has_value()) fill(static_cast<const int32_t*>(nullptr));
    else if (weight->element_size() == 4) fill(weight->const_data_ptr<int32_t>());
    else fill(weight->const_data_ptr<double>());
  }
  const auto made = [&](int64_t size, ScalarType type) {
    Tensor array = empty(rowptr, size, type);
    with_huge_pages(static_cast<char*>(array.mutable_data_ptr()), size * array.element_size());
    return array;
  };
  const auto nothing = [&]() -> HierarchyTensors {
    const auto none = [&](ScalarType type) { return made(0, type); };
    return {none(ScalarType::Long),   none(ScalarType::Long), none(ScalarType::Int),  none(ScalarType::Long),
            none(ScalarType::Double), none(ScalarType::Int),  none(ScalarType::Long), none(ScalarType::Int),
            none(ScalarType::Int),    none(ScalarType::Int)};
  };
  if (overlay.first.empty()) return nothing();
  // Arcs, or pairs of directed ones, before those are removed that are longer than distances.
  control_of(control).work = static_cast<int64_t>(overlay.to.size());
  std::vector<OverlayArcs> directions = customise(overlay, cancel);
  if (directions.empty()) return nothing();
  if (directions.size() == 2) std::swap(directions[0], directions[1]);  // down, up

  const Preorder found = positions(directions);
  if (cancelled(cancel)) return nothing();
  std::vector<int32_t> vertex(n), position(n), of_rank(n);
  for (int32_t p = 0; p < n; ++p) {
    vertex[p] = contracted[found.at[p]];
    position[vertex[p]] = of_rank[found.at[p]] = p;
  }
  int64_t arcs = 0;
  for (const OverlayArcs& all : directions) arcs += all.first[n];
  const int64_t rows_of_first = static_cast<int64_t>(directions.size());
  Tensor vertices = made(n, ScalarType::Long), first = made(rows_of_first * (n + 1), ScalarType::Long),
         to = made(arcs, ScalarType::Int), length = made(arcs, ScalarType::Long),
         paths = made(arcs, ScalarType::Double), powers = made(arcs, ScalarType::Int),
         slot = made(arcs, ScalarType::Long), last = made(n, ScalarType::Int), sequence = made(n, ScalarType::Int),
         split = made(n, ScalarType::Int);
  std::copy(vertex.begin(), vertex.end(), vertices.mutable_data_ptr<int64_t>());
  std::copy(found.last.begin(), found.last.end(), last.mutable_data_ptr<int32_t>());
  int64_t* begin = first.mutable_data_ptr<int64_t>();
  int64_t at = 0;
  for (const OverlayArcs& all : directions) {
    for (int32_t p = 0; p < n; ++p) {
      *begin++ = at;
      const int32_t r = found.at[p];
      for (int64_t k = all.first[r]; k < all.first[r + 1]; ++k, ++at) {
        to.mutable_data_ptr<int32_t>()[at] = of_rank[all.to[k]];
        length.mutable_data_ptr<int64_t>()[at] = all.values.length[k];
        paths.mutable_data_ptr<double>()[at] = all.values.paths[k];
        powers.mutable_data_ptr<int32_t>()[at] = all.values.powers[k];
        slot.mutable_data_ptr<int64_t>()[at] = all.values.slot[k];
      }
    }
    *begin++ = at;
  }
  if (cancelled(cancel)) return nothing();
  std::vector<int64_t> rows;
  std::vector<int32_t> columns;
  const Neighbourhoods near = neighbourhoods(renumbered(graph, vertex, position, rows, columns), workers, cancel);
  if (cancelled(cancel)) return nothing();
  std::copy(near.sequence.begin(), near.sequence.end(), sequence.mutable_data_ptr<int32_t>());
  std::copy(near.depth.begin(), near.depth.end(), split.mutable_data_ptr<int32_t>());
  return {vertices, first, to, length, paths, powers, slot, last, sequence, split};
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // A contraction hierarchy of a symmetric graph (hierarchy/cpu/build.cpp). vertex is that at each position, in
  // preorder of the elimination tree, and last the end of its subtree; arcs lead up, from first on, nearest ancestor
  // first. Their multiplicities are paths * 2^(512 powers). slot: of the edge that is as long as the arc, or -1. In
  // sequence, positions near each other in the graph stand together, and split is larger, the closer one is to the one
  // before. All are empty if cancelled, and if the arcs exceed n + most_fill times the edges or have too many
  // triangles. order: the vertices, first contracted first. hierarchy_order finds a good one, which serves all weights;
  // it is empty if cancelled, and if there would certainly be more arcs than that. With arc, the hierarchy is that of a
  // directed graph: the symmetric one has its arcs in both directions, arc is the slot of each or -1, and weight is by
  // slot. Then there are arcs down, from first[:n + 1] on, and arcs up, from first[n + 1:] on.
  m.def(
      "hierarchy(Tensor rowptr, Tensor col, Tensor? weight, float most_fill, Tensor(a!) control, int threads=1, "
      "Tensor? order=None, Tensor? arc=None) -> (Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor paths, "
      "Tensor powers, Tensor slot, Tensor last, Tensor sequence, Tensor split)");
  m.def("hierarchy_order(Tensor rowptr, Tensor col, float most_fill, Tensor(a!) control, int threads=1) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("hierarchy", TORCH_BOX(&hierarchy));
  m.impl("hierarchy_order", TORCH_BOX(&hierarchy_order));
}

}  // namespace torchcent
