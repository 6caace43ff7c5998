"""Trains the segment classifier: `train.py FEATURES_DIR SETS_DIR DOCS_DIR CORPUS_DIR [OUT]`.

FEATURES_DIR holds a dump of `cargo xtask features` for each set. Prints scores on the tune parts. With OUT,
writes the model there.
"""

import argparse
import hashlib
import os
import pickle

import lightgbm as lgb
import numpy as np

import context
import export
import scores
import sets

SEED = 7
FOLDS = 2
# The margin of segments that are dropped unscored.
UNSCORED = -9.0


def parameters(args, depth, leaves, rate):
    return dict(objective="binary", num_leaves=leaves, max_depth=depth, learning_rate=rate, feature_fraction=0.4,
                data_sample_strategy="goss", top_rate=0.2, other_rate=0.1, min_data_in_leaf=100, lambda_l2=5.0,
                max_bin=63, verbosity=-1, seed=SEED, deterministic=True, force_row_wise=True, num_threads=args.threads)


def fit(params, x, y, w, trees):
    return lgb.train(params, lgb.Dataset(x, y, weight=w), trees)


class Data:
    """Segments of all training pages, one below another."""

    def __init__(self, sets_by_name, *chosen):
        self.pages = [(name, page) for name, parts in sets_by_name.items() for part in chosen for page in parts[part]]
        self.x = np.concatenate([page.rows for _, page in self.pages])
        self.label = np.concatenate([page.label for _, page in self.pages])
        self.page = np.concatenate([np.full(len(page.label), k) for k, (_, page) in enumerate(self.pages)])
        weight = np.concatenate([sets.weights(name, page) for name, page in self.pages])
        self.weight = weight / weight[self.label >= 0].mean()
        self.state = np.concatenate([page.links[:, 14] for _, page in self.pages])
        self.sure = (self.state & sets.SURE) != 0
        # Segments that are dropped unscored teach nothing.
        self.known = (self.label >= 0) & ~self.sure
        self.y = (self.label >= 0.5).astype(np.int8)
        self.starts = np.searchsorted(self.page, np.arange(len(self.pages) + 1))


def page_rows(data, first_page):
    """The features of pages, from any of their scored segments."""
    return np.stack([page.rows[int(np.argmax(page.rows[:, first_page] != 0)), first_page:] for _, page in data.pages])


def page_types(args, data, first_page):
    """Trains the page type model; returns it and out-of-fold scores of all pages."""
    x = page_rows(data, first_page)
    kinds = np.array([sets.TYPES.index(page.kind) if page.kind else -1 for _, page in data.pages])
    weight = np.array([0.25 if name in sets.FRAMES or name == "andy" else 1.0 for name, _ in data.pages])
    params = dict(objective="multiclass", num_class=len(sets.TYPES), num_leaves=12, max_depth=4, learning_rate=0.1,
                  feature_fraction=0.6, min_data_in_leaf=15, lambda_l2=5.0, verbosity=-1, seed=SEED, deterministic=True,
                  force_row_wise=True, num_threads=args.threads)
    known = kinds >= 0
    fold = np.random.RandomState(SEED).randint(0, FOLDS, len(kinds))
    margins = np.zeros((len(kinds), len(sets.TYPES)))
    for k in range(FOLDS):
        chosen = known & (fold != k)
        model = lgb.train(params, lgb.Dataset(x[chosen], kinds[chosen], weight=weight[chosen]), args.type_trees)
        margins[fold == k] = model.predict(x[fold == k], raw_score=True)
    model = lgb.train(params, lgb.Dataset(x[known], kinds[known], weight=weight[known]), args.type_trees)
    wcxb = np.array([name == "wcxb_dev" for name, _ in data.pages])
    right = margins.argmax(1) == kinds
    print(f"page types: out of fold {right[known].mean():.3f}, on wcxb {right[wcxb].mean():.3f}", flush=True)
    return model, context.probability(margins)


def second_rows(data, q, types, base):
    """Rows of the second stage: chosen first-stage features, context, page types."""
    rows = []
    for k, (_, page) in enumerate(data.pages):
        part = slice(data.starts[k], data.starts[k + 1])
        kind = np.repeat(types[k:k + 1], len(page.label), 0)
        rows.append(np.column_stack([page.rows[:, base], context.context(q[part], page.links), kind]).astype(np.float32))
    return np.concatenate(rows)


# How the rules move the threshold of a page, and the least one beside the landmark, as in `classify/threshold.rs`.
KEPT, NAMED, BESIDE = -0.3, 0.4, 0.5
# The landmark of documentation loses nothing but what the rules name: thresholds inside and outside for what the
# rules keep, are undecided about, and name.
DOCUMENTATION = ((-8.0, -2.0), (-4.0, -0.35), (1.0, 2.0))
BESIDE_DOCUMENTATION = 1.0


def best_threshold(margins, chars):
    """The margin above which keeping segments gives the largest expected F1 of a page."""
    likely = 1 / (1 + np.exp(-margins))
    order = np.argsort(-likely)
    kept, right = np.cumsum(chars[order]), np.cumsum((chars * likely)[order])
    half = (2 * right / np.maximum(1e-9, kept + right[-1])).max() / 2
    return np.clip(np.log(half / (1 - half)) if half > 0 else -6.0, -6.0, 0.0)


def thresholds(data, types, margins):
    """The threshold of each segment."""
    out = np.zeros(len(margins))
    for k, (_, page) in enumerate(data.pages):
        part = slice(data.starts[k], data.starts[k + 1])
        state = data.state[part]
        is_outside = (state & sets.LANDMARK) == 0
        has_landmark = not is_outside.all()
        if types[k].argmax() == sets.TYPES.index("documentation"):
            row = np.where(state & sets.NAMED, 2, np.where(state & sets.KEPT, 0, 1))
            chosen = np.asarray(DOCUMENTATION)[row, is_outside.astype(int)]
            out[part] = np.where(is_outside & has_landmark, np.maximum(chosen, BESIDE_DOCUMENTATION), chosen)
            continue
        best = best_threshold(margins[part].astype(np.float64), page.links[:, 0].astype(np.float64))
        chosen = np.where(is_outside & has_landmark, max(best, BESIDE), best)
        out[part] = chosen + np.where(state & sets.NAMED, NAMED, np.where(state & sets.KEPT, KEPT, 0.0))
    return out


class Model:
    """Both stages and the page types, trained on the pages of `data`."""

    def __init__(self, args, data, first_page):
        self.types, types = page_types(args, data, first_page)
        params = parameters(args, args.depth, args.leaves, args.rate)
        fold = np.random.RandomState(SEED + 1).randint(0, FOLDS, len(data.pages))[data.page]
        margins = np.zeros(len(data.y))
        for k in range(FOLDS):
            chosen = data.known & (fold != k)
            model = fit(params, data.x[chosen], data.y[chosen], data.weight[chosen], args.trees[0])
            margins[fold == k] = model.predict(data.x[fold == k], raw_score=True)
        self.first = fit(params, data.x[data.known], data.y[data.known], data.weight[data.known], args.trees[0])
        margins[data.sure] = UNSCORED
        right = ((margins > 0) == data.y)[data.known]
        print(f"stage 1: out of fold {np.average(right, weights=data.weight[data.known]):.4f}", flush=True)
        # The second stage sees the features that matter most to the first; of the page only its type, because
        # there are few pages to learn from.
        gain = self.first.feature_importance("gain")[:first_page]
        self.base = sorted(np.argsort(-gain)[:args.base].tolist())
        rows = second_rows(data, context.probability(margins), types, self.base)
        self.second = fit(params, rows[data.known], data.y[data.known], data.weight[data.known], args.trees[1])

    def margins(self, data, first_page):
        """Page types and the margins of both stages."""
        types = context.probability(self.types.predict(page_rows(data, first_page), raw_score=True))
        first = self.first.predict(data.x, raw_score=True)
        first[data.sure] = UNSCORED
        rows = second_rows(data, context.probability(first), types, self.base)
        return types, first, self.second.predict(rows, raw_score=True)


def report(data, margins, threshold, title):
    """Prints scores of kept segments on each set."""
    by_set = {}
    above = np.where(data.sure, -9.0, margins - threshold)
    for k, (name, page) in enumerate(data.pages):
        here = above[data.starts[k]:data.starts[k + 1]]
        kept = here > 0
        if not kept.any():
            kept[int(np.argmax(here))] = True
        text = "\n".join(text for text, keep in zip(page.texts, kept) if keep)
        by_set.setdefault(name, []).append((page.truth, text))
    lines = []
    for name, pages in by_set.items():
        if name in sets.FRAMES:
            lines.append(f"{name:<14} {len(pages):>4} pages  retention {scores.retention(pages)[0]:.4f} purity {scores.retention(pages)[1]:.4f}")
        else:
            lines.append(f"{name:<14} {len(pages):>4} pages  {scores.score(name, pages)}")
    print(f"{title}\n  " + "\n  ".join(lines), flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("features", "sets", "docs", "corpus"):
        parser.add_argument(name)
    parser.add_argument("out", nargs="?")
    parser.add_argument("--trees", type=int, nargs=2, default=(120, 120))
    parser.add_argument("--type-trees", type=int, default=40)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--leaves", type=int, default=24)
    parser.add_argument("--rate", type=float, default=0.13)
    parser.add_argument("--base", type=int, default=56)
    parser.add_argument("--dump", help="write models and tune margins for experiments")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    loaded = {}
    for name in sets.WEIGHTS:
        source = args.corpus if name == "corpus" else f"{args.docs}/{name}" if name in sets.FRAMES else f"{args.sets}/{name}"
        about, loaded[name] = sets.load(name, args.features, source)
    names = about["features"]
    first_page = next(k for k, name in enumerate(names) if name.startswith("page."))
    train, tune = Data(loaded, "train"), Data(loaded, "tune")
    print(f"train {len(train.pages)} pages, {len(train.y)} segments; tune {len(tune.pages)} pages", flush=True)
    model = Model(args, train, first_page)
    types, first, final = model.margins(tune, first_page)
    report(tune, first, 0.0, "tune, stage 1")
    report(tune, final, thresholds(tune, types, final), "tune, stage 2")
    order = np.argsort(-model.second.feature_importance("gain"))
    labels = [names[k] for k in model.base] + context.NAMES + sets.TYPES
    print("strongest:", ", ".join(labels[k] for k in order[:25]))
    digest = hashlib.sha256()
    for name in sets.WEIGHTS:
        for file in ("features.f32", "links.u32", "segments.jsonl"):
            digest.update(hashlib.sha256(open(f"{args.features}/{name}/{file}", "rb").read()).digest())
    print(f"inputs sha256 {digest.hexdigest()}")
    if args.dump:
        with open(args.dump, "wb") as file:
            pickle.dump((model, tune, types, final), file, 4)
    if args.out:
        # The model of the program learns from both parts.
        model = Model(args, Data(loaded, "train", "tune"), first_page)
        checksum = export.write(args.out, about["version"], model.types, model.first, model.second, model.base,
                                (args.depth,) * 3)
        print(f"{args.out}: {os.path.getsize(args.out)} bytes, checksum {checksum:08x}")


if __name__ == "__main__":
    main()
