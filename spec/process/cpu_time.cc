// Reads the processes of /proc.
#include "spec/process/cpu_time.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

#include "spec/base/clock.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

struct Usage {
  pid_t parent = 0;
  double seconds = 0;              // what the process itself has used
  double seconds_of_children = 0;  // of those that were waited for
  double Sum() const { return seconds + seconds_of_children; }
};

// The kernel writes whole ticks of 10 ms, rounded down, which is all that a short process has: its
// clock says more, as long as it is there.
double OwnSeconds(pid_t pid, double of_ticks) {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return of_ticks;
  return std::max(of_ticks,
                  static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9);
}

bool ReadUsage(pid_t pid, Usage& usage) {
  FILE* file = fopen(StrCat("/proc/", static_cast<int64_t>(pid), "/stat").c_str(), "re");
  if (file == nullptr) return false;
  char line[1024];
  const size_t size = fread(line, 1, sizeof(line) - 1, file);
  fclose(file);
  line[size] = '\0';
  // The name of the program, in parentheses, may hold anything.
  const char* rest = strrchr(line, ')');
  if (rest == nullptr) return false;
  int parent = 0;
  unsigned long long user = 0, system = 0;
  long long children_user = 0, children_system = 0;
  if (sscanf(rest + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld", &parent,
             &user, &system, &children_user, &children_system) != 5) {
    return false;
  }
  usage.parent = parent;
  const auto per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.seconds = OwnSeconds(pid, static_cast<double>(user + system) / per_second);
  usage.seconds_of_children = static_cast<double>(children_user + children_system) / per_second;
  return true;
}

}  // namespace

double CpuSecondsOfTree(pid_t root) {
  std::map<pid_t, Usage> processes;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return 0;
  while (const dirent* entry = readdir(folder)) {
    const auto pid = static_cast<pid_t>(strtol(entry->d_name, nullptr, 10));
    if (Usage usage; pid > 0 && ReadUsage(pid, usage)) processes[pid] = usage;
  }
  closedir(folder);
  std::multimap<pid_t, pid_t> children;
  for (const auto& [pid, usage] : processes) children.emplace(usage.parent, pid);
  double seconds = 0;
  for (std::vector<pid_t> open = {root}; !open.empty();) {
    const pid_t pid = open.back();
    open.pop_back();
    seconds += processes[pid].Sum();
    const auto [first, last] = children.equal_range(pid);
    for (auto at = first; at != last; ++at) open.push_back(at->second);
  }
  return seconds;
}

double CpuSecondsOf(pid_t pid) {
  Usage usage;
  return ReadUsage(pid, usage) ? usage.Sum() : 0;
}

namespace {

// The second number of a file of the scheduler's statistics, in seconds.
double WaitedIn(const std::string& path) {
  FILE* file = fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  unsigned long long computed = 0, waited = 0;
  const int fields = fscanf(file, "%llu %llu", &computed, &waited);
  fclose(file);
  return fields == 2 ? static_cast<double>(waited) * 1e-9 : 0;
}

}  // namespace

double WaitedForCpu(pid_t pid) {
  return WaitedIn(StrCat("/proc/", static_cast<int64_t>(pid), "/schedstat"));
}

double ThreadsWaitedForCpu(pid_t pid) {
  const std::string threads = StrCat("/proc/", static_cast<int64_t>(pid), "/task");
  DIR* folder = opendir(threads.c_str());
  if (folder == nullptr) return 0;
  double waited = 0;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.')
      waited += WaitedIn(StrCat(threads, "/", entry->d_name, "/schedstat"));
  }
  closedir(folder);
  return waited;
}

TimeOfProcess::TimeOfProcess(pid_t pid)
    : pid_(pid), begun_(Now()), waited_before_(WaitedForCpu(pid)) {}

double TimeOfProcess::Seconds() const { return Now() - begun_ - Waited(); }

}  // namespace assay
