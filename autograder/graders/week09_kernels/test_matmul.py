"""Hidden graders for `matmul`."""

import pytest

from autograder.authors import expect


@pytest.fixture
def product(agree):
    """Compare results within the rounding errors of float32 sums."""
    return agree.in_kernels.within(5e-5, 1e-5)


@pytest.mark.weight(2)
def test_values(product, draw):
    """Return the product of two matrices that span several tiles."""
    product.matmul(draw.normal(32, 48), draw.normal(48, 16))


@pytest.mark.weight(3)
def test_edges(product, draw):
    """Support M, K and N that are not multiples of `block`."""
    for M, K, N in ((20, 17, 33), (1, 40, 5), (7, 3, 1)):
        product.matmul(draw.normal(M, K), draw.normal(K, N))


def test_many_tiles(product, draw):
    """Compute every tile, even with more than block² rows or columns."""
    product.matmul(draw.normal(270, 3), draw.normal(3, 2))
    product.matmul(draw.normal(2, 3), draw.normal(3, 270))


@pytest.mark.weight(2)
def test_inner_sizes(product, draw):
    """Support an inner size K smaller than `block`, or not a multiple of it."""
    for K in (1, 9, 20):
        product.matmul(draw.normal(16, K), draw.normal(K, 16))


def test_other_blocks(product, draw):
    """Return the same product for blocks of 32 and 64."""
    a, b = draw.normal(40, 70), draw.normal(70, 20)
    product.matmul(a, b, block=32)
    product.matmul(a, b, 64)


@pytest.mark.weight(2)
def test_strides(product, views):
    """Support views with any strides as either operand."""
    for a, b in zip(views(9, 20), reversed(views(20, 5)), strict=True):
        product.matmul(a, b)


@pytest.mark.weight(2)
def test_float16_adds_up_in_float32(agree, draw):
    """Accumulate and return the product of float16 matrices in float32."""
    a, b = draw.normal(5, 90).half(), draw.normal(90, 20).half()
    agree.in_kernels.within(1e-4, 1e-5).matmul(a, b)


@pytest.mark.weight(2)
def test_tiles(count, draw):
    """Load and store at most block x block elements at a time."""
    launches = count.matmul(draw.normal(20, 70), draw.normal(70, 9)).launches
    expect(launches, "No kernel is launched.")
    for launch in launches:
        expect(
            launch.largest <= 16 * 16,
            "A load or store covers more than a block x block tile.",
        )


@pytest.mark.weight(2)
def test_inside(stays_inside, draw, views):
    """Load and store only within the three matrices."""
    stays_inside("matmul", draw.normal(20, 17), draw.normal(17, 5))
    stays_inside("matmul", views(9, 20)[1], views(20, 5)[2])


def test_any_order(any_order, product, draw):
    """Do not depend on the order of the programs, which run in parallel on a GPU."""
    a, b = draw.normal(17, 40), draw.normal(40, 18)
    any_order(product, "matmul", a, b)


def test_the_kernel_does_the_work(kernels_alone, draw):
    """Compute the product in the kernel, not in torch."""
    kernels_alone("matmul", draw.normal(20, 17), draw.normal(17, 5))


@pytest.mark.weight(2)
def test_a_gpu_would_take_it(compiles, draw):
    """Write a kernel that compiles for a GPU, not only for the interpreter."""
    a, b = draw.normal(20, 17), draw.normal(17, 5)
    compiles("matmul", a, b)
    compiles("matmul", a.half(), b.half(), block=32)


@pytest.mark.weight(1, elsewhere=4)
def test_device(product, draw, device):
    """Allocate the result on the device of the matrices."""
    product.matmul(draw.normal(9, 17), draw.normal(17, 5))


def test_two_calls(product, draw):
    """Return a new result per call: later calls do not change it."""
    first, second = ((draw.normal(20, 17), draw.normal(17, 19)) for _ in range(2))
    product.in_a_row.matmul(first, second)
