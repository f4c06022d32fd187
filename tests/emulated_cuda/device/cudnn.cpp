// cuDNN: descriptors, sizes and the layout of an RNN's weights.
#include <cudnn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "library.hpp"

using namespace emulated;

namespace {

struct Tensor {
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    std::vector<int> sizes;
    std::vector<int> strides;
};

struct Rnn {
    cudnnRNNMode_t cell;
    cudnnDirectionMode_t direction;
    cudnnDataType_t type;
    int input, hidden, projection, layers;

    int directions() const { return direction == CUDNN_BIDIRECTIONAL ? 2 : 1; }
    int outputs() const { return projection > 0 ? projection : hidden; }
    bool projects() const { return cell == CUDNN_LSTM && projection > 0 && projection != hidden; }
    // Gates, of the input and of the hidden state.
    int products() const { return cell == CUDNN_LSTM ? 8 : cell == CUDNN_GRU ? 6 : 2; }

    std::size_t columns(int layer, int product) const {
        if (product >= products() / 2) return outputs();
        return layer / directions() == 0 ? input : outputs() * directions();
    }
    std::size_t matrix(int layer, int product) const {
        return product == products() ? std::size_t(outputs()) * hidden : hidden * columns(layer, product);
    }
    // The elements of all matrices before one.
    std::size_t before(int layer, int product) const {
        std::size_t found = 0;
        const int each = products() + projects();
        for (int one = 0; one < layer; ++one)
            for (int at = 0; at < each; ++at) found += matrix(one, at);
        for (int at = 0; at < product; ++at) found += matrix(layer, at);
        return found;
    }
    std::size_t bias(int layer, int product) const {
        return before(layers * directions(), 0) + std::size_t(layer * products() + product) * hidden;
    }
};

std::size_t bytes_of(cudnnDataType_t type) {
    return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
}

template <typename Handle>
Tensor &tensor_of(Handle handle) {
    return *reinterpret_cast<Tensor *>(const_cast<void *>(static_cast<const void *>(handle)));
}

const Rnn &rnn_of(cudnnRNNDescriptor_t handle) { return *reinterpret_cast<const Rnn *>(handle); }

void describe(void *handle, cudnnDataType_t type, std::vector<int> sizes) {
    if (handle == nullptr) return;
    Tensor &tensor = tensor_of(handle);
    tensor.type = type;
    tensor.sizes = std::move(sizes);
    tensor.strides.assign(tensor.sizes.size(), 1);
    for (int at = static_cast<int>(tensor.sizes.size()) - 2; at >= 0; --at)
        tensor.strides[at] = tensor.strides[at + 1] * tensor.sizes[at + 1];
}

// The one algorithm that there is, in plain float arithmetic.
template <typename Found>
cudnnStatus_t only_algorithm(int *count, Found *found) {
    *found = {};
    found->status = CUDNN_STATUS_SUCCESS;
    found->determinism = CUDNN_DETERMINISTIC;
    found->mathType = CUDNN_FMA_MATH;
    found->algo = static_cast<decltype(found->algo)>(1);
    *count = 1;
    return CUDNN_STATUS_SUCCESS;
}

}  // namespace

EXPORT size_t cudnnGetVersion() { return CUDNN_VERSION; }

EXPORT size_t cudnnGetCudartVersion() { return 1000 * (CUDART_VERSION / 1000); }

EXPORT cudnnStatus_t cudnnGetProperty(libraryPropertyType what, int *value) {
    *value = what == MAJOR_VERSION ? CUDNN_MAJOR : what == MINOR_VERSION ? CUDNN_MINOR : CUDNN_PATCHLEVEL;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT const char *cudnnGetErrorString(cudnnStatus_t status) {
    return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_EXECUTION_FAILED";
}

EXPORT void cudnnGetLastErrorString(char *message, size_t size) { std::snprintf(message, size, "%s", "emulated"); }

EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    const Call call("cudnnCreate");
    if (noted(call.error()) != 0) return CUDNN_STATUS_NOT_INITIALIZED;
    *handle = reinterpret_cast<cudnnHandle_t>(new Library);
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    delete reinterpret_cast<Library *>(handle);
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    reinterpret_cast<Library *>(handle)->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t *stream) {
    *stream = static_cast<cudaStream_t>(reinterpret_cast<Library *>(handle)->stream);
    return CUDNN_STATUS_SUCCESS;
}

#define DESCRIPTOR(name, Kind)                                                   \
    EXPORT cudnnStatus_t cudnnCreate##name##Descriptor(cudnn##name##Descriptor_t *made) { \
        *made = reinterpret_cast<cudnn##name##Descriptor_t>(new Kind());         \
        return CUDNN_STATUS_SUCCESS;                                             \
    }                                                                            \
    EXPORT cudnnStatus_t cudnnDestroy##name##Descriptor(cudnn##name##Descriptor_t made) { \
        delete reinterpret_cast<Kind *>(made);                                   \
        return CUDNN_STATUS_SUCCESS;                                             \
    }

DESCRIPTOR(Tensor, Tensor)
DESCRIPTOR(Filter, Tensor)
DESCRIPTOR(RNN, Rnn)
DESCRIPTOR(RNNData, Tensor)
DESCRIPTOR(Dropout, Tensor)
DESCRIPTOR(Convolution, Tensor)
DESCRIPTOR(Activation, Tensor)

EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t handle, cudnnDataType_t type, int count, const int sizes[],
                                                const int strides[]) {
    tensor_of(handle) = {type, {sizes, sizes + count}, {strides, strides + count}};
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t handle, int asked, cudnnDataType_t *type, int *count,
                                                int sizes[], int strides[]) {
    const Tensor &tensor = tensor_of(handle);
    *type = tensor.type;
    *count = static_cast<int>(tensor.sizes.size());
    const int given = std::min(asked, *count);
    std::copy_n(tensor.sizes.begin(), given, sizes);
    std::copy_n(tensor.strides.begin(), given, strides);
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t handle, cudnnDataType_t type, cudnnTensorFormat_t, int count,
                                                const int sizes[]) {
    describe(handle, type, {sizes, sizes + count});
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t handle, int asked, cudnnDataType_t *type,
                                                cudnnTensorFormat_t *format, int *count, int sizes[]) {
    const Tensor &tensor = tensor_of(handle);
    *type = tensor.type;
    *format = CUDNN_TENSOR_NCHW;
    *count = static_cast<int>(tensor.sizes.size());
    std::copy_n(tensor.sizes.begin(), std::min(asked, *count), sizes);
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t handle, cudnnRNNAlgo_t, cudnnRNNMode_t cell, cudnnRNNBiasMode_t,
                                              cudnnDirectionMode_t direction, cudnnRNNInputMode_t, cudnnDataType_t type,
                                              cudnnDataType_t, cudnnMathType_t math, int32_t input, int32_t hidden,
                                              int32_t projection, int32_t layers, cudnnDropoutDescriptor_t, uint32_t) {
    const Call call("cudnnSetRNNDescriptor", nullptr, std::to_string(math));
    *reinterpret_cast<Rnn *>(handle) = {cell, direction, type, input, hidden, projection, layers};
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t handle, size_t *bytes) {
    const Rnn &rnn = rnn_of(handle);
    *bytes = rnn.bias(rnn.layers * rnn.directions(), 0) * bytes_of(rnn.type);
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t handle, int32_t layer, size_t, const void *weights,
                                             int32_t product, cudnnTensorDescriptor_t matrix, void **matrix_at,
                                             cudnnTensorDescriptor_t bias, void **bias_at) {
    const Rnn &rnn = rnn_of(handle);
    auto *base = static_cast<char *>(const_cast<void *>(weights));
    const std::size_t each = bytes_of(rnn.type);
    const bool is_projection = product == rnn.products();
    if (is_projection && !rnn.projects()) {
        if (matrix_at != nullptr) *matrix_at = nullptr;
        if (bias_at != nullptr) *bias_at = nullptr;
        return CUDNN_STATUS_SUCCESS;
    }
    const int rows = is_projection ? rnn.outputs() : rnn.hidden;
    const int columns = static_cast<int>(rnn.matrix(layer, product)) / rows;
    describe(matrix, rnn.type, {1, rows, columns});
    describe(bias, rnn.type, {1, rnn.hidden, 1});
    if (matrix_at != nullptr) *matrix_at = base + rnn.before(layer, product) * each;
    if (bias_at != nullptr) *bias_at = is_projection ? nullptr : base + rnn.bias(layer, product) * each;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t, cudnnForwardMode_t, cudnnRNNDataDescriptor_t,
                                               size_t *workspace, size_t *reserve) {
    if (workspace != nullptr) *workspace = 1 << 20;
    if (reserve != nullptr) *reserve = 1 << 20;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, size_t *bytes) {
    *bytes = 1 << 10;
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t, cudnnHandle_t handle, float, void *states, size_t,
                                               unsigned long long) {
    // Without dropout there are no states to begin.
    if (states == nullptr) return CUDNN_STATUS_SUCCESS;
    const auto *library = reinterpret_cast<const Library *>(handle);
    return static_cast<cudnnStatus_t>(launched("cudnnSetDropoutDescriptor", library, CUDNN_STATUS_EXECUTION_FAILED));
}

// Settings that change nothing here.
#define SETTING(function) \
    EXPORT int function##_setting() __asm__(#function); \
    EXPORT int function##_setting() { return 0; }

SETTING(cudnnSetConvolutionNdDescriptor)
SETTING(cudnnSetConvolutionGroupCount)
SETTING(cudnnSetActivationDescriptor)
SETTING(cudnnSetRNNDataDescriptor)
SETTING(cudnnRestoreDropoutDescriptor)

EXPORT cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t, cudnnMathType_t math) {
    const Call call("cudnnSetConvolutionMathType", nullptr, std::to_string(math));
    return CUDNN_STATUS_SUCCESS;
}

EXPORT cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                            const cudnnFilterDescriptor_t, const cudnnConvolutionDescriptor_t,
                                                            const cudnnTensorDescriptor_t, const int, int *count,
                                                            cudnnConvolutionFwdAlgoPerf_t *found) {
    return only_algorithm(count, found);
}

EXPORT cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, const cudnnFilterDescriptor_t,
                                                                 const cudnnTensorDescriptor_t, const cudnnConvolutionDescriptor_t,
                                                                 const cudnnTensorDescriptor_t, const int, int *count,
                                                                 cudnnConvolutionBwdDataAlgoPerf_t *found) {
    return only_algorithm(count, found);
}

EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                                   const cudnnTensorDescriptor_t,
                                                                   const cudnnConvolutionDescriptor_t,
                                                                   const cudnnFilterDescriptor_t, const int, int *count,
                                                                   cudnnConvolutionBwdFilterAlgoPerf_t *found) {
    return only_algorithm(count, found);
}

// With `cudnn.benchmark` torch has cuDNN try its algorithms: this one takes a kernel to try.
EXPORT cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t handle, const cudnnTensorDescriptor_t, const void *,
                                                            const cudnnFilterDescriptor_t, const void *,
                                                            const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t,
                                                            void *, const int, int *count, cudnnConvolutionFwdAlgoPerf_t *found,
                                                            void *, size_t) {
    launched("cudnnFindConvolutionForwardAlgorithmEx", reinterpret_cast<const Library *>(handle), 0);
    return only_algorithm(count, found);
}

EXPORT cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t handle, const cudnnFilterDescriptor_t, const void *,
                                                                 const cudnnTensorDescriptor_t, const void *,
                                                                 const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t,
                                                                 void *, const int, int *count,
                                                                 cudnnConvolutionBwdDataAlgoPerf_t *found, void *, size_t) {
    launched("cudnnFindConvolutionBackwardDataAlgorithmEx", reinterpret_cast<const Library *>(handle), 0);
    return only_algorithm(count, found);
}

EXPORT cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t handle, const cudnnTensorDescriptor_t, const void *,
                                                                   const cudnnTensorDescriptor_t, const void *,
                                                                   const cudnnConvolutionDescriptor_t,
                                                                   const cudnnFilterDescriptor_t, void *, const int, int *count,
                                                                   cudnnConvolutionBwdFilterAlgoPerf_t *found, void *, size_t) {
    launched("cudnnFindConvolutionBackwardFilterAlgorithmEx", reinterpret_cast<const Library *>(handle), 0);
    return only_algorithm(count, found);
}

// Workspaces are not needed. Where the size stands among the arguments differs; it is the last of each.
#define NO_WORKSPACE(function, ...)                              \
    EXPORT int function##_size(__VA_ARGS__, std::size_t *bytes) __asm__(#function); \
    EXPORT int function##_size(__VA_ARGS__, std::size_t *bytes) { \
        *bytes = 0;                                              \
        return 0;                                                \
    }

NO_WORKSPACE(cudnnGetConvolutionForwardWorkspaceSize, void *, void *, void *, void *, void *, int)
NO_WORKSPACE(cudnnGetConvolutionBackwardDataWorkspaceSize, void *, void *, void *, void *, void *, int)
NO_WORKSPACE(cudnnGetConvolutionBackwardFilterWorkspaceSize, void *, void *, void *, void *, void *, int)
NO_WORKSPACE(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, void *, int, int, void *, void *, void *, void *, void *)
NO_WORKSPACE(cudnnGetBatchNormalizationBackwardExWorkspaceSize, void *, int, int, void *, void *, void *, void *, void *, void *,
             void *)
NO_WORKSPACE(cudnnGetBatchNormalizationTrainingExReserveSpaceSize, void *, int, int, void *, void *)
