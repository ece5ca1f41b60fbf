"""Test that new tensors are counted and tensors that are only written to are not."""

import torch

from autograder.worker.monitor.call_hooks import Counting


def largest(run):
    with Counting() as counting:
        run()
    return counting.largest


def test_writing_into_a_tensor_makes_none_of_its_size():
    buffer, places = torch.zeros(100, 4), torch.tensor([3])
    assert largest(lambda: buffer.index_copy_(0, places, torch.ones(1, 4))) == 4


def test_a_tensor_that_is_made_and_then_written_to_counts():
    assert largest(lambda: torch.ones(100, 4).mul_(2)) == 400


def test_a_result_for_which_an_empty_tensor_is_made_to_grow_counts():
    row, column, out = torch.ones(1, 50), torch.ones(50, 1), torch.empty(0)
    assert largest(lambda: torch.mul(row, column, out=out)) == 2500


def test_what_is_written_at_indices_counts_and_not_what_it_is_written_into():
    buffer, new, at = torch.zeros(100, 8), torch.ones(2, 8), torch.tensor([3, 4])
    with Counting() as counting:
        buffer[at] = new
        buffer.index_copy_(0, at, new)
        buffer.scatter_(0, at[:, None].expand(2, 8), new)
    assert counting.counts(0).flops == 3 * new.numel()
