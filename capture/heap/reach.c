/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * There is a round of marking for each result (enum reach), the best one first. The first round
 * follows only pointers to the beginnings of blocks, and notes other blocks that are pointed into.
 * The second round follows all pointers from the noted blocks. The next rounds do the same from the
 * data of epoll and from tagged pointers. The remaining blocks are lost. The last round follows all
 * pointers from each lost block, as memcheck does. The blocks found there are indirectly lost.
 */
#include "capture/heap/reach.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/foreign-fds.h"
#include "capture/heap/block-index.h"
#include "capture/heap/reach-chunks.h"
#include "capture/heap/reach-glibc.h"
#include "capture/heap/reach-jemalloc.h"
#include "capture/heap/reach-memory.h"
#include "capture/heap/reach-roots.h"
#include "capture/heap/reach-stacks.h"
#include "capture/heap/reach-threads.h"
#include "capture/sandbox/child-end.h"
#include "capture/sandbox/process-rights.h"
#include "model/event.h"

enum {
	BATCH = 512, /* blocks read at once */
	SMALL_BYTES = 256 << 10,
	HOLD_NS = 2000000000,
	DYING_NS = 1000000000, /* the child may end this much after its deadline */
	LATE_NS = 500000000,   /* likewise the process that the child has made for the search */
	SLICE_NS = 10000000,   /* the interval of checks whether a process is done */
};

/* The higher bits of a pointer can contain a tag. */
#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

/*
 * The alignment of glibc's arenas, except the first one. Each of these arenas has a head with its
 * used size.
 */
#define ARENA_BYTES (UINT64_C(64) << 20)

struct search {
	const struct reach_request *request;
	struct reach_memory memory;
	struct reach_stacks stacks;
	struct block_range *blocks;
	struct block_index index;
	uint8_t *reach;   /* the result of each block */
	enum reach round; /* the current round, from the best result on */
	size_t leader;    /* in the last round: the lost block that is followed */
	uint32_t *found;  /* list of blocks whose content must be searched */
	size_t n_found;
	struct outbuf roots;   /* struct root */
	struct outbuf unused;  /* struct reach_unused: parts of the roots */
	struct outbuf watched; /* list of words that the kernel keeps for the process */
	/*
	 * While roots are collected: the end of the part of the allocator's own memory that was
	 * found last, and an address before which no other such part begins.
	 */
	uint64_t own_end, seen_end;
	struct reach_result result;
};

/* ---- words ---- */

/* Handles WORD, which points to or into block I, possibly with a tag. */
static void reach_on_pointer(struct search *s, size_t i, uint64_t word)
{
	enum reach found = s->round;

	if (word > ADDRESS_MASK && found > REACH_TAGGED)
		found = REACH_TAGGED;
	else if (found == REACH_REACHABLE && s->index.blocks[i].address != word)
		found = REACH_POSSIBLE;
	if (s->reach[i] >= found || (found == REACH_INDIRECT && i == s->leader))
		return;
	s->reach[i] = (uint8_t)found;
	/*
	 * A block with a worse result than the result of this round is followed in a later round.
	 */
	if (found == s->round)
		s->found[s->n_found++] = (uint32_t)i;
}

static inline void reach_on_word(struct search *s, uint64_t word)
{
	size_t i = block_index_find(&s->index, word & ADDRESS_MASK);

	if (i != BLOCK_NONE)
		reach_on_pointer(s, i, word);
}

static void reach_on_words(struct search *s, const uint8_t *data, size_t n_bytes)
{
	uint64_t word;

	for (size_t at = 0; at + sizeof(word) <= n_bytes; at += sizeof(word)) {
		memcpy(&word, data + at, sizeof(word));
		reach_on_word(s, word);
	}
}

/* A reach_memory_fn. */
static void reach_on_block(uint64_t address, const uint8_t *data, size_t n_bytes, void *userdata)
{
	(void)address;
	reach_on_words(userdata, data, n_bytes);
}

/* Handles the words of N_BYTES at ADDRESS, which are in no block. Skips glibc's lists. */
static void reach_on_words_outside(struct search *s, uint64_t address, const uint8_t *data,
				   size_t n_bytes)
{
	struct reach_glibc_lists lists;
	size_t at = 0;

	while (reach_glibc_find_lists(address + at, data + at, n_bytes - at, &lists)) {
		reach_on_words(s, data + at, lists.from);
		at += lists.to;
	}
	reach_on_words(s, data + at, n_bytes - at);
}

/* Handles the words of N_BYTES at ADDRESS that are not in blocks. */
static void reach_on_words_between(struct search *s, uint64_t address, const uint8_t *data,
				   size_t n_bytes)
{
	const struct block_range *blocks = s->index.blocks;
	uint64_t end = address + n_bytes, at = address;

	for (size_t i = block_index_from(&s->index, address); at < end; i++) {
		bool is_last = i >= s->index.n_blocks || blocks[i].address >= end;
		uint64_t to = is_last ? end : blocks[i].address & ~UINT64_C(7);

		if (to > at)
			reach_on_words_outside(s, at, data + (at - address), to - at);
		if (is_last)
			return;
		at = (block_end(&blocks[i]) + 7) & ~UINT64_C(7);
	}
}

/*
 * Returns the end of an allocator's own memory that begins at PAGE and contains no blocks; 0 = no
 * such memory begins there.
 */
static uint64_t reach_end_of_own(struct search *s, const struct reach_page *page)
{
	uint64_t end, seen;

	if (page->address < s->own_end)
		return s->own_end;
	if (page->address < s->seen_end)
		return 0;
	end = reach_jemalloc_end(page, &seen);
	s->seen_end = seen;
	return end && block_index_from(&s->index, page->address) == block_index_from(&s->index, end)
		       ? end
		       : 0;
}

/*
 * Handles the words of a root outside of blocks and of the allocator's own memory. A
 * reach_memory_fn.
 */
static void reach_on_root(uint64_t address, const uint8_t *data, size_t n_bytes, void *userdata)
{
	struct search *s = userdata;
	uint64_t at = address, end = address + n_bytes, next;

	for (uint64_t page = address; page < end; page = next) {
		uint64_t own_end = reach_end_of_own(
			s, &(struct reach_page){ s->memory.task, page, data + (page - address),
						 end - page });

		next = (page + s->memory.page_bytes) & ~(s->memory.page_bytes - 1);
		if (!own_end)
			continue;
		reach_on_words_between(s, at, data + (at - address), page - at);
		s->own_end = own_end;
		at = own_end < end ? own_end : end;
		if (next < at)
			next = (at + s->memory.page_bytes - 1) & ~(s->memory.page_bytes - 1);
	}
	reach_on_words_between(s, at, data + (at - address), end - at);
}

/* ---- blocks ---- */

/*
 * Returns the number of bytes of the whole words in block B. *RET_FROM is the address of the first
 * word.
 */
static uint64_t reach_words_of(const struct block_range *b, uint64_t *ret_from)
{
	uint64_t end = (b->address + b->size) & ~UINT64_C(7);

	*ret_from = (b->address + 7) & ~UINT64_C(7);
	return end > *ret_from ? end - *ret_from : 0;
}

/* Searches N small pieces of memory. Together, they fit into the buffer. */
static int reach_search_pieces(struct search *s, const struct iovec *pieces, size_t n,
			       size_t n_bytes)
{
	const struct iovec to = { s->memory.buffer, n_bytes };
	ssize_t got = process_vm_readv(s->memory.task, &to, 1, pieces, n, 0);
	size_t done = 0;
	int r = 0;

	if (got < 0 && errno != EFAULT)
		return -errno;
	got = got < 0 ? 0 : got;
	reach_on_words(s, s->memory.buffer, (size_t)got);
	s->memory.searched_bytes += (uint64_t)got;
	/* The unread pieces are searched one by one. */
	for (size_t i = 0; r == 0 && (size_t)got < n_bytes && i < n; i++) {
		uint64_t from = (uint64_t)(uintptr_t)pieces[i].iov_base;

		done += pieces[i].iov_len;
		if (done > (size_t)got)
			r = reach_memory_each(&s->memory, from, from + pieces[i].iov_len,
					      reach_on_block, s);
	}
	return r;
}

/* Searches the found blocks, and the blocks that are found in them. */
static int reach_search_found(struct search *s)
{
	struct iovec pieces[BATCH];
	int r = 0;

	while (r == 0 && s->n_found > 0) {
		size_t n = 0, n_bytes = 0;

		while (r == 0 && s->n_found > 0 && n < BATCH) {
			const struct block_range *b = &s->index.blocks[s->found[s->n_found - 1]];
			uint64_t from, bytes = reach_words_of(b, &from);

			if (bytes <= SMALL_BYTES && n_bytes + bytes > REACH_BUFFER_BYTES)
				break;
			s->n_found--;
			if (bytes > SMALL_BYTES) {
				r = reach_memory_each(&s->memory, from, from + bytes,
						      reach_on_block, s);
			} else if (bytes > 0) {
				pieces[n++] = (struct iovec){ (void *)(uintptr_t)from, bytes };
				n_bytes += bytes;
			}
		}
		if (r == 0 && n > 0)
			r = reach_search_pieces(s, pieces, n, n_bytes);
		r = r ?: reach_memory_check_time(&s->memory);
	}
	return r;
}

/* ---- roots ---- */

/* Returns true if ROOT is an arena that glibc's malloc() has mapped for threads. */
static bool reach_is_arena(struct search *s, const struct root *root)
{
	struct {
		uint64_t arena, previous, size, writable_size;
	} head;

	if (!root->is_anonymous || root->from % ARENA_BYTES ||
	    root->to - root->from > ARENA_BYTES ||
	    block_index_from(&s->index, root->from) == block_index_from(&s->index, root->to) ||
	    reach_memory_read(&s->memory, root->from, sizeof(head)) != sizeof(head))
		return false;
	memcpy(&head, s->memory.buffer, sizeof(head));
	return head.size <= head.writable_size && head.writable_size == root->to - root->from &&
	       head.previous % ARENA_BYTES == 0 && head.arena % ARENA_BYTES < 4096 &&
	       (head.previous || head.arena - root->from < 4096);
}

/* Returns true if PART contains memory with blocks. Then it is not the stack of an ended thread. */
static bool reach_has_blocks(const struct search *s, const struct reach_unused *part)
{
	return block_index_from(&s->index, part->from) != block_index_from(&s->index, part->to);
}

/* Searches ROOT without its unused parts. */
static int reach_search_root(struct search *s, const struct root *root)
{
	const struct reach_unused *unused = (const struct reach_unused *)s->unused.data;
	size_t n = s->unused.size / sizeof(*unused);
	uint64_t at = root->from;
	int r = 0;

	for (size_t i = ARRAY_FIRST(j, 0, n, unused[j].from >= at);
	     r == 0 && i < n && unused[i].from < root->to; i++) {
		if (unused[i].is_ended && reach_has_blocks(s, &unused[i]))
			continue;
		r = reach_memory_each(&s->memory, at, unused[i].from, reach_on_root, s);
		at = unused[i].to;
	}
	return r ?: reach_memory_each(&s->memory, at, root->to, reach_on_root, s);
}

/* Searches HEAP, all of whose blocks are known, without free memory of the allocator. */
static int reach_search_heap(struct search *s, const struct root *heap)
{
	struct outbuf list = { .limit = SIZE_MAX };
	int r = reach_chunks_find_foreign(&s->memory, &s->index, heap, &list);
	const struct reach_foreign *foreign = (const struct reach_foreign *)list.data;

	for (size_t i = 0; r == 0 && i < list.size / sizeof(*foreign); i++) {
		struct root part = *heap;

		part.from = foreign[i].from;
		part.to = foreign[i].to;
		r = reach_search_root(s, &part);
	}
	outbuf_deinit(&list);
	return r;
}

static int reach_search_roots(struct search *s)
{
	const struct root *roots = (const struct root *)s->roots.data;
	int r = 0;

	for (size_t i = 0; i < s->stacks.n_threads; i++)
		for (size_t j = 0; j < s->stacks.threads[i].n && j < REC_REGISTERS_MAX; j++)
			reach_on_word(s, s->stacks.threads[i].registers[j]);
	for (size_t i = 0; i < s->stacks.n_threads; i++)
		reach_on_word(s, reach_threads_dtv(s->memory.task, s->stacks.threads[i].tls));
	for (size_t i = 0; r == 0 && i < s->roots.size / sizeof(*roots); i++) {
		if (s->request->all_known && reach_is_arena(s, &roots[i]))
			continue;
		s->memory.only_own = roots[i].only_own;
		r = s->request->all_known && roots[i].is_heap ? reach_search_heap(s, &roots[i])
							      : reach_search_root(s, &roots[i]);
		s->result.secret_bytes += roots[i].is_secret ? roots[i].to - roots[i].from : 0;
	}
	s->memory.only_own = false;
	return r;
}

/* Follows the blocks that were noted for ROUND. For REACH_EPOLL, it follows the kernel's words. */
static int reach_search_noted(struct search *s, enum reach round)
{
	const uint64_t *watched = (const uint64_t *)s->watched.data;

	s->round = round;
	for (size_t i = 0; i < s->index.n_blocks; i++)
		if (s->reach[i] == round)
			s->found[s->n_found++] = (uint32_t)i;
	for (size_t i = 0; round == REACH_EPOLL && i < s->watched.size / sizeof(*watched); i++)
		reach_on_word(s, watched[i]);
	return reach_search_found(s);
}

/*
 * Follows the lost blocks. A lost block that is found again from another one becomes indirectly
 * lost.
 */
static int reach_search_lost(struct search *s)
{
	int r = 0;

	s->round = REACH_INDIRECT;
	for (size_t i = 0; r == 0 && i < s->index.n_blocks; i++) {
		if (s->reach[i] != REACH_LOST || s->index.blocks[i].size < sizeof(uint64_t))
			continue;
		s->leader = i;
		s->found[s->n_found++] = (uint32_t)i;
		r = reach_search_found(s);
	}
	return r;
}

static int reach_search_all(struct search *s)
{
	s->round = REACH_REACHABLE;
	return reach_search_roots(s)
		       ?: reach_search_found(s)
		       ?: reach_search_noted(s, REACH_POSSIBLE)
		       ?: reach_search_noted(s, REACH_EPOLL)
		       ?: reach_search_noted(s, REACH_TAGGED)
		       ?: reach_search_lost(s);
}

/* ---- the search process ---- */

/* The result of the search process, in shared memory. */
struct answer {
	int error; /* 1: not finished */
	int done;  /* 1: no member changes any more, and no thread is held */
	struct reach_result result;
	size_t n;
	struct reach_block blocks[];
};

/* Refuses 32-bit programs, whose words have another size. */
static int reach_check_class(pid_t task)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	_cleanup_close_ int fd = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (read(fd, ident, sizeof(ident)) == sizeof(ident) && ident[EI_CLASS] == ELFCLASS32)
		return -ENOTSUP;
	return 0;
}

struct reach_block *reach_block_at(struct reach_block *blocks, size_t n, uint64_t address)
{
	size_t at = ARRAY_FIRST(i, 0, n, blocks[i].address >= address);

	return at < n && blocks[at].address == address ? &blocks[at] : NULL;
}

DEFINE_ORDER(by_address, struct reach_block, COMPARE(x->address, y->address))

/* Sorts the blocks and removes invalid ones. Returns their new number. */
static size_t reach_put_in_order(struct reach_block *blocks, size_t n)
{
	size_t left = 0;

	SORT(blocks, n, by_address);
	for (size_t i = 0; i < n; i++) {
		const struct block_range here = { blocks[i].address, blocks[i].size };
		const struct reach_block *last = left ? &blocks[left - 1] : NULL;

		if (block_end(&here) <= here.address)
			continue;
		if (last &&
		    block_end(&(struct block_range){ last->address, last->size }) > here.address) {
			if (blocks[i].birth_ns > last->birth_ns)
				blocks[left - 1] = blocks[i];
			continue;
		}
		blocks[left++] = blocks[i];
	}
	return left;
}

/* Lists the blocks and allocates the tables for the search. */
static int reach_list_blocks(struct search *s, struct answer *answer)
{
	struct outbuf list = { .limit = SIZE_MAX };
	int r = s->request->list_blocks(&list, s->request->userdata);
	size_t n = list.size / sizeof(*answer->blocks);

	if (r < 0)
		return r;
	if (n > s->request->blocks_max)
		return -E2BIG;
	if (n > 0)
		memcpy(answer->blocks, list.data, n * sizeof(*answer->blocks));
	outbuf_deinit(&list);
	n = answer->n = reach_put_in_order(answer->blocks, n);
	s->blocks = calloc(n + 1, sizeof(*s->blocks));
	s->reach = malloc(n + 1);
	s->found = malloc((n + 1) * sizeof(*s->found));
	if (!s->blocks || !s->reach || !s->found)
		return -ENOMEM;
	memset(s->reach, REACH_LOST, n);
	for (size_t i = 0; i < n; i++)
		s->blocks[i] =
			(struct block_range){ answer->blocks[i].address, answer->blocks[i].size };
	return block_index_init(&s->index, s->blocks, n);
}

/*
 * Notes the alternate signal stacks, which only the kernel knows: those of THREADS, or, if HELD,
 * those of the threads that list_threads() reports.
 */
static int reach_note_altstacks(struct search *s, const struct outbuf *threads, bool held)
{
	struct outbuf listed = { 0 };
	int r;

	/* If list_threads() fails, the alternate stacks of its threads are left out. */
	if (held && s->request->list_threads)
		s->request->list_threads(&listed, s->request->userdata);
	r = reach_threads_altstacks(held ? &listed : threads, &s->watched);
	outbuf_deinit(&listed);
	return r;
}

/*
 * Lists everything, and searches. THREADS has the threads if they are HELD, and receives them
 * otherwise.
 */
static int reach_list_and_search(struct search *s, struct outbuf *threads, bool held,
				 struct answer *answer)
{
	struct outbuf ended = { 0 };
	int r = 0;

	if (!held && s->request->list_threads)
		r = s->request->list_threads(threads, s->request->userdata);
	if (r == 0 && s->request->list_ended)
		r = s->request->list_ended(&ended, s->request->userdata);
	s->stacks = (struct reach_stacks){
		.task = s->memory.task,
		.threads = (const struct rec_registers *)threads->data,
		.n_threads = threads->size / sizeof(struct rec_registers),
		.ended = (const uint64_t *)ended.data,
		.n_ended = ended.size / sizeof(uint64_t),
	};
	return r
		       ?: reach_note_altstacks(s, threads, held)
		       ?: reach_list_blocks(s, answer)
		       ?: reach_roots_read(s->memory.task, &s->roots)
		       ?: reach_stacks_find_unused(&s->stacks, (const struct root *)s->roots.data,
						   s->roots.size / sizeof(struct root), &s->unused)
		       ?: reach_roots_read_kernel(s->memory.task, s->memory.deadline_ns, &s->watched)
		       ?: reach_search_all(s);
}

/*
 * Returns the result of block I. If some memory was left out, it can contain a pointer to a block
 * that seems lost, so the result of that block is unknown.
 */
static uint32_t reach_answer(const struct search *s, size_t i)
{
	bool is_found = s->reach[i] != REACH_LOST && s->reach[i] != REACH_INDIRECT;
	bool is_whole = s->memory.skipped_bytes == 0 && s->result.secret_bytes == 0;

	return is_found || is_whole ? s->reach[i] : REACH_UNKNOWN;
}

/* Passes R, the result of the search, and the blocks to the caller of reach_find(). */
static void reach_finish(const struct search *s, int r, struct answer *answer)
{
	for (size_t i = 0; r == 0 && i < answer->n; i++)
		answer->blocks[i].reach = reach_answer(s, i);
	answer->result = s->result;
	answer->result.searched_bytes = s->memory.searched_bytes;
	answer->result.refused_bytes = s->memory.refused_bytes;
	answer->result.skipped_bytes = s->memory.skipped_bytes;
	__atomic_store_n(&answer->error, r, __ATOMIC_RELEASE);
}

/*
 * Searches in a process of its own, while this one holds THREADS. Reading the memory can take
 * forever: if a page is missing, the kernel can wait for an answer of a FUSE server, and nothing
 * interrupts this wait. Only the process that has stopped a thread can release it, so that process
 * must not read. Returns 0 if the other process has answered or died, or a negative errno.
 */
static int reach_search_beside(struct search *s, struct outbuf *threads, struct answer *answer)
{
	uint64_t until_ns = s->memory.deadline_ns + LATE_NS;
	pid_t pid = fork();
	int r;

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		r = prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
		reach_finish(s, r ?: reach_list_and_search(s, threads, true, answer), answer);
		_exit(0);
	}
	while (!child_end_wait(pid, SLICE_NS, NULL)) {
		/* After its answer, the process can hang in closing an inherited descriptor. */
		bool answered = __atomic_load_n(&answer->error, __ATOMIC_ACQUIRE) <= 0;

		if (!answered && clock_read_ns(CLOCK_MONOTONIC) < until_ns)
			continue;
		kill(pid, SIGKILL);
		return answered ? 0 : -ETIME;
	}
	return 0;
}

static void reach_hold_and_search(struct search *s, struct answer *answer)
{
	uint64_t begin_ns = clock_read_ns(CLOCK_MONOTONIC);
	uint64_t hold_ns = begin_ns + HOLD_NS < s->memory.deadline_ns ? begin_ns + HOLD_NS
								      : s->memory.deadline_ns;
	struct outbuf threads = { 0 };
	bool hold = s->request->hold;
	int r = 0;

	if (hold)
		r = reach_hold(s->request->pid, hold_ns, &threads);
	/*
	 * Another process can already trace the program: a debugger, or the process that holds the
	 * program at its exit. Or a sandbox forbids tracing. The permission to read memory is
	 * checked separately, so the search continues without stopping the process.
	 */
	if (r == -EPERM || r == -EACCES) {
		reach_release_threads(&threads);
		outbuf_reset(&threads);
		hold = false;
		r = 0;
	}
	if (!hold) {
		reach_finish(s, r ?: reach_list_and_search(s, &threads, false, answer), answer);
		return;
	}
	r = r ?: reach_search_beside(s, &threads, answer);
	reach_release_threads(&threads);
	answer->result.held_ns = clock_read_ns(CLOCK_MONOTONIC) - begin_ns;
	if (r < 0)
		__atomic_store_n(&answer->error, r, __ATOMIC_RELEASE);
}

static bool reach_keeps(const struct reach_request *request, unsigned fd)
{
	for (size_t i = 0; i < request->n_keep; i++)
		if (request->keep[i] == (int)fd)
			return true;
	return foreign_fds_owner((int)fd) != FOREIGN_FD_OWN;
}

/*
 * Closes inherited descriptors. If this process hangs, it would otherwise keep their objects: eBPF
 * programs, locks, an output. Descriptors from clients stay open, since closing them can take
 * forever.
 */
static void reach_close_others(const struct reach_request *request)
{
	unsigned end = foreign_fds_limit(), from = 0;

	if (!request->keep)
		return;
	for (size_t i = 0; i < request->n_keep; i++)
		if (request->keep[i] >= 0 && (unsigned)request->keep[i] >= end)
			end = (unsigned)request->keep[i] + 1;
	for (unsigned fd = 0; fd < end; fd++) {
		if (!reach_keeps(request, fd))
			continue;
		if (fd > from)
			close_range(from, fd - 1, 0);
		from = fd + 1;
	}
	close_range(from, ~0U, 0);
}

/*
 * Runs the search in the child process. Does not return. Nothing is freed, since the process ends.
 */
static void reach_run_child(const struct reach_request *request, uint64_t deadline_ns,
			    struct answer *answer)
{
	struct search s = {
		.request = request,
	};
	pid_t task;
	int r;

	reach_close_others(request);
	task = reach_living_task(request->pid);
	r = request->as_owner ? rights_become(request->uid, request->gid) : 0;
	if (r == 0 && request->as_owner)
		r = rights_drop();
	if (r == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		r = -errno;
	r = r ?: reach_check_class(task) ?: reach_memory_init(&s.memory, task, deadline_ns);
	if (r == 0)
		reach_hold_and_search(&s, answer);
	else
		reach_finish(&s, r, answer);
	/* From here on, this process can only hang in closing an inherited descriptor. */
	__atomic_store_n(&answer->done, 1, __ATOMIC_RELEASE);
	_exit(0);
}

static int reach_run_apart(const struct reach_request *request, struct answer *answer)
{
	uint64_t deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + request->timeout_ns;
	uint64_t until_ns = deadline_ns + DYING_NS;
	int unfinished = -EIO, r;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		reach_run_child(request, deadline_ns, answer);
	/*
	 * The child observes the time limit itself, unless it hangs. A child with a complete answer
	 * can hang in closing an inherited descriptor.
	 */
	while (!child_end_wait(pid, SLICE_NS, NULL)) {
		if (!__atomic_load_n(&answer->done, __ATOMIC_ACQUIRE) &&
		    clock_read_ns(CLOCK_MONOTONIC) < until_ns)
			continue;
		child_end_kill(pid, 0);
		unfinished = -ETIME;
		break;
	}
	r = __atomic_load_n(&answer->error, __ATOMIC_ACQUIRE);
	return r > 0 ? unfinished : r;
}

/* Copies the blocks of ANSWER. */
static int reach_copy_answer(const struct answer *answer, struct reach_block **ret)
{
	size_t n_bytes = answer->n * sizeof(**ret);

	*ret = malloc(n_bytes + 1);
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, answer->blocks, n_bytes);
	return 0;
}

int reach_find(const struct reach_request *request, struct reach_block **ret_blocks, size_t *ret_n,
	       struct reach_result *ret_result)
{
	size_t n_bytes = sizeof(struct answer) + request->blocks_max * sizeof(struct reach_block);
	/* Only the used part of the mapping becomes resident. */
	struct answer *answer = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int r;

	if (answer == MAP_FAILED)
		return -errno;
	answer->error = 1;
	r = reach_run_apart(request, answer) ?: reach_copy_answer(answer, ret_blocks);
	if (r == 0) {
		*ret_n = answer->n;
		*ret_result = answer->result;
	}
	munmap(answer, n_bytes);
	return r;
}
