/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input as a leak report, and post-processes it in every way: without options, the output
 * is the input. Otherwise, the output is a report again.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "reader/rtrace/rtrace-parse.h"
#include "reader/rtrace/rtrace-postprocess.h"
#include "writer/rtrace/rtrace-writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct io {
	const uint8_t *data;
	size_t size;
	struct outbuf out, line;
	uint64_t n_maps, last_problem;
	bool mid_line;
};

static ssize_t read_at(void *userdata, uint64_t offset, void *to, size_t n)
{
	const struct io *io = userdata;

	if (offset >= io->size)
		return 0;
	if (n > io->size - offset)
		n = io->size - (size_t)offset;
	memcpy(to, io->data + offset, n);
	return (ssize_t)n;
}

/* Each record can be written, or is refused. A written record is one line, or two for a call. */
static void write_line(struct io *io, const struct rtrace_record *record)
{
	int r;

	outbuf_reset(&io->line);
	r = rtrace_line_record(&io->line, record);
	assert(r == 0 || r == -EINVAL || r == -EMSGSIZE);
	if (r < 0) {
		assert(io->line.size == 0);
		return;
	}
	assert(io->line.data[io->line.size - 1] == '\n');
	assert(io->line.size <= RTRACE_LINE_WRITE_MAX + 64 + 1);
	assert(!memchr(io->line.data, '\0', io->line.size));
}

static int emit(void *userdata, const struct rtrace_record *record)
{
	struct io *io = userdata;

	write_line(io, record);
	if (io->mid_line && !record->continues)
		outbuf_append(&io->out, "\n", 1);
	io->mid_line = record->raw.n > 0 && record->raw.bytes[record->raw.n - 1] != '\n';
	if (record->raw.n > 0)
		return outbuf_append(&io->out, record->raw.bytes, record->raw.n);
	return rtrace_line_record(&io->out, record);
}

static int add_map(void *userdata, const struct rtrace_map *map)
{
	struct io *io = userdata;
	char path[RTRACE_LINE_MAX + 1];

	assert(map->path.n > 0 && map->path.n < sizeof(path));
	assert(rtrace_unescape(path, map->path) <= map->path.n);
	io->n_maps++;
	return 0;
}

static int find_name(void *userdata, uint64_t address, uint64_t n_maps, struct rtrace_text *ret)
{
	const struct io *io = userdata;

	assert(n_maps <= io->n_maps);
	if (address % 2)
		*ret = RTRACE_TEXT("name() at file.c:1");
	return 0;
}

static void add_problem(void *userdata, const struct rtrace_problem *problem)
{
	struct io *io = userdata;

	assert(problem->line >= io->last_problem && problem->what && problem->done);
	io->last_problem = problem->line;
}

static int process(struct io *io, const uint8_t *data, size_t size,
		   const struct rtrace_postprocess_options *options,
		   struct rtrace_postprocess_result *ret)
{
	const struct rtrace_postprocess_io functions = {
		.read_at = read_at,
		.emit = emit,
		.map = add_map,
		.name = find_name,
		.problem = add_problem,
		.userdata = io,
	};

	*io = (struct io){ .data = data, .size = size };
	return rtrace_postprocess(options, &functions, ret);
}

static void io_deinit(struct io *io)
{
	outbuf_deinit(&io->out);
	outbuf_deinit(&io->line);
}

/* Processes the output of one way again. */
static void process_twice(const uint8_t *data, size_t size,
			  const struct rtrace_postprocess_options *options)
{
	_cleanup_(io_deinit) struct io first = { 0 }, second = { 0 };
	struct rtrace_postprocess_result result;
	int r = process(&first, data, size, options, &result);

	if (r > 0)
		return;
	assert(r == 0 || r == -EINVAL || r == -EMSGSIZE);
	assert(result.shown <= result.counts.calls);
	if (r == 0 && first.out.size > 0 && data[0] == 'v')
		assert(process(&second, first.out.data, first.out.size, options, &result) <= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "memory", "first context" };
	static const struct rtrace_call_range range = { "libc.so.6", 0, 0x100000 };
	static const struct rtrace_select some = {
		.types = names,
		.n_types = 2,
		.contexts = names,
		.n_contexts = 2,
		.no_context = true,
		.has_size = true,
		.min_size = 8,
		.max_size = UINT64_MAX,
		.has_index = true,
		.max_index = 1000000,
	};
	static const struct rtrace_select in_range = { .range = &range };
	static const struct rtrace_postprocess_options ways[] = {
		{ .leaks = true },
		{ .leaks = true, .compress = true, .sort = RTRACE_SORT_SIZE, .descending = true },
		{ .compress = true, .sort = RTRACE_SORT_COUNT },
		{ .sort = RTRACE_SORT_TIME, .resolve = true },
		{ .select = &some, .resolve = true, .has_depth = true, .depth = 2 },
		{ .select = &in_range, .sort = RTRACE_SORT_INDEX, .descending = true },
	};
	static const struct rtrace_postprocess_options none;
	_cleanup_(io_deinit) struct io io = { 0 };
	struct rtrace_postprocess_result result;

	if (process(&io, data, size, &none, &result) == 0)
		assert(io.out.size == size && memcmp(io.out.data, data, size) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		process_twice(data, size, &ways[i]);
	return 0;
}
