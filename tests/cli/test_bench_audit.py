"""`foretime bench audit` as a shell would call it."""

import json
from pathlib import Path


def test_audit_prints_writes_and_fills_a_page(foretime, small_run: Path, tmp_path: Path):
    page = tmp_path / "audit.md"
    page.write_text("<!-- audit:begin -->\n<!-- audit:end -->\n", encoding="utf-8")
    written = tmp_path / "new" / "audit.json"
    outcome = foretime("bench", "audit", small_run, "--write", written, "--page", page)
    assert outcome.code == 0, outcome.err
    figures = json.loads(written.read_text(encoding="utf-8"))
    for count in figures["counts"].values():
        assert f"{count['mrr']:.4f}" in outcome.out
        assert f"| {count['about']} | {count['mrr']:.4f} |" in page.read_text(encoding="utf-8")
    assert json.loads(foretime("bench", "audit", small_run, "--json").out) == figures


def test_audit_says_what_is_wrong(foretime, small_run: Path, evidence_run: Path, tmp_path: Path):
    assert "it has evidence; an audit needs a run of LCGE" in foretime("bench", "audit", evidence_run).err
    missing = foretime("bench", "audit", small_run, "--page", tmp_path / "no.md")
    assert missing.code == 2
    assert "no.md: no such page; name one that has a place for the table" in missing.err
    (tmp_path / "bare.md").write_text("no marks", encoding="utf-8")
    bare = foretime("bench", "audit", small_run, "--page", tmp_path / "bare.md", "--write", tmp_path / "audit.json")
    assert (bare.code, bare.out) == (2, "")
    assert "bare.md: has no place for the table" in bare.err
    assert not (tmp_path / "audit.json").exists()  # told before anything was counted
    (tmp_path / "latin.md").write_bytes("Côte <!-- audit:begin --> <!-- audit:end -->".encode("latin-1"))
    latin = foretime("bench", "audit", small_run, "--page", tmp_path / "latin.md")
    assert latin.code == 2
    assert "latin.md: not a page in UTF-8 (" in latin.err
    large = foretime("bench", "audit", small_run, "--seed", 10**30)
    assert (large.code, large.out) == (2, "")
    assert f"error: seed {10**30}: should be a whole number from 0 to" in large.err
