#!/usr/bin/env python3
"""Makes the weights of the wake gate from the matrix that `wake-bench matrix` writes.

The same matrix gives the same bytes: one thread, a fixed seed, and thresholds that are rounded so
that a comparison of single precision decides as the training did.
"""

import os
import struct
import sys
from pathlib import Path

# Before numpy loads: with several threads the order of sums differs between runs.
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

VERSION = 1
SEED = 7
TREES = 250
LEAVES = 16
LEAF = 255
MOST_BYTES = 64 * 1024


def main():
    if len(sys.argv) != 3:
        sys.exit("expected: train.py MATRIX WEIGHTS")
    matrix, out = Path(sys.argv[1]), Path(sys.argv[2])
    features, answered = read(matrix)
    model = HistGradientBoostingClassifier(
        max_iter=TREES,
        max_leaf_nodes=LEAVES,
        learning_rate=0.07,
        min_samples_leaf=100,
        max_features=0.3,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=SEED,
    )
    model.fit(features, answered)
    weights = write(model, features.shape[1])
    if len(weights) > MOST_BYTES:
        sys.exit(f"expected at most {MOST_BYTES} bytes, got {len(weights)}")
    out.write_bytes(weights)
    print(f"{len(answered)} pairs, {features.shape[1]} features, {len(weights)} bytes")


def read(matrix):
    names = (matrix / "names.txt").read_text().splitlines()
    features = np.fromfile(matrix / "features.f32", dtype="<f4").reshape(-1, len(names))
    return features, np.fromfile(matrix / "answered.u8", dtype="u1")


def write(model, features):
    """The format is described in shared/domain/src/gate/trees.rs."""
    trees = [predictors[0].nodes for predictors in model._predictors]
    base = float(np.ravel(model._baseline_prediction)[0])
    parts = [b"WAKE", struct.pack("<IIIf", VERSION, features, len(trees), base)]
    for nodes in trees:
        values = means(nodes)
        parts.append(struct.pack("<B", len(nodes)))
        for node, value in zip(nodes, values, strict=True):
            if node["is_leaf"]:
                parts.append(struct.pack("<Bf", LEAF, value))
                continue
            places = int(node["feature_idx"]), int(node["left"]), int(node["right"])
            parts.append(struct.pack("<BBBff", *places, below(node["num_threshold"]), value))
    return b"".join(parts)


def means(nodes):
    """The value of each leaf, and of each other node the mean of the leaves below it."""
    values = [0.0] * len(nodes)
    for place in reversed(range(len(nodes))):
        node = nodes[place]
        if node["is_leaf"]:
            values[place] = float(node["value"])
            continue
        left, right = int(node["left"]), int(node["right"])
        counts = int(nodes[left]["count"]), int(nodes[right]["count"])
        total = values[left] * counts[0] + values[right] * counts[1]
        values[place] = total / sum(counts)
    return values


def below(threshold):
    """The largest number of single precision that is not above the threshold."""
    rounded = np.float32(threshold)
    return float(np.nextafter(rounded, np.float32(-np.inf)) if rounded > threshold else rounded)


if __name__ == "__main__":
    main()
