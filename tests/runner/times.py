"""How long the steps took, and what is left of the time that a change may take."""

from runner.lanes import lanes_of

# The time in which a change must be built and tested.
LIMIT_S = 15 * 60


def print_times(steps):
    print(f"\n{'step':<12} {'seconds':>8} {'processor':>10} {'installing':>11}")
    for step in steps:
        numbers = f"{step.seconds:8.0f} {step.processor:10.0f} {step.installing:11.0f}"
        print(f"{step.name:<12} {numbers}")


def summary(steps, is_whole):
    """The time without installing, and what is left of the limit if everything ran."""
    took = without_installing(steps)
    parts = [f"built and tested in {spoken(took)}"]
    if is_whole:
        left = LIMIT_S - took
        over = f"{spoken(-left)} over {LIMIT_S // 60} min"
        parts.append(over if left < 0 else f"{spoken(left)} are left of {LIMIT_S // 60}")
    installing = sum(step.installing for step in steps)
    if installing >= 1:
        parts.append(f"installing took another {spoken(installing)}")
    return "; ".join(parts)


def without_installing(steps):
    """How long the steps would have taken with everything installed.

    Installing hides behind the build in one lane and delays another, so a plain difference would
    be wrong. This plays the lanes again with the shorter times.
    """
    ends = {}
    lanes = [list(lane) for lane in lanes_of(steps)]
    free = [0.0] * len(lanes)
    while any(lanes):
        for index, lane in enumerate(lanes):
            while lane and all(need in ends for need in known_needs(lane[0], steps)):
                step = lane.pop(0)
                start = max([free[index], *(ends[need] for need in known_needs(step, steps))])
                free[index] = ends[step.name] = start + step.seconds - step.installing
    return max(ends.values(), default=0.0)


def known_needs(step, steps):
    names = {each.name for each in steps}
    return [need for need in step.needs if need in names]


def spoken(seconds):
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
