// The schema of every operator. The library is loaded by torch.ops.load_library, so that building it
// needs PyTorch's headers and no Python ones.

#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(torchcent, m) {
  // codes.h says what they mean: the instruction set of the CPU kernels in use, and all codes and limits, float64.
  m.def("simd() -> int");
  m.def("codes(Tensor like) -> Tensor");
  // Preparation of graphs. slot: for every input column (row) of the result, the slot it came from.
  // vertex_ids: int32 copies of the ids and [smallest, largest] of them; csr takes such copies, within [0, num_nodes).
  m.def("vertex_ids(Tensor edge_index) -> (Tensor ids, Tensor range)");
  m.def("csr(Tensor ids, int num_nodes, bool symmetric) -> (Tensor rowptr, Tensor col, Tensor slot)");
  m.def("transpose(Tensor rowptr, Tensor col) -> (Tensor colptr, Tensor row, Tensor slot)");
  m.def("induced(Tensor rowptr, Tensor col, Tensor kept) -> (Tensor rowptr, Tensor col, Tensor slot)");
  m.def("fold(Tensor rowptr, Tensor col, bool recursive) -> (Tensor order, Tensor parent)");
  m.def("tree_sum(Tensor order, Tensor parent, Tensor values) -> Tensor");
  m.def("depths(Tensor rowptr, Tensor col, int source) -> Tensor");
  m.def("clusters(Tensor rowptr, Tensor col, int size) -> Tensor");
  // Distances, by the bits engine (distances/cpu/measures.h). sums are
  // [n, 4] or [sources, 4]: d, 1/d, 1/(d + 1), pairs, each times factor[d] if that is given, float64; pairs at a
  // distance beyond it count for nothing and are not searched. distances writes the row of sources[i] to row place[i]
  // (CPU only), or i, and returns [1] if one did not fit out's dtype.
  m.def(
      "distance_sums(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor leaves, "
      "Tensor(a!) sums, Tensor(b!) eccentricity, Tensor(c!) levels, Tensor(d!) control, int threads, "
      "Tensor? factor=None) -> ()");
  m.def(
      "source_sums(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor(a!) sums, "
      "Tensor(b!) eccentricity, Tensor(c!) control, int threads, Tensor? factor=None) -> ()");
  m.def(
      "distances(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor(a!) out, "
      "Tensor(b!) control, int threads, Tensor? place=None) -> Tensor");
  // One search per source: int64 [k, 3] of eccentricity within its reach, farthest vertex, vertices reached.
  m.def("search_summary(Tensor rowptr, Tensor col, Tensor sources, Tensor(a!) control, int threads) -> Tensor");
  // The same searches, up to a depth of limit: int32 [k, n], the vertices in the order in which a queue reaches them,
  // then -1 if there are others, and the depth of each. The arcs of a row may come in any order, which decides.
  m.def(
      "search_order(Tensor rowptr, Tensor col, Tensor sources, int limit, Tensor(a!) order, Tensor(b!) depth, "
      "Tensor(c!) control, int threads) -> ()");
  // Path counting: adds what a run of sources contributes to scores.
  // Returns the rung of the overflow ladder that was needed. Of weighted engines only dijkstra has Measure::linear.
  m.def(
      "path_dependency(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, "
      "Tensor source_weight, Tensor own_weight, Tensor target_weight, Tensor through_weight, "
      "Tensor(a!) scores, Tensor(b!) control, int measure, int engine, int rung, int threads, "
      "int flight=0, int lanes=0, int strategy=0, int blocks=0) -> Tensor");
  // The same with weights: int32 or float64, finite and > 0, aligned with col and row. engine is a WeightedEngine
  // (weighted/weighted_search.h). sums are [sources, 3]: d, 1/d, 1 over the vertices at a distance > 0, farthest is the
  // largest d; out is [sources, n] of the type of the weights, where unreached -1 or inf.
  m.def(
      "weighted_dependency(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "Tensor sources, Tensor source_weight, Tensor own_weight, Tensor target_weight, Tensor through_weight, "
      "Tensor(a!) scores, Tensor(b!) control, int measure, int engine, int rung, int threads, float tie_tolerance, "
      "int flight=0, int lanes=0, int strategy=0, int blocks=0) -> Tensor");
  m.def(
      "weighted_source_sums(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "Tensor sources, Tensor(a!) sums, Tensor(b!) farthest, Tensor(c!) control, int engine, int threads, "
      "int flight=0, int lanes=0, int strategy=0, int blocks=0) -> ()");
  m.def(
      "weighted_distances(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "Tensor sources, Tensor(a!) out, Tensor(b!) control, int engine, int threads, "
      "int flight=0, int lanes=0, int strategy=0, int blocks=0) -> ()");
  // Small graphs of a batch, all measures in one traversal, by the tiny engine (tiny/cpu/tiny_search.h): the `graphs`
  // of the union that ptr describes, in the order in which they are taken; classes is int64 on the host, for each run
  // of graphs of about one size [how many, most vertices, most slots]. weight is float64, or empty: hops. source and
  // target are float64 [n], 1 where paths begin and end, or empty: everywhere. Results that are not asked for are
  // empty, the others zeros that are added to: betweenness, stress [n], edges [slots], distances [n, 6]
  // (tiny/cpu/tiny_search.h), levels int64 [n]. overflow int8 [graphs of the union] is set for those whose path counts
  // outgrow float64; their results are of no use.
  m.def(
      "tiny(Tensor rowptr, Tensor col, Tensor weight, Tensor ptr, Tensor graphs, Tensor classes, Tensor source, "
      "Tensor target, "
      "Tensor(a!) betweenness, Tensor(b!) stress, Tensor(c!) edges, Tensor(d!) distances, Tensor(e!) levels, "
      "Tensor(f!) overflow, Tensor(g!) control, bool endpoints, float tie_tolerance, int threads) -> ()");
  // Random shortest paths (draws.h): samples number first, ..., first + count - 1 of a seed. Each draws a pair of
  // vertices and one of the shortest paths between them, and adds 1 to counts, int64 [n], at its inner vertices.
  // exact: sums of weights are. Both
  // return the numbers, on the host, of samples that are left to the CPU (samples/cuda/sample_draws.cuh).
  m.def(
      "sample_paths(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, int seed, int first, int count, "
      "Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "weighted_sample_paths(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "bool exact, int seed, int first, int count, Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  // Transitive closure of an acyclic graph whose arcs lead to smaller numbers: words [base of a block + 8 row + word]
  // gets its bits, reached the sizes of what each vertex reaches.
  m.def(
      "closure(Tensor rowptr, Tensor col, Tensor size, Tensor base, int sinks, int columns, Tensor(a!) words, "
      "Tensor(b!) reached, Tensor(c!) control, int threads) -> ()");
  // An iteration of Markov clustering (mcl/mcl_step.h says what pruning does). Column j of a flow has length[j]
  // entries from begin[j] on, rows ascending: begin int64, length int32, row int32, value float32. control is int64
  // on the host: [cancel, columns done, bytes that the new flow may take or <= 0], the last one -1 if it was too
  // little. summary is float64 on the host: chaos; products that expansion is the sum of; entries kept;
  // columns with less than `mass` left, recovered, selected; the least share of a column that is left; their sum.
  m.def(
      "mcl_iterate(Tensor begin, Tensor length, Tensor row, Tensor value, Tensor(a!) control, int expansion, "
      "float inflation, float threshold, int select, int recover, float mass, int threads, int strategy=0) "
      "-> (Tensor begin, Tensor length, Tensor row, Tensor value, Tensor summary)");
}
