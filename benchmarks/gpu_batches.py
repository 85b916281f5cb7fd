"""Many small graphs at once on CUDA, from edges on the device to features there.

Called by gpu.py, whose results it joins. `error` is the largest relative difference from the CPU.
"""

from __future__ import annotations

import statistics
from typing import Any

import torch
from machine import seconds_on_device
from small_graphs import SETS, parts, union

import torchcent

REPEAT = 7
TARGET = {"molecules": 0.010}  # seconds to reach, betweenness and closeness with the preparation


def seconds(call: Any) -> float:
    call()
    return statistics.median(seconds_on_device(call) for _ in range(REPEAT))


def rows() -> list[dict[str, Any]]:
    table = []
    for name in SETS:
        on_host = union(parts(name))
        arcs, ptr = (x.cuda() for x in on_host)
        graph = torchcent.Graph.from_edge_index(arcs, ptr=ptr)
        batch = graph.batch
        weight = 1 + torch.arange(arcs.shape[1], device="cuda") % 4
        options = {"run": torchcent.Run(dtype=torch.float64)}
        expected = torchcent.node_features(on_host[0], batch=batch.cpu(), **options)
        actual = torchcent.node_features(arcs, batch=batch, **options).cpu()
        row = {
            "name": name,
            "graphs": graph.num_graphs,
            "vertices": graph.num_nodes,
            "slots": graph.num_slots,
            "target": TARGET.get(name, 0),
            "seconds": seconds(
                lambda arcs=arcs, batch=batch: torchcent.node_features(arcs, batch=batch)
            ),
            "preparation": seconds(
                lambda arcs=arcs, ptr=ptr: torchcent.Graph.from_edge_index(arcs, ptr=ptr)
            ),
            "prepared": seconds(lambda graph=graph: torchcent.node_features(graph)),
            "edges": seconds(lambda graph=graph: torchcent.edge_betweenness(graph)),
            "weighted": seconds(
                lambda arcs=arcs, weight=weight, batch=batch: torchcent.node_features(
                    arcs, weight, batch=batch
                )
            ),
            "error": float(((actual - expected).abs() / expected.clamp(min=1e-9)).max()),
        }
        print(
            f"{name:14} {row['seconds'] * 1e3:7.2f} ms (at most {row['target'] * 1e3:.0f}), "
            f"preparation {row['preparation'] * 1e3:.2f}, prepared {row['prepared'] * 1e3:.2f}, "
            f"edges {row['edges'] * 1e3:.2f}, weighted {row['weighted'] * 1e3:.2f}, error "
            f"{row['error']:.0e}",
            flush=True,
        )
        table.append(row)
    return table
