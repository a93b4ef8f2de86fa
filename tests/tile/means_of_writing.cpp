// SPDX-License-Identifier: BSD-3-Clause
// The ways to write memory that need no special rights.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "support/process.hpp"
#include "watched.hpp"

namespace tessera::test::watched {
namespace {

void through_file(Mapped& A, std::size_t at, int flags) {
  char name[] = "/tmp/tessera-watched-XXXXXX";
  const int made = mkstemp(name);
  const Mapped content(page);
  for (std::size_t i = 0; i < page / sizeof(double); i++) content.data()[i] = value;
  ASSERT_EQ(write(made, content.data(), page), static_cast<ssize_t>(page));
  close(made);
  const int file = open(name, O_RDONLY | flags);
  if (file >= 0) {
    EXPECT_EQ(read(file, A.at(at), page), static_cast<ssize_t>(page));
    close(file);
  }
  unlink(name);
}

void replace(Mapped& A, std::size_t bytes) {
  const Mapped copy(bytes);
  std::memcpy(copy.data(), A.data(), bytes);
  munmap(A.data(), bytes);
  Mapped::map(A.data(), bytes, MAP_FIXED);
  std::memcpy(A.data(), copy.data(), bytes);
  A(0, 0) += value;
}

const Means means[] = {
    {"a store", [](Mapped& A) { A(5, 7) += value; }},
    {"stores to all pages",
     [](Mapped& A) {
       for (std::size_t i = 0; i < A.bytes() / page; i++) *reinterpret_cast<double*>(A.at(i * page)) += value;
     }},
    {"the last element", [](Mapped& A) { A(n - 1, n - 1) += value; }},
    {"another thread", [](Mapped& A) { std::thread([&] { A(9, 100) -= value; }).join(); }},
    {"read", [](Mapped& A) { through_file(A, 3 * page, 0); }},
    {"read with O_DIRECT", [](Mapped& A) { through_file(A, 5 * page, O_DIRECT); }},
    {"recv",
     [](Mapped& A) {
       int ends[2];
       ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
       const double sent[] = {value, -value};
       ASSERT_EQ(send(ends[0], sent, sizeof sent, 0), static_cast<ssize_t>(sizeof sent));
       ASSERT_EQ(recv(ends[1], &A(4, 20), sizeof sent, MSG_WAITALL), static_cast<ssize_t>(sizeof sent));
       close(ends[0]), close(ends[1]);
     }},
    {"process_vm_writev",
     [](Mapped& A) {
       double sent = value;
       const iovec from{&sent, sizeof sent}, to{&A(17, 30), sizeof sent};
       EXPECT_EQ(process_vm_writev(getpid(), &from, 1, &to, 1, 0), static_cast<ssize_t>(sizeof sent));
     }},
    {"process_vm_writev by another process",
     [](Mapped& A) {
       prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
       const pid_t child = fork();
       if (child == 0) {
         double sent = -value;
         const iovec from{&sent, sizeof sent}, to{&A(18, 31), sizeof sent};
         process_vm_writev(getppid(), &from, 1, &to, 1, 0);  // may not be allowed
         _exit(0);
       }
       wait_for(child);
     }},
    {"readv into two pages",
     [](Mapped& A) {
       int ends[2];
       ASSERT_EQ(pipe(ends), 0);
       const double sent[] = {value, -value};
       ASSERT_EQ(write(ends[1], sent, sizeof sent), static_cast<ssize_t>(sizeof sent));
       const iovec to[] = {{A.at(9 * page), sizeof value}, {A.at(30 * page), sizeof value}};
       ASSERT_EQ(readv(ends[0], to, 2), static_cast<ssize_t>(sizeof sent));
       close(ends[0]), close(ends[1]);
     }},
    {"/proc/self/mem, as debuggers do",
     [](Mapped& A) {
       const int memory = open("/proc/self/mem", O_RDWR);
       if (memory < 0) return;
       const double sent = -value;
       EXPECT_EQ(pwrite(memory, &sent, sizeof sent, static_cast<off_t>(reinterpret_cast<std::uintptr_t>(&A(1, 99)))),
                 static_cast<ssize_t>(sizeof sent));
       close(memory);
     }},
    {"ptrace, as debuggers do",
     [](Mapped& A) {
       prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
       double sent = value;
       long word = 0;
       std::memcpy(&word, &sent, sizeof word);
       const pid_t child = fork();
       if (child == 0) {
         const pid_t parent = getppid();
         if (ptrace(PTRACE_SEIZE, parent, nullptr, nullptr) != 0) _exit(0);  // not allowed
         ptrace(PTRACE_INTERRUPT, parent, nullptr, nullptr);
         waitpid(parent, nullptr, __WALL);
         const bool wrote = ptrace(PTRACE_POKEDATA, parent, &A(11, 12), word) == 0;
         ptrace(PTRACE_DETACH, parent, nullptr, nullptr);
         _exit(wrote ? 0 : 1);
       }
       EXPECT_EQ(wait_for(child), 0);
     }},
    {"a child, then this process",
     [](Mapped& A) {
       const pid_t child = fork();
       if (child == 0) {
         A(0, 0) = 77;
         _exit(0);
       }
       wait_for(child);
       A(0, 1) += value;
     }},
    {"a child that lives on",
     [](Mapped& A) {
       int ends[2];
       ASSERT_EQ(pipe(ends), 0);
       const pid_t child = fork();
       if (child == 0) {
         char word;
         close(ends[1]);
         _exit(static_cast<int>(read(ends[0], &word, 1)));
       }
       A(n / 2, n / 2) += value;
       close(ends[0]), close(ends[1]);
       wait_for(child);
     }},
    {"MADV_DONTNEED", [](Mapped& A) { madvise(A.at(7 * page), 2 * page, MADV_DONTNEED); }},
    {"MADV_FREE",
     [](Mapped& A) {
       madvise(A.at(8 * page), page, MADV_FREE);
       std::memset(A.at(8 * page), 0, page);
     }},
    {"MADV_FREE, and the kernel takes the page",
     [](Mapped& A) {
       madvise(A.at(8 * page), page, MADV_FREE);
       madvise(A.at(8 * page), page, 21);            // MADV_PAGEOUT
       const volatile char first = *A.at(8 * page);  // zero, or as before: nothing changes it from now on
       *A.at(8 * page) = first;
     }},
    {"pages that were guarded meanwhile",
     [](Mapped& A) {
       madvise(A.at(4 * page), page, 102);  // MADV_GUARD_INSTALL
       madvise(A.at(4 * page), page, 103);  // MADV_GUARD_REMOVE
     }},
    {"a new mapping of a page", [](Mapped& A) { Mapped::map(A.at(11 * page), page, MAP_FIXED); }},
    {"a new mapping of all", [](Mapped& A) { replace(A, A.bytes()); }},
    {"a new mapping that nobody has touched", [](Mapped& A) { Mapped::map(A.data(), A.bytes(), MAP_FIXED); }},
    {"memory that has moved", [](Mapped& A) { A.move(), A(3, 2) += value; }},
    {"memory whose pages have moved away",
     [](Mapped& A) {
       constexpr int keeps_the_old = 4;  // MREMAP_DONTUNMAP
       void* const other = mremap(A.data(), A.bytes(), A.bytes(), MREMAP_MAYMOVE | keeps_the_old, nullptr);
       if (other != MAP_FAILED) munmap(other, A.bytes());
     }},
    {"memory that has grown and moved away",
     [](Mapped& A) {
       void* const other = mremap(A.data(), A.bytes(), 2 * A.bytes(), MREMAP_MAYMOVE);
       if (other == MAP_FAILED) return;  // it consists of several mappings
       static_cast<double*>(other)[7] += value;
       if (other == A.data()) munmap(A.at(A.bytes()), A.bytes());
       else EXPECT_EQ(mremap(other, 2 * A.bytes(), A.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, A.data()), A.data());
     }},
    {"other memory moved there",
     [](Mapped& A) {
       void* const other = Mapped::map(nullptr, A.bytes(), 0);
       fill(static_cast<double*>(other), 99);
       EXPECT_EQ(mremap(other, A.bytes(), A.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, A.data()), A.data());
     }},
    {"two of its pages exchanged",
     [](Mapped& A) {
       char* const other = static_cast<char*>(Mapped::map(nullptr, page, 0));
       mremap(A.at(2 * page), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, other);
       mremap(A.at(40 * page), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, A.at(2 * page));
       mremap(other, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, A.at(40 * page));
     }},
    {"memory that was read-only meanwhile",
     [](Mapped& A) {
       mprotect(A.data(), A.bytes(), PROT_READ);
       mprotect(A.data(), A.bytes(), PROT_READ | PROT_WRITE);
       A(3, 3) += value;
     }},
    {"pages that may be merged",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), MADV_MERGEABLE);
       A(3, 5) += value;
       madvise(A.data(), A.bytes(), MADV_UNMERGEABLE);
     }},
    {"pages that were reclaimed",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), 21);  // MADV_PAGEOUT
       A(8, 8) += value;
     }},
    {"pages that were collapsed",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), MADV_HUGEPAGE);
       madvise(A.data(), A.bytes(), 25);  // MADV_COLLAPSE
       A(9, 8) += value;
       madvise(A.data(), A.bytes(), 25);
     }},
    {"huge pages that are split, then collapsed",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), MADV_HUGEPAGE);
       madvise(A.data(), A.bytes(), 25);  // MADV_COLLAPSE
       mprotect(A.at(20 * page), page, PROT_READ);
       mprotect(A.at(20 * page), page, PROT_READ | PROT_WRITE);
       *reinterpret_cast<double*>(A.at(21 * page)) += value;
       madvise(A.data(), A.bytes(), 25);
     }},
    {"a page of a huge page that is unmapped",
     [](Mapped& A) {
       madvise(A.data(), A.bytes(), MADV_HUGEPAGE);
       madvise(A.data(), A.bytes(), 25);  // MADV_COLLAPSE
       madvise(A.at(22 * page), page, MADV_DONTNEED);
       *reinterpret_cast<double*>(A.at(23 * page)) -= value;
     }},
    {"pages that were collapsed over a write",
     [](Mapped& A) {
       A(2, 8) += value;
       madvise(A.data(), A.bytes(), 25);  // MADV_COLLAPSE
     }},
    {"pages that were merged with equal ones",
     [](Mapped& A) {
       const Mapped copy(A.bytes());
       std::memcpy(copy.data(), A.data(), A.bytes());
       for (void* const data : {static_cast<void*>(A.data()), static_cast<void*>(copy.data())})
         madvise(data, A.bytes(), MADV_MERGEABLE);
       std::this_thread::sleep_for(std::chrono::milliseconds(5));  // merges if ksmd runs
       A(3, 5) += value;
     }},
    {"pages that another thread writes while they are reclaimed",
     [](Mapped& A) {
       std::thread writes([&] { A(30, 30) -= value; });
       madvise(A.data(), A.bytes(), 20);  // MADV_COLD
       madvise(A.data(), A.bytes(), 21);  // MADV_PAGEOUT
       writes.join();
     }},
    {"shared memory in its place, and a write through an alias",
     [](Mapped& A) {
       const int file = static_cast<int>(syscall(SYS_memfd_create, "alias", 0U));
       ASSERT_EQ(ftruncate(file, static_cast<off_t>(A.bytes())), 0);
       auto* const alias = static_cast<double*>(mmap(nullptr, A.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
       std::memcpy(alias, A.data(), A.bytes());
       mmap(A.data(), A.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
       alias[0] += value;
       munmap(alias, A.bytes());
       close(file);
     }},
};

}  // namespace

std::span<const Means> all_means() { return means; }

}  // namespace tessera::test::watched
