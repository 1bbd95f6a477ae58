// A toy model with evaluators on both held-out splits.
#pragma once

#include "prune/pruning.hpp"
#include "support/toy.hpp"

namespace headcount {

struct ToyPruning {
  explicit ToyPruning(std::uint64_t seed = 6)
      : model(toy_config()),
        parameters(toy_parameters(model, seed)),
        treatment(HeadTreatment<double>::intact(model.heads())),
        team(1),
        scoring(model, parameters, task, SplitName::validation, 0, team),
        reporting(model, parameters, task, SplitName::test, 0, team) {}

  std::vector<HeadOrder> orders(const std::string& method, std::uint64_t seed = 1, int repeats = 3,
                                std::vector<int> removals = {0, 1, 2, 3, 4, 5}) const {
    return pruning_methods().at(method).orders<double>(
        {&scoring, &treatment, seed, repeats, std::move(removals)});
  }

  ToyTask task;
  Model<double> model;
  Parameters<double> parameters;
  HeadTreatment<double> treatment;
  ThreadTeam team;
  Evaluator<double> scoring, reporting;
};

}  // namespace headcount
