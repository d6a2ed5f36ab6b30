#!/usr/bin/env python3
"""Writes the SVG files of `system.txt`. With `--check` it fails if a file is out of date."""

import re
import sys
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

# For each theme: text, second lines, lines, and the fill and the border of each style of box.
THEMES = {
    "light": {
        "text": "#1f2328",
        "muted": "#59636e",
        "plain": ("#ffffff", "#b7c0ca"),
        "code": ("#f3f5f8", "#8c959f"),
        "store": ("#ddf4ff", "#0969da"),
        "agent": ("#f6effc", "#8250df"),
        "inner": ("#ffffff", "#8250df"),
        "arrow": "#6e7781",
        "strong": "#0969da",
        "live": "#8250df",
    },
    "dark": {
        "text": "#f0f6fc",
        "muted": "#9ea7b3",
        "plain": ("#0d1117", "#4b535d"),
        "code": ("#1b2129", "#6e7681"),
        "store": ("#10243e", "#4493f8"),
        "agent": ("#241a38", "#ab7df8"),
        "inner": ("#0d1117", "#ab7df8"),
        "arrow": "#8b949e",
        "strong": "#4493f8",
        "live": "#ab7df8",
    },
}
VECTORS = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
END = re.compile(r"(\w+)\.(left|right|top|bottom)([+-]\d+)?")


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.exit(f"expected no argument or --check, got {' '.join(sys.argv[1:])}")
    stale = []
    for layout in layouts((HERE / "system.txt").read_text()):
        for theme, colors in THEMES.items():
            suffix = "" if layout["name"] == "wide" else f"-{layout['name']}"
            path = HERE / f"system{suffix}-{theme}.svg"
            svg = drawing(layout, colors)
            if not is_check:
                path.write_text(svg)
            elif not path.exists() or path.read_text() != svg:
                stale.append(path.name)
    if stale:
        sys.exit(f"{', '.join(stale)}: out of date, run docs/pictures/draw.py")


def layouts(text):
    """The layouts of the text: their boxes by name, and their arrows."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        try:
            if line.startswith("["):
                name, width, height = line.strip("[]").split()
                found.append(
                    {"name": name, "size": (int(width), int(height)), "boxes": {}, "arrows": []}
                )
            elif words[0] == "box":
                title, _, second = " ".join(words[7:]).partition("|")
                found[-1]["boxes"][words[2]] = (
                    words[1],
                    *map(int, words[3:7]),
                    title.strip(),
                    second.strip(),
                )
            else:
                found[-1]["arrows"].append((words[1], words[2], words[3], " ".join(words[4:])))
        except (ValueError, IndexError):
            sys.exit(f"system.txt:{number}: expected a layout, a box or an arrow, got {line!r}")
    return found


def drawing(layout, colors):
    width, height = layout["size"]
    shapes = [element("title", "The parts of Smartspace")]
    for each in layout["boxes"].values():
        shapes += box(colors, *each)
    for each in layout["arrows"]:
        shapes += arrow(layout, colors, *each)
    # A margin of 2, so that borders are not cut.
    size = {"viewBox": f"-2 -2 {width + 4} {height + 4}", "font-family": FONT}
    body = "\n" + "\n".join(shapes) + "\n"
    return element("svg", body, xmlns="http://www.w3.org/2000/svg", **size) + "\n"


def box(colors, style, x, y, width, height, title, second):
    fill, border = colors[style]
    # The title of a box with boxes inside stands at its left edge.
    middle = x + (44 if style == "agent" else width // 2)
    baseline = y + height // 2 + (-3 if second else 6)
    look = {"fill": fill, "stroke": border, "stroke-width": 1.5}
    font = {"font-size": 17, "font-weight": 600, "text-anchor": "middle", "fill": colors["text"]}
    if style in ("code", "agent") and title.islower():
        font["font-family"] = MONO
    shapes = [
        element("rect", x=x, y=y, width=width, height=height, rx=9, **look),
        element("text", escape(title), x=middle, y=baseline, **font),
    ]
    if second:
        shapes.append(label(middle, baseline + 21, second, colors, "middle"))
    return shapes


def arrow(layout, colors, style, start, end, text):
    x, y, leaves = point(layout, start)
    end_x, end_y, arrives = point(layout, end)
    middle_x = (x + end_x) // 2
    middle_y = (y + end_y) // 2
    gap = 4  # Between the head of an arrow and a box.
    end_x += arrives[0] * gap
    end_y += arrives[1] * gap
    if style == "both":
        x += leaves[0] * gap
    corner = ""
    if x != end_x and y != end_y:
        corner = f" L{end_x} {y}" if leaves[0] else f" L{x} {end_y}"
    color = colors[style if style in ("strong", "live") else "arrow"]
    look = {"fill": "none", "stroke": color, "stroke-width": 2}
    shapes = [element("path", d=f"M{x} {y}{corner} L{end_x} {end_y}", **look)]
    shapes.append(head(end_x, end_y, arrives, color))
    if style == "both":
        shapes.append(head(x, y, leaves, color))
    if text.startswith("<"):
        shapes.append(label(x - 9, middle_y + 5, text[1:].strip(), colors, "end"))
    elif text and leaves[0]:
        shapes.append(label(middle_x, y - 9, text, colors, "middle"))
    elif text:
        shapes.append(label(x + 9, middle_y + 5, text, colors, "start"))
    return shapes


def point(layout, end):
    """The point at which an arrow touches a box, and the direction away from the box."""
    name, side, offset = END.fullmatch(end).groups()
    _, x, y, width, height, _, _ = layout["boxes"][name]
    shift = int(offset or 0)
    away_x, away_y = VECTORS[side]
    across = {-1: x, 0: x + width // 2 + shift, 1: x + width}
    down = {-1: y, 0: y + height // 2 + shift, 1: y + height}
    return across[away_x], down[away_y], (away_x, away_y)


def head(x, y, away, color):
    """A triangle whose tip is at this point."""
    back_x = x + away[0] * 10
    back_y = y + away[1] * 10
    side_x = away[1] * 5
    side_y = away[0] * 5
    corners = [(x, y), (back_x + side_x, back_y + side_y), (back_x - side_x, back_y - side_y)]
    return element("polygon", points=" ".join(f"{x},{y}" for x, y in corners), fill=color)


def label(x, y, text, colors, anchor):
    font = {"font-size": 14, "text-anchor": anchor, "fill": colors["muted"]}
    return element("text", escape(text), x=x, y=y, **font)


def element(name, body="", **attributes):
    words = "".join(f' {key}="{escape(str(value))}"' for key, value in attributes.items())
    return f"<{name}{words}>{body}</{name}>" if body else f"<{name}{words}/>"


if __name__ == "__main__":
    main()
