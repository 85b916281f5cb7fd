"""Runs the command line as the tests of its subcommands do."""

from torchcent import cli


def run(capsys, *arguments):
    """Exit status, standard output, standard error."""
    code = cli.main(list(map(str, arguments)))
    out = capsys.readouterr()
    return code, out.out, out.err


def refused(capsys, *arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("torchcent: error: ") and err.count("\n") == 1
    return err


def table(text):
    """Rows of the printed table as lists of words."""
    head, rule, *body = text.splitlines()
    assert set(rule) <= {"-", " "}
    return head.split(), [line.split() for line in body if not line.startswith("...")]
