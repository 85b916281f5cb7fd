"""What networkx's reader of GraphML leaves out: defaults of keys, labels of yEd, nested graphs."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

_NUMBERS = ("int", "integer", "long", "float", "double", "real")


class Outline:
    """The keys and names of a GraphML file, and how many nodes and edges it has.

    Attributes:
        defaults: for "node" and "edge", the default of each attribute that has one.
        labels: the first label that yEd draws on each node, by the id of the node.
        nodes, edges: numbers of elements, those of nested and of further graphs included.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.defaults: dict[str, dict[str, str | float]] = {"node": {}, "edge": {}}
        self.labels: dict[str, str] = {}
        self.nodes = self.edges = 0
        self._path, self._inside = path, ""  # of which element the text is
        self._nodes: list[str] = []  # that enclose the current element
        self._key: dict[str, str] = {}
        self._text: list[str] = []
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.Parse(data, True)

    def _entity(self, *_: Any) -> None:
        raise ValueError(f"{self._path}: defines XML entities, which are not read")

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = element.rpartition(" ")[2]
        self._inside = ""  # the text before an element within a label is the label
        if name == "node":
            self.nodes += 1
            self._nodes.append(attributes.get("id", ""))
        elif name == "edge":
            self.edges += 1
        elif name == "key":
            self._key = attributes
        elif name == "default" or (name == "NodeLabel" and self._nodes):
            self._inside, self._text = name, []

    def _characters(self, text: str) -> None:
        if self._inside:
            self._text.append(text)

    def _end(self, element: str) -> None:
        name = element.rpartition(" ")[2]
        text = "".join(self._text).strip()
        if name == "node" and self._nodes:
            self._nodes.pop()
        elif name == "default" and text:
            attribute = self._key.get("attr.name") or self._key.get("id", "")
            kinds = self._key.get("for", "all")
            for kind in ("node", "edge") if kinds == "all" else (kinds,):
                if kind in self.defaults:
                    number = self._key.get("attr.type") in _NUMBERS
                    self.defaults[kind][attribute] = float(text) if number else text
        elif name == "NodeLabel" and self._nodes and text:
            self.labels.setdefault(self._nodes[-1], text)
        if name in ("default", "NodeLabel"):
            self._inside, self._text = "", []
