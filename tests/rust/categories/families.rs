//! Names of kernels as profilers tell them, by their category; every category has three or more.

/// Each category, and the names below it.
pub(super) fn families() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    FAMILIES.trim().split("\n\n").map(|family| {
        let (category, names) = family.split_once('\n').expect("names");
        (category, names.lines().map(str::trim).filter(|name| !name.starts_with('#')).collect())
    })
}

const FAMILIES: &str = r"
gemm
    volta_sgemm_64x32_sliced1x4_tn
    ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn
    sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize64x128x64_execute_segment_k_off_kernel__5x_cublas
    sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize96x64x32_cudnn
    nvjet_hsh_128x64_64x6_2x1_v_bz_TNN
    void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_f16_64x64_32x6_nn_align8>(cutlass_80::Params)
    void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int> > >(T1::Params)
    void gemmSN_NN_kernel<float, 256, 4, 2, 8, 4, 4, false>(cublasGemmSmallNParams<float const*>)
    void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>(cublasGemvParams<int>)
    std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, 7>(cublasGemvParams<int>)
    void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasLt::cublasSplitKParams<float>, float const*)
    void cublasLt::epilogue::impl::globalKernel<8, 32, float>(int, cublasLtEpilogue_t, float*)
    Cijk_Ailk_Bljk_HHS_BH_MT128x64x32_MI32x32x8x1_SN_K1.kd
    bmm_Bfloat16_Bfloat16_Fp32_t64x8x128_s4_et64x8_biasM_bN_sm100f
    fused_moe_kernel
    void marlin::Marlin<__half, 4, 8>(int4 const*, int4*)

convolution
    volta_scudnn_128x32_relu_interior_nn_v1
    turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1
    cudnn_train_ampere_scudnn_128x64_stridedB_splitK_small_nn_v1
    sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize64x32x64_kernel_cudnn
    sm86_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_execute_kernel_5x_cudnn
    void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_128x64_16x4>(T1::Params)
    void cutlass::Kernel<cutlass_tensorop_s1688dgrad_analytic_64x64_32x5>(T1::Params)
    void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1>(int, int, float const*, kernel_conv_params)
    void cudnn::winograd_nonfused::winogradForwardOutput4x4<float, float>(WinogradOutputParams<float, float>)
    void cask_cudnn_train::computeOffsetsKernel<false, false>(cask_cudnn_train::ComputeOffsetsParams)
    void fft2d_r2c_32x32<float, false, 1u, true>(float2*, float const*, int, cudnn::reduced_divisor, bool)
    void at::native::im2col_kernel<float>(long, float const*, long)
    void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(float const*)
    miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1
    igemm_fwd_gtcx_nhwc_fp16_bx0_ex0_bt128x64x32

cudnn_rnn_persistent
    void RNN_blockPersist_fp_LSTM<float, float, float, 128>(PersistParams)
    void RNN_blockPersist_fp_LSTM_HMMA<__half, __half, __half, 256>(PersistParams)
    void RNN_blockPersist_bp_GRU<float, float, float, 64>(PersistParams)
    _Z27RNN_blockPersist_fp_RNN_HMMAI6__halfS0_fEviiPT_
    void persistRNN_addBias<float, float>(float*, float const*, int)

cudnn_rnn_step
    void LSTM_elementWise_fp<float, float, float, (cudnnRNNBiasMode_t)2>(int, int, int, int, float const*)
    void LSTM_elementWise_bp1<__half, __half, float>(int, int, __half*, __half*)
    void GRU_elementWise_bp1<float, float, float>(int, int, float*, float*)
    void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)0, (cudnnRNNBiasMode_t)2>(int, int, int)
    _Z19LSTM_elementWise_fpIfffL18cudnnRNNBiasMode_t2EEviiPKT_
    # Cut short, as some tables print them.
    void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)0, (cudnnRNNBiasMode_t)2>(int, int, i

attention
    void pytorch_flash::flash_fwd_splitkv_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 64, 256, 4>>(T1)
    fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>::Params)
    void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<int> > >(T1::Params)
    void vllm::paged_attention_v2_kernel<unsigned short, 128, 16>(float*, float*)
    cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_32_64x64x128_4x1x1_kernel0_0
    void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<2> >(Params)
    _attn_fwd

normalization
    void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::Half, float>(int, float)
    void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float, true, 1>(float, float, cudnnTensorStruct)
    void at::native::batch_norm_collect_statistics_kernel<at::native::InvStd, float>(float*)
    void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, true, false>(float*, float const*)
    void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>(float*, float*)
    void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*, float)
    void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>(long, float, float const*)
    MIOpenBatchNormFwdTrainSpatial

elementwise
    void at::native::vectorized_elementwise_kernel<4, at::native::tanh_kernel_cuda(at::TensorIteratorBase&)>(int)
    _ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEENS_6detail5ArrayIPcLi1EEEEEviT0_T1_
    void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4> >(T1)
    void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, 1, 4>(float)
    void at::native::(anonymous namespace)::kernel::lstm_cell_forward<float, float, long, 2>(float*)
    void vllm::act_and_mul_kernel<c10::Half, &(vllm::silu_kernel<c10::Half>)>(c10::Half*)
    void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)
    void cudnn::ops::scalePackedTensor_kernel<float, float>(long, float*, float)
    void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent<int> >(int)

reduction
    void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float> > >(T3)
    void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensor<float const>, float> >(cublasDotParams<int>)
    void reduce_1Block_kernel<float, 128, 7, cublasGemvTensor<float> >(float const*, float)
    void cub::DeviceReduceSingleTileKernel<cub::DeviceReducePolicy<float>::Policy600, float*>(float*)
    void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >(float*, float const*)
    void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>(float const*, long const*)
    void cudnn::pooling_fw_4d_kernel<float, float, cudnn::maxpooling_func<float> >(cudnnTensorStruct)
    void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*)

layout
    void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3, 64, 64>(float*)
    void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false>(cudnn::ops::nchw2nhwc_params_t<float>)
    void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2>(T1)
    void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<int> >(long, T1)
    void at::native::_scatter_gather_elementwise_kernel<128, 8, at::native::ReduceAdd>(int, T1)
    void at::native::(anonymous namespace)::embedding_backward_kernel<float, float, long>(long*)
    void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<at_cuda_detail::cub::Policy>(unsigned int*)
    void vllm::reshape_and_cache_flash_kernel<__half, __half>(__half const*)
    void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int, int const*)
    batched_transpose_32x32_dword.kd

triton_pointwise
    triton_poi_fused_add_0
    triton_poi_fused_native_layer_norm_1
    triton_poi_fused_mm_2d

triton_reduction
    triton_red_fused_sum_0
    triton_red_fused__softmax_3
    triton_red_fused_cumsum_mean_12

triton_persistent_reduction
    triton_per_fused_native_layer_norm_0
    triton_per_fused_mean_1
    triton_per_fused__softmax_convolution_7

triton_foreach
    triton_for_fused_0
    triton_for_fused_add_1
    triton_for_fused__foreach_copy_2

triton_split_scan
    triton_spl_fused_cumsum_0
    triton_spl_fused_logcumsumexp_1
    triton_split_scan_2

triton_template
    triton_tem_fused_addmm_0
    triton_mm_4
    triton_bmm_11
    triton_flex_attention
    triton_convolution2d_3

nvfuser
    nvfuser_pointwise_f0_c1_r0_g0
    <unnamed>::nvfuser_reduction_f0_c1_r0_g3(<unnamed>::Tensor<float, (int)2, (int)2>)
    CudaCodeGen::kernel1(CudaCodeGen::Tensor<float, 1>)

communication
    ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)
    ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)
    void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)
    void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 8>(c10::BFloat16*)
    void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 2>(AllReduceParams)
    void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)

memory
    Memcpy HtoD (Pageable -> Device)
    Memset (Device)
    [CUDA memcpy DtoD]
    CopyHostToDevice
    __amd_rocclr_fillBufferAligned.kd

other
    at::cuda::(anonymous namespace)::spin_kernel(long)
    my_kernel(float*)
    <<<
    _Z
    _ZN9
";
