/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split-recording PREFIX CATEGORIES EVERY_MS [PID ...]: runs two sessions in parallel until the
 * standard input ends: PREFIX.plain.fxt, and one that is split every EVERY_MS (0: at each drain).
 * Prints "running" when both run.
 *
 * Each chunk of the second session becomes PREFIX.chunk-N.fxt, N from 1. The head of each chunk,
 * all bodies from there on and the last tail become PREFIX.from-N.fxt. The parts are recognised on
 * their way to the output (the linker wraps output_put()). At the end, it prints the number of
 * chunks, the longest time of a split, and the size of the largest head.
 *
 * SPLIT_RING in the environment is the size of its rings, instead of 4 MiB; the other session has
 * 32 MiB then.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/store/output.h"
#include "capture/recorder/recorder.h"
#include "capture/session/session.h"

enum { PARTS_MAX = 1 << 16, PIDS_MAX = 16 };

struct part {
	struct output *output;
	enum store_part part;
	uint64_t bytes;
};

static struct part parts[PARTS_MAX];
static size_t n_parts;

void __real_output_put(struct output *o, struct outbuf *b, enum store_part part);
void __wrap_output_put(struct output *o, struct outbuf *b, enum store_part part);

void __wrap_output_put(struct output *o, struct outbuf *b, enum store_part part)
{
	if (n_parts == PARTS_MAX)
		abort();
	parts[n_parts++] = (struct part){ o, part, b->size };
	__real_output_put(o, b, part);
}

static uint64_t longest_ns, largest_bytes;

/* (of its type, so that the compiler reports changes) */
__typeof__(recorder_split) __real_recorder_split, __wrap_recorder_split;

int __wrap_recorder_split(struct recorder *r, uint64_t at_ns, const struct session_options *options,
			  const struct recorder_end *end, struct outbuf *tail, struct outbuf *head)
{
	uint64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), took_ns;
	int error = __real_recorder_split(r, at_ns, options, end, tail, head);

	took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
	if (took_ns > longest_ns)
		longest_ns = took_ns;
	if (head->size > largest_bytes)
		largest_bytes = head->size;
	return error;
}

static void die(const char *what)
{
	fprintf(stderr, "split-recording: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int create(const char *prefix, const char *what, unsigned n)
{
	char path[4096];
	int fd;

	if (n > 0)
		snprintf(path, sizeof(path), "%s.%s-%u.fxt", prefix, what, n);
	else
		snprintf(path, sizeof(path), "%s.%s.fxt", prefix, what);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		die(path);
	return fd;
}

static struct session *make(const char *name, uint32_t categories, uint64_t rotate_ns, char **pids,
			    int n_pids, int fd)
{
	const char *ring = getenv("SPLIT_RING");
	uint64_t ring_bytes = !ring ? 4 << 20 : rotate_ns ? strtoull(ring, NULL, 10) : 32 << 20;
	struct session_options o = { .categories = categories,
				     .rotate_ns = rotate_ns,
				     .flush_ns = FLUSH_NS_MIN,
				     .ring_bytes = ring_bytes,
				     .frequency = categories & CATEGORY_PROFILE ? 999 : 0,
				     .memory.log = categories & CATEGORIES_MEMORY };
	struct session *s = NULL;
	struct store *store;
	int r;

	snprintf(o.name, sizeof(o.name), "%s", name);
	o.filter.pids = n_pids ? calloc((size_t)n_pids, sizeof(*o.filter.pids)) : NULL;
	for (int i = 0; i < n_pids; i++)
		o.filter.pids[o.filter.n_pids++] = (uint32_t)strtoul(pids[i], NULL, 10);
	r = store_fd_new(fd, &store);
	if (r == 0)
		r = session_new(&o, store, &s);
	errno = -r;
	if (r < 0 || session_start(s) < 0)
		die("cannot create a session");
	return s;
}

static bool has_ended(const struct session *s)
{
	const char *text;

	if (session_state(s) == SESSION_FAILED && session_error(s, &text) < 0) {
		fprintf(stderr, "split-recording: %s\n", text);
		exit(1);
	}
	return session_state(s) == SESSION_STOPPED;
}

static void run(struct session *plain, struct session *splitting, uint64_t every_ns)
{
	struct pollfd fds[] = {
		{ session_fd(plain), POLLIN, 0 },
		{ session_fd(splitting), POLLIN, 0 },
		{ STDIN_FILENO, POLLIN, 0 },
	};
	uint64_t last_ns = clock_boot_ns(), number;
	bool told = false;
	char c;

	while (!has_ended(plain) || !has_ended(splitting)) {
		poll(fds, 3, 100);
		session_dispatch(plain);
		session_dispatch(splitting);
		if (clock_boot_ns() - last_ns >= every_ns &&
		    session_rotate(splitting, &number) == 0)
			last_ns = clock_boot_ns();
		if (!told && session_state(plain) == SESSION_RUNNING &&
		    session_state(splitting) == SESSION_RUNNING) {
			told = true;
			printf("running\n");
			fflush(stdout);
		}
		if (fds[2].revents && read(STDIN_FILENO, &c, 1) <= 0) {
			fds[2].fd = -1;
			session_stop(plain, "requested");
			session_stop(splitting, "requested");
		}
	}
}

static void copy(int from, uint64_t at, uint64_t bytes, int to)
{
	char buffer[65536];
	ssize_t n;

	for (; bytes > 0; bytes -= (uint64_t)n, at += (uint64_t)n) {
		n = pread(from, buffer, bytes < sizeof(buffer) ? bytes : sizeof(buffer), (off_t)at);
		if (n <= 0 || write(to, buffer, (size_t)n) != n)
			die("cannot copy");
	}
}

/* The selected parts of OUTPUT, from chunk FROM on. */
static void assemble(const char *prefix, int all, const struct output *output, unsigned from,
		     bool join, unsigned n_chunks)
{
	int fd = create(prefix, join ? "from" : "chunk", from);
	unsigned chunk = 0;
	uint64_t at = 0;

	for (size_t i = 0; i < n_parts; i++) {
		const struct part *p = &parts[i];

		if (p->output != output)
			continue;
		chunk += p->part == STORE_HEAD;
		if (chunk == from || (join && chunk > from && p->part == STORE_BODY) ||
		    (join && chunk == n_chunks && p->part == STORE_TAIL))
			if (!(join && chunk != n_chunks && p->part == STORE_TAIL))
				copy(all, at, p->bytes, fd);
		at += p->bytes;
	}
	close(fd);
}

int main(int argc, char **argv)
{
	uint32_t categories = 0;
	struct session *plain, *splitting;
	const struct output *output;
	struct session_counters counters;
	unsigned n_chunks;
	int all;

	if (argc < 4 || argc - 4 > PIDS_MAX ||
	    categories_parse(argv[2], &categories, NULL, NULL) < 0) {
		fprintf(stderr, "usage: split-recording PREFIX CATEGORIES EVERY_MS [PID ...]\n");
		return 2;
	}
	all = create(argv[1], "all", 0);
	plain = make("plain", categories, 0, argv + 4, argc - 4, create(argv[1], "plain", 0));
	splitting = make("splitting", categories, UINT64_C(3600000000000), argv + 4, argc - 4,
			 dup(all));
	run(plain, splitting, strtoull(argv[3], NULL, 10) * 1000000);
	n_chunks = (unsigned)session_chunks(splitting);
	session_counters(splitting, &counters);
	/* Only this session is split. */
	output = NULL;
	for (size_t i = 0; i < n_parts; i++)
		for (size_t j = i + 1; !output && parts[i].part == STORE_TAIL && j < n_parts; j++)
			if (parts[j].output == parts[i].output)
				output = parts[i].output;
	if (!output)
		die("it was never split");
	for (unsigned n = 1; n <= n_chunks; n++)
		assemble(argv[1], all, output, n, false, n_chunks);
	for (unsigned n = 1; n <= n_chunks; n++)
		assemble(argv[1], all, output, n, true, n_chunks);
	printf("%u chunks %" PRIu64 " events; split in %" PRIu64 " us, heads of %" PRIu64
	       " bytes\n",
	       n_chunks, counters.events, longest_ns / 1000, largest_bytes);
	session_free(plain);
	session_free(splitting);
	return 0;
}
