// The schema of every operator. torch.ops.load_library loads the library, so that building it needs PyTorch's headers
// but no Python headers.

#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY(torchcent, m) {
  // See core/codes.h: the instruction set of the CPU kernels in use, and all codes and limits as float64.
  m.def("simd() -> int");
  m.def("codes(Tensor like) -> Tensor");
  // Reading of files. read_rows: the ids [2, rows] and weights of lines of text, begin and end of each comment, and
  // where the first line begins that it leaves to others, if there is one; a separator of 0 is any run of blanks and
  // tabs. With names, ids are places in a list of distinct names, which are lines. read_vectors: columns and rows [2,
  // entries] and values of mcl's vectors; irregular has an element if it leaves them to others. distinct_ids: those of
  // three arrays, in increasing order. id_places: [2, size], where the ids stand among labels.
  m.def(
      "read_rows(Tensor text, int separator, int width, int source, int target, int weight, int threads=1, "
      "bool names=False, bool quotes=False) -> "
      "(Tensor ids, Tensor weight, Tensor comments, Tensor irregular, Tensor lines)");
  m.def("read_vectors(Tensor text, int threads=1) -> (Tensor ids, Tensor value, Tensor irregular)");
  m.def("distinct_ids(Tensor source, Tensor target, Tensor also, int threads=1) -> Tensor");
  m.def("id_places(Tensor labels, Tensor source, Tensor target, int threads=1) -> Tensor");
  // Graph construction. vertex_ids: int32 copies of the ids and [smallest, largest] of them. csr expects such copies,
  // within [0, num_nodes); slots finds the slot of each of these columns. Of transpose and induced, slot is where each
  // slot of the result came from.
  m.def("vertex_ids(Tensor edge_index, int threads=1) -> (Tensor ids, Tensor range)");
  m.def(
      "csr(Tensor ids, int num_nodes, bool symmetric, int threads=1) -> "
      "(Tensor rowptr, Tensor col, Tensor repeated)");
  m.def("slots(Tensor ids, Tensor rowptr, Tensor col, int threads=1) -> Tensor");
  m.def(
      "slot_weights(Tensor ids, Tensor weight, Tensor rowptr, Tensor col, bool both, int threads=1, "
      "Tensor(a!)? unequal=None) -> Tensor");
  m.def("slot_sums(Tensor ids, Tensor weight, Tensor rowptr, Tensor col, bool both, int threads=1) -> Tensor");
  m.def("weight_digits(Tensor weight, int most=0) -> Tensor");
  m.def("symmetric(Tensor rowptr, Tensor col, Tensor? weight=None, int threads=1) -> bool");
  m.def(
      "stored_fault(Tensor rowptr, Tensor col, Tensor? weight, Tensor? graph_begin, bool symmetric, int key, "
      "int threads=1) -> Tensor");
  m.def("transpose(Tensor rowptr, Tensor col, int threads=1) -> (Tensor colptr, Tensor row, Tensor slot)");
  m.def("reverse_slots(Tensor rowptr, Tensor col, int threads=1) -> Tensor");
  m.def(
      "induced(Tensor rowptr, Tensor col, Tensor kept, bool slots=True, int threads=1) -> "
      "(Tensor rowptr, Tensor col, Tensor slot)");
  m.def("components(Tensor rowptr, Tensor col, bool symmetric, int threads=1) -> Tensor");
  // depth: the hops from vertex 0, if they are known.
  m.def("breadth_first(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor? depth=None) -> Tensor");
  m.def("bandwidth_order(Tensor rowptr, Tensor col, Tensor colptr, Tensor row) -> Tensor");
  m.def("fold(Tensor rowptr, Tensor col, bool recursive) -> (Tensor order, Tensor parent)");
  // Weights per vertex are float64 of any stride, so that one number may stand for all.
  m.def("tree_sum(Tensor order, Tensor parent, Tensor values) -> Tensor");
  m.def("tree_paths(Tensor order, Tensor parent, Tensor values, Tensor factor, bool up) -> Tensor");
  m.def("component_totals(Tensor label, Tensor values, int threads=1) -> Tensor");
  // Both in one.
  m.def(
      "folded_sums(Tensor order, Tensor parent, Tensor label, Tensor values, int threads=1) -> "
      "(Tensor hanging, Tensor total)");
  m.def(
      "folded_pairs(Tensor order, Tensor parent, Tensor a, Tensor b, Tensor hanging_a, Tensor hanging_b, "
      "Tensor total_a, Tensor total_b, bool counts, bool endpoints, int threads=1) -> Tensor");
  // id_faults is int64 [3] on the host: the smallest and the largest id, and the number of repetitions.
  m.def("id_faults(Tensor ids, int num_nodes) -> Tensor");
  m.def(
      "search_weights(Tensor rowptr, Tensor vertex, Tensor? sequence, Tensor source, Tensor own, Tensor target, "
      "Tensor through, int threads=1) -> (Tensor start, Tensor source, Tensor own, Tensor target, Tensor through)");
  // twin: the smallest vertex with the same arcs, besides those between the two, and the same label. The transpose is
  // that of a directed graph. parent: that of fold; folded vertices do not count. copies: of a vertex that is searched,
  // the number of twins that it stands for; in a directed graph the first two twins of a class that are not adjacent
  // are searched. left: of a vertex that is searched, the number of arcs to others. around, among, [2, count]: a vertex
  // with twins and its slot to a nearest neighbour of twins that are not adjacent, or to a twin.
  m.def(
      "twins(Tensor rowptr, Tensor col, Tensor? weight, Tensor? colptr, Tensor? row, Tensor? back_weight, "
      "Tensor parent, Tensor? label=None, int threads=1) -> "
      "(Tensor twin, Tensor copies, Tensor left, Tensor around, Tensor among)");
  m.def("by_degree(Tensor degree) -> Tensor");
  m.def("blocks(Tensor rowptr, Tensor col) -> (Tensor order, Tensor block, Tensor top)");
  m.def(
      "block_union(Tensor rowptr, Tensor col, Tensor block, Tensor top, int least, int threads=1) -> "
      "(Tensor ptr, Tensor vertex, Tensor rowptr, Tensor col, Tensor slot)");
  m.def(
      "block_reach(Tensor ptr, Tensor vertex, Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor top, "
      "Tensor source, Tensor target, int threads=1) -> (Tensor sources_outside, Tensor targets_outside, "
      "Tensor sources_inside, Tensor targets_inside)");
  // Of the contraction of chains, kept and inner are vertices, ends are kept ones by their numbers, and along are the
  // distances from x_0 (chains/chains.h). slots, [2, inner + chains], are those of each step, forwards and backwards.
  // loops: whether the contracted graph, rowptr, head and arc, has the arcs of chains that return to their beginning.
  m.def(
      "chains(Tensor rowptr, Tensor col, Tensor? weight, int ball, bool loops=False) -> (Tensor kept, Tensor first, "
      "Tensor inner, Tensor ends, Tensor along, Tensor rowptr, Tensor head, Tensor arc, Tensor slots)");
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
  m.def("depths(Tensor rowptr, Tensor col, int source) -> Tensor");
  m.def("clusters(Tensor rowptr, Tensor col, int size) -> Tensor");
  // Distances, computed by the bits engine (distances/cpu/measures.h). sums are [n, 4] or [sources, 4]: d, 1/d,
  // 1/(d + 1), pairs. With limits, int64 [cutoffs] on the host, ascending, there is such a row for each of them,
  // [n, cutoffs, 4], over the pairs within it; no source has leaves then. distances writes the row of sources[i] to row
  // place[i] (CPU only), or i, and returns [1] if a distance did not fit the dtype of out.
  m.def(
      "distance_sums(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor leaves, "
      "Tensor(a!) sums, Tensor(b!) eccentricity, Tensor(c!) levels, Tensor(d!) control, int threads, "
      "Tensor? limits=None) -> ()");
  m.def(
      "source_sums(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor(a!) sums, "
      "Tensor(b!) eccentricity, Tensor(c!) control, int threads, Tensor? limits=None) -> ()");
  m.def(
      "distances(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, Tensor(a!) out, "
      "Tensor(b!) control, int threads, Tensor? place=None) -> Tensor");
  // One search per source: int64 [k, 3], the eccentricity within the reachable vertices, the farthest vertex, and the
  // number of reached vertices.
  m.def("search_summary(Tensor rowptr, Tensor col, Tensor sources, Tensor(a!) control, int threads) -> Tensor");
  // The same searches up to depth `limit`: int32 [k, n], the vertices in the order in which a queue reaches them,
  // padded with -1, and the depth of each. Rows may list arcs in any order, which determines the order of the queue.
  m.def(
      "search_order(Tensor rowptr, Tensor col, Tensor sources, int limit, Tensor(a!) order, Tensor(b!) depth, "
      "Tensor(c!) control, int threads) -> ()");
  // int32 [k, n]: the vertices reached at float64 [k, n] distances in the order in which Dijkstra's algorithm settles
  // them, padded with -1. Rows may list arcs in any order; length: float64 [slots].
  m.def(
      "length_order(Tensor rowptr, Tensor col, Tensor length, Tensor distance, Tensor(a!) order, Tensor(b!) control, "
      "int threads) -> ()");
  // int64 [n]: core numbers, by degrees of the arcs of the first CSR, or of both.
  m.def("core_numbers(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, bool both, Tensor(a!) core) -> ()");
  // Current flow: see flow/cpu. eliminated leaves out vertices of low degree, expanded computes the rows of the inverse
  // Laplacian that they have, and selected only float64 [2, n], its diagonal and the sums of its rows; row_spreads: the
  // sum of the absolute differences of all pairs of numbers of rows[u] - rows[v]; row_crossings: of all pairs of one of
  // the first `sources` columns and one of the others.
  m.def(
      "eliminated(Tensor ends, Tensor conductance, int num_nodes, int ground, int ratio) -> "
      "(Tensor number, Tensor matrix, Tensor ptr, Tensor neighbour, Tensor share, Tensor own)");
  m.def("expanded(Tensor inverse, Tensor ptr, Tensor neighbour, Tensor share, Tensor own, int threads=1) -> Tensor");
  m.def("selected(Tensor inverse, Tensor ptr, Tensor neighbour, Tensor share, Tensor own) -> Tensor");
  m.def("row_spreads(Tensor rows, Tensor u, Tensor v, int threads=1) -> Tensor");
  m.def("row_crossings(Tensor rows, Tensor u, Tensor v, Tensor columns, int sources, int threads=1) -> Tensor");
  // Of each row of a CSR the sum, or the largest, of weight[slot] * values[col[slot]], in an order that depends on the
  // row alone (graph/cpu/row_sums.cpp): float64 [n], or [n, k] of values [*, k]; 0 of empty rows. Without col, slot i
  // has row i of the values.
  m.def(
      "row_sums(Tensor rowptr, Tensor? col, Tensor? weight, Tensor values, bool largest=False, int threads=1) -> Tensor");
  // int64 [n], 0 on entry: the triangles of each vertex of a symmetric graph.
  m.def("triangles(Tensor rowptr, Tensor col, Tensor(a!) count, int threads) -> ()");
  // Removes the edges of highest betweenness until a component falls apart (paths/cpu/divide.cpp).
  m.def(
      "divide(Tensor begin, Tensor(a!) end, Tensor(b!) col, Tensor(c!) edge, Tensor ends, Tensor(d!) score, "
      "float scale, bool fresh, Tensor(e!) control, int threads) -> Tensor");
  // Path counting: adds the contributions of the sources to the scores. Returns the rung of the overflow ladder that
  // was needed. copies: float64 [n], the number of twins that each vertex stands for (paths/betweenness.h). Of the
  // weighted engines, only dijkstra has the measures by depth, from Measure::linear on. Within limits, in ascending
  // order, each has scores of its own, [limits, n] or [limits, slots], of the targets at most so far from the source;
  // there are no copies then. limits, on the CPU, are int64 for hops, and lengths have the type of the weights, of
  // which int32 ones are below 2^31 - 1. On CUDA there is a search for each limit. mirrored: the graph is symmetric,
  // all calls together have all pairs of vertices, and each counts 1.
  m.def(
      "path_dependency(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, Tensor sources, "
      "Tensor source_weight, Tensor own_weight, Tensor target_weight, Tensor through_weight, "
      "Tensor(a!) scores, Tensor(b!) control, int measure, int engine, int rung, int threads, "
      "int flight=0, int lanes=0, int strategy=0, int blocks=0, Tensor? copies=None, Tensor? limits=None, "
      "bool mirrored=False) -> Tensor");
  // The same with weights: int32 or float64, finite and > 0, aligned with col and row. engine is a WeightedEngine
  // (weighted/weighted_search.h). sums are [sources, 3]: d, 1/d, 1 over the vertices at a distance > 0; farthest is the
  // largest d. out is [sources, n] with the type of the weights; unreached vertices are -1 or inf.
  m.def(
      "weighted_dependency(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "Tensor sources, Tensor source_weight, Tensor own_weight, Tensor target_weight, Tensor through_weight, "
      "Tensor(a!) scores, Tensor(b!) control, int measure, int engine, int rung, int threads, float tie_tolerance, "
      "int flight=0, int lanes=0, int strategy=0, int blocks=0, Tensor? copies=None, Tensor? limits=None) -> Tensor");
  // Path counting where chains are contracted: betweenness, or with slots that of edges. Source and target weights are
  // those of all vertices of the graph. together: one sweep per kept vertex, in batches of `ball`, for all sources.
  // CUDA has searches from one source at a time only, and needs `loops`.
  m.def(
      "chain_dependency(Tensor kept, Tensor first, Tensor inner, Tensor ends, Tensor along, Tensor rowptr, "
      "Tensor head, Tensor arc, Tensor? slots, Tensor sources, Tensor source_weight, Tensor target_weight, "
      "Tensor(a!) scores, Tensor(b!) control, bool by_hops, bool together, int ball, int rung, int threads) -> Tensor");
  // Sweeps over a hierarchy. flows [arcs + n], with directions or of a directed graph [arcs down + n + arcs up], are in
  // the order of cells, and each_path adds up paths instead of shares; scores are those of vertices, or with the slot
  // of the reverse of each slot those of slots. Of a directed graph, reverse only says how many slots there are.
  m.def(
      "hierarchy_cells(Tensor first, Tensor to, Tensor length, Tensor last) -> (Tensor cells, Tensor own, "
      "Tensor place, Tensor own_first, Tensor end, Tensor bound, Tensor child, Tensor outermost, Tensor facts)");
  m.def(
      "hierarchy_dependency(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor paths, Tensor powers, "
      "Tensor last, Tensor sequence, Tensor split, Tensor cells, Tensor own, Tensor place, Tensor own_first, "
      "Tensor end, Tensor bound, Tensor child, Tensor outermost, Tensor facts, Tensor sources, Tensor source_weight, "
      "Tensor target_weight, Tensor(a!) flows, Tensor(b!) control, bool directions, bool each_path, int lanes, int rung, "
      "int threads) -> Tensor");
  m.def(
      "hierarchy_scores(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor paths, Tensor powers, "
      "Tensor slot, Tensor own, Tensor flows, Tensor? reverse=None) -> Tensor");
  // Sums over the distances of each source, [sources, 3]: b d, b / d if they are asked for, b; and the largest d with
  // b > 0, with sweeps of so many lanes.
  m.def(
      "hierarchy_sums(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor paths, Tensor powers, "
      "Tensor last, Tensor sequence, Tensor split, Tensor cells, Tensor own, Tensor place, Tensor own_first, "
      "Tensor end, Tensor bound, Tensor child, Tensor outermost, Tensor facts, Tensor sources, Tensor target_weight, "
      "Tensor(a!) sums, Tensor(b!) farthest, Tensor(c!) control, bool reciprocals, int lanes, int threads) -> ()");
  // Distances from the sources, [sources, n] for any n vertices that include those of the hierarchy: int32 with -1, or
  // float64 with inf for no path.
  m.def(
      "hierarchy_distances(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor last, Tensor sequence, "
      "Tensor split, Tensor facts, Tensor sources, Tensor(a!) out, Tensor(b!) control, int threads) -> ()");
  // The same on CUDA, by levels: the positions in their order, with those that are the upper end of no arc last, and
  // the begin of each level; the parent of each position in the elimination tree, or -1, and its depth. facts are the
  // longest distance, the height of the tree, and begin.
  m.def(
      "hierarchy_levels(Tensor first, Tensor to, Tensor last) -> (Tensor order, Tensor begin, Tensor parent, "
      "Tensor depth)");
  m.def(
      "hierarchy_level_sums(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor last, Tensor order, "
      "Tensor parent, Tensor depth, Tensor facts, Tensor sources, Tensor target_weight, Tensor(a!) sums, "
      "Tensor(b!) farthest, Tensor(c!) control, bool reciprocals, int flight=0) -> ()");
  m.def(
      "hierarchy_level_distances(Tensor vertex, Tensor first, Tensor to, Tensor length, Tensor last, Tensor order, "
      "Tensor parent, Tensor depth, Tensor facts, Tensor sources, Tensor(a!) out, Tensor(b!) control, int flight=0) -> ()");
  m.def(
      "weighted_source_sums(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "Tensor sources, Tensor(a!) sums, Tensor(b!) farthest, Tensor(c!) control, int engine, int threads, "
      "int flight=0, int lanes=0, int strategy=0, int blocks=0) -> ()");
  m.def(
      "weighted_distances(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "Tensor sources, Tensor(a!) out, Tensor(b!) control, int engine, int threads, "
      "int flight=0, int lanes=0, int strategy=0, int blocks=0) -> ()");
  // Batches of small graphs: all measures in one traversal, by the tiny engine (tiny/cpu/tiny_search.h). `graphs` lists
  // graphs of the union described by ptr, in processing order. classes is int64 on the host, with a row [number of
  // graphs, most vertices, most slots] for each run of graphs of similar size. weight is float64, or empty for hops.
  // source and target are float64 [n], 1 where paths begin and end, or empty for all vertices. Results that are not
  // requested are empty. The others must be zero on entry: betweenness, stress [n], edges [slots], distances [n, 6]
  // (tiny/cpu/tiny_search.h), levels int64 [n]. overflow, int8 [graphs of the union], is set for graphs whose path
  // counts overflow float64; their results are invalid.
  m.def(
      "tiny(Tensor rowptr, Tensor col, Tensor weight, Tensor ptr, Tensor graphs, Tensor classes, Tensor source, "
      "Tensor target, "
      "Tensor(a!) betweenness, Tensor(b!) stress, Tensor(c!) edges, Tensor(d!) distances, Tensor(e!) levels, "
      "Tensor(f!) overflow, Tensor(g!) control, bool endpoints, float tie_tolerance, int threads) -> ()");
  // Pairs of vertices of each graph of a batch (tiny/cpu/pairs.cpp), at most limit[graph] apart. weight is float64, or
  // empty for hops; distances are divided by unit[graph]. Matrices are [graphs, width, width] of any common dtype, and
  // paths [graphs, width, width, room], or empty: edge[slot] of the first arcs of a shortest path, -1 behind its end.
  // Lists have the pairs of each vertex from begin[vertex] on: index [2, pairs], out [pairs], paths [pairs, room]. All
  // return [1], the most arcs of a path.
  m.def(
      "pair_matrices(Tensor rowptr, Tensor col, Tensor weight, Tensor unit, Tensor ptr, Tensor limit, Tensor edge, "
      "Tensor(a!) out, Tensor(b!) paths, float unreachable, float padding, Tensor(c!) control, int threads) -> Tensor");
  m.def(
      "pair_counts(Tensor rowptr, Tensor col, Tensor weight, Tensor ptr, Tensor limit, Tensor(a!) count, "
      "Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "pair_list(Tensor rowptr, Tensor col, Tensor weight, Tensor unit, Tensor ptr, Tensor limit, Tensor edge, "
      "Tensor begin, Tensor(a!) index, Tensor(b!) out, Tensor(c!) paths, Tensor(d!) control, int threads) -> Tensor");
  // Random shortest paths (samples/draws.h): samples number first, ..., first + count - 1 of a seed. Each draws a pair
  // of vertices and one of the shortest paths between them, and adds 1 to counts, int64 [n], at its inner vertices.
  // exact: whether sums of weights are exact. Both operators return the numbers, on the host, of the samples that are
  // left to the CPU (samples/cuda/sample_draws.cuh).
  m.def(
      "sample_paths(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, int seed, int first, int count, "
      "Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "weighted_sample_paths(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "bool exact, int seed, int first, int count, Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  // The same samples on the CPU: their vertices from source to target, sample after sample, and in length, int64
  // [count], the number of each, 0 where there is no path.
  m.def(
      "draw_paths(Tensor rowptr, Tensor col, Tensor colptr, Tensor row, int seed, int first, int count, "
      "Tensor(a!) length, Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "weighted_draw_paths(Tensor rowptr, Tensor col, Tensor weight, Tensor colptr, Tensor row, Tensor back_weight, "
      "bool exact, int seed, int first, int count, Tensor(a!) length, Tensor(b!) control, int threads) -> Tensor");
  // The same samples by climbs in a hierarchy (hierarchy/cpu/point_to_point.h). Its vertices are those of the core of a
  // graph: position, int32 [n], is that in the hierarchy or -1, and parent, int32 [n], the next vertex of a tree that
  // hangs from the core, or -1; vertex, int32, is that at each position. pairs, int64 [2, count], are the ends of paths
  // that are not random.
  m.def(
      "hierarchy_climbs(Tensor first, Tensor to, Tensor length, Tensor slot, Tensor last, int longest, int entries, "
      "Tensor(a!) control) -> "
      "(Tensor depth, Tensor arcs, Tensor parts, Tensor choice, Tensor top, Tensor branch, Tensor row, Tensor rows)");
  m.def(
      "hierarchy_sample_paths(Tensor first, Tensor paths, Tensor powers, Tensor last, Tensor depth, Tensor arcs, "
      "Tensor parts, Tensor choice, Tensor top, Tensor branch, Tensor row, Tensor rows, Tensor position, "
      "Tensor vertex, Tensor parent, int height, int seed, int number, int count, "
      "Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  // The same, but for counts, int64 [m], of slots of the graph.
  m.def(
      "hierarchy_sample_arcs(Tensor first, Tensor paths, Tensor powers, Tensor last, Tensor depth, Tensor arcs, "
      "Tensor parts, Tensor choice, Tensor top, Tensor branch, Tensor row, Tensor rows, Tensor position, "
      "Tensor vertex, Tensor parent, int height, Tensor rowptr, Tensor col, int seed, int number, int count, "
      "Tensor(a!) counts, Tensor(b!) control, int threads) -> Tensor");
  m.def(
      "hierarchy_draw_paths(Tensor first, Tensor paths, Tensor powers, Tensor last, Tensor depth, Tensor arcs, "
      "Tensor parts, Tensor choice, Tensor top, Tensor branch, Tensor row, Tensor rows, Tensor position, "
      "Tensor vertex, Tensor parent, int height, int seed, int number, int count, "
      "Tensor(a!) length, Tensor(b!) control, int threads, Tensor? pairs=None) -> Tensor");
  // Transitive closure of an acyclic graph whose arcs lead to smaller numbers. Sets the bits of words [base of a block
  // + 8 row + word], and reached to the total size of what each vertex reaches.
  m.def(
      "closure(Tensor rowptr, Tensor col, Tensor size, Tensor base, int sinks, int columns, Tensor(a!) words, "
      "Tensor(b!) reached, Tensor(c!) control, int threads) -> ()");
  // One iteration of Markov clustering (mcl/mcl_step.h describes pruning). Column j of a flow has length[j] entries
  // from begin[j] on, with ascending rows: begin int64, length int32, row int32, value float32. control is int64 on the
  // host: [cancel, columns done, memory limit of the new flow or <= 0]; the last becomes -1 if the limit is too small.
  // summary is float64 on the host: chaos; products of the expansion; entries kept; columns that keep less than `mass`,
  // recovered, selected; the smallest share of a column that is kept; the sum of these shares.
  //
  // Only the shares [first, last) of `parts` are computed; other columns of the new flow are empty. On the CPU, columns
  // are dealt to shares by cost; on CUDA, share i has the columns [n i / parts, n (i + 1) / parts).
  m.def(
      "mcl_iterate(Tensor begin, Tensor length, Tensor row, Tensor value, Tensor(a!) control, int expansion, "
      "float inflation, float threshold, int select, int recover, float mass, int threads, int strategy=0, "
      "int first=0, int last=1, int parts=1) "
      "-> (Tensor begin, Tensor length, Tensor row, Tensor value, Tensor summary)");
}
