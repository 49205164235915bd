/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GDB trace files, written: lines and bytes made by hand, limits, errors, and the script for a
 * file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "writer/tfile/tfile-script.h"
#include "writer/tfile/tfile-writer.h"
#include "writer/tfile/tfile-x86-64.h"

static const char *const commands[] = { "collect $regs", "collect $tid" };
static const char *const actions[] = { "R0f" };
static const char *const keys[] = { "later:1" };
static const char *const description[] = { "<target>", "</target>" };
static const char *const others[] = { "future x" };
static const uint8_t condition[] = { 0x22, 0x01, 0x27 };

static const struct tfile_variable variables[] = {
	{ 1, 0, true, "trace_timestamp" },
	{ 10, -2, false, "tid" },
};

static const struct tfile_tracepoint tracepoints[] = {
	{ .number = 1, .address = 0x401136, .commands = commands, .n_commands = 2 },
	{ .number = 16,
	  .address = 0xffffffff81000000,
	  .disabled = true,
	  .is_static = true,
	  .is_fast = true,
	  .fast_bytes = 5,
	  .steps = 2,
	  .passes = 0x64,
	  .condition = condition,
	  .condition_bytes = sizeof(condition),
	  .actions = actions,
	  .n_actions = 1,
	  .step_actions = actions,
	  .n_step_actions = 1,
	  .at = "main",
	  .condition_text = "x > 4",
	  .has_counts = true,
	  .hits = 3,
	  .usage_bytes = 0x140 },
};

static const struct tfile_map maps[] = {
	{ 0x400000, 0x401000, 0x1000, "c0de", "/bin/a--b" },
	{ 0x402000, 0x403000, 0, "", "/<x>\n" },
};

static const struct tfile_head head = {
	.register_bytes = 164,
	.status = { .stop = TFILE_STOP_ERROR,
		    .stop_text = "no",
		    .stop_tracepoint = 16,
		    .has = TFILE_HAS_FRAMES | TFILE_HAS_CREATED | TFILE_HAS_FREE | TFILE_HAS_SIZE |
			   TFILE_HAS_CIRCULAR | TFILE_HAS_DISCONNECTED | TFILE_HAS_START |
			   TFILE_HAS_STOP,
		    .frames = 26,
		    .created = 32,
		    .free_bytes = 0x100,
		    .size_bytes = 0x500000,
		    .circular = 1,
		    .disconnected = 1,
		    .start_us = 0x60a24181e4000,
		    .stop_us = 0x60a2418352360,
		    .user = "me",
		    .notes = "a b",
		    .keys = keys,
		    .n_keys = 1 },
	.variables = variables,
	.n_variables = 2,
	.tracepoints = tracepoints,
	.n_tracepoints = 2,
	.description = description,
	.n_description = 2,
	.maps = maps,
	.n_maps = 2,
	.others = others,
	.n_others = 1,
};

static const char head_text[] =
	"\x7fTRACE0\n"
	"R a4\n"
	"status 0;terror:6e6f:10;tframes:1a;tcreated:20;tfree:100;tsize:500000;circular:1;"
	"disconn:1;starttime:60a24181e4000;stoptime:60a2418352360;username:6d65;notes:612062;"
	"later:1\n"
	"tsv 1:0:1:74726163655f74696d657374616d70\n"
	"tsv a:fffffffffffffffe:0:746964\n"
	"tp T10:ffffffff81000000:D:2:64:F5:S:X3,220127\n"
	"tp A10:ffffffff81000000:R0f\n"
	"tp S10:ffffffff81000000:R0f\n"
	"tp Z10:ffffffff81000000:at:0:4:6d61696e\n"
	"tp Z10:ffffffff81000000:cond:0:5:78203e2034\n"
	"tp V10:ffffffff81000000:3:140\n"
	"tp T1:401136:E:0:0\n"
	"tp Z1:401136:at:0:9:2a3078343031313336\n"
	"tp Z1:401136:cmd:0:d:636f6c6c656374202472656773\n"
	"tp Z1:401136:cmd:0:c:636f6c6c6563742024746964\n"
	"tdesc <target>\n"
	"tdesc </target>\n"
	"tdesc <!-- map 400000 401000 1000 c0de /bin/a%2d%2db -->\n"
	"tdesc <!-- map 402000 403000 0 none /%3cx>%0a -->\n"
	"future x\n"
	"\n";

static void assert_bytes(const struct outbuf *b, const void *expected, size_t n)
{
	assert_int_equal(b->size, n);
	assert_memory_equal(b->data, expected, n);
}

TEST(test_head)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	assert_int_equal(tfile_writer_head(&b, &head), 0);
	assert_bytes(&b, head_text, sizeof(head_text) - 1);
}

TEST(test_head_keeps_order)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct tfile_head h = head;

	h.keep_order = true;
	assert_int_equal(tfile_writer_head(&b, &h), 0);
	outbuf_append(&b, "", 1);
	assert_true(strstr((char *)b.data, "tp T1:") < strstr((char *)b.data, "tp T10:"));
}

TEST(test_reasons)
{
	static const struct {
		struct tfile_status status;
		const char *line;
	} cases[] = {
		{ { .running = true }, "status 1;tunknown:0\n" },
		{ { .stop = TFILE_STOP_NOT_RUN }, "status 0;tnotrun:0\n" },
		{ { .stop = TFILE_STOP_COMMAND }, "status 0;tstop::0\n" },
		{ { .stop = TFILE_STOP_COMMAND, .stop_text = "x" }, "status 0;tstop:78:0\n" },
		{ { .stop = TFILE_STOP_FULL }, "status 0;tfull:0\n" },
		{ { .stop = TFILE_STOP_DISCONNECTED }, "status 0;tdisconnected:0\n" },
		{ { .stop = TFILE_STOP_PASSES, .stop_tracepoint = 2 }, "status 0;tpasscount:2\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
		struct tfile_head h = { .register_bytes = 1, .status = cases[i].status };

		assert_int_equal(tfile_writer_head(&b, &h), 0);
		outbuf_append(&b, "", 1);
		assert_non_null(strstr((char *)b.data, cases[i].line));
	}
}

/* Writing H fails with E, and writes nothing. */
static void assert_refused(const struct tfile_head *h, int e)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	outbuf_append(&b, "before", 6);
	assert_int_equal(tfile_writer_head(&b, h), e);
	assert_int_equal(b.size, 6);
	assert_int_equal(b.error, 0);
}

TEST(test_head_refused)
{
	static const char *const broken[] = { "a\nb" };
	static const char *const included[] = { "<xi:include href=\"/etc/passwd\"/>" };
	static const char *const empty[] = { "" };
	static const char *const no_key[] = { "nothing" };
	char long_text[1100];
	const char *const long_list[] = { long_text };
	struct tfile_tracepoint t = { .number = 0 };
	struct tfile_variable v = { .number = 0x80000000, .name = "x" };
	struct tfile_head h;

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
#define REFUSED(e, ...)                                                                            \
	h = (struct tfile_head){ __VA_ARGS__ };                                                    \
	assert_refused(&h, e)

	REFUSED(-EINVAL, .register_bytes = 0);
	REFUSED(-EINVAL, .register_bytes = TFILE_REGISTERS_MAX + 1);
	REFUSED(-EINVAL, .register_bytes = 8, .n_tracepoints = TFILE_LIST_MAX + 1);
	REFUSED(-EINVAL, .register_bytes = 8, .tracepoints = &t, .n_tracepoints = 1);
	t.number = 32768;
	REFUSED(-EINVAL, .register_bytes = 8, .tracepoints = &t, .n_tracepoints = 1);
	t = (struct tfile_tracepoint){ .number = 1, .at = "a\nb" };
	REFUSED(-EINVAL, .register_bytes = 8, .tracepoints = &t, .n_tracepoints = 1);
	t = (struct tfile_tracepoint){ .number = 1, .commands = long_list, .n_commands = 1 };
	REFUSED(-EOVERFLOW, .register_bytes = 8, .tracepoints = &t, .n_tracepoints = 1);
	REFUSED(-EINVAL, .register_bytes = 8, .variables = &v, .n_variables = 1);
	REFUSED(-EINVAL, .register_bytes = 8, .description = broken, .n_description = 1);
	REFUSED(-EINVAL, .register_bytes = 8, .description = included, .n_description = 1);
	REFUSED(-EOVERFLOW, .register_bytes = 8, .description = long_list, .n_description = 1);
	REFUSED(-EINVAL, .register_bytes = 8, .maps = maps, .n_maps = 1);
	REFUSED(-EINVAL, .register_bytes = 8, .others = empty, .n_others = 1);
	REFUSED(-EINVAL, .register_bytes = 8, .status = { .keys = no_key, .n_keys = 1 });
	REFUSED(-EINVAL, .register_bytes = 8, .status = { .stop = TFILE_STOPS });
	REFUSED(-EINVAL, .register_bytes = 8,
		.status = { .stop = TFILE_STOP_FULL, .stop_text = "x" });
	REFUSED(-EOVERFLOW, .register_bytes = 8, .status = { .notes = long_text });
#undef REFUSED
}

/* GDB reads 999 bytes. A path of any length is cut. */
TEST(test_long_lines)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	char line[1000], path[5000];
	const char *const lines[] = { line };
	struct tfile_map map = { 1, 2, 3, "", path };
	struct tfile_head h = { .register_bytes = 1, .others = lines, .n_others = 1 };

	memset(line, 'x', sizeof(line));
	line[999] = '\0';
	memset(path, '-', sizeof(path));
	path[4999] = '\0';
	h.description = description;
	h.n_description = 2;
	h.maps = &map;
	h.n_maps = 1;
	assert_int_equal(tfile_writer_head(&b, &h), 0);
	for (size_t at = 0, n; at < b.size; at += n + 1) {
		n = (size_t)((uint8_t *)memchr(b.data + at, '\n', b.size - at) - (b.data + at));
		assert_in_range(n, 0, 999);
	}
	outbuf_append(&b, "", 1);
	assert_non_null(strstr((char *)b.data, "%2d%2d... -->\n"));
}

/* ---- frames ---- */

static const uint8_t registers[] = { 1, 2, 3, 4 };
static const struct tfile_block blocks[] = {
	{ .kind = TFILE_REGISTERS, .registers = { registers, 4 } },
	{ .kind = TFILE_MEMORY, .memory = { 0x1122334455667788, (const uint8_t *)"hey", 3 } },
	{ .kind = TFILE_MEMORY, .memory = { 0x1000, NULL, 0 } },
	{ .kind = TFILE_VARIABLE, .variable = { 10, -2 } },
};
static const struct tfile_frame frame = { 0x102, blocks, 4 };

static const char little[] = "\x02\x01\x20\0\0\0"
			     "R\x01\x02\x03\x04"
			     "M\x88\x77\x66\x55\x44\x33\x22\x11\x03\0hey"
			     "V\x0a\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff"
			     "\0\0\0";
static const char big[] = "\x01\x02\0\0\0\x20"
			  "R\x01\x02\x03\x04"
			  "M\x11\x22\x33\x44\x55\x66\x77\x88\0\x03hey"
			  "V\0\0\0\x0a\xff\xff\xff\xff\xff\xff\xff\xfe"
			  "\0\0\0";

TEST(test_frame)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct tfile_writer w;

	tfile_writer_init(&w, &b, 4, TFILE_LITTLE);
	assert_int_equal(tfile_writer_frame(&w, &frame), 0);
	assert_int_equal(tfile_writer_end(&w), 0);
	assert_int_equal(w.frames, 1);
	assert_bytes(&b, little, sizeof(little));
	outbuf_reset(&b);
	tfile_writer_init(&w, &b, 4, TFILE_BIG);
	assert_int_equal(tfile_writer_frame(&w, &frame), 0);
	assert_int_equal(tfile_writer_end(&w), 0);
	assert_bytes(&b, big, sizeof(big));
}

TEST(test_memory_is_split)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	_cleanup_free_ uint8_t *bytes = malloc(65536);
	struct tfile_block block = { .kind = TFILE_MEMORY, .memory = { 0x10000, bytes, 65536 } };
	struct tfile_frame f = { 1, &block, 1 };
	struct tfile_writer w;

	memset(bytes, 'a', 65536);
	tfile_writer_init(&w, &b, 4, TFILE_LITTLE);
	assert_int_equal(tfile_writer_frame(&w, &f), 0);
	assert_int_equal(b.size, 6 + 65536 + 2 * 11);
	assert_memory_equal(b.data, "\x01\0\x16\0\x01\0M\0\0\x01\0\0\0\0\0\xff\xff", 17);
	assert_memory_equal(b.data + 17 + 65535, "M\xff\xff\x01\0\0\0\0\0\x01\0a", 12);
	/* one less fits */
	outbuf_reset(&b);
	block.memory.n = 65535;
	assert_int_equal(tfile_writer_frame(&w, &f), 0);
	assert_int_equal(b.size, 6 + 65535 + 11);
}

static void assert_frame_refused(struct tfile_block block, uint32_t tracepoint, int e)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	const struct tfile_frame f = { tracepoint, &block, 1 };
	struct tfile_writer w;

	tfile_writer_init(&w, &b, 4, TFILE_LITTLE);
	assert_int_equal(tfile_writer_frame(&w, &f), e);
	assert_int_equal(b.size, 0);
	assert_int_equal(w.frames, 0);
}

TEST(test_frame_refused)
{
	const struct tfile_block twice[] = { blocks[0], blocks[0] };
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct tfile_block block = blocks[0];
	struct tfile_writer w;

	assert_frame_refused(block, 0, -EINVAL);
	assert_frame_refused(block, 32768, -EINVAL);
	block.registers.n = 3;
	assert_frame_refused(block, 1, -EINVAL);
	block = blocks[1];
	block.memory.address = UINT64_MAX;
	assert_frame_refused(block, 1, -EINVAL);
	block.memory.address = 0;
	block.memory.n = TFILE_FRAME_MAX;
	assert_frame_refused(block, 1, -EOVERFLOW);
	block = blocks[3];
	block.variable.number = 0x80000000;
	assert_frame_refused(block, 1, -EINVAL);
	block.kind = 'X';
	assert_frame_refused(block, 1, -EINVAL);
	tfile_writer_init(&w, &b, 4, TFILE_LITTLE);
	assert_int_equal(tfile_writer_frame(&w, &(struct tfile_frame){ 1, twice, 2 }), -EINVAL);
	/* the buffer's own failure */
	b.limit = 16;
	assert_int_equal(tfile_writer_frame(&w, &frame), -EMSGSIZE);
}

TEST(test_x86_64)
{
	const struct tfile_x86_64 r = {
		.rax = 0x1122334455667788, .rip = 0x401136, .eflags = 0x246, .gs = 0x2b
	};
	struct tfile_head h = { .register_bytes = TFILE_X86_64_BYTES };
	uint8_t bytes[TFILE_X86_64_BYTES + 1];

	memset(bytes, 0xaa, sizeof(bytes));
	tfile_x86_64_put(bytes, &r);
	assert_memory_equal(bytes, "\x88\x77\x66\x55\x44\x33\x22\x11\0", 9);
	assert_memory_equal(bytes + 128, "\x36\x11\x40\0\0\0\0\0\x46\x02\0\0", 12);
	assert_memory_equal(bytes + 160, "\x2b\0\0\0\xaa", 5);
	assert_string_equal(tfile_x86_64_names[16], "rip");
	assert_false(tfile_x86_64_is(&h));
	h.description = tfile_x86_64_description(&h.n_description);
	assert_true(tfile_x86_64_is(&h));
	h.register_bytes--;
	assert_false(tfile_x86_64_is(&h));
}

/* ---- the script ---- */

static const struct tfile_script_frame frames[] = { { 0, 1, 4242, 1000000, "main.c:42" },
						    { 1, 2, 4243, 2000000, "" } };

TEST(test_script)
{
	static const struct tfile_script_file libraries[] = {
		{ "/lib/it's one.so", "c0de", 0x7f0000000000 },
	};
	static const char *const comments[] = { "made of x.fxt", "esc \x1b[1m" };
	static const char expected[] = "# made of x.fxt\n"
				       "# esc \xef\xbf\xbd[1m\n"
				       "set confirm off\n"
				       "file /bin/a\\ b\n"
				       "symbol-file -o 0x555555554000 /bin/a\\ b\n"
				       "# build ID c0de\n"
				       "add-symbol-file -o 0x7f0000000000 /lib/it\\'s\\ one.so\n"
				       "set confirm on\n"
				       "target tfile x y.tf\n"
				       "tfind 0\n"
				       "sharedlibrary\n"
				       "\n"
				       "# tfind NUMBER goes to a frame:\n"
				       "# NUMBER  TRACEPOINT  THREAD  NANOSECONDS\n"
				       "#      0           1    4242      1000000  main.c:42\n"
				       "#      1           2    4243      2000000\n";
	const struct tfile_script s = {
		.trace = "x y.tf",
		.program = { "/bin/a b", "", 0x555555554000 },
		.libraries = libraries,
		.n_libraries = 1,
		.comments = comments,
		.n_comments = 2,
		.frames = frames,
		.n_frames = 2,
		.has_link_map = true,
	};
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	assert_int_equal(tfile_script_write(&b, &s), 0);
	assert_bytes(&b, expected, sizeof(expected) - 1);
}

TEST(test_script_refused)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct tfile_script s = { .trace = "a\nshell true" };

	assert_int_equal(tfile_script_write(&b, &s), -EINVAL);
	s.trace = "";
	assert_int_equal(tfile_script_write(&b, &s), -EINVAL);
	s.trace = "x.tf";
	s.program = (struct tfile_script_file){ "/bin/a\nshell true", "", 0 };
	assert_int_equal(tfile_script_write(&b, &s), -EINVAL);
	assert_int_equal(b.size, 0);
	s.program.path = NULL;
	assert_int_equal(tfile_script_write(&b, &s), 0);
	assert_bytes(&b, "set confirm off\nset confirm on\ntarget tfile x.tf\ntfind 0\n", 57);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_head_keeps_order),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_head_refused),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_memory_is_split),
		cmocka_unit_test(test_frame_refused),
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_script_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
