"""Hidden graders for `attention_memory`."""

from autograder.authors import expect


def test_full_counts_every_pair(agree, draw):
    """Count n x n scores for full attention."""
    for length in (1, 2, 512, int(draw.integers(3, 5000))):
        agree.exactly.attention_memory(length)
        agree.exactly.attention_memory(length, "full", bytes_per_element=2)


def test_lsh_counts_both_chunks_of_every_round(agree, draw):
    """Count two chunks of keys per query and round, also for queries in the first chunk."""
    for bucket_size, n_hashes in ((4, 1), (16, 3), (7, 8)):
        length = bucket_size * int(draw.integers(5, 60))
        agree.exactly.attention_memory(length, "lsh", bucket_size, n_hashes)


def test_every_element_size(agree, draw):
    """Count `bytes_per_element` bytes per score."""
    for size in (1, 2, 8):
        agree.exactly.attention_memory(768, "full", bytes_per_element=size)
        agree.exactly.attention_memory(
            768, kind="lsh", bucket_size=32, n_hashes=2, bytes_per_element=size
        )


def test_defaults(agree, draw):
    """Default to full attention, chunks of 64, one round and float32."""
    length = 64 * int(draw.integers(5, 90))
    agree.exactly.attention_memory(length)
    agree.exactly.attention_memory(length, kind="lsh")
    agree.exactly.attention_memory(length, kind="lsh", n_hashes=5)
    agree.exactly.attention_memory(length, kind="lsh", bucket_size=16)


def test_full_uses_no_buckets_and_no_rounds(agree, draw):
    """Ignore `bucket_size` and `n_hashes` for full attention."""
    length = int(draw.integers(100, 900))
    plain = agree.exactly.attention_memory(length)
    busy = agree.exactly.attention_memory(length, "full", bucket_size=8, n_hashes=6)
    expect(plain == busy, "Full attention should not change with bucket_size or n_hashes.")


def test_length_need_not_fill_its_chunks(agree, draw):
    """Count `seq_len` queries, each with two full chunks of keys, even if a chunk is not full."""
    for length in (1, 63, 1001):
        agree.exactly.attention_memory(
            length, "lsh", bucket_size=10, n_hashes=3, bytes_per_element=2
        )


def test_lsh_can_cost_more_than_full(agree):
    """Return the bytes of LSH attention even if full attention needs fewer bytes."""
    full = agree.exactly.attention_memory(128, "full")
    lsh = agree.exactly.attention_memory(128, "lsh", bucket_size=64, n_hashes=4)
    expect(
        lsh > full, "At length 128, four rounds with chunks of 64 cost more than full attention."
    )


def test_very_long_sequences(agree):
    """Return exact integers of any size."""
    agree.exactly.attention_memory(3 * 10**9 + 1)
    agree.exactly.attention_memory(3 * 10**9 + 1, "lsh", 128, 8)


def test_refuses_an_unknown_kind(submission, refuses):
    """Raise a ValueError for a kind other than "full" and "lsh"."""
    submission.attention_memory(96, "lsh", 8)
    refuses(ValueError).attention_memory(96, "local")
    refuses(ValueError).attention_memory(96, kind="")
