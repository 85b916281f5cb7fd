"""Tables with semicolons, as spreadsheets write them where commas are decimal marks."""

import itertools
import warnings
from pathlib import Path

import pytest
from commands import run
from files import rows, save, silent, told

from torchcent.io import read

HEADS = {
    2: ("", "source,target", "protein1,protein2", "A,B", "who,whom", "Von,Nach", "one a,one b"),
    3: ("", "source,target,weight", "A,B,C", "von,nach,menge", "who,whom,weight"),
    4: ("id,who,whom,share", "who,whom,colour,weight", "name,size,from,to", ",who,whom,x"),
}  # fmt: skip
ENDS = (
    [("Ada", "Bob"), ("Bob", "Cleo"), ("Cleo", "Ada")],
    [("1", "2"), ("2", "3"), ("3", "1")],
    [("Ada A", "Bob B"), ("Bob B", "Cleo"), ("Cleo", "Ada A")],
)
NUMBERS = ("1.5", "2", "0.25")
CASES = list(itertools.product(HEADS, range(len(ENDS)), (False, True)))


def heard(path):
    """Rows, weights and warnings of a file, or its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = rows(read(path))
        except ValueError as error:
            found = str(error)
    return found, [str(each.message) for each in caught]


@pytest.mark.parametrize(("width", "ends", "quoted"), CASES)
def test_they_are_read_as_commas_are(tmp_path, width, ends, quoted):
    """Known names first, and with the same warnings; numbers may have decimal commas."""
    for head, text in itertools.product(HEADS[width], (False, True)):
        lines = [head.split(",")] if head else []
        for at, pair in enumerate(ENDS[ends]):
            number = "red" if text else NUMBERS[at]
            more = {2: [], 3: [number], 4: ["k", number]}[width]
            lines.append([*more, *pair] if head.startswith("name") else [*pair, *more])
        found = []
        for separator, mark in ((",", "."), (";", "."), (";", ",")):
            fields = [[x.replace(".", mark) if x in NUMBERS else x for x in line] for line in lines]
            if quoted:
                fields = [[f'"{x}"' for x in line] for line in fields]
            body = "".join(separator.join(line) + "\n" for line in fields)
            found.append(heard(save(tmp_path, "g.csv", body)))
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Doe, Jo;Roe, Al\nRoe, Al;Poe, Di\nPoe, Di;Doe, Jo\n",
         [("Doe, Jo", "Roe, Al"), ("Roe, Al", "Poe, Di"), ("Poe, Di", "Doe, Jo")]),
        ("Doe, Jo;Bob;1,5\nBob;Roe, Al;2\n", [("Doe, Jo", "Bob", 1.5), ("Bob", "Roe, Al", 2.0)]),
        ("from;to;length\nDoe, Jo;Bob;1,5\nBob;Cleo;2\n",
         [("Doe, Jo", "Bob", 1.5), ("Bob", "Cleo", 2.0)]),
        ("from, place;to, place;length\nA;B;1,5\nB;C;2,5\n", [("A", "B", 1.5), ("B", "C", 2.5)]),
        ("A;B, C\n", [("A", "B, C")]),
        ("a;b, x\nx, y\n", [("a;b", "x"), ("x", "y")]),  # one of the rows has no semicolon
        ("x;y,a\nx;y,b\n", [("x;y", "a"), ("x;y", "b")]),
    ],
)  # fmt: skip
def test_commas_between_them(tmp_path, reader, text, expected):
    assert rows(silent(save(tmp_path, "g.csv", text))) == expected


def test_names_with_commas_in_the_header_are_told(tmp_path):
    path = save(tmp_path, "g.csv", "source;target;length, km\nA;B;1,5\nB;C;2,5\n")
    edges, said = told(path)
    assert rows(edges) == [("A", "B"), ("B", "C")]
    assert len(said) == 1 and "weight_column='length, km' (--weight-column)" in said[0]
    assert silent(path, weight_column="length, km").edge_weight.tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "text",
    [
        "id;x;y\nA;1,5;2\nB;-2,5;3\nC;1;,25\n",
        "Ort;x;y\nA;1.5;2\nB;-2.5;3\nC;1;.25\n",
        "A;1,5;2\nB;-2,5;3\nC;1;0,25\n",
        '"x";"y";"id"\n1,5;2;"A"\n-2,5;3;"B"\n1;0,25;"C"\n',
        "Ort, Kreis;x;y\nA;1,5;2\nB;-2,5;3\nC;1;0,25\n",
    ],
)
def test_positions(tmp_path, text):
    edges = save(tmp_path, "g.csv", "A;B\nB;C\n")
    found = silent(edges, coordinates=save(tmp_path, "p.csv", text))
    assert found.positions.tolist() == [[1.5, 2.0], [-2.5, 3.0], [1.0, 0.25]]


def test_communities(tmp_path, capsys):
    path = save(tmp_path, "g.csv", "A;B\nB;C\nC;A\nC;D\nD;E\nE;F\nF;D\n")
    parts = save(tmp_path, "p.csv", "label;community\nA;1\nB;1\nC;1\nD;2\nE;2\nF;2\n")
    code, out, _ = run(capsys, "modularity", path, "--communities", parts, "--quiet")
    assert code == 0 and float(out) == pytest.approx(5 / 14)
    assert Path(parts).read_text().count(";") == 7
