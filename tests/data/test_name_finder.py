"""Names found by what people type: parts of words in any script, and the one name that is meant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import foretime as ft
from foretime.data.name_finder import NameFinder
from foretime.data.spelling import fold
from foretime.data.vocabulary import Vocabulary
from foretime.errors import QuestionError

NAMES = [
    "Angela Merkel", "Ángel Gurría", "Côte d'Ivoire", "Straße (Köln)", "İstanbul", "Office of Angela Merkel", "Oslo",
    "中华人民共和国", "الأمم المتحدة", "Fête 🎉", "Łódź", "Police (India)",
]  # fmt: skip
ALIASES = {"中华人民共和国": ["China", "PRC"], "Oslo": ["Kristiania"]}


@pytest.fixture(scope="module")
def finder() -> NameFinder:
    return NameFinder(Vocabulary("entity", NAMES), ALIASES)


def found(finder: NameFinder, words: str) -> list[str]:
    weight = np.arange(len(finder.vocabulary))
    return [finder.vocabulary.name(hit.id) for hit in finder.search(words, weight).page(100)]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("ang", ["Ángel Gurría", "Angela Merkel", "Office of Angela Merkel"]),
        ("ANGELA M", ["Angela Merkel", "Office of Angela Merkel"]),
        ("merkel angela", ["Office of Angela Merkel", "Angela Merkel"]),
        ("cote", ["Côte d'Ivoire"]),
        ("ivoire", ["Côte d'Ivoire"]),
        ("koln", ["Straße (Köln)"]),
        ("STRASSE", ["Straße (Köln)"]),
        ("istanbul", ["İstanbul"]),
        ("ngela", ["Office of Angela Merkel", "Angela Merkel"]),
        ("人民", ["中华人民共和国"]),
        ("المتحدة", ["الأمم المتحدة"]),
        ("الامم", ["الأمم المتحدة"]),
        ("🎉", ["Fête 🎉"]),
        ("lodz", ["Łódź"]),
        ("india pol", ["Police (India)"]),
        ("(india)", ["Police (India)"]),
        ("chin", ["中华人民共和国"]),
        ("nobody", []),
    ],
)
def test_parts_of_words_in_any_order_and_script_are_enough(finder: NameFinder, words: str, names: list[str]):
    assert found(finder, words) == names


def test_the_best_match_comes_first():
    names = ["x Iran x", "Tirana", "Iran", "Iranian", "Bank of Iran", "Irania"]
    finder = NameFinder(Vocabulary("entity", names))
    assert found(finder, "iran") == ["Iran", "Irania", "Iranian", "Bank of Iran", "x Iran x", "Tirana"], (
        "the whole name, its beginning, the beginning of a word, a part of one"
    )


def test_a_name_that_is_found_by_its_alias_says_so(finder: NameFinder):
    weight = np.zeros(len(NAMES), dtype=np.int64)
    assert [hit.alias for hit in finder.search("kristiania", weight).page(5)] == ["Kristiania"]
    assert [hit.alias for hit in finder.search("oslo", weight).page(5)] == [None]


texts = st.text(st.sampled_from("abÁáßİ _中人ال🎉é́\u200bﬁ"), max_size=6)


@given(st.lists(texts, min_size=1, max_size=12, unique=True), st.text(st.sampled_from("abáß 中人ا🎉"), max_size=4))
def test_a_search_finds_what_a_plain_loop_finds(names: list[str], words: str):
    finder = NameFinder(Vocabulary("entity", names))
    wanted = {name for name in names if all(word in fold(name) for word in fold(words).split())}
    hits = finder.search(words, np.zeros(len(names), dtype=np.int64))
    page = [finder.vocabulary.name(hit.id) for hit in hits.page(100)]
    assert set(page) == wanted
    assert len(page) == len(hits.rows) == len(wanted), "each once"
    assert [finder.vocabulary.name(hit.id) for hit in hits.page(2, 1)] == page[1:3]


@given(st.text(st.characters(codec=None), max_size=12))
def test_folding_twice_is_folding_once(text: str):
    assert fold(fold(text)) == fold(text)
    assert fold(text).encode().decode() == fold(text), "whatever a request may hold, its folded form is a text"


@pytest.mark.parametrize(
    ("given_", "name"),
    [
        ("angela merkel", "Angela Merkel"),
        ("  Angela   MERKEL ", "Angela Merkel"),
        ("Angela_Merkel", "Angela Merkel"),
        ("Cote d'Ivoire", "Côte d'Ivoire"),
        ("Co\u0302te d'Ivoire", "Côte d'Ivoire"),
        ("Os\u200blo", "Oslo"),
        ("ＯＳＬＯ", "Oslo"),
        ("china", "中华人民共和国"),
    ],
)
def test_a_name_that_differs_only_in_its_spelling_is_taken(finder: NameFinder, given_: str, name: str):
    taken = finder.resolve(given_)
    assert taken is not None
    assert (taken.given, taken.name) == (given_, name)
    assert taken.alias == (given_ == "china")
    assert finder.id(given_) == NAMES.index(name)
    assert finder.resolve(name) is None, "the very name needs no word"


def test_where_several_names_may_be_meant_they_are_listed():
    finder = NameFinder(Vocabulary("entity", ["US", "us", "United States"]), {"United States": ["U.S.", "us"]})
    assert finder.resolve("us") is None, "the very name counts before all others"
    with pytest.raises(ft.QuestionError, match="entity 'Us' may be any of 'US', 'us', 'United States'; write the one"):
        finder.resolve("Us")


def test_an_unknown_name_is_compared_with_those_that_are_spelt_alike(finder: NameFinder):
    with pytest.raises(ft.QuestionError, match="unknown entity 'Angela Merkle'; did you mean 'Angela Merkel'"):
        finder.resolve("Angela Merkle")
    many = NameFinder(Vocabulary("entity", [*(f"name {number}" for number in range(3_000)), "Angela Merkel"]))
    assert "'Angela Merkel'" in many.suggest("Angela Merkle"), "in a large vocabulary too"
    assert many.suggest("zzz") == many.suggest("") == ""


def test_new_names_that_are_nearly_old_ones_are_found(finder: NameFinder):
    assert finder.alike(["oslo", "Bergen", "PRC", "", "\u200b"]) == {"oslo": "Oslo", "PRC": "中华人民共和国"}


@pytest.mark.parametrize("others", [0, 2_500])
def test_a_misspelt_alias_is_suggested(others: int) -> None:
    names = ["Oslo", *(f"town {number}" for number in range(others))]
    finder = NameFinder(Vocabulary("entity", names), {"Oslo": ["Kristiania"]})
    with pytest.raises(QuestionError, match="unknown entity 'Kristianai'; did you mean 'Kristiania'"):
        finder.resolve("Kristianai")
    assert finder.id("Kristiania") == 0
