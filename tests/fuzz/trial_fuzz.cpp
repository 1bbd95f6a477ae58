// Trial files as they come from anywhere: every object and value is read, the content hashed and
// compared. An input is the file.
#include <filesystem>
#include <functional>
#include <string>

#include "fuzz.hpp"
#include "run/stored_trial.hpp"
#include "store/h5.hpp"
#include "store/reader.hpp"
#include "store/same.hpp"

// HDF5 1.10 forgets some of its memory when it gives up on a damaged file; what this program could
// forget is counted below.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

// It also asks for as much memory as a file says, and lives with being told that there is none.
// Where this program does so, `new` still ends the run.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace headcount {
namespace {

// What there is at a path, in every form that its type has; refusals are answers.
void read_values(const ResultFile& file, const std::string& path) {
  file.shape(path);
  const auto dimensions = file.dimensions(path);
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis) file.dimension_path(path, axis);
  if (!file.has_values(path)) return;
  const auto type = file.type(path);
  if (type == "text")
    file.read_texts(path);
  else if (type.starts_with("float"))
    file.read<double>(path);
  else
    file.read<std::int64_t>(path);
}

void read_attributes(const ResultFile& file, const std::string& path) {
  for (const auto& name : file.attributes(path)) {
    const bool is_text = fuzz::answers([&] { file.attribute_text(path, name); });
    if (!is_text && !fuzz::answers([&] { file.attribute_integer(path, name); }))
      fuzz::answers([&] { file.attribute_real(path, name); });
  }
}

void read_object(const ResultFile& file, const std::string& path) {
  fuzz::answers([&] { read_attributes(file, path); });
  if (!file.is_group(path)) fuzz::answers([&] { read_values(file, path); });
  for (const auto& name : file.children(path))
    read_object(file, path == "/" ? "/" + name : path + "/" + name);
}

}  // namespace
}  // namespace headcount

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headcount;
  static const fuzz::ScratchFile file;
  file.write(fuzz::text_of(data, size));
  const std::filesystem::path path = file.path();
  // One half of the work for one half of the inputs.
  if (std::hash<std::string_view>()(fuzz::text_of(data, size)) % 2 == 0) {
    validate(path);
    fuzz::answers([&] { fuzz::require(same(path, path).empty(), "a file is the same as itself"); });
  } else {
    fuzz::answers([&] { read_object(ResultFile(path), "/"); });
    fuzz::answers([&] { stored_settings(ResultFile(path)); });
  }
  fuzz::require(h5::open_objects(h5::Handle()) == 0, "everything in HDF5 is closed");
  return 0;
}
