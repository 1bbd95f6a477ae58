#pragma once

namespace headcount::bench {

// The most float arithmetic that so many threads of this machine do at once: independent fused
// multiply-adds out of registers, in the widest vectors the processor has. GFLOP/s, median of a few
// rounds; NaN where it is not known how.
double fma_peak_gflops(int threads);

}  // namespace headcount::bench
