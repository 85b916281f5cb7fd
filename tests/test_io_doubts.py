"""Tables that may be something else: matrices, things of two kinds, empty names, large weights."""

import warnings

import networkx as nx
import pytest
import torch
from files import save, silent, told

from torchcent import Graph
from torchcent.io import EdgeList, read, write

# ---- matrices


@pytest.mark.parametrize(
    "text", ["0 1 1\n1 0 0\n1 0 0\n", "1 1 0\n1 1 1\n0 1 1\n", "0 5 2.5\n5 0 1\n7 1 0\n"]
)
def test_small_matrices_are_told(tmp_path, reader, text):
    """Three rows of three numbers are edges with weights, too."""
    path = save(tmp_path, "m.csv", text.replace(" ", ","))
    assert "3 rows of 3 columns were read as edges; if they are a matrix" in told(path)[1][0]
    path = save(tmp_path, "m.csv", "0,1,2\n" + text.replace(" ", ","))
    assert "3 rows of 3 columns were read as edges; if they are a matrix" in told(path)[1][0]
    silent(save(tmp_path, "g.csv", "from to weight\n".replace(" ", ",") + text.replace(" ", ",")))


@pytest.mark.parametrize(
    "text",
    [
        "0 1 2\n1 2 3\n2 3 4\n",
        "0 1 2\n1 2 3\n2 3 4\n3 4 5\n",
        "0 1 5\n1 0 5\n1 2 5\n",
        "0 1 1\n1 2 1\n0 2 1\n",
        "source target weight id\n0 1 1 7\n1 2 1 8\n0 2 1 9\n2 3 1 9\n",
    ],
)
def test_squares_that_are_edges(tmp_path, reader, text):
    silent(save(tmp_path, "g.txt", text))


@pytest.mark.parametrize("n", [3, 5])
def test_matrices_of_pandas_without_names_of_rows(tmp_path, n):
    pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    frame = nx.to_pandas_adjacency(nx.cycle_graph(n), dtype=int).rename(columns=str)
    wanted = f"{n} rows of {n} columns were read as edges; if they are a matrix"
    frame.to_csv(tmp_path / "m.csv", index=False)
    assert any(wanted in text for text in told(tmp_path / "m.csv")[1])
    frame.reset_index(drop=True).to_parquet(tmp_path / "m.parquet")
    assert any(wanted in text for text in told(tmp_path / "m.parquet")[1])
    _, said = told(tmp_path / "m.parquet", columns=(1, 2))
    assert not any(wanted in text for text in said)


# ---- two kinds of vertices


@pytest.mark.parametrize(
    "head", ["user,item", "userId,movieId", "author_id,paper_id", "Drug,Disease"]
)
def test_numbers_of_two_kinds_are_told(tmp_path, reader, head):
    one, other = head.split(",")
    path = save(tmp_path, "g.csv", f"{head},rating\n1,2,5\n2,3,4\n4,1,3\n")
    edges, said = told(path)
    assert edges.num_nodes == 4 and len(said) == 1
    assert (
        f"ids of the columns {one!r} and {other!r} that are the same number, such as 1," in said[0]
    )
    assert "prefixes, " in said[0]
    silent(save(tmp_path, "g.csv", f"{head},rating\n1,2,5\n1,4,4\n3,4,3\n"))
    silent(save(tmp_path, "g.csv", f"{head}\nu1,i2\nu2,i1\n"))
    silent(save(tmp_path, "g.csv", "user,friend\n1,2\n2,1\n"))


@pytest.mark.parametrize("labels", [False, True])
def test_numbers_of_two_kinds_in_other_tables(tmp_path, labels):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"item": [0, 1, 2], "user": [1, 2, 5]})
    wanted = "columns 'user' and 'item' that are the same number, such as 1,.*user1 and item1"
    with pytest.warns(UserWarning, match=wanted):
        Graph.from_table(table, labels=labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Graph.from_table(table.rename(columns={"item": "friend"}), labels=labels)
        Graph.from_table(table.assign(item=table["item"] + 6), labels=labels)
    pytest.importorskip("pyarrow")
    table.to_parquet(tmp_path / "g.parquet")
    edges, said = told(tmp_path / "g.parquet")
    assert len(said) == 1 and "such as 1, are taken for one vertex" in said[0]


# ---- names and weights


@pytest.mark.parametrize("category", [False, True])
def test_empty_names_are_refused(tmp_path, category):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"from": ["a", "b", ""], "to": ["b", "c", "a"]})
    table = table.astype("category") if category else table
    for name in ("g.csv", "g.tsv"):
        table.to_csv(tmp_path / name, index=False, sep="," if name == "g.csv" else "\t")
        with pytest.raises(ValueError, match=f"{name}:4: a vertex without a name"):
            read(tmp_path / name)
    table.to_parquet(tmp_path / "g.parquet")
    with pytest.raises(ValueError, match=r"g\.parquet: a vertex without a name in row 3"):
        read(tmp_path / "g.parquet")
    with pytest.raises(ValueError, match="column 'from' of table has 1 missing entries.* row 2"):
        Graph.from_table(table, labels=True)
    with pytest.raises(ValueError, match="label '' cannot stand in this format"):
        write(tmp_path / "w.parquet", EdgeList(torch.tensor([[0], [1]]), labels=["", "b"]))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.txt", "1 2 9007199254740993\n2 3 4\n3 4 -12345678901234567\n"),
        ("g.csv", "from,to,weight\na,b,9007199254740993\nb,c,4\nc,d,123456789012345678901\n"),
        ("g.csv", 'from,to,w\n"a ","b",9007199254740993\nb, "c",4\nc,d,98765432109876543\n'),
        ("g.abc", "a\tb\t9007199254740993\nb\tc\t1\nc\td\t9007199254740995\n"),
        ("g.mci", "(mclheader\nmcltype matrix\ndimensions 2x2\n)\n(mclmatrix\nbegin\n"
                  "0 0:9007199254740993 1:98765432109876543 $\n1 0:5 $\n)\n"),
    ],
)  # fmt: skip
def test_integers_that_are_rounded(tmp_path, reader, name, text):
    edges, said = told(save(tmp_path, name, text))
    assert [x.rpartition(": ")[2] for x in said] == ["2 weights beyond 2^53 rounded to float64"]
    assert edges.edge_weight.abs().max() >= 2**53


@pytest.mark.parametrize(
    "text",
    [
        "1 2 9007199254740992\n2 3 4\n",
        "1 2 1e300\n2 3 1.2345678901234567e+17\n",
        "a b 12345678901234567.0\nb c 2\n",
        "12345678901234567 12345678901234568 2.5\n12345678901234569 12345678901234568 1\n",
        "from to weight id\na b 1 12345678901234567\n",
    ],
)
def test_weights_that_are_not_rounded(tmp_path, reader, text):
    silent(save(tmp_path, "g.txt", text))
