"""The extractors: Rutter and its peers, how each is run, and the cache of their texts.

Every extractor is a program that reads a list of INPUT, OUTPUT and URL and writes one text for each
line. Texts are stored below WORK/texts/NAME-VERSION/SET, so a second run extracts nothing again.
"""

import hashlib
import importlib.metadata
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sets import DataSet, Page

HERE = Path(__file__).parent
# An extractor that writes no text for this long is stopped; the page counts as empty.
SECONDS_PER_PAGE = 120


@dataclass(frozen=True)
class System:
    name: str
    version: str
    command: list[str]
    # Whether it reads the bytes of a page as they are; the others get UTF-8.
    reads_bytes: bool = False

    def title(self) -> str:
        return self.name if self.reads_bytes else f"{self.name} {self.version}"


def rutter(program: Path) -> System:
    """Rutter through the bench program; its version is the digest of the program."""
    digest = hashlib.sha256(program.read_bytes()).hexdigest()[:12]
    return System("rutter", digest, [str(program), "texts"], reads_bytes=True)


def peers(rust: Path | None, node: Path | None) -> tuple[list[System], list[str]]:
    """The peers that are installed, and a message for each that is not."""
    found, missing = [], []
    for name in ("trafilatura", "resiliparse"):
        try:
            version = importlib.metadata.version(name)
            found.append(System(name, version, [sys.executable, str(HERE / "texts.py"), name]))
        except importlib.metadata.PackageNotFoundError:
            missing.append(f"{name} is not installed for {sys.executable}")
    manifest = node / "node_modules/@mozilla/readability/package.json" if node else None
    if manifest and manifest.is_file() and shutil.which("node"):
        version = json.loads(manifest.read_text())["version"]
        found.append(System("readability", version, ["node", str(node / "readability.mjs")]))
    else:
        missing.append("readability (@mozilla/readability) is not installed")
    for name in ("rs-trafilatura", "dom_smoothie"):
        if rust and rust.is_file():
            found.append(System(name, _locked_version(name), [str(rust), "texts", name]))
        else:
            missing.append(f"{name} is not built (benches/peers)")
    return found, missing


def _locked_version(name: str) -> str:
    lock = (HERE.parent / "peers/Cargo.lock").read_text()
    return lock.split(f'name = "{name}"\nversion = "', 1)[1].split('"', 1)[0]


def texts(system: System, data: DataSet, work: Path) -> dict[str, str]:
    """The text of every page of a set, by page id; extracts those that are not in the cache."""
    folder = work / "texts" / f"{system.name}-{system.version}" / data.name
    folder.mkdir(parents=True, exist_ok=True)
    outputs = {page.id: folder / f"{page.id}.txt" for page in data.pages}
    started = time.monotonic()
    waiting = [page for page in data.pages if not outputs[page.id].is_file()]
    failed = 0
    while waiting:
        _run(system, waiting, outputs, data.name, work)
        left = [page for page in waiting if not outputs[page.id].is_file()]
        if left:
            # The program stopped at the first page without a text.
            outputs[left[0].id].write_text("")
            failed += 1
            left = left[1:]
        if not left:
            seconds = time.monotonic() - started
            print(f"  {system.title()}: {data.name} in {seconds:.0f} s, failed pages: {failed}", flush=True)
        waiting = left
    return {id: path.read_text(encoding="utf-8", errors="replace") for id, path in outputs.items()}


def _run(system: System, pages: list[Page], outputs: dict[str, Path], name: str, work: Path) -> None:
    """Runs the program on these pages until it ends, or until it writes nothing for too long."""
    with tempfile.NamedTemporaryFile("w", suffix=".list", encoding="utf-8") as listing:
        for page in pages:
            source = page.path if system.reads_bytes else _in_utf8(page, name, work)
            listing.write(f"{source}\t{outputs[page.id]}\t{page.url}\n")
        listing.flush()
        quiet = subprocess.DEVNULL
        process = subprocess.Popen([*system.command, listing.name], stdout=quiet, stderr=quiet)
        at, since = 0, time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            while at < len(pages) and outputs[pages[at].id].is_file():
                at, since = at + 1, time.monotonic()
            if time.monotonic() - since > SECONDS_PER_PAGE:
                process.kill()
                process.wait()


def _in_utf8(page: Page, name: str, work: Path) -> Path:
    """The page in UTF-8, decoded as trafilatura's evaluation decodes it where trafilatura is there."""
    path = work / "utf8" / name / f"{page.id}.html"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_decode(page.path.read_bytes()), encoding="utf-8", errors="replace", newline="")
    return path


def _decode(raw: bytes) -> str:
    try:
        from trafilatura.utils import decode_file
    except ImportError:
        return raw.decode("utf-8", "replace")
    text = decode_file(raw)
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def forget_old_texts(system: System, work: Path) -> None:
    """Removes the texts of other versions of a system."""
    for folder in (work / "texts").glob(f"{system.name}-*"):
        if folder.name != f"{system.name}-{system.version}":
            shutil.rmtree(folder)
