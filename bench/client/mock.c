/* A server that costs next to nothing: what a client spends on it is the client's own.
 *
 *   bench_client_mock      prints the port it listens on at 127.0.0.1, and ends when its standard input does
 *
 * The path says how it answers, before /v1:
 *   /delay/MS               a whole answer, after so many milliseconds
 *   /stream/RATE/COUNT/MS   COUNT deltas, RATE a second, the first after MS to 2·MS milliseconds, of no two
 *                           requests the same. Each delta is the time at which it is sent, by
 *                           CLOCK_MONOTONIC in nanoseconds, and a blank.
 * What ends in /models lists one model; /completions is answered in the older form.
 *
 * One thread. A request has a Content-Length, or no body, and comes alone on its connection. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { most_connections = 8192, request_bytes = 32768, answer_bytes = 2048, most_events = 512 };

#define USAGE "\"usage\":{\"prompt_tokens\":231,\"completion_tokens\":16,\"total_tokens\":247}"
#define WORDS "The capital of France is Paris, and the capital of Germany is Berlin."
#define START "\"id\":\"cmpl-8731\",\"created\":1760000000,\"model\":\"mock\","

static const char chat_answer[] =
    "{" START
    "\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
    "\"content\":\"" WORDS "\"},\"finish_reason\":\"stop\"}]," USAGE "}";
static const char text_answer[] =
    "{" START "\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"" WORDS
    "\","
    "\"logprobs\":null,\"finish_reason\":\"stop\"}]," USAGE "}";
static const char model_list[] = "{\"object\":\"list\",\"data\":[{\"id\":\"mock\",\"object\":\"model\"}]}";

struct connection {
  int fd;
  char in[request_bytes];
  size_t held;
  const char* answer; /* Whole; null: a stream. */
  int deltas, sent;
  int64_t period;
};

struct due {
  int64_t at;
  struct connection* who;
};

static struct due heap[most_connections + 1]; /* The earliest first; a connection is in it at most once. */
static size_t waiting;
static uint64_t seed = 88172645463325252u;

static void die(const char* what) {
  perror(what);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void wait_until(struct connection* who, int64_t at) {
  size_t hole = ++waiting;
  for (; hole > 1 && heap[hole / 2].at > at; hole /= 2) heap[hole] = heap[hole / 2];
  heap[hole] = (struct due){at, who};
}

static struct connection* take_first(void) {
  struct connection* first = heap[1].who;
  const struct due last = heap[waiting--];
  size_t hole = 1;
  for (size_t child; (child = 2 * hole) <= waiting; hole = child) {
    if (child < waiting && heap[child + 1].at < heap[child].at) ++child;
    if (heap[child].at >= last.at) break;
    heap[hole] = heap[child];
  }
  heap[hole] = last;
  return first;
}

static void forget(struct connection* who) {
  size_t kept = 0;
  struct due old[most_connections];
  for (size_t i = 1; i <= waiting; ++i) {
    if (heap[i].who != who) old[kept++] = heap[i];
  }
  waiting = 0;
  for (size_t i = 0; i < kept; ++i) wait_until(old[i].who, old[i].at);
}

static void hang_up(struct connection* who) {
  forget(who);
  close(who->fd);
  free(who);
}

/* What is sent is far below a socket's buffer, unless the client has stopped reading. */
static void put(struct connection* who, const char* bytes, size_t count) {
  if (send(who->fd, bytes, count, MSG_NOSIGNAL) != (ssize_t)count && errno != EPIPE && errno != ECONNRESET) {
    die("send");
  }
}

static void put_answer(struct connection* who) {
  char out[answer_bytes];
  const int length = snprintf(out, sizeof out,
                              "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nServer: mock\r\n"
                              "Content-Length: %zu\r\n\r\n%s",
                              strlen(who->answer), who->answer);
  put(who, out, (size_t)length);
}

static int chunk(char* to, const char* event) { return sprintf(to, "%zx\r\n%s\r\n", strlen(event), event); }

static void put_delta(struct connection* who) {
  char event[answer_bytes / 2], out[answer_bytes];
  const char* form = "data: {" START
                     "\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,"
                     "\"delta\":{\"content\":\"%lld \"},\"finish_reason\":null}]}\n\n";
  int length = 0;
  if (who->sent == 0) {
    length = sprintf(out,
                     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nServer: mock\r\n"
                     "Transfer-Encoding: chunked\r\n\r\n");
  }
  sprintf(event, form, (long long)now_ns());
  length += chunk(out + length, event);
  if (++who->sent == who->deltas) {
    length += chunk(out + length, "data: {" START
                                  "\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\""
                                  ":0,\"delta\":{},\"finish_reason\":\"stop\"}]," USAGE "}\n\n");
    length += chunk(out + length, "data: [DONE]\n\n");
    length += chunk(out + length, "");
  }
  put(who, out, (size_t)length);
}

static double fraction(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; /* xorshift64 */
  return (double)(seed >> 11) / 9007199254740992.0;
}

static void respond(struct connection* who, int64_t now) {
  if (who->answer != NULL) return put_answer(who);
  put_delta(who);
  if (who->sent < who->deltas) wait_until(who, now + who->period);
}

static bool ends_in(const char* path, size_t length, const char* end) {
  return length >= strlen(end) && memcmp(path + length - strlen(end), end, strlen(end)) == 0;
}

/* `path` is closed by a blank. */
static void answer(struct connection* who, const char* path) {
  const size_t length = strcspn(path, " ?");
  double ms = 0, rate = 0;
  who->answer = chat_answer;
  if (sscanf(path, "/stream/%lf/%d/%lf/", &rate, &who->deltas, &ms) == 3) {
    who->answer = NULL;
    who->sent = 0;
    who->period = (int64_t)(1e9 / rate);
    ms *= 1 + fraction();
  } else {
    sscanf(path, "/delay/%lf/", &ms);
  }
  if (ends_in(path, length, "/models")) {
    who->answer = model_list;
    ms = 0;
  } else if (ends_in(path, length, "/completions") && !ends_in(path, length, "/chat/completions")) {
    who->answer = text_answer;
  }
  const int64_t now = now_ns();
  if (ms <= 0) return respond(who, now);
  wait_until(who, now + (int64_t)(ms * 1e6));
}

static size_t announced_body(const char* head) {
  const char* field = strcasestr(head, "\r\ncontent-length:");
  return field == NULL ? 0 : (size_t)strtoul(field + strlen("\r\ncontent-length:"), NULL, 10);
}

static void receive(struct connection* who) {
  const ssize_t got = recv(who->fd, who->in + who->held, request_bytes - 1 - who->held, 0);
  if (got <= 0) return hang_up(who);
  who->held += (size_t)got;
  who->in[who->held] = '\0';
  const char* end = strstr(who->in, "\r\n\r\n");
  if (end == NULL) return;
  const size_t whole = (size_t)(end + 4 - who->in) + announced_body(who->in);
  if (who->held < whole) return;
  if (who->held > whole) exit(2); /* A pipeline is more than this can answer. */
  who->held = 0;
  const char* path = strchr(who->in, ' ');
  answer(who, path == NULL ? "/" : path + 1);
}

static void greet(int poller, int listener) {
  const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (fd < 0) return;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct connection* who = calloc(1, sizeof *who);
  if (who == NULL) die("calloc");
  who->fd = fd;
  struct epoll_event wish = {.events = EPOLLIN, .data.ptr = who};
  if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &wish) != 0) die("epoll_ctl");
}

static int listen_somewhere(void) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  if (bind(listener, (struct sockaddr*)&at, length) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, (struct sockaddr*)&at, &length) != 0) {
    die("listen");
  }
  printf("%d\n", ntohs(at.sin_port));
  fflush(stdout);
  return listener;
}

int main(void) {
  const struct rlimit files = {most_connections, most_connections};
  setrlimit(RLIMIT_NOFILE, &files);
  const int listener = listen_somewhere();
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  /* Their addresses alone tell these two from connections. */
  struct epoll_event door = {.events = EPOLLIN, .data.ptr = &door};
  struct epoll_event owner = {.events = EPOLLIN, .data.ptr = &owner};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &door);
  epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &owner);
  for (;;) {
    struct epoll_event events[most_events];
    struct timespec rest, *until = NULL;
    if (waiting > 0) {
      const int64_t left = heap[1].at - now_ns();
      rest = (struct timespec){left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};
      until = &rest;
    }
    const int count = epoll_pwait2(poller, events, most_events, until, NULL);
    if (count < 0 && errno != EINTR) die("epoll_pwait2");
    for (int64_t now = now_ns(); waiting > 0 && heap[1].at <= now; now = now_ns()) {
      const int64_t at = heap[1].at;
      respond(take_first(), at);
    }
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == &owner) return 0;
      if (events[i].data.ptr == &door) {
        greet(poller, listener);
      } else {
        receive(events[i].data.ptr);
      }
    }
  }
}
