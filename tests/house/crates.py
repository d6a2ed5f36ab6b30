"""Arrows between our crates go down only, in the order of the list in Cargo.toml."""

import tomllib

from house.tree import Finding

RULES = ("arrow-up",)
OWN = "smartspace"


def check(files):
    manifests = {
        file.path: tomllib.loads(file.text)
        for file in files
        if file.path == "Cargo.toml" or file.path.endswith("/Cargo.toml")
    }
    order = order_of(manifests["Cargo.toml"])
    functions = {
        manifest["package"]["name"]
        for path, manifest in manifests.items()
        if path.startswith("functions/")
    }
    for path, manifest in manifests.items():
        if "package" in manifest and not path.startswith(("tests/", "fuzz/")):
            yield from arrows_up(path, manifest, order, functions)


def order_of(workspace):
    """The position of each crate of ours, from the bottom up."""
    names = [name for name in workspace["workspace"]["dependencies"] if name.startswith(OWN)]
    return {name: position for position, name in enumerate(names)}


def arrows_up(path, manifest, order, functions):
    name = manifest["package"]["name"]
    # A crate that nobody may depend on is above all others.
    position = order.get(name, len(order))
    tables = [manifest.get(table, {}) for table in ("dependencies", "build-dependencies")]
    for dependency in {name for table in tables for name in table if name.startswith(OWN)}:
        if order.get(dependency, len(order)) >= position:
            detail = f"{name} depends on {dependency}, which is not further down in Cargo.toml"
            yield Finding("arrow-up", path, detail)
        elif {name, dependency} <= functions:
            yield Finding("arrow-up", path, f"the function {name} depends on {dependency}")
