"""Hidden graders for `PagedCache`. Most tests call a cache several times."""

import pytest

from autograder.authors import expect


@pytest.fixture
def some(draw):
    """Draw keys and values of s positions, (heads, s, d) each."""
    return lambda s, heads=3, d=4: (draw.normal(heads, s, d), draw.normal(heads, s, d))


@pytest.mark.weight(2)
def test_what_was_appended(agree, some):
    """Return everything appended to a sequence, in order."""
    cache = agree.exactly.PagedCache(8, 4, 3, 4)
    for size in (3, 1, 6, 1):
        cache.append("a", *some(size))
        cache.gather("a")


@pytest.mark.weight(2)
def test_sequences_side_by_side(agree, some):
    """Keep sequences separate, even if appends alternate between them."""
    cache = agree.exactly.PagedCache(12, 3, 3, 4)
    for size in (2, 4, 1):
        for seq in ("a", "b", "c"):
            cache.append(seq, *some(size))
    for seq in ("c", "a", "b"):
        cache.gather(seq)


def test_names(agree, some):
    """Accept any hashable object as the name of a sequence."""
    cache = agree.exactly.PagedCache(8, 2, 3, 4)
    names = (0, 17, "text", (3, "b"), -1, None)
    for seq in names:
        cache.append(seq, *some(2))
    for seq in names:
        cache.gather(seq)


def test_sizes(agree, some):
    """Support pages of one position, a single large page, one head and one feature."""
    for num_pages, page_size, heads, d in ((9, 1, 3, 4), (1, 16, 2, 5), (5, 3, 1, 1)):
        cache = agree.exactly.PagedCache(num_pages, page_size, n_kv_heads=heads, d=d)
        for size in (4, 1, 3):
            cache.append("a", *some(size, heads, d))
            cache.attribute("free_pages")
        cache.gather("a")


@pytest.mark.weight(2)
def test_pages_as_needed(agree, some):
    """Fill the last page before allocating a new one, and allocate no more than needed."""
    cache = agree.PagedCache(num_pages=9, page_size=4, n_kv_heads=3, d=4)
    cache.attribute("free_pages")
    for size in (1, 3, 1, 4, 8, 3):
        cache.append("a", *some(size))
        cache.attribute("free_pages")
    cache.append("b", *some(4))
    cache.attribute("free_pages")


@pytest.mark.weight(2)
def test_pages_are_given_back(agree, some):
    """Return all pages of a freed sequence to the pool, for reuse."""
    cache = agree.exactly.PagedCache(6, 2, 3, 4)
    for seq in ("a", "b", "c"):
        cache.append(seq, *some(4))
    for seq in ("b", "a"):
        cache.free(seq)
        cache.attribute("free_pages")
    cache.append("d", *some(6))
    cache.append("c", *some(1))
    for seq in ("c", "d"):
        cache.gather(seq)
    cache.attribute("free_pages")


@pytest.mark.weight(2)
def test_a_name_starts_anew(agree, some):
    """Start a new sequence if a freed name is used again."""
    cache = agree.exactly.PagedCache(4, 2, 3, 4)
    cache.append("a", *some(5))
    cache.free("a")
    cache.append("a", *some(2))
    cache.gather("a")
    cache.attribute("free_pages")


def test_other_sequences_stay_when_one_is_freed(agree, some):
    """Keep other sequences unchanged if a sequence is freed and its pages are overwritten."""
    cache = agree.exactly.PagedCache(6, 2, 3, 4)
    for seq in (1, 2, 1, 2):
        cache.append(seq, *some(2))
    cache.free(1)
    cache.gather(2)
    cache.append(3, *some(6))
    cache.gather(2)
    cache.gather(3)


@pytest.mark.weight(2)
def test_refuses_without_pages(agree, refuses, some):
    """Raise ValueError if too few pages are free; state how many are needed or free."""
    cache = agree.PagedCache(5, 4, 3, 4)
    cache.append("a", *some(9))  # takes three pages and leaves three slots free
    refuses(ValueError, mentions=(12, 21, 3, 6, 2)).of(cache, "append")("a", *some(12))
    refuses(ValueError, mentions=(11, 3, 2)).of(cache, "append")("b", *some(11))
    cache.append("b", *some(8))
    refuses(ValueError, mentions=(4, 13, 1, 0)).of(cache, "append")("a", *some(4))


@pytest.mark.weight(2)
def test_a_refusal_changes_nothing(agree, refuses, some):
    """Keep all sequences, lengths and free pages unchanged if an append is rejected."""
    cache = agree.exactly.PagedCache(4, 4, 3, 4)
    cache.append("a", *some(6))
    cache.append("b", *some(3))
    refuses(ValueError).of(cache, "append")("a", *some(9))
    cache.attribute("free_pages")
    cache.gather("a")
    cache.gather("b")
    cache.append("a", *some(6))
    cache.gather("a")
    cache.attribute("free_pages")


def test_a_refused_name_stays_unknown(agree, refuses, some):
    """Allocate no pages for a rejected new sequence, which may be added again later."""
    cache = agree.exactly.PagedCache(2, 2, 3, 4)
    refuses(ValueError).of(cache, "append")("a", *some(5))
    cache.attribute("free_pages")
    cache.append("a", *some(4))
    cache.gather("a")


def test_filled_to_the_last_place(agree, some):
    """Use all slots of all pages."""
    cache = agree.exactly.PagedCache(3, 4, 3, 4)
    cache.append("a", *some(5))
    cache.append("b", *some(4))
    cache.append("a", *some(3))
    cache.gather("a")
    cache.gather("b")
    cache.attribute("free_pages")


@pytest.mark.weight(2)
def test_caches_are_apart(agree, some):
    """Keep two caches independent."""
    one, other = agree.exactly.PagedCache(4, 2, 3, 4), agree.exactly.PagedCache(4, 2, 3, 4)
    one.append("a", *some(3))
    other.append("a", *some(2))
    one.gather("a")
    other.gather("a")
    other.attribute("free_pages")


def test_views_may_be_appended(agree, draw):
    """Accept transposed keys and expanded values, and leave them unchanged."""
    cache = agree.exactly.PagedCache(4, 3, 3, 4)
    for size in (4, 1):
        cache.append(
            "a", draw.normal(size, 3, 4).transpose(0, 1), draw.normal(3, 1, 4).expand(3, size, 4)
        )
        cache.gather("a")


@pytest.mark.weight(5)
def test_old_positions_are_not_copied(agree, count, some):
    """Allocate only a few pages' worth of memory to append one token to a long sequence."""
    cache = agree.PagedCache(80, 4, 3, 4)
    cache.append("long", *some(250))
    made = count.of(cache.student, "append")("long", *some(1)).largest
    expect(made <= 4 * 3 * 4 * 4, "An append of one token makes a far larger tensor.")
