"""Hidden graders for `RollingCache`. Most tests call a cache several times."""

import pytest
import torch

from autograder.authors import expect


def filled(cache, pieces):
    """Append the pieces one by one, and compare each result and `length`."""
    for k, v in pieces:
        cache.append(k, v)
        cache.attribute("length")


@pytest.mark.weight(2)
def test_everything_fits(agree, pieces):
    """Return everything in order while there are at most `window` positions."""
    filled(agree.exactly.RollingCache(12), pieces(3, 1, 2, 1))


@pytest.mark.weight(4)
def test_window_rolls(agree, pieces):
    """Keep the last `window` positions, and return them with the new ones."""
    filled(agree.exactly.RollingCache(4), pieces(*[1] * 11))
    filled(agree.exactly.RollingCache(5), pieces(3, 2, 2, 1, 3, 3))


@pytest.mark.weight(4)
def test_sinks_stay(agree, pieces):
    """Keep the first `sinks` positions in addition to the window."""
    filled(agree.exactly.RollingCache(4, 2), pieces(*[1] * 12))
    filled(agree.exactly.RollingCache(3, sinks=4), pieces(5, 1, 2, 3, 1, 1))


@pytest.mark.weight(3)
def test_long_chunks(agree, pieces):
    """Accept more new positions than the window is long, at any time."""
    filled(agree.exactly.RollingCache(4, 2), pieces(11, 1, 2))
    filled(agree.exactly.RollingCache(3), pieces(1, 8, 1, 9, 1))


@pytest.mark.weight(2)
def test_sinks_arrive_in_parts(agree, pieces):
    """Collect the first positions over several appends if the first chunk is shorter."""
    filled(agree.exactly.RollingCache(2, 5), pieces(2, 1, 1, 3, 1, 2, 1))
    filled(agree.exactly.RollingCache(1, 3), pieces(*[1] * 7))


@pytest.mark.weight(2)
def test_positions(agree, pieces):
    """Return the position of each key in the sequence, as int64."""
    cache = agree.exactly.only(lambda result: result[2]).RollingCache(3, 2)
    for k, v in pieces(4, 1, 3, 1, 1, 7, 1):
        cache.append(k, v)


def test_length(agree, pieces):
    """Count all appended positions in `length`, also those that were evicted."""
    cache = agree.RollingCache(window=3, sinks=1)
    cache.attribute("length")
    for k, v in pieces(2, 5, 1, 1):
        cache.append(k, v)
        cache.attribute("length")


def test_no_sinks_by_default(agree, pieces):
    """Keep no sinks by default."""
    filled(agree.exactly.RollingCache(2), pieces(3, 2, 1))


def test_smallest_window(agree, pieces):
    """Support a window of a single position, with sinks or without."""
    filled(agree.exactly.RollingCache(1), pieces(1, 1, 2, 1))
    filled(agree.exactly.RollingCache(1, 1), pieces(1, 1, 3, 1))


def test_other_sizes(agree, pieces):
    """Support sizes of 1, and values wider or narrower than keys."""
    for lead, d, d_v in (((1, 1), 1, 1), ((5, 2), 3, 6), ((1, 3), 6, 2), ((3, 1), 4, 4)):
        filled(agree.exactly.RollingCache(3, 1), pieces(2, 3, 1, lead=lead, d=d, d_v=d_v))


@pytest.mark.weight(4)
def test_memory_token_by_token(injected, pieces):
    """Store at most sinks + window positions, however many single tokens are appended."""
    appended = pieces(*[1] * 60, d=16, d_v=16)
    kept = injected.only(lambda size: size <= 1.3 * 10 * 4 * 192).bytes_after(8, 2, appended)
    expect(kept <= 1.3 * 10 * 4 * 192, "The cache stores more than sinks + window positions.")


@pytest.mark.weight(3)
def test_memory_after_a_long_chunk(injected, pieces):
    """Release the memory of evicted positions: a slice keeps its whole tensor alive."""
    appended = pieces(90, 1, d=16, d_v=16)
    kept = injected.only(lambda size: size <= 1.3 * 10 * 4 * 192).bytes_after(8, 2, appended)
    expect(kept <= 1.3 * 10 * 4 * 192, "The cache keeps the memory of evicted positions alive.")
    appended = pieces(90, d=16, d_v=16)
    kept = injected.only(lambda size: size <= 1.3 * 10 * 4 * 192).bytes_after(8, 2, appended)
    expect(kept <= 1.3 * 10 * 4 * 192, "The cache keeps the memory of evicted positions alive.")


@pytest.mark.weight(2)
def test_work(agree, count, pieces):
    """Append a token with the same work, however many were appended before."""
    (new,), work = pieces(1), []
    for length in (12, 200):
        cache = agree.RollingCache(8, 2)
        for k, v in pieces(*[4] * (length // 4)):
            cache.append(k, v)
        work.append(count.of(cache.student, "append")(*new).flops)
    expect(work[1] <= 1.2 * work[0] + 50, "The work of an append grows with the sequence.")


@pytest.mark.weight(3)
def test_caches_are_apart(agree, pieces):
    """Keep two caches independent, for example one per layer."""
    one, other = agree.exactly.RollingCache(3, 1), agree.exactly.RollingCache(4)
    for first, second in zip(pieces(2, 3, 1), pieces(4, 1, 2), strict=True):
        one.append(*first)
        other.append(*second)
    other.attribute("length")


@pytest.mark.weight(2)
def test_earlier_results_stay(agree, injected, pieces):
    """Leave returned tensors unchanged in later appends."""
    injected.earlier_results(agree.RollingCache(4, 2), pieces(3, 1, 1, 2, 1, 1, 1, 5, 1))


@pytest.mark.weight(2)
def test_input_stays_the_callers(agree, injected, pieces):
    """Store copies: later changes to the appended tensors do not change the cache."""
    first, second, new = pieces(3, 2, 1)
    cache = agree.RollingCache(6, 1)
    injected.impurely.input_stays_the_callers(cache, [first, second], new)


def test_dtypes(agree, pieces, dtype):
    """Keep the dtype of the keys and values."""
    filled(agree.exactly.RollingCache(3, 1), pieces(2, 3, 1))


def test_views_may_be_appended(agree, draw):
    """Accept transposed views as keys and values, and leave them unchanged."""
    cache = agree.exactly.RollingCache(3, 1)
    for size in (4, 1, 2):
        k, v = draw.normal(2, size, 3, 4), draw.normal(4, 3, size, 2)
        cache.append(k.transpose(1, 2), v.permute(3, 1, 2, 0))


@pytest.mark.weight(1, elsewhere=12)
def test_device(agree, pieces, device):
    """Create all tensors on the device of the keys."""
    filled(agree.RollingCache(3, 2), pieces(4, 1, 2, 1))


@pytest.mark.weight(2)
def test_refuses_bad_sizes(submission, refuses, draw):
    """Raise ValueError for a window below 1 or sinks below 0, and state the number."""
    submission.RollingCache(1, 0).append(draw.normal(1, 1, 2, 4), draw.normal(1, 1, 2, 4))
    refuses(ValueError, mentions=0).RollingCache(0)
    refuses(ValueError, mentions=-3).RollingCache(-3, 2)
    refuses(ValueError, mentions=-2).RollingCache(4, sinks=-2)


@pytest.mark.weight(2)
def test_feeds_a_sliding_window(agree, draw):
    """Return, for every new query, all keys of its window and all sinks."""
    keys = draw.normal(1, 1, 14, 4)
    cache = agree.exactly.RollingCache(4, 2)
    end = 0
    for part in keys.split((1, 2, 5, 1, 3, 2), dim=2):
        found, _, positions = cache.append(part, part)
        seen = set(positions.tolist())
        for query in range(end, end + part.shape[2]):
            needed = set(range(max(0, query - 3), query + 1)) | set(range(min(2, query + 1)))
            expect(needed <= seen, "A new query misses a key of its window, or a sink.")
        expect(bool(torch.equal(found, keys[:, :, positions])), "Keys differ from those passed.")
        end += part.shape[2]
