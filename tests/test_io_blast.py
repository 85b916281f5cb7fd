"""Tables of BLAST as similarities of proteins, and mcl --blast, which clusters them."""

import math
import shutil
import subprocess

import pytest
import torch
from commands import refused, run
from files import silent, told

import torchcent
from torchcent import read

#: query, subject, E-value as BLAST writes it, and what it is
HITS = [
    ("sp|P1|A", "sp|P1|A", "0.0", 0.0),
    ("sp|P1|A", "007", "1e-105", 1e-105),
    ("007", "sp|P1|A", "e-100", 1e-100),  # of blastall
    ("007", "sp|P1|A", "2e-30", 2e-30),  # another part of the same pair
    ("Q 3", "sp|P1|A", "0.5", 0.5),
    ("Q 3", "4", "3.2", 3.2),
    ("4", "007", "1.0", 1.0),
    ("4", "X5", "1e-250", 1e-250),
]


def rows(hits=HITS):
    return [f"{q}\t{s}\t98.5\t120\t2\t0\t1\t120\t1\t120\t{e}\t250" for q, s, e, _ in hits]


def wanted():
    """-log10 of the E-values, at most 200; positive ones only."""
    weights = [200.0 if e == 0 else min(-math.log10(e), 200.0) for *_, e in HITS]
    return [(q, s, w) for (q, s, *_), w in zip(HITS, weights, strict=True) if w > 0]


def save(folder, lines, name="hits.m8", end="\n"):
    path = folder / name
    path.write_text(end.join(lines) + end)
    return path


def similarities(path, **options):
    with pytest.warns(UserWarning, match="2 of 8 hits have E-values of 1 or more"):
        edges = read(path, **options)
    ends = edges.labels[edges.edge_index.T.numpy()].tolist()
    return [(u, v, w) for (u, v), w in zip(ends, edges.edge_weight.tolist(), strict=True)]


FIELDS = "# Fields: query acc.ver, subject acc.ver, % identity, alignment length, mismatches, gap "
FIELDS += "opens, q. start, q. end, s. start, s. end, evalue, bit score"
HEADER = "qseqid\tsseqid\tpident\tlength\tmismatch\tgapopen\tqstart\tqend\tsstart\tsend\tevalue\t"


@pytest.mark.parametrize(
    ("lines", "end"),
    [
        (rows(), "\n"),
        (rows(), "\r\n"),
        (["# BLASTP 2.9.0+", "# Query: P1", FIELDS, "# 8 hits found", *rows()], "\n"),
        ([HEADER + "bitscore", *rows()], "\n"),
    ],
)
def test_tables(tmp_path, lines, end):
    found = similarities(save(tmp_path, lines, end=end))
    assert [x[:2] for x in found] == [x[:2] for x in wanted()]
    assert [x[2] for x in found] == pytest.approx([x[2] for x in wanted()])


def test_columns_of_its_own(tmp_path):
    head = "# Fields: subject id, evalue, query id"
    lines = [head, *("\t".join((s, e, q)) for q, s, e, _ in HITS)]
    assert [x[:2] for x in similarities(save(tmp_path, lines))] == [x[:2] for x in wanted()]
    lines = ["sseqid\tevalue\tqseqid", *lines[1:]]
    assert [x[:2] for x in similarities(save(tmp_path, lines))] == [x[:2] for x in wanted()]
    path = save(tmp_path, [row.replace("\t98.5", "\t1e-9") for row in rows()])
    edges = read(path, weight_column=3)
    assert edges.edge_weight.tolist() == pytest.approx([9.0] * 8)


def test_other_names_of_files(tmp_path):
    path = save(tmp_path, rows(), "hits.tsv")
    assert len(similarities(path, format="blast")) == 6
    for name in ("a.b6", "a.blast"):
        assert len(similarities(save(tmp_path, rows(), name))) == 6
    with pytest.warns(UserWarning, match="2 of 8 hits"):
        assert not read(save(tmp_path, rows())).directed


def test_nothing_is_left(tmp_path):
    with pytest.warns(UserWarning, match="1 of 1 hits"):
        edges = read(save(tmp_path, rows([("a", "b", "5", 5.0)])))
    assert (edges.num_nodes, edges.num_edges) == (2, 0)


def test_mcl_takes_the_largest_of_both_directions(tmp_path, capsys, monkeypatch):
    """The clusters are those of a graph with the largest similarity of each pair."""
    monkeypatch.chdir(tmp_path)
    save(tmp_path, rows(), "hits.tsv")
    code, out, err = run(capsys, "mcl", "hits.tsv", "--blast", "-I", "1.5")
    assert code == 0 and "2 of 8 hits have E-values of 1 or more" in err
    best = {}
    for u, v, w in wanted():
        if u != v:
            best[frozenset((u, v))] = max(w, best.get(frozenset((u, v)), 0.0))
    lines = ["\t".join([*sorted(pair), repr(w)]) for pair, w in best.items()]
    save(tmp_path, lines, "best.abc")
    expected = run(capsys, "mcl", "best.abc", "-I", "1.5", "-o", "-")[1]
    parts = {frozenset(line.split("\t")) for line in expected.splitlines()}
    assert {frozenset(line.split("\t")) for line in out.splitlines()} == parts
    assert len(parts) > 1
    # the same by the steps of mcl's manual
    steps = "--abc-neg-log10 -abc-tf ceil(200) --source-column 1 --target-column 2"
    save(tmp_path, [row.replace("\te-", "\t1e-") for row in rows()], "plain.tsv")
    again = run(capsys, "mcl", "plain.tsv", "--weight-column", "11", "-I", "1.5", *steps.split())
    assert {frozenset(line.split("\t")) for line in again[1].splitlines()} == parts


@pytest.mark.parametrize("comments", [[], ["# BLASTP 2.9.0+", FIELDS, "# 8 hits found"]])
def test_hits_that_are_read_as_edges_are_told(tmp_path, capsys, monkeypatch, comments):
    path = save(tmp_path, [*comments, *rows()], "hits.tsv")
    edges, said = told(path, text_labels=True)
    assert edges.edge_weight.unique().tolist() == [98.5] and len(said) == 1
    assert "look like hits of BLAST" in said[0] and "(--format blast, mcl --blast)" in said[0]
    silent(path, text_labels=True, weight_column=3)
    monkeypatch.chdir(tmp_path)
    _, _, err = run(capsys, "mcl", "hits.tsv")
    assert err.count("look like hits of BLAST") == 1
    assert "look like" not in run(capsys, "mcl", "hits.tsv", "--blast")[2]


@pytest.mark.parametrize(
    "row",
    [
        "a\tb\t98.5\t120\t2\t0\t1\t120\t1\t120\t1e-5",
        "a\tb\t98.5\t120\t2\t0\t1\t120\t1\t120\t1e-5\t250\t7",
        "a\tb\t98.5\t120\t2\t0.5\t1\t120\t1\t120\t1e-5\t250",
        "a\tb\t98.5\t120\t2\t0\t1\t120\t1\t120\t20000\t250",
        "a\tb\t98.5\t120\t2\t0\t1\t120\t1\t120\t-1\t250",
        "a\tb\t98.5\t120\t2\t0\t1\t120\t1\t120\t1e-5\tx",
        "a b 98.5 120 2 0 1 120 1 120 1e-5 250",
    ],
)
def test_other_rows_are_no_hits(tmp_path, row):
    silent(save(tmp_path, [row, row.replace("b", "c")], "g.tsv"))


@pytest.mark.parametrize("options", ["hits.tsv --blast", "hits.m8", "hits.tsv --format m8"])
def test_the_largest_of_a_pair_needs_no_warning(tmp_path, capsys, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, rows(), options.split()[0])
    code, _, err = run(capsys, "mcl", *options.split(), "--sweep", "2,4")
    assert code == 0 and "2 of 8 hits" in err and "repeat" not in err


@pytest.mark.slow
def test_rows_that_repeat_an_arc_are_told_once(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, ["a b 1", "a b 2", "b c 3", "c a 3"], "g.txt")
    for more in ([], ["--sweep", "2,4", "-o", "out.txt", "--plot", "out.png"]):
        code, _, err = run(capsys, "mcl", "g.txt", *more)
        assert code == 0 and "edge_index" not in err
        assert err.count("warning: 1 edges repeat an arc with a smaller weight") == 1


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["a\tb\t1e-5"], "the first row has 3 columns between tabs; accepted: the 12"),
        (["a b 98 1 2 3 4 5 6 7 1e-5 9"], "the first row has 1 columns"),
        (rows([("a", "b", "-1", 0.0)]), "E-value -1; accepted: 0 or more"),
        (rows([("a", "b", "x", 0.0)]), "hits.m8:1"),
        (rows([("a", "b", "nan", 0.0)]), "hits.m8"),
        (rows([("", "b", "1e-5", 0.0)]), "hits.m8:1"),
        (["# Fields: query id, bit score", "a\t5"], "names no query, subject and evalue"),
        ([*rows(), "a\tb"], "hits.m8:9"),
    ],
)
def test_tables_that_are_refused(tmp_path, lines, said):
    with pytest.raises(ValueError, match=said):
        read(save(tmp_path, lines))


#: label, label and E-value; and what mcxload 22-282 makes of them by the steps of clmprotocols(5)
LINES = "a b 0\na c 1e-250\nb c 1e-50\nb d 0.5\nc d 3\nd e 1\n"
OF_MCXLOAD = {"ab": 200, "ac": 200, "bc": 50, "bd": 0.30103, "cd": -0.4771213}


def test_the_weights_are_those_of_mcxload(tmp_path):
    hits = [(u, v, e, 0.0) for u, v, e in map(str.split, LINES.splitlines())]
    with pytest.warns(UserWarning, match="2 of 6 hits have E-values of 1 or more"):
        edges = read(save(tmp_path, rows(hits)))
    found = dict(
        zip(map("".join, edges.labels[edges.edge_index.T]), edges.edge_weight, strict=True)
    )
    assert found == pytest.approx({e: w for e, w in OF_MCXLOAD.items() if w > 0}, rel=1e-6)


@pytest.mark.skipif(shutil.which("mcxload") is None, reason="mcl's mcxload is not installed")
def test_what_mcxload_makes_of_e_values(tmp_path):
    (tmp_path / "s.abc").write_text(LINES.replace(" ", "\t"))
    steps = ["--stream-mirror", "--stream-neg-log10", "-stream-tf", "ceil(200)"]
    command = ["mcxload", "-abc", "s.abc", *steps, "-o", "s.mci", "-write-tab", "s.tab"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    matrix = read(tmp_path / "s.mci")
    ends = torch.tensor([["abcde".index(name) for name in pair] for pair in OF_MCXLOAD]).T
    both = torch.zeros(5, 5, dtype=torch.float64)
    both[ends[0], ends[1]] = both[ends[1], ends[0]] = torch.tensor([*OF_MCXLOAD.values()]).double()
    made = torch.zeros(5, 5, dtype=torch.float64)
    made[matrix.edge_index[0], matrix.edge_index[1]] = matrix.edge_weight.double()
    assert torch.allclose(made, both)


def test_options_that_exclude_each_other(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, rows())
    for more in ("--abc", "--format abc", "--abc-neg-log10"):
        assert "exclude" in refused(capsys, *f"mcl hits.m8 --blast {more}".split())
    with pytest.raises(ValueError, match="graphs are not written as '.m8'"):
        torchcent.write("g.m8", torchcent.EdgeList(torchcent.generate.grid(2, 2)))
    with pytest.raises(ValueError, match="skip=1 is for edge lists"):
        read("hits.m8", skip=1)
