"""Scripts by which shells complete the command line; all words are in the script."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from _torchcent_command._parser import parser
from _torchcent_command._tree import Command, Option, tree


def script(shell: str) -> str:
    """The script for bash, zsh or fish."""
    commands = [
        each._replace(options=[option for option in each.options if not option.hidden])
        for each in tree(parser())
    ]
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands)


_BASH = """\
# Completion of torchcent for bash: eval "$(torchcent completion bash)"
_torchcent() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path= words= at
    COMPREPLY=()
    if [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    if [[ $word == = ]]; then before=${{COMP_WORDS[COMP_CWORD-1]}} word=; fi
    for at in 1 2; do
        (( at < COMP_CWORD )) || break
        case "$path ${{COMP_WORDS[at]}}" in
            {paths}) path="$path ${{COMP_WORDS[at]}}" ;;
            *) break ;;
        esac
    done
    case "$path $before" in
{values}
    esac
    case $path in
{words}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        case $path in
{first}
            *) _torchcent_files "$word" ;;
        esac
    fi
}}
_torchcent_files() {{
    local name
    compopt -o filenames 2> /dev/null
    while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$1")
}}
complete -F _torchcent torchcent"""


def _bash(commands: list[Command]) -> str:
    paths = "|".join(f'"{_path(each)}"' for each in commands if each.words)
    values, words, first = [], [], []
    for each in commands:
        path = _path(each)
        for option in each.options:
            if option.flags and option.value:
                pattern = "|".join(f'"{path} {flag}"' for flag in option.flags)
                values.append(f"        {pattern}) {_bash_value(option)}; return ;;")
        words.append(f'        "{path}") words="{" ".join(each.flags)}" ;;')
        choices = _first_words(each)
        if choices:
            reply = f'COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$word"))'
            first.append(f'            "{path}") {reply} ;;')
        elif not each.positionals:
            first.append(f'            "{path}") ;;')
    parts = {"values": values, "words": words, "first": first}
    return _BASH.format(paths=paths, **{name: "\n".join(each) for name, each in parts.items()})


def _bash_value(option: Option) -> str:
    if option.values:
        return f'COMPREPLY=($(compgen -W "{" ".join(option.values)}" -- "$word"))'
    return '_torchcent_files "$word"' if option.files else ":"


def _path(command: Command) -> str:
    return "".join(f" {word}" for word in command.words)


def _first_words(command: Command) -> Iterable[str]:
    """What completes a word that is no option: subcommands, or choices of an argument."""
    return command.commands or [word for each in command.positionals for word in each.values]


def _zsh(commands: list[Command]) -> str:
    lines = [
        "#compdef torchcent",
        '# Completion of torchcent for zsh: eval "$(torchcent completion zsh)" after compinit',
    ]
    helps = {each.words: each.help for each in commands}
    for each in reversed(commands):  # those that are called come first
        lines += [f"{_function(each)}() {{"]
        specs = [spec for option in each.options for spec in _zsh_specs(option)]
        if each.commands:
            lines += [
                "    local context state state_descr line",
                "    typeset -A opt_args",
                "    local -a commands",
                "    commands=(",
                *(
                    f"        {_quote(_colon(name) + ':' + helps[(*each.words, name)])}"
                    for name in each.commands
                ),
                "    )",
            ]
            specs += ["'1:command:->command'", "'*::argument:->argument'"]
        lines += ["    _arguments -S \\", *(f"        {spec} \\" for spec in specs)]
        lines[-1] = lines[-1].removesuffix(" \\")
        if each.commands:
            lines += [
                "    case $state in",
                "        command) _describe command commands ;;",
                "        argument) case $line[1] in",
                *(f"            {name}) {_function(each)}_{name} ;;" for name in each.commands),
                "        esac ;;",
                "    esac",
            ]
        lines += ["}"]
    lines += [
        'if [ "$funcstack[1]" = _torchcent ]; then _torchcent "$@"; else',
        "    compdef _torchcent torchcent",
        "fi",
    ]
    return "\n".join(lines)


def _function(command: Command) -> str:
    return "_torchcent" + "".join(f"_{word}" for word in command.words)


def _zsh_specs(option: Option) -> Iterable[str]:
    """What `_arguments` takes for an option, by each of its names."""
    action = "_files" if option.files else f"({' '.join(option.values)})" if option.values else " "
    value = f":{_colon(option.value)}:{action}" if option.value else ""
    if not option.flags:
        yield _quote(value)
        return
    text = option.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    others = f"({' '.join(option.flags)})" if len(option.flags) > 1 else ""
    for flag in option.flags:
        equals = "=" if value and flag.startswith("--") else ""
        yield _quote(f"{others}{flag}{equals}[{_colon(text)}]{value}")


def _colon(text: str) -> str:
    return text.replace(":", "\\:")


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(commands: list[Command]) -> str:
    lines = [
        "# Completion of torchcent for fish: torchcent completion fish | source",
        "complete -c torchcent -f",
    ]
    helps = {each.words: each.help for each in commands}
    for each in commands:
        when = [f"__fish_seen_subcommand_from {word}" for word in each.words]
        inside = "; and ".join(when) or "__fish_use_subcommand"
        if each.commands:
            fresh = f"not __fish_seen_subcommand_from {' '.join(each.commands)}"
            for name in each.commands:
                condition = "; and ".join([*when, fresh])
                text = shlex.quote(helps[(*each.words, name)])
                lines.append(
                    f"complete -c torchcent -n {shlex.quote(condition)} -a {name} -d {text}"
                )
        for option in each.options:
            lines.append(f"complete -c torchcent -n {shlex.quote(inside)}{_fish_option(option)}")
    return "\n".join(lines)


def _fish_option(option: Option) -> str:
    parts = ""
    for flag in option.flags:
        kind = "-l" if flag.startswith("--") else "-s" if len(flag) == 2 else "-o"
        parts += f" {kind} {flag.lstrip('-')}"
    if option.values:
        parts += (" -x" if option.flags else "") + f" -a {shlex.quote(' '.join(option.values))}"
    elif option.files:
        parts += " -r -F" if option.flags else " -F"
    elif option.value:
        parts += " -x"
    return parts + (f" -d {shlex.quote(option.help)}" if option.help else "")
