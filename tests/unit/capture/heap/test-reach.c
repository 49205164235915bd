/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pointers in a child process. Blocks are parts of a mapping. All pointers are written from
 * outside, so the child has no others, neither in registers nor on its stacks.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/heap/reach-roots.h"
#include "capture/heap/reach-threads.h"
#include "capture/heap/reach.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"
#include "model/event.h"

enum {
	N_BLOCKS = 8,
	BLOCK_BYTES = 64,
	STRIDE = 256,
	HEAP_BYTES = 1 << 20,
	FIRST = 8192, /* in the heap */
	PAGE = 4096,
};

/* The purpose of each page. */
enum {
	KEPT_READ_ONLY,
	KEPT_UNREADABLE,
	KEPT_OF_FILE, /* and read-only: its contents are the file's */
	KEPT_CHANGED, /* likewise, and changed since */
	KEPT_PAGES,
};

#define TIMEOUT_NS UINT64_C(60000000000)

/* Places for pointers in the child. Shared, and not writable for the child: no root. */
struct places {
	_Atomic uint64_t *stack, *thread_stack, *tls, *mapped, *shared, *heap;
	uint64_t ended; /* the thread pointer of a thread that has ended */
	_Atomic int ready, ticks;
	_Atomic uint64_t in_register;
};

static struct places *places;
static _Atomic uint64_t global;
static _Thread_local _Atomic uint64_t in_tls;
static uint8_t *heap;
static uint8_t *kept; /* KEPT_PAGES pages that the child has made read-only or unreadable */
static int kept_fd;   /* the file of two of them */
static int instance;  /* of epoll */
static pid_t child;

/* ---- the child ---- */

static void *sleep_in_thread(void *unused)
{
	_Atomic uint64_t room[4] = { 0 };

	(void)unused;
	places->thread_stack = room;
	places->tls = &in_tls;
	places->ready++;
	for (;;)
		pause();
	return NULL;
}

static void *end_in_thread(void *unused)
{
	places->ended = (uint64_t)pthread_self();
	return unused;
}

/* Keeps a word in a register, and nowhere else, and never calls the kernel. */
static void *spin(void *unused)
{
	(void)unused;
	places->ready++;
#if defined(__x86_64__)
	__asm__ volatile("1: mov (%0), %%r12\n"
			 "incl (%1)\n"
			 "test %%r12, %%r12\n"
			 "jz 1b\n"
			 "2: incl (%1)\n"
			 "pause\n"
			 "jmp 2b\n"
			 :
			 : "r"(&places->in_register), "r"(&places->ticks)
			 : "r12", "memory");
#endif
	for (;;)
		places->ticks++;
	return NULL;
}

static void lock_kept(void)
{
	for (unsigned i = 0; i < KEPT_PAGES; i++) {
		if (i == KEPT_OF_FILE)
			(void)*(volatile uint8_t *)(kept + i * PAGE);
		else
			*(volatile uint8_t *)(kept + i * PAGE) = 0;
		mprotect(kept + i * PAGE, PAGE, i == KEPT_UNREADABLE ? PROT_NONE : PROT_READ);
	}
}

static void be_child(bool spins)
{
	_Atomic uint64_t room[4] = { 0 };
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	lock_kept();
	places->stack = room;
	pthread_create(&thread, NULL, sleep_in_thread, NULL);
	if (spins)
		pthread_create(&thread, NULL, spin, NULL);
	pthread_create(&thread, NULL, end_in_thread, NULL);
	pthread_join(thread, NULL);
	places->ready++;
	for (;;)
		pause();
}

/* ---- placing pointers ---- */

static uint64_t block(unsigned i)
{
	return (uint64_t)(uintptr_t)heap + FIRST + i * STRIDE;
}

static void plant(const volatile void *where, uint64_t word)
{
	const struct iovec from = { &word, sizeof(word) };
	const struct iovec to = { (void *)(uintptr_t)where, sizeof(word) };

	assert_int_equal(process_vm_writev(child, &from, 1, &to, 1, 0), sizeof(word));
}

/* In pages that the child cannot write. */
static void plant_unwritable(const uint8_t *where, uint64_t word)
{
	_cleanup_close_ int fd = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", child);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &word, sizeof(word), (off_t)(uintptr_t)where), sizeof(word));
}

static void plant_kept(unsigned page, uint64_t word)
{
	plant_unwritable(kept + page * PAGE, word);
}

static void plant_in_epoll(uint64_t word)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = word };
	int fds[2];

	/* (a watched file stays as long as a descriptor is open) */
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(epoll_ctl(instance, EPOLL_CTL_ADD, fds[0], &event), 0);
}

static void plant_in_block(unsigned i, uint64_t word)
{
	plant((void *)(uintptr_t)(block(i) + 16), word);
}

/* The number of sleeping threads of the child. */
static int count_asleep(void)
{
	char path[300], line[512];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", child);
	d = opendir(path);
	assert_non_null(d);
	while ((e = readdir(d))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", child, e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (!f)
			continue;
		if (fgets(line, sizeof(line), f) && strstr(line, ") S "))
			n++;
		fclose(f);
	}
	closedir(d);
	return n;
}

static void make_kept(void)
{
	kept_fd = memfd_create("kept", MFD_CLOEXEC);
	assert_int_equal(ftruncate(kept_fd, 2 * PAGE), 0);
	kept = mmap(NULL, KEPT_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	assert_ptr_not_equal(kept, MAP_FAILED);
	assert_ptr_equal(mmap(kept + KEPT_OF_FILE * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_FIXED, kept_fd, 0),
			 kept + KEPT_OF_FILE * PAGE);
}

static void begin(bool spins)
{
	places = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	places->mapped =
		mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	places->shared =
		mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	make_kept();
	instance = epoll_create1(EPOLL_CLOEXEC);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		be_child(spins);
	assert_soon(places->ready == 2 + spins);
	/* Registers that a thread has saved on its way to sleep are none of the places. */
	assert_soon(count_asleep() == 2);
}

static void end(void)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(instance);
	close(kept_fd);
	munmap(kept, KEPT_PAGES * PAGE);
	munmap(places->mapped, 65536);
	munmap((void *)(uintptr_t)places->shared, 65536);
	munmap(places, 4096);
	/*
	 * The heap stays mapped: the next one is elsewhere, so old addresses on the stack that the
	 * next child inherits do not matter.
	 */
}

static int list_blocks(struct outbuf *to, void *unused)
{
	(void)unused;
	for (unsigned i = N_BLOCKS; i-- > 0;) {
		const struct reach_block b = { .address = block(i), .size = BLOCK_BYTES };

		outbuf_append(to, &b, sizeof(b));
	}
	return to->error;
}

static const struct rec_registers *known_thread;

static int list_threads(struct outbuf *to, void *unused)
{
	(void)unused;
	return outbuf_append(to, known_thread, sizeof(*known_thread));
}

static uint64_t ended_thread; /* 0 = no ended thread is known */

static int list_ended(struct outbuf *to, void *unused)
{
	(void)unused;
	return outbuf_append(to, &ended_thread, sizeof(ended_thread));
}

static int find_with(const struct reach_request *how, uint8_t reach[N_BLOCKS])
{
	struct reach_request request = *how;
	struct reach_result result = { 0 };
	struct reach_block *blocks;
	size_t n = 0;
	int r;

	request.pid = child;
	request.list_blocks = list_blocks;
	request.list_threads = known_thread ? list_threads : NULL;
	request.list_ended = list_ended;
	request.blocks_max = N_BLOCKS;
	request.timeout_ns = request.timeout_ns ? request.timeout_ns : TIMEOUT_NS;
	r = reach_find(&request, &blocks, &n, &result);
	if (r < 0)
		return r;
	assert_true(result.searched_bytes > 0);
	assert_int_equal(n, N_BLOCKS);
	for (unsigned i = 0; i < N_BLOCKS; i++) {
		assert_int_equal(blocks[i].address, block(i));
		reach[i] = (uint8_t)blocks[i].reach;
	}
	free(blocks);
	return 0;
}

static void expect(const char *expected)
{
	static const char letters[REACH_MAX] = {
		[REACH_UNKNOWN] = '?',  [REACH_LOST] = 'l',      [REACH_INDIRECT] = 'i',
		[REACH_POSSIBLE] = 'p', [REACH_REACHABLE] = 'r', [REACH_TAGGED] = 't',
		[REACH_EPOLL] = 'e',
	};
	char found[N_BLOCKS + 1] = "";
	uint8_t reach[N_BLOCKS];

	for (unsigned hold = 0; hold < 2; hold++) {
		assert_int_equal(find_with(&(struct reach_request){ .hold = hold }, reach), 0);
		for (unsigned i = 0; i < N_BLOCKS; i++)
			found[i] = letters[reach[i]];
		assert_string_equal(found, expected);
	}
}

/* ---- cases ---- */

TEST(test_nothing_points)
{
	begin(false);
	expect("llllllll");
	end();
}

/* Each place of a process is searched. */
TEST(test_places)
{
	begin(false);
	plant(&global, block(0));
	plant(places->stack, block(1));
	plant(places->thread_stack, block(2));
	plant(places->tls, block(3));
	plant(places->mapped + 5, block(4));
	plant(places->shared + 7, block(5));
	plant(heap + HEAP_BYTES - 8, block(6)); /* beside the blocks */
	expect("rrrrrrrl");
	plant(&global, 0);
	expect("lrrrrrrl");
	end();
}

/* The C library keeps the stack of an ended thread. Others have no description, or a thread. */
TEST(test_ended_thread)
{
	begin(false);
	plant((void *)(uintptr_t)(places->ended - 65536), block(0));
	plant(places->thread_stack, block(1));
	plant((void *)(uintptr_t)(places->ended + 64), block(2)); /* in its description */
	for (unsigned i = 0; i < 4; i++) {
		ended_thread = i == 0   ? places->ended - 64
			       : i == 1 ? (uint64_t)(uintptr_t)places->tls
			       : i == 2 ? block(0) - 64
					: places->ended;
		expect(i < 3 ? "rrrlllll" : "lrrlllll");
	}
	end();
}

/* Pages that the program has written, and has then made read-only or unreadable. */
TEST(test_unwritable)
{
	uint64_t word;

	begin(false);
	plant_kept(KEPT_READ_ONLY, block(0));
	plant_kept(KEPT_UNREADABLE, block(1));
	plant_kept(KEPT_CHANGED, block(2));
	word = block(3);
	assert_int_equal(pwrite(kept_fd, &word, sizeof(word), 0), sizeof(word));
	expect("rrrlllll");
	plant_kept(KEPT_UNREADABLE, block(1) + 8);
	expect("rprlllll");
	end();
}

/* The kernel may have the only address of a block, or of its inside. */
TEST(test_epoll)
{
	begin(false);
	plant_in_epoll(block(0));
	plant_in_block(0, block(1));
	plant_in_epoll(block(2) + 8);
	plant_in_epoll(block(3));
	plant(&global, block(3));
	plant_in_epoll(block(4));
	plant(places->mapped, block(4) + 8);
	plant_in_epoll(7); /* a descriptor, the usual value */
	expect("eeerplll");
	end();
}

/* The search of a process with many instances ends at its time limit, while its data is read. */
TEST(test_epoll_timeout)
{
	struct outbuf words = { 0 };

	begin(false);
	plant_in_epoll(block(0));
	plant_in_epoll(block(1));
	assert_int_equal(reach_roots_read_kernel(child, 0, &words), -ETIME);
	assert_true(words.size <= sizeof(uint64_t)); /* not even its first instance is read on */
	outbuf_reset(&words);
	assert_int_equal(reach_roots_read_kernel(child, UINT64_MAX, &words), 0);
	assert_int_equal(words.size, 2 * sizeof(uint64_t));
	outbuf_deinit(&words);
	end();
}

/* An address with other data in its high bits. A negative number is none. */
TEST(test_tagged)
{
	begin(false);
	plant(&global, block(0) | UINT64_C(0xabcd) << 48);
	plant_in_block(0, block(1));
	plant_in_block(1, block(2) | UINT64_C(1) << 56);
	plant(places->mapped, (block(3) + 8) | UINT64_C(1) << 63);
	plant(places->mapped + 1, block(4) | UINT64_C(1) << 48);
	plant(places->mapped + 2, block(4) + 8);
	plant_in_epoll(block(5) | UINT64_C(1) << 60);
	plant_in_block(6, block(7) | UINT64_C(1) << 60); /* lost, and so is what it points to */
	expect("ttttptli");
	plant(&global, block(0) | UINT64_C(1) << 47);
	expect("liitptli");
	end();
}

/* Entries that were taken from the stacks of jemalloc's thread cache remain there. */
TEST(test_jemalloc_stacks)
{
	const uint64_t before = UINT64_C(0x7a7a7a7a7a7a7a7a), behind = UINT64_C(0xa7a7a7a7a7a7a7a7);

	begin(false);
	plant(places->mapped, before);
	plant(places->mapped + 1, block(0));
	plant(places->mapped + 3000, behind);
	plant(places->mapped + 3001, block(1));
	expect("lrllllll");
	plant(places->mapped + 3000, 0);
	expect("rrllllll");
	end();
}

/*
 * jemalloc's descriptions of its extents do not count: the rest of these 2 MiB begins with such a
 * pointer.
 */
TEST(test_jemalloc_base)
{
	const size_t bytes = (size_t)2 << 20;
	uint8_t *room = mmap(NULL, 3 * bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t base = ((uint64_t)(uintptr_t)room + bytes - 1) & ~(uint64_t)(bytes - 1);
	uint64_t *words = (uint64_t *)(uintptr_t)base;

	assert_ptr_not_equal(room, MAP_FAILED);
	begin(false);
	plant(words, bytes);
	plant(words + 1, base + bytes);
	plant(words + 3, base + 65536);
	plant(words + 4, bytes - 65536);
	plant(words + 100, block(0));
	plant(words + bytes / 8 - 1, block(1));
	plant(words + bytes / 8, block(2));
	expect("llrlllll");
	plant(words + 4, bytes - 65535);
	expect("rrrlllll");
	end();
	munmap(room, 3 * bytes);
}

/* A pointer into a block is not one to its begin. Behind the end is outside. */
TEST(test_interior)
{
	begin(false);
	plant(&global, block(0) + 1);
	plant(places->stack, block(1) + BLOCK_BYTES - 1);
	plant(places->tls, block(2) + BLOCK_BYTES);
	plant(places->mapped, block(3) - 1);
	/* The better one counts, in any order. */
	plant(places->mapped + 1, block(4) + 8);
	plant(places->mapped + 2, block(4));
	plant(places->mapped + 3, block(5));
	plant(places->mapped + 4, block(5) + 8);
	expect("ppllrrll");
	end();
}

/* Unaligned words are no pointers. */
TEST(test_unaligned)
{
	begin(false);
	plant((uint8_t *)(uintptr_t)places->mapped + 4, block(0));
	expect("llllllll");
	end();
}

TEST(test_chains)
{
	begin(false);
	plant(&global, block(0)); /* 0 -> 1 -> 2 */
	plant_in_block(0, block(1));
	plant_in_block(1, block(2));
	plant(places->mapped, block(3) + 8); /* possible, and so are the blocks that it points to */
	plant_in_block(3, block(4));
	plant_in_block(4, block(5) + 8);
	plant_in_block(6, block(7)); /* lost, with the blocks that it points to */
	expect("rrrpppli");
	plant(&global, block(6));
	expect("liippprr");
	end();
}

/*
 * Two that only have each other, one of which is reported as lost; one that only has itself; and
 * one that points to a reachable block.
 */
TEST(test_cycles)
{
	begin(false);
	plant_in_block(0, block(1));
	plant_in_block(1, block(0));
	plant_in_block(2, block(2));
	plant(&global, block(3));
	plant_in_block(3, block(4));
	plant_in_block(4, block(3));
	plant_in_block(5, block(3));
	expect("lilrrlll");
	end();
}

/* Data below the stack pointer is old, unless the stack pointer is unknown. */
TEST(test_below_stack_pointer)
{
	struct rec_registers thread = { 0 };
	uint8_t reach[N_BLOCKS];
	uint64_t sp;

	begin(false);
	sp = (uint64_t)(uintptr_t)places->thread_stack;
	plant((void *)(uintptr_t)((sp & ~UINT64_C(4095)) - 3 * 4096), block(0));
	plant((void *)(uintptr_t)sp, block(1));
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), 0);
	assert_int_equal(reach[0], REACH_LOST);
	assert_int_equal(reach[1], REACH_REACHABLE);
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	thread.sp = sp;
	thread.tls = (uint64_t)(uintptr_t)places->tls;
	known_thread = &thread;
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_LOST);
	assert_int_equal(reach[1], REACH_REACHABLE);
	thread.running = 1;
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	known_thread = NULL;
	end();
}

/* Registers of a thread that runs and never enters the kernel. */
TEST(test_registers)
{
	struct rec_registers thread = { .n = 2 };
	uint8_t reach[N_BLOCKS];
	int ticks;

#if !defined(__x86_64__)
	skip();
#endif
	begin(true);
	places->in_register = block(0);
	for (int i = 0; i < 2; i++)
		for (ticks = places->ticks; places->ticks < ticks + 1000;)
			usleep(1000);
	places->in_register = 0;
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	assert_int_equal(reach[1], REACH_LOST);
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_LOST); /* its registers are unknown */
	thread.registers[0] = block(0);
	thread.registers[1] = block(1) + 1;
	known_thread = &thread;
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	assert_int_equal(reach[1], REACH_POSSIBLE);
	known_thread = NULL;
	/* It was released. */
	for (ticks = places->ticks; places->ticks == ticks;)
		usleep(1000);
	end();
}

/* Reserved memory that was never touched is not allocated by the search, and takes no time. */
TEST(test_untouched)
{
	const size_t bytes = (size_t)1 << 40;
	void *reserved = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long before = 0, after = 0;
	uint8_t reach[N_BLOCKS];
	char path[48];
	FILE *f;

	assert_ptr_not_equal(reserved, MAP_FAILED);
	begin(false);
	plant((uint8_t *)reserved + bytes / 2, block(0));
	snprintf(path, sizeof(path), "/proc/%d/statm", child);
	f = fopen(path, "re");
	assert_int_equal(fscanf(f, "%*u %lu", &before), 1);
	fclose(f);
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	f = fopen(path, "re");
	assert_int_equal(fscanf(f, "%*u %lu", &after), 1);
	fclose(f);
	assert_true(after <= before + 64);
	end();
	munmap(reserved, bytes);
}

TEST(test_gone)
{
	uint8_t reach[N_BLOCKS];
	siginfo_t ended;

	begin(false);
	kill(child, SIGKILL);
	/* A zombie without memory, and then no process at all. */
	assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), -ESRCH);
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), -ESRCH);
	end();
	assert_int_equal(find_with(&(struct reach_request){ 0 }, reach), -ESRCH);
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), -ESRCH);
}

/* Stopped by another process: it is searched, and stays stopped. */
TEST(test_stopped)
{
	uint8_t reach[N_BLOCKS];
	int status;

	begin(false);
	plant(&global, block(0));
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	expect("rlllllll");
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, &status, WCONTINUED), child);
	assert_true(WIFCONTINUED(status));
	/* Traced by another process, so it cannot be stopped: it is searched while it runs. */
	assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
	assert_int_equal(find_with(&(struct reach_request){ .hold = true }, reach), 0);
	assert_int_equal(reach[0], REACH_REACHABLE);
	assert_int_equal(reach[1], REACH_LOST);
	end();
}

/* Out of time. */
TEST(test_timeout)
{
	uint8_t reach[N_BLOCKS];

	begin(false);
	assert_int_equal(find_with(&(struct reach_request){ .timeout_ns = 1 }, reach), -ETIME);
	end();
}

/* If the stopping process dies, the child continues. */
TEST(test_holder_dies)
{
	int ticks, status;
	pid_t holder;

	begin(true);
	holder = fork();
	if (holder == 0) {
		struct outbuf threads = { 0 };

		_exit(reach_hold(child, UINT64_MAX, &threads) == 0 &&
				      threads.size == 3 * sizeof(struct rec_registers)
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(holder, &status, 0), holder);
	assert_int_equal(status, 0);
	for (ticks = places->ticks; places->ticks == ticks;)
		usleep(1000);
	end();
}

/* Makes the kernel refuse PAGEMAP_SCAN, as before Linux 6.7, for this process and its children. */
static void refuse_scans(void)
{
	const uint32_t scan = _IOC(_IOC_READ | _IOC_WRITE, 'f', 16, 96);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, scan, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* A read-only mapping of BYTES, of which one page has the address of block 0 if it is WRITTEN. */
static void expect_large(size_t bytes, bool written, const char *expected)
{
	uint8_t *large =
		mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(large, MAP_FAILED);
	begin(false);
	if (written)
		plant_unwritable(large + bytes / 2, block(0));
	plant(&global, block(1));
	expect(expected);
	end();
	munmap(large, bytes);
}

/*
 * Without PAGEMAP_SCAN, a large unwritable mapping is searched if it has pages, unless that would
 * take too long. Then nothing counts as lost. The last test, since the kernel refuses
 * scans from here on.
 */
TEST(test_large_unwritable)
{
#ifdef __SANITIZE_ADDRESS__
	skip(); /* without scans, the terabytes that the sanitizer reserves take too long */
#endif
	refuse_scans();
	expect_large((size_t)2 << 30, false, "lrllllll");
	expect_large((size_t)2 << 30, true, "rrllllll");
	expect_large((size_t)1 << 40, false, "lrllllll");
	expect_large((size_t)1 << 40, true, "?r??????");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_points),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_ended_thread),
		cmocka_unit_test(test_unwritable),
		cmocka_unit_test(test_epoll),
		cmocka_unit_test(test_epoll_timeout),
		cmocka_unit_test(test_tagged),
		cmocka_unit_test(test_jemalloc_stacks),
		cmocka_unit_test(test_jemalloc_base),
		cmocka_unit_test(test_interior),
		cmocka_unit_test(test_unaligned),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_below_stack_pointer),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_untouched),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_holder_dies),
		cmocka_unit_test(test_large_unwritable),
	};

	if (under_valgrind()) {
		printf("skip: valgrind's own threads and memory are not those of the program\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
