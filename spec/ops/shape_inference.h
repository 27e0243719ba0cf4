// Shape rules of the defined ops, one function per rule; the op table names them. Each checks every
// constraint of its op and returns the result shape. Documents: operation semantics chapters 4 to
// 14 ("must reject"), hlo-format chapters 4.0 and 4.4.
#pragma once

#include "absl/status/statusor.h"
#include "spec/ops/op_table.h"

namespace assay {

// Structural.
absl::StatusOr<Shape> InferAsWritten(
    const OpSite& site);  // parameter, constant: any shape the text gives
absl::StatusOr<Shape> InferTuple(const OpSite& site);
absl::StatusOr<Shape> InferGetTupleElement(const OpSite& site);
absl::StatusOr<Shape> InferIdentity(const OpSite& site);  // copy, opt-barrier, domain
absl::StatusOr<Shape> InferBitcast(const OpSite& site);
absl::StatusOr<Shape> InferIota(const OpSite& site);

// Element-wise.
absl::StatusOr<Shape> InferUnary(const OpSite& site);
absl::StatusOr<Shape> InferComponentUnary(
    const OpSite& site);  // abs, real, imag: complex gives its component type
absl::StatusOr<Shape> InferPredicateUnary(const OpSite& site);  // is-finite
absl::StatusOr<Shape> InferBinary(const OpSite& site);
absl::StatusOr<Shape> InferComplex(const OpSite& site);
absl::StatusOr<Shape> InferCompare(const OpSite& site);
absl::StatusOr<Shape> InferSelect(const OpSite& site);
absl::StatusOr<Shape> InferClamp(const OpSite& site);
absl::StatusOr<Shape> InferConvert(const OpSite& site);
absl::StatusOr<Shape> InferReducePrecision(const OpSite& site);
absl::StatusOr<Shape> InferBitcastConvert(const OpSite& site);

// Data movement.
absl::StatusOr<Shape> InferBroadcast(const OpSite& site);
absl::StatusOr<Shape> InferReshape(const OpSite& site);
absl::StatusOr<Shape> InferTranspose(const OpSite& site);
absl::StatusOr<Shape> InferReverse(const OpSite& site);
absl::StatusOr<Shape> InferSlice(const OpSite& site);
absl::StatusOr<Shape> InferPad(const OpSite& site);
absl::StatusOr<Shape> InferConcatenate(const OpSite& site);
absl::StatusOr<Shape> InferDynamicSlice(const OpSite& site);
absl::StatusOr<Shape> InferDynamicUpdateSlice(const OpSite& site);

// Contractions, linear algebra and transforms.
absl::StatusOr<Shape> InferDot(const OpSite& site);
absl::StatusOr<Shape> InferRaggedDot(const OpSite& site);
absl::StatusOr<Shape> InferScaledDot(const OpSite& site);
absl::StatusOr<Shape> InferConvolution(const OpSite& site);
absl::StatusOr<Shape> InferCholesky(const OpSite& site);
absl::StatusOr<Shape> InferTriangularSolve(const OpSite& site);
absl::StatusOr<Shape> InferFft(const OpSite& site);
// False for the backward forms and for sparse operands, whose result is as written.
bool IsPlainConvolution(const Attributes& attributes);

// Random numbers.
absl::StatusOr<Shape> InferRng(const OpSite& site);
absl::StatusOr<Shape> InferRngBitGenerator(const OpSite& site);
absl::StatusOr<Shape> InferRngGetAndUpdateState(const OpSite& site);

// Reductions.
absl::StatusOr<Shape> InferReduce(const OpSite& site);
absl::StatusOr<Shape> InferReduceWindow(const OpSite& site);
absl::StatusOr<Shape> InferSelectAndScatter(const OpSite& site);
absl::StatusOr<Shape> InferScan(const OpSite& site);

// Gather, scatter, sort, map.
absl::StatusOr<Shape> InferGather(const OpSite& site);
absl::StatusOr<Shape> InferScatter(const OpSite& site);
absl::StatusOr<Shape> InferSort(const OpSite& site);
absl::StatusOr<Shape> InferTopK(const OpSite& site);
absl::StatusOr<Shape> InferMap(const OpSite& site);

// Dynamic sizes.
absl::StatusOr<Shape> InferGetDimensionSize(const OpSite& site);
absl::StatusOr<Shape> InferSetDimensionSize(const OpSite& site);
absl::StatusOr<Shape> InferDynamicReshape(const OpSite& site);

// Batch normalisation.
absl::StatusOr<Shape> InferBatchNormTraining(const OpSite& site);
absl::StatusOr<Shape> InferBatchNormInference(const OpSite& site);
absl::StatusOr<Shape> InferBatchNormGrad(const OpSite& site);

// Control flow and calls.
absl::StatusOr<Shape> InferWhile(const OpSite& site);
absl::StatusOr<Shape> InferConditional(const OpSite& site);
absl::StatusOr<Shape> InferCall(const OpSite& site);
absl::StatusOr<Shape> InferFusion(const OpSite& site);

// Collectives.
absl::StatusOr<Shape> InferAllGather(const OpSite& site);
absl::StatusOr<Shape> InferAllGatherStart(const OpSite& site);
absl::StatusOr<Shape> InferAllReduce(const OpSite& site);  // and its start
absl::StatusOr<Shape> InferReduceScatter(const OpSite& site);
absl::StatusOr<Shape> InferAllToAll(const OpSite& site);
absl::StatusOr<Shape> InferRaggedAllToAll(const OpSite& site);
absl::StatusOr<Shape> InferCollectiveBroadcast(const OpSite& site);
absl::StatusOr<Shape> InferCollectivePermute(const OpSite& site);
absl::StatusOr<Shape> InferCollectivePermuteStart(const OpSite& site);
absl::StatusOr<Shape> InferStartedResult(
    const OpSite& site);  // all-gather-done, collective-permute-done: element 1
absl::StatusOr<Shape> InferDeviceId(const OpSite& site);  // replica-id, partition-id

// Communication with the host and between programs, asynchronous work.
absl::StatusOr<Shape> InferAfterAll(const OpSite& site);
absl::StatusOr<Shape> InferAddDependency(const OpSite& site);
absl::StatusOr<Shape> InferCopyStart(const OpSite& site);
absl::StatusOr<Shape> InferCopyDone(const OpSite& site);
absl::StatusOr<Shape> InferInfeed(const OpSite& site);
absl::StatusOr<Shape> InferOutfeed(const OpSite& site);
absl::StatusOr<Shape> InferSend(const OpSite& site);
absl::StatusOr<Shape> InferSendDone(const OpSite& site);
absl::StatusOr<Shape> InferRecv(const OpSite& site);
absl::StatusOr<Shape> InferRecvDone(const OpSite& site);
absl::StatusOr<Shape> InferAsyncStart(const OpSite& site);
absl::StatusOr<Shape> InferAsyncUpdate(const OpSite& site);
absl::StatusOr<Shape> InferAsyncDone(const OpSite& site);

}  // namespace assay
