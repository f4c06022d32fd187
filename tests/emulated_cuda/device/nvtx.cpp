// NVTX: ranges are in the log of calls. NVTX loads this library as it would a profiler's, see the variable in machine.py.
#include <nvtx3/nvToolsExt.h>

#include <atomic>

#include "runtime.hpp"

using namespace emulated;

namespace {

std::atomic<nvtxRangeId_t> last{0};

nvtxRangeId_t start(const char *name) {
    const nvtxRangeId_t id = ++last;
    const Call call("nvtxRangeStartA", nullptr, name);
    return id;
}

void end(nvtxRangeId_t id) { const Call call("nvtxRangeEnd", nullptr, std::to_string(id)); }

int push(const char *name) {
    const Call call("nvtxRangePushA", nullptr, name);
    return 0;
}

int pop() {
    const Call call("nvtxRangePop");
    return 0;
}

template <typename Function>
void put(NvtxFunctionTable table, int id, Function function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t tables) {
    const auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(tables(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
    put(table, NVTX_CBID_CORE_RangeStartA, start);
    put(table, NVTX_CBID_CORE_RangeEnd, end);
    put(table, NVTX_CBID_CORE_RangePushA, push);
    put(table, NVTX_CBID_CORE_RangePop, pop);
    return 1;
}
