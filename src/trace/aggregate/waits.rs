//! Reasons for which a thread waits in an API call, by the name of the function.

/// Reason of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Wait {
    /// The device.
    Synchronization,
    /// Memory.
    Allocation,
}

/// Copies: they block, unless they are called `Async`.
const COPIES: [&str; 3] = ["cudaMemcpy", "cuMemcpy", "hipMemcpy"];

/// Memory of the device, pinned memory of the host, and address space to map it into. Each is also a prefix: `cudaMallocAsync`,
/// `cudaFreeHost`, `cuMemAlloc_v2`.
const ALLOCATIONS: [&str; 27] = [
    "cudaMalloc",
    "cudaFree",
    "cudaHostAlloc",
    "cudaHostRegister",
    "cudaHostUnregister",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemHostAlloc",
    "cuMemHostRegister",
    "cuMemHostUnregister",
    "cuMemCreate",
    "cuMemRelease",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemAddressReserve",
    "cuMemAddressFree",
    "cuMemSetAccess",
    "cuArrayCreate",
    "cuArrayDestroy",
    "hipMalloc",
    "hipFree",
    "hipHostMalloc",
    "hipHostAlloc",
    "hipHostFree",
    "hipHostRegister",
    "hipHostUnregister",
    "hipExtMalloc",
];

impl Wait {
    /// Returns the reason of a wait in the function of a name, of any version: `cudaMemcpy_v3020`.
    pub(super) fn in_call(name: &str) -> Option<Self> {
        let begins = |with: &[&str]| with.iter().any(|with| name.starts_with(*with));
        if name.contains("Synchronize") || (begins(&COPIES) && !name.contains("Async")) {
            return Some(Self::Synchronization);
        }
        begins(&ALLOCATIONS).then_some(Self::Allocation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_depend_on_function_names() {
        let of = |names: &[&str]| names.iter().map(|name| Wait::in_call(name)).collect::<Vec<_>>();
        let synchronise =
            ["cudaDeviceSynchronize_v3020", "cuCtxSynchronize", "hipEventSynchronize", "cudaMemcpy", "cuMemcpyDtoH_v2"];
        assert_eq!(of(&synchronise), [Some(Wait::Synchronization); 5]);
        let allocate = ["cudaMallocAsync_v11020", "cudaFree_v3020", "cudaHostAlloc", "cuMemFree_v2", "hipMalloc"];
        assert_eq!(of(&allocate), [Some(Wait::Allocation); 5]);
        let go_on =
            ["cudaMemcpyAsync_v3020", "cuMemcpyHtoDAsync_v2", "cudaLaunchKernel", "cudaMemsetAsync", "cudaEventQuery"];
        assert_eq!(of(&go_on), [None; 5]);
    }
}
