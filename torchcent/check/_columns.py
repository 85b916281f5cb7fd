"""What columns of tables of edges are called, for text, Parquet and data frames alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

_SOURCE = r"(source|src|from|tail|start|origin|orig)(_?(node|vertex))?(_?id)?"
_TARGET = r"(target|dst|dest|to|head|end|destination)(_?(node|vertex))?(_?id)?"
#: Pairs of words, the source first, alone or with one word in common: sender_id, receiver_id.
#: Of these one acts on the other.
_ACTS = (
    ("origin", "destination"), ("orig", "dest"), ("departure", "arrival"), ("sender", "receiver"),
    ("sender", "recipient"), ("citing", "cited"), ("caller", "callee"), ("caller", "called"),
    ("caller", "receiver"), ("follower", "followee"), ("follower", "followed"),
    ("follower", "following"), ("follower", "target"), ("user", "follower"), ("parent", "child"),
    ("exporter", "importer"), ("seller", "buyer"), ("lender", "borrower"), ("payer", "payee"),
    ("donor", "recipient"), ("regulator", "target"), ("tf", "target"), ("predator", "prey"),
    ("rater", "ratee"), ("truster", "trustee"), ("pulocation", "dolocation"),
    ("upstream", "downstream"), ("source", "sink"), ("source", "receiver"), ("creditor", "debtor"),
    ("giver", "receiver"), ("giver", "taker"), ("investor", "investee"), ("supplier", "customer"),
    ("supplier", "buyer"), ("employer", "employee"), ("manager", "employee"), ("mentor", "mentee"),
    ("teacher", "student"), ("winner", "loser"), ("nominator", "nominee"), ("voter", "candidate"),
    ("referrer", "referred"), ("ancestor", "descendant"), ("predecessor", "successor"),
    ("influencer", "influenced"), ("origen", "destino"), ("origine", "destinazione"),
    ("depart", "arrivee"),
)  # fmt: skip
#: These are names of undirected edges, too.
_PAIRS = (
    *_ACTS,
    ("source", "target"), ("src", "dst"), ("src", "dest"), ("from", "to"), ("start", "end"),
    ("begin", "end"), ("source", "destination"), ("user", "item"), ("user", "product"),
    ("user", "movie"), ("user", "friend"), ("customer", "product"), ("author", "paper"),
    ("actor", "movie"), ("person", "friend"), ("subject", "object"), ("ego", "alter"),
    ("query", "subject"), ("qseqid", "sseqid"), ("reporter", "partner"), ("ligand", "receptor"),
    ("drug", "target"), ("drug", "disease"), ("gene", "disease"), ("von", "nach"),
    ("quelle", "ziel"), ("bait", "prey"), ("kinase", "substrate"), ("enzyme", "substrate"),
    ("host", "parasite"), ("host", "pathogen"), ("plant", "pollinator"), ("donor", "acceptor"),
    ("from", "into"), ("start", "stop"), ("left", "right"), ("lhs", "rhs"), ("de", "para"),
    ("desde", "hasta"), ("da", "a"), ("van", "naar"),
)  # fmt: skip
#: Pairs of things of which each is numbered by itself: user 1 is not item 1.
_KINDS = frozenset((
    ("user", "item"), ("user", "product"), ("user", "movie"), ("user", "artist"), ("user", "book"),
    ("user", "group"), ("user", "tag"), ("customer", "item"), ("customer", "product"),
    ("author", "paper"), ("author", "publication"), ("actor", "movie"), ("person", "event"),
    ("person", "group"), ("member", "club"), ("student", "course"), ("document", "term"),
    ("document", "word"), ("drug", "disease"), ("drug", "target"), ("gene", "disease"),
))  # fmt: skip
_SHORT = (("u", "v"), ("i", "j"), ("o", "d"))  # alone, or with one of _IDENTIFIERS
_IDENTIFIERS = frozenset(("id", "node", "vertex", "name"))
_IDS = frozenset(("id", "ids", "index", "key", "no", "number"))
#: What is numbered or lettered: gene1 and gene2, Protein A and Protein B, V1 and V2.
_STEMS = frozenset((
    "accession", "account", "actor", "address", "agent", "airport", "author", "bait", "bus",
    "cell", "character", "city", "club", "company", "country", "drug", "element", "end",
    "ensembl", "entity", "entrez", "firm", "friend", "gene", "group", "id", "individual",
    "interactor", "item", "key", "member", "molecule", "name", "node", "object", "page",
    "paper", "participant", "partner", "person", "place", "player", "point", "protein",
    "region", "residue", "sample", "scientist", "species", "state", "station", "stop",
    "subject", "symbol", "team", "term", "user", "v", "var", "vertex", "word",
))  # fmt: skip
_NUMBERED = re.compile(r"(?:(\w*?)_?)([a-z]+)_?(1|a)(_(?:id|name|label|symbol))?")
#: What makes two columns an interval or a place rather than the ends of an edge.
_NO_ENDS = frozenset((
    "age", "at", "coordinate", "coordinates", "date", "datetime", "day", "elevation", "hour",
    "index", "lat", "latitude", "line", "lng", "lon", "long", "longitude", "min", "minute", "month",
    "offset", "page", "pos", "position", "sec", "second", "step", "time", "timestamp", "ts", "week",
    "x", "y", "year", "z",
))  # fmt: skip
_RELATIONS = frozenset(("relation", "rel", "predicate"))
_WEIGHT = re.compile(r"(edge_?)?weights?|w")
_WEIGHT_LIKE = re.compile(
    r"values?|costs?|lengths?|distances?|dist|strengths?|(combined_)?scores?|counts?|n|freq|"
    r"frequency|similarity|correlation|ratings?|gewicht|poids|peso"
)


class Ends(NamedTuple):
    """The columns of sources and targets, by their names.

    Attributes:
        certain: whether these names are hardly those of vertices, too.
        stem: what is numbered, such as ``gene`` of gene1 and gene2, or "".
    """

    source: int
    target: int
    certain: bool = True
    stem: str = ""


def plain(name: Any) -> str:
    """The name of a column in lower case, with an underscore between words."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(name).strip(" \t\"'#%~"))
    return re.sub(r"[\W_]+", "_", text).strip("_").lower()


def ends(names: Sequence[Any]) -> Ends | None:
    """The columns that are called like the two ends of an edge, or None."""
    words = [plain(name) for name in names]
    source, target = (
        next((at for at, word in enumerate(words) if re.fullmatch(kind, word)), None)
        for kind in (_SOURCE, _TARGET)
    )
    if source is not None and target is not None:
        if words[source] == "tail" and _RELATIONS & set(words):  # of a knowledge graph
            source, target = target, source
        return Ends(source, target)
    place = {word: at for at, word in reversed(list(enumerate(words)))}
    candidates = []
    for at, word in enumerate(words):
        for stem, other in _counterparts(word, words):
            if other in place and place[other] != at:
                candidates.append((min(at, place[other]), Ends(at, place[other], False, stem)))
    return min(candidates)[1] if candidates else None


def named_ends(known: Sequence[Any], name: str, kind: type) -> None:
    """Refuses a table of lines, such as a GeoDataFrame, whose columns do not name the ends."""
    if ends(known) is None:
        raise ValueError(
            f"{name} is a {kind.__name__} without columns of the ends of edges, such as source and "
            "target; torchcent.read_streets(table).graph() is the graph of its lines"
        )


def weight(names: Sequence[Any], taken: Sequence[int] = ()) -> int | None:
    """The column that is called like a weight, or None."""
    words = [plain(name) for name in names]
    for kind in (_WEIGHT, _WEIGHT_LIKE):
        for at, word in enumerate(words):
            if at not in taken and kind.fullmatch(word):
                return at
    return None


def is_weight(name: Any) -> bool:
    """Whether the name says weight, rather than something that may be one."""
    return _WEIGHT.fullmatch(plain(name)) is not None


def is_index(name: Any) -> bool:
    """Whether the name is that of a column of row numbers, as R and pandas write it."""
    return re.fullmatch(r"((unnamed|index_level)_\d+)?", plain(name)) is not None


def kinds(names: Sequence[Any]) -> tuple[str, str] | None:
    """What the two ends are, such as user and item, if each kind is numbered by itself."""
    source, target = (
        re.sub(r"(?<=[a-z])ids?$", "", "_".join(x for x in plain(name).split("_") if x not in _IDS))
        for name in names
    )
    both = (source, target)
    return both if both in _KINDS or both[::-1] in _KINDS else None


def direction(names: Sequence[Any]) -> tuple[str, ...]:
    """What to say, if anything, where the columns of undirected edges name a direction."""
    words = [plain(name).split("_") for name in names]
    own = [[x for x in some if x not in words[1 - at]] for at, some in enumerate(words)]
    if tuple("_".join(x for x in some if x not in _IDS) for some in own) not in _ACTS:
        return ()
    one, other = (str(name) for name in names)
    return (undirected(f"the columns {one!r} and {other!r} name a direction"),)


def undirected(reason: str) -> str:
    return (
        f"{reason}, but edges are taken as undirected; directed=True (--directed) takes arcs, "
        "directed=False (--undirected) says so"
    )


def shared_ids(names: Sequence[Any], source: np.ndarray, target: np.ndarray) -> str | None:
    """What to say if vertices of two kinds have the same numbers, else None."""
    both = kinds(names)
    if both is None or not len(source) or source.dtype.kind not in "iu":
        return None
    if source.max() < target.min() or target.max() < source.min():
        return None
    some = slice(10_000)  # the first rows usually tell
    common = np.intersect1d(source[some], target[some])
    if not len(common):
        common = source[np.isin(source, target)]
    if not len(common):
        return None
    one, other = (str(name) for name in names)
    example = f"{both[0]}{common[0]} and {both[1]}{common[0]}"
    return (
        f"ids of the columns {one!r} and {other!r} that are the same number, such as {common[0]}, "
        f"are taken for one vertex; prefixes, {example}, keep them apart"
    )


def _counterparts(word: str, words: list[str]) -> list[tuple[str, str]]:
    """The names that the column of targets may have, beside a column of sources; with stems."""
    others = []
    for source, target in _PAIRS:
        if word == source:
            others.append(("", target))
        elif word.startswith(source + "_") and not _parts(word[len(source) :]) & _NO_ENDS:
            others.append(("", target + word[len(source) :]))
        elif word.endswith("_" + source) and not _parts(word[: -len(source)]) & _NO_ENDS:
            others.append(("", word[: -len(source)] + target))
    for source, target in _SHORT:
        head, _, tail = word.partition("_")
        if word == source or (head == source and tail in _IDENTIFIERS):
            others.append(("", target + word[1:]))
        elif tail == source and head in _IDENTIFIERS:
            others.append(("", f"{head}_{target}"))
    numbered = _NUMBERED.fullmatch(word)
    if numbered and numbered[2] in _STEMS:
        at = numbered.start(3)
        others.append((numbered[2], word[:at] + {"1": "2", "a": "b"}[word[at]] + word[at + 1 :]))
    if re.fullmatch(r"x_?[1a]", word) and word.replace("x", "y") not in words:
        others.append(("x", word[:-1] + {"1": "2", "a": "b"}[word[-1]]))
    return others


def _parts(words: str) -> set[str]:
    return set(words.split("_"))
