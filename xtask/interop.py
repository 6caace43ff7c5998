"""Reads collections with Python's own means, and writes one.

usage: interop.py make FILE     the example pages 250 times, as JSON Lines
       interop.py read FOLDER   harbour.scp, .scp.gz and .scp.zst are there
       interop.py served FOLDER ADDRESS   the same, served there
"""
import gzip
import hashlib
import io
import json
import pathlib
import re
import sys

import zstandard

if sys.argv[1] == "make":
    example = pathlib.Path(__file__).parent.parent / "examples" / "harbour.jsonl"
    pages = example.read_text("utf-8").splitlines()
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for copy in range(250):
            for page in pages:
                # Another word in every copy, so that no file looks like a bomb.
                noise = hashlib.sha512(f"{copy} {page}".encode()).hexdigest() * 3
                page = page.replace("harbour.example/", f"harbour.example/{copy:03}/", 1)
                out.write(page.replace('"text":"', f'"text":"{noise} ') + "\n")
    sys.exit()

folder = pathlib.Path(sys.argv[2])

if sys.argv[1] == "served":
    import http.client
    import subprocess

    import requests

    plain = (folder / "harbour.scp").read_bytes()
    knows = subprocess.run(["curl", "--version"], capture_output=True, check=True).stdout
    for ending in ["scp", "scp.gz", "scp.zst"]:
        stored = (folder / f"harbour.{ending}").read_bytes()
        url = f"http://{sys.argv[3]}/harbour.{ending}"
        # A plain client gets the stored bytes for any Accept-Encoding.
        connection = http.client.HTTPConnection(sys.argv[3])
        connection.request("GET", f"/harbour.{ending}", headers={"Accept-Encoding": "br"})
        answer = connection.getresponse()
        assert answer.read() == stored, f"raw {ending}"
        assert answer.headers["Content-Type"] == "application/scp"
        assert answer.headers["Content-Length"] == str(len(stored))
        coding = {"scp": None, "scp.gz": "gzip", "scp.zst": "zstd"}[ending]
        assert answer.headers["Content-Encoding"] == coding
        curl = ["curl", "--silent", "--show-error", "--fail"]
        assert subprocess.run(curl + [url], capture_output=True).stdout == stored, f"curl {ending}"
        # Where curl knows the coding, it undoes it.
        if coding != "zstd" or b"zstd" in knows:
            got = subprocess.run(curl + ["--compressed", url], capture_output=True, check=True)
            assert got.stdout == plain, f"curl --compressed {ending}"
        # requests undoes gzip always, zstd where its urllib3 can.
        got = requests.get(url, timeout=60)
        if coding == "zstd" and got.content == stored:
            assert zstandard.ZstdDecompressor().decompress(got.content) == plain
        else:
            assert got.content == plain, f"requests {ending}"
        assert requests.get(url, headers={"If-None-Match": got.headers["ETag"]}).status_code == 304
    print("interop: curl, requests and a plain client get the right bytes")
    sys.exit()

plain = (folder / "harbour.scp").read_bytes()

# Every reader gives the whole text.
packed = (folder / "harbour.scp.zst").read_bytes()
stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)).read()
assert stream == plain, "zstandard stream_reader"
assert zstandard.ZstdDecompressor().decompress(packed) == plain, "zstandard one-shot"
assert gzip.decompress((folder / "harbour.scp.gz").read_bytes()) == plain, "gzip"
with gzip.open(folder / "harbour.scp.gz") as file:
    lines = file.read().split(b"\n")
assert len(plain) > 8 << 20, "one job of the compressor proves little"
assert len(lines) == 1 + json.loads(lines[0])["collection"]["rutter"]["pages"]
assert not plain.endswith(b"\n")

# The checksum is what hashing the text without the member gives.
claimed = json.loads(lines[0])["collection"]["checksum"]
bare = re.sub(rb',"checksum":"sha256:[0-9a-f]{64}"', b"", plain, count=1)
assert claimed == "sha256:" + hashlib.sha256(bare).hexdigest(), "checksum"

# A file made by hashing the bytes without the member and then inserting it.
collection = {"id": "by-python", "section": "all", "type": "snapshot",
              "generated": "2026-10-01T00:00:00Z", "version": "0.1"}
def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
pages = [dump(json.loads(line)) for line in lines[1:]]
digest = hashlib.sha256(b"\n".join([dump({"collection": collection})] + pages)).hexdigest()
collection["checksum"] = "sha256:" + digest
text = b"\n".join([dump({"collection": collection})] + pages)
compress = zstandard.ZstdCompressor().compress
(folder / "by-python.scp.zst").write_bytes(compress(text))
damaged = bytearray(text)
damaged[len(text) // 2] ^= 1
(folder / "by-python-damaged.scp.zst").write_bytes(compress(bytes(damaged)))
print("interop: Python reads our files, and we read Python's")
