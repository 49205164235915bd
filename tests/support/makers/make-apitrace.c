/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make-apitrace OUT [METHOD [CALLS [CHUNK]]]: writes a call trace with every feature of the format,
 * and then CALLS plain calls of four threads. It is packed by METHOD (default: snappy) in chunks of
 * at most CHUNK bytes (default: the maximum). The header has its own chunk.
 */
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "writer/apitrace/apitrace-writer.h"
#include "writer/pack/pack.h"

struct maker {
	struct apitrace_writer w;
	struct outbuf stream, packed;
	struct pack pack;
	size_t chunk;
	int fd;
};

static void fail(const char *what)
{
	fprintf(stderr, "make-apitrace: %s\n", what);
	exit(1);
}

static void write_all(int fd, const uint8_t *p, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0)
			fail("cannot write");
		p += done;
		n -= (size_t)done;
	}
}

/* Writes the buffered part of the stream. */
static void flush(struct maker *m)
{
	for (size_t at = 0, n; at < m->stream.size; at += n) {
		n = m->stream.size - at;
		if (n > m->chunk)
			n = m->chunk;
		outbuf_reset(&m->packed);
		if (pack_put(&m->pack, m->stream.data + at, n, &m->packed) < 0)
			fail("cannot pack");
		write_all(m->fd, m->packed.data, m->packed.size);
	}
	outbuf_reset(&m->stream);
}

static void end(struct maker *m)
{
	if (apitrace_writer_end(&m->w) < 0)
		fail("an event cannot be written");
	if (m->stream.size >= m->chunk)
		flush(m);
}

/* ---- features ---- */

#define T(text) APITRACE_TEXT(text)

static const struct apitrace_text one_name[] = { T("value") };
static const struct apitrace_text two_names[] = { T("x"), T("y") };
static const struct apitrace_text path_names[] = { T("path"), T("flags"), T("stat"), T("@dur_ns") };
static const struct apitrace_text outer_names[] = { T("first"), T(""), T("last") };
static const struct apitrace_text marker_names[] = { T("length"), T("marker") };

static struct apitrace_names show = { .name = T("show"), .names = one_name, .n = 1 };
static struct apitrace_names no_args = { .name = T("getpid") };
static struct apitrace_names open_call = { .name = T("open"), .names = path_names, .n = 4 };
static struct apitrace_names method = { .name = T("std::vector<int, (x)1>::operator[]"),
					.names = two_names,
					.n = 2 };
static struct apitrace_names push = { .name = T("glPushGroupMarkerEXT"),
				      .names = marker_names,
				      .n = 2 };
static struct apitrace_names pop = { .name = T("glPopGroupMarkerEXT") };
static struct apitrace_names frame_end = { .name = T("glFrameTerminatorGREMEDY") };
static struct apitrace_names asks = { .name = T("glIsEnabled"), .names = one_name, .n = 1 };

static struct apitrace_names point = { .name = T("point"), .names = two_names, .n = 2 };
static struct apitrace_names outer = { .name = T("outer"), .names = outer_names, .n = 3 };
static struct apitrace_names empty_struct = { .name = T("nothing") };

static const struct apitrace_number_name colours[] = {
	{ T("RED"), 0 },
	{ T("GREEN"), 1 },
	{ T("NONE"), (uint64_t)-1 },
	{ T("LOW"), (uint64_t)INT64_MIN },
};
static struct apitrace_set colour = { .values = colours, .n = 4 };
static const struct apitrace_number_name flags_of_open[] = {
	{ T("O_RDONLY"), 0 },
	{ T("O_WRONLY"), 1 },
	{ T("O_CREAT"), 0100 },
	{ T("O_HIGH"), UINT64_C(1) << 63 },
};
static struct apitrace_set open_flags = { .values = flags_of_open, .n = 4 };
static const struct apitrace_number_name plain_flags[] = { { T("A"), 1 },
							   { T("B"), 2 },
							   { T("AB"), 3 } };
static struct apitrace_set plain = { .values = plain_flags, .n = 3 };

static struct apitrace_frame frames[] = {
	{ .module = T("/bin/true"),
	  .function = T("main"),
	  .file = T("true.c"),
	  .has_line = true,
	  .line = 7,
	  .has_offset = true,
	  .offset = 0x1234 },
	{ .module = T("/bin/true"), .has_offset = true, .offset = 0 },
	{ .function = T("alone") },
	{ .file = T("only.c"), .has_line = true, .line = 0 },
	{ .module = T("m"), .file = T("f.c") },
	{ 0 },
};

/* ---- calls ---- */

static void begin_show(struct maker *m)
{
	apitrace_writer_enter(&m->w, 4242, &show);
	apitrace_writer_arg(&m->w, 0);
}

static void end_show(struct maker *m)
{
	uint32_t no = (uint32_t)m->w.calls - 1;

	end(m);
	apitrace_writer_leave(&m->w, no);
	end(m);
}

#define SHOW(m, put)                                                                               \
	do {                                                                                       \
		begin_show(m);                                                                     \
		put;                                                                               \
		end_show(m);                                                                       \
	} while (0)

static void show_numbers(struct maker *m)
{
	static const double doubles[] = { 0,      -0.0,    1,         0.1,      1.0 / 3,  1e300,
					  1e-300, DBL_MIN, 123456789, 5e15,     1e16,     1e17,
					  100000, 1234567, NAN,       INFINITY, -INFINITY };
	static const int64_t signs[] = {
		0, -1, 1, -128, 127, 128, INT64_MIN, INT64_MAX, -2147483648
	};
	struct apitrace_writer *w = &m->w;

	SHOW(m, apitrace_put_null(w));
	SHOW(m, apitrace_put_bool(w, false));
	SHOW(m, apitrace_put_bool(w, true));
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		SHOW(m, apitrace_put_sint(w, signs[i]));
	for (unsigned shift = 0; shift < 64; shift += 7)
		SHOW(m, apitrace_put_uint(w, UINT64_C(1) << shift));
	SHOW(m, apitrace_put_uint(w, UINT64_MAX));
	for (size_t i = 0; i < ARRAY_SIZE(doubles); i++) {
		SHOW(m, apitrace_put_double(w, doubles[i]));
		SHOW(m, apitrace_put_float(w, (float)doubles[i]));
	}
	SHOW(m, apitrace_put_pointer(w, 0));
	SHOW(m, apitrace_put_pointer(w, 0xdeadbeef));
	SHOW(m, apitrace_put_pointer(w, UINT64_MAX));
}

static void show_texts(struct maker *m)
{
	static const uint32_t wide[] = { 'w', 0xe4, 0x1f600, '"', '\n', 0x7f };
	struct apitrace_writer *w = &m->w;
	char all[255], blob[300] = "";

	for (unsigned i = 0; i < sizeof(all); i++)
		all[i] = (char)(i + 1);
	SHOW(m, apitrace_put_string(w, "", 0));
	SHOW(m, apitrace_put_string(w, "text", 4));
	SHOW(m, apitrace_put_string(w, "in\0side", 7));
	SHOW(m, apitrace_put_string(w, "line\nline\ttab\rcr \"\\", 19));
	SHOW(m, apitrace_put_string(w, all, sizeof(all)));
	SHOW(m, apitrace_put_string(w, "\xc3\xa4\xe2\x82\xac", 5));
	SHOW(m, apitrace_put_wstring(w, wide, ARRAY_SIZE(wide)));
	SHOW(m, apitrace_put_wstring(w, NULL, 0));
	SHOW(m, apitrace_put_blob(w, blob, sizeof(blob)));
	SHOW(m, apitrace_put_blob(w, "", 0));
}

static void show_sets(struct maker *m)
{
	static const uint64_t masks[] = { 0, 1, 0101, 0102, UINT64_MAX, UINT64_C(1) << 63 };
	static const int64_t values[] = { 0, 1, -1, INT64_MIN, 2, -2 };
	struct apitrace_writer *w = &m->w;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		SHOW(m, apitrace_put_enum(w, &colour, values[i]));
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		SHOW(m, apitrace_put_bitmask(w, &open_flags, masks[i]));
		SHOW(m, apitrace_put_bitmask(w, &plain, masks[i]));
	}
}

static void put_point(struct apitrace_writer *w, int64_t x, int64_t y)
{
	apitrace_put_struct(w, &point);
	apitrace_put_sint(w, x);
	apitrace_put_sint(w, y);
}

static void put_outer(struct apitrace_writer *w)
{
	apitrace_put_struct(w, &outer);
	apitrace_put_string(w, "1st", 3);
	put_point(w, 1, -2);
	apitrace_put_array(w, 1);
	put_point(w, 3, 4);
}

static void put_repr(struct apitrace_writer *w)
{
	apitrace_put_repr(w);
	apitrace_put_string(w, "-ENOENT", 7);
	apitrace_put_sint(w, -2);
}

static void put_arrays(struct apitrace_writer *w)
{
	apitrace_put_array(w, 3);
	apitrace_put_array(w, 0);
	apitrace_put_array(w, 1);
	apitrace_put_null(w);
	apitrace_put_array(w, 2);
	apitrace_put_uint(w, 1);
	put_repr(w);
}

static void show_containers(struct maker *m)
{
	struct apitrace_writer *w = &m->w;

	SHOW(m, put_point(w, 1, 2));
	SHOW(m, put_outer(w));
	SHOW(m, apitrace_put_struct(w, &empty_struct));
	SHOW(m, put_repr(w));
	SHOW(m, put_arrays(w));
}

/* Output parameters come at the end, and one argument never. */
static void call_open(struct maker *m)
{
	struct apitrace_writer *w = &m->w;
	uint32_t no = apitrace_writer_enter(w, 4243, &open_call);

	apitrace_writer_arg(w, 0);
	apitrace_put_string(w, "/etc/passwd", 11);
	apitrace_writer_arg(w, 1);
	apitrace_put_bitmask(w, &open_flags, 1);
	end(m);
	apitrace_writer_leave(w, no);
	apitrace_writer_arg(w, 1);
	apitrace_put_bitmask(w, &open_flags, 0100);
	apitrace_writer_arg(w, 3);
	apitrace_put_uint(w, 1500);
	apitrace_writer_ret(w);
	put_repr(w);
	end(m);
}

static void call_with_stack(struct maker *m, size_t first, size_t n, bool at_leave)
{
	struct apitrace_frame *list[ARRAY_SIZE(frames)];
	struct apitrace_writer *w = &m->w;
	uint32_t no = apitrace_writer_enter(w, UINT32_MAX, &method);

	for (size_t i = 0; i < n; i++)
		list[i] = &frames[first + i];
	if (!at_leave)
		apitrace_writer_backtrace(w, list, n);
	apitrace_writer_arg(w, 1);
	apitrace_put_uint(w, 9);
	end(m);
	apitrace_writer_leave(w, no);
	if (at_leave)
		apitrace_writer_backtrace(w, list, n);
	apitrace_writer_ret(w);
	apitrace_put_pointer(w, 0x10);
	end(m);
}

static void call_fake(struct maker *m, struct apitrace_names *function, const char *marker)
{
	struct apitrace_writer *w = &m->w;
	uint32_t no = apitrace_writer_enter(w, 1, function);

	apitrace_writer_flags(w, APITRACE_FLAG_FAKE);
	if (marker) {
		apitrace_writer_arg(w, 0);
		apitrace_put_uint(w, strlen(marker));
		apitrace_writer_arg(w, 1);
		apitrace_put_string(w, marker, strlen(marker));
	}
	end(m);
	apitrace_writer_leave(w, no);
	end(m);
}

/* Calls of three threads, in mixed order. One call never ends. */
static void call_nested(struct maker *m)
{
	struct apitrace_writer *w = &m->w;
	uint32_t no[4];

	for (uint32_t i = 0; i < ARRAY_SIZE(no); i++) {
		no[i] = apitrace_writer_enter(w, 100 + i, i % 2 ? &no_args : &asks);
		end(m);
	}
	for (uint32_t i = ARRAY_SIZE(no); i-- > 1;) {
		apitrace_writer_leave(w, no[i]);
		apitrace_writer_ret(w);
		apitrace_put_uint(w, i);
		end(m);
	}
}

static void call_many(struct maker *m, unsigned long n)
{
	struct apitrace_writer *w = &m->w;
	char text[40];

	for (unsigned long i = 0; i < n; i++) {
		uint32_t no = apitrace_writer_enter(w, (uint32_t)(7 + i % 4), &open_call);
		int size = snprintf(text, sizeof(text), "/tmp/file-%lu", i * 2654435761 % 1000003);

		apitrace_writer_arg(w, 0);
		apitrace_put_string(w, text, (size_t)size);
		apitrace_writer_backtrace(w, (struct apitrace_frame *[]){ &frames[i % 2] }, 1);
		end(m);
		apitrace_writer_leave(w, no);
		apitrace_writer_ret(w);
		apitrace_put_sint(w, (int64_t)(i % 17) - 2);
		end(m);
	}
}

static void write_all_calls(struct maker *m, unsigned long n)
{
	show_numbers(m);
	show_texts(m);
	show_sets(m);
	show_containers(m);
	call_fake(m, &push, "pid 4242 demo");
	call_open(m);
	call_fake(m, &pop, NULL);
	call_fake(m, &frame_end, NULL);
	call_with_stack(m, 0, 2, false);
	call_with_stack(m, 0, ARRAY_SIZE(frames), true);
	call_with_stack(m, 0, 0, false);
	call_nested(m);
	call_many(m, n);
}

int main(int argc, char **argv)
{
	static const struct apitrace_property properties[] = {
		{ T("process.name"), T("/usr/bin/demo") },
		{ T("kymo.clock"), T("boottime\n\"quoted\"") },
		{ T("a.first"), T("") },
	};
	enum pack_method method_of_pack = PACK_SNAPPY;
	struct maker m = { .chunk = PACK_CHUNK_MAX };

	if (argc < 2 || argc > 5)
		fail("expected OUT [METHOD [CALLS [CHUNK]]]");
	if (argc > 2 && pack_parse(argv[2], &method_of_pack) < 0)
		method_of_pack = PACK_NONE;
	if (argc > 4)
		m.chunk = strtoul(argv[4], NULL, 10);
	m.fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (m.fd < 0 || pack_init(&m.pack, method_of_pack) < 0)
		fail("cannot open OUT");
	apitrace_writer_init(&m.w, &m.stream);
	if (apitrace_writer_header(&m.w, properties, ARRAY_SIZE(properties)) < 0)
		fail("the header cannot be written");
	flush(&m);
	write_all_calls(&m, argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
	flush(&m);
	pack_deinit(&m.pack);
	outbuf_deinit(&m.stream);
	outbuf_deinit(&m.packed);
	return close(m.fd) < 0;
}
