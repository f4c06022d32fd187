// Functions of cuDNN that launch a kernel.
//
// Declared without its headers: of their arguments only the handle is looked at, and the caller of a C function takes the
// others away.
#include "library.hpp"

using namespace emulated;

namespace {

constexpr int kFailed = 5000;

}  // namespace

#define LAUNCH(function) \
    EXPORT int function(const Library *library) { return launched(#function, library, kFailed); }

LAUNCH(cudnnRNNForward)
LAUNCH(cudnnRNNBackwardData_v8)
LAUNCH(cudnnRNNBackwardWeights_v8)
LAUNCH(cudnnConvolutionForward)
LAUNCH(cudnnConvolutionBackwardData)
LAUNCH(cudnnConvolutionBackwardFilter)
LAUNCH(cudnnConvolutionBiasActivationForward)
LAUNCH(cudnnBatchNormalizationForwardTrainingEx)
LAUNCH(cudnnBatchNormalizationForwardInference)
LAUNCH(cudnnBatchNormalizationBackwardEx)
LAUNCH(cudnnPoolingForward)
