// cuBLAS and cuBLASLt: handles, and products that are timed and not computed.
//
// Declared without their headers: of the arguments of a product only the handle is looked at, and the caller of a C function
// takes the others away.
#include "library.hpp"

using namespace emulated;

namespace {

constexpr int kFailed = 13;
constexpr int kCublasVersion = 130000;

// The layout of cublasLtMatmulHeuristicResult_t: an algorithm, then its workspace and whether it works.
struct Heuristic {
    std::uint64_t algorithm[8];
    std::size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

}  // namespace

#define PRODUCT(function) \
    EXPORT int function(Library *library) { return launched(#function, library, kFailed); }

PRODUCT(cublasSgemm_v2)
PRODUCT(cublasDgemm_v2)
PRODUCT(cublasCgemm_v2)
PRODUCT(cublasZgemm_v2)
PRODUCT(cublasSgemmEx)
PRODUCT(cublasGemmEx)
PRODUCT(cublasSgemmStridedBatched)
PRODUCT(cublasDgemmStridedBatched)
PRODUCT(cublasGemmStridedBatchedEx)
PRODUCT(cublasSgemv_v2)
PRODUCT(cublasDgemv_v2)
PRODUCT(cublasSdot_v2)
PRODUCT(cublasDdot_v2)
PRODUCT(cublasDotEx)

EXPORT int cublasCreate_v2(Library **library) {
    const Call call("cublasCreate");
    if (noted(call.error()) != 0) return kFailed;
    *library = new Library;
    return 0;
}

EXPORT int cublasDestroy_v2(Library *library) {
    const Call call("cublasDestroy");
    delete library;
    return 0;
}

EXPORT int cublasSetStream_v2(Library *library, void *stream) {
    library->stream = stream;
    return 0;
}

EXPORT int cublasGetMathMode(const Library *library, int *mode) {
    *mode = library->math_mode;
    return 0;
}

EXPORT int cublasSetMathMode(Library *library, int mode) {
    const Call call("cublasSetMathMode", nullptr, std::to_string(mode));
    library->math_mode = mode;
    return 0;
}

EXPORT int cublasGetPointerMode_v2(const Library *library, int *mode) {
    *mode = library->pointer_mode;
    return 0;
}

EXPORT int cublasSetPointerMode_v2(Library *library, int mode) {
    library->pointer_mode = mode;
    return 0;
}

EXPORT int cublasSetWorkspace_v2(Library *, void *, std::size_t) { return 0; }
EXPORT int cublasSetSmCountTarget(Library *, int) { return 0; }

EXPORT std::size_t cublasLtGetVersion() { return kCublasVersion; }
EXPORT int cublasLtCreate(Library **library) { return cublasCreate_v2(library); }

#define DESCRIPTION(kind)                                    \
    EXPORT int cublasLt##kind##Create(void **made) {         \
        *made = new char;                                    \
        return 0;                                            \
    }                                                        \
    EXPORT int cublasLt##kind##Destroy(void *made) {         \
        delete static_cast<char *>(made);                    \
        return 0;                                            \
    }                                                        \
    EXPORT int cublasLt##kind##SetAttribute() { return 0; }

DESCRIPTION(MatmulDesc)
DESCRIPTION(MatmulPreference)
DESCRIPTION(MatrixLayout)

EXPORT int cublasLtMatmulAlgoGetHeuristic(Library *, void *, void *, void *, void *, void *, void *, int, Heuristic *found,
                                          int *count) {
    *found = {};
    *count = 1;
    return 0;
}

EXPORT int cublasLtMatmul(Library *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *,
                          void *, void *, void *, const void *, void *, std::size_t, void *stream) {
    Library library;
    library.stream = stream;
    return launched("cublasLtMatmul", &library, kFailed);
}
