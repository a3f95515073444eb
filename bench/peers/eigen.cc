// Eigen: expressions that its headers compile.
#include "bench/peers/peer.h"

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Dense>

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Input = Eigen::Map<const Matrix>;
using Output = Eigen::Map<Matrix>;
using InputArray = Eigen::Map<const Eigen::ArrayXf>;
using OutputArray = Eigen::Map<Eigen::ArrayXf>;

int peer_product(int n, const float *A, const float *B, float *C)
{
    Output(C, n, n).noalias() = Input(A, n, n) * Input(B, n, n);
    return 0;
}

int peer_transpose(int n, const float *A, float *B)
{
    Output(B, n, n).noalias() = Input(A, n, n).transpose();
    return 0;
}

int peer_mlp(const float *x, const float *W0, const float *b0, const float *W1, const float *b1, float *y)
{
    Eigen::VectorXf hidden = (Input(W0, 128, 784) * Input(x, 784, 1) + Input(b0, 128, 1)).cwiseMax(0.0f);
    Output(y, 10, 1).noalias() = Input(W1, 10, 128) * hidden + Input(b1, 10, 1);
    return 0;
}

int peer_elementwise(int count, const float *A, float *B)
{
    InputArray a(A, count);
    OutputArray(B, count) = a / (1 + (-(a * 2 + 1)).exp());
    return 0;
}

int peer_row_sum(int rows, int columns, const float *A, float *sums)
{
    Output(sums, rows, 1).noalias() = Input(A, rows, columns).rowwise().sum();
    return 0;
}
