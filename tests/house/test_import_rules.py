"""The rules on imports: cycles in a crate or a package, and arrows between crates."""

import unittest

from house import crates, cycles
from house.rust_imports import imports_of
from house.tree import File


def crate(**sources):
    """The files of a crate; `a__b` is `a/b.rs`."""
    files = [File("c/Cargo.toml", "")]
    for name, text in sources.items():
        files.append(File(f"c/src/{name.replace('__', '/')}.rs", text))
    return files


def found(files):
    return {(finding.rule, finding.path.rpartition("src/")[2]) for finding in cycles.check(files)}


class Rust(unittest.TestCase):
    def targets(self, text, **others):
        texts = {f"{name.replace('__', '/')}.rs": "" for name in others.get("modules", [])}
        _, imports = imports_of({**texts, "a/b.rs": text, "a.rs": "", "lib.rs": ""})
        return {each.target for each in imports if each.source == ("a", "b")}

    def test_each_form_of_a_path_is_resolved(self):
        modules = ["x", "x__y", "a__z"]
        for text, expected in {
            "use crate::x::y::Type;": {("x", "y")},
            "use crate::{x::{self, y}, a::z};": {("x",), ("x", "y"), ("a", "z")},
            "use super::z::f as g;": {("a", "z")},
            "use super::super::x;": {("x",)},
            "fn f() { crate::x::run(); }": {("x",)},
            "use self::inner::f;": {("a", "b")},
            "use other::x;": set(),
            '// use crate::x;\nconst T: &str = "crate::x";': set(),
            "mod inner { use super::super::z; }": {("a", "z")},
            "#[cfg(test)]\nmod tests { use crate::x; }": set(),
        }.items():
            self.assertEqual(self.targets(text, modules=modules), expected, text)

    def test_files_that_name_each_other_are_a_cycle(self):
        files = crate(lib="", a="use crate::b::f;", b="use crate::a::g;")
        self.assertEqual(found(files), {("file-cycle", "a.rs"), ("file-cycle", "b.rs")})

    def test_a_longer_cycle_is_found(self):
        files = crate(lib="", a="use crate::b;", b="use crate::c;", c="use crate::a;", d="")
        self.assertEqual({path for _, path in found(files)}, {"a.rs", "b.rs", "c.rs"})

    def test_a_parent_and_its_children_may_know_each_other(self):
        child = "use super::f; use crate::g;"
        files = crate(lib="use a::b::T;", a="use crate::a::b::T;", a__b=child)
        self.assertEqual(found(files), set())

    def test_folders_that_name_each_other_are_a_cycle(self):
        sources = {"a__x": "use crate::b::y;", "b__y": "", "b__z": "use crate::a::w;", "a__w": ""}
        files = crate(lib="", a="", b="", **sources)
        self.assertEqual(found(files), {("folder-cycle", "a.rs"), ("folder-cycle", "b.rs")})

    def test_one_direction_is_no_cycle(self):
        files = crate(lib="", a="", a__x="use crate::b::y;", b="", b__y="")
        self.assertEqual(found(files), set())

    def test_tests_are_left_out(self):
        a = "#[cfg(test)]\nmod tests;"
        files = crate(lib="", a=a, a__tests="use crate::b;", b="use crate::a;")
        self.assertEqual(found(files), set())


class TypeScript(unittest.TestCase):
    def package(self, **sources):
        files = [File("p/package.json", "{}")]
        for name, text in sources.items():
            files.append(File(f"p/src/{name.replace('__', '/')}.ts", text))
        return found(files)

    def test_files_that_import_each_other_are_a_cycle(self):
        cycle = self.package(a="import { b } from './b.ts';", b="export * from './a.ts';")
        self.assertEqual(cycle, {("file-cycle", "a.ts"), ("file-cycle", "b.ts")})

    def test_types_and_imports_of_several_lines_count(self):
        several = "import type {\n  A,\n} from './a.ts';"
        cycle = self.package(a="const b = import('./b.ts');", b=several)
        self.assertEqual(len(cycle), 2)

    def test_folders_that_import_each_other_are_a_cycle(self):
        cycle = self.package(
            a__x="import '../b/y.ts';", b__y="", b__z="import '../a/w.ts';", a__w=""
        )
        self.assertEqual({rule for rule, _ in cycle}, {"folder-cycle"})

    def test_a_package_is_no_file(self):
        self.assertEqual(self.package(a="import { b } from 'b';", b="import './a.ts';"), set())


class Crates(unittest.TestCase):
    ROOT = "[workspace.dependencies]\nsmartspace-low = 1\nsmartspace-f = 1\nsmartspace-g = 1\n"

    def arrows(self, path, name, dependency):
        manifest = f'[package]\nname = "{name}"\n[dependencies]\n{dependency} = 1\n'
        others = [
            File(f"functions/{letter}/Cargo.toml", f'[package]\nname = "smartspace-{letter}"\n')
            for letter in "fg"
        ]
        files = [File("Cargo.toml", self.ROOT), *others, File(path, manifest)]
        return [finding.rule for finding in crates.check(files)]

    def test_an_arrow_down_is_fine(self):
        down = self.arrows("functions/f/Cargo.toml", "smartspace-f", "smartspace-low")
        self.assertEqual(down, [])

    def test_an_arrow_up_is_found(self):
        up = self.arrows("shared/low/Cargo.toml", "smartspace-low", "smartspace-f")
        self.assertEqual(up, ["arrow-up"])

    def test_no_function_sees_another(self):
        across = self.arrows("functions/g/Cargo.toml", "smartspace-g", "smartspace-f")
        self.assertEqual(across, ["arrow-up"])


if __name__ == "__main__":
    unittest.main()
