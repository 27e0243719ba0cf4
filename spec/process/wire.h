// Messages between the processes of a campaign: whole strings over local sockets, with a file
// descriptor now and then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

// A connected pair of stream sockets, closed on exec; {-1, -1} if the machine has no more.
std::pair<int, int> SocketPair();

// Blocking. False when the other side is gone.
bool SendMessage(int fd, std::string_view message, int passed_fd = -1);
// Blocking. nullopt when the other side is gone or sent nonsense; `passed_fd` receives a descriptor
// or -1.
std::optional<std::string> ReceiveMessage(int fd, int* passed_fd = nullptr);

// Collects what arrives on a socket without blocking and cuts it into messages.
class MessageBuffer {
 public:
  // Reads what is there; false at end of file or error.
  bool Fill(int fd);
  // The next complete message.
  std::optional<std::string> Next();

 private:
  std::string bytes_;
  size_t start_ = 0;
};

}  // namespace assay
