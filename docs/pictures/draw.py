#!/usr/bin/env python3
"""Writes the SVG files of `system.txt`: `draw.py`. With `--check` it fails if a file is out of date."""

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
                found.append({"name": name, "size": (int(width), int(height)), "boxes": {}, "arrows": []})
            elif words[0] == "box":
                title, _, second = " ".join(words[7:]).partition("|")
                found[-1]["boxes"][words[2]] = (words[1], *map(int, words[3:7]), title.strip(), second.strip())
            else:
                found[-1]["arrows"].append((words[1], words[2], words[3], " ".join(words[4:])))
        except (ValueError, IndexError):
            sys.exit(f"system.txt:{number}: expected a layout, a box or an arrow, got {line!r}")
    return found


def drawing(layout, colors):
    width, height = layout["size"]
    shapes = [box(colors, *each) for each in layout["boxes"].values()]
    shapes += [arrow(layout, colors, *each) for each in layout["arrows"]]
    # A margin of 2, so that borders are not cut.
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {width + 4} {height + 4}" font-family="{FONT}">'
    return "\n".join([opening, "<title>The parts of Smartspace</title>", *shapes, "</svg>"]) + "\n"


def box(colors, style, x, y, width, height, title, second):
    fill, border = colors[style]
    # The title of a box with boxes inside stands at its left edge.
    is_outer = style == "agent"
    middle = x + (44 if is_outer else width // 2)
    baseline = y + height // 2 + (-3 if second else 6)
    family = f' font-family="{escape(MONO)}"' if style in ("code", "agent") and title.islower() else ""
    lines = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="9" fill="{fill}" stroke="{border}" stroke-width="1.5"/>',
        f'<text x="{middle}" y="{baseline}" text-anchor="middle" font-size="17" font-weight="600" fill="{colors["text"]}"{family}>{escape(title)}</text>',
    ]
    if second:
        lines.append(label(middle, baseline + 21, second, colors["muted"], "middle"))
    return "\n".join(lines)


def arrow(layout, colors, style, start, end, text):
    x, y, leaves = point(layout, start)
    to_x, to_y, arrives = point(layout, end)
    color = colors.get(style, colors["arrow"]) if style in ("strong", "live") else colors["arrow"]
    gap = 4  # Between an arrow and a box.
    if style == "both":
        x += leaves[0] * gap
    center = (x + to_x) // 2, (y + to_y) // 2
    to_x, to_y = to_x + arrives[0] * gap, to_y + arrives[1] * gap
    corner = "" if x == to_x or y == to_y else f" L{to_x} {y}" if leaves[0] else f" L{x} {to_y}"
    lines = [f'<path d="M{x} {y}{corner} L{to_x} {to_y}" fill="none" stroke="{color}" stroke-width="2"/>']
    lines.append(head(to_x, to_y, arrives, color))
    if style == "both":
        lines.append(head(x, y, leaves, color))
    if text.startswith("<"):
        lines.append(label(x - 9, center[1] + 5, text[1:].strip(), colors["muted"], "end"))
    elif text and leaves[0]:
        lines.append(label(center[0], y - 9, text, colors["muted"], "middle"))
    elif text:
        lines.append(label(x + 9, center[1] + 5, text, colors["muted"], "start"))
    return "\n".join(lines)


def point(layout, end):
    """The point at which an arrow touches a box, and the direction away from the box."""
    name, side, offset = END.fullmatch(end).groups()
    _, x, y, width, height, _, _ = layout["boxes"][name]
    away = VECTORS[side]
    shift = int(offset or 0)
    return (
        x + (width if side == "right" else 0 if side == "left" else width // 2 + shift),
        y + (height if side == "bottom" else 0 if side == "top" else height // 2 + shift),
        away,
    )


def head(x, y, away, color):
    across_x, across_y = away[1] * 5, away[0] * 5
    back_x, back_y = x + away[0] * 10, y + away[1] * 10
    corners = f"{x},{y} {back_x + across_x},{back_y + across_y} {back_x - across_x},{back_y - across_y}"
    return f'<polygon points="{corners}" fill="{color}"/>'


def label(x, y, text, color, anchor):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="14" fill="{color}">{escape(text)}</text>'


if __name__ == "__main__":
    main()
