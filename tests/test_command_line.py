"""The options of the command: parsing without PyTorch, what was meant, completion, the page."""

import importlib.util
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import refused, run
from internals import HOLDS, MEASURES, SIMILARITIES, SUFFIXES_OF_SCORES, WRITERS, has_command

import torchcent
import torchcent.io
from _torchcent_command import _common
from _torchcent_command._completion import script
from _torchcent_command._meant import meant
from _torchcent_command._parser import parsed, parser, subparsers
from torchcent import cli

ROOT = Path(__file__).resolve().parents[1]


def page_tool():
    spec = importlib.util.spec_from_file_location("command_page", ROOT / "tools/command_page.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE = page_tool()
PARSER = parser()
COMMANDS = {each.words: each for each in PAGE.tree(PARSER) if each.words}
OF_MEASURES = {name.replace("_", "-") for name, each in MEASURES.items() if has_command(each)}
ENDS = [each for each in COMMANDS.values() if not each.commands]
COMPLETION = pytest.mark.skipif(find_spec("shtab") is None, reason="needs shtab")
SHELL = pytest.mark.skipif(sys.platform == "win32", reason="shells of POSIX")


def needed(command):
    """A command line with all that the subcommand requires."""
    words = list(command.words)
    for option in command.options:
        value = option.values[0] if option.values else "1"
        if option.required:
            words += [option.flags[0], value] if option.flags else [value]
    return words


# ---- without PyTorch


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--version"], 0, torchcent.__version__),
        (["--help"], 0, "examples:"),
        (["mcl", "--help"], 0, "van Dongen"),
        pytest.param(["completion", "bash"], 0, "-F _torchcent", marks=COMPLETION),
        (["betweennes"], 2, "did you mean betweenness, betw"),
        (["closeness", "g.txt", "--engine", "bit"], 2, "did you mean bits?"),
    ],
)
def test_no_pytorch(arguments, status, said):
    """In a process, of which nothing but the standard library may be seen."""
    text = """
import sys, _torchcent_command
status = _torchcent_command.main()
large = {"torch", "torchcent", "numpy", "scipy"} & set(sys.modules)
sys.exit(f"imported {large}" if large else status)
"""
    done = subprocess.run(
        [sys.executable, "-c", text, *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert said in done.stdout + done.stderr
    assert bool(done.stdout) == (status == 0) and bool(done.stderr) == (status != 0)


def test_a_reader_that_leaves_before_the_help():
    command = f"{sys.executable} -c 'import _torchcent_command as c; raise SystemExit(c.main())'"
    done = subprocess.run(
        ["bash", "-c", f"{command} mcl --help | true; exit ${{PIPESTATUS[0]}}"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode in (0, 141), done.stderr) == (True, "")


# ---- what the parsers say is what the package does


def test_every_subcommand_does_something():
    names = {words[0] for words in COMMANDS}
    assert names == {*OF_MEASURES, *cli.COMMANDS, "completion", "man"}
    assert not OF_MEASURES & set(cli.COMMANDS)


def test_names_are_those_of_the_package():
    assert set(_common.FORMATS) == set(torchcent.io.FORMATS.values())
    named = {torchcent.io.FORMATS.get(f".{name}", name) for name in _common.WRITTEN}
    assert named == set(WRITERS)
    assert set(_common.GRAPHS) == {"graphml", *(x for x in HOLDS if not HOLDS[x].read)}
    assert {f".{name}" for name in _common.TABLES} | {".txt"} == set(SUFFIXES_OF_SCORES)
    assert set(_common.PLAIN_TABLES) < set(_common.TABLES)
    assert _common.SIMILARITIES == SIMILARITIES


def test_every_run_can_be_told_where_and_how():
    runs = {*OF_MEASURES, *cli.COMMANDS} - {"convert", "rewired", "generate", "config", "resume"}
    for words, command in COMMANDS.items():
        if words[0] in runs:
            assert {"--device", "--threads", "--memory", "--quiet", "--json"} <= {*command.flags}
        elif words[0] in ("convert", "rewired", "generate") and not command.commands:
            assert {"--quiet", "--to"} <= set(command.flags)


# ---- no abbreviations


@pytest.mark.parametrize("command", ENDS, ids=lambda each: " ".join(each.words))
def test_no_abbreviations(command):
    """Every beginning of every option, unless it is an option itself or one with its value."""
    refused = 0
    for flag in command.flags:
        for end in range(2, len(flag)):
            short = flag[:end]
            if short in (*command.flags, "--") or (short[1] != "-" and short[:2] in command.flags):
                continue
            _, unknown = PARSER.parse_known_args([*needed(command), short])
            assert unknown == [short]
            refused += 1
    assert refused or command.flags == ["-h", "--help"]


def test_options_of_mcl_as_mcl_has_them():
    given = "mcl k.mci -I2.5 -te 2 -scheme 5 -pct 80 -P 4000 -S 500 -R 600 -L 9 -c 1.5 -e 3 -o x"
    args = parsed(given.split())
    assert (args.inflation, args.threads, args.scheme, args.pct) == (2.5, 2, 5, 80)
    assert (args.P, args.S, args.R, args.max_iter, args.loops) == (4000, 500, 600, 9, 1.5)


# ---- what was meant


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("betweenness g.txt --d", "unrecognized arguments: --d; did you mean --directed"),
        ("betweenness g.txt --d", "(see torchcent betweenness --help)"),
        ("closeness g.txt --sorces 3", "--sorces; did you mean --sources"),
        ("closeness g.txt --engin=bits", "did you mean --engine?"),
        ("closeness g.txt --zzz", "unrecognized arguments: --zzz (see"),
        ("closeness g.txt h.txt", "unrecognized arguments: h.txt (see"),
        ("--quiet closeness g.txt", "--quiet; it comes after closeness"),
        ("closenes g.txt", "did you mean closeness?"),
        ("close g.txt", "did you mean closeness?"),
        ("closenes g.txt", "error: argument COMMAND: invalid choice: 'closenes'; did you mean"),
        ("man closenes", "error: argument COMMAND: invalid choice: 'closenes'; did you mean"),
        ("qqq g.txt", "error: argument COMMAND: invalid choice: 'qqq' (see torchcent --help)"),
        ("degrees.csv", "a command is missing, as in: torchcent betweenness degrees.csv (see"),
        ("networkx:x --top 3", "a command is missing, as in: torchcent betweenness networkx:x"),
        ("generate rmt --scale 3 -o g.txt", "did you mean rmat?"),
        ("generate rmat --scal 3 --scale 3 -o g.txt", "did you mean --scale? (see torchcent gen"),
        ("closeness g.txt --similarity invers", "did you mean inverse?"),
        ("closeness g.txt --engine dikstra", "did you mean dijkstra?"),
        ("mcl g.txt -sche 5", "did you mean -scheme"),
        ("completion bsh", "did you mean bash"),
    ],
)
def test_what_was_meant(capsys, arguments, message):
    assert message in refused(capsys, *arguments.split())


def test_meant_is_never_far_off():
    assert meant("--", ["--directed"]) == meant("xyz", ["abc", "def"]) == ""
    assert meant("--d", ["--da", "--db", "--dc", "--dd"]) == "; did you mean --da, --db or --dc?"


# ---- completion


def completed(tmp_path, *lines):
    """What bash offers for the last word of each line, with the files a.txt and "b c.txt"."""
    (tmp_path / "a.txt").touch()
    (tmp_path / "b c.txt").touch()
    calls = "\n".join(
        f"COMP_WORDS=({' '.join(map(repr, line))}); COMP_CWORD={len(line) - 1}; COMPREPLY=()\n"
        '_torchcent 2> errors; IFS="|"; echo "${COMPREPLY[*]}"; IFS=$\' \\t\\n\''
        for line in lines
    )
    done = subprocess.run(
        ["bash", "--norc", "-s"], input=f"{script('bash')}\n{calls}",
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return [set(filter(None, line.split("|"))) for line in done.stdout.split("\n")[:-1]]


@SHELL
@COMPLETION
def test_bash_completes(tmp_path):
    engines = {"auto", "bits", "queue", "hierarchy", "tensor", "relax", "dijkstra", "reference"}
    cases = {
        "torchcent b": {"betweenness", "betweenness-approx", "betweenness-variant", "bridges"},
        "torchcent co": {
            "communities",
            "completion",
            "config",
            "connected-components",
            "convert",
            "core-number",
        },  # fmt: skip
        "torchcent --v": {"--version"},
        "torchcent stress --d": {"--destinations", "--directed", "--device", "--dtype"},
        "torchcent betweenness a": {"a.txt"},
        "torchcent betweenness a.txt -o b": {"b c.txt"},
        "torchcent betweenness a.txt --top ": set(),
        "torchcent closeness --engine ": engines,
        "torchcent closeness --engine = b": {"bits"},
        "torchcent closeness --engine =": engines,
        "torchcent closeness --engine = queue --d": {"--directed", "--device", "--dtype"},
        "torchcent closeness --format m": {"mci", "mtx", "metis"},
        "torchcent closeness a.txt --similarity i": {"inverse"},
        "torchcent generate r": {"rmat", "road"},
        "torchcent generate rmat --s": {"--scale", "--seed"},
        "torchcent generate rmat -o a": {"a.txt"},
        "torchcent mcl -t": {"-te", "-tf"},
        "torchcent completion ": {"bash", "zsh", "fish"},
        "torchcent config ": set(),
        "torchcent info ": {"a.txt", "b c.txt", "errors"},
    }
    found = completed(tmp_path, *(line.split(" ") for line in cases))
    assert dict(zip(cases, found, strict=True)) == cases


@SHELL
@COMPLETION
def test_bash_completes_every_option(tmp_path, capsys):
    """All options that --help lists, of every subcommand."""
    found = completed(tmp_path, *(["torchcent", *words, "-"] for words in COMMANDS))
    for words, options in zip(COMMANDS, found, strict=True):
        _, text, _ = run(capsys, *words, "--help")
        listed = text.partition("examples:")[0]
        rows = re.findall(r"^  (-.*?)(?:   |$)", listed, re.M)
        assert options == {
            flag for row in rows for flag in re.findall(r"(?:^| )(--?\w[\w-]*)", row)
        }


@SHELL
@COMPLETION
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_valid(shell, tmp_path, capsys):
    code, text, _ = run(capsys, "completion", shell)
    assert code == 0
    for words in COMMANDS:
        assert re.search(rf"\b{words[-1]}\b", text)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(text)
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


# ---- the page


def test_the_page_begins_with_the_file():
    text = PAGE.PAGE.read_text(encoding="utf-8")
    assert text.endswith(PAGE.MARK)
    assert PAGE.page().startswith(text)


def test_the_page_has_every_option():
    """By argparse itself, without the records from which the page is written."""
    text = page_tool().page()
    sections = dict(re.findall(r"^### torchcent ([\w -]+)\n(.*?)(?=^### |\Z)", text, re.M | re.S))

    def check(name, of):
        for action in of._actions:
            for flag in action.option_strings:
                if flag in ("-h", "--help"):
                    continue
                assert f"`{flag}`" in text
                assert any(f"`{each}`" in sections[name] for each in action.option_strings), flag
        for word, below in subparsers(of).items():
            check(f"{name} {word}", below)

    for name, of in subparsers(PARSER).items():
        check(name, of)
