"""Features of the second stage, as `classify/context.rs` computes them."""

import numpy as np

NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
WINDOWS = (8, 25)
NAMES = (["score"] + [f"score{d:+d}" for d in NEIGHBOURS] + [f"level{k}" for k in range(1, 6)] + ["landmark", "group", "kept", "before", "share"]
         + [f"window{d}" for d in WINDOWS])


def probability(margin):
    """Maps a margin to 0..1; the same on every machine."""
    return 0.5 + 0.5 * margin / (1.0 + np.abs(margin))


def context(q, links):
    """Context features of one page from the scores of its first stage."""
    n = len(q)
    chars = links[:, 0].astype(np.float64)
    kept = np.concatenate([[0.0], np.cumsum(q * chars)])
    every = np.concatenate([[0.0], np.cumsum(chars)])
    mean = lambda start, end: (kept[end] - kept[start]) / np.maximum(1.0, every[end] - every[start])
    out = [q]
    at = np.arange(n)
    for d in NEIGHBOURS:
        other = at + d
        out.append(np.where((other >= 0) & (other < n), q[np.clip(other, 0, n - 1)], -1.0))
    for k in range(5):
        out.append(mean(links[:, 1 + 2 * k], links[:, 2 + 2 * k]))
    start, end = links[:, 11], links[:, 12]
    out.append(np.where(start < end, mean(start, end), -1.0))
    group = links[:, 13]
    size = np.bincount(group)
    out.append((np.bincount(group, weights=q) / np.maximum(1, size))[group])
    total = kept[-1]
    # Linear between powers of two, as the program computes it.
    bits = np.asarray([total + 1.0], np.float32).view(np.uint32)[0] >> 8
    out.append(np.full(n, bits / 32768.0 - 127.0))
    out.append(kept[:-1] / max(1.0, total))
    out.append(np.full(n, total / max(1.0, every[-1])))
    for d in WINDOWS:
        out.append(mean(np.maximum(0, at - d), np.minimum(n, at + d + 1)))
    return np.column_stack(out).astype(np.float32)
