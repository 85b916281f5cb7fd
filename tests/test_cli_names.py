"""Names with blanks, tabs, commas, quotes, ...: files that the command line writes and reads."""

import csv
import json

import pytest
import torch
from commands import refused, run
from hypothesis import given
from hypothesis import strategies as st

import torchcent
from torchcent.cli import _names
from torchcent.io import EdgeList, read_clusters, write, write_clusters

NAMES = [
    "Ann Lee", "Dora Fox", "a\tb", "Lee, Ann", 'say "hi"', '"quoted"', "#tag", "% percent", "007",
    "two\nlines", "", "Zoë\u3000ü", "plain", "12", "x;y",
]  # fmt: skip


@pytest.fixture
def graph(tmp_path):
    """Two cliques and single vertices, whose names stand alone in a line."""
    n, half = len(NAMES), len(NAMES) // 2
    ends = [(u, v) for u in range(half) for v in range(u)]
    ends += [(u, v) for u in range(half, n - 3) for v in range(half, u)]
    path = tmp_path / "g.pt"
    write(path, EdgeList(torch.tensor(ends).T.contiguous(), labels=NAMES))
    return path


def parts(members):
    return sorted(sorted(names) for names in members)


@pytest.mark.parametrize("command", [["communities"], ["mcl"], ["mcl", "-I", "6"]])
def test_clusters(capsys, graph, tmp_path, command):
    out = tmp_path / "c.txt"
    command = [*command, graph, "--quiet"]
    assert run(capsys, *command, "-o", out)[0] == 0
    expected = json.loads(run(capsys, *command, "--json")[1])
    expected = expected.get("members") or expected["clusterings"][0]["members"]
    assert parts(read_clusters(out)) == parts(expected)
    assert sum(map(len, expected)) == len(NAMES)
    # standard output
    code, text, _ = run(capsys, *command)
    (tmp_path / "printed").write_text(text, encoding="utf-8")
    assert code == 0 and read_clusters(tmp_path / "printed") == read_clusters(out)
    # other commands
    code, text, err = run(
        capsys, "group-closeness", graph, "--groups", out, "--json", "--top", "99", "--quiet"
    )
    assert code == 0, err
    assert parts(x["members"] for x in json.loads(text)["top"]) == parts(expected)
    for suffix in (".csv", ".json"):
        table = tmp_path / f"t{suffix}"
        assert run(capsys, "convert", "--clusters", out, table, "--quiet")[0] == 0
    rows = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert sorted(rows["label"]) == sorted(NAMES)
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        _, *cells = csv.reader(file)
    assert [name for name, _ in cells] == rows["label"]
    assert run(capsys, "convert", "--clusters", out, tmp_path / "again.txt", "--quiet")[0] == 0
    assert parts(read_clusters(tmp_path / "again.txt")) == parts(expected)
    assert run(capsys, "mcl", graph, "-icl", out, "-o", tmp_path / "i.txt", "--quiet")[0] == 0


def test_files_of_mcl_stay_as_they_are(tmp_path):
    path = tmp_path / "c.txt"
    names = ["Ann Lee", "Bob", '"x"', '"y z"', "a#"]
    write_clusters(path, [[0, 3], [1, 2, 4]], names)
    assert path.read_text() == 'Ann Lee\t"y z"\nBob\t"x"\ta#\n'
    assert read_clusters(path) == [["Ann Lee", '"y z"'], ["Bob", '"x"', "a#"]]
    path.write_text('"a b"\t"c"\n"d e"\n')  # by mcl, of names with quotes
    assert read_clusters(path) == [['"a b"', '"c"'], ['"d', 'e"']]


def test_quoted_lines(tmp_path):
    path = tmp_path / "c.txt"
    write_clusters(path, [[0], [1, 2]], ["Dora Fox", 'a "b"', '"c"'])
    text = '# names in double quotes, as in CSV\n"Dora Fox"\na "b"\t"""c"""\n'
    assert path.read_text() == text
    for ends in ("\r\n", "\r\n"):
        path.write_bytes(text.replace("\n", ends).encode("utf-8-sig"))
        assert read_clusters(path) == [["Dora Fox"], ['a "b"', '"c"']]
    for wrong in ('"a b\n', '"a" b\n'):
        path.write_text(f"# names in double quotes, as in CSV\nx\n{wrong}")
        with pytest.raises(ValueError, match=r"c\.txt:3: a quote that does not end there"):
            read_clusters(path)


@given(st.lists(st.lists(st.text(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_any_clusters(tmp_path_factory, members):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    names = [name for part in members for name in part]
    if not all(_encodes(name) for name in names):
        return
    at = iter(range(len(names)))
    write_clusters(path, [[next(at) for _ in part] for part in members], names)
    assert read_clusters(path) == members


def _encodes(name):
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _saved(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def test_states(capsys, graph, tmp_path):
    state = {name: (k % 5) / 4 for k, name in enumerate(NAMES)}
    path = _saved(tmp_path / "s.csv", [("name", "state"), *state.items()])
    options = ["--json", "--top", "99", "--quiet"]
    code, text, err = run(capsys, "percolation", graph, "--states", path, *options)
    assert code == 0, err
    whole = torchcent.read(graph).graph()
    expected = torchcent.percolation(
        whole,
        states=torch.tensor(list(state.values()), dtype=torch.float64),
        run=torchcent.Run(dtype=torch.float64),
    )
    found = {x["label"]: x["score"] for x in json.loads(text)["top"]}
    assert [found[name] for name in NAMES] == pytest.approx(expected.tolist())


@pytest.mark.parametrize(
    ("line", "name", "state"),
    [
        ("Ann Lee 0.5", "Ann Lee", 0.5),
        ("Ann Lee,0.5", "Ann Lee", 0.5),
        ("Lee, Ann\t0.5", "Lee, Ann", 0.5),
        ("Lee, Ann,1e-3", "Lee, Ann", 1e-3),
        ('"Lee, Ann";1', "Lee, Ann", 1),
        ('"quoted" 1', '"quoted"', 1),
        ('"""quoted""",1', '"quoted"', 1),
        ("#tag  1", "#tag", 1),
        ("a\tb\t2", "a\tb", 2),
    ],
)
def test_lines_of_states(tmp_path, line, name, state):
    path = tmp_path / "s.txt"
    path.write_text(f"plain 3\n\n{line}\n")
    assert list(_names.read_states(str(path), NAMES)) == [(1, "plain", 3.0), (3, name, state)]


def test_sources(capsys, graph, tmp_path):
    path = _saved(tmp_path / "names.txt", [[name] for name in NAMES if name])
    out = tmp_path / "d.npy"
    code, _, err = run(capsys, "apsp", graph, "--sources", path, "-o", out, "--quiet")
    assert code == 0, err


def test_groups_on_the_command_line(capsys, graph):
    groups = ["--group", '"Lee, Ann",plain', "--group", 'say "hi",007']
    code, text, _ = run(capsys, "group-degree", graph, *groups, "--json", "--quiet")
    assert code == 0
    assert [x["members"] for x in json.loads(text)["top"]] in (
        [["Lee, Ann", "plain"], ['say "hi"', "007"]], [['say "hi"', "007"], ["Lee, Ann", "plain"]]
    )  # fmt: skip
    assert _names.listed(_names.joined(NAMES[:3] + NAMES[5:7])) == NAMES[:3] + NAMES[5:7]
    assert "in quotes are those of CSV" in refused(capsys, "group-degree", graph, "--group", '"a,b')


def test_coordinates(tmp_path):
    names = [name for name in NAMES if "\n" not in name and name.strip() == name != ""]
    write(tmp_path / "g.parquet", EdgeList(torch.tensor([[0], [1]]), labels=names))
    rows = [("id", "x", "y"), *((name, k, k + 0.5) for k, name in enumerate(names))]
    path = _saved(tmp_path / "at.csv", rows)
    edges = torchcent.read(tmp_path / "g.parquet", coordinates=path)
    at = {name: k for k, name in enumerate(names)}
    assert edges.positions[:, 0].tolist() == [at[name] for name in edges.labels]


def test_dictionaries(tmp_path, capsys, graph):
    message = refused(capsys, "convert", graph, tmp_path / "g.mtx", "--write-tab", tmp_path / "t")
    assert "cannot stand in a dictionary of labels" in message
