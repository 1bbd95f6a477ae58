// Counts what a training step takes from the heap, by standing in front of the C library's
// functions. Not under sanitizers, which stand there themselves; nor what oneDNN takes for each
// product and gives back, which nobody can spare it.
#include <cstring>

#include <dlfcn.h>

#ifdef __has_feature  // clang
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEADCOUNT_IS_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEADCOUNT_IS_SANITIZED
#endif
#if defined(HEADCOUNT_IS_SANITIZED) || !defined(__GLIBC__)
#define HEADCOUNT_COUNTS_ALLOCATIONS 0
#else
#define HEADCOUNT_COUNTS_ALLOCATIONS 1
#endif

#include "catch.hpp"
#include "support/toy.hpp"
#include "train/trainer.hpp"

#if HEADCOUNT_COUNTS_ALLOCATIONS

namespace {
thread_local bool counting = false;
thread_local std::size_t taken_bytes = 0, taken_times = 0;

void count(std::size_t bytes, void* caller) {
  if (!counting) return;
  Dl_info library;
  if (::dladdr(caller, &library) != 0 && std::strstr(library.dli_fname, "libdnnl") != nullptr)
    return;
  taken_bytes += bytes;
  ++taken_times;
}
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  count(n * bytes, __builtin_return_address(0));
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count(bytes, __builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  count(bytes, __builtin_return_address(0));
  *to = __libc_memalign(alignment, bytes);
  return *to ? 0 : 12;
}
}

namespace headcount {
namespace {

struct Taken {
  std::size_t bytes, times;
};
template <class Work>
Taken taken_by(const Work& work) {
  taken_bytes = taken_times = 0;
  counting = true;
  work();
  counting = false;
  return {taken_bytes, taken_times};
}

TEST_CASE("forward and backward take nothing from the heap once they have run") {
  auto config = toy_config();
  config.dropout = 0.2;
  config.pattern_dropout = 0.1;
  for (const auto residual :
       {Residual::plain, Residual::none, Residual::scaled_stream, Residual::scaled_sublayer})
    for (const auto norm : {NormPlacement::pre, NormPlacement::post, NormPlacement::none}) {
      config.norm = norm;
      config.residual = residual;
      const Model<float> model(config);
      const auto parameters = toy_parameters(model, 1);
      Parameters<float> gradient(model.layout());
      auto treatment = HeadTreatment<float>::intact(model.heads());
      treatment.gate.at(model.heads().all().front()) = 0.5F;  // gates cost a matrix of their own
      const ToyTask task;
      const Batch batch = task.training_batch(1, 1, 90);
      const PackedTokens input{batch.input.tokens, batch.input.offsets};
      ModelWorkspace<float> workspace;
      std::vector<RowLoss<float>> rows;
      const std::vector<float> weights(batch.targets.size(), 1);
      ModelPass<float> pass;
      pass.treatment = &treatment;
      pass.training = true;
      pass.gate_gradients = true;
      const auto work = [&] {
        model.forward(parameters, input, pass, workspace);
        auto logits = workspace.logits.view();
        cross_entropy<float>(logits, batch.targets, weights.data(), rows);
        model.backward(parameters, input, pass, logits, workspace, &gradient);
      };
      CHECK(taken_by(work).bytes > 10000);  // the counter counts
      const auto taken = taken_by(work);
      CHECK(taken.bytes == 0);
      CHECK(taken.times == 0);
    }
}

TEST_CASE("a step takes from the heap its batch and its report alone") {
  const ToyTask task;
  const Model<float> model(toy_config());
  auto parameters = toy_parameters(model, 1);
  const auto treatment = HeadTreatment<float>::intact(model.heads());
  ThreadTeam team(1);
  TrainConfig config;
  config.steps = 9;
  config.batch_tokens = 400;
  config.shards = 2;
  config.schedule = {ScheduleKind::constant, 0.01, 0, 9};
  Trainer<float> trainer(model, task, config, treatment, team, parameters);
  for (int step = 1; step <= 5; ++step) trainer.step(step);
  const auto batch = taken_by([&] { task.training_batch(0, 6, 400); });
  const auto step = taken_by([&] { trainer.step(6); });
  // The batch, its two shards, and vectors with one entry a layer or shard.
  CHECK(step.bytes < 3 * batch.bytes + 2000);
}

}  // namespace
}  // namespace headcount

#endif
