// Random shortest paths by climbs in a hierarchy (point_to_point.h), and what they read besides the hierarchy.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "core/records.h"
#include "core/control.h"
#include "core/cpu/pages.h"
#include "core/cpu/view.h"
#include "hierarchy/cpu/parts.h"
#include "hierarchy/cpu/point_to_point.h"
#include "hierarchy/cpu/swept.h"
#include "samples/cpu/sample_runs.h"

namespace torchcent {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

constexpr int64_t kEntriesOfArc = 4;  // int32 of ClimbArc and of ArcParts
static_assert(sizeof(ClimbArc) == kEntriesOfArc * sizeof(int32_t));
static_assert(sizeof(ArcParts) == kEntriesOfArc * sizeof(int32_t));

// A choice of an arc that has several.
struct ArcChoice {
  int64_t arc;
  ArcParts parts;
};

// The choices of arcs that have several, arc by arc; `parts` gets those of the others. Not complete if cancelled.
std::vector<ArcChoice> find_parts(const Hierarchy& h, const int64_t* slot, const int64_t* cancel, ArcParts* parts) {
  std::vector<ArcChoice> several;
  std::fill_n(parts, h.arcs(), ArcParts{-1, -1, -1, 0});
  each_part(h, h.directed(), cancel, [&](int64_t k, int64_t i, int64_t j, int64_t p, bool) {
    const ArcParts found = {static_cast<int32_t>(i), static_cast<int32_t>(j), static_cast<int32_t>(p), 1};
    ArcParts& known = parts[k];
    if (known.choices == 0 && slot[k] < 0) {
      known = found;
      return;
    }
    if (known.choices == 1) several.push_back({k, known});
    if (known.choices == 0) several.push_back({k, {-1, -1, -1, 1}});  // the edge
    known.choices = 2;
    several.push_back({k, found});
  });
  std::stable_sort(several.begin(), several.end(),
                   [](const ArcChoice& a, const ArcChoice& b) { return a.arc < b.arc; });
  return several;
}

// The rows of the highest vertices (ClimbIndex), and which these are.
template <class Length>
struct ClimbRows {
  std::vector<int32_t> top, branch;
  std::vector<int64_t> row;
  std::vector<Length> rows;  // those up, and of a directed graph those down
};

// Subtrees of vertices with rows have at least so many vertices that the rows have at most `most` entries.
int32_t least_subtree(const Hierarchy& h, const int32_t* depth, int64_t most) {
  std::vector<int64_t> entries(32, 0);  // by the logarithm of the size of the subtree, rounded down
  for (int64_t p = 0; p < h.size; ++p) entries[31 - __builtin_clz(h.last[p] - static_cast<int32_t>(p))] += depth[p];
  int least = 31;
  for (int64_t sum = 0; least > 0 && (sum += entries[least - 1]) <= most;) --least;
  return least == 31 ? std::numeric_limits<int32_t>::max() : int32_t{1} << least;
}

// Over the arcs of a vertex, from `first` on, and the rows above it.
template <class Length>
void find_row(const Hierarchy& h, const int64_t* first, const int32_t* depth, const ClimbRows<Length>& known, int64_t p,
              Length* rows) {
  using Index = ClimbIndex<Length>;
  const GoOn<Length> go_on = TORCHCENT_CALL_SCALAR(go_on<Length>);
  Length* const own = rows + known.row[p];
  for (int64_t i = first[p]; i < first[p + 1]; ++i) {
    if (h.length[i] > Index::kLongest) continue;
    const int32_t upper = depth[h.to[i]];
    const auto length = static_cast<Length>(h.length[i]);
    go_on(own, rows + known.row[h.to[i]], length, upper);
    own[upper] = std::min(own[upper], length);
  }
  for (int32_t k = 0; k < depth[p]; ++k) own[k] = own[k] > Index::kLongest ? Index::kNone : own[k];
}

// Not complete if cancelled.
template <class Length>
ClimbRows<Length> find_rows(const Hierarchy& h, const int32_t* depth, int64_t longest, int64_t most,
                            const int64_t* cancel) {
  const int32_t none = std::numeric_limits<int32_t>::max();
  const int64_t directions = h.directed() ? 2 : 1;
  const int32_t least = longest < ClimbIndex<Length>::kLongest ? least_subtree(h, depth, most / directions) : none;
  ClimbRows<Length> made = {
      std::vector<int32_t>(h.size), std::vector<int32_t>(h.size), std::vector<int64_t>(h.size, -1), {}};
  std::vector<int32_t> above;  // ancestors
  int64_t size = 0;
  for (int32_t p = 0; p < h.size; ++p) {
    while (!above.empty() && h.last[above.back()] <= p) above.pop_back();
    const int32_t parent = above.empty() ? -1 : above.back();
    above.push_back(p);
    const bool alone = parent >= 0 && p == parent + 1 && h.last[p] == h.last[parent];
    made.branch[p] = alone ? made.branch[parent] : parent;
    made.top[p] = parent < 0 ? 0 : made.top[parent];
    if (h.last[p] - p < least) continue;
    ++made.top[p];
    made.row[p] = size;
    size += depth[p];
  }
  made.rows.assign(directions * size, ClimbIndex<Length>::kNone);
  for (int64_t p = 0; p < h.size; ++p) {
    if (made.row[p] < 0) continue;
    if (cancelled(cancel)) break;
    find_row(h, h.up, depth, made, p, made.rows.data());
    if (h.directed()) find_row(h, h.down, depth, made, p, made.rows.data() + size);
  }
  return made;
}

template <class T>
Tensor index_tensor(const Tensor& like, const std::vector<T>& values) {
  const auto size = static_cast<int64_t>(values.size());
  Tensor made = empty(like, size, sizeof(T) == 4 ? ScalarType::Int : ScalarType::Long);
  std::copy(values.begin(), values.end(), with_huge_pages(made.mutable_data_ptr<T>(), size));
  return made;
}

}  // namespace

// The arrays of ClimbIndex: depth, arcs, parts and choice, those of records as rows of int32; top, branch, row and
// rows, at most so many entries per vertex. All are empty if cancelled.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> hierarchy_climbs(
    const Tensor& first, const Tensor& to, const Tensor& length, const Tensor& slot, const Tensor& last,
    int64_t longest, int64_t entries, Tensor& control) {
  const Hierarchy h = hierarchy_of({nullptr, &first, &to, &length, nullptr, nullptr, &last});
  const int64_t* const cancel = &control_of(control).cancel;
  const auto made = [&](int64_t size) {
    Tensor array = empty(first, size, ScalarType::Int);
    with_huge_pages(array.mutable_data_ptr<int32_t>(), size);
    return array;
  };
  Tensor depths = made(h.size), arcs = made(kEntriesOfArc * h.arcs()), parts = made(kEntriesOfArc * h.arcs());
  int32_t* const depth = depths.mutable_data_ptr<int32_t>();
  std::vector<int64_t> above;  // ends of the ranges around a position
  for (int64_t p = 0; p < h.size; ++p) {
    while (!above.empty() && above.back() <= p) above.pop_back();
    depth[p] = static_cast<int32_t>(above.size());
    above.push_back(h.last[p]);
  }
  auto* const arc = reinterpret_cast<ClimbArc*>(arcs.mutable_data_ptr<int32_t>());
  for (int64_t i = 0; i < h.arcs(); ++i) arc[i] = {depth[h.to[i]], h.to[i], h.length[i]};
  const auto rows = [&](const auto& highest) {
    return std::array{index_tensor(first, highest.top), index_tensor(first, highest.branch),
                      index_tensor(first, highest.row), index_tensor(first, highest.rows)};
  };
  const std::array<Tensor, 4> highest = longest < ClimbIndex<int32_t>::kLongest
                                            ? rows(find_rows<int32_t>(h, depth, longest, entries * h.size, cancel))
                                            : rows(find_rows<int64_t>(h, depth, longest, entries * h.size, cancel));

  auto* const part = reinterpret_cast<ArcParts*>(parts.mutable_data_ptr<int32_t>());
  std::vector<ArcChoice> several = find_parts(h, slot.const_data_ptr<int64_t>(), cancel, part);
  if (cancelled(cancel)) {
    const Tensor none = made(0);
    return {none, none, none, none, none, none, empty(first, 0, ScalarType::Long), none};
  }
  for (size_t i = 0; i < several.size();) {
    ArcParts& all = part[several[i].arc];
    all = {static_cast<int32_t>(i), -1, -1, 0};
    for (const int64_t k = several[i].arc; i < several.size() && several[i].arc == k; ++i) ++all.choices;
  }
  // Edges are known by -1, so that they need not be looked up.
  const auto marked = [&](int32_t& k) { k = k >= 0 && part[k].choices == 0 ? -1 : k; };
  for (int64_t k = 0; k < h.arcs(); ++k)
    if (part[k].choices == 1) {
      marked(part[k].lower);
      marked(part[k].upper);
    }
  Tensor choices = made(kEntriesOfArc * static_cast<int64_t>(several.size()));
  auto* const choice = reinterpret_cast<ArcParts*>(choices.mutable_data_ptr<int32_t>());
  for (size_t i = 0; i < several.size(); ++i) {
    choice[i] = several[i].parts;
    marked(choice[i].lower);
    marked(choice[i].upper);
  }
  return {depths, arcs, parts, choices, highest[0], highest[1], highest[2], highest[3]};
}

namespace {

// The arguments of both operators.
struct Climbs {
  const Tensor &first, &paths, &powers, &last, &depth, &arcs, &parts, &choice, &top, &branch, &row, &rows, &position,
      &vertex, &parent;
  int64_t height;

  ClimbArcs of_arcs() const {
    const Hierarchy h = hierarchy_of({nullptr, &first, nullptr, nullptr, &paths, &powers, &last});
    return {h.down,
            h.up,
            h.paths,
            h.powers,
            last.const_data_ptr<int32_t>(),
            depth.const_data_ptr<int32_t>(),
            reinterpret_cast<const ClimbArc*>(arcs.const_data_ptr<int32_t>()),
            reinterpret_cast<const ArcParts*>(parts.const_data_ptr<int32_t>()),
            reinterpret_cast<const ArcParts*>(choice.const_data_ptr<int32_t>()),
            height,
            top.const_data_ptr<int32_t>(),
            branch.const_data_ptr<int32_t>(),
            row.const_data_ptr<int64_t>(),
            position.numel(),
            position.const_data_ptr<int32_t>(),
            vertex.const_data_ptr<int32_t>(),
            parent.const_data_ptr<int32_t>()};
  }

  template <class Length>
  ClimbIndex<Length> index() const {
    const ClimbArcs all = of_arcs();
    const Length *const up_rows = rows.const_data_ptr<Length>(), *const down_rows = all.up == all.down
                                                                                        ? up_rows
                                                                                        : up_rows + rows.numel() / 2;
    return {all, up_rows, down_rows, TORCHCENT_CALL_SCALAR(go_on<Length>)};
  }
};

// The paths of one thread, of samples before `past`. ends(number): the pair of a sample.
template <class Length, class Ends>
class ClimbSampler {
 public:
  ClimbSampler(const ClimbIndex<Length>& index, uint64_t seed, uint64_t past, const Ends& ends, const int64_t* cancel)
      : search_(index, seed), past_(past), ends_(ends), cancel_(cancel) {}

  // See HopSampler.
  template <class Sink>
  bool run(uint64_t sample, Sink& sink) {
    if (__atomic_load_n(cancel_, __ATOMIC_RELAXED) != 0) return false;
    const Pair ends = ends_(sample);
    if (sample + 1 < past_) search_.expect(ends_(sample + 1));
    search_.run(sample, ends, sink);
    if constexpr (requires { sink.end(ends); }) sink.end(ends);
    return true;
  }
  int64_t arcs() const { return search_.arcs(); }

 private:
  PointToPoint<Length> search_;
  const uint64_t past_;
  const Ends ends_;
  const int64_t* cancel_;
};

// Counts the inner vertices of all samples, of arcs that are one path only at the end: all samples share the passes
// over these. Bits are those of single vertices.
class ArcCounts {
 public:
  ArcCounts(const ClimbArcs& index, int64_t arcs, int64_t samples, int64_t* counts, bool alone)
      : index_(index), counts_(counts), alone_(alone) {
    if (samples >= arcs / kPass && samples < std::numeric_limits<int32_t>::max()) {
      arcs_.reserve(arcs);
      with_huge_pages(arcs_.data(), arcs);
      arcs_.resize(arcs);
    }
  }

  struct Sample {
    static constexpr bool ordered = false;
    ArcCounts& all;
    void found() {}
    void vertex(int32_t v, Purpose) { all.add(all.counts_ + v); }
    bool counts_arcs() const { return !all.arcs_.empty(); }
    void arc(int32_t k) { all.add(all.arcs_.data() + k); }
  };
  Sample sample(int64_t) { return {*this}; }

  // From arcs between higher vertices to their parts, whose lower ends come later.
  void unpack(int64_t size) {
    if (arcs_.empty()) return;
    for (int64_t p = 0; p < size; ++p) {
      unpack_arcs(index_.down, p);
      if (index_.up != index_.down) unpack_arcs(index_.up, p);
    }
  }

 private:
  void unpack_arcs(const int64_t* first, int64_t p) {
    for (int64_t k = first[p]; k < first[p + 1]; ++k) {
      const ArcParts& parts = index_.parts[k];
      if (arcs_[k] == 0 || parts.choices == 0) continue;
      counts_[index_.vertex[parts.below]] += arcs_[k];
      for (const int32_t each : {parts.lower, parts.upper})
        if (each >= 0) arcs_[each] += arcs_[k];
    }
  }

  static constexpr int64_t kPass = 4096;  // arcs, which take as long as the inner vertices of a sample

  template <class Count>
  void add(Count* count) {
    if (alone_) ++*count;
    else __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
  }

  const ClimbArcs index_;
  int64_t* const counts_;
  const bool alone_;
  std::vector<int32_t> arcs_;
};

// Counts the slots of the arcs of all samples.
struct SlotCounts {
  const Csr graph;
  int64_t* const counts;

  struct Sample : SamplePaths::Sample {
    const SlotCounts& all;
    explicit Sample(const SlotCounts& counts) : all(counts) {}
    void end(Pair ends) {
      if (!exists) return;
      int32_t from = ends.source;
      const auto go = [&](int32_t to) {
        const int32_t *const begin = all.graph.col + all.graph.rowptr[from], *const past = all.graph.col +
                                                                                           all.graph.rowptr[from + 1];
        const int64_t slot = std::lower_bound(begin, past, to) - all.graph.col;
        __atomic_fetch_add(all.counts + slot, 1, __ATOMIC_RELAXED);
        from = to;
      };
      std::for_each(back.rbegin(), back.rend(), go);
      std::for_each(on.begin(), on.end(), go);
      go(ends.target);
    }
  };
  Sample sample(int64_t) { return Sample(*this); }
};

template <class Sink, class Ends>
void run_climbs(const Climbs& given, int64_t seed, int64_t number, int64_t count, Sink& sink, Control& control,
                int64_t threads, const Ends& ends) {
  const auto run = [&]<class Length>(const ClimbIndex<Length>& index) {
    if (index.num_nodes < 2) return;
    run_samples(number, count, sink, control, threads, [&] {
      return ClimbSampler<Length, Ends>(index, static_cast<uint64_t>(seed), static_cast<uint64_t>(number + count), ends,
                                        &control.cancel);
    });
  };
  if (given.rows.scalar_type() == ScalarType::Int) run(given.index<int32_t>());
  else run(given.index<int64_t>());
}

}  // namespace

Tensor hierarchy_sample_paths(const std::vector<Tensor>& climbs, int64_t height, int64_t seed, int64_t number,
                              int64_t count, Tensor& counts, Tensor& control, int64_t threads) {
  const Climbs given = record<Climbs, 15>(climbs, height);
  ArcCounts sink(given.of_arcs(), given.paths.numel(), count, counts.mutable_data_ptr<int64_t>(), threads == 1);
  run_climbs(given, seed, number, count, sink, control_of(control), threads,
             [&](uint64_t sample) { return random_pair(static_cast<uint64_t>(seed), sample, given.position.numel()); });
  sink.unpack(given.last.numel());
  return torch::stable::new_empty(control, {0});
}

// The same for slots of the graph.
Tensor hierarchy_sample_arcs(const std::vector<Tensor>& climbs, int64_t height, const Tensor& rowptr, const Tensor& col,
                             int64_t seed, int64_t number, int64_t count, Tensor& counts, Tensor& control,
                             int64_t threads) {
  const Climbs given = record<Climbs, 15>(climbs, height);
  SlotCounts sink{view(rowptr, col), counts.mutable_data_ptr<int64_t>()};
  run_climbs(given, seed, number, count, sink, control_of(control), threads,
             [&](uint64_t sample) { return random_pair(static_cast<uint64_t>(seed), sample, given.position.numel()); });
  return torch::stable::new_empty(control, {0});
}

// The vertices of the same samples or, where they are given, of random paths between pairs of vertices.
Tensor hierarchy_draw_paths(const std::vector<Tensor>& climbs, int64_t height, int64_t seed, int64_t number,
                            int64_t count, Tensor& length, Tensor& control, int64_t threads,
                            const std::optional<Tensor>& pairs) {
  const Climbs given = record<Climbs, 15>(climbs, height);
  const int64_t* const known = pairs.has_value() ? pairs->const_data_ptr<int64_t>() : nullptr;
  const auto ends = [&](uint64_t sample) {
    if (known == nullptr) return random_pair(static_cast<uint64_t>(seed), sample, given.position.numel());
    const int64_t at = static_cast<int64_t>(sample) - number;
    return Pair{static_cast<int32_t>(known[at]), static_cast<int32_t>(known[count + at])};
  };
  SamplePaths sink(count);
  run_climbs(given, seed, number, count, sink, control_of(control), threads, ends);
  return sink.flat([&](int64_t i) { return ends(static_cast<uint64_t>(number + i)); }, length, control);
}

STABLE_TORCH_LIBRARY_FRAGMENT(torchcent, m) {
  // The samples of sample_paths and draw_paths by climbs in a hierarchy (hierarchy/cpu/point_to_point.h). climbs: the
  // tensors of Climbs. The vertices of the hierarchy are those of the core of a graph: position, int32 [n], is that in
  // the hierarchy or -1, and parent, int32 [n], the next vertex of a tree that hangs from the core, or -1; vertex,
  // int32, is that at each position. pairs, int64 [2, count], are the ends of paths that are not random.
  m.def(
      "hierarchy_climbs(Tensor first, Tensor to, Tensor length, Tensor slot, Tensor last, int longest, int entries, "
      "Tensor(a!) control) -> "
      "(Tensor depth, Tensor arcs, Tensor parts, Tensor choice, Tensor top, Tensor branch, Tensor row, Tensor rows)");
  m.def(
      "hierarchy_sample_paths(Tensor[] climbs, int height, int seed, int number, int count, Tensor(a!) counts, "
      "Tensor(b!) control, int threads) -> Tensor");
  // The same, but for counts, int64 [m], of slots of the graph.
  m.def(
      "hierarchy_sample_arcs(Tensor[] climbs, int height, Tensor rowptr, Tensor col, int seed, int number, int count, "
      "Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "hierarchy_draw_paths(Tensor[] climbs, int height, int seed, int number, int count, Tensor(a!) length, "
      "Tensor(b!) control, int threads, Tensor? pairs=None) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(torchcent, CPU, m) {
  m.impl("hierarchy_climbs", TORCH_BOX(&hierarchy_climbs));
  m.impl("hierarchy_sample_paths", TORCH_BOX(&hierarchy_sample_paths));
  m.impl("hierarchy_sample_arcs", TORCH_BOX(&hierarchy_sample_arcs));
  m.impl("hierarchy_draw_paths", TORCH_BOX(&hierarchy_draw_paths));
}

}  // namespace torchcent
