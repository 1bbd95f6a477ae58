#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "base/json.hpp"
#include "catch.hpp"
#include "cli/program.hpp"
#include "run/calibration.hpp"

namespace fs = std::filesystem;
using headcount::parse_json;
using headcount::read_file;

namespace {

const std::string kSpec = R"([experiment]
name = tiny
question = Is <this> & that "quoted"?

[task]
data = synthetic.recall
recall-pairs = 3
recall-queries = 2
recall-keys = 4
recall-values = 4
recall-examples = 12

[model]
layers = 2
d-model = 8
heads = 2

[train]
steps = 3
batch-tokens = 64

[measure]
measures = entropy, importance.gradient

[prune]
methods = importance.gradient, random
step = 0.5
orders = 2

[axis]
model.heads = 1, 2
seed = 1 .. 2
)";

// Where the program keeps things, until it goes out of scope.
class Cache {
 public:
  explicit Cache(const fs::path& path) { ::setenv("HEADCOUNT_CACHE", path.c_str(), 1); }
  ~Cache() { ::unsetenv("HEADCOUNT_CACHE"); }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
};

// The lines of a text.
std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("a spec runs to files that every reading command understands") {
  const Folder folder;
  folder.write("tiny.ini", kSpec);
  const auto ran = folder.headcount("run tiny.ini --out out");
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const auto files = lines(ran.out);
  REQUIRE(files.size() == 4);
  for (const auto& file : files) CHECK(fs::exists(folder / file));
  const auto& file = files.back();

  SECTION("running again skips all") {
    const auto before = fs::last_write_time(folder / file);
    const auto again = folder.headcount("run tiny.ini --out out");
    CHECK(again.code == 0);
    CHECK(again.out == ran.out);
    CHECK(lines(again.err).size() == 4);
    CHECK(fs::last_write_time(folder / file) == before);
  }
  SECTION("show") {
    const auto shown = folder.headcount("show " + file);
    CHECK(shown.code == 0);
    CHECK_THAT(shown.out, ContainsSubstring("tiny") && ContainsSubstring("importance.gradient") &&
                              ContainsSubstring("heads_left") && ContainsSubstring("latency of ") &&
                              ContainsSubstring("ms intact"));
    const auto json = parse_json(folder.headcount("show --json " + file).out);
    CHECK(json["spec"]["model.heads"] == "2");
    CHECK(json["question"] == "Is <this> & that \"quoted\"?");
    CHECK(json["scores"].size() > 0);
  }
  SECTION("heads") {
    const auto grid =
        folder.headcount("heads " + file + " --measure importance.gradient --format csv");
    CHECK(grid.code == 0);
    const auto rows = lines(grid.out);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0] == "layer,head 0,head 1");
    const auto unknown = folder.headcount("heads " + file + " --measure importance.gradiant");
    CHECK(unknown.code == 65);
    CHECK_THAT(unknown.err, ContainsSubstring("did you mean 'importance_gradient'"));
  }
  SECTION("mask") {
    const auto masked =
        folder.headcount("mask " + file + " --heads decoder_self:*:* --format json");
    INFO(masked.err);
    REQUIRE(masked.code == 0);
    const auto rows = parse_json(masked.out);
    CHECK(rows[0]["metric"] == "nll");
    CHECK(rows[0]["difference"].get<double>() ==
          Approx(rows[0]["masked"].get<double>() - rows[0]["intact"].get<double>()));
    // The stored model is the one that was scored.
    const auto json = parse_json(folder.headcount("show --json " + file).out);
    for (const auto& score : json["scores"])
      if (score["split"] == "test" && score["metric"] == "nll")
        CHECK(score["value"].get<double>() == rows[0]["intact"].get<double>());
    const auto none = folder.headcount("mask " + file + " --heads decoder_self:0:7");
    CHECK(none.code == 65);
    CHECK_THAT(none.err, ContainsSubstring("names no head"));
  }
  SECTION("same") {
    CHECK(folder.headcount("run tiny.ini --out other --threads 2 --jobs 2 --restart").code == 0);
    const auto name = fs::path(file).filename().string();
    CHECK(folder.headcount("same out/" + name + " other/" + name).code == 0);
    const auto differ = folder.headcount("same " + files[0] + " " + files[1]);
    CHECK(differ.code == 1);
    CHECK_THAT(differ.out, ContainsSubstring("/model"));
  }
  SECTION("diff") {
    const auto differ = folder.headcount("diff --format csv " + files[0] + " " + files[3]);
    INFO(differ.err);
    CHECK(differ.code == 0);
    const auto rows = lines(differ.out);
    CHECK(rows[0] == "key,a,b");
    CHECK(rows[1] == "model.heads,1,2");
    CHECK_THAT(differ.out,
               ContainsSubstring("metric,unit,a,b,b - a") && ContainsSubstring("\nnll,"));
    const auto none = folder.headcount("diff " + files[0] + " " + files[0]);
    CHECK(none.code == 0);
    CHECK_THAT(none.err, ContainsSubstring("the specs are equal"));
    CHECK(folder.headcount("diff tiny.ini " + file).code == 65);
    CHECK(folder.headcount("diff missing.h5 " + file).code == 66);
  }
  SECTION("compare") {
    const auto table =
        folder.headcount("compare out --by model.heads --metric nll --baseline 1 --format csv");
    INFO(table.err);
    CHECK(table.code == 0);
    CHECK(lines(table.out).size() == 3);
    CHECK(folder.headcount("compare out --by model.head --metric nll").code == 65);
  }
}

TEST_CASE("wrong use is told with an exit code of its own") {
  const Folder folder;
  CHECK(folder.headcount("").code == 64);
  CHECK(folder.headcount("rnu x.ini").code == 64);
  CHECK_THAT(folder.headcount("rnu x.ini").err, ContainsSubstring("did you mean 'run'"));
  CHECK(folder.headcount("run").code == 64);
  CHECK(folder.headcount("run x.ini --threads 0").code == 64);
  CHECK(folder.headcount("run x.ini --jobs 0").code == 64);
  for (const std::string memory : {"8GB", "0", "-1G"})
    CHECK(folder.headcount("run x.ini --memory " + memory).code == 64);
  for (const std::string when : {"5x", "-1", "0s", "m", "1.5"})
    CHECK(folder.headcount("run x.ini --checkpoint " + when).code == 64);
  for (const std::string when : {"0", "500", "30s", "1.5h"})
    CHECK(folder.headcount("run x.ini --checkpoint " + when).code == 66);
  CHECK(folder.headcount("run x.ini --thread 1").code == 64);
  CHECK(folder.headcount("run x.ini").code == 66);
  CHECK(folder.headcount("show x.h5").code != 0);
  CHECK(folder.headcount("list wrong").code == 64);
  folder.write("bad.ini",
               "[experiment]\nname = bad\n[model]\nlayres = 2\nheads = 3\n[zip.a]\nx = 1\n");
  const auto bad = folder.headcount("run bad.ini");
  CHECK(bad.code == 65);
  CHECK_THAT(bad.err,
             ContainsSubstring("bad.ini:4:") && ContainsSubstring("did you mean 'model.layers'"));
  CHECK_THAT(bad.err, ContainsSubstring("bad.ini:7: unknown key 'x'"));
}

TEST_CASE("output that cannot be written is told") {
  const Folder folder;
  const auto err = (folder / "err").string();
  const int status =
      std::system(fmt::format("{} list measures > /dev/full 2> {}", HEADCOUNT_BINARY, err).c_str());
  CHECK(WEXITSTATUS(status) == 74);
  CHECK_THAT(read_file(err), ContainsSubstring("cannot write to standard output"));
}

TEST_CASE("a plan tells what the trials of a spec will cost") {
  const Folder folder;
  folder.write("tiny.ini", kSpec);
  // Both trials of a seed train the same model: they differ in what is measured only.
  const std::string twice = "plan tiny.ini --set model.heads=2 --set measure.examples=5,6 ";
  const auto planned = folder.headcount(twice + "--no-time --format json");
  INFO(planned.err);
  REQUIRE(planned.code == 0);
  const auto plan = parse_json(planned.out);
  REQUIRE(plan["trials"].size() == 4);
  int trained = 0;
  for (const auto& trial : plan["trials"]) {
    CHECK(trial["parameters"] == plan["trials"][0]["parameters"]);
    CHECK(trial["total_s"].is_null());
    trained += trial["trained_by"].is_null();
  }
  CHECK(trained == 2);
  CHECK(plan["trials"][1]["trained_by"] == plan["trials"][0]["trial"]);
  CHECK(plan["trials"][1]["tflop"] < plan["trials"][0]["tflop"]);

  const Cache cache(folder / "cache");
  headcount::Calibration calibration;
  calibration.seconds.fill(1e-9);
  fs::create_directory(folder / "cache");
  headcount::write_calibration(calibration, headcount::calibration_path());
  const auto timed = folder.headcount(twice + "--jobs 2 --format json");
  INFO(timed.err);
  CHECK(timed.err.empty());  // nothing was measured
  const auto with_time = parse_json(timed.out);
  double sum = 0;
  for (const auto& trial : with_time["trials"]) sum += trial["total_s"].get<double>();
  CHECK(sum > 0);
  const auto& totals = with_time["totals"];
  CHECK(totals[0]["value"] == 4);
  CHECK(totals[1]["value"] == 2);
  CHECK(totals[4]["value"].get<double>() == Approx(sum));
  // Two equal halves beside each other.
  CHECK(totals[5]["value"].get<double>() == Approx(sum / 2).epsilon(0.01));

  CHECK(lines(folder.headcount(twice + "--format csv").out).size() == 5 + 1 + 7);
  CHECK(folder.headcount("plan tiny.ini --set task.data=file:none.txt").code == 66);
  const auto idle = folder.headcount("plan tiny.ini --no-time --set task.block=6");
  CHECK(idle.code == 0);
  CHECK_THAT(idle.err, ContainsSubstring("headcount: task.block has no effect"));
  CHECK(folder.headcount("plan tiny.ini --set model.heads=3").code == 65);
  CHECK(folder.headcount("plan tiny.ini --jobs 0").code == 64);
  CHECK(folder.headcount("calibrate --seconds -1").code == 64);
}

TEST_CASE("a failing trial is recorded and does not stop the others") {
  const Folder folder;
  folder.write(
      "diverge.ini",
      kSpec + "\n[scale.wild]\nmodel.heads = 1\nseed = 1\ntrain.learning-rate = 1e-3, 1e30\n");
  const auto ran = folder.headcount(
      "run diverge.ini --scale wild --set train.steps=20 --set train.clip=0 --out out");
  INFO(ran.err);
  CHECK(ran.code == 65);
  CHECK(lines(ran.out).size() == 1);
  CHECK_THAT(ran.err, ContainsSubstring("training diverged at step"));
  int failures = 0;
  for (const auto& entry : fs::directory_iterator(folder / "out"))
    if (entry.path().string().ends_with(".failed.json")) {
      ++failures;
      const auto json = parse_json(read_file(entry.path()));
      CHECK_THAT(json["reason"].get<std::string>(), ContainsSubstring("step"));
    }
  CHECK(failures == 1);
}

TEST_CASE("status tells how far a run is, from its folder alone") {
  const Folder folder;
  folder.write("tiny.ini", kSpec);
  CHECK(folder.headcount("status out").code == 66);
  const auto files = lines(folder.headcount("run tiny.ini --out out").out);
  REQUIRE(files.size() == 4);
  const auto done = folder.headcount("status out");
  CHECK(done.code == 0);
  CHECK(lines(done.out).size() == 5);
  CHECK(done.err == "4 trials: 4 done\n");

  fs::remove(folder / files[0]);
  folder.write(files[1], "cut off");
  const auto less = folder.headcount("status out --format json");
  CHECK(less.code == 0);
  CHECK(less.err == "4 trials: 2 done, 1 damaged, 1 left\n");
  const auto rows = parse_json(less.out);
  CHECK(rows[0]["state"] == "left");
  CHECK(rows[0]["trial"] == fs::path(files[0]).stem().string());
  CHECK(rows[1]["state"] == "damaged");

  folder.write("out/sweep.json", "{");
  CHECK(folder.headcount("status out").code == 65);
}

TEST_CASE(
    "a spec edited in mid-sweep changes nothing in the running sweep, and is told next time") {
  const Folder folder;
  folder.write("tiny.ini", kSpec);
  auto edited = kSpec;
  edited.replace(edited.find("steps = 3"), 9, "steps = 4");
  folder.write("edited.ini", edited);
  const auto before = lines(folder.headcount("run tiny.ini --out before").out);
  // The manifest is written once the spec is read, and before the first trial.
  const auto ran =
      folder.headcount(fmt::format("run tiny.ini --out out > paths & tries=0; "
                                   "while [ ! -e {0}/out/sweep.json ] && [ $tries -lt 6000 ]; do "
                                   "sleep 0.01; tries=$((tries + 1)); done; "
                                   "mv {0}/edited.ini {0}/tiny.ini; wait $!; (exit $?)",
                                   (folder / ".").string()));
  REQUIRE(ran.code == 0);
  const auto paths = lines(read_file(folder / "paths"));
  REQUIRE(paths.size() == before.size());
  for (std::size_t i = 0; i < paths.size(); ++i)
    CHECK(fs::path(paths[i]).filename() == fs::path(before[i]).filename());

  const auto again = folder.headcount("run tiny.ini --out out");
  CHECK(again.code == 0);
  CHECK_THAT(again.err,
             ContainsSubstring("the spec has changed since the last run: 4 trials are new, 4 are"));
}

TEST_CASE("more jobs than the machine has threads are noted and run") {
  const Folder folder;
  folder.write("tiny.ini", kSpec);
  const auto ran = folder.headcount("run tiny.ini --out out --jobs 1000 --memory 100G");
  CHECK(ran.code == 0);
  CHECK_THAT(ran.err, ContainsSubstring("note: 1000 jobs of 1 threads are more than the"));
  CHECK(folder.headcount("run tiny.ini --out quiet --jobs 2 --quiet").err.empty());
}

TEST_CASE("every command explains itself, and completion knows them all") {
  const Folder folder;
  const auto script = folder.headcount("completion bash");
  CHECK(script.code == 0);
  folder.write("completion.bash", script.out);
  CHECK(std::system(("bash -n " + (folder / "completion.bash").string()).c_str()) == 0);
  for (const std::string name : {"run", "status", "list", "help", "data", "show", "same", "heads",
                                 "mask", "compare", "completion"}) {
    const auto help = folder.headcount(name + " --help");
    CHECK(help.code == 0);
    CHECK_THAT(help.out, ContainsSubstring("example: headcount " + name));
    CHECK_THAT(script.out, ContainsSubstring("    " + name + ") words="));
  }
  CHECK(folder.headcount("help spec").code == 0);
  CHECK(folder.headcount("data synthetic.recall").code == 0);
}

TEST_CASE("every experiment of the house reads well at every scale it names") {
  const Folder folder;
  for (const auto& entry :
       fs::directory_iterator(std::string(HEADCOUNT_SOURCE_DIR) + "/experiments")) {
    const auto spec = entry.path().string();
    INFO(spec);
    CHECK_THAT(read_file(spec), ContainsSubstring("question") && ContainsSubstring("source"));
    // An unknown set is the only error: everything else was read.
    const auto ran = folder.headcount("run " + spec + " --scale smoke --set nothing.here=1");
    CHECK(ran.code == 65);
    CHECK(lines(ran.err).size() == 1);
    CHECK_THAT(ran.err, ContainsSubstring("nothing.here"));
  }
}
