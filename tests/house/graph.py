"""Import graphs of one crate or package, and their cycles.

A module has a path of names: () is the root, ("runs", "turns") is `runs/turns.rs`. A module file
and the folder of the same name are one unit: `runs.rs` with everything in `runs/`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Import:
    """A module names another one, at a line of its file."""

    source: tuple
    target: tuple
    line: int


def file_cycles(imports):
    """Cycles among files. A parent and what lies below it may know each other."""
    edges = {}
    for each in imports:
        if not is_inside(each.source, each.target):
            edges.setdefault(each.source, set()).add(each.target)
    return cycles(edges)


def folder_cycles(imports, modules):
    """Cycles among the folders, and the files beside them, of one parent."""
    parents = {module[:-1] for module in modules if module}
    by_parent = {}
    for each in imports:
        if is_inside(each.source, each.target):
            continue
        depth = common_length(each.source, each.target)
        source, target = each.source[: depth + 1], each.target[: depth + 1]
        by_parent.setdefault(source[:-1], {}).setdefault(source, set()).add(target)
    for edges in by_parent.values():
        # Without a folder it is a cycle among files.
        yield from (found for found in cycles(edges) if parents & found)


def is_inside(one, other):
    """Whether one of the two is the other, or lies in its folder."""
    return common_length(one, other) == min(len(one), len(other))


def common_length(one, other):
    length = 0
    for left, right in zip(one, other):
        if left != right:
            break
        length += 1
    return length


def cycles(edges):
    """The sets of nodes that reach each other, by Tarjan's algorithm without recursion."""
    order, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(edges):
        if root in order:
            continue
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(sorted(edges.get(root, ()))))]
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == order[node]:
                    component = set()
                    while node not in component:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.add(member)
                    if len(component) > 1:
                        found.append(component)
            elif target not in order:
                order[target] = low[target] = len(order)
                stack.append(target)
                on_stack.add(target)
                work.append((target, iter(sorted(edges.get(target, ())))))
            elif target in on_stack:
                low[node] = min(low[node], order[target])
    return found
