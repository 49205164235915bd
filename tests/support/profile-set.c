/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/profile-set.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "writer/fxt/fxt-archive.h"

#define MS(n)        (1000000000 + (n)*UINT64_C(1000000))
#define KYMO         .pid = FXT_KOID_KYMO, .tid = FXT_KOID_KYMO
#define AT(ms, p, t) .ts_ns = MS(ms), .pid = (p), .tid = (t)
#define KTHREADD     FXT_KOID_KTHREADD

/* Hostile: HTML, SVG, JSON, the separators of folded stacks, and a right-to-left override. */
#define EVIL "a;b</script><script>alert(1)</script>]]>\"'&\\ 7 \u202e"

static const uint8_t kernel_id[] = { 0x11, 0x22, 0x33, 0x44 };
static const uint8_t app_id[] = { 0xaa, 0xbb, 0xcc, 0xdd, 0xee };

#define REAL(n) (MS(n) + UINT64_C(1700000000000000000))

enum {
	APP_MAIN = 0x401010,
	APP_WORK = 0x401100,
	APP_HASH = 0x401200, /* a function inlined in one that is inlined in APP_WORK's */
	APP_READ = 0x401300,
};
#define LIBC_READ  UINT64_C(0x7f0000001010)
#define PLUGIN     UINT64_C(0x7f1000000100)
#define K_SYSCALL  UINT64_C(0xffffffff81000100)
#define K_READ     UINT64_C(0xffffffff81000200)
#define K_SCHEDULE UINT64_C(0xffffffff81000300)
#define K_EXT4     UINT64_C(0xffffffffc0000040)
#define NOWHERE    UINT64_C(0x10)
#define STACK(...)                                                                                 \
	.frames = (const uint64_t[]){ __VA_ARGS__ },                                               \
	.n_frames = sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)
#define SAMPLE(ms, p, t, c, ...)                                                                   \
	{                                                                                          \
		.kind = EVENT_SAMPLE, AT(ms, p, t), .cpu = (c), .sample = { STACK(__VA_ARGS__) }   \
	}
#define TASK(p, t, name, ...)                                                                      \
	{                                                                                          \
		.kind = EVENT_TASK, .pid = (p), .tid = (t), .task = {                              \
			.comm = (name),                                                            \
			.command_line = "",                                                        \
			.is_process = (p) == (t),                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define RUNS(ms, c, from, to)                                                                      \
	{                                                                                          \
		.kind = EVENT_SWITCH, .ts_ns = MS(ms), .cpu = (c), .tid = (from),                  \
		.sw = {.next_tid = (to),                                                           \
		       .prev_prio = (from) ? 120 : FXT_IDLE_WEIGHT,                                \
		       .next_prio = (to) ? 120 : FXT_IDLE_WEIGHT,                                  \
		       .out_state = (from) ? FXT_STATE_BLOCKED : FXT_STATE_RUNNING,                \
		       .synthetic = true,                                                          \
		}                                                                                  \
	}
#define MAPPING(ms, p, ...)                                                                        \
	{                                                                                          \
		.kind = EVENT_MAPPING, AT(ms, p, p), .mapping = { __VA_ARGS__ }                    \
	}
#define FRAME(p, a, d, fn, ...)                                                                    \
	{                                                                                          \
		.kind = EVENT_FRAME, .ts_ns = MS(0), KYMO, .frame = {                              \
			.process = (p),                                                            \
			.address = (a),                                                            \
			.depth = (d),                                                              \
			.function = (fn),                                                          \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
/* What returns there. */
#define CALL(address) ((address)-1)
#define APP_SOURCE(n) .source = "/src/app.c", .line = (n), .module = "/usr/bin/app"
#define KERNEL        .source = "", .module = "[kernel.kallsyms]"

static const struct event set[] = {
	{ .kind = EVENT_START,
	  .ts_ns = MS(0),
	  KYMO,
	  .start = { .session = "profile",
		     .command = "kymo record",
		     .options = "",
		     .kernel = "6.1.0",
		     .machine = "x86_64",
		     .host = "box",
		     .version = "0.1.0",
		     .n_cpus = PROFILE_SET_CPUS } },
	{ .kind = EVENT_CLOCK, .ts_ns = MS(0), KYMO, .clock = { MS(0), MS(0), REAL(0) } },
	{ .kind = EVENT_SAMPLING, .ts_ns = MS(0), KYMO, .sampling = { 100, "cpu-clock", 1000000 } },
	TASK(KTHREADD, KTHREADD, "kthreadd"),
	TASK(KTHREADD, 12, "kworker/0:1"),
	TASK(1, 1, "init"),
	TASK(100, 100, "app", .parent_pid = 1),
	TASK(100, 101, "reader"),
	TASK(200, 200, EVIL, .parent_pid = 1),
	MAPPING(0, KTHREADD, .path = "[kernel.kallsyms]", .build_id = kernel_id,
		.build_id_size = sizeof(kernel_id), .start = 0xffffffff81000000, .size = 0x1000000),
	MAPPING(0, KTHREADD, .path = "[ext4]", .module_id = 1, .start = 0xffffffffc0000000,
		.size = 0x100000),
	MAPPING(0, 100, .path = "/usr/bin/app", .build_id = app_id, .build_id_size = sizeof(app_id),
		.start = 0x401000, .size = 0x1000, .file_offset = 0x1000, .device = 8 << 20 | 1,
		.inode = 77),
	MAPPING(0, 100, .path = "/lib/libc.so.6", .module_id = 1, .start = 0x7f0000001000,
		.size = 0x100000, .file_offset = 0x28000, .device = 8 << 20 | 1, .inode = 78),
	MAPPING(0, 200, .path = "/tmp/" EVIL, .start = 0x401000, .size = 0x1000),

	/* The one at the innermost of three functions has two lines. */
	FRAME(100, CALL(APP_MAIN), 0, "main", APP_SOURCE(10)),
	FRAME(100, APP_WORK, 0, "work", APP_SOURCE(20)),
	FRAME(100, APP_HASH, 0, "mix(unsigned int)", APP_SOURCE(31)),
	FRAME(100, APP_HASH, 1, "hash", APP_SOURCE(32)),
	FRAME(100, APP_HASH, 2, "work", APP_SOURCE(21)),
	FRAME(100, CALL(APP_READ), 0, "read_all", APP_SOURCE(40)),
	FRAME(100, LIBC_READ, 0, "read", .source = "", .module = "/lib/libc.so.6"),
	FRAME(200, APP_MAIN, 0, EVIL, .source = EVIL, .module = EVIL),
	FRAME(300, APP_MAIN, 0, "main", APP_SOURCE(10)),
	FRAME(KTHREADD, CALL(K_SYSCALL), 0, "do_syscall_64", KERNEL),
	FRAME(KTHREADD, CALL(K_READ), 0, "vfs_read", KERNEL),
	FRAME(KTHREADD, K_SCHEDULE, 0, "schedule", KERNEL),
	FRAME(KTHREADD, K_EXT4, 0, "ext4_file_read_iter", .source = "", .module = "[ext4]"),

	RUNS(0, 0, 0, 100),
	RUNS(0, 1, 0, 101),
	SAMPLE(10, 100, 100, 0, APP_HASH, APP_MAIN),
	SAMPLE(10, 100, 101, 1, K_EXT4, K_READ, K_SYSCALL, LIBC_READ, APP_READ),
	SAMPLE(20, 100, 100, 0, APP_HASH, APP_MAIN),
	SAMPLE(20, 100, 101, 1, K_EXT4, K_READ, K_SYSCALL, LIBC_READ, APP_READ),
	SAMPLE(30, 100, 100, 0, APP_HASH, APP_MAIN),
	SAMPLE(40, 100, 100, 0, APP_WORK, APP_MAIN),
	/* The reader leaves at 25 and comes back at 65, on the other CPU. */
	RUNS(25, 1, 101, 0),
	RUNS(50, 0, 100, 0),
	RUNS(65, 0, 0, 101),
	{ .kind = EVENT_OFFCPU,
	  AT(25, 100, 101),
	  .offcpu = { .end_ns = MS(65), .waker_tid = 12, .state = 'D' } },
	{ .kind = EVENT_SAMPLE,
	  AT(25, 100, 101),
	  .sample = { STACK(K_SCHEDULE, K_READ, K_SYSCALL, LIBC_READ, APP_READ),
		      .kind = SAMPLE_OFF_CPU } },
	RUNS(70, 0, 101, 100),
	{ .kind = EVENT_OFFCPU, AT(50, 100, 100), .offcpu = { .end_ns = MS(70), .state = 'S' } },
	{ .kind = EVENT_SAMPLE,
	  AT(50, 100, 100),
	  .sample = { STACK(K_SCHEDULE, K_SYSCALL, LIBC_READ, APP_MAIN), .kind = SAMPLE_OFF_CPU } },
	/* A plugin is loaded; its first sample comes before that. */
	SAMPLE(75, 100, 100, 0, PLUGIN, APP_MAIN),
	MAPPING(80, 100, .path = "/usr/lib/plugin.so", .module_id = 2, .start = 0x7f1000000000,
		.size = 0x1000, .file_offset = 0x4000),
	SAMPLE(85, 100, 100, 0, PLUGIN, APP_MAIN),
	/* A child: it has its parent's code, then its own. */
	TASK(300, 300, "app", .parent_pid = 100),
	{ .kind = EVENT_FORK, AT(90, 100, 100), .fork = { 300, 300 } },
	RUNS(90, 1, 0, 300),
	SAMPLE(92, 300, 300, 1, APP_MAIN),
	{ .kind = EVENT_EXEC,
	  AT(95, 300, 300),
	  .exec = { .file = "/bin/true", .command_line = "true" } },
	TASK(300, 300, "true", .parent_pid = 100),
	MAPPING(95, 300, .path = "/bin/true", .start = 0x401000, .size = 0x1000, .inode = 9,
		.device = 1),
	/* Of this stack only where it is in the new program is known; nobody has named it. */
	SAMPLE(97, 300, 300, 1, APP_READ, LIBC_READ, NOWHERE),
	{ .kind = EVENT_EXIT, AT(99, 300, 300), .exit = { .process_ends = true } },
	RUNS(99, 1, 300, 0),
	/* No stack could be had: neither of a sample nor of a time off CPU. */
	RUNS(100, 0, 100, 12),
	SAMPLE(101, KTHREADD, 12, 0, K_SCHEDULE),
	{ .kind = EVENT_SAMPLE, AT(102, KTHREADD, 12), .sample = { .n_frames = 0 } },
	RUNS(105, 0, 12, 200),
	SAMPLE(106, 200, 200, 0, APP_MAIN),
	SAMPLE(107, 200, 200, 0, APP_MAIN),
	{ .kind = EVENT_OFFCPU, AT(70, 100, 101), .offcpu = { .end_ns = MS(110), .state = 'T' } },
	/* The idle thread. */
	SAMPLE(111, 0, 0, 1, K_SCHEDULE),
	RUNS(120, 0, 200, 0),
	{ .kind = EVENT_CLOCK, .ts_ns = MS(120), KYMO, .clock = { MS(120), MS(120), REAL(120) } },
	{ .kind = EVENT_STOP, .ts_ns = MS(120), KYMO, .stop = { .reason = "requested" } },
};

const struct event *profile_set(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(set);
	return set;
}

void profile_set_write(struct outbuf *out, bool names)
{
	struct fxt_archive a;

	if (fxt_archive_init(&a, out, PROFILE_SET_CPUS) < 0 || fxt_archive_begin(&a) < 0)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(set); i++)
		if ((names || set[i].kind != EVENT_FRAME) && fxt_archive_event(&a, &set[i]) < 0)
			abort();
	fxt_archive_deinit(&a);
}
