/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare-stacks FREQUENCY MS COMMAND ...: records COMMAND for MS milliseconds, and then kills it.
 * It compares each stack that the eBPF programs ("the programs" below) have walked with the result
 * of elfutils' libdw. libdw gets the registers and a copy of 64 KiB of the stack, which perf has
 * saved in the same sample. (The linker wraps the functions that open the sampler's events and
 * handle samples.)
 *
 * If COMPARE_TABLES is set, libdw takes the tables of COMMAND from that file, which is equal to
 * COMMAND but for its debug information.
 *
 * Prints the number of samples of each class, one per line: `equal`; those whose frames are equal
 * up to the end of the shorter stack, by the reason for that end; and `other`, of which there
 * should be none: those are printed.
 */
#include <asm/perf_regs.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/table.h"
#include "bpf/record-python.h"
#include "capture/perf/perf-event.h"
#include "capture/stages/profiler-parts.h"
#include "capture/programs/collector-parts.h"
#include "capture/session/session.h"

enum {
	CPUS_MAX = 64,
	RING_PAGES = 2048, /* a power of two */
	FRAMES_MAX = 1024, /* maximum for libdw */
	SHOWN_MAX = 5,
	COPY_BYTES = 65528, /* the maximum of perf */
	SKIPPED_WORDS = 8,  /* of the frames of V8's builtins */
};

/* AX to IP, and R8 to R15. */
#define REGISTERS_MASK UINT64_C(0xff01ff)
enum { N_REGISTERS = 17 };

#define NEAR_NS  100000    /* between both times of a sample */
#define EARLY_NS 200000000 /* after the first sample; COMPARE_EARLY_MS has another time */

/* A sample of perf. */
struct perf_copy {
	uint64_t ts_ns;
	uint32_t tid;
	uint64_t registers[N_REGISTERS];
	uint64_t n_bytes; /* valid bytes */
	uint8_t *stack;
};

/* A sample of the programs, as walked. */
struct walked {
	uint64_t ts_ns;
	uint32_t tid;
	unsigned n_frames; /* native ones */
	bool is_full;
	uint64_t *frames;
};

static struct perf_copy *copies;
static size_t n_copies, room_copies;
static struct walked *walks;
static size_t n_walks, room_walks;
static struct perf_event_mmap_page *rings[CPUS_MAX];
static unsigned n_rings;
static struct table stacks; /* id -> struct walked with the frames of the stack */
static pid_t child;
static const char *command;

static void die(const char *what)
{
	fprintf(stderr, "compare-stacks: %s: %s\n", what, strerror(errno));
	if (child > 0)
		kill(child, SIGKILL);
	exit(1);
}

static void *more(void *list, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return list;
	*room = n ? 2 * n : 256;
	list = reallocarray(list, *room, size);
	if (!list)
		die("no memory");
	return list;
}

/* ---- wrapped functions ---- */

__typeof__(collector_configure_unwinding) __real_collector_configure_unwinding,
	__wrap_collector_configure_unwinding;
__typeof__(perf_event_open_cpu) __real_perf_event_open_cpu, __wrap_perf_event_open_cpu;
__typeof__(stacks_add) __real_stacks_add, __wrap_stacks_add;
__typeof__(profiler_on_sample) __real_profiler_on_sample, __wrap_profiler_on_sample;

int __wrap_collector_configure_unwinding(struct collector *c, const struct session_options *o)
{
	c->skel->rodata->tick_passes_on = true;
	return __real_collector_configure_unwinding(c, o);
}

int __wrap_perf_event_open_cpu(struct perf_event_attr *attr, unsigned cpu)
{
	size_t page = (size_t)getpagesize();
	struct perf_event_attr with = *attr;
	void *ring;
	int fd;

	if (attr->sample_freq == 0 || n_rings == CPUS_MAX)
		return __real_perf_event_open_cpu(attr, cpu);
	with.sample_type =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	with.sample_regs_user = REGISTERS_MASK;
	with.sample_stack_user = COPY_BYTES;
	with.use_clockid = 1;
	with.clockid = CLOCK_BOOTTIME;
	fd = __real_perf_event_open_cpu(&with, cpu);
	if (fd < 0)
		return fd;
	ring = mmap(NULL, (1 + RING_PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("cannot map a ring");
	rings[n_rings++] = ring;
	return fd;
}

static void keep_stack(const struct rec_stack *rec)
{
	size_t bytes = rec->head.size - REC_STACK_BYTES(0);
	struct walked *stack;

	if (table_get(&stacks, rec->id))
		return;
	stack = table_make(&stacks, rec->id, sizeof(*stack));
	if (!stack || !(stack->frames = malloc(bytes)))
		die("no memory");
	stack->is_full = bytes / sizeof(uint64_t) == STACK_FRAMES_MAX;
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
		uint64_t frame = rec->frames[i];

		/* (libdw knows nothing of functions of Python) */
		if ((frame & PYTHON_WORD_MASK) == PYTHON_WORD)
			continue;
		if ((frame & PYTHON_WORD_MASK) == PYTHON_EVAL)
			frame &= ~PYTHON_EVAL_FLAGS;
		stack->frames[stack->n_frames++] = frame;
	}
}

int __wrap_stacks_add(struct stacks *s, const struct rec_stack *rec)
{
	keep_stack(rec);
	return __real_stacks_add(s, rec);
}

int __wrap_profiler_on_sample(struct profiler *p, const struct rec_head *rec)
{
	const struct rec_sample *sample = (const struct rec_sample *)rec;
	const struct walked *stack;

	if (sample->user_stack && (stack = table_get(&stacks, sample->user_stack))) {
		walks = more(walks, n_walks, &room_walks, sizeof(*walks));
		walks[n_walks] = *stack;
		walks[n_walks].ts_ns = rec->ts_ns;
		walks[n_walks++].tid = rec->tid;
	}
	return __real_profiler_on_sample(p, rec);
}

/* ---- perf's ring ---- */

static void take_word(const uint8_t **at, void *to, size_t size)
{
	memcpy(to, *at, size);
	*at += size;
}

/* Takes a sample of perf: id, time, registers and stack, in the kernel's layout for these types. */
static void take_copy(const uint8_t *at)
{
	struct perf_copy *copy;
	uint64_t abi, size, ids;

	copies = more(copies, n_copies, &room_copies, sizeof(*copies));
	copy = &copies[n_copies];
	memset(copy, 0, sizeof(*copy));
	take_word(&at, &ids, sizeof(ids));
	copy->tid = (uint32_t)(ids >> 32);
	take_word(&at, &copy->ts_ns, sizeof(copy->ts_ns));
	take_word(&at, &abi, sizeof(abi));
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return;
	take_word(&at, copy->registers, sizeof(copy->registers));
	take_word(&at, &size, sizeof(size));
	if (size == 0)
		return;
	memcpy(&copy->n_bytes, at + size, sizeof(copy->n_bytes));
	copy->stack = malloc(copy->n_bytes + 1);
	if (!copy->stack)
		die("no memory");
	memcpy(copy->stack, at, copy->n_bytes);
	n_copies++;
}

static void read_ring(struct perf_event_mmap_page *ring)
{
	static uint8_t record[1 << 17];
	const uint8_t *data = (const uint8_t *)ring + ring->data_offset;
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail = ring->data_tail;

	while (tail < head) {
		const struct perf_event_header *h = (const void *)(data + tail % ring->data_size);
		uint64_t first = ring->data_size - tail % ring->data_size;

		if (first > h->size)
			first = h->size;
		memcpy(record, h, first);
		memcpy(record + first, data, h->size - first);
		if (h->type == PERF_RECORD_SAMPLE)
			take_copy(record + sizeof(*h));
		tail += ((struct perf_event_header *)record)->size;
	}
	__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

/* ---- libdw ---- */

struct truth {
	Dwfl *dwfl;
	const struct perf_copy *copy;
	bool ran_out; /* it needed memory behind the copy */
	unsigned n_frames;
	uint64_t frames[FRAMES_MAX];
};

static pid_t truth_next_thread(Dwfl *dwfl, void *userdata, void **thread)
{
	struct truth *t = userdata;

	if (*thread)
		return 0;
	*thread = t;
	return child;
}

static bool truth_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *userdata)
{
	struct truth *t = userdata;
	uint64_t sp = t->copy->registers[PERF_REG_X86_SP], at = address - sp;

	if (t->copy->n_bytes >= sizeof(*ret) && at <= t->copy->n_bytes - sizeof(*ret)) {
		memcpy(ret, t->copy->stack + at, sizeof(*ret));
		return true;
	}
	t->ran_out |= address > sp;
	return false;
}

/* Perf's order of registers differs from DWARF's. */
static bool truth_set_registers(Dwfl_Thread *thread, void *userdata)
{
	static const unsigned from[N_REGISTERS] = { 0,  3,  2,  1,  4,  5,  6,  7, 9,
						    10, 11, 12, 13, 14, 15, 16, 8 };
	struct truth *t = userdata;
	Dwarf_Word to[N_REGISTERS];

	for (unsigned i = 0; i < N_REGISTERS; i++)
		to[i] = t->copy->registers[from[i]];
	return dwfl_thread_state_registers(thread, 0, N_REGISTERS, to);
}

static int truth_frame(Dwfl_Frame *frame, void *userdata)
{
	struct truth *t = userdata;
	Dwarf_Addr pc;

	if (t->n_frames == FRAMES_MAX || !dwfl_frame_pc(frame, &pc, NULL) || pc == 0)
		return DWARF_CB_ABORT;
	t->frames[t->n_frames++] = pc;
	return DWARF_CB_OK;
}

static int truth_thread(Dwfl_Thread *thread, void *userdata)
{
	dwfl_thread_getframes(thread, truth_frame, userdata);
	return DWARF_CB_ABORT;
}

static void truth_walk(struct truth *t, const struct perf_copy *copy)
{
	t->copy = copy;
	t->ran_out = false;
	t->n_frames = 0;
	dwfl_getthreads(t->dwfl, truth_thread, t);
}

static int truth_find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  char **file, Elf **elf)
{
	const char *tables = getenv("COMPARE_TABLES");

	if (!tables || strcmp(name, command) != 0)
		return dwfl_linux_proc_find_elf(module, userdata, name, base, file, elf);
	*file = strdup(tables);
	return open(tables, O_RDONLY | O_CLOEXEC);
}

static void truth_begin(struct truth *t)
{
	static char *no_path = NULL;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = truth_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &no_path,
	};
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = truth_next_thread,
		.memory_read = truth_read,
		.set_initial_registers = truth_set_registers,
	};

	t->dwfl = dwfl_begin(&callbacks);
	if (!t->dwfl || dwfl_linux_proc_report(t->dwfl, child) != 0 ||
	    dwfl_report_end(t->dwfl, NULL, NULL) != 0 ||
	    !dwfl_attach_state(t->dwfl, NULL, child, &threads, t)) {
		fprintf(stderr, "compare-stacks: libdw: %s\n", dwfl_errmsg(-1));
		kill(child, SIGKILL);
		exit(1);
	}
}

/* ---- both ---- */

enum verdict {
	EQUAL,
	FULL,      /* the programs' stack has the maximum number of frames */
	NOT_THERE, /* libdw needed memory outside of the copy: a deeper stack, or another one */
	OURS_ENDS, /* the programs' stack ends, libdw's continues */
	JIT,       /* libdw ends in code without a file; the programs continue by frame pointers */
	DW_ENDS,   /* libdw ends in a file, and the programs' stack continues */
	DW_SKIPS,  /* the caller of a function with the caller's rbp, in code without a table */
	EARLY,     /* different, but the program has just begun: its files have no tables yet */
	OTHER,
	VERDICTS
};

static const char *const verdict_names[VERDICTS] = {
	"equal",      "full",        "not-in-copy", "ours-ends", "code-of-no-file",
	"libdw-ends", "libdw-skips", "early",       "other",
};

/*
 * Returns true if the second frame of W can be a caller that libdw skips: if it is one of the first
 * words on the stack. In code without a table, libdw takes rbp for the function's own frame
 * pointer. But before the function sets rbp, and after it has restored it, rbp is its caller's.
 * With COMPARE_TABLES, libdw has the tables of the command, and skips no caller.
 */
static bool can_be_skipped_caller(const struct truth *t, const struct walked *w)
{
	uint64_t words[SKIPPED_WORDS];

	if (getenv("COMPARE_TABLES") || w->n_frames < 2 || t->copy->n_bytes < sizeof(words))
		return false;
	memcpy(words, t->copy->stack, sizeof(words));
	for (unsigned i = 0; i < SKIPPED_WORDS; i++)
		if (words[i] == w->frames[1])
			return true;
	return false;
}

/* Compares all frames of W with those of libdw, except the SKIPPED frames after the innermost
 * one. */
static enum verdict judge_but(const struct truth *t, const struct walked *w, unsigned skipped)
{
	unsigned n_ours = w->n_frames - skipped, n = n_ours < t->n_frames ? n_ours : t->n_frames;
	Dwfl_Module *module;

	for (unsigned i = 0; i < n; i++)
		if (w->frames[i > 0 ? i + skipped : 0] != t->frames[i])
			return OTHER;
	if (n_ours == t->n_frames)
		return EQUAL;
	if (n_ours < t->n_frames)
		return w->is_full ? FULL : OURS_ENDS;
	if (t->ran_out)
		return NOT_THERE;
	module = n > 0 ? dwfl_addrmodule(t->dwfl, t->frames[n - 1] - (n > 1)) : NULL;
	return module ? DW_ENDS : JIT;
}

/* Judges W without its second frame if libdw can have skipped that, and else with it. Even a stack
 * with a skipped frame can end early, or at the end of the copy. */
static enum verdict judge(const struct truth *t, const struct walked *w)
{
	enum verdict without = OTHER, with;

	if (can_be_skipped_caller(t, w))
		without = judge_but(t, w, 1);
	if (without == EQUAL)
		return DW_SKIPS;
	with = judge_but(t, w, 0);
	return with == OTHER ? without : with;
}

static void show(const struct truth *t, const struct walked *w)
{
	unsigned n = w->n_frames > t->n_frames ? w->n_frames : t->n_frames;

	for (unsigned i = 0; i < n; i++) {
		uint64_t ours = i < w->n_frames ? w->frames[i] : 0;
		uint64_t theirs = i < t->n_frames ? t->frames[i] : 0;
		Dwfl_Module *m = dwfl_addrmodule(t->dwfl, theirs ? theirs : ours);
		const char *name = m ? dwfl_module_addrname(m, theirs ? theirs : ours) : NULL;

		fprintf(stderr, "%2u %12" PRIx64 " %12" PRIx64 " %s\n", i, ours, theirs,
			name ? name
			: m  ? "in a file"
			     : "");
	}
	fprintf(stderr, "\n");
}

/* Returns perf's copy of the sample W. Perf reads the clock just before the eBPF program does. */
static const struct perf_copy *copy_of(const struct walked *w)
{
	for (size_t i = 0; i < n_copies; i++)
		if (copies[i].tid == w->tid && copies[i].ts_ns <= w->ts_ns &&
		    w->ts_ns - copies[i].ts_ns < NEAR_NS &&
		    copies[i].registers[PERF_REG_X86_IP] == w->frames[0])
			return &copies[i];
	return NULL;
}

static void compare(void)
{
	unsigned n[VERDICTS] = { 0 }, n_shown[VERDICTS] = { 0 }, n_alone = 0;
	const char *early = getenv("COMPARE_EARLY_MS");
	uint64_t early_ns = early ? strtoull(early, NULL, 10) * 1000000 : EARLY_NS;
	static struct truth t;

	truth_begin(&t);
	for (size_t i = 0; i < n_walks; i++) {
		const struct perf_copy *copy = copy_of(&walks[i]);
		enum verdict verdict;

		if (!copy) {
			n_alone++;
			continue;
		}
		truth_walk(&t, copy);
		verdict = judge(&t, &walks[i]);
		if (verdict != EQUAL && walks[i].ts_ns - walks[0].ts_ns < early_ns)
			verdict = EARLY;
		n[verdict]++;
		if (verdict != EQUAL && n_shown[verdict]++ < SHOWN_MAX) {
			fprintf(stderr, "%s, sample %zu:\n", verdict_names[verdict], i);
			show(&t, &walks[i]);
		}
	}
	for (unsigned i = 0; i < VERDICTS; i++)
		printf("%s %u\n", verdict_names[i], n[i]);
	printf("without-copy %u\n", n_alone);
	dwfl_end(t.dwfl);
}

/* ---- the recording ---- */

static int start_command(char **argv)
{
	int go[2];
	char c;

	if (pipe2(go, O_CLOEXEC) < 0)
		die("no pipe");
	child = fork();
	if (child < 0)
		die("no process");
	if (child == 0) {
		close(go[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(go[0], &c, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(go[0]);
	return go[1];
}

static void record(uint64_t frequency, uint64_t ms, int go)
{
	uint32_t *pid = malloc(sizeof(*pid)); /* the session owns it then */
	struct session_options o = { .categories = CATEGORY_PROFILE,
				     .flush_ns = FLUSH_NS_MIN,
				     .ring_bytes = 32 << 20,
				     .frequency = frequency,
				     .filter.pids = pid,
				     .filter.n_pids = 1 };
	int out = open("/dev/null", O_WRONLY | O_CLOEXEC), r;
	uint64_t end_ns = 0;
	struct session *s = NULL;
	struct store *store;

	if (!pid)
		die("no memory");
	*pid = (uint32_t)child;
	strcpy(o.name, "compare");
	r = store_fd_new(out, &store);
	if (r == 0)
		r = session_new(&o, store, &s);
	errno = -r;
	if (r < 0 || session_start(s) < 0)
		die("cannot create a session");
	while (session_state(s) != SESSION_STOPPED) {
		struct pollfd fd = { session_fd(s), POLLIN, 0 };
		const char *text;

		poll(&fd, 1, 20);
		session_dispatch(s);
		for (unsigned i = 0; i < n_rings; i++)
			read_ring(rings[i]);
		if (session_state(s) == SESSION_FAILED && session_error(s, &text) < 0) {
			fprintf(stderr, "compare-stacks: %s\n", text);
			kill(child, SIGKILL);
			exit(1);
		}
		if (end_ns == 0 && session_state(s) == SESSION_RUNNING) {
			end_ns = clock_boot_ns() + ms * 1000000;
			if (write(go, "", 1) != 1)
				die("cannot go on");
		}
		if (end_ns && clock_boot_ns() >= end_ns) {
			kill(child, SIGSTOP);
			session_stop(s, "requested");
			end_ns = UINT64_MAX;
		}
	}
	session_free(s);
}

int main(int argc, char **argv)
{
	int go;

	if (argc < 4) {
		fprintf(stderr, "usage: compare-stacks FREQUENCY MS COMMAND ...\n");
		return 2;
	}
	command = argv[3];
	go = start_command(argv + 3);
	record(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), go);
	compare();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
