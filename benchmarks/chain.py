"""Forward-backward and Viterbi on a dense lattice: label pairs per second, compared with NumPy and the peak.

    cmake -S native -B build/native -DDUILIAN_BENCHMARKS=ON && cmake --build build/native -t benchmark_peak
    python benchmarks/chain.py --labels 40 --plot chain.png --peak build/native/benchmark_peak

A pair of labels costs forward-backward three multiply-adds (forward, backward, pair marginals) and Viterbi
one addition and one maximum. The peak is what registers alone can do; without `--peak` it is left out.
"""

from __future__ import annotations

import argparse
import subprocess

import numpy as np

from duilian import _native
from duilian.lattice import Chain, Lattice
from measure import Row, best_seconds, show


def numpy_forward_backward(state: np.ndarray, between: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Straightforward version: scaled, vectorised over labels."""
    length, labels = state.shape
    e, matrix = np.exp(state - state.max(axis=1, keepdims=True)), np.exp(between)
    alpha, beta, scale = np.empty_like(e), np.ones_like(e), np.empty(length)
    for t in range(length):
        alpha[t] = e[t] * (alpha[t - 1] @ matrix if t else 1.0)
        scale[t] = alpha[t].sum()
        alpha[t] /= scale[t]
    pairs = np.zeros((labels, labels))
    for t in range(length - 1, 0, -1):
        message = e[t] * beta[t] / scale[t]
        pairs += np.outer(alpha[t - 1], message)
        beta[t - 1] = matrix @ message
    return np.log(scale).sum() + state.max(axis=1).sum(), alpha * beta, pairs * matrix


def numpy_viterbi(state: np.ndarray, between: np.ndarray) -> list[int]:
    length, labels = state.shape
    delta, back = state[0], np.empty((length, labels), np.int64)
    for t in range(1, length):
        scores = delta[:, None] + between
        back[t] = scores.argmax(axis=0)
        delta = scores.max(axis=0) + state[t]
    path = [int(delta.argmax())]
    for t in range(length - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return path[::-1]


def peak_rows(program: str, forward_backward: float, viterbi: float) -> list[Row]:
    """The machine's peak for both algorithms, and how close Duilian comes to it."""
    found = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    multiply_adds, add_maxima = (float(each) for each in found)
    million = 1e6
    return [
        (
            "forward-backward, peak",
            multiply_adds / 3 / million,
            f"three multiply-adds a pair; Duilian reaches {300 * forward_backward / multiply_adds:.0f} %",
        ),
        (
            "Viterbi, peak",
            add_maxima / million,
            f"an addition and a maximum a pair; Duilian reaches {100 * viterbi / add_maxima:.0f} %",
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--length", type=int, default=2000)
    parser.add_argument("--plot")
    parser.add_argument("--peak", help="the program benchmark_peak")
    options = parser.parse_args()
    labels, length = options.labels, options.length
    rng = np.random.default_rng(1)
    state, between = rng.normal(size=(length, labels)), rng.normal(size=(labels, labels))
    chain = Chain(Lattice.complete(length, [labels]), state.ravel(), [between])

    log_z, units, _ = numpy_forward_backward(state, between)
    assert abs(chain.log_partition() - log_z) < 1e-6
    np.testing.assert_allclose(chain.unit_marginals().reshape(length, labels), units, atol=1e-9)
    assert (chain.best_path().states - chain.lattice.first[:-1]).tolist() == numpy_viterbi(state, between)

    pairs = labels * labels * (length - 1)
    ours = pairs / best_seconds(chain.unit_marginals, 30)
    viterbi = pairs / best_seconds(chain.best_path, 30)
    theirs = pairs / best_seconds(lambda: numpy_forward_backward(state, between), 5)
    their_viterbi = pairs / best_seconds(lambda: numpy_viterbi(state, between), 5)
    million = 1e6
    rows: list[Row] = [
        ("forward-backward, Duilian", ours / million, ""),
        ("forward-backward, NumPy", theirs / million, f"Duilian is {ours / theirs:.1f} × as fast"),
        ("Viterbi, Duilian", viterbi / million, ""),
        ("Viterbi, NumPy", their_viterbi / million, f"Duilian is {viterbi / their_viterbi:.1f} × as fast"),
    ]
    if options.peak:
        rows += peak_rows(options.peak, ours, viterbi)
    show(
        f"{labels} labels, {length} units, kernels: {_native.kernel_set()}",
        "M label pairs/s",
        rows,
        options.plot,
    )


if __name__ == "__main__":
    main()
