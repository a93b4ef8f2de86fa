/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for tessera-info --blas. It calls no BLAS and follows its arguments in turn. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the log as the library does at the end of a process. */
static void write_log(void) {
  FILE* log = fopen(getenv("TESSERA_BLAS_LOG"), "a");
  if (log == NULL) exit(99);
  fputs(getenv("TEST_LOG"), log);
  fclose(log);
}

static const char* variable(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? "not set" : value;
}

static void print_state(void) {
  struct sigaction interrupt;
  sigaction(SIGINT, NULL, &interrupt);
  printf("LD_PRELOAD=%s\n", variable("LD_PRELOAD"));
  printf("TESSERA_BLAS_LOG=%s\n", variable("TESSERA_BLAS_LOG"));
  printf("stand-in %s\n", dlsym(RTLD_DEFAULT, "tessera_blas_stand_in") != NULL ? "loaded" : "missing");
  printf("SIGINT %s\n", interrupt.sa_handler == SIG_IGN ? "ignored" : "not ignored");
}

static volatile sig_atomic_t caught = 0;
static void catch (int number) { caught = number; }

static void say(const char* text) {
  puts(text);
  fflush(stdout);
}

int main(int count, char** words) {
  alarm(150); /* ends a waiting process if the test fails */
  for (int i = 1; i < count; i++) {
    const char* word = words[i];
    if (strcmp(word, "print") == 0) {
      for (i++; i < count; i++) printf("[%s]\n", words[i]);
    } else if (strcmp(word, "print-unfinished") == 0) {
      printf("no end");
    } else if (strcmp(word, "state") == 0) {
      print_state();
    } else if (strcmp(word, "log") == 0) {
      write_log();
    } else if (strcmp(word, "elsewhere") == 0) {
      if (chdir("/") != 0) return 99;
    } else if (strcmp(word, "exit") == 0) {
      return atoi(words[++i]);
    } else if (strcmp(word, "kill") == 0) {
      raise(atoi(words[++i]));
    } else if (strcmp(word, "catch") == 0) {
      signal(SIGINT, catch), signal(SIGTERM, catch);
      say("ready");
      while (!caught) usleep(1000);
      printf("caught %d\n", (int)caught);
    } else if (strcmp(word, "wait") == 0) {
      say("ready");
      for (;;) pause();
    } else {
      return 98;
    }
  }
  return 0;
}
