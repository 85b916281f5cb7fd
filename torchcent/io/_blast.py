"""Tables of BLAST, DIAMOND and MMseqs2 (-outfmt 6, -m 8) as similarities, as mcl takes them."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from itertools import islice

import numpy as np
import torch

from torchcent.io._budget import Budget
from torchcent.io._edge_list import EdgeList
from torchcent.io._files import text_bytes
from torchcent.io._layout import Choice
from torchcent.io._options import Options
from torchcent.io._text import read_edges
from torchcent.io._transform import neg_log

#: At most so much: "any E-value below 1e-200 is set to a maximum allowed edge weight of 200"
#: (clmprotocols(5) of mcl 22-282, "Clustering similarity graphs encoded in BLAST results").
_MOST = 200.0
_USUAL = Choice(1, 2, 11)
_WIDTH = 12
#: names of the columns, in headers and in "# Fields:" of -outfmt 7
_QUERY = re.compile(r"qseqid|qaccver|qacc|query( id| acc\.ver| acc\.)?", re.I)
_SUBJECT = re.compile(r"sseqid|saccver|sacc|target|subject( id| acc\.ver| acc\.)?", re.I)
_E_VALUE = re.compile(r"e-?value", re.I)
_WITHOUT_ONE = re.compile(rb"(?m)(?<=\t)e-(?=[0-9]+(?:\t|$))")  # e-105, as blastall writes it


def read_blast(data: bytes, limits: Budget, options: Options) -> EdgeList:
    """Reads hits as edges of weight min(-log10 E, 200); those with E >= 1 are left out.

    ``mcxload --stream-neg-log10 -stream-tf 'ceil(200)'``, the protocol of mcl's manual, gives the
    same weights, and those of E > 1 as negative ones.

    Both directions of a pair and all of its hits are kept; mcl takes the largest weight of them.
    """
    path = limits.path
    text = text_bytes(path, data)
    if b"\te-" in text:
        text = _WITHOUT_ONE.sub(b"1e-", text)
    choice, header = _columns(path, text)
    chosen = zip(options.choice, choice, strict=True)
    own = Choice._make(usual if column is None else column for column, usual in chosen)
    labels = True if options.text_labels is None else options.text_labels
    hits = read_edges(
        text, limits, replace(options, choice=own, header=header, marks="#", text_labels=labels)
    )
    assert hits.edge_weight is not None or not hits.num_edges
    if hits.edge_weight is None:
        return hits
    value = hits.edge_weight.numpy()
    if (value < 0).any():
        raise ValueError(f"{path}: E-value {value.min():g}; accepted: 0 or more")
    weight = torch.from_numpy(np.minimum(neg_log(value, 10.0), _MOST))
    stays = weight > 0
    if lost := int((~stays).sum()):
        warnings.warn(
            f"{path}: {lost:,} of {hits.num_edges:,} hits have E-values of 1 or more and are left "
            "out",
            stacklevel=4,
        )
    return replace(hits, edge_index=hits.edge_index[:, stays], edge_weight=weight[stays])


def _columns(path: str, text: bytes) -> tuple[Choice, bool]:
    """The columns of query, subject and E-value, and whether the first row has their names."""
    fields = re.search(rb"(?m)^# Fields: (.*)$", text)
    if fields:
        choice = _named(fields[1].decode(errors="replace").split(","))
        if choice is None:
            raise ValueError(
                f"{path}: '# Fields:' names no query, subject and evalue: -outfmt 7 without "
                "columns of its own has them"
            )
        return choice, False
    rows = (x[0] for x in re.finditer(rb"(?m)^[^#\n][^\n]*", text) if x[0].strip())
    for row in islice(rows, 1):
        names = row.decode(errors="replace").split("\t")
        choice = _named(names)
        if choice is not None:
            return choice, True
        if len(names) < _WIDTH:
            raise ValueError(
                f"{path}: the first row has {len(names)} columns between tabs; accepted: the 12 of "
                "BLAST's -outfmt 6 (-m 8), of which the first two are the sequences and the "
                "eleventh the E-value, or a header with qseqid, sseqid and evalue"
            )
    return _USUAL, False


def _named(names: list[str]) -> Choice | None:
    places = [
        next((at for at, name in enumerate(names, 1) if kind.fullmatch(name.strip())), None)
        for kind in (_QUERY, _SUBJECT, _E_VALUE)
    ]
    return None if None in places else Choice(*places)
