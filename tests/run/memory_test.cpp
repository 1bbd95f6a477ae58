#include "run/memory.hpp"

#include <fstream>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "task/process.hpp"

namespace headcount {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// A machine with 8 GiB available.
class Machine {
 public:
  Machine() { write("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\n"); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << text;
  }
  const fs::path& root() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("available memory is what the system has, or a control group leaves") {
  const Machine machine;
  const auto& write = [&](const std::string& path, const std::string& text) {
    machine.write(path, text);
  };
  std::int64_t expected = 8 * kGiB;
  SECTION("no groups") {}
  SECTION("v2, no limit") {
    write("proc/self/cgroup", "0::/user/job\n");
    write("sys/fs/cgroup/user/job/memory.max", "max\n");
    write("sys/fs/cgroup/user/job/memory.current", "1000\n");
  }
  SECTION("v2, the group's own limit") {
    write("proc/self/cgroup", "0::/user/job\n");
    write("sys/fs/cgroup/user/job/memory.max", "3221225472\n");
    write("sys/fs/cgroup/user/job/memory.current", "1073741824\n");
    expected = 2 * kGiB;
  }
  SECTION("v2, a limit further up is less") {
    write("proc/self/cgroup", "0::/user/job\n");
    write("sys/fs/cgroup/user/job/memory.max", "6442450944\n");
    write("sys/fs/cgroup/user/memory.max", "2147483648\n");
    write("sys/fs/cgroup/user/memory.current", "1073741824\n");
    expected = kGiB;
  }
  SECTION("v2, in a container whose group is the root it sees") {
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", "1073741824\n");
    write("sys/fs/cgroup/memory.current", "0\n");
    expected = kGiB;
  }
  SECTION("v1") {
    write("proc/self/cgroup", "12:cpu,cpuacct:/a\n4:memory:/job\n");
    write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
    write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1073741824\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    expected = kGiB;
  }
  SECTION("more is used than allowed") {
    write("proc/self/cgroup", "0::/job\n");
    write("sys/fs/cgroup/job/memory.max", "1000\n");
    write("sys/fs/cgroup/job/memory.current", "2000\n");
    expected = 0;
  }
  CHECK(available_memory(machine.root()) == expected);
}

TEST_CASE("this machine has some memory, and none is told where nothing is known") {
  CHECK(available_memory() > 0);
  const TemporaryFolder empty;
  CHECK(available_memory(empty.path()) == 0);
}

TEST_CASE("sizes are written as people write them") {
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("1K") == 1024);
  CHECK(parse_bytes("512M") == 512LL << 20);
  CHECK(parse_bytes("1.5G") == 3LL << 29);
  CHECK(parse_bytes("2T") == 2LL << 40);
  for (const char* wrong : {"", "G", "0", "-1G", "8 G", "8GB", "8g", "1e40", "nan"})
    CHECK_FALSE(parse_bytes(wrong));
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(3LL << 29) == "1.5 GiB");
}

TEST_CASE("under a limit memory runs out there, and not after it") {
  if (!can_limit_memory()) return;  // a sanitizer cannot live under a limit
  const pid_t child = ::fork();
  if (child == 0) {
    int passed = 0;
    {
      const MemoryLimit limit(kGiB / 4);
      try {
        std::vector<char>(static_cast<std::size_t>(kGiB));
      } catch (const std::bad_alloc&) {
        ++passed;
      }
    }
    const std::vector<char> after(static_cast<std::size_t>(kGiB));
    ::_exit(passed == 1 && after.back() == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace headcount
