#include "task/data_source.hpp"

namespace headcount {

const Registry<DataSource>& data_sources() {
  static const Registry<DataSource> registry(
      "data source",
      {file_source(), austen_source(), recall_source(), copy_source(), reverse_source(),
       sort_source(), induction_source(), order_source(), bag_source(), grammar_source()});
  return registry;
}

const DataSource& find_data_source(const TaskConfig& config) {
  const std::string_view data = config.text("task.data");
  return data_sources().at(data.starts_with(kFilePrefix) ? "file:PATH" : data);
}

}  // namespace headcount
