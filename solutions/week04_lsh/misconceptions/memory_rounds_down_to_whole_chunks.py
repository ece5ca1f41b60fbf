"""Leaves out the positions after the last full chunk before counting.

Exercise: attention_memory
Believes: A sequence consists of whole chunks.
Shows: Right where the length is divisible by the chunk size, too little elsewhere, and 0 for less than
    one chunk.
Hint: The estimate counts exactly the n given positions. Try a length that does not fill its
    last chunk.
Rejected by: test_length_need_not_fill_its_chunks
Costs: 20 %
Belief: counts_whole_chunks
"""


def attention_memory(seq_len, kind="full", bucket_size=64, n_hashes=1, bytes_per_element=4):
    if kind == "full":
        return seq_len * seq_len * bytes_per_element
    if kind == "lsh":
        in_full_chunks = seq_len // bucket_size * bucket_size
        return n_hashes * in_full_chunks * 2 * bucket_size * bytes_per_element
    raise ValueError(f"kind must be 'full' or 'lsh', not {kind!r}")
