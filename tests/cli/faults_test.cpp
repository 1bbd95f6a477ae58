#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "catch.hpp"
#include "cli/program.hpp"

// The program while the system fails under it: tests/faults/ is loaded before the C library.

namespace fs = std::filesystem;

namespace {

const std::string kSpec = R"(seed = 1
[task]
data = synthetic.recall
recall-examples = 12
[model]
layers = 2
d-model = 8
heads = 2
[train]
steps = 20
batch-tokens = 64
validate-every = 5
[measure]
measures = entropy, importance.ablation
[prune]
methods = random
)";

class Faulty {
 public:
  Faulty() {
    folder.write("tiny.ini", kSpec);
    REQUIRE(folder.headcount("run tiny.ini --out undisturbed").code == 0);
  }

  Ran run(const std::string& fault, const std::string& options = "") const {
    return folder.headcount("run tiny.ini --out out --checkpoint 3 --retries 0 " + options,
                            fmt::format("ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "
                                        "LD_PRELOAD={} HEADCOUNT_FAULT={}",
                                        HEADCOUNT_FAULTS, fault));
  }

  // What lies in the results' folder and ends so.
  std::vector<std::string> files(const std::string& ending) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder / "out"))
      if (const auto name = entry.path().filename().string(); name.ends_with(ending))
        names.push_back(name);
    return names;
  }

  // The same command without the fault ends in the result of an undisturbed run, and leaves
  // nothing.
  void check_recovery() const {
    const auto again = folder.headcount("run tiny.ini --out out");
    INFO(again.err);
    CHECK(again.code == 0);
    REQUIRE(files(".h5").size() == 1);
    CHECK(folder.headcount(fmt::format("same out/{0} undisturbed/{0}", files(".h5")[0])).code == 0);
    CHECK(files(".part").empty());
    CHECK(files(".failed.json").empty());
    CHECK(files("checkpoint").empty());
  }

  const Folder folder;
};

TEST_CASE("a disk that is full when the result is written fails the trial with its reason") {
  const Faulty faulty;
  const auto ran = faulty.run("full:.h5");
  INFO(ran.err);
  CHECK(ran.code == 74);
  CHECK_THAT(ran.err, ContainsSubstring("No space left on device"));
  CHECK(faulty.files(".h5").empty());
  CHECK(faulty.files(".part").empty());
  CHECK(faulty.files(".failed.json").size() == 1);
  CHECK(faulty.files(".checkpoint").size() == 1);  // nothing computed is lost
  faulty.check_recovery();
}

TEST_CASE("a disk that is full when a checkpoint is written does not stop the trial") {
  const Faulty faulty;
  const auto ran = faulty.run("full:.checkpoint");
  INFO(ran.err);
  CHECK(ran.code == 0);
  std::ifstream log(faulty.folder / "out" / faulty.files(".log").at(0));
  const std::string text((std::istreambuf_iterator<char>(log)), {});
  CHECK_THAT(text, ContainsSubstring("no checkpoint") && ContainsSubstring("No space left"));
  faulty.check_recovery();
}

TEST_CASE("a disk that is full for the curve and the log does not stop the trial") {
  const Faulty faulty;
  CHECK(faulty.run("full:.jsonl").code == 0);
  faulty.check_recovery();
}

TEST_CASE("a disk that is full for everything is told, and the same command goes on later") {
  const Faulty faulty;
  const auto ran = faulty.run("full:out/");
  INFO(ran.err);
  CHECK((ran.code == 73 || ran.code == 74));
  CHECK_THAT(ran.err, ContainsSubstring("No space left on device"));
  faulty.check_recovery();
}

TEST_CASE("a trial killed between closing its result and renaming it is published the next time") {
  const Faulty faulty;
  const auto ran = faulty.run("kill:.h5");
  INFO(ran.err);
  CHECK(ran.code == 70);
  CHECK_THAT(ran.err, ContainsSubstring("SIGKILL"));
  CHECK(faulty.files(".h5").empty());
  CHECK(faulty.files(".part").empty());  // cleared away
  faulty.check_recovery();
}

TEST_CASE("a trial killed just after renaming its result has published it") {
  const Faulty faulty;
  const auto ran = faulty.run("killed:.h5");
  INFO(ran.err);
  CHECK(faulty.files(".h5").size() == 1);
  faulty.check_recovery();
}

TEST_CASE("a trial killed between the two renames of a checkpoint goes on from the older one") {
  const Faulty faulty;
  const auto ran = faulty.run("killed:.checkpoint.previous");
  INFO(ran.err);
  CHECK(ran.code == 70);
  CHECK(faulty.files(".checkpoint").empty());
  CHECK(faulty.files(".checkpoint.previous").size() == 1);
  faulty.check_recovery();
}

TEST_CASE("a trial killed in place of publishing a checkpoint goes on from the one before") {
  const Faulty faulty;
  CHECK(faulty.run("kill:.checkpoint").code == 70);
  faulty.check_recovery();
}

TEST_CASE("a wall clock that is set back disturbs neither locks nor results") {
  const Faulty faulty;
  const auto ran = faulty.run("clock:86400", "--set train.steps=4000 --set train.validate-every=0");
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK(faulty.files(".lock").size() <= 1);  // that of the folder
}

TEST_CASE("a trial that goes on under other instructions of the processor is refused") {
  const Faulty faulty;
  CHECK(faulty.run("kill:.h5").code == 70);
  const auto other = faulty.folder.headcount("run tiny.ini --out out", "DNNL_MAX_CPU_ISA=SSE41");
  INFO(other.err);
  if (other.code == 0) {
    WARN("this build's products do not depend on the processor");
    return;
  }
  CHECK(other.code == 65);
  CHECK_THAT(other.err, ContainsSubstring("instruction set") && ContainsSubstring("--restart"));
  faulty.check_recovery();
}

}  // namespace
