#!/usr/bin/env python3
"""Finds circles of imports between the files of each crate, and folders of the core that import one that lies above them.

    tools/circles.py        every crate of the workspace; the exit code is 1 where there is one

A file imports another one where a `use` in it, tests left out, or a path in its code names something of that one's module. What a `mod.rs` passes on
with `pub use` counts as the file that it comes from.
"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The folders of the core, from the bottom: each may import those before it. What is not named here lies below all of them.
FLOORS = ["media", "format", "pages", "space", "map", "commit", "root", "journal", "pace", "mount", "store", "fs"]
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?mod \w+ \{.*\Z", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")
USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ((?:crate|self|super)::[^;]+|[a-z]\w*::[^;]+);", re.MULTILINE)
PATH = re.compile(r"\b(crate|super)((?:::\w+)+)")


def leaves(tree, prefix=()):
    """The paths of a use tree, and the name of each."""
    tree = tree.strip()
    if "{" in tree:
        head, rest = tree.split("{", 1)
        prefix += tuple(part for part in head.strip().strip(":").split("::") if part)
        depth, start, rest = 0, 0, rest[: rest.rindex("}")] + ","
        for at, char in enumerate(rest):
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                if rest[start:at].strip():
                    yield from leaves(rest[start:at], prefix)
                start = at + 1
        return
    path, _, name = tree.partition(" as ")
    path = prefix + tuple(part.strip() for part in path.split("::"))
    yield path, (name.strip() or path[-1])


class Crate:
    def __init__(self, source):
        self.files = {}
        for file in source.rglob("*.rs"):
            parts = list(file.relative_to(source).with_suffix("").parts)
            if parts[-1] in ("mod", "lib", "main"):
                parts.pop()
            if parts[:1] != ["bin"]:
                self.files[tuple(parts)] = file
        self.text = {module: COMMENT.sub("", TESTS.sub("", file.read_text())) for module, file in self.files.items()}
        # What each module passes on: name → the path that it stands for.
        self.passed = {module: {} for module in self.files}
        for module, text in self.text.items():
            for public, tree in USE.findall(text):
                if public:
                    for path, name in leaves(tree):
                        self.passed[module][name] = self.absolute(module, path)

    def absolute(self, module, path):
        """A path from the root of the crate; None where it leaves it."""
        path = list(path)
        if path[0] == "crate":
            return tuple(path[1:])
        base = list(module)
        if path[0] == "self":
            path = path[1:]
        elif path[0] == "super":
            while path and path[0] == "super":
                base, path = base[:-1], path[1:]
        elif module + (path[0],) not in self.files:
            return None
        return tuple(base + path)

    def file_of(self, path, seen=()):
        """The module in whose file something lies."""
        if path is None or path in seen:
            return None
        for length in range(len(path), -1, -1):
            module = path[:length]
            if module in self.files:
                rest = path[length:]
                if rest and rest[0] in self.passed[module]:
                    target = self.passed[module][rest[0]]
                    return self.file_of(target + rest[1:] if target is not None else None, seen + (path,))
                return module
        return None

    def imports(self, module):
        text = self.text[module]
        paths = [path for public, tree in USE.findall(text) if not public for path, _ in leaves(tree)]
        body = USE.sub("", text)
        paths += [tuple([first, *rest.strip(":").split("::")]) for first, rest in PATH.findall(body)]
        found = {self.file_of(self.absolute(module, path)) for path in paths}
        return {other for other in found if other is not None and other != module}


def circles(graph):
    """Sets of files that import each other, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            members = []
            while not members or members[-1] != node:
                members.append(stack.pop())
            if len(members) > 1:
                found.append(sorted(members))

    sys.setrecursionlimit(10_000)
    for node in graph:
        if node not in index:
            visit(node)
    return found


def main():
    failed = False
    for source in sorted(ROOT.glob("crates/*/src")):
        crate = Crate(source)
        graph = {module: crate.imports(module) for module in crate.files}
        name = lambda module: crate.files[module].relative_to(source).as_posix()
        for members in circles(graph):
            failed = True
            print(f"{source.parent.name}: a circle of imports: " + ", ".join(map(name, members)))
            for module in members:
                print("    " + name(module) + " imports " + ", ".join(name(other) for other in sorted(graph[module] & set(members))))
        if source.parent.name == "steadyfs":
            floor = lambda module: FLOORS.index(module[0]) if module and module[0] in FLOORS else -1
            for module, others in graph.items():
                for other in others:
                    if floor(module) >= 0 and floor(other) > floor(module):
                        failed = True
                        print(f"steadyfs: {name(module)} imports {name(other)}, which lies above it")
    return failed


sys.exit(main())
