"""Rows of numbers: the reader that takes a file piece by piece, numbers of vertices, columns."""

import threading

import numpy as np
import pytest
import torch
from files import FAST, PACK, irregular, rows, save
from internals import COMPILED
from surface import call
from tuning import tuned

import torchcent
from torchcent.cli import main
from torchcent.io import _edge_list, _files, _rows, _text, read

compiled = pytest.mark.skipif(not COMPILED, reason="compiled code only")


def line_by_line(path):
    """What the reader gives that defines the format."""
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch)(**dict.fromkeys(FAST, irregular))
        return read(path)


def by_pieces(path):
    """What compiled code gives, with nothing left to other readers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_text, "_whole", lambda *_: pytest.fail("left to another reader"))
        return read(path)


def assert_same(edges, other):
    assert torch.equal(edges.edge_index, other.edge_index)
    assert edges.edge_index.is_contiguous() and edges.edge_index.dtype == torch.int64
    weight, expected = (
        None if x.edge_weight is None else x.edge_weight.numpy().tobytes() for x in (edges, other)
    )
    assert weight == expected
    assert (edges.labels is None) == (other.labels is None)
    assert edges.vertex_labels().tolist() == other.vertex_labels().tolist()
    assert (edges.num_nodes, edges.directed) == (other.num_nodes, other.directed)


WEIGHTS = "0.1 +.5 5. 1E5 -0.0 4.9e-324 1e22 123456789012345678901 1.7976931348623157e+308"
TEXTS = [
    *(f"1 2 {weight}\n2 3 1\n" for weight in WEIGHTS.split()),
    f"1 2 0.{'1234567890' * 40}e3\n",
    f"{2**63 - 1} {-(2**63)}\n0 7\n",
    "  1   2 \n\t2 \t 3\n",
    "1 ,2, 3.5\n 2,\t3,1e3 \n",
    '1\t2\t3\tany thing,"\n2\t3\t4\t\n',
    "\ufeff1 2\r\n\r\n# c\r\n2 3",
    "# Directed graph\n# Nodes: 9 Edges: 2\n1 2\n\n  % c\n2 3\n# vertex 7",
    "id,target,source,weight\n7,0,1,2.5\n\n8,1,2,1.5",
    f"5 6{' ' * 5000}\n7 8\n",
]


@compiled
@pytest.mark.parametrize("text", TEXTS)
def test_rows_are_those_of_the_lines(tmp_path, text):
    path = save(tmp_path, "g.txt", text)
    assert_same(by_pieces(path), line_by_line(path))


NAMES = [
    "a b\nb c7\n",
    "  \u00e9t\u00e9   b c\t d\n",
    "New York\tRio\t1.5\n  Rio\t New York \t2\n",
    'source,target,note,weight\n"a, b",c,"x, y",1\nc," d ","",2e3\n',
    '"a b"\t"c"\t"1.5"\nc\td "e"\t2\n',
    "x;y;1\ny;007;2\n",
    "# c\na b\n\n  % c\nb c\n# vertex d\n",
    "007 8\n8 9\n",
    "1.0 2\n2 3\n",
    '"1","2"\n"2","3"\n',
    "abcdefghi abcdefgh\nabcdefghij abcdefgha\nz \u00e9\n\u00e9 abcdefghabcdefghabcdefgh\n"
    "abcdefghabcdefgh abcdefghabcdefghabcdefg\n-1x 10.\n1-1 -\n\U0001f600 \uffee\n",
]


@compiled
@pytest.mark.filterwarnings("ignore:.*(ids such as|columns 'a')")
@pytest.mark.parametrize("chunk", [3, 9, 1 << 20])
@pytest.mark.parametrize("text", NAMES)
def test_names_are_those_of_the_lines(tmp_path, tuning, monkeypatch, text, chunk):
    path = save(tmp_path, "g.txt", text)
    expected = line_by_line(path)
    tuning(text_chunk=chunk)
    monkeypatch.setattr(_rows, "_PIECE", chunk)
    assert_same(by_pieces(path) if chunk > 9 else read(path), expected)


@compiled
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_share_names(tmp_path, monkeypatch, threads):
    ends = np.random.default_rng(0).integers(0, 3000, (20_000, 2)).tolist()
    path = save(tmp_path, "g.txt", "".join(f"gene{u} gene{v}\n" for u, v in ends))
    monkeypatch.setattr(_rows, "_PIECE", 1 << 17)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        edges = by_pieces(path)
    finally:
        torch.set_num_threads(before)
    assert rows(edges) == [(f"gene{u}", f"gene{v}") for u, v in ends]


BORDERS = "5 7\n7 8\n# c\n" + "".join(
    f"{k} {k * k}\r\n" if k % 3 else f"\n# {k}\n" for k in range(99)
)


@compiled
@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("chunk", [*range(24, 40), 64, 1 << 22])
def test_pieces_of_any_size(tmp_path, tuning, suffix, chunk):
    path = save(tmp_path, f"g.txt{suffix}", BORDERS)
    expected = line_by_line(path)
    tuning(text_chunk=chunk)
    # the first pieces of .xz may be of any size
    assert_same(read(path) if suffix == ".xz" else by_pieces(path), expected)


@pytest.mark.filterwarnings("ignore:.*column 'z' holds numbers")
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 9, 13])
@pytest.mark.parametrize(
    "text", ["source,target\n1,2\n2,3\n", "# c\n\n\na b\n1 2\n3 4\n", "x y z\n1 2 3\n"]
)
def test_a_header_is_found_in_any_pieces(tmp_path, tuning, text, chunk):
    path = save(tmp_path, "g.txt", text)
    expected = line_by_line(path)
    tuning(text_chunk=chunk)
    assert_same(read(path), expected)


@compiled
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_the_lines(tmp_path, threads):
    draw = np.random.default_rng(0)
    ends, weight = draw.integers(-(10**12), 10**12, (20_000, 2)), draw.normal(size=20_000)
    lines = [f"{u} {v} {w!r}" for (u, v), w in zip(ends.tolist(), weight.tolist(), strict=True)]
    path = save(tmp_path, "g.txt", "\n".join(lines))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        edges = by_pieces(path)
    finally:
        torch.set_num_threads(before)
    labels, numbers = np.unique(ends, return_inverse=True)
    assert edges.labels.tolist() == labels.tolist()
    assert edges.edge_index.T.tolist() == numbers.reshape(-1, 2).tolist()
    assert edges.edge_weight.tolist() == weight.tolist()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("5", r"g.txt:9001: 1 field where the lines before have 2: '5'"),
        ("5 x", r"g.txt:9001: mixed labels: 'x' \(line 9001\) is a name"),
        ("5 9223372036854775808", r"g.txt:9001: id 9223372036854775808 is beyond 64 bits"),
        ("5 6\0", "g.txt: binary data"),
        ("# \xff", "not UTF-8"),
    ],
)
def test_a_late_fault_is_named(tmp_path, tuning, line, message):
    tuning(text_chunk=1 << 12)
    lines = [f"{k} {k + 1}" for k in range(10_000)]
    lines[9000] = line
    with pytest.raises(ValueError, match=message):
        read(save(tmp_path, "g.txt", "\n".join(lines).encode("latin-1")))


def test_a_late_irregular_row_changes_nothing(tmp_path, tuning):
    tuning(text_chunk=1 << 12)
    lines = [f"{k} {k + 1}" for k in range(10_000)]
    lines[9000] = "9000 9001\r# a lone carriage return ends a line"
    edges = read(save(tmp_path, "g.txt", "\n".join(lines)))
    assert edges.edge_index[1].tolist() == list(range(1, 10_001))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_damage_in_a_late_piece(tmp_path, tuning, suffix):
    tuning(text_chunk=1 << 12)
    draw = np.random.default_rng(0).integers(0, 10**9, (20_000, 2)).tolist()
    data = PACK[suffix]("".join(f"{u} {v}\n" for u, v in draw).encode())
    path = tmp_path / f"g.txt{suffix}"
    path.write_bytes(data[: len(data) * 3 // 4])
    with pytest.raises(ValueError, match=f"g.txt{suffix}: truncated or damaged {suffix} file"):
        read(path)


def test_a_system_without_another_thread(tmp_path, tuning, monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    tuning(text_chunk=64)
    lines = [f"{k} {k + 1}" for k in range(500)]
    assert read(save(tmp_path, "g.txt", "\n".join(lines))).num_edges == 500


def test_no_thread_outlives_the_file(tmp_path, tuning):
    tuning(text_chunk=64)
    before = set(threading.enumerate())
    path = save(tmp_path, "g.txt", "\n".join(f"{k} {k + 1}" for k in range(500)) + "\n1 x\n")
    with pytest.raises(ValueError, match="mixed labels"):
        read(path)
    assert set(threading.enumerate()) <= before
    assert next(_files.pieces_of(b""), None) is None


def test_zst_is_not_written(tmp_path):
    path = save(tmp_path, "g.txt.zst", PACK[".zst"](b"") or b"1 2\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"g.txt.zst: .zst is read only; accepted: .gz, .bz2, .xz"):
        torchcent.write(path, torchcent.EdgeList(torch.tensor([[0], [1]])))
    assert path.read_bytes() == before


# ---- numbers of vertices

COUNT = 150_000  # more than one bucket, and a bucket may be larger than what is sorted in the cache


def far(draw, low, high, one):
    ids = draw.integers(low, high, COUNT)
    ids[COUNT // 2] = one
    return ids


IDS = {
    "all of a range": lambda draw: draw.permutation(COUNT),
    "a shifted range": lambda draw: draw.permutation(COUNT) - 70_000,
    "small": lambda draw: draw.integers(5, 90, COUNT),
    "marked": lambda draw: draw.integers(-(10**6), 3 * 10**6, COUNT),
    "sorted": lambda draw: draw.integers(0, 10**12, COUNT),
    "64 bits": lambda draw: draw.integers(-(2**63), 2**63 - 1, COUNT, endpoint=True),
    "both ends": lambda draw: draw.choice([-(2**63), 2**63 - 1, 0, 1], COUNT),
    "one far": lambda draw: far(draw, 0, 10**9, 2**63 - 1),
    "one far below": lambda draw: far(draw, 0, 10**9, -(2**63)),
    "many the same": lambda draw: np.where(draw.random(COUNT) < 0.9, 10**15, far(draw, 0, 9, 7)),
    "powers": lambda draw: 2 ** draw.integers(0, 63, COUNT) + draw.integers(0, 3, COUNT),
}


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_any_ids_are_numbered_in_order(name, threads):
    draw = np.random.default_rng(1)
    source, target = IDS[name](draw), draw.permutation(IDS[name](draw))
    labels, numbers = np.unique(np.stack([source, target]), return_inverse=True)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        found, known, n = _edge_list.number_vertices(
            _edge_list.Budget.of("g.txt"), (source, target)
        )
    finally:
        torch.set_num_threads(before)
    assert n == len(labels)
    assert np.array_equal(np.arange(n) if known is None else known, labels)
    assert (known is None) == (labels[0] == 0 and labels[-1] == n - 1)
    assert np.array_equal(found.numpy(), numbers.reshape(2, -1))


def test_ids_without_edges_are_numbered_too():
    limits, ends = _edge_list.Budget.of("g.txt"), (np.array([2**40]), np.array([5]))
    numbers, labels, n = _edge_list.number_vertices(limits, ends, also=np.array([7, -1]))
    assert (numbers.tolist(), labels.tolist(), n) == ([[3], [1]], [-1, 5, 7, 2**40], 4)


# ---- columns

TABLE = "name,Since,b,km,a\nx,1999,1,0.5,0\ny,2001,2,1.5,1\n"
PROTEINS = "A\t01\tNP_1.2\tA\t01\tin vivo;2-hybrid\nA\t01\tNP_1.2\tB\t07\tin vivo\n"  # as HPRD


@pytest.mark.parametrize(
    ("text", "chosen", "expected"),
    [
        (TABLE, {"columns": ("a", "b")}, [(0, 1), (1, 2)]),
        (
            TABLE,
            {"columns": ("a", "b"), "weight_column": "km"},
            [(0, 1, 0.5), (1, 2, 1.5)],
        ),
        (
            TABLE,
            {"columns": (5, 3), "weight_column": "since"},
            [(0, 1, 1999.0), (1, 2, 2001.0)],
        ),
        (TABLE, {"columns": ("name", 1 + 4)}, "2: mixed labels: 'x'"),
        ("0 1 7 3\n1 2 8 4\n", {"weight_column": 4}, [(0, 1, 3.0), (1, 2, 4.0)]),
        ("0 1 7 3\n1 2 8 4\n", {"columns": (None, 3)}, [(0, 7), (1, 8)]),
        ("0 1 7 3\n1 2 8 4\n", {"columns": (2, 1)}, [(1, 0, 7), (2, 1, 8)]),
        ("who i j\nx 0 1\ny 1 2\n", {"columns": (2, 3)}, [(0, 1), (1, 2)]),
        ("u v\na b\n", {"columns": ("v", "u")}, [("b", "a")]),
        ("0 1 5\n", {"weight_column": np.int64(3)}, [(0, 1, 5.0)]),
        ("a b x\nb c y\n", {"columns": (1, None)}, [("a", "b"), ("b", "c")]),
        ("0 1 x\n1 2 y\n", {"columns": (None, 2)}, [(0, 1), (1, 2)]),
        (PROTEINS, {"columns": (1, 4)}, [("A", "A"), ("A", "B")]),
        (PROTEINS, {"columns": (2, 5)}, [("01", "01"), ("01", "07")]),
        ("0 1 x\n1 2 3\n", {"columns": (1, None)}, "1: weight 'x' is not a number"),
        ("0 1 3\n1 2 x\n", {"columns": (1, None)}, "2: weight 'x' is not a number"),
        ("a pp b\n", {}, r"1: weight 'b' is not a number; if .*\(--source-column, --target-c"),
    ],
)
def test_chosen_columns(tmp_path, text, chosen, expected):
    path = save(tmp_path, "g.csv", text)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match="g.csv:" + expected):
            call(read, path, **chosen)
    else:
        assert rows(call(read, path, **chosen)) == expected


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        (
            {"columns": ("c", None)},
            ValueError,
            r"g.csv:1: columns\[0\] \(--source-column\)='c' is no column of the h",
        ),
        ({"weight_column": 6}, ValueError, r"g.csv:1: weight_column=6, but the row has 5 columns"),
        ({"columns": (2, None)}, ValueError, "must differ, but they are 2, 2 and none"),
        (
            {"columns": (None, 3), "weight_column": "b"},
            ValueError,
            "must differ, but they are 1, 3 and 3",
        ),
        (
            {"columns": (0, None)},
            ValueError,
            r"columns\[0\] \(--source-column\)=0; accepted: a name, or a number from 1",
        ),
        (
            {"columns": ("", None)},
            TypeError,
            r"columns\[0\] \(--source-column\) must be a name or a number from 1",
        ),
        (
            {"columns": (None, True)},
            TypeError,
            r"columns\[1\] \(--target-column\) must be a name or a number from 1",
        ),
        ({"columns": 3}, TypeError, "columns must be two names or numbers"),
        ({"weight_column": 1.5}, TypeError, "weight_column must be a name or a number from 1"),
    ],
)
def test_columns_that_are_not_there(tmp_path, chosen, error, message):
    with pytest.raises(error, match=message):
        call(read, save(tmp_path, "g.csv", TABLE), **chosen)


def test_columns_are_those_of_edge_lists(tmp_path):
    path = save(tmp_path, "g.gr", "p sp 2 1\na 1 2 1\n")
    with pytest.raises(
        ValueError, match="weight_column='w' is for tables of edges, text or parquet, not for gr"
    ):
        read(path, weight_column="w")


SINCE = "from,to,since\n0,1,1999\n"


def test_a_numeric_third_column_that_is_not_taken_is_told(tmp_path, recwarn):
    path = save(tmp_path, "g.csv", SINCE)
    with pytest.warns(UserWarning, match="'since' holds numbers, .*weight_column='since'") as told:
        assert read(path).edge_weight is None
    assert len(told) == 1
    assert read(path, weight_column="since").edge_weight.tolist() == [1999]
    for text in ("from,to,note\n0,1,x\n", "from,to,weight\n0,1,5\n", "0,1,5\n"):
        read(save(tmp_path, "g.csv", text))
    assert not recwarn.list


def test_columns_on_the_command_line(tmp_path, capsys):
    path = save(tmp_path, "g.csv", SINCE)
    assert main(["info", str(path)]) == 0
    assert capsys.readouterr().err.count("column 'since' holds numbers") == 1
    for column in ("since", "3"):
        assert main(["info", str(path), "--weight-column", column]) == 0
        out, err = capsys.readouterr()
        assert "1999 to 1999" in out and "since" not in err
    options = ["--source-column", "to", "--target-column", "1", "--directed"]
    assert main(["convert", str(path), str(tmp_path / "h.csv"), *options]) == 0
    assert (tmp_path / "h.csv").read_text() == "source,target\n1,0\n"
    assert main(["info", str(path), "--weight-column", "x"]) == 2
    assert "weight_column='x' is no column of the header: 'from', 'to'" in capsys.readouterr().err


# ---- both directions


@pytest.mark.parametrize(
    ("arcs", "directed"),
    [
        ("a 1 2 5\na 2 1 5\na 2 3 1\na 3 2 1\n", False),
        ("a 1 2 5\na 2 1 6\n", True),
        ("a 1 2 5\na 2 1 5\na 1 2 5\n", True),
        ("a 1 2 5\na 2 3 5\na 3 1 5\n", True),
        ("a 1 2 0\na 2 1 -0.0\na 3 3 1\n", False),
        ("", False),
    ],
)
def test_a_road_file_holds_both_directions(tmp_path, arcs, directed):
    path = save(tmp_path, "g.gr", f"p sp 3 {arcs.count('a')}\n{arcs}")
    assert read(path).directed is directed
    for given in (True, False):
        assert read(path, directed=given).directed is given


def test_info_tells_of_both_directions(tmp_path, capsys):
    def told(name, text, *options):
        assert main(["info", str(save(tmp_path, name, text)), *options]) == 0
        return capsys.readouterr().out

    both, road = "every edge in both directions", "p sp 2 2\na 1 2 5\na 2 1 5\n"
    assert both in told("a.gr", road) and "1, undirected (2 slots)" in told("a.gr", road)
    assert "2 arcs, directed" in told("a.gr", road, "--directed")
    assert both in told("b.txt", "0 1\n1 0\n")
    assert both not in told("c.txt", "0 1\n0 1\n3 2\n3 2\n")
    assert both not in told("d.txt", "1 1\n2 2\n")
