"""Edge tables as programs write them: headers, columns, ids, comments, dialects."""

import io
import json

import networkx as nx
import numpy as np
import pytest
from files import FAST, irregular, rows, save, silent, told
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tuning import tuned

from torchcent import Run
from torchcent.__main__ import main
from torchcent.io import read

HEADS = (
    "gene1,gene2", "sender,receiver", "protein1,protein2", "u,v", "gene_a,gene_b", "i,j",
    "origin,destination", "user,item", "citing,cited", "V1,V2", "X1,X2", "X_a,X_b", "X A,X B",
    "follower,followed", "parent,child", "Protein A,Protein B", "author1,author2", "id1,id2",
    "FromNodeId,ToNodeId", "start station id,end station id", "sourceId,targetId", "src,dst",
    "Official Symbol Interactor A,Official Symbol Interactor B", "PULocationID,DOLocationID",
    "citing_paper_id,cited_paper_id", "node_from,node_to", '"Gene1","Gene2"', "TF,target",
    "bait,prey", "host,pathogen", "supplier_id,buyer_id", "mentor,mentee", "winner,loser",
    "upstream,downstream", "origen,destino", "Accession A,Accession B", "account1,account2",
)  # fmt: skip


# ---- headers


@pytest.mark.parametrize("head", HEADS)
def test_heads_of_tables_are_known(tmp_path, head):
    path = save(tmp_path, "g.csv", head + "\nAnn,Bob\nBob,Cleo\n")
    assert rows(silent(path, directed=False)) == [("Ann", "Bob"), ("Bob", "Cleo")]
    path = save(tmp_path, "w.csv", head + ",weight\n1,2,3\n")
    assert rows(silent(path, directed=False)) == [(1, 2, 3.0)]


@pytest.mark.parametrize("order", ["to,from", "dst,src", "receiver,sender", "gene2,gene1", "v,u"])
def test_columns_in_any_order(tmp_path, order):
    path = save(tmp_path, "g.csv", f"id,{order},length\n1,b,a,1.5\n2,c,b,2.5\n")
    assert rows(silent(path, directed=False)) == [("a", "b", 1.5), ("b", "c", 2.5)]


@pytest.mark.parametrize(
    "head",
    [
        "sender,receiver", "receiver,sender", "origin,destination", "follower,followed",
        "citing_paper_id,cited_paper_id", "origin station id,destination station id", "TF,target",
    ],
)  # fmt: skip
def test_columns_that_name_a_direction_are_told(tmp_path, capsys, head):
    one, other = head.split(",")[:: -1 if head.startswith("receiver") else 1]
    path = save(tmp_path, "g.csv", head + "\nAnn,Bob\nBob,Cleo\n")
    with pytest.warns(UserWarning, match=f"{one!r} and {other!r} name a direction") as found:
        assert not read(path).directed
    assert len(found) == 1 and found[0].filename == __file__
    assert silent(path, directed=True).directed and not silent(path, directed=False).directed
    silent(save(tmp_path, "d.csv", f"# Directed graph\n{head}\nAnn,Bob\n"))
    assert main(["info", str(path)]) == 0
    assert capsys.readouterr().err.count("name a direction, but edges are taken as") == 1
    assert main(["info", str(path), "--directed"]) == main(["info", str(path), "--undirected"]) == 0
    assert "direction" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "head", ["from,to", "source,target", "node_from,node_to", "u,v", "user,item", "gene1,gene2"]
)
def test_columns_of_undirected_edges_are_not_told(tmp_path, head):
    silent(save(tmp_path, "g.csv", head + "\nAnn,Bob\nBob,Cleo\n"))


def test_columns_of_parquet_that_name_a_direction(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "g.parquet"
    pandas.DataFrame({"sender": ["a"], "receiver": ["b"]}).to_parquet(path)
    assert ["'sender' and 'receiver' name a direction" in text for text in told(path)[1]] == [True]
    silent(path, directed=True)


def test_a_column_called_weight_comes_first(tmp_path):
    path = save(tmp_path, "g.csv", "from,to,count,weight\na,b,9,1.5\n")
    assert rows(silent(path)) == [("a", "b", 1.5)]
    path = save(tmp_path, "g.csv", "from,to,Score\na,b,-\nb,c,2\n")
    edges, said = told(path)
    assert edges.edge_weight is None and "column 'Score' is not taken for weights" in said[0]


@pytest.mark.parametrize("head", ["who,whom", "Protein,Partner", "Kinase A,Kinase B", "who,who"])
def test_unknown_words_above_names_are_told(tmp_path, head):
    path = save(tmp_path, "g.csv", head + "\nAnn,Bob\nBob,Cleo\n")
    edges, said = told(path)
    first = head.split(",")
    assert len(said) == 1 and edges.num_edges == 3
    assert f"{first[0]!r} and {first[1]!r}, occur in no other row" in said[0]
    assert "header=True (--header) or skip=1" in said[0]
    wanted = [("Ann", "Bob"), ("Bob", "Cleo")]
    assert rows(silent(path, header=True)) == rows(silent(path, skip=1)) == wanted
    assert rows(silent(path, header=False)) == [tuple(first), *wanted]


def test_label_input_of_mcl_has_no_header(tmp_path):
    """Every row of .abc is an edge, but one that looks like a header draws a warning."""
    edges, said = told(save(tmp_path, "g.abc", "who whom\nAnn Bob\nBob Cleo\n"))
    assert edges.num_nodes == 5 and len(said) == 1
    assert "'who' and 'whom', occur in no other row" in said[0] and "skip=1" in said[0]
    for text in ("a b\nb c\n", "who whom 1\nAnn Bob 2\nBob Cleo 3\n", "7 8\n0 1\n1 2\n"):
        silent(save(tmp_path, "g.abc", text))


@pytest.mark.parametrize(
    "text",
    [
        "a b\n",
        "hub a\nhub b\nhub c\n",
        "a b\nc d\ne f\ng h\n",
        "a b\nb c\nc a\n",
        "a b 1\nc d 2\nd e 3\n",
        "# source target\na b\nc d\nd e\n",
        "0 1\n2 3\n3 4\n",
        "7 8\n0 1\n1 2\n",
        "1.5 2.5\n0.5 3.5\n3.5 0.25\n",
        "# Nodes: 3 Edges: 2\n0 1\n1 2\n# 2 rows written\n",
        "0 1\n# 1 2\n#1 2\n1 2\n#end of the table\n",
    ],
)
def test_no_false_alarm(tmp_path, text):
    silent(save(tmp_path, "g.txt", text))


@pytest.mark.parametrize(
    ("text", "expected", "said"),
    [
        ("n1 n2\nn2 n3\n", [("n1", "n2"), ("n2", "n3")], None),
        ("node1 node2\nnode2 node3\n", [("node1", "node2"), ("node2", "node3")], None),
        ("gene1 gene2\ngene7 gene9\ngene9 gene2\n", ..., None),
        ("V1 V2\nV3 V4\nV4 V1\n", ..., None),
        ("parent child\nchild baby\n", [("parent", "child"), ("child", "baby")], "read as an edge"),
        ("user item\nann user\n", [("user", "item"), ("ann", "user")], "header=True"),
        ("gene1 gene2\n", [], "the only row, 'gene1' and 'gene2', is taken for the names"),
    ],
)
def test_names_of_columns_that_are_those_of_vertices(tmp_path, text, expected, said):
    """What is in doubt is an edge, if its labels are those of vertices."""
    edges, heard = told(save(tmp_path, "g.txt", text))
    if expected is ...:
        expected = [tuple(line.split()) for line in text.splitlines()]
    assert rows(edges) == expected
    assert not heard if said is None else len(heard) == 1 and said in heard[0]


def test_names_of_columns_in_a_comment(tmp_path):
    snap = "# Nodes: 3 Edges: 2\n# ToNodeId\tFromNodeId\n0\t1\n1\t2\n"
    assert rows(silent(save(tmp_path, "g.txt", snap))) == [(1, 0), (2, 1)]
    edges, said = told(save(tmp_path, "t.txt", "# SRC DST UNIXTS\n0 1 1200\n1 2 1300\n"))
    assert edges.edge_weight is None and "column 'UNIXTS' holds numbers" in said[0]
    path = save(tmp_path, "t.txt", "# SRC DST KM\n0 1 1200\n1 2 1300\n")
    assert rows(silent(path, weight_column="KM")) == [(0, 1, 1200.0), (1, 2, 1300.0)]
    names = ["BioGRID Interaction ID", "Entrez Gene Interactor A", "Entrez Gene Interactor B"]
    grid = "#" + "\t".join([*names, "Systematic Name Interactor A", "Score"]) + "\n"
    edges, said = told(save(tmp_path, "b.txt", grid + "103\t6416\t2318\tAFG1\t-\n"))
    assert rows(edges) == [(6416, 2318)] and "'Score'" in said[0]


def test_unknown_words_on_the_command_line_and_in_streams(tmp_path, capsys, monkeypatch):
    text = "who,whom\nAnn,Bob\nBob,Cleo\n"
    path = save(tmp_path, "g.csv", text)
    for graph in (str(path), "-"):
        for options, vertices, warned in (
            ([], 5, 1),
            (["--header"], 3, 0),
            (["--no-header"], 5, 0),
        ):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            assert main(["info", graph, "--json", *options]) == 0
            out, err = capsys.readouterr()
            assert json.loads(out)["vertices"] == vertices
            assert err.count("'who' and 'whom', occur in no other row") == warned


def test_header_and_names_contradict(tmp_path):
    path = save(tmp_path, "g.csv", "from,to\na,b\n")
    with pytest.raises(ValueError, match="header=False .*'from' names a column"):
        read(path, header=False, columns=("from", None))


def test_columns_that_are_guessed_are_told(tmp_path):
    path = save(tmp_path, "g.csv", "name,age,city\n1,2,x\n4,5,y\n")
    assert "columns 'name' and 'age' are taken for the ends" in told(path)[1][0]
    silent(path, columns=("name", "age"))


# ---- parquet


TABLES = [
    {"to": ["b", "c"], "from": ["a", "b"]},
    {"dst": ["b", "c"], "src": ["a", "b"], "length": [1.5, 2.5]},
    {"id": [1, 2], "from": ["a", "b"], "to": ["b", "c"], "weight": [1.0, 2.0]},
    {"id": [1, 2], "from": [5, 6], "to": [6, 7], "weight": [1, 2]},
    {"protein1": ["p", "q"], "protein2": ["q", "r"], "combined_score": [900, 150]},
    {"who": [1, 2], "whom": [2, 3]},
    {"who": [1, 2], "whom": [2, 3], "km": [0.5, 1.5]},
    {"name": ["x", "y"], "start node": [1, 2], "end node": [2, 3], "n": [4, 5]},
    {"source": ["a", "b"], "target": ["b", "c"], "Score": ["-", "2"]},
]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: ",".join(table))
@pytest.mark.parametrize("chosen", [{}, {"weight_column": "last"}, {"columns": (2, None)}])
def test_parquet_is_read_like_csv(tmp_path, table, chosen):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(table)
    frame.to_csv(tmp_path / "g.csv", index=False)
    frame.to_parquet(tmp_path / "g.parquet", index=False)
    if "weight_column" in chosen:
        chosen = {"weight_column": list(table)[-1]}

    def outcome(name):
        try:
            edges, said = told(tmp_path / name, **chosen)
        except ValueError as error:
            return [word for word in ("must differ", "not a number", "weights of dtype", "mixed")
                    if word in str(error)]  # fmt: skip
        return rows(edges), [each.split(": ", 1)[1] for each in said]

    one, other = outcome("g.csv"), outcome("g.parquet")
    assert one == other or {*one, *other} == {"not a number", "weights of dtype"}


def test_a_matrix_is_no_edge_table(tmp_path):
    pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    frame = nx.to_pandas_adjacency(nx.path_graph(["a", "b", "c", "d"]), dtype=int)
    frame.to_parquet(tmp_path / "m.parquet")
    with pytest.raises(ValueError, match="m.parquet: a matrix with names of its rows"):
        read(tmp_path / "m.parquet")
    for nodes in ("abcd", range(4)):
        frame = nx.to_pandas_adjacency(nx.path_graph(nodes), dtype=int)
        with pytest.raises(ValueError, match=r"read_csv\(..., index_col=0\)"):
            read(save(tmp_path, "m.csv", frame.to_csv()))
    _, said = told(save(tmp_path, "m.txt", "0 1 0 1\n1 0 1 0\n0 1 0 1\n1 0 1 0\n"))
    assert "4 rows of 4 columns were read as edges; if they are a matrix" in said[0]


# ---- ids


@pytest.mark.parametrize(
    ("text", "expected", "said"),
    [
        ("from,to\n01001,1003\n1003,06037\n", [("01001", "1003"), ("1003", "06037")], "'01001'"),
        ("1000 7\n7 8\n8 007\n", [("1000", "7"), ("7", "8"), ("8", "007")], "'007' begin with ze"),
        ("0 -0\n", [("0", "-0")], "'-0'"),
        ("00 K1A\nK1A 5\n", [("00", "K1A"), ("K1A", "5")], "'00'"),
        ("1 2 007\n2 3 00.5\n", [(1, 2, 7.0), (2, 3, 0.5)], None),
        ("source,target,on\n1,2,2020-01-05\n2,3,0101\n", [(1, 2), (2, 3)], None),
        ("0 1\n10 0\n", [(0, 1), (10, 0)], None),
        ("1.0 2.0\n2.0 3.0\n", [(1, 2), (2, 3)], "'1.0' are read as integers"),
        ("from,to\n1,2.0\n2,3.00\n", [(1, 2), (2, 3)], "'2.0' are read as integers"),
        ("1.0 2.5\n", [("1.0", "2.5")], None),
        ("+5 +6\n", [("+5", "+6")], None),
        ("1e3 2e3\n", [("1e3", "2e3")], None),
        ("1_000 2_000\n", [("1_000", "2_000")], None),
        (" 7, 8\n8 ,9\n", [(7, 8), (8, 9)], None),
        ("# Nodes: 3\n0 1\n# vertex 02\n", [("0", "1")], None),
        ("007 7\n# vertex 8\n", [("007", "7")], "'007'"),
    ],
)
def test_ids_lose_nothing(tmp_path, reader, text, expected, said):
    path = save(tmp_path, "g.txt", text)
    edges, heard = told(path)
    assert rows(edges) == expected
    assert not heard if said is None else len(heard) == 1 and said in heard[0]
    if said is not None:
        assert all(isinstance(x, str) for x in silent(path, text_labels=True).labels)


def test_zeros_can_be_given_up(tmp_path, reader):
    path = save(tmp_path, "g.txt", "007 7\n7 08\n")
    assert rows(silent(path, text_labels=False)) == [(7, 7), (7, 8)]
    late = "".join(f"{v} {v + 1}\n" for v in range(100, 2000)) + "0100 7\n"
    assert rows(told(save(tmp_path, "late.txt", late))[0])[-1] == ("0100", "7")


def test_positions_of_ids_with_zeros(tmp_path):
    graph = save(tmp_path, "g.csv", "from,to\n01001,01003\n01003,06037\n")
    table = save(tmp_path, "p.csv", "id,x,y\n01001,1,2\n01003,3,4\n06037,5,6\n")
    edges, _ = told(graph, coordinates=table)
    assert edges.positions.tolist() == [[1, 2], [3, 4], [5, 6]]
    plain = save(tmp_path, "n.csv", "from,to\n7,8\n8,9\n")
    padded = save(tmp_path, "q.csv", "id,x,y\n007,1,2\n008,3,4\n009,5,6\n")
    assert silent(plain, coordinates=padded).positions.tolist() == [[1, 2], [3, 4], [5, 6]]


_texts = st.lists(
    st.lists(
        st.sampled_from([
            "0", "1", "7", "07", "-0", "1.0", "a", "b", "#a", '"c"', "2.5", "{}", '"a', ' "b"',
            '"d"e', '"x""y"', '"f,\tg;h"', '5" d', '"7"', '"" ',
        ]),
        min_size=2,
        max_size=4,
    ),
    min_size=1,
    max_size=6,
)  # fmt: skip


@settings(max_examples=400)
@given(
    table=_texts,
    separator=st.sampled_from([" ", "\t", ",", ";"]),
    head=st.sampled_from(["", "from to\n", "# gene1 gene2 score\n", '"V1" "V2"\n', "x y\n"]),
    options=st.sampled_from(
        [{}, {"text_labels": False}, {"comments": None}, {"header": True}, {"header": False}]
    ),
)
@example(  # what looks like a comment is a row
    table=[["#a", "0"]], separator=" ", head="# gene1 gene2 score\n", options={"comments": None}
)
@example(  # of which one is shown
    table=[["0", "0"], ["0", "07"], ["-0", "0"]], separator=" ", head="", options={}
)
def test_readers_agree(tmp_path, table, separator, head, options):
    """Whatever the rows, the readers give the same edges and remarks, or the same error."""
    text = head.replace(" ", separator) + "\n".join(map(separator.join, table)) + "\n"
    path = save(tmp_path, "g.txt", text)

    def outcome():
        try:
            edges, said = told(path, **options)
        except ValueError as error:
            return str(error)
        return rows(edges), edges.vertex_labels().tolist(), said

    wanted = outcome()
    with pytest.MonkeyPatch.context() as patch:
        for fast in FAST:
            tuned(patch)(**{fast: irregular})
            assert outcome() == wanted


# ---- comments


TAGS = "source,target,weight\nrain,#sun,3\n#sun,#sea,2\n#sea,rain,1\nsand,#sea,1\n"


def test_rows_that_begin_with_a_mark(tmp_path, reader, capsys):
    path = save(tmp_path, "g.csv", TAGS)
    edges, said = told(path)
    assert edges.num_edges == 2 and len(said) == 1
    assert "2 lines that begin with '#', such as '#sun,#sea,2', are left out" in said[0]
    every = [tuple(line.split(",")) for line in TAGS.splitlines()[1:]]
    wanted = [(u, v, float(w)) for u, v, w in every]
    assert rows(silent(path, comments=None)) == rows(silent(path, comments="%")) == wanted
    assert main(["info", str(path), "--comments", "none"]) == 0
    assert "left out" not in capsys.readouterr().err
    assert main(["info", str(path)]) == 0
    assert "2 lines that begin with '#'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("%a b\n%b c\n", 2),
        ("#a b 1\nb c 2\n", 1),
        ("#from to\nb c\nc b\n", 0),
        ("a b\nb c\n# written by hand\n", 0),
        ("a b\nb c\n#end\n", 0),
        ("a b\nb a\n%c a\n", 1),
        ("name,i,j\n#x,1,2\ny,3,4\n", 1),
    ],
)
def test_how_many_rows_are_left_out(tmp_path, text, count):
    given = {"columns": (2, 3)} if text.startswith("name") else {}
    _, said = told(save(tmp_path, "g.txt", text), **given)
    assert [each.split(": ", 1)[1].split()[0] for each in said] == [str(count)] * bool(count)


def test_what_comments_may_be(tmp_path):
    path = save(tmp_path, "g.txt", "% 5\n# y\n0 1\n")
    assert rows(read(path, comments="#%")) == rows(read(path)) == [(0, 1)]
    with pytest.raises(ValueError, match=r"g.txt:1: mixed labels: '%'"):
        read(path, comments="#")
    with pytest.raises(ValueError, match="comments='//'; accepted: '#%', '#', '%', or None"):
        read(path, comments="//")
    with pytest.raises(TypeError, match="comments must be a str or None, got 1"):
        read(path, comments=1)
    with pytest.raises(ValueError, match="comments=None is for edge lists in text, not for gr"):
        read(save(tmp_path, "g.gr", "p sp 2 1\na 1 2 1\n"), comments=None)


# ---- dialects


def of_networkx(graph, write=nx.write_edgelist, **options):
    file = io.BytesIO()
    write(graph, file, **options)
    return file.getvalue()


ROADS = nx.Graph()
ROADS.add_edge("a", "b", weight=1.5, name="x, y {z} # 'q'")
ROADS.add_edge("b", "c", weight=2, nested={"k": [1, (2,)]}, gone=None)


@pytest.mark.parametrize("delimiter", [" ", ",", "\t", ";"])
def test_edge_lists_of_networkx(tmp_path, reader, delimiter):
    wanted = [("a", "b", 1.5), ("b", "c", 2.0)]
    for text in (
        of_networkx(ROADS, delimiter=delimiter),
        of_networkx(ROADS, delimiter=delimiter, data=["weight"]),
        of_networkx(ROADS, nx.write_weighted_edgelist, delimiter=delimiter),
    ):
        assert rows(silent(save(tmp_path, "g.edgelist", text))) == wanted
    plain = nx.path_graph(4)
    for data in (True, False):
        text = of_networkx(plain, delimiter=delimiter, data=data)
        assert rows(silent(save(tmp_path, "g.edgelist", text))) == list(plain.edges)


def test_weights_in_dictionaries(tmp_path):
    numpy = pytest.importorskip("numpy")
    graph = nx.Graph([(0, 1, {"weight": numpy.float64(2.5)}), (1, 2, {"weight": numpy.int64(3)})])
    path = save(tmp_path, "g.txt", of_networkx(graph))
    assert rows(silent(path)) == [(0, 1, 2.5), (1, 2, 3.0)]
    graph.add_edge(2, 5, km=4)
    edges, said = told(save(tmp_path, "g.txt", of_networkx(graph)))
    assert edges.edge_weight is None and "2 of 3 edges have a number as their 'weight'" in said[0]
    path = save(tmp_path, "g.txt", "0 1 {'km': 3}\n\n1 2 {'km': 4}\n")
    assert "weight_column='km'" in told(path)[1][0]
    assert rows(silent(path, weight_column="km")) == [(0, 1, 3.0), (1, 2, 4.0)]
    with pytest.raises(ValueError, match="g.txt:1: the edge has no number 'm'"):
        read(path, weight_column="m")
    path = save(tmp_path, "g.txt", "0 1 {'km': 3}\n1 2 {'km' 4}\n")
    with pytest.raises(ValueError, match="g.txt:2: .* is not a dictionary of attributes"):
        read(path)
    deep = save(tmp_path, "g.txt", "0 1 {'a': " + "[" * 10**5 + "]" * 10**5 + "}\n")
    assert silent(deep).num_edges == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 1 # strong\n1 2 # weak\n", [(0, 1), (1, 2)]),
        ("0 1 2.5 # strong\n1 2 3 # weak one\n1 3 4\n", [(0, 1, 2.5), (1, 2, 3.0), (1, 3, 4.0)]),
        ("0 1\n1 2 % weak\n", [(0, 1), (1, 2)]),
        ("0,1 # strong\n1,2 # weak\n", [(0, 1), (1, 2)]),
        ("a b # x\nb c\n", [("a", "b"), ("b", "c")]),
        ("Ann Lee\tBob\t# x\nBob\tCleo\n", [("Ann Lee", "Bob"), ("Bob", "Cleo")]),
        ("rain #sun 3\nsun #sea 2\n", [("rain", "#sun", 3.0), ("sun", "#sea", 2.0)]),
        ("0 1 {} # x\n1 2 {}\n", [(0, 1), (1, 2)]),
        ("a,b,\nb,c,\n", [("a", "b"), ("b", "c")]),
        ("a;b;2;\nb;c;3;\n", [("a", "b", 2.0), ("b", "c", 3.0)]),
        ("a\tb\t\nb\tc\t\n", [("a", "b"), ("b", "c")]),
        ("sep=;\nsource;target\na;b\n", [("a", "b")]),
        ("Quelle;Ziel;Gewicht\nBern;Thun;1,5\nThun;Chur;2\n",
         [("Bern", "Thun", 1.5), ("Thun", "Chur", 2.0)]),
        ("Bern;Thun;1,5\nThun;Chur;2,25\n", [("Bern", "Thun", 1.5), ("Thun", "Chur", 2.25)]),
        ("1;2;3\n2;3;1,5\n", [(1, 2, 3.0), (2, 3, 1.5)]),
        ("a b 1,5\nb c 2,5\n", [("a", "b", 1.5), ("b", "c", 2.5)]),
        ('"","from","to"\n"1","a","b"\n', [("a", "b")]),
        ('"","who","whom"\n"1","a","b"\n"2","b","c"\n', [("a", "b"), ("b", "c")]),
        (",who,whom\n0,1,2\n1,2,3\n", [(1, 2), (2, 3)]),
        ('"from" "to"\n"1" "a" "b"\n"2" "b" "c c"\n', [("a", "b"), ("b", "c c")]),
        ('"from"\t"to"\t"w"\n"a"\t"b"\t2\n"b"\t"c"\t3\n', [("a", "b", 2.0), ("b", "c", 3.0)]),
        ('"a" "b" 2\n"b" "c  ""c" 3\n', [("a", "b", 2.0), ("b", 'c  "c', 3.0)]),
        ('"a\tb"\tc\nc\t"d, e"\n', [("a\tb", "c"), ("c", "d, e")]),
        ('"Ann"\t"Bob ""B"""\t2\nBob "B"\tCleo\t3\n',
         [("Ann", 'Bob "B"', 2.0), ('Bob "B"', "Cleo", 3.0)]),
        ('from\tto\n"5 inch" disk\t"a"\n"a"\t"b\n"b\tc\n',
         [('"5 inch" disk', "a"), ("a", '"b'), ('"b', "c")]),
        ('from\tto\tnote\n1\t2\t"x\ty"\n2\t3\tz\n', [(1, 2), (2, 3)]),
        ('"a\tb",c\nc,"d"\n', [("a\tb", "c"), ("c", "d")]),
        ('a, "b c"\n"b c", "d, e"\n', [("a", "b c"), ("b c", "d, e")]),
        ('from; to; w\n"a" ; "b; c"; 2\n', [("a", "b; c", 2.0)]),
        ('"V1" "V2"\n"1" 1 2\n"2" 2 3\n', [(1, 2), (2, 3)]),
        ("q1\ts1\t98.5\t100\t1e-50\nq1\ts2\t90\t100\t1\n", [("q1", "s1", 98.5), ("q1", "s2", 90)]),
    ],
)  # fmt: skip
def test_dialects(tmp_path, reader, text, expected):
    assert rows(silent(save(tmp_path, "g.csv", text))) == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        # As nx.write_adjlist writes it, with a date that does not change the name of the test.
        ("g.txt", "#-c\n# GMT Sat Jan  3 00:00:00 2026\n# \n0 1\n1 2\n", "networkx.read_adjlist"),
        ("g.txt", '*Vertices 2\n1 "a"\n2 "b"\n*Edges\n1 2\n', "g.txt:1: a network of Pajek"),
        ("g.txt", "dl n=4 format=edgelist1\ndata:\n1 2\n", "a UCINET DL file"),
        ("g.txt", '<?xml version="1.0"?>\n<graphml/>\n', "format='graphml'"),
        ("g.txt", json.dumps({"nodes": [1, 2]}), "JSON, which is not read"),
        ("g.csv", '"SUID","interaction","name","shared name"\n"1","pp","A (pp) B","x"\n', "Cytosc"),
        ("g.csv", "from,to\na,b\n".encode("utf-16"), "text in UTF-16; .*iconv"),
        (
            "g.csv",
            "from,to\nZürich,b\n".encode("latin1"),
            "g.csv:2: byte 0xfc is not UTF-8.*LATIN1",
        ),
        ("g.net", "*Vertices 2\n", "networkx.read_pajek"),
        ("g.gexf", "<gexf/>", "networkx.read_gexf"),
        ("g.sif", "a pp b\n", r"columns=\(1, 3\)"),
        ("g.csv", "a;b;1,5\nb;c;2.5\n", "g.csv:2: weight '2.5', but there are decimal points and"),
    ],
)
def test_files_of_other_programs_are_named(tmp_path, name, content, message):
    with pytest.raises(ValueError, match=message):
        read(save(tmp_path, name, content))


def test_the_type_of_gephi(tmp_path):
    head = "Source,Target,Type,Id,Label,timeset,Weight\n"
    edges, said = told(save(tmp_path, "g.csv", head + "A,B,Directed,0,,,1.0\n"))
    assert rows(edges) == [("A", "B", 1.0)] and "'Type' of the first row says directed" in said[0]
    assert silent(tmp_path / "g.csv", directed=True).directed
    silent(save(tmp_path, "g.csv", head + "A,B,Undirected,0,,,1.0\n"))


@pytest.mark.slow
def test_parquet_of_many_names(tmp_path):
    """Names beyond a dictionary are read as they are, unless a long one might repeat too often."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, count = tmp_path / "g.parquet", 100_000
    many = [[f"v{k * step % count:011d}" for k in range(count)] for step in (1, 7)]
    long = [["x" * 600_000] * 4000 + ["y"], many[1][:4001]]  # 2.4 GB as they are
    once = pa.DictionaryArray.from_arrays([0] * 4000 + [1], [long[0][0], "y"])
    for ends, dictionary in [(many, True), (many, False), (long, True)]:
        table = pa.table({"u": once if ends is long else ends[0], "v": ends[1]})
        parquet.write_table(
            table, path, use_dictionary=dictionary, row_group_size=70_000, store_schema=False
        )
        edges = read(path, run=Run(memory=2**30))
        names = np.array(edges.labels, object)
        assert names.tolist() == sorted({*ends[0], *ends[1]})
        assert [names[x].tolist() for x in edges.edge_index.numpy()] == ends
    assert pa.default_memory_pool().max_memory() < 2**30
