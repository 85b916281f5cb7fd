"""Curvature by its formulas, on NetworkX graphs."""

import math
from fractions import Fraction

import networkx as nx
import numpy as np
from scipy.optimize import linprog


def forman(graph, kind):
    """The plain curvature with the weights of the edges, or that with triangles, by edge."""
    found = {}
    for u, v, w in graph.edges(data="weight", default=1):
        value = 2 - sum(
            math.sqrt(w / other)
            for end in (u, v)
            for a, b, other in graph.edges(end, data="weight", default=1)
            if {a, b} != {u, v}
        )
        if kind == "augmented":
            value += 3 * len(list(nx.common_neighbors(graph, u, v)))
        found[u, v] = value
    return found


def balanced(graph, i, j):
    """Definition 1 of Topping et al. 2022, with rows of the adjacency matrix."""
    nodes = sorted(graph)
    matrix = nx.to_numpy_array(graph, nodes, weight=None)
    row = {v: matrix[at] for at, v in enumerate(nodes)}
    di, dj = graph.degree(i), graph.degree(j)
    if min(di, dj) == 1:
        return 0.0
    triangles = int(row[i] @ row[j])

    def around(a, b):
        """Neighbours of a that are on a 4-cycle with b and have no chord."""
        others = set(graph[b]) - set(graph[a]) - {a}
        return [k for k in graph[a] if k != b and k not in graph[b] and others & set(graph[k])]

    of_i, of_j = around(i, j), around(j, i)
    cycles = [row[k] @ (row[j] - row[i] * row[j]) - 1 for k in of_i]
    cycles += [row[w] @ (row[i] - row[j] * row[i]) - 1 for w in of_j]
    least, largest = min(di, dj), max(di, dj)
    value = 2 / least + 2 / largest - 2 + 2 * triangles / largest + triangles / least
    if cycles:
        value += (len(of_i) + len(of_j)) / (max(cycles) * largest)
    return value


def _masses(graph, v, alpha):
    share = (1 - alpha) / graph.degree(v)
    return {v: alpha, **dict.fromkeys(graph[v], share)}


def ollivier(graph, alpha):
    """By edge, from linear programmes with the masses of all neighbours."""
    length = dict(nx.all_pairs_dijkstra_path_length(graph, weight="weight"))
    found = {}
    for u, v in graph.edges:
        give, take = _masses(graph, u, alpha), _masses(graph, v, alpha)
        cost = np.array([[length[x][y] for y in take] for x in give])
        p, q = cost.shape
        rows = np.kron(np.eye(p), np.ones(q))
        columns = np.kron(np.ones(p), np.eye(q))
        total = linprog(
            cost.ravel(), A_eq=np.vstack([rows, columns]),
            b_eq=[*give.values(), *take.values()], method="highs",
        ).fun  # fmt: skip
        found[u, v] = 1 - total / length[u][v]
    return found


def exact_ollivier(graph, alpha):
    """The same by hops in exact fractions, from flows of whole numbers."""
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    found = {}
    for u, v in graph.edges:
        give, take = _masses(graph, u, alpha), _masses(graph, v, alpha)
        whole = math.lcm(*(x.denominator for x in (*give.values(), *take.values())))
        flow = nx.DiGraph()
        for x, mass in give.items():
            flow.add_node(("from", x), demand=-int(mass * whole))
        for y, mass in take.items():
            flow.add_node(("to", y), demand=int(mass * whole))
        flow.add_weighted_edges_from(
            (("from", x), ("to", y), hops[x][y]) for x in give for y in take
        )
        found[u, v] = 1 - Fraction(nx.network_simplex(flow)[0], whole)
    return found


def resistances(graph):
    """Matrix of effective resistances, from the pseudo-inverse of the Laplacian."""
    inverse = np.linalg.pinv(nx.laplacian_matrix(graph, sorted(graph)).toarray().astype(float))
    own = np.diag(inverse)
    return own[:, None] + own - 2 * inverse


def rewired(graph, draws, tau, bound):
    """Algorithm 1 of Topping et al. 2022, with all curvature computed again in each step."""
    graph = graph.copy()
    for draw in draws:
        changed = False
        curvature = {tuple(sorted(e)): balanced(graph, *sorted(e)) for e in graph.edges}
        if curvature:
            i, j = min(curvature, key=lambda e: (curvature[e], e))
            candidates = [
                (k, m) for k in sorted([i, *graph[i]]) for m in sorted([j, *graph[j]])
                if k != m and not graph.has_edge(k, m)
            ]  # fmt: skip
            gains = []
            for k, m in candidates:
                graph.add_edge(k, m)
                gains.append(balanced(graph, i, j) - curvature[i, j])
                graph.remove_edge(k, m)
            weights = [math.exp(tau * (x - max(gains))) for x in gains]
            upto = np.cumsum(weights)
            if candidates:
                graph.add_edge(*candidates[int((upto > draw * upto[-1]).argmax())])
                changed = True
        if bound is not None and graph.number_of_edges():
            curvature = {tuple(sorted(e)): balanced(graph, *sorted(e)) for e in graph.edges}
            edge = min(curvature, key=lambda e: (-curvature[e], e))
            if curvature[edge] > bound:
                graph.remove_edge(*edge)
                changed = True
        if not changed:
            break
    return graph
