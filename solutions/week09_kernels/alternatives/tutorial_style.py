"""As kernels are often written: one-dimensional grids, pointers that move on, indices modulo a size."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(
    output_ptr, input_ptr, input_row, input_col, output_row, n_cols, BLOCK_SIZE: tl.constexpr
):
    row_idx = tl.program_id(0)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    input_ptrs = input_ptr + row_idx * input_row + col_offsets * input_col
    row = tl.load(input_ptrs, mask=col_offsets < n_cols, other=-float("inf"))
    row = row.to(tl.float32)
    row_minus_max = row - tl.max(row, axis=0)
    numerator = tl.exp(row_minus_max)
    denominator = tl.sum(numerator, axis=0)
    softmax_output = numerator / denominator
    output_ptrs = output_ptr + row_idx * output_row + col_offsets
    tl.store(output_ptrs, softmax_output, mask=col_offsets < n_cols)


def softmax_rows(x):
    n_rows, n_cols = x.shape
    y = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    softmax_kernel[(n_rows,)](
        y, x, x.stride(0), x.stride(1), y.stride(0), n_cols,
        BLOCK_SIZE=triton.next_power_of_2(n_cols), num_warps=4,
    )
    return y


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
):
    # programs in groups of rows, so that tiles of b are found in the cache
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK)
    num_pid_n = tl.cdiv(N, BLOCK)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m

    # rows and columns beyond the edge are loaded again from the beginning, and not stored
    offs_am = (pid_m * BLOCK + tl.arange(0, BLOCK)) % M
    offs_bn = (pid_n * BLOCK + tl.arange(0, BLOCK)) % N
    offs_k = tl.arange(0, BLOCK)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK, other=0.0)
        accumulator += tl.dot(a, b, input_precision="ieee")
        a_ptrs += BLOCK * stride_ak
        b_ptrs += BLOCK * stride_bk

    offs_cm = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_cn = pid_n * BLOCK + tl.arange(0, BLOCK)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, accumulator, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


def matmul(a, b, block=16):
    M, K = a.shape
    K, N = b.shape
    c = torch.empty((M, N), device=a.device, dtype=torch.float32)
    grid = lambda META: (triton.cdiv(M, META["BLOCK"]) * triton.cdiv(N, META["BLOCK"]),)  # noqa: E731
    matmul_kernel[grid](
        a, b, c, M, N, K,
        a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
        BLOCK=block, GROUP_SIZE_M=2,
    )
    return c


@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, n_cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * row_stride
    offsets = tl.arange(0, BLOCK)
    # a running maximum and a running sum for each place of the block; joined at the end
    m = tl.full([BLOCK], -float("inf"), tl.float32)
    s = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + offsets
        x = tl.load(x_ptr + cols * col_stride, mask=cols < n_cols, other=-float("inf"))
        x = x.to(tl.float32)
        m_new = tl.maximum(m, x)
        safe = tl.where(m_new == -float("inf"), 0.0, m_new)
        s = s * tl.exp(m - safe) + tl.exp(x - safe)
        m = m_new
    top = tl.max(m, axis=0)
    safe = tl.where(top == -float("inf"), 0.0, top)
    total = tl.sum(s * tl.exp(m - safe), axis=0)
    tl.store(out_ptr + row, tl.where(total > 0, safe + tl.log(tl.where(total > 0, total, 1.0)), top))


def logsumexp_rows(x, block=64):
    out = x.new_empty(x.shape[0], dtype=torch.float32)
    logsumexp_kernel[(x.shape[0],)](x, out, x.shape[1], x.stride(0), x.stride(1), BLOCK=block)
    return out


@triton.jit
def _attn_fwd_inner(
    acc, l_i, m_i, q, k_ptrs, v_ptrs, offs_m, offs_n, sm_scale, lo, hi, m_keys,
    stride_kn, stride_vn, CAUSAL: tl.constexpr, BLOCK_N: tl.constexpr,
):
    for start_n in range(lo, hi, BLOCK_N):
        cols = start_n + offs_n
        k = tl.load(k_ptrs + start_n * stride_kn, mask=cols[None, :] < m_keys, other=0.0)
        qk = tl.dot(q, k, input_precision="ieee") * sm_scale
        keep = cols[None, :] < m_keys
        if CAUSAL:
            keep = keep & (offs_m[:, None] >= cols[None, :])
        qk = tl.where(keep, qk, -1.0e30)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.where(keep, tl.exp(qk - m_ij[:, None]), 0.0)
        alpha = tl.exp(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs + start_n * stride_vn, mask=cols[:, None] < m_keys, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        m_i = m_ij
    return acc, l_i, m_i


@triton.jit
def _attn_fwd(
    Q, K, V, Out, L, n, m, sm_scale,
    stride_qm, stride_qk, stride_kn, stride_kk, stride_vn, stride_vk, stride_om, stride_ok,
    HEAD: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD)
    q = tl.load(
        Q + offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qk,
        mask=offs_m[:, None] < n, other=0.0,
    )
    k_ptrs = K + offs_n[None, :] * stride_kn + offs_d[:, None] * stride_kk
    v_ptrs = V + offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vk
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - 1.0e30
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    # tiles that lie wholly in the future are left out
    hi = m
    if CAUSAL:
        hi = tl.minimum((start_m + 1) * BLOCK_M, m)
    acc, l_i, m_i = _attn_fwd_inner(
        acc, l_i, m_i, q, k_ptrs, v_ptrs, offs_m, offs_n, sm_scale, 0, hi, m,
        stride_kn, stride_vn, CAUSAL, BLOCK_N,
    )
    acc = acc / l_i[:, None]
    tl.store(
        Out + offs_m[:, None] * stride_om + offs_d[None, :] * stride_ok,
        acc.to(Out.type.element_ty), mask=offs_m[:, None] < n,
    )
    tl.store(L + offs_m, m_i + tl.log(l_i), mask=offs_m < n)


def flash_forward(q, k, v, causal=False, block_m=16, block_n=16):
    n, d = q.shape
    m = k.shape[0]
    o = torch.empty((n, d), device=q.device, dtype=q.dtype)
    lse = torch.empty((n,), device=q.device, dtype=torch.float32)
    _attn_fwd[(triton.cdiv(n, block_m), 1, 1)](
        q, k, v, o, lse, n, m, 1.0 / d**0.5,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1),
        o.stride(0), o.stride(1),
        HEAD=d, CAUSAL=causal, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=4, num_stages=2,
    )
    return o, lse
