"""Labels segments by comparing them with the text a page should give.

A label is the share of a segment that is in the truth: 1 keep, 0 drop, -1 unknown.
"""

import collections
import html.parser
import re

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
GRAM = 4


def words(text):
    return [word.lower() for word in WORD.findall(text)]


def find(window, wanted):
    """Index of a word sequence in a window, or None."""
    n = len(wanted)
    return next((i for i in range(len(window) - n + 1) if window[i:i + n] == wanted), None)


def by_truth(texts, truth):
    """Aligns segments with the truth: long ones by 4-grams, short ones between their neighbours."""
    gold = words(truth)
    index = collections.defaultdict(list)
    for i in range(len(gold) - GRAM + 1):
        index[tuple(gold[i:i + GRAM])].append(i)
    segments = [words(text) for text in texts]
    labels = [-1.0] * len(segments)
    places = [None] * len(segments)
    cursor = 0
    for k, segment in enumerate(segments):
        if len(segment) <= GRAM:
            continue
        grams = [tuple(segment[i:i + GRAM]) for i in range(len(segment) - GRAM + 1)]
        hits = [index.get(gram) for gram in grams]
        labels[k] = sum(hit is not None for hit in hits) / len(hits)
        if labels[k] >= 0.5:
            near = [place for hit in hits if hit for place in hit[:50]]
            places[k] = min(near, key=lambda place: abs(place - cursor))
            cursor = places[k] + len(segment)
    # For each segment the end of the last anchor and the start of the next one.
    before, last = [], None
    for k, segment in enumerate(segments):
        before.append(last)
        if places[k] is not None:
            last = (k, places[k] + len(segment))
    after, last = [None] * len(segments), None
    for k in range(len(segments) - 1, -1, -1):
        after[k] = last
        if places[k] is not None:
            last = (k, places[k])
    drift = None
    for k, segment in enumerate(segments):
        if labels[k] >= 0 or not segment:
            continue
        low = before[k][1] if before[k] and k - before[k][0] <= 40 else None
        high = after[k][1] if after[k] and after[k][0] - k <= 40 else None
        if drift is not None and before[k] and drift[0] == before[k][0]:
            low = drift[1] if low is not None else None
        if low is None and high is None:
            # Far from any anchor: a sequence of three words or more is evidence enough.
            found = find(gold, segment) if len(segment) >= 3 and len(gold) < 20000 else None
            labels[k] = 1.0 if found is not None else 0.0
            continue
        start = max(0, (low if low is not None else high - 60) - 3)
        end = min(len(gold), (high if high is not None else low + 60) + 3, start + 400)
        found = find(gold[start:end], segment)
        labels[k] = 0.0 if found is None else 1.0
        if found is not None and before[k]:
            drift = (before[k][0], start + found + len(segment))
    return labels


def without_copies(texts, labels, truth):
    """Takes the label of copies back: a text that is on the page more often than in the truth is kept as often as there.

    Of copies, those whose neighbours are kept stay, and of equal ones the later: contents and breadcrumbs come first.
    """
    segments = [tuple(words(text)) for text in texts]
    gold = " " + " ".join(words(truth)) + " "
    groups = collections.defaultdict(list)
    for k, segment in enumerate(segments):
        if segment and labels[k] >= 0.5:
            groups[segment].append(k)
    out = list(labels)
    for segment, members in groups.items():
        wanted = gold.count(" " + " ".join(segment) + " ")
        if len(members) <= max(1, wanted):
            continue
        near = lambda k: sum(labels[j] >= 0.5 and segments[j] not in groups_over for j in range(max(0, k - 3), min(len(labels), k + 4)))
        groups_over = {segment}
        for k in sorted(members, key=lambda k: (near(k), k))[:len(members) - max(1, wanted)]:
            out[k] = 0.0
    return out


def by_pieces(texts, keep, drop):
    """Labels only segments that hold a piece that must, or must not, be there."""
    squeeze = lambda text: " ".join(text.split())
    texts = [squeeze(text) for text in texts]
    labels = [-1.0] * len(texts)
    for pieces, value in ((drop, 0.0), (keep, 1.0)):
        for piece in filter(None, map(squeeze, pieces)):
            for k, text in enumerate(texts):
                if piece in text:
                    labels[k] = value
    return labels


def expected_pieces(expected):
    """Pieces of an expectation of the own set that are long enough to be found."""
    pieces = list(expected.get("with", []))
    pieces += [text for _, text in expected.get("headings", [])]
    pieces += expected.get("items", []) + expected.get("cells", [])
    pieces += [text for pair in expected.get("terms", []) for text in pair]
    pieces += [text for text, _ in expected.get("quotes", [])]
    pieces += [line for _, text in expected.get("code", []) for line in text.splitlines()]
    return [piece for piece in pieces if piece and len(piece) >= 8]


class MainText(html.parser.HTMLParser):
    """The text of a documentation page without the elements that `is_frame` names."""

    SILENT = {"script", "style", "noscript", "template", "svg", "title"}

    def __init__(self, is_frame):
        super().__init__(convert_charrefs=True)
        self.is_frame, self.skipping, self.depth, self.parts = is_frame, None, 0, []

    def handle_starttag(self, tag, attrs):
        if self.skipping:
            self.depth += tag == self.skipping
        elif tag in self.SILENT or self.is_frame(tag, dict(attrs)):
            self.skipping, self.depth = tag, 1

    def handle_endtag(self, tag):
        if self.skipping == tag:
            self.depth -= 1
            if self.depth == 0:
                self.skipping = None

    def handle_data(self, data):
        if not self.skipping:
            self.parts.append(data)


def main_text(source, is_frame):
    parser = MainText(is_frame)
    parser.feed(source)
    return " ".join(parser.parts)
