"""The rules of test_architecture.py: functions from modules to offences, written as `file: what is wrong`.

Source is read with `ast`, nothing is imported. Imports for the type checker alone do not count; those inside
functions count for layers, not for cycles.
"""

import ast
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "mesero"
GENERATED = re.compile(r"revisions/v\d{4}_\d{2}_\d{2}\.py$")


def words(text):
    return text.split()


PURE = words("""
    errors jsonrpc framing calls misfits uritemplates types revisions schemas extensions modern eras audit
    diagram explain
    legacy.contents legacy.forms legacy.handshake legacy.methods legacy.sampling legacy.schemas legacy.shapes
    legacy.translate legacy.upwards trace.diff trace.format trace.importers.finding trace.places
    trace.redaction trace.sensitive auth.flow
    host.configs host.edits host.entries host.hosts host.jsonc host.jsonc_edits host.nodes host.problems
    host.shapes host.toml host.values host.variables host.yaml host.configured
    doctor.addresses doctor.fetched doctor.limits doctor.mojibake doctor.refusals doctor.report doctor.samples
    doctor.stderr doctor.texts doctor.checks.challenges doctor.checks.metadata doctor.checks.pages
    doctor.checks.tokens
""")
IMPURE_MODULES = words("""
    aiohttp anyio asyncio concurrent http httpx io logging multiprocessing os pathlib queue random sched
    secrets selectors shutil signal socket sqlite3 ssl subprocess tempfile threading time trio urllib.request
    uuid uvicorn uvloop
""")
IMPURE_CALLS = {"open", "input", "print", "breakpoint"}

# (who, never imports whom); a name stands for the module and all below it, "" for everybody else.
LAYERS = [
    ("modern", "legacy"),
    ("legacy", "modern"),
    ("client", "server"),
    ("server", "client"),
    ("transports", "modern"),
    ("transports", "eras"),
    ("", "legacy"),
    ("", "cli"),
    ("", "web"),
]
# Who is let past a rule about everybody.
EXEMPT = {"legacy": {"eras"}, "cli": {"__main__"}, "web": {"cli"}}

BANNED_WORDS = set(words("manager helper util utils base runner dispatcher impl v2 new modern"))
# The specification's own method names.
NAMED_BY_THE_SPECIFICATION = {"get_prompt"}

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60


@dataclass(frozen=True)
class Module:
    """One file of the package; `name` is dotted, without the package and without __init__."""

    name: str
    path: str
    source: str
    is_package: bool

    @property
    def is_generated(self):
        return GENERATED.search(self.path) is not None

    @cached_property
    def tree(self):
        return ast.parse(self.source)


def read_modules(files):
    """Modules from (path below src/mesero, source)."""
    modules = {}
    for path, source in files:
        parts = path.removesuffix(".py").split("/")
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules[name] = Module(name, path, source, is_package)
    return modules


@cache
def package():
    folder = ROOT / "src" / PACKAGE
    files = sorted(folder.rglob("*.py"))
    return read_modules([(file.relative_to(folder).as_posix(), file.read_text()) for file in files])


def made_up(sources):
    return read_modules(sources.items())


def is_within(name, owner):
    return name == owner or name.startswith(f"{owner}.")


def statements(body, *, lazy):
    """Every statement that runs at import, with `lazy` those inside functions too; TYPE_CHECKING left out."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from statements(node.orelse, lazy=lazy)
            continue
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not lazy:
            continue
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, field, []), lazy=lazy)


def imports_of(module, modules, *, lazy):
    """Dotted names that a module imports; those of the package without its name, as precise as can be."""
    for node in statements(module.tree.body, lazy=lazy):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.removeprefix(f"{PACKAGE}.") if is_within(alias.name, PACKAGE) else alias.name
        elif isinstance(node, ast.ImportFrom):
            target = absolute_target(node, module)
            if not is_within(target, PACKAGE):
                yield target
                continue
            inside = target.removeprefix(PACKAGE).lstrip(".")
            for alias in node.names:
                longer = f"{inside}.{alias.name}".lstrip(".")
                yield longer if longer in modules else inside


def absolute_target(node, module):
    if not node.level:
        return node.module
    here = [PACKAGE, *module.name.split(".")] if module.name else [PACKAGE]
    kept = here[: len(here) - node.level + module.is_package]
    return ".".join([*kept, node.module] if node.module else kept)


def own_imports_of(module, modules, *, lazy):
    return {name for name in imports_of(module, modules, lazy=lazy) if name in modules}


def handwritten(modules):
    return [module for module in modules.values() if not module.is_generated]


def definitions(module):
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [node for node in ast.walk(module.tree) if isinstance(node, kinds)]


# --- the rules ---


def impurities(modules):
    """Pure modules do no I/O, wait for nothing, and import only what is pure as well."""
    for module in modules.values():
        if not any(is_within(module.name, name) for name in PURE):
            continue
        for name in set(imports_of(module, modules, lazy=True)):
            if name in modules and not any(is_within(name, pure) for pure in PURE):
                yield f"{module.path}: is pure, but imports {name}, which is not"
            if name not in modules and any(is_within(name, impure) for impure in IMPURE_MODULES):
                yield f"{module.path}: is pure, but imports {name}"
        for node in ast.walk(module.tree):
            if isinstance(node, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Await):
                yield f"{module.path}:{node.lineno}: is pure, but async"
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in IMPURE_CALLS
            ):
                yield f"{module.path}:{node.lineno}: is pure, but calls {node.func.id}()"


def layer_breaches(modules):
    """Nobody imports what is above or beside it."""
    for module in modules.values():
        for name in sorted(own_imports_of(module, modules, lazy=True)):
            for owner, forbidden in LAYERS:
                if not is_within(name, forbidden) or is_within(module.name, forbidden):
                    continue
                if owner and not is_within(module.name, owner):
                    continue
                if not owner and module.name in EXEMPT[forbidden]:
                    continue
                yield f"{module.path}: imports {name}, but {owner or 'nobody else'} may import {forbidden}"


def cycles(modules):
    """No module needs itself to be imported."""
    graph = {name: own_imports_of(module, modules, lazy=False) - {name} for name, module in modules.items()}
    done = set()

    def walk(name, trail):
        if name in trail:
            yield " -> ".join([*trail[trail.index(name) :], name])
        elif name not in done:
            for target in sorted(graph[name]):
                yield from walk(target, [*trail, name])
            done.add(name)

    for name in graph:
        yield from walk(name, [])


def long_functions(modules):
    """A function fits on a screen."""
    for module in handwritten(modules):
        for node in definitions(module):
            length = node.end_lineno - node.lineno + 1
            if not isinstance(node, ast.ClassDef) and length > MAX_FUNCTION_LINES:
                yield f"{module.path}:{node.lineno}: {node.name} has {length} lines"


def top_level(body):
    """Statements at the top of a module, those under a condition included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            handlers = [statement for handler in getattr(node, "handlers", []) for statement in handler.body]
            yield from top_level([*node.body, *node.orelse, *handlers])


EXAMPLES = {"demo/notes.py"}


def public_names(module):
    """Names bound at the top by def, class or assignment, without a leading _; no type variables."""
    names = set()
    for node in top_level(module.tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not is_type_variable(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return {name for name in names if not name.startswith("_")}


def is_type_variable(value):
    return isinstance(value, ast.Call) and ast.unparse(value.func) in {"TypeVar", "ParamSpec", "TypeVarTuple"}


def declared_names(module):
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def sort_key(name):
    """Constants, then classes, then functions: the order that the linter sorts `__all__` in."""
    if len(name) > 1 and name.isupper():
        return (0, name)
    return (1, name) if name[0].isupper() else (2, name)


def export_faults(modules):
    """`__all__` names exactly what a module makes public, in order; a package may re-export more.

    An example to copy is no interface: there it names what is served.
    """
    for module in handwritten(modules):
        if module.path in EXAMPLES:
            continue
        public, declared = public_names(module), declared_names(module)
        if declared is None:
            if public:
                yield f"{module.path}: has public names but no __all__"
            continue
        if declared != sorted(set(declared), key=sort_key):
            yield f"{module.path}: __all__ is not sorted"
        if missing := public - set(declared):
            yield f"{module.path}: __all__ lacks {', '.join(sorted(missing))}"
        if not module.is_package and (foreign := set(declared) - public):
            yield f"{module.path}: __all__ names what is not defined here: {', '.join(sorted(foreign))}"


def era_words(modules):
    """Modern code and transports do not know that there is another era."""
    for module in modules.values():
        if is_within(module.name, "modern") or is_within(module.name, "transports"):
            for number, line in enumerate(module.source.splitlines(), start=1):
                if "legacy" in line.lower():
                    yield f"{module.path}:{number}: speaks of the other era"


def words_of(name):
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def bad_names(modules):
    """Names say what a thing is, not that somebody had no word for it."""
    for module in handwritten(modules):
        knows_eras = is_within(module.name, "legacy") or is_within(module.name, "eras")
        for node in definitions(module):
            words = words_of(node.name)
            bad = BANNED_WORDS.intersection(words)
            if isinstance(node, ast.ClassDef):
                bad |= {"handler"}.intersection(words)
            elif words[:1] == ["get"] and node.name not in NAMED_BY_THE_SPECIFICATION:
                bad.add("get_")
            if "legacy" in words and not knows_eras:
                bad.add("legacy")
            for word in sorted(bad):
                yield f"{module.path}:{node.lineno}: {node.name} is called {word}"


def is_only_re_exporting(module):
    defined = {node.name for node in definitions(module)}
    return module.is_package and defined <= {"__getattr__", "__dir__"}


def is_only_data(module):
    """A table of a package that gathers its tables: the package has the test of them all."""
    return not module.is_package and not definitions(module) and declared_names(module) == ["TEXTS"]


def mirror_of(module):
    """Where a module's tests are: a/b.py → a/test_b.py, a/__init__.py → a/test_init.py."""
    folder, _, stem = module.path.removesuffix(".py").rpartition("/")
    return f"{folder}/test_{stem.strip('_')}.py".lstrip("/")


def missing_mirrors(modules, tests):
    """Every file has the test file of its name."""
    for module in handwritten(modules):
        needs_none = is_only_re_exporting(module) or is_only_data(module)
        if not needs_none and mirror_of(module) not in tests:
            yield f"{module.path}: has no tests/{mirror_of(module)}"


REASONED = re.compile(r"(: ?[A-Z]+\d+(, ?[A-Z]+\d+)*|\[[a-z, -]+\])\s*[-#(]+\s*\w")


def silent_exceptions(modules):
    """Whoever switches a lint rule off says which and why, on that line."""
    for module in handwritten(modules):
        for number, line in enumerate(module.source.splitlines(), start=1):
            for mark in re.finditer(r"#\s*(?:noqa|type:\s*ignore)(.*)$", line):
                if not REASONED.match(mark[1]):
                    yield f"{module.path}:{number}: names no rule or no reason: {mark[0]}"


RULES = [
    impurities,
    layer_breaches,
    cycles,
    long_functions,
    export_faults,
    era_words,
    bad_names,
    silent_exceptions,
]


def handwritten_files():
    for folder in ("src", "tests", "bench", "scripts"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "node_modules" not in file.parts and not GENERATED.search(file.as_posix()):
                yield file
