#include "hierarchy/cpu/contraction.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/cpu/simd_level.h"
#include "hierarchy/cpu/dissection.h"

namespace torchcent {

namespace {

// Vertices by key, the first of the lowest key first. Entries that are out of date are up to the caller.
class KeyQueue {
 public:
  explicit KeyQueue(int32_t lowest) : least_(lowest) {}

  void push(int32_t key, int32_t v) {
    const size_t k = static_cast<size_t>(key - least_);
    if (k >= buckets_.size()) buckets_.resize(k + 1);
    buckets_[k].vertex.push_back(v);
    now_ = std::min(now_, k);
  }
  bool pop(int32_t& key, int32_t& v) {
    for (; now_ < buckets_.size(); ++now_) {
      Bucket& bucket = buckets_[now_];
      if (bucket.begin < bucket.vertex.size()) {
        key = static_cast<int32_t>(now_) + least_;
        v = bucket.vertex[bucket.begin++];
        return true;
      }
      bucket.vertex.clear();
      bucket.begin = 0;
    }
    return false;
  }

 private:
  struct Bucket {
    std::vector<int32_t> vertex;
    size_t begin = 0;
  };
  int32_t least_;
  size_t now_ = 0;
  std::vector<Bucket> buckets_;
};

// Greedy contraction: the vertex with the smallest 2 (arcs added - arcs removed) + level is next, where the level of a
// vertex is above those of its contracted neighbours, so that contraction proceeds evenly everywhere.
//
// Lists of neighbours of up to kLong entries are exact. Longer ones, of hubs, keep the contracted, and neighbours are
// appended without a search for them; they are cleaned when half of them may be out of date. So a hub costs no more
// than its edges, and is not considered itself until its list is short.
class GreedyContraction {
 public:
  explicit GreedyContraction(const Csr& graph)
      : n_(static_cast<int32_t>(graph.num_nodes)), list_(n_), level_(n_), stale_(n_), key_(n_, kNever), stamp_(n_) {
    pool_.reserve(2 * graph.num_slots());
    for (int32_t v = 0; v < n_; ++v) {
      const int64_t degree = graph.degree(v);
      list_[v] = {static_cast<int64_t>(pool_.size()), static_cast<int32_t>(degree), static_cast<int32_t>(degree) + 1};
      pool_.insert(pool_.end(), graph.col + graph.rowptr[v], graph.col + graph.rowptr[v + 1]);
      pool_.push_back(0);
    }
  }

  // Contracts all but `least` vertices, or those that would add kExcess arcs more than they remove. False: cancelled.
  bool run(int64_t least, std::vector<int32_t>& order, const int64_t* cancel) {
    for (int32_t v = 0; v < n_; ++v) {
      if ((v & 0xfff) == 0 && cancelled(cancel)) return false;
      consider(v);
    }
    int32_t key, v;
    while (n_ - static_cast<int64_t>(order.size()) > least && queue_.pop(key, v)) {
      if (level_[v] == kContracted || key != key_[v]) continue;
      if ((order.size() & 0x3ff) == 0 && cancelled(cancel)) return false;
      contract(v);
      order.push_back(v);
    }
    return true;
  }

  Piece rest() {
    Piece piece;
    std::vector<int32_t> number(n_, -1);
    for (int32_t v = 0; v < n_; ++v) {
      if (level_[v] == kContracted) continue;
      number[v] = piece.size();
      piece.vertex.push_back(v);
    }
    for (const int32_t v : piece.vertex) {
      if (is_long(v)) clean(v);
      for (int32_t i = 0; i < list_[v].size; ++i) piece.to.push_back(number[at(v)[i]]);
      piece.first.push_back(static_cast<int64_t>(piece.to.size()));
    }
    return piece;
  }

 private:
  static constexpr int32_t kLong = 64;               // entries of a list that is searched
  static constexpr int32_t kExcess = 2;              // arcs added beyond those removed
  static constexpr int32_t kNever = INT32_MAX;       // no priority: it adds too many arcs
  static constexpr int32_t kContracted = INT32_MAX;  // no level: the vertex is gone

  struct List {
    int64_t begin;
    int32_t size, room;
  };

  int32_t* at(int32_t v) { return pool_.data() + list_[v].begin; }
  bool is_long(int32_t v) const { return list_[v].size > kLong; }

  void consider(int32_t v) {
    const int32_t key = priority(v);
    if (key == key_[v]) return;
    key_[v] = key;
    if (key != kNever) queue_.push(key, v);
  }

  int32_t priority(int32_t v) {
    const int32_t degree = list_[v].size;
    if (degree > kLong) return kNever;
    const int32_t* const neighbour = at(v);
    if (degree <= 1) return level_[v] - 2 * degree;
    const int32_t now = ++now_;
    for (int32_t i = 0; i < degree; ++i) stamp_[neighbour[i]] = now;
    // Ordered pairs of neighbours that are not adjacent; two with long lists do not count as adjacent, because it is
    // not known. Most vertices of dense graphs are given up after a few neighbours.
    int32_t num_long = 0;
    for (int32_t i = 0; i < degree; ++i) num_long += is_long(neighbour[i]);
    const int32_t expected = degree - num_long - 1 + 2 * num_long;  // of a neighbour with a short list
    const int32_t most = 2 * (degree + kExcess);
    int32_t apart = num_long * (num_long - 1);
    for (int32_t i = 0; i < degree && apart < most; ++i) {
      const int32_t u = neighbour[i];
      if (is_long(u)) continue;
      const int32_t* const others = at(u);
      apart += expected;
      for (int32_t j = 0; j < list_[u].size; ++j)
        if (stamp_[others[j]] == now) apart -= is_long(others[j]) ? 2 : 1;
    }
    const int32_t added = apart / 2;
    return added - degree < kExcess ? level_[v] + 2 * (added - degree) : kNever;
  }

  void contract(int32_t v) {
    around_.assign(at(v), at(v) + list_[v].size);
    const auto begin_long =
        std::stable_partition(around_.begin(), around_.end(), [&](int32_t u) { return !is_long(u); });
    const size_t num_short = begin_long - around_.begin();
    const int32_t next = level_[v] + 1;
    level_[v] = kContracted;
    list_[v].size = 0;
    for (size_t i = 0; i < num_short; ++i) join(around_[i], v, num_short);
    for (size_t i = num_short; i < around_.size(); ++i) {
      ++stale_[around_[i]];  // v
      for (size_t j = num_short; j < around_.size(); ++j) {
        if (i == j) continue;
        append(around_[i], around_[j]);  // it may be there already
        ++stale_[around_[i]];
      }
      if (2 * stale_[around_[i]] > list_[around_[i]].size) clean(around_[i]);
    }
    for (const int32_t u : around_) {
      level_[u] = std::max(level_[u], next);
      consider(u);
    }
  }

  // Removes v from the short list of u, and adds the others around v.
  void join(int32_t u, int32_t v, size_t num_short) {
    const int32_t now = ++now_;
    stamp_[u] = now;
    int32_t* const others = at(u);
    int32_t place = 0;
    for (int32_t i = 0; i < list_[u].size; ++i) {
      stamp_[others[i]] = now;
      if (others[i] == v) place = i;
    }
    others[place] = others[--list_[u].size];
    for (size_t j = 0; j < around_.size(); ++j) {
      if (stamp_[around_[j]] == now) continue;
      append(u, around_[j]);
      if (j >= num_short) append(around_[j], u);
    }
  }

  void append(int32_t u, int32_t w) {
    List& list = list_[u];
    if (list.size == list.room) {
      const int64_t begin = static_cast<int64_t>(pool_.size());
      pool_.resize(begin + 2 * int64_t{list.room});
      std::copy_n(pool_.begin() + list.begin, list.size, pool_.begin() + begin);
      list.begin = begin;
      list.room *= 2;
    }
    at(u)[list.size++] = w;
  }

  void clean(int32_t u) {
    const int32_t now = ++now_;
    int32_t* const others = at(u);
    int32_t kept = 0;
    for (int32_t i = 0; i < list_[u].size; ++i) {
      const int32_t w = others[i];
      if (level_[w] == kContracted || stamp_[w] == now) continue;
      stamp_[w] = now;
      others[kept++] = w;
    }
    list_[u].size = kept;
    stale_[u] = 0;
  }

  int32_t n_;
  std::vector<int32_t> pool_;
  std::vector<List> list_;
  std::vector<int32_t> level_, stale_, key_, stamp_, around_;
  int32_t now_ = 0;
  KeyQueue queue_{-2 * kLong};
};

}  // namespace

std::vector<int32_t> contraction_order(const Csr& graph, int64_t most_arcs, int threads, const int64_t* cancel) {
  constexpr double kCore = 0.05;  // of the vertices: those that are left to dissection
  std::vector<int32_t> order;
  order.reserve(graph.num_nodes);
  GreedyContraction greedy(graph);
  if (!greedy.run(static_cast<int64_t>(kCore * static_cast<double>(graph.num_nodes)), order, cancel)) return {};
  Piece core = greedy.rest();
  const std::vector<int32_t> vertex = core.vertex;
  const std::vector<int32_t> last = dissection(std::move(core), most_arcs, threads, cancel);
  if (last.size() != vertex.size()) return {};
  for (const int32_t i : last) order.push_back(vertex[i]);
  return order;
}

}  // namespace torchcent
