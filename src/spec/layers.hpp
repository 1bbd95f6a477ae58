#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/problem.hpp"
#include "spec/schema.hpp"
#include "spec/spec_text.hpp"

namespace headcount {

// What a spec says of each key once its layers lie on top of each other. Later beats earlier:
//
//   defaults  <  sections of the file  <  [axis]  <  [scale.NAME] of --scale NAME  <  --set
//
// Among --set options the later wins. In [scale.*] and --set a value for a swept key replaces its
// axis: one value ends the sweep over that key, several or a range make a new axis in the same
// place. A key that is not swept becomes a new, last axis when it is given several values; the
// exceptions are keys whose plain value may hold commas (text, names, heads).
class Layers {
 public:
  struct Fixed {
    std::string value;  // canonical
    Place place;
  };
  struct Axis {
    std::string key;
    std::vector<std::string> values;  // canonical
    Place place;
  };

  // Sorts the entries of the file into layers. All that is wrong goes to `problems`, also with
  // scales that are not asked for.
  Layers(const Schema& schema, const SpecText& text, const std::string& file, Problems& problems);

  void apply_scale(const std::string& name);
  void apply_set(const std::string& key_and_value);  // "model.layers=4"

  const std::vector<Axis>& axes() const { return axes_; }
  const Fixed* fixed(std::string_view key) const;  // nullptr: only the default, or an axis
  // Every value could be read, so that trials can be made and checked.
  bool sound() const { return sound_; }
  // Where the value in force was written; the file as a whole for a default.
  Place place_of(std::string_view key) const;

 private:
  struct Entry {
    const Key* key;
    std::string value;
    Place place;
  };
  enum class Part { unknown, keys, axis, scale };

  Part part_of(const SpecText::Section& section);
  std::optional<Entry> look_up(std::string_view name, std::string_view value, const Place& place);
  void set_fixed(const Entry& entry);
  void set_axis(const Entry& entry);
  void apply_override(const Entry& entry);
  std::vector<std::string> read_axis(const Entry& entry);
  std::vector<std::string> read_override(const Entry& entry);
  void force(const std::string& key, std::vector<std::string> values, const Place& place);
  void refuse(const Entry& entry, std::string message);
  bool is_swept(std::string_view key) const;

  const Schema& schema_;
  std::string file_;
  Problems& problems_;
  std::map<std::string, Fixed, std::less<>> fixed_;
  std::vector<Axis> axes_;
  std::map<std::string, std::vector<Entry>, std::less<>> scales_;
  std::size_t values_read_ = 0;  // of axes, also of scales that are not asked for
  bool sound_ = true;
};

}  // namespace headcount
