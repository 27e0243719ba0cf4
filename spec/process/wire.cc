// Framing of messages on local sockets.
#include "spec/process/wire.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace assay {
namespace {

// A length above this is a broken peer, not a message.
constexpr uint32_t kLongestMessage = 256u << 20;

bool ReceiveExactly(int fd, char* into, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = recv(fd, into + done, size - done, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

bool SendExactly(int fd, const char* from, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = send(fd, from + done, size - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// The four bytes of the length carry the descriptor, if there is one.
bool SendHeader(int fd, uint32_t size, int passed_fd) {
  iovec part{&size, sizeof(size)};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (passed_fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &passed_fd, sizeof(int));
  }
  while (true) {
    ssize_t n = sendmsg(fd, &header, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    return n == static_cast<ssize_t>(sizeof(size));
  }
}

bool ReceiveHeader(int fd, uint32_t& size, int* passed_fd) {
  iovec part{&size, sizeof(size)};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t n;
  do {
    n = recvmsg(fd, &header, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(sizeof(size))) return false;
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
    int received = -1;
    std::memcpy(&received, CMSG_DATA(at), sizeof(int));
    if (passed_fd != nullptr) {
      *passed_fd = received;
    } else {
      close(received);
    }
  }
  return true;
}

}  // namespace

std::pair<int, int> SocketPair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return {-1, -1};
  return {fds[0], fds[1]};
}

bool SendMessage(int fd, std::string_view message, int passed_fd) {
  return SendHeader(fd, static_cast<uint32_t>(message.size()), passed_fd) &&
         SendExactly(fd, message.data(), message.size());
}

std::optional<std::string> ReceiveMessage(int fd, int* passed_fd) {
  if (passed_fd != nullptr) *passed_fd = -1;
  uint32_t size = 0;
  if (!ReceiveHeader(fd, size, passed_fd) || size > kLongestMessage) return std::nullopt;
  std::string message(size, '\0');
  if (!ReceiveExactly(fd, message.data(), size)) return std::nullopt;
  return message;
}

bool MessageBuffer::Fill(int fd) {
  char buffer[65536];
  while (true) {
    ssize_t n = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n > 0) {
      bytes_.append(buffer, static_cast<size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

std::optional<std::string> MessageBuffer::Next() {
  uint32_t size = 0;
  if (bytes_.size() - start_ < sizeof(size)) return std::nullopt;
  std::memcpy(&size, bytes_.data() + start_, sizeof(size));
  if (bytes_.size() - start_ - sizeof(size) < size) return std::nullopt;
  std::string message = bytes_.substr(start_ + sizeof(size), size);
  start_ += sizeof(size) + size;
  if (start_ > (size_t{1} << 20) || start_ == bytes_.size()) {
    bytes_.erase(0, start_);
    start_ = 0;
  }
  return message;
}

}  // namespace assay
