"""Lets a position see its own chunk only.

Exercise: lsh_attention
Believes: A chunk is a bucket.
Shows: A bucket that lies across the edge of a chunk loses pairs.
Hint: Draw the sorted positions with the edges of the chunks. What happens to a bucket that is cut
    by an edge?
Rejected by: test_looks_back_one_chunk
Costs: 30 %
"""


def _look_back(chunks, nothing=0):
    return chunks
