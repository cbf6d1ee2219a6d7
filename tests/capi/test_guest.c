/* What belongs to the host is left alone: signals, masks, locale; and a peer that hangs up does not end it.
 */
#define _XOPEN_SOURCE 700

#include <arpa/inet.h>
#include <dirent.h>
#include <locale.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scripted_pool.h"

/* Accepts, and hangs up with a reset. */
static pid_t hang_up_on_all(unsigned* port) {
  struct sockaddr_in here;
  struct linger at_once;
  socklen_t size = sizeof here;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  pid_t child;
  memset(&here, 0, sizeof here);
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check(bind(listening, (struct sockaddr*)&here, sizeof here) == 0 && listen(listening, 16) == 0, "a server");
  check(getsockname(listening, (struct sockaddr*)&here, &size) == 0, "has a port");
  *port = ntohs(here.sin_port);
  at_once.l_onoff = 1;
  at_once.l_linger = 0;
  child = fork();
  if (child == 0) {
    for (;;) {
      const int one = accept(listening, NULL, NULL);
      setsockopt(one, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      close(one);
    }
  }
  close(listening);
  return child;
}

/* Signals that a thread blocks, as a mask whose lowest bit is signal 1. */
static unsigned long long blocked_by(const char* thread) {
  char path[300];
  char line[256];
  unsigned long long mask = 0;
  FILE* file;
  snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
  file = fopen(path, "r");
  if (file == NULL) return ~0ULL; /* It has just ended. */
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "SigBlk:", 7) == 0) mask = strtoull(line + 7, NULL, 16);
  }
  fclose(file);
  return mask;
}

/* A signal to the process finds the host's thread, and no other. */
static void other_threads_take_no_signals(void) {
  const unsigned long long wanted = 1ULL << (SIGINT - 1) | 1ULL << (SIGTERM - 1) | 1ULL << (SIGUSR1 - 1);
  DIR* tasks = opendir("/proc/self/task");
  struct dirent* one;
  int others = 0;
  char own[32];
  if (tasks == NULL) return; /* No such system. */
  snprintf(own, sizeof own, "%ld", (long)getpid());
  while ((one = readdir(tasks)) != NULL) {
    if (one->d_name[0] == '.' || strcmp(one->d_name, own) == 0) continue;
    ++others;
    check((blocked_by(one->d_name) & wanted) == wanted, "a thread of evalcore's takes no signal");
  }
  closedir(tasks);
  check(others > 0, "evalcore has threads");
}

int main(void) {
  struct sigaction before;
  struct sigaction after;
  sigset_t mask;
  sigset_t same;
  char url[64];
  unsigned port = 0;
  const pid_t server = hang_up_on_all(&port);
  evc_backend_options* options = evc_backend_options_new();
  evc_backend* refused = NULL;
  evc_error* error = NULL;
  evc_pool* pool;
  signal(SIGPIPE, SIG_DFL);
  sigaction(SIGPIPE, NULL, &before);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  sigprocmask(SIG_SETMASK, &mask, NULL);

  open_script();
  if (failures > 0) return verdict();
  pool = pool_of(NULL);
  submit(pool, question("hi there"), 1);
  submit(pool, question("slow"), 2);
  evc_event_free(next(pool, EVC_EVENT_END));
  other_threads_take_no_signals();
  evc_pool_free(pool);

  snprintf(url, sizeof url, "http://127.0.0.1:%u/v1", port);
  check(evc_backend_options_set_base_url(options, str(url)) == EVC_OK, "a URL is taken");
  check(evc_backend_open(runtime, str("openai-url"), options, &refused, &error) != EVC_OK,
        "a server that hangs up is none, and the host still there");
  check(evc_error_stage(error).size > 0, "it says at what it failed");
  evc_error_free(error);
  evc_backend_options_free(options);

  sigaction(SIGPIPE, NULL, &after);
  check(before.sa_handler == SIG_DFL && after.sa_handler == SIG_DFL, "SIGPIPE is the host's");
  sigprocmask(SIG_SETMASK, NULL, &same);
  check(sigismember(&same, SIGUSR2) == 1 && sigismember(&same, SIGINT) == 0, "so is its mask");
  check(strcmp(setlocale(LC_ALL, NULL), "C") == 0, "and its locale");
  close_script();
  kill(server, SIGKILL);
  waitpid(server, NULL, 0);
  return verdict();
}
