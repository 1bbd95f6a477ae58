#include "store/h5.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "store/h5_call.hpp"

namespace headcount::h5 {

static_assert(std::is_same_v<Id, hid_t>);
static_assert(std::endian::native == std::endian::little, "trial files are little-endian");

namespace {

herr_t add_to_stack(unsigned, const H5E_error2_t* error, void* text) {
  auto& stack = *static_cast<std::string*>(text);
  if (error->desc) stack += fmt::format("{}{}", stack.empty() ? "" : ": ", error->desc);
  return 0;
}

// The message of a failure. The lock must be held; this clears the error stack.
std::string message(const Attempt& attempt, const std::string& why) {
  std::string text = fmt::format("cannot {}", attempt.what);
  if (!attempt.name.empty()) text += fmt::format(" {}", attempt.name);
  std::array<char, 1024> name{};
  if (attempt.at != kNone && H5Iget_name(attempt.at, name.data(), name.size()) > 0)
    text += fmt::format(" at {}", name.data());
  if (attempt.at != kNone && H5Fget_name(attempt.at, name.data(), name.size()) > 0)
    text += fmt::format(" of {}", name.data());
  return fmt::format("{}: {}", text, why);
}

// HDF5's callbacks for the memory of a MemoryFile: a vector, which keeps the bytes when HDF5 is
// done with them (H5Fget_file_image gives a superblock with a wrong checksum in 1.10.8).
void* resize(void*, std::size_t size, H5FD_file_image_op_t, void* bytes) {
  auto& vector = *static_cast<std::vector<char>*>(bytes);
  try {
    vector.resize(size);
  } catch (const std::exception&) {
    return nullptr;
  }
  return vector.data();
}

void* provide(std::size_t size, H5FD_file_image_op_t when, void* bytes) {
  return resize(nullptr, size, when, bytes);
}

void* copy(void* to, const void* from, std::size_t size, H5FD_file_image_op_t, void*) {
  return std::memcpy(to, from, size);
}

herr_t keep(void*, H5FD_file_image_op_t, void*) { return 0; }
void* share(void* bytes) { return bytes; }
herr_t keep_shared(void*) { return 0; }

}  // namespace

std::mutex& library() {
  static std::mutex mutex;
  return mutex;
}

void quiet() {
  thread_local const herr_t done = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static_cast<void>(done);
}

void fail(const Attempt& attempt) {
  std::string stack;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, add_to_stack, &stack);
  throw Error(attempt.code, message(attempt, stack));
}

void refuse(const Attempt& attempt, const std::string& why) {
  const std::lock_guard lock(library());
  quiet();
  throw Error(attempt.code, message(attempt, why));
}

Handle property_list(Id list_class, const Attempt& attempt) {
  return Handle(call(attempt, H5Pcreate, list_class));
}

void set_object_rules(const Handle& list, bool has_links, const Attempt& attempt) {
  constexpr unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  call(attempt, H5Pset_obj_track_times, list.id(), false);
  call(attempt, H5Pset_attr_creation_order, list.id(), order);
  if (has_links) call(attempt, H5Pset_link_creation_order, list.id(), order);
}

void Handle::reset() noexcept {
  const Id id = release();
  if (id == kNone) return;
  const std::lock_guard lock(library());
  quiet();
  H5Idec_ref(id);
}

MemoryFile::MemoryFile(const std::filesystem::path& name)
    : bytes_(std::make_unique<std::vector<char>>()) {
  const Attempt attempt{ExitCode::io, kNone, "create", name.native()};
  constexpr std::size_t growth = std::size_t{1} << 20;
  const Handle access = property_list(H5P_FILE_ACCESS, attempt);
  call(attempt, H5Pset_libver_bounds, access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18);
  call(attempt, H5Pset_fapl_core, access.id(), growth, false);
  H5FD_file_image_callbacks_t memory{provide, copy, resize, keep, share, keep_shared, bytes_.get()};
  call(attempt, H5Pset_file_image_callbacks, access.id(), &memory);
  const Handle creation = property_list(H5P_FILE_CREATE, attempt);
  set_object_rules(creation, true, attempt);
  file_ = Handle(call(attempt, H5Fcreate, name.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()));
}

MemoryFile::~MemoryFile() = default;

ReadBytes MemoryFile::bytes() const {
  call({ExitCode::io, file_.id(), "write out the file"}, H5Fflush, file_.id(), H5F_SCOPE_LOCAL);
  return [this](std::uint64_t offset, std::size_t size) {
    return std::string(bytes_->data() + offset, size);
  };
}

std::size_t MemoryFile::size() const { return bytes_->size(); }

std::vector<char> MemoryFile::close() {
  const Attempt attempt{ExitCode::io, file_.id(), "close the file"};
  if (const auto open = open_objects(file_); open != 1)
    throw Error(ExitCode::internal, fmt::format("{} HDF5 identifiers are still open", open - 1));
  bytes();
  const auto size = call(attempt, H5Fget_file_image, file_.id(), nullptr, std::size_t{0});
  call(attempt, H5Fclose, file_.id());
  file_.release();
  bytes_->resize(static_cast<std::size_t>(size));
  return std::move(*bytes_);
}

Handle open_file(const std::filesystem::path& path) {
  const std::string& name = path.native();
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status))
    throw Error(ExitCode::no_input, fmt::format("no such file: {}", name));
  if (!std::filesystem::is_regular_file(status))
    throw Error(ExitCode::no_input, fmt::format("not a regular file: {}", name));
  if (call({ExitCode::no_input, kNone, "read", name}, H5Fis_hdf5, name.c_str()) == 0)
    throw Error(ExitCode::bad_data, fmt::format("{} is not an HDF5 file", name));
  const Attempt attempt{ExitCode::bad_data, kNone, "open", name};
  const Handle access = property_list(H5P_FILE_ACCESS, attempt);
  call(attempt, H5Pset_fapl_sec2, access.id());
  return Handle(call(attempt, H5Fopen, name.c_str(), H5F_ACC_RDONLY, access.id()));
}

ReadBytes bytes_of(const Handle& file) {
  void* descriptor = nullptr;
  call({ExitCode::internal, file.id(), "read bytes"}, H5Fget_vfd_handle, file.id(), H5P_DEFAULT,
       &descriptor);
  return [fd = *static_cast<const int*>(descriptor)](std::uint64_t offset, std::size_t size) {
    std::string bytes(size, '\0');
    const auto count = ::pread(fd, bytes.data(), size, static_cast<off_t>(offset));
    if (count != static_cast<ssize_t>(size))
      throw Error(ExitCode::bad_data, fmt::format("cannot read {} bytes at {}", size, offset));
    return bytes;
  };
}

std::int64_t open_objects(const Handle& file) {
  const Id id = file.id() == kNone ? Id{H5F_OBJ_ALL} : file.id();
  return call({ExitCode::internal, file.id(), "count open objects"}, H5Fget_obj_count, id,
              H5F_OBJ_ALL);
}

Handle create_group(const Handle& parent, const std::string& name) {
  const Attempt attempt{ExitCode::io, parent.id(), "create group", name};
  const Handle creation = property_list(H5P_GROUP_CREATE, attempt);
  set_object_rules(creation, true, attempt);
  return Handle(call(attempt, H5Gcreate2, parent.id(), name.c_str(), H5P_DEFAULT, creation.id(),
                     H5P_DEFAULT));
}

Handle open_group(const Handle& parent, const std::string& path) {
  return Handle(call({ExitCode::bad_data, parent.id(), "open group", path}, H5Gopen2, parent.id(),
                     path.c_str(), H5P_DEFAULT));
}

std::vector<Link> links(const Handle& group, std::size_t limit) {
  struct Found {
    std::vector<Link> links;
    std::size_t limit;
  } found{{}, limit};
  const H5L_iterate_t add = [](hid_t, const char* name, const H5L_info_t* info,
                               void* data) noexcept {
    auto& all = *static_cast<Found*>(data);
    if (all.links.size() == all.limit) return herr_t{1};
    all.links.push_back({name, info->type == H5L_TYPE_HARD, info->corder});
    return herr_t{0};
  };
  const Attempt attempt{ExitCode::bad_data, group.id(), "list the members"};
  // HDF5 1.10 frees a table of links before it is filled when one of a small group is damaged. A
  // search for what is not there decodes them all, and fails in good order.
  constexpr auto nowhere = "no link has this name";
  if (call(attempt, H5Lexists, group.id(), nowhere, H5P_DEFAULT) > 0)
    refuse(attempt, fmt::format("'{}' is no name of a trial file", nowhere));
  const Handle creation(call(attempt, H5Gget_create_plist, group.id()));
  unsigned order = 0;
  call(attempt, H5Pget_link_creation_order, creation.id(), &order);
  const bool ordered = order & H5P_CRT_ORDER_INDEXED;
  // Any other order than the native one makes HDF5 1.10 build a table, which it frees before it is
  // filled when the file is damaged.
  if (call(attempt, H5Literate, group.id(), ordered ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
           H5_ITER_NATIVE, static_cast<hsize_t*>(nullptr), add, static_cast<void*>(&found)) > 0)
    refuse(attempt, fmt::format("there are more than {}", limit));
  std::ranges::sort(found.links, [&](const Link& a, const Link& b) {
    return ordered ? a.order < b.order : a.name < b.name;
  });
  return found.links;
}

ObjectInfo object_info(const Handle& parent, const std::string& path) {
  H5O_info_t info;
  call({ExitCode::bad_data, parent.id(), "look up", path}, H5Oget_info_by_name2, parent.id(),
       path.c_str(), &info, unsigned{H5O_INFO_BASIC}, hid_t{H5P_DEFAULT});
  const ObjectKind kind = info.type == H5O_TYPE_GROUP     ? ObjectKind::group
                          : info.type == H5O_TYPE_DATASET ? ObjectKind::dataset
                                                          : ObjectKind::other;
  return {kind, info.addr};
}

}  // namespace headcount::h5
