"""The modules of a TypeScript package and what they import, types included."""

import posixpath
import re
from pathlib import PurePath

from house.graph import Import

IMPORT = re.compile(
    r"""^(?:import|export)\b[^'";]*?\bfrom\s*['"](?P<named>\.[^'"]+)['"]"""
    r"""|^import\s*['"](?P<bare>\.[^'"]+)['"]"""
    r"""|\bimport\(\s*['"](?P<lazy>\.[^'"]+)['"]""",
    re.MULTILINE,
)


def module_of(path):
    """The module of a file below `src`: `space.ts` and `space/index.ts` are the same."""
    parts = PurePath(path).with_suffix("").parts
    return parts[:-1] if parts[-1] == "index" else parts


def imports_of(texts):
    """The modules of a package with their files, and its imports."""
    paths = {module_of(path): path for path in texts}
    imports = []
    for path, text in texts.items():
        for match in IMPORT.finditer(text):
            named = match["named"] or match["bare"] or match["lazy"]
            target = module_of(posixpath.normpath(posixpath.join(posixpath.dirname(path), named)))
            if target in paths:
                line = text.count("\n", 0, match.start()) + 1
                imports.append(Import(module_of(path), target, line))
    return paths, imports
