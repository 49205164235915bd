/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of a process whose first thread ends, while a probe of another consumer keeps all of
 * its breakpoints in place.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/heap/heap-probes.h"
#include "capture/proc/task-state.h"
#include "tests/support/fixtures/commands.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"

enum { HELD_MAX = 16 };

/* ---- the process ---- */

struct load {
	pid_t pid;
	int go_fd; /* when it is closed, the first thread ends */
};

static void *go_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* Does not return. */
static void run_load(int wait_fd)
{
	pthread_t thread;
	char byte;

	if (pthread_create(&thread, NULL, go_on, NULL) != 0)
		_exit(1);
	while (read(wait_fd, &byte, 1) > 0)
		;
	pthread_exit(NULL);
}

static unsigned n_threads(pid_t pid)
{
	unsigned n = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Threads: %u", &n);
	if (f)
		fclose(f);
	return n;
}

static struct load begin_load(void)
{
	struct load load;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	load.pid = fork();
	if (load.pid == 0) {
		close(fds[1]);
		run_load(fds[0]);
	}
	close(fds[0]);
	load.go_fd = fds[1];
	assert_soon(n_threads(load.pid) == 2);
	return load;
}

/* ---- probes ---- */

static int load_program(enum probes_way way, enum probes_program program)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = (enum bpf_attach_type)probes_attach_type(way, program));

	if (!probes_use(way, program))
		return -1;
	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, ARRAY_SIZE(insns), &opts);
}

/* The probes of another consumer. */
struct held {
	pid_t task;
	struct probes *probes[HELD_MAX];
	size_t n;
};

static int hold_file(const struct allocator_file *file, void *userdata)
{
	struct held *held = userdata;
	struct probes_target target = {
		.way = PROBES_HOLD,
		.pid = held->task,
		.fd = file->fd,
		.probes = file->list->probes,
		.n = file->list->n,
	};
	struct probes_failed failed;

	for (size_t i = 0; i < PROBES_PROGRAMS; i++)
		target.programs[i] = -1;
	if (file->error < 0 || target.n == 0)
		return 0;
	assert_true(held->n < HELD_MAX);
	assert_int_equal(probes_new(&target, &held->probes[held->n++], &failed), 0);
	return 0;
}

/* The means to probe a process. */
struct means {
	struct allocator_cache *cache;
	struct probe_attacher *attacher;
	struct session_options options;
	struct collector_memory own;
	struct memory_sink sink;
	struct heap_probes_args how;
	struct probe_removals *removals;
	uint64_t cpu_ns;
};

static void get_means(struct means *m, enum probes_way way)
{
	*m = (struct means){ .options.categories = CATEGORY_MEMORY, .own.way = way };
	for (size_t i = 0; i < PROBES_PROGRAMS; i++)
		m->own.programs[i] = load_program(way, (enum probes_program)i);
	m->own.owners_fd = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, 4, 4, 8, NULL);
	assert_int_equal(allocator_cache_new(ALLOCATORS_NS_MAX, &m->cache), 0);
	/* (its guards rest after half a second, which must not count as a removal by others) */
	probe_removals_set_parent("attacher");
	assert_int_equal(probe_attacher_new(&m->cpu_ns, &m->attacher), 0);
	probe_removals_set_parent("run");
	assert_int_equal(probe_removals_open(&m->removals), 0);
	m->how = (struct heap_probes_args){ &m->options, &m->own,     m->cache,
					    &m->sink,    m->attacher, m->removals };
}

static void end_means(struct means *m)
{
	probe_attacher_free(m->attacher);
	probe_removals_free(m->removals);
	allocator_cache_free(m->cache);
	for (size_t i = 0; i < PROBES_PROGRAMS; i++)
		close_fd(m->own.programs[i]);
	close_fd(m->own.owners_fd);
}

/* When another recorder removes probes. */
enum removal {
	REMOVAL_NONE,
	REMOVAL_BEFORE,  /* it ends before the first thread does */
	REMOVAL_UNKNOWN, /* likewise, but the time of that end is unknown */
	REMOVAL_AFTER,   /* it begins when the first thread has ended */
	REMOVAL_DURING,  /* it goes on all the time */
};

static void begin_removal(struct probe_removals *removals)
{
	for (unsigned slot = 0; slot < PROBE_REMOVALS_SLOTS; slot++)
		probe_removals_begin(removals, slot);
}

/* Ends the removal, and waits until a later one can be distinguished from it. */
static void end_removal(struct probe_removals *removals, const struct probe_removals *reader)
{
	probe_removals_end(removals);
	for (unsigned slot = 0; slot < PROBE_REMOVALS_SLOTS; slot++)
		assert_soon(!probe_removals_since(reader, slot, clock_boot_ns()));
}

/* Whether a gap is seen when the first thread ends, with probes set in this WAY. */
static bool has_gap_without_first_thread(enum probes_way way, enum removal removal)
{
	_cleanup_free_ struct heap_probes *traced = calloc(1, sizeof(*traced));
	_cleanup_(probe_removals_freep) struct probe_removals *others = NULL;
	struct load load = begin_load();
	struct held held = { 0 };
	struct means means;
	pid_t other;

	get_means(&means, way);
	assert_int_equal(probe_removals_open(&others), 0);
	traced->pid = (uint32_t)load.pid;
	assert_true(heap_probes_check(traced, &means.how) > 0);
	assert_false(traced->has_gap);

	if (removal != REMOVAL_NONE && removal != REMOVAL_AFTER)
		begin_removal(others);
	if (removal == REMOVAL_BEFORE || removal == REMOVAL_UNKNOWN)
		end_removal(others, means.removals);
	if (removal != REMOVAL_UNKNOWN)
		traced->unheld_ns = clock_boot_ns();
	close(load.go_fd);
	assert_soon(task_state_is_ending(load.pid, load.pid));
	other = task_state_oldest(load.pid);
	assert_true(other > 0 && other != load.pid);
	held.task = other;
	assert_int_equal(allocators_of_process(other, means.cache, hold_file, &held), 0);
	assert_true(held.n > 0);
	if (removal == REMOVAL_AFTER) {
		begin_removal(others);
		probe_removals_end(others);
	}
	heap_probes_check(traced, &means.how);
	assert_int_equal(traced->holder, other);
	assert_int_equal(traced->unheld_ns, 0);

	probes_free_all(held.probes, held.n);
	heap_probes_strip(traced, &means.how);
	kill(load.pid, SIGKILL);
	waitpid(load.pid, NULL, 0);
	end_means(&means);
	return traced->has_gap;
}

static void need_programs(void)
{
	_cleanup_close_ int fd = load_program(PROBES_PERF, PROBES_ENTRY);

	if (fd == -EPERM) {
		print_message("skip: no rights for programs\n");
		skip();
	}
	assert_true(fd >= 0);
}

/* An event's program ends with its thread, also if another consumer keeps the breakpoint. */
TEST(test_perf_events)
{
	need_programs();
	assert_true(has_gap_without_first_thread(PROBES_PERF, REMOVAL_NONE));
}

/*
 * The program of a link runs wherever a breakpoint is. If other probes are removed meanwhile, a
 * breakpoint can be missing for a while.
 */
TEST(test_links)
{
	need_programs();
	if (probes_way() == PROBES_PERF) {
		print_message("skip: no links\n");
		skip();
	}
	assert_false(has_gap_without_first_thread(probes_way(), REMOVAL_NONE));
	assert_false(has_gap_without_first_thread(probes_way(), REMOVAL_BEFORE));
	assert_true(has_gap_without_first_thread(probes_way(), REMOVAL_UNKNOWN));
	assert_true(has_gap_without_first_thread(probes_way(), REMOVAL_AFTER));
	assert_true(has_gap_without_first_thread(probes_way(), REMOVAL_DURING));
}

static bool call_off(void *called_off)
{
	return *(const bool *)called_off;
}

/* The files that a check has missed were mapped before those that the next check is for. */
TEST(test_missed)
{
	_cleanup_free_ struct heap_probes *traced = calloc(1, sizeof(*traced));
	bool called_off = true;
	uint64_t checked_ns;
	struct means means;
	struct load load;

	need_programs();
	load = begin_load();
	get_means(&means, probes_way());
	means.sink.called_off = call_off;
	means.sink.userdata = &called_off;
	traced->pid = (uint32_t)load.pid;
	for (traced->mapped_ns = 1000; traced->n_checks < 2; traced->n_checks++) {
		assert_int_equal(heap_probes_check(traced, &means.how), 0);
		assert_int_equal(traced->found.mapped_ns, 1000);
		traced->mapped_ns = 2000;
	}
	called_off = false;
	assert_true(heap_probes_check(traced, &means.how) > 0);
	assert_int_equal(traced->found.mapped_ns, 1000);
	/* That check was complete. */
	checked_ns = traced->checked_ns;
	assert_true(checked_ns > 2000);
	heap_probes_check(traced, &means.how);
	assert_int_equal(traced->found.mapped_ns, checked_ns);
	traced->mapped_ns = UINT64_MAX;
	heap_probes_check(traced, &means.how);
	assert_int_equal(traced->found.mapped_ns, UINT64_MAX);
	heap_probes_strip(traced, &means.how);
	kill(load.pid, SIGKILL);
	waitpid(load.pid, NULL, 0);
	close(load.go_fd);
	end_means(&means);
}

/* A check that is cancelled selects a holder, which gets its probes at the next check. */
TEST(test_unheld)
{
	_cleanup_free_ struct heap_probes *traced = calloc(1, sizeof(*traced));
	bool called_off = false;
	struct means means;
	struct load load;

	need_programs();
	load = begin_load();
	get_means(&means, probes_way());
	means.sink.called_off = call_off;
	means.sink.userdata = &called_off;
	traced->pid = (uint32_t)load.pid;
	assert_true(heap_probes_check(traced, &means.how) > 0);
	called_off = true;
	heap_probes_check(traced, &means.how);
	assert_false(traced->has_gap);
	close(load.go_fd);
	assert_soon(task_state_is_ending(load.pid, load.pid));
	heap_probes_check(traced, &means.how);
	assert_true(traced->holder > 0);
	assert_false(heap_probes_lack_holder(traced));
	assert_true(traced->has_gap);
	assert_true(traced->unheld_ns > 0);
	called_off = false;
	heap_probes_check(traced, &means.how);
	assert_int_equal(traced->unheld_ns, 0);
	heap_probes_strip(traced, &means.how);
	kill(load.pid, SIGKILL);
	waitpid(load.pid, NULL, 0);
	end_means(&means);
}

/*
 * The probes of free() are refused, or all: its allocator is not watched completely. So it is at
 * the next checks, which do not place them again. So are the probes for threads.
 */
TEST(test_refused_probes)
{
	static const struct {
		bool without[PROBES_PROGRAMS];
		bool allocates, is_partial;
		uint32_t categories;
	} rows[] = {
		{ .allocates = true },
		{ { true, true, true, true, true }, false, true, CATEGORY_THREADS },
		{ { [PROBES_ENTRY] = true }, true, true },
		{ { true, true, true, true, true }, false, true },
	};

	const uint32_t memory = (UINT32_C(1) << MEMORY_FN_PTHREAD_CREATE) - 1;

	need_programs();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ struct heap_probes *traced = calloc(1, sizeof(*traced));
		struct load load = begin_load();
		struct means means;

		get_means(&means, probes_way());
		if (rows[i].categories)
			means.options.categories = rows[i].categories;
		for (size_t j = 0; j < PROBES_PROGRAMS; j++)
			if (rows[i].without[j]) {
				close_fd(means.own.programs[j]);
				means.own.programs[j] = -1;
			}
		traced->pid = (uint32_t)load.pid;
		for (unsigned check = 0; check < 2; check++) {
			heap_probes_check(traced, &means.how);
			assert_true(traced->found.any);
			assert_int_equal(traced->found.allocates, rows[i].allocates);
			assert_int_equal(traced->found.missing != 0, rows[i].is_partial);
			/* (the functions tell which resources are incomplete) */
			assert_int_equal((traced->found.missing & memory) != 0,
					 rows[i].is_partial && !rows[i].categories);
			if (rows[i].allocates)
				assert_int_equal(traced->found.missing >> MEMORY_FN_MALLOC & 1, 0);
			if (rows[i].allocates && rows[i].is_partial)
				assert_int_equal(traced->found.missing >> MEMORY_FN_FREE & 1, 1);
		}
		heap_probes_strip(traced, &means.how);
		kill(load.pid, SIGKILL);
		waitpid(load.pid, NULL, 0);
		close(load.go_fd);
		end_means(&means);
	}
}

/* All probes of a file are refused. This matters unless they only identify the callers of malloc().
 */
TEST(test_refused_files)
{
	static const struct {
		const char *code;
		uint32_t categories;
		bool is_partial;
	} rows[] = {
		{ "void *malloc(unsigned long n) { return (void *)n; }", CATEGORY_MEMORY, true },
		{ "void free(void *p) {}", CATEGORY_MEMORY, true },
		{ "void free(void *p) {}", CATEGORY_THREADS, false },
		{ "int pthread_join(unsigned long t, void **r) { return 0; }", CATEGORY_THREADS,
		  true },
		{ "int pthread_join(unsigned long t, void **r) { return 0; }", CATEGORY_MEMORY,
		  false },
		{ "void *malloc(unsigned long); void *_Znwm(unsigned long n) { return malloc(n); }",
		  CATEGORY_MEMORY, false },
	};
	char dir[] = "/tmp/kymo-test-heap-probes.XXXXXX", path[64];

	need_programs();
	if (system("cc --version >/dev/null 2>&1") != 0) {
		print_message("skip: no compiler\n");
		skip();
	}
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/refused.so", dir);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ struct heap_probes *traced = calloc(1, sizeof(*traced));
		struct load load = begin_load();
		struct means means;
		int fd;

		assert_int_equal(command_in(dir,
					    "echo '%s' >refused.c && rm -f refused.so && "
					    "cc -w -O1 -fno-builtin -shared -nostdlib -fPIC "
					    "-o refused.so refused.c",
					    rows[i].code),
				 0);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		get_means(&means, probes_way());
		means.options.categories = rows[i].categories;
		means.options.memory.allocators = (struct option_files){ &fd, 1 };
		for (size_t j = 0; j < PROBES_PROGRAMS; j++) {
			close_fd(means.own.programs[j]);
			means.own.programs[j] = -1;
		}
		traced->pid = (uint32_t)load.pid;
		heap_probes_check(traced, &means.how);
		assert_true(traced->announced.any);
		heap_probes_strip(traced, &means.how);
		kill(load.pid, SIGKILL);
		waitpid(load.pid, NULL, 0);
		close(load.go_fd);
		close(fd);
		end_means(&means);
		/* (a process that a failure left would keep the output open) */
		if ((traced->announced.missing != 0) != rows[i].is_partial)
			fail_msg("%s: missing: %#x", rows[i].code, traced->announced.missing);
	}
	assert_int_equal(command_in(dir, "rm -f refused.c refused.so log"), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* Removals by other recorders of the machine are not seen here. */
FIXTURE(set_up)
{
	int r = own_directory_set_up(state);

	setenv("RUNTIME_DIRECTORY", "run", 1);
	return r;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_events),    cmocka_unit_test(test_links),
		cmocka_unit_test(test_missed),         cmocka_unit_test(test_unheld),
		cmocka_unit_test(test_refused_probes), cmocka_unit_test(test_refused_files),
	};

	return cmocka_run_group_tests(tests, set_up, own_directory_tear_down);
}
