"""Import cycles between the folders and between the files of a crate or a package."""

from house import rust_imports, script_imports
from house.graph import file_cycles, folder_cycles
from house.tree import Finding

RULES = ("file-cycle", "folder-cycle")


def check(files):
    for source, texts in sorted(crates_and_packages(files).items()):
        reader = rust_imports if any(path.endswith(".rs") for path in texts) else script_imports
        modules, imports = reader.imports_of(texts)
        paths = {module: f"{source}/{path}" for module, path in modules.items()}
        for found in file_cycles(imports):
            yield from findings("file-cycle", found, imports, paths)
        for found in folder_cycles(imports, modules):
            yield from findings("folder-cycle", found, imports, paths)


def crates_and_packages(files):
    """The sources below each `src` that has a manifest beside it."""
    known = {file.path for file in files}
    found = {}
    for file in files:
        before, slash, below = file.path.partition("/src/")
        if not slash or not file.path.endswith((".rs", ".ts", ".tsx")):
            continue
        if {f"{before}/Cargo.toml", f"{before}/package.json"} & known:
            found.setdefault(f"{before}/src", {})[below] = file.text
    return found


def findings(rule, found, imports, paths):
    """One finding for each member of a cycle, with the import that leads to another member."""
    for member in sorted(found):
        of_member = [each for each in imports if each.source[: len(member)] == member]
        for each in of_member:
            others = [other for other in found if each.target[: len(other)] == other != member]
            if others and (rule == "folder-cycle" or each.source == member):
                where = f"{paths[each.source]}:{each.line} names {'::'.join(each.target)}"
                names = ", ".join("::".join(other) for other in sorted(found - {member}))
                path = paths.get(member) or paths[each.source]
                yield Finding(rule, path, f"in a cycle with {names}; {where}")
                break
