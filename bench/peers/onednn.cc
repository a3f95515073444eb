// oneDNN. A primitive is made by the first call, with its memory: each function is called with the same arguments again.
#include "bench/peers/peer.h"

#include <memory>
#include <unordered_map>
#include <vector>

#include <dnnl.hpp>

using namespace dnnl;
using Type = memory::data_type;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

static engine &processor()
{
    static engine made(engine::kind::cpu, 0);
    return made;
}

static memory matrix(long rows, long columns, const void *data, Tag tag = Tag::ab, Type type = Type::f32)
{
    return memory(memory::desc({rows, columns}, type, tag), processor(), const_cast<void *>(data));
}

// A primitive and its arguments
struct Call {
    primitive made;
    Arguments arguments;
    int run()
    {
        static stream queue(processor());
        made.execute(queue, arguments);
        queue.wait();
        return 0;
    }
};

static Call product_of(const memory &a, const memory &b, const memory &c)
{
    matmul::primitive_desc described(matmul::desc(a.get_desc(), b.get_desc(), c.get_desc()), processor());
    return {matmul(described), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}};
}

int peer_product(int n, const float *A, const float *B, float *C)
{
    static Call call = product_of(matrix(n, n, A), matrix(n, n, B), matrix(n, n, C));
    return call.run();
}

int peer_product_int8(int n, const unsigned char *A, const signed char *B, int *C)
{
    static Call call = product_of(matrix(n, n, A, Tag::ab, Type::u8), matrix(n, n, B, Tag::ba, Type::s8), matrix(n, n, C, Tag::ab, Type::s32));
    return call.run();
}

int peer_transpose(int n, const float *A, float *B)
{
    static memory from = matrix(n, n, A), to = matrix(n, n, B, Tag::ba);
    static Call call = {reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
    return call.run();
}

static Call softmax_of(const memory &a, const memory &b)
{
    softmax_forward::primitive_desc described(softmax_forward::desc(prop_kind::forward_inference, a.get_desc(), 1), processor());
    return {softmax_forward(described), {{DNNL_ARG_SRC, a}, {DNNL_ARG_DST, b}}};
}

int peer_softmax(int rows, int columns, const float *A, float *B)
{
    static Call call = softmax_of(matrix(rows, columns, A), matrix(rows, columns, B));
    return call.run();
}

static Call layernorm_of(const memory &a, const memory &scale, const memory &shift, const memory &b)
{
    auto flags = normalization_flags::use_scale | normalization_flags::use_shift;
    layer_normalization_forward::desc wanted(prop_kind::forward_inference, a.get_desc(), 1e-5f, flags);
    layer_normalization_forward::primitive_desc described(wanted, processor());
    return {layer_normalization_forward(described), {{DNNL_ARG_SRC, a}, {DNNL_ARG_SCALE, scale}, {DNNL_ARG_SHIFT, shift}, {DNNL_ARG_DST, b}}};
}

static memory vector_of(long count, const float *data)
{
    return memory(memory::desc({count}, Type::f32, Tag::a), processor(), const_cast<float *>(data));
}

int peer_layernorm(int rows, int columns, const float *A, const float *gamma, const float *beta, float *B)
{
    static Call call = layernorm_of(matrix(rows, columns, A), vector_of(columns, gamma), vector_of(columns, beta), matrix(rows, columns, B));
    return call.run();
}

// The weights are put into the order that the library likes best, once: a network keeps them in it.
static Call conv2d_of(const float *X, const float *W, float *Y)
{
    memory x(memory::desc({1, 64, 58, 58}, Type::f32, Tag::nhwc), processor(), const_cast<float *>(X));
    memory w(memory::desc({64, 64, 3, 3}, Type::f32, Tag::hwio), processor(), const_cast<float *>(W));
    memory y(memory::desc({1, 64, 56, 56}, Type::f32, Tag::nhwc), processor(), Y);
    memory::desc any({64, 64, 3, 3}, Type::f32, Tag::any);
    convolution_forward::desc wanted(prop_kind::forward_inference, algorithm::convolution_direct, x.get_desc(), any, y.get_desc(), {1, 1}, {0, 0}, {0, 0});
    convolution_forward::primitive_desc described(wanted, processor());
    memory ordered(described.weights_desc(), processor());
    stream queue(processor());
    reorder(w, ordered).execute(queue, w, ordered);
    queue.wait();
    return {convolution_forward(described), {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, ordered}, {DNNL_ARG_DST, y}}};
}

int peer_conv2d(const float *X, const float *W, float *Y)
{
    static Call call = conv2d_of(X, W, Y);
    return call.run();
}
