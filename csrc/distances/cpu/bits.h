// The bits engine: breadth-first searches from 64 or 512 sources side by side, one bit per lane.
//
// A vertex has three rows of bits: `seen` (lanes that have reached it), `frontier` (lanes that reached it at the
// previous level) and `next`. A level either pulls or pushes. In a pull, each unfinished vertex gathers the frontier
// rows of its predecessors until all its bits are set (early exit). In a push, each row of a small frontier is ORed
// into the successors. A visitor processes the lanes that reach a vertex; there are no distances and no counters per
// source. (Then et al. 2014, "The more the merrier"; closeness by population counts: Sariyuce et al. 2014.)
#pragma once

namespace torchcent::TORCHCENT_ISA {

template <int words>
struct BitsOf;
template <>
struct BitsOf<1> {
  using Type = uint64_t;
  static uint64_t word(Type bits, int) { return bits; }
  static void set(Type& bits, int64_t lane) { bits |= uint64_t{1} << lane; }
  static bool any(Type bits) { return bits != 0; }
};
template <>
struct BitsOf<8> {
  typedef uint64_t Type __attribute__((vector_size(64)));
  static uint64_t word(const Type& bits, int k) { return bits[k]; }
  static void set(Type& bits, int64_t lane) { bits[lane / 64] |= uint64_t{1} << (lane % 64); }
  static bool any(const Type& bits) {
#if defined(TORCHCENT_AVX512)
    return _mm512_test_epi64_mask((__m512i)bits, (__m512i)bits) != 0;
#else
    return (bits[0] | bits[1] | bits[2] | bits[3] | bits[4] | bits[5] | bits[6] | bits[7]) != 0;
#endif
  }
};

// A list of vertices. It is not a std::vector, whose template instances would be shared with code for other processors.
struct Vertices {
  Buffer<int32_t> vertex;
  int64_t count = 0;

  explicit Vertices(int64_t most) : vertex(most) {}
  void add(int64_t v) { vertex[count++] = static_cast<int32_t>(v); }
  void swap(Vertices& other) {
    vertex.swap(other.vertex);
    const int64_t mine = count;
    count = other.count;
    other.count = mine;
  }
  const int32_t* begin() const { return vertex.data(); }
  const int32_t* end() const { return vertex.data() + count; }
};

template <int words>
class BitSearch {
 public:
  using Bits = typename BitsOf<words>::Type;
  static constexpr int64_t lanes = 64 * words;

  explicit BitSearch(const DistanceProblem& problem)
      : problem_(problem),
        seen_(problem.out.num_nodes),
        frontier_(problem.out.num_nodes),
        next_(problem.out.num_nodes),
        active_(problem.out.num_nodes),
        found_(problem.out.num_nodes),
        remaining_(problem.out.num_nodes) {}

  static bool any(const Bits& bits) { return BitsOf<words>::any(bits); }
  static uint64_t word(const Bits& bits, int k) { return BitsOf<words>::word(bits, k); }
  static int64_t count(const Bits& bits) {
    int64_t sum = 0;
    for (int k = 0; k < words; ++k) sum += __builtin_popcountll(word(bits, k));
    return sum;
  }
  static void set(Bits& bits, int64_t lane) { BitsOf<words>::set(bits, lane); }

  // Sets `lanes` to the lanes of the last search that did not reach v.
  void unreached(int64_t v, Bits& lanes) const { lanes = all_ & ~seen_[v]; }

  // Calls visitor.found(v, depth, lanes that reach v first at this depth), and visitor.level(depth) after each nonempty
  // level; if that returns false, the search stops. Returns false if cancelled or stopped.
  template <class Visitor>
  bool run(int64_t count, const int64_t* sources, Visitor& visitor) {
    const int64_t n = problem_.out.num_nodes;
    std::memset(static_cast<void*>(seen_.data()), 0, n * sizeof(Bits));
    all_ = Bits{};
    for (int64_t lane = 0; lane < count; ++lane) {
      const int64_t v = sources[lane];
      if (!any(frontier_[v])) active_.add(v);
      set(all_, lane);
      set(frontier_[v], lane);
    }
    for (const int32_t v : active_) {
      seen_[v] = frontier_[v];
      visitor.found(v, 0, frontier_[v]);
    }
    remaining_.count = 0;
    remaining_slots_ = problem_.in.num_slots();
    started_pull_ = false;
    bool going = visitor.level(0);
    for (int64_t depth = 1; going && active_.count > 0; ++depth) {
      int64_t slots = 0;
      for (const int32_t u : active_) slots += problem_.out.degree(u);
      if (slots < remaining_slots_ / kPullAdvantage) push(depth, visitor);
      else pull(depth, visitor);
      clear_frontier();
      frontier_.swap(next_);
      active_.swap(found_);
      going = !cancelled(problem_.cancel) && (active_.count == 0 || visitor.level(depth));
    }
    clear_frontier();
    return going;
  }

 private:
  // A pulled row costs less than a pushed one, and most pulls exit early.
  static constexpr int64_t kPullAdvantage = 3;

  void clear_frontier() {
    for (const int32_t v : active_) frontier_[v] = Bits{};
    active_.count = 0;
  }

  template <class Visitor>
  void push(int64_t depth, Visitor& visitor) {
    const Csr& out = problem_.out;
    for (const int32_t u : active_) {
      const Bits row = frontier_[u];
      for (int64_t i = out.rowptr[u]; i < out.rowptr[u + 1]; ++i) {
        const int32_t v = out.col[i];
        const Bits fresh = row & ~seen_[v];
        if (!any(fresh)) continue;
        const Bits before = next_[v];
        if (!any(before)) found_.add(v);
        next_[v] = before | fresh;
      }
    }
    for (const int32_t v : found_) {
      const Bits fresh = next_[v];
      seen_[v] |= fresh;
      visitor.found(v, depth, fresh);
    }
  }

  template <class Visitor>
  void pull(int64_t depth, Visitor& visitor) {
    const Csr& in = problem_.in;
    if (!started_pull_) {
      started_pull_ = true;
      for (int64_t v = 0; v < in.num_nodes; ++v) remaining_.add(v);
    }
    int64_t kept = 0;
    for (const int32_t v : remaining_) {
      const Bits need = all_ & ~seen_[v];
      if (!any(need)) {
        remaining_slots_ -= in.degree(v);
        continue;
      }
      remaining_.vertex[kept++] = v;
      Bits got{};
      const int64_t end = in.rowptr[v + 1];
      for (int64_t i = in.rowptr[v]; i < end;) {
        for (const int64_t few = i + 4 < end ? i + 4 : end; i < few; ++i) got |= frontier_[in.col[i]];
        if (!any(need & ~got)) break;
      }
      got &= need;
      if (!any(got)) continue;
      next_[v] = got;
      seen_[v] |= got;
      found_.add(v);
      visitor.found(v, depth, got);
    }
    remaining_.count = kept;
  }

  DistanceProblem problem_;
  Buffer<Bits> seen_, frontier_, next_;  // frontier_ and next_ are all zero between searches
  Bits all_{};                           // lanes in use
  Vertices active_, found_;              // vertices with a frontier row, with a next row
  Vertices remaining_;                   // unfinished vertices, and some that are finished
  int64_t remaining_slots_ = 0;
  bool started_pull_ = false;
};

}  // namespace torchcent::TORCHCENT_ISA
