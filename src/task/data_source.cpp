#include "task/data_source.hpp"

namespace headcount {

const Registry<DataSource>& data_sources() {
  static const Registry<DataSource> registry("data source",
                                             {file_source(), austen_source(), recall_source()});
  return registry;
}

const DataSource& find_data_source(const TaskConfig& config) {
  const bool names_file = config.data.starts_with(kFilePrefix);
  return data_sources().at(names_file ? std::string_view("file:PATH") : config.data);
}

}  // namespace headcount
