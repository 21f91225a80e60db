"""What a policy's source shows: the answers that a handler may give, the strings it looks for, and line numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from onehook.core import CONTRACT_FIELDS, DECISIONS, RESPONSE_FIELDS
from onehook.lint.model import Shape

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_IGNORE = re.compile(r"#\s*onehook:\s*ignore(?:\[([A-Z0-9, ]+)\])?")
_DEPTH = 3  # how far a handler's helpers are followed
# The positional parameters of the helpers, in order.
_POSITIONAL = {"deny": ("reason",), "ask": ("reason",), "allow": ("reason",), "Response": RESPONSE_FIELDS + CONTRACT_FIELDS}


class Source:
    """One file of a policy."""

    def __init__(self, path: str) -> None:
        self.lines: list[str] = []
        self.tree = ast.Module([], [])
        try:
            text = Path(path).read_text(encoding="utf-8")
            self.lines = text.splitlines()
            self.tree = ast.parse(text)
        except (OSError, ValueError, SyntaxError):  # not Python (a manifest), or deleted: then nothing is known
            pass
        self.functions = {node.name: node for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}

    def function_at(self, line: int) -> Function | None:
        """The function whose code begins on this line: its first decorator, its def, or its lambda."""
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and line in (node.lineno, _first_line(node)):
                return node
        return None

    def line_of_import(self, module: str) -> int:
        """The line where the file imports this module at load time; 0 if it does not."""
        for node in self.tree.body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            if any(name == module or name.startswith(f"{module}.") or module.startswith(f"{name}.") for name in names):
                return node.lineno
        return 0

    def line_of_call(self, name: str) -> int:
        """The line of the first call of a function of this name; 1 if there is none."""
        return next(iter(self.lines_of_call(name)), 1)

    def lines_of_call(self, name: str) -> list[int]:
        return sorted(node.lineno for node in ast.walk(self.tree) if isinstance(node, ast.Call) and _called(node) == name)

    def line_of_use(self, library: Source) -> int:
        """The line of the first `use` of something that this library defines; of the first `use` if that cannot be determined."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and _called(node) == "use":
                names = {name.id for argument in node.args for name in ast.walk(argument) if isinstance(name, ast.Name)}
                names |= {name.attr for argument in node.args for name in ast.walk(argument) if isinstance(name, ast.Attribute)}
                if names & set(library.functions):
                    return node.lineno
        return self.line_of_call("use")

    def ignored(self, line: int) -> set[str] | None:
        """The codes that a comment ignores, on this line or where a function begins that it is part of; None: all."""
        functions = [node for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        around = [node for node in functions if _first_line(node) <= line <= (node.end_lineno or line)]
        heads = [number for node in around for number in range(_first_line(node), max(node.body[0].lineno, node.lineno + 1))]
        codes: set[str] = set()
        for text in (self.lines[number - 1] for number in {line, *heads} if 0 < number <= len(self.lines)):
            comment = _IGNORE.search(text)
            if comment and comment.group(1) is None:
                return None
            codes |= {code.strip() for code in comment.group(1).split(",")} if comment else set()
        return codes

    def shapes(self, function: Function) -> set[Shape]:
        return set(self._shapes(function, _DEPTH))

    def _shapes(self, function: Function, depth: int) -> Iterator[Shape]:
        values = [function.body] if isinstance(function, ast.Lambda) else [node.value for node in _returns(function) if node.value]
        for value in values:
            yield from self._shapes_of(value, depth)

    def _shapes_of(self, value: ast.expr, depth: int) -> Iterator[Shape]:
        if isinstance(value, ast.IfExp):
            yield from (shape for branch in (value.body, value.orelse) for shape in self._shapes_of(branch, depth))
        elif isinstance(value, ast.BoolOp):
            yield from (shape for part in value.values for shape in self._shapes_of(part, depth))
        elif isinstance(value, ast.Await):
            yield from self._shapes_of(value.value, depth)
        elif isinstance(value, ast.Dict):
            pairs = zip(value.keys, value.values)
            yield from _of_fields({str(key.value): item for key, item in pairs if isinstance(key, ast.Constant)})
        elif isinstance(value, ast.Call):
            name = _called(value)
            if name in _POSITIONAL:
                yield from _of_call(name, value)
            elif depth and name in self.functions:
                yield from self._shapes(self.functions[name], depth - 1)

    def texts(self, function: Function) -> list[str]:
        """The strings that a handler may look for, including those at the top of the file that it may use."""
        top = [node for node in self.tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))]
        body = function.body if isinstance(function.body, list) else [function.body]
        nodes = [inner for node in [*body, *top] for inner in ast.walk(node)]
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        return [text for text in dict.fromkeys(texts) if 0 < len(text) < 200]

    def always_denies(self, function: Function) -> bool:
        """Whether the first statement of a handler is to deny."""
        if isinstance(function, ast.Lambda):
            first: ast.AST = function.body
        else:
            body = function.body[1:] if ast.get_docstring(function) is not None else function.body
            first = body[0].value if body and isinstance(body[0], ast.Return) and body[0].value else ast.Pass()
        return isinstance(first, ast.Call) and _called(first) == "deny"


@cache
def source_of(path: str) -> Source:
    return Source(path)


def _first_line(node: Function) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _called(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""


def _returns(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Return]:
    """The return statements of a function, without those of nested functions."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Return):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def _of_call(name: str, call: ast.Call) -> Iterator[Shape]:
    fields: dict[str, ast.expr] = dict(zip(_POSITIONAL[name], call.args))
    fields |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if name != "Response":
        fields["decision"] = ast.Constant(name)
    if name == "deny":
        fields.setdefault("reason", ast.Constant("denied by policy"))
    yield from _of_fields(fields)


def _of_fields(fields: dict[str, ast.expr]) -> Iterator[Shape]:
    given = {name: value for name, value in fields.items() if not (isinstance(value, ast.Constant) and value.value is None)}
    given = {name: value for name, value in given.items() if name in RESPONSE_FIELDS + CONTRACT_FIELDS}
    if not given:
        return
    rewrite = given.get("modified_input")
    constants = [key.value for key in rewrite.keys if isinstance(key, ast.Constant)] if isinstance(rewrite, ast.Dict) else []
    decision = given.get("decision")
    # A computed decision may be any of them.
    known = [decision.value] if isinstance(decision, ast.Constant) else [None] if decision is None else list(DECISIONS)
    for value in known:
        if value is None or value in DECISIONS:
            yield Shape(value, frozenset(given), frozenset(map(str, constants)))
