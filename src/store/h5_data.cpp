#include "store/h5_data.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5_hl.h>

#include "store/h5_call.hpp"

namespace headcount::h5 {
namespace {

constexpr std::size_t kDeflateAtBest = 1032;  // zlib's greatest expansion
constexpr std::array kNumbers{Type::int8,    Type::int16,  Type::int32,  Type::int64,
                              Type::uint8,   Type::uint16, Type::uint32, Type::uint64,
                              Type::float32, Type::float64};

Id number_type(Type type) {
  switch (type) {
    case Type::int8:
      return H5T_STD_I8LE;
    case Type::int16:
      return H5T_STD_I16LE;
    case Type::int32:
      return H5T_STD_I32LE;
    case Type::int64:
      return H5T_STD_I64LE;
    case Type::uint8:
      return H5T_STD_U8LE;
    case Type::uint16:
      return H5T_STD_U16LE;
    case Type::uint32:
      return H5T_STD_U32LE;
    case Type::uint64:
      return H5T_STD_U64LE;
    case Type::float32:
      return H5T_IEEE_F32LE;
    case Type::float64:
      return H5T_IEEE_F64LE;
    case Type::float16:
    case Type::text:
    case Type::fixed_text:
      break;
  }
  throw Error(ExitCode::internal, "HDF5 has no such number type");
}

Handle text_type(const Attempt& attempt) {
  Handle type(call(attempt, H5Tcopy, hid_t{H5T_C_S1}));
  call(attempt, H5Tset_size, type.id(), H5T_VARIABLE);
  call(attempt, H5Tset_cset, type.id(), H5T_CSET_UTF8);
  return type;
}

// HDF5 1.10 has no name for it: 5 bits of exponent between the sign and 10 of fraction.
Handle half_type(const Attempt& attempt) {
  Handle type(call(attempt, H5Tcopy, hid_t{H5T_IEEE_F32LE}));
  call(attempt, H5Tset_fields, type.id(), std::size_t{15}, std::size_t{10}, std::size_t{5},
       std::size_t{0}, std::size_t{10});
  call(attempt, H5Tset_ebias, type.id(), std::size_t{15});
  call(attempt, H5Tset_size, type.id(), std::size_t{2});
  return type;
}

// Runs `use` with the HDF5 type.
template <class Use>
auto with_type(Type type, const Attempt& attempt, Use use) {
  if (type != Type::text && type != Type::float16) return use(number_type(type));
  const Handle made = type == Type::text ? text_type(attempt) : half_type(attempt);
  return use(made.id());
}

Handle space_of(const Shape& shape, const Attempt& attempt) {
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  if (sizes.empty()) return Handle(call(attempt, H5Screate, H5S_SCALAR));
  return Handle(call(attempt, H5Screate_simple, static_cast<int>(sizes.size()), sizes.data(),
                     static_cast<const hsize_t*>(nullptr)));
}

Shape shape_of(const Handle& space, const Attempt& attempt) {
  const int axes = call(attempt, H5Sget_simple_extent_ndims, space.id());
  // Not by its class, which HDF5 takes from the file as it is: it may be none of the enumeration.
  if (axes == 0 && call(attempt, H5Sget_simple_extent_npoints, space.id()) == 0)
    refuse(attempt, "it has no value at all (a null dataspace)");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(axes));
  call(attempt, H5Sget_simple_extent_dims, space.id(), sizes.data(),
       static_cast<hsize_t*>(nullptr));
  return {sizes.begin(), sizes.end()};
}

struct StoredType {
  Type type = Type::text;
  std::size_t width = 0;
};

bool equal(Id a, Id b, const Attempt& attempt) { return call(attempt, H5Tequal, a, b) > 0; }

StoredType type_in_file(const Handle& type, const Attempt& attempt) {
  const std::size_t width = call(attempt, H5Tget_size, type.id());
  if (width == 0) refuse(attempt, "its type has no size");
  for (const Type number : kNumbers)
    if (equal(type.id(), number_type(number), attempt)) return {number, width};
  if (width == 2 && equal(type.id(), half_type(attempt).id(), attempt))
    return {Type::float16, width};
  if (call(attempt, H5Tget_class, type.id()) == H5T_STRING) {
    if (call(attempt, H5Tis_variable_str, type.id()) == 0) return {Type::fixed_text, width};
    if (equal(type.id(), text_type(attempt).id(), attempt)) return {Type::text, 0};
  }
  refuse(attempt, "its type is none of a trial file's");
}

// The conversion from values of variable length to their references: the bytes stay as they are.
herr_t keep_references(hid_t, hid_t, H5T_cdata_t*, std::size_t, std::size_t, std::size_t, void*,
                       void*, hid_t) {
  return 0;
}

// A type to read references as, which HDF5 learns once to do.
Handle reference_type(const Attempt& attempt) {
  Handle raw(call(attempt, H5Tcreate, H5T_OPAQUE, kReferenceBytes));
  static const herr_t registered = call(attempt, H5Tregister, H5T_PERS_SOFT, "references",
                                        text_type(attempt).id(), raw.id(), keep_references);
  static_cast<void>(registered);
  return raw;
}

// The values of variable length behind `count` references; `read_into(type, buffer)` is H5Dread or
// H5Aread. `use(i, value)` takes each, of elements of `width` bytes.
template <class ReadInto, class Use>
void follow_references(std::size_t count, std::size_t width, Heap& heap, const Attempt& attempt,
                       ReadInto read_into, Use use) {
  std::string references(count * kReferenceBytes, '\0');
  if (count > 0) read_into(reference_type(attempt).id(), references.data());
  for (std::size_t i = 0; i < count; ++i) {
    const auto reference =
        std::string_view(references).substr(i * kReferenceBytes, kReferenceBytes);
    const auto value = heap.value(reference, width);
    if (!value) refuse(attempt, fmt::format("value {} is damaged", i));
    use(i, *value);
  }
}

template <class ReadInto>
std::vector<std::string> read_texts(std::size_t count, std::size_t limit, Heap& heap,
                                    const Attempt& attempt, ReadInto read_into) {
  std::vector<std::string> texts;
  texts.reserve(count);
  std::size_t taken = 0;
  follow_references(count, 1, heap, attempt, read_into, [&](std::size_t, std::string_view text) {
    taken += text.size();
    if (taken > limit) refuse(attempt, fmt::format("it is more than {} bytes of text", limit));
    texts.emplace_back(text);
  });
  return texts;
}

std::vector<const char*> pointers_to(std::span<const std::string> texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const auto& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

Handle open_attribute(const Handle& object, const std::string& name) {
  return Handle(call({ExitCode::bad_data, object.id(), "open attribute", name}, H5Aopen,
                     object.id(), name.c_str(), H5P_DEFAULT));
}

// H5Aread, for numbers, texts and scales alike.
void read_into(const Handle& attribute, Id type, void* buffer, const Attempt& attempt) {
  call(attempt, H5Aread, attribute.id(), type, buffer);
}

// Whether its chunks are compressed. Refuses data in other files and filters that are plug-ins.
bool check_storage(const Handle& creation, const Shape& shape, const Attempt& attempt) {
  const auto layout = call(attempt, H5Pget_layout, creation.id());
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
    refuse(attempt, "its values are not in this file");
  if (call(attempt, H5Pget_external_count, creation.id()) != 0)
    refuse(attempt, "its values are in another file");
  const int filters = call(attempt, H5Pget_nfilters, creation.id());
  for (int i = 0; i < filters; ++i) {
    std::size_t values = 0;
    unsigned flags = 0;
    unsigned config = 0;
    const auto filter =
        call(attempt, H5Pget_filter2, creation.id(), static_cast<unsigned>(i), &flags, &values,
             static_cast<unsigned*>(nullptr), std::size_t{0}, static_cast<char*>(nullptr), &config);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
        filter != H5Z_FILTER_FLETCHER32)
      refuse(attempt, fmt::format("it is compressed with the unknown filter {}", filter));
  }
  if (layout == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(shape.size());
    call(attempt, H5Pget_chunk, creation.id(), static_cast<int>(chunk.size()), chunk.data());
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (chunk[axis] > shape[axis]) refuse(attempt, "its chunks are larger than itself");
  }
  return filters > 0;
}

}  // namespace

std::string_view name_of(Type type) {
  constexpr std::array<std::string_view, 13> names{
      "int8",   "int16",   "int32",   "int64",   "uint8", "uint16",    "uint32",
      "uint64", "float16", "float32", "float64", "text",  "fixed text"};
  return names[static_cast<std::size_t>(type)];
}

std::size_t elements(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t size : shape)
    if (__builtin_mul_overflow(count, size, &count))
      throw Error(ExitCode::bad_data, fmt::format("the shape {} is too large", shape));
  return count;
}

Handle create_dataset(const Handle& parent, const std::string& name, Type type, const Shape& shape,
                      const Storage& storage) {
  const Attempt attempt{ExitCode::io, parent.id(), "create dataset", name};
  const Handle creation = property_list(H5P_DATASET_CREATE, attempt);
  set_object_rules(creation, false, attempt);
  if (!storage.chunk.empty()) {
    const std::vector<hsize_t> chunk(storage.chunk.begin(), storage.chunk.end());
    call(attempt, H5Pset_chunk, creation.id(), static_cast<int>(chunk.size()), chunk.data());
    if (storage.gzip > 0) call(attempt, H5Pset_deflate, creation.id(), storage.gzip);
  }
  const Handle space = space_of(shape, attempt);
  return with_type(type, attempt, [&](Id id) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const float nan32 = std::numeric_limits<float>::quiet_NaN();
    if (storage.nan_fill)
      call(attempt, H5Pset_fill_value, creation.id(), id,
           type == Type::float16   ? static_cast<const void*>(&kHalfNaN)
           : type == Type::float32 ? static_cast<const void*>(&nan32)
                                   : &nan);
    return Handle(call(attempt, H5Dcreate2, parent.id(), name.c_str(), id, space.id(), H5P_DEFAULT,
                       creation.id(), H5P_DEFAULT));
  });
}

void write(const Handle& dataset, Type type, const void* values) {
  const Attempt attempt{ExitCode::io, dataset.id(), "write the values"};
  with_type(type, attempt, [&](Id id) {
    return call(attempt, H5Dwrite, dataset.id(), id, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  });
}

void write_texts(const Handle& dataset, std::span<const std::string> texts) {
  write(dataset, Type::text, pointers_to(texts).data());
}

Handle open_dataset(const Handle& parent, const std::string& path) {
  return Handle(call({ExitCode::bad_data, parent.id(), "open dataset", path}, H5Dopen2, parent.id(),
                     path.c_str(), H5P_DEFAULT));
}

DatasetInfo dataset_info(const Handle& dataset, const Limits& limits) {
  const Attempt attempt{ExitCode::bad_data, dataset.id(), "read the dataset"};
  const Handle space(call(attempt, H5Dget_space, dataset.id()));
  const Handle type(call(attempt, H5Dget_type, dataset.id()));
  const Handle creation(call(attempt, H5Dget_create_plist, dataset.id()));
  const auto [stored_type, width] = type_in_file(type, attempt);
  DatasetInfo info{stored_type, width, shape_of(space, attempt), 0};
  const bool compressed = check_storage(creation, info.shape, attempt);
  info.stored = call(attempt, H5Dget_storage_size, dataset.id());

  const std::size_t count = elements(info.shape);
  const std::size_t size = stored_type == Type::text ? kReferenceBytes : width;
  if (count > limits.bytes / size)
    refuse(attempt, fmt::format("{} values of {} are more than the {} bytes that are read", count,
                                name_of(stored_type), limits.bytes));
  if (info.stored > limits.file_bytes ||
      (info.stored > 0 && count * size / (compressed ? kDeflateAtBest : 1) > info.stored))
    refuse(attempt, fmt::format("the file cannot hold its {} values", count));
  return info;
}

Values read(const Handle& dataset, const DatasetInfo& info, const Limits& limits, Heap& heap) {
  const Attempt attempt{ExitCode::bad_data, dataset.id(), "read the values"};
  Values values{info.type, info.width, info.shape, {}, {}};
  const std::size_t count = elements(info.shape);
  if (count == 0 || info.stored == 0) return values;
  const auto read_into = [&](Id type, void* buffer) {
    call(attempt, H5Dread, dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
  };
  if (info.type == Type::text) {
    // References can share a text in a damaged file; real ones do not.
    values.texts =
        read_texts(count, std::min(limits.bytes, limits.file_bytes), heap, attempt, read_into);
  } else {
    values.bytes.resize(count * info.width);
    const Handle type(call(attempt, H5Dget_type, dataset.id()));
    read_into(type.id(), values.bytes.data());
  }
  return values;
}

void write_attribute(const Handle& object, const std::string& name, const std::string& text) {
  const char* const pointer = text.c_str();
  write_attribute(object, name, Type::text, {}, &pointer);
}

void write_attribute(const Handle& object, const std::string& name, Type type, const Shape& shape,
                     const void* values) {
  const Attempt attempt{ExitCode::io, object.id(), "write attribute", name};
  const Handle space = space_of(shape, attempt);
  with_type(type, attempt, [&](Id id) {
    const Handle attribute(call(attempt, H5Acreate2, object.id(), name.c_str(), id, space.id(),
                                H5P_DEFAULT, H5P_DEFAULT));
    return call(attempt, H5Awrite, attribute.id(), id, values);
  });
}

std::vector<std::string> attribute_names(const Handle& object, std::size_t limit) {
  struct Found {
    std::vector<std::string> names;
    std::size_t limit;
  } found{{}, limit};
  const H5A_operator2_t add = [](hid_t, const char* name, const H5A_info_t*, void* data) noexcept {
    auto& all = *static_cast<Found*>(data);
    if (all.names.size() == all.limit) return herr_t{1};
    all.names.emplace_back(name);
    return herr_t{0};
  };
  const Attempt attempt{ExitCode::bad_data, object.id(), "list the attributes"};
  if (call(attempt, H5Aiterate2, object.id(), H5_INDEX_NAME, H5_ITER_NATIVE,
           static_cast<hsize_t*>(nullptr), add, static_cast<void*>(&found)) > 0)
    refuse(attempt, fmt::format("there are more than {}", limit));
  return found.names;
}

Values read_attribute(const Handle& object, const std::string& name, const Limits& limits,
                      Heap& heap) {
  const Attempt attempt{ExitCode::bad_data, object.id(), "read attribute", name};
  const Handle attribute = open_attribute(object, name);
  const Handle space(call(attempt, H5Aget_space, attribute.id()));
  const Handle type(call(attempt, H5Aget_type, attribute.id()));
  const auto [stored_type, width] = type_in_file(type, attempt);
  Values values{stored_type, width, shape_of(space, attempt), {}, {}};
  const std::size_t count = elements(values.shape);
  if (count > limits.attribute_bytes / (width == 0 ? kReferenceBytes : width))
    refuse(attempt, fmt::format("its {} values are too many", count));
  if (stored_type == Type::text) {
    values.texts =
        read_texts(count, limits.attribute_bytes, heap, attempt,
                   [&](Id id, void* buffer) { read_into(attribute, id, buffer, attempt); });
  } else {
    values.bytes.resize(count * width);
    if (count > 0) read_into(attribute, type.id(), values.bytes.data(), attempt);
  }
  return values;
}

void make_scale(const Handle& dataset, const std::string& name) {
  call({ExitCode::io, dataset.id(), "make a dimension scale of", name}, H5DSset_scale, dataset.id(),
       name.c_str());
}

void attach_scale(const Handle& dataset, const Handle& scale, unsigned axis) {
  call({ExitCode::io, dataset.id(), "attach a dimension scale"}, H5DSattach_scale, dataset.id(),
       scale.id(), axis);
}

std::vector<std::uint64_t> scale_addresses(const Handle& dataset, std::size_t axes, Heap& heap) {
  constexpr auto list = "DIMENSION_LIST";
  const Attempt attempt{ExitCode::bad_data, dataset.id(), "read attribute", list};
  std::vector<std::uint64_t> addresses(axes, 0);
  if (axes == 0 || call(attempt, H5Aexists, dataset.id(), list) == 0) return addresses;
  const Handle attribute = open_attribute(dataset, list);
  const Handle space(call(attempt, H5Aget_space, attribute.id()));
  const Handle type(call(attempt, H5Aget_type, attribute.id()));
  const Handle expected(call(attempt, H5Tvlen_create, hid_t{H5T_STD_REF_OBJ}));
  if (!equal(type.id(), expected.id(), attempt) || shape_of(space, attempt) != Shape{axes})
    refuse(attempt, "it is not a list of dimension scales");
  const auto read = [&](Id id, void* buffer) { read_into(attribute, id, buffer, attempt); };
  const auto keep = [&](std::size_t axis, std::string_view scales) {
    if (scales.size() > sizeof(hobj_ref_t)) refuse(attempt, "it has two scales for one axis");
    if (!scales.empty()) std::memcpy(&addresses[axis], scales.data(), scales.size());
  };
  follow_references(axes, sizeof(hobj_ref_t), heap, attempt, read, keep);
  return addresses;
}

}  // namespace headcount::h5
