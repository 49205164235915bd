/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/reach-threads.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/proc/task-state.h"

#define NAP_NS 200000

#define DTV_ELEMENT_BYTES 16
/*
 * The first element of the table has the length of the table. glibc allocates 14 elements more than
 * needed.
 */
#define DTV_LENGTH_MIN 14
#define DTV_LENGTH_MAX (1 << 20)

static struct rec_registers *reach_list_of(const struct outbuf *threads)
{
	return (struct rec_registers *)threads->data;
}

static size_t reach_n_of(const struct outbuf *threads)
{
	return threads->size / sizeof(struct rec_registers);
}

static bool reach_is_held(const struct outbuf *threads, uint32_t tid)
{
	for (size_t i = 0; i < reach_n_of(threads); i++)
		if (reach_list_of(threads)[i].head.tid == tid)
			return true;
	return false;
}

/* Waits until TID has stopped for the interrupt. Other signals are delivered at once. */
static int reach_wait_for_stop(pid_t tid, uint64_t deadline_ns)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int status;

	for (;;) {
		pid_t r = waitpid(tid, &status, __WALL | WNOHANG);

		if (r < 0 && errno != EINTR)
			return errno == ECHILD ? -ESRCH : -errno;
		if (r == tid && (WIFEXITED(status) || WIFSIGNALED(status)))
			return -ESRCH;
		if (r == tid && WIFSTOPPED(status)) {
			if (status >> 16 == PTRACE_EVENT_STOP)
				return 0;
			/*
			 * The interrupt is still pending: the thread stops again before its next
			 * instruction.
			 */
			ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)WSTOPSIG(status));
			continue;
		}
		if (clock_read_ns(CLOCK_MONOTONIC) >= deadline_ns)
			return -ETIME;
		nanosleep(&nap, NULL);
	}
}

static void reach_threads_read_registers(pid_t tid, struct rec_registers *rec)
{
	struct iovec to = { rec->registers, sizeof(rec->registers) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &to) < 0)
		return;
	rec->n = (uint32_t)(to.iov_len / sizeof(*rec->registers));
#if defined(__x86_64__)
	rec->sp = rec->registers[19];
	rec->tls = rec->registers[21];
#elif defined(__aarch64__)
	rec->sp = rec->registers[31];
#endif
}

/* Stops one thread. A thread that has ended meanwhile is ignored. */
static int reach_hold_one(pid_t pid, pid_t tid, uint64_t deadline_ns, struct outbuf *threads)
{
	struct rec_registers *rec;
	int r;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0) {
		r = -errno;
		return r == -ESRCH || task_state_has_ended(pid, tid) ? 0 : r;
	}
	rec = outbuf_reserve(threads, sizeof(*rec));
	if (!rec)
		return threads->error;
	rec->head.size = sizeof(*rec);
	rec->head.kind = REC_REGISTERS;
	rec->head.pid = (uint32_t)pid;
	rec->head.tid = (uint32_t)tid;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		return errno == ESRCH ? 0 : -errno;
	r = reach_wait_for_stop(tid, deadline_ns);
	if (r == 0)
		reach_threads_read_registers(tid, rec);
	return r == -ESRCH ? 0 : r;
}

struct holding {
	struct outbuf *threads;
	uint64_t deadline_ns;
};

static int reach_threads_hold_if_new(pid_t pid, pid_t tid, void *userdata)
{
	const struct holding *h = userdata;

	return reach_is_held(h->threads, (uint32_t)tid)
		       ? 0
		       : reach_hold_one(pid, tid, h->deadline_ns, h->threads);
}

int reach_hold(pid_t pid, uint64_t deadline_ns, struct outbuf *threads)
{
	struct holding h = { threads, deadline_ns };
	int r;

	/*
	 * Threads that were still running can have created new ones. Compare the lengths of the
	 * list, since an ended thread that stays a zombie would count as new each time.
	 */
	for (unsigned round = 0; round < 100; round++) {
		size_t before = reach_n_of(threads);

		r = task_state_each(pid, reach_threads_hold_if_new, &h);
		if (r < 0)
			return r == -ENOENT ? -ESRCH : r;
		if (reach_n_of(threads) == before)
			return before > 0 ? 0 : -ESRCH;
	}
	return -ETIME;
}

static int reach_threads_find_living(pid_t pid, pid_t tid, void *userdata)
{
	(void)userdata;
	return tid == pid || task_state_has_ended(pid, tid) ? 0 : (int)tid;
}

pid_t reach_living_task(pid_t pid)
{
	int r = task_state_has_ended(pid, pid)
			? task_state_each(pid, reach_threads_find_living, NULL)
			: 0;

	return r > 0 ? (pid_t)r : pid;
}

int reach_threads_altstacks(const struct outbuf *threads, struct outbuf *words)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < reach_n_of(threads); i++) {
		uint64_t word = reach_list_of(threads)[i].altstack;

		r = word ? outbuf_append(words, &word, sizeof(word)) : 0;
	}
	return r;
}

static bool reach_threads_read(pid_t task, uint64_t address, void *ret, size_t n)
{
	const struct iovec to = { ret, n }, from = { (void *)(uintptr_t)address, n };

	return process_vm_readv(task, &to, 1, &from, 1, 0) == (ssize_t)n;
}

uint64_t reach_threads_dtv(pid_t task, uint64_t tls)
{
	struct {
		uint64_t self, dtv;
	} head;
	uint64_t length;

	if (!tls || !reach_threads_read(task, tls, &head, sizeof(head)) || head.self != tls ||
	    head.dtv < DTV_ELEMENT_BYTES)
		return 0;
	/* musl's description begins with the same words, but this pointer is in another block. */
	if (!reach_threads_read(task, head.dtv - DTV_ELEMENT_BYTES, &length, sizeof(length)) ||
	    length < DTV_LENGTH_MIN || length > DTV_LENGTH_MAX)
		return 0;
	return head.dtv - DTV_ELEMENT_BYTES;
}

void reach_release_threads(const struct outbuf *threads)
{
	for (size_t i = 0; i < reach_n_of(threads); i++)
		ptrace(PTRACE_DETACH, (pid_t)reach_list_of(threads)[i].head.tid, NULL, NULL);
}
