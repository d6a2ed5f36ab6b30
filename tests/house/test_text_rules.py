"""The rules on words, sizes, comments, actions, claims and installs."""

import unittest

from house import actions, claims, comments, installs, sizes, words
from house.rust_source import Source
from house.tree import File


def broken(check, path, text):
    """The rules that a file breaks."""
    return sorted(finding.rule for finding in check([File(path, text)]))


class Words(unittest.TestCase):
    def test_a_banned_word_is_found_in_prose_and_in_identifiers(self):
        for text in ("Opens the door.", "DOORS", "let is_door = 1;", "isTold", "told_runs", "TOLD"):
            self.assertEqual(broken(words.check, "a.rs", text), ["banned-word"], text)

    def test_a_word_that_contains_a_banned_one_is_fine(self):
        for text in ("outdoor", "retold", "untelling", "indoors"):
            self.assertEqual(broken(words.check, "a.rs", text), [], text)

    def test_the_path_counts(self):
        self.assertEqual(broken(words.check, "tests/e2e/doors.rs", ""), ["banned-word"])

    def test_the_simulation_has_more_banned_words(self):
        self.assertEqual(broken(words.check, "tests/simulation/a.rs", "weather"), ["banned-word"])
        self.assertEqual(broken(words.check, "tests/js/a.js", "weather"), [])

    def test_history_keeps_its_words(self):
        self.assertEqual(broken(words.check, "docs/adr/0001.md", "door"), [])

    def test_a_banned_name_is_found_as_a_whole_type_or_file(self):
        for text in ("pub(crate) struct Place;", "    enum Over {}", "type Ids = u8;"):
            self.assertEqual(broken(words.check, "a.rs", text), ["banned-name"], text)
        self.assertEqual(broken(words.check, "a.ts", "export interface Bell {}"), ["banned-name"])
        self.assertEqual(broken(words.check, "src/kept.ts", ""), ["banned-name"])
        for text in ("struct Placement;", "let place = Place;", "const MINUTE: u8 = 1;"):
            self.assertEqual(broken(words.check, "a.rs", text), [], text)


class Sizes(unittest.TestCase):
    def test_the_limits_themselves_are_allowed(self):
        function = "fn f() {\n" + "    g();\n" * 58 + "}\n"
        self.assertEqual(broken(sizes.check, "a.rs", function), [])
        self.assertEqual(broken(sizes.check, "a.py", "\n" * 500), [])
        self.assertEqual(broken(sizes.check, "a.ts", "x" * 100), [])

    def test_one_more_is_not(self):
        function = "fn f() {\n" + "    g();\n" * 59 + "}\n"
        self.assertEqual(broken(sizes.check, "a.rs", function), ["long-function"])
        self.assertEqual(broken(sizes.check, "a.py", "\n" * 501), ["long-file"])
        self.assertEqual(broken(sizes.check, "a.ts", "x" * 101), ["wide-line"])

    def test_prose_may_have_long_lines(self):
        self.assertEqual(broken(sizes.check, "a.md", "x" * 101), [])

    def test_braces_in_texts_and_comments_do_not_count(self):
        body = "\n".join(['"}"', "'}'", 'r#"}"#', "// }", "/* } /* } */ } */", "let x: &'a u8;"])
        source = Source(f"fn f<'a>(x: [u8; 2]) {{\n{body}\n}}\nfn g();\nfn h() {{ }}\n")
        self.assertEqual(list(source.functions()), [("f", 1, 8), ("h", 10, 1)])

    def test_a_nested_function_is_counted_by_itself(self):
        source = Source("fn f() {\n    fn g() {\n    }\n}\n")
        self.assertEqual(list(source.functions()), [("f", 1, 4), ("g", 2, 2)])


class Comments(unittest.TestCase):
    def hardest(self, text):
        files = [File(path, text) for path in comments.HARDEST]
        return {finding.rule for finding in comments.check(files)}

    def test_a_hard_file_needs_three_reasons_in_a_hundred_lines(self):
        self.assertEqual(self.hardest("// Why.\n" * 3 + "x\n" * 100), set())
        self.assertEqual(self.hardest("// Why.\n" * 2 + "x\n" * 100), {"few-reasons"})

    def test_doc_comments_are_no_reasons(self):
        self.assertEqual(self.hardest("/// Does this at once.\n" * 9 + "x\n"), {"few-reasons"})

    def test_a_hard_file_that_is_gone_is_found(self):
        found = list(comments.check([]))
        self.assertEqual([finding.path for finding in found], list(comments.HARDEST))

    def test_a_comment_that_repeats_the_name_is_found(self):
        self.assertEqual(self.short("/// The run.\nrun: Run,\n"), ["empty-comment"])
        self.assertEqual(self.short("/// Locked during a read.\n"), [])
        self.assertEqual(self.short("/// The run, which\n/// has ended.\n"), [])

    def test_two_comments_are_two_blocks(self):
        self.assertEqual(self.short("/// Its id.\nid: u8,\n/// Its time.\n"), ["empty-comment"] * 2)

    def short(self, text):
        found = broken(comments.check, "shared/store/src/a.rs", text)
        return [rule for rule in found if rule == "empty-comment"]

    def test_public_crates_document_everything(self):
        found = broken(comments.check, "shared/domain/src/a.rs", "/// The run.\n")
        self.assertNotIn("empty-comment", found)


class Actions(unittest.TestCase):
    def test_an_action_has_a_hash_and_a_version(self):
        path, digest = ".github/workflows/ci.yml", "0" * 40
        for line in (f"      - uses: a/b@{digest} # v1.2.3", "uses: ./.github/actions/c"):
            self.assertEqual(broken(actions.check, path, line), [], line)
        for line in ("- uses: a/b@v1", f"- uses: a/b@{digest}", f"uses: a/b@{digest[1:]} # v1"):
            self.assertEqual(broken(actions.check, path, line), ["unpinned-action"], line)


class Installs(unittest.TestCase):
    def test_what_is_installed_has_a_version(self):
        for line in (
            "pip install a==1.2 b==3",
            ".venv/bin/pip install -r requirements.txt",
            "python3 -m venv .venv && .venv/bin/pip install --quiet a==1  # again",
            "run `pip install a==1.0`, then `run`",
            "      - run: cargo install --locked a@0.20.2",
            "cargo install a --version 1.0.0 --locked",
            "(cd clients/js && npm ci --ignore-scripts && npm run build)",
            "npx --yes wscat@6.0.1 -c x",
            "npx vite --port 5173",
            "tool: nextest",
        ):
            self.assertEqual(broken(installs.check, "docs/a.md", line), [], line)
        for line in (
            "pip install a",
            "pip install a==1 b",
            "`pip install -r list.txt a`",
            "cargo install --locked a",
            "cargo install a@1.0.0",
            "(cd clients/js && npm ci && npm run build -- --ignore-scripts)",
            "npx --yes wscat -c x",
            "curl https://example.com/install | sh",
        ):
            self.assertEqual(broken(installs.check, "docs/a.md", line), ["unpinned-install"], line)

    def test_a_tool_of_ci_has_a_version(self):
        path = ".github/actions/a/action.yml"
        self.assertEqual(broken(installs.check, path, "        tool: a@1.2.3"), [])
        for line in ("        tool: a", "        tool: a@1,b"):
            self.assertEqual(broken(installs.check, path, line), ["unpinned-install"], line)

    def test_a_list_of_packages_has_hashes(self):
        path, digest = "tests/requirements.txt", f"    --hash=sha256:{'0' * 64}"
        for text in (f"# Why.\na==1 \\\n{digest}\n", f"a==1 \\\n{digest} \\\n{digest}\n"):
            self.assertEqual(broken(installs.check, path, text), [], text)
        for text in ("a==1\n", f"a>=1 \\\n{digest}\n", f"a==1\nb==1 \\\n{digest}\n"):
            self.assertEqual(broken(installs.check, path, text), ["missing-hash"], text)

    def test_examples_are_for_projects_of_others(self):
        self.assertEqual(broken(installs.check, "examples/a/README.md", "pip install a"), [])


class Claims(unittest.TestCase):
    TESTS = (
        File("a.rs", "#[tokio::test]\n#[ignore]\nasync fn holds() {}\nfn helper() {}\n"),
        File("a.py", "    def test_it(self):\n"),
        File("a.test.js", "test('does a thing', () => {});\n"),
    )

    def broken(self, claims, weak=""):
        text = f"# Security\n\n## What holds\n\n{claims}\n\n## What stays weak\n\n{weak}\n"
        found = claims_of(File("SECURITY.md", text), *self.TESTS)
        return sorted(finding.rule for finding in found)

    def test_a_claim_names_a_test_that_exists(self):
        for named in ("`a.rs: holds`", "`a.py: test_it`", "`a.test.js: does a thing`"):
            self.assertEqual(self.broken(f"- It holds.\n  Tested by {named}.\n"), [], named)

    def test_a_claim_without_a_test_is_found(self):
        untested = "- It holds.\n- This, too: `a.rs`.\n"
        self.assertEqual(self.broken(untested), 2 * ["claim-without-test"])
        self.assertEqual(self.broken(""), ["claim-without-test"])

    def test_a_test_that_does_not_exist_is_found(self):
        names = "`a.rs: gone`", "`a.rs: helper`", "`b.rs: holds`", "`a.test.js: does`"
        for named in names:
            self.assertEqual(self.broken(f"- It holds: {named}"), ["unknown-test"], named)

    def test_few_points_stay_weak(self):
        claim = "- It holds: `a.rs: holds`"
        self.assertEqual(self.broken(claim, "- It is so.\n" * 5), [])
        self.assertEqual(self.broken(claim, "- It is so.\n" * 6), ["many-weak-points"])


def claims_of(*files):
    return claims.check(files)


if __name__ == "__main__":
    unittest.main()
