"""Measured figures, which the suite prints once more at its end."""

FIGURES = []


def figure(text):
    print(f"  {text}", flush=True)
    FIGURES.append(text)
