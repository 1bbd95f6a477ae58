#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "spec/problem.hpp"
#include "spec/schema.hpp"
#include "spec/spec_text.hpp"

namespace headcount {

// What a spec says of each key once its layers lie on top of each other. Later beats earlier:
//
//   defaults  <  sections of the file  <  [axis], [zip.*]  <  [scale.NAME] of --scale NAME  < --set
//
// and in the trials of a [case.NAME], where axes other than seeds do not act:
//
//   defaults  <  sections of the file  <  one value in [scale.NAME]  <  [case.NAME]  <  --set
//
// so that a smaller scale leaves a case what makes it one. Among --set options the later wins.
//
// In [scale.*] and --set a value for a swept key replaces its axis: one value ends the sweep over
// that key, several or a range make a new axis in the same place. A key that is not swept becomes a
// new, last axis when it is given several values; the exceptions are keys whose plain value may
// hold commas (text, names, heads).
//
// For a key of a [zip.*] it is the same by columns: one value takes the key out of its zip, several
// replace its column, and once all overrides are applied the columns must still be equally long.
// Rows of a zip that became equal by this are taken once.
class Layers {
 public:
  struct Fixed {
    std::string value;  // canonical
    Place place;
  };
  // A line of [axis], [zip.*], [case.*] or [skip.*].
  struct Line {
    std::string key;
    std::vector<std::string> values;  // canonical; as written in [claim.*]
    Place place;
  };
  // A section with a name of its own, its lines in the order of the file. A line of [axis] is a
  // block without a name.
  struct Block {
    std::string name;  // NAME of [zip.NAME]
    Place place;
    std::vector<Line> lines;
  };

  // Sorts the entries of the file into layers. All that is wrong goes to `problems`, also with
  // scales that are not asked for.
  Layers(const Schema& schema, const SpecText& text, const std::string& file, Problems& problems);

  // --scale NAME, then each --set KEY=VALUE: "model.layers=4". `as_options`: errors speak of
  // --layers 4.
  void apply(const std::optional<std::string>& scale, const std::vector<std::string>& sets,
             bool as_options = false);

  // The factors of the product: lines of [axis] and zips; the lines of a zip are equally long.
  const std::vector<Block>& factors() const { return factors_; }
  const std::vector<Block>& cases() const { return cases_; }
  const std::vector<Block>& skips() const { return skips_; }
  const std::vector<Block>& claims() const { return claims_; }  // their keys are not the schema's
  const Fixed* fixed(std::string_view key) const;  // nullptr: only the default, or an axis
  bool is_swept(std::string_view key) const { return factor_of(key) != nullptr; }
  bool is_set(std::string_view key) const { return set_.count(std::string(key)) > 0; }  // by --set
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
  enum class Part { unknown, keys, axis, zip, extra, skip, claim, scale };

  Part part_of(const SpecText::Section& section);
  std::vector<Block>& blocks_of(Part part);
  void add_entry(Part part, const SpecText::Section& section, const Entry& entry);
  void add_line(Part part, const SpecText::Section& section, Line line);
  bool is_second_sweep(const Entry& entry);
  void require_lines(const SpecText& text, const std::vector<Part>& parts);
  void require_few();
  std::optional<Entry> look_up(std::string_view name, std::string_view value, const Place& place);
  void set_fixed(const Entry& entry);
  void apply_scale(const std::string& name);
  void apply_set(const std::string& key_and_value, bool as_option);
  bool apply_override(const Entry& entry);
  std::vector<std::string> read_list(const Entry& entry, bool may_repeat = false);
  std::vector<std::string> read_plain_or_list(const Entry& entry);
  std::vector<std::string> read_override(const Entry& entry);
  void force(const std::string& key, std::vector<std::string> values, const Place& place);
  void check_zip(const Block& zip);   // its columns are equally long
  void check_rows(const Block& zip);  // no two of its points are the same
  void refuse(const Entry& entry, std::string message);
  const Block* factor_of(std::string_view key) const;

  const Schema& schema_;
  std::string file_;
  Problems& problems_;
  std::map<std::string, Fixed, std::less<>> fixed_;
  std::vector<Block> factors_, cases_, skips_, claims_;
  std::map<std::string, std::size_t> block_at_;  // by section: "zip.size", within its kind
  std::map<std::string, std::vector<Entry>, std::less<>> scales_;
  std::set<std::string> set_;
  std::size_t listed_ = 0;  // values of all lists so far
  bool sound_ = true;
};

}  // namespace headcount
