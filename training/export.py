"""Writes trained trees as flat tables for `classify/model.rs`.

A tree is stored as a perfect tree of a fixed depth: feature ids (u8), thresholds (f32), leaves (i16).
A leaf higher up becomes a subtree whose nodes always go left.
"""

import struct
import zlib

import numpy as np

UNUSED = 255


def below(threshold):
    """The largest f32 that is not above a threshold, so that f32 comparisons agree with LightGBM's."""
    value = np.float32(threshold)
    return value if float(value) <= threshold else np.nextafter(value, np.float32(-np.inf))


def flatten(tree, depth, scale):
    """Features, thresholds and leaves of a tree in heap order, from index 1."""
    n = 1 << depth
    features, thresholds, leaves = [UNUSED] * n, [np.float32(np.inf)] * n, [0] * n

    def put(node, at):
        if at >= n:
            value = round(node["leaf_value"] / scale)
            assert -32768 <= value <= 32767, "a leaf does not fit"
            leaves[at - n] = value
        elif "leaf_value" in node:
            put(node, 2 * at)
            put(node, 2 * at + 1)
        else:
            assert node["decision_type"] == "<="
            features[at], thresholds[at] = node["split_feature"], below(node["threshold"])
            put(node["left_child"], 2 * at)
            put(node["right_child"], 2 * at + 1)

    put(tree["tree_structure"], 1)
    return features, thresholds, leaves


def forest(model, depth, n_outputs):
    """Bytes of a forest: count, depth, outputs, scale, then the trees."""
    trees = model.dump_model()["tree_info"]
    largest = max(abs(leaf) for tree in trees for leaf in leaf_values(tree["tree_structure"]))
    scale = np.float32(2.0 ** np.ceil(np.log2(largest / 32767)))
    out = [struct.pack("<HBBf", len(trees), depth, n_outputs, scale)]
    for tree in trees:
        features, thresholds, leaves = flatten(tree, depth, float(scale))
        out.append(bytes(features))
        out.append(np.asarray(thresholds, "<f4").tobytes())
        out.append(np.asarray(leaves, "<i2").tobytes())
    return b"".join(out)


def leaf_values(node):
    if "leaf_value" in node:
        yield node["leaf_value"]
    else:
        yield from leaf_values(node["left_child"])
        yield from leaf_values(node["right_child"])


def write(path, version, types, first, second, base, depths):
    """Writes the model; returns its checksum."""
    body = struct.pack("<IB", version, len(base)) + bytes(base)
    body += forest(types, depths[0], 7) + forest(first, depths[1], 1) + forest(second, depths[2], 1)
    checksum = zlib.crc32(body)
    with open(path, "wb") as file:
        file.write(b"RUTSEG01" + struct.pack("<I", checksum) + body)
    return checksum
