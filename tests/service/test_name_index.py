"""Names found by what people type: beginnings of words, without accents, in any case."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretime.data.vocabulary import Vocabulary
from foretime.service.names import NameIndex, fold

NAMES = [
    "Angela Merkel",
    "Ángel Gurría",
    "Côte d'Ivoire",
    "Straße (Köln)",
    "İstanbul",
    "Office of Angela Merkel",
    "Oslo",
]


@pytest.fixture(scope="module")
def index() -> NameIndex:
    return NameIndex(Vocabulary("entity", NAMES), np.arange(len(NAMES)))


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("ang", ["Ángel Gurría", "Angela Merkel", "Office of Angela Merkel"]),
        ("ANGELA M", ["Angela Merkel", "Office of Angela Merkel"]),
        ("cote", ["Côte d'Ivoire"]),
        ("ivoire", ["Côte d'Ivoire"]),
        ("koln", ["Straße (Köln)"]),
        ("STRASSE", ["Straße (Köln)"]),
        ("istanbul", ["İstanbul"]),
        ("ngela", []),
    ],
)
def test_the_beginning_of_any_word_is_enough(index: NameIndex, prefix: str, found: list[str]):
    assert [one.name for one in index.search(prefix, 10).names] == found


def test_an_unknown_name_is_compared_with_those_that_begin_alike(index: NameIndex):
    assert "'Angela Merkel'" in index.suggest("Angela Merkle")
    assert index.suggest("zzz") == ""
    assert index.suggest("") == ""


@given(st.lists(st.text(max_size=8), min_size=1, max_size=12, unique=True), st.text(max_size=3), st.integers(0, 3))
def test_pages_are_parts_of_what_a_plain_search_finds(names: list[str], prefix: str, offset: int):
    index = NameIndex(Vocabulary("entity", names), np.zeros(len(names), dtype=np.int64))
    whole = {name for name in names if fold(name).startswith(fold(prefix).strip())}
    found = index.search(prefix, 100)
    assert whole <= {one.name for one in found.names}
    assert found.total == len(found.names) == len({one.name for one in found.names})
    assert index.search(prefix, 2, offset).names == found.names[offset : offset + 2]
