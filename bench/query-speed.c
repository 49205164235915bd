/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query-speed [MILLIONS-OF-POINTS [ROUNDS]] (10, 7): measures the speed of loading a trace of trace
 * points, and of queries over it, in one thread. The trace is made first, as kymo writes it: calls
 * of write() with their arguments, result, time and thread, and a block that is allocated every
 * eighth call. It is in TMPDIR (/tmp), in the page cache. Each round loads it and runs each query
 * once, in turns. Medians of CPU time are printed, and the maximum of memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "reader/query/query-run.h"
#include "writer/tracedb/tracedb-writer.h"

enum { ROUNDS_MAX = 99, WRITE_BYTES = 1 << 20, STATEMENTS = 64, BLOCKS = 1000 };

static const char *const names[] = { "int", "uint", "pointer", "to", "buf", "count", "return" };
static const struct tracedb_type types[] = {
	{ 0, TRACEDB_SIGNED, 8 },
	{ 1, TRACEDB_UNSIGNED, 8 },
	{ 2, TRACEDB_POINTER, 8 },
};
static const struct tracedb_dictionary dictionary = { names, ARRAY_SIZE(names), types,
						      ARRAY_SIZE(types) };

static const struct question {
	const char *what, *variables[2], *text;
} questions[] = {
	{ "one predicate", { NULL }, "(> (v/value count) (v/size buf))" },
	{ "a sum", { NULL }, "(> (+ (v/value count) 8) (v/size buf))" },
	{ "a fraction", { NULL }, "(> (v/value count) (* 1.5 (v/size buf)))" },
	{ "two free, typed", { "n:uint", "p:pointer" }, "(> (v/value n) (v/size p))" },
	{ "a pair", { NULL }, "(and (= (v/value buf) (e/value buf)) (> (v/value count) 4000))" },
	{ "three points",
	  { NULL },
	  "(and (= (v/value buf) (e/value buf)) (= (e/value buf) (e2/value buf))"
	  " (> (v/value count) 4000))" },
	{ "two free, any",
	  { "x", "y" },
	  "(and (> (v/value x) 4000) (< (v/value y) (v/value x)) (distinct-vars x y))" },
};

__attribute__((noreturn)) static void sorry(const char *what, int error)
{
	fprintf(stderr, "query-speed: %s: %s\n", what, strerror(error));
	exit(1);
}

/* CPU time, which other load affects less. */
static double query_speed_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int put_point(struct tracedb_writer *w, uint64_t i)
{
	uint64_t block = (i / 8 * 2654435761) % BLOCKS, at = 1 << 20 | block << 13;
	struct tracedb_entry e[8];
	size_t n = 0;

	e[n++] =
		(struct tracedb_entry){ .tag = TRACEDB_STATEMENT, .statement = 1 + i % STATEMENTS };
	if (i % 8 == 0)
		e[n++] = (struct tracedb_entry){ .tag = TRACEDB_BUFFER, .buffer = { at, 4096 } };
	e[n++] = (struct tracedb_entry){ .tag = TRACEDB_VARIABLE,
					 .variable = { 3, 0, 8, .s = (int64_t)(i % 16) } };
	e[n++] = (struct tracedb_entry){ .tag = TRACEDB_VARIABLE,
					 .variable = { 4, 2, 8, .u = at + i % 64 } };
	e[n++] = (struct tracedb_entry){
		.tag = TRACEDB_VARIABLE, .variable = { 5, 1, 8, .u = i % 100003 ? i % 4000 : 5000 }
	};
	e[n++] = (struct tracedb_entry){ .tag = TRACEDB_VARIABLE,
					 .variable = { 6, 0, 8, .s = (int64_t)(i % 4000) } };
	e[n++] = (struct tracedb_entry){ .tag = TRACEDB_AUXILIARY, .auxiliary = i * 1000 };
	e[n++] = (struct tracedb_entry){ .tag = TRACEDB_AUXILIARY, .auxiliary = 7ull << 32 | 7 };
	return tracedb_writer_point(w, &(struct tracedb_point){ e, n });
}

/* Writes the trace to FD. Returns its size in bytes. */
static uint64_t make_trace(int fd, uint64_t points)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct tracedb_writer w;
	uint64_t total = 0;
	int r = tracedb_writer_begin(&w, &b, TRACEDB_W64, &dictionary);

	for (uint64_t i = 0; r == 0 && i <= points; i++) {
		if (i < points)
			r = put_point(&w, i);
		if (r < 0 || (i < points && b.size < WRITE_BYTES))
			continue;
		total += b.size;
		for (size_t at = 0; r == 0 && at < b.size;) {
			ssize_t n = write(fd, b.data + at, b.size - at);

			r = n < 0 ? -errno : 0;
			at += n < 0 ? 0 : (size_t)n;
		}
		outbuf_reset(&b);
	}
	if (r < 0)
		sorry("cannot write the trace", -r);
	return total;
}

static ssize_t read_trace(void *fd, void *to, size_t n)
{
	ssize_t got = read(*(int *)fd, to, n);

	return got < 0 ? -errno : got;
}

static int count_result(void *n, const struct query_result *result)
{
	*(uint64_t *)n += result->of != NULL;
	return 0;
}

/* Returns the time of QUESTION in seconds. */
static double ask(const struct question *question, const struct tracedb_store *store, uint64_t *n)
{
	_cleanup_(query_deinit) struct query q = { .keep_duplicates = true };
	struct query_error error = { 0 };
	double start;
	int r = 0;

	for (size_t i = 0; r == 0 && i < 2 && question->variables[i]; i++)
		r = query_declare(&q.expression, question->variables[i], &error);
	r = r ?: query_parse(&q.expression, question->text, &q.hard, &error);
	*n = 0;
	start = query_speed_now();
	r = r ?: query_run(&q, store, &dictionary, count_result, n, &error);
	if (r < 0)
		sorry(question->text, -r);
	return query_speed_now() - start;
}

static int compare_seconds(const void *a, const void *b)
{
	return COMPARE(*(const double *)a, *(const double *)b);
}

static double median(double *seconds, size_t n)
{
	qsort(seconds, n, sizeof(*seconds), compare_seconds);
	return seconds[n / 2];
}

int main(int argc, char **argv)
{
	double millions = argc > 1 ? atof(argv[1]) : 10;
	size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 7;
	double load[ROUNDS_MAX], took[ARRAY_SIZE(questions)][ROUNDS_MAX];
	uint64_t n[ARRAY_SIZE(questions)], bytes;
	char path[4096];
	struct rusage usage;
	int fd;

	if (rounds < 1 || rounds > ROUNDS_MAX || millions <= 0)
		sorry("it takes MILLIONS-OF-POINTS and ROUNDS", EINVAL);
	snprintf(path, sizeof(path), "%s/query-speed-XXXXXX", getenv("TMPDIR") ?: "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		sorry(path, errno);
	unlink(path);
	bytes = make_trace(fd, (uint64_t)(millions * 1e6));
	for (size_t i = 0; i < rounds; i++) {
		_cleanup_(tracedb_reader_freep) struct tracedb_reader *reader = NULL;
		_cleanup_(tracedb_store_freep) struct tracedb_store *store = NULL;
		double start = query_speed_now();

		if (lseek(fd, 0, SEEK_SET) < 0 ||
		    tracedb_reader_new_source(&reader, read_trace, &fd) != 0 ||
		    tracedb_store_load(&store, reader) != TRACEDB_TRACE_END)
			sorry("cannot load the trace", EIO);
		load[i] = query_speed_now() - start;
		for (size_t k = 0; k < ARRAY_SIZE(questions); k++)
			took[k][i] = ask(&questions[k], store, &n[k]);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%-16s %6.2f s  %.0f MB, %.0f MB/s, at most %ld MiB of memory\n", "load",
	       median(load, rounds), (double)bytes / 1e6,
	       (double)bytes / 1e6 / median(load, rounds), usage.ru_maxrss / 1024);
	for (size_t k = 0; k < ARRAY_SIZE(questions); k++)
		printf("%-16s %6.2f s  %" PRIu64 " results: %s\n", questions[k].what,
		       median(took[k], rounds), n[k], questions[k].text);
	return 0;
}
