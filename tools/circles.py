#!/usr/bin/env python3
"""Finds circles of imports between the files of each crate. Finds folders of the core that import a
folder above them.

    tools/circles.py        every crate of the workspace; the exit code is 1 if there is a circle

A file imports another file if a path in it, outside of tests, names an item of the other file. The
path is in a `use`, or in the code. In the code it may begin with a name that a `use` brought, or with
a module inside. A re-exported item counts as the file that it comes from. It is no import of the
re-exporting module, unless the code of that module uses it. Calls of methods are not found: they need
no path.
"""
import pathlib, re, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The folders of the core, from the bottom. Each folder may import the folders before it. All other
# files lie below all of them.
FLOORS = ["media", "format", "pages", "space", "map", "commit", "root", "journal", "mount", "ftl", "reclaim", "logical", "store", "fs"]
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\(\w+\))? )?mod \w+ \{.*\Z", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|^\s*#\[cfg\((?:doc|test)\)\]\s*(?:pub )?use [^;]+;", re.MULTILINE)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ((?:crate|self|super)::[^;]+|[a-z]\w*::[^;]+);", re.MULTILINE)
PATH = re.compile(r"(?<![\w:])([a-z]\w*)((?:::\w+)+)")
OUTSIDE = re.compile(r"#\[path[^]]*\]\s*(?:pub )?mod (\w+)")


def leaves(tree, prefix=()):
    """Yields the paths of a use tree, with the name of each."""
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
    path = prefix + tuple(part.strip() for part in path.split("::") if part.strip() != "self" or not prefix)
    yield path, (name.strip() or path[-1])


def uses(body, name):
    """Returns a true value if code uses a name that its module re-exports: a type that is not a
    variant's own name, or a call that is no method."""
    if name[0].isupper():
        return re.search(rf"(?:[^\s\w:.]|\S ){name}\b|^\s*{name}::", body, re.MULTILINE)
    return re.search(rf"(?<![\w:.])(?<!fn ){name}[(!]", body)


class Crate:
    def __init__(self, source):
        self.files = {}
        for file in source.rglob("*.rs"):
            parts = list(file.relative_to(source).with_suffix("").parts)
            # A program beside a library is another crate.
            if parts[0] == "bin" or parts == ["main"] and (source / "lib.rs").exists():
                continue
            if parts[-1] in ("mod", "lib", "main"):
                parts.pop()
            self.files[tuple(parts)] = file
        self.text = {module: COMMENT.sub("", TESTS.sub("", file.read_text())) for module, file in self.files.items()}
        # Modules whose files belong to another crate.
        self.outside = {module + (name,) for module, text in self.text.items() for name in OUTSIDE.findall(text)}
        # Names that the uses of each module bring: name → path, and True if re-exported.
        self.brought = {module: {} for module in self.files}
        for module, text in self.text.items():
            for public, tree in USE.findall(text):
                for path, name in leaves(tree):
                    self.brought[module][name] = (self.absolute(module, path), bool(public))

    def absolute(self, module, path):
        """Returns a path from the root of the crate, or None if it leaves the crate."""
        base, path = list(module), list(path)
        if path[0] == "crate":
            base, path = [], path[1:]
        elif path[0] == "self":
            path = path[1:]
        elif path[0] == "super":
            while path and path[0] == "super":
                base, path = base[:-1], path[1:]
        elif module + (path[0],) not in self.files:
            return None
        return tuple(base + path)

    def file_of(self, path, seen=()):
        """Returns the module whose file contains an item."""
        if path is None or path in seen or any(path[: len(other)] == other for other in self.outside):
            return None
        module = next(path[:length] for length in range(len(path), -1, -1) if path[:length] in self.files)
        rest = path[len(module) :]
        target, public = self.brought[module].get(rest[0], (None, False)) if rest else (None, False)
        if public:
            return self.file_of(target and target + rest[1:], seen + (path,))
        return module

    def imports(self, module):
        body = USE.sub("", self.text[module])
        paths = []
        for name, (path, public) in self.brought[module].items():
            # A module that a `use` brings is imported by the paths that begin with it.
            if path not in self.files and (not public or uses(body, name)):
                paths.append(path)
        for first, rest in PATH.findall(body):
            rest = tuple(rest.strip(":").split("::"))
            brought = self.brought[module].get(first)
            paths.append(brought[0] and brought[0] + rest if brought else self.absolute(module, (first, *rest)))
        return {other for other in map(self.file_of, paths) if other is not None and other != module}


def circles(graph):
    """Returns the sets of files that import each other, by Tarjan's algorithm."""
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
