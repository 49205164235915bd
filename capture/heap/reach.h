/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the blocks that a process points to. Other blocks are lost.
 *
 * The method is that of memcheck. The search starts with registers and all memory that the process
 * has written, except the blocks: data, stacks, thread-local memory, mappings. The search continues
 * in the blocks that it has found. A word with the address of a block points to it. A word with an
 * address inside a block can be a coincidence, or another kind of number: blocks reached only by
 * such words are possibly lost. Blocks reached only from lost blocks are indirectly lost. Of blocks
 * that only point to each other, one is lost.
 *
 * The result errs on the safe side: words that look like pointers count as pointers. Memory outside
 * of known blocks is searched completely, including allocations from before the watch, and freed
 * chunks with their old content. Only if every block is known, glibc's chunks outside of blocks are
 * free memory and are left out. The part of a stack below a known stack pointer is left out, and so
 * is the stack of a thread that is known to have ended.
 *
 * The search does not cover pointers in vector registers, in swapped-out pages of shared memory, in
 * memory of devices, or in other representations (compressed, xor-ed).
 *
 * While the process runs, a pointer can move from a place not yet searched to one that was. Hence
 * the caller makes two searches: a block that neither found is lost. A stopped process needs only
 * one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/outbuf.h"
#include "bpf/record.h"

struct reach_block {
	uint64_t address, size;
	uint64_t birth_ns; /* distinguishes blocks at one address */
	uint32_t reach;    /* `enum reach` of model/event.h */
	uint32_t pad;
};

/* Returns the block at ADDRESS of N BLOCKS in the order of addresses, or NULL. */
struct reach_block *reach_block_at(struct reach_block *blocks, size_t n, uint64_t address);

struct reach_request {
	pid_t pid;
	/*
	 * list_blocks() appends struct reach_block, in any order. list_threads() appends struct
	 * rec_registers (NULL = threads are unknown). Both functions run in the search process,
	 * after PID was stopped. They return 0, or a negative errno that ends the search.
	 */
	int (*list_blocks)(struct outbuf *to, void *userdata);
	int (*list_threads)(struct outbuf *to, void *userdata);
	/*
	 * Also runs in the search process. Appends the thread pointers (uint64_t) of ended threads
	 * whose stacks no other thread has got. NULL = these threads are unknown.
	 */
	int (*list_ended)(struct outbuf *to, void *userdata);
	void *userdata;
	/* The descriptors that these functions need; others are closed. NULL = all stay open. */
	const int *keep;
	size_t n_keep;
	size_t blocks_max; /* the maximum number of results */
	bool all_known;    /* all blocks that are in use are known */
	bool hold;         /* stop the process during the search, unless it is already traced */
	bool as_owner;     /* run with only this user's privileges */
	uid_t uid;
	gid_t gid;
	uint64_t timeout_ns;
};

struct reach_result {
	uint64_t searched_bytes; /* including searched blocks */
	uint64_t refused_bytes;  /* number of present, but unreadable bytes */
	/*
	 * number of bytes left out, because a mapping is too large or secret; if there are any, no
	 * block counts as lost
	 */
	uint64_t skipped_bytes, secret_bytes;
	uint64_t held_ns; /* duration of the stop */
};

/*
 * Finds out which blocks are reached. *RET_BLOCKS is a new array, which the caller frees: the
 * blocks that can have a result, sorted by address. Of two overlapping blocks, the older one is
 * left out, since its free was not recorded. The search runs in a separate process, since a process
 * that reads the memory of PID can hang, and it may not even be possible to kill it. If PID is
 * stopped, there are two processes: one stops PID and reads nothing of it, so it can release PID in
 * time; the other one reads. The caller waits for the end, up to two seconds after the timeout, or
 * a second after the result is complete. Returns 0; -ESRCH: the process has ended; -ETIME: it took
 * too long; -ENOTSUP: a 32-bit program; -EPERM: not permitted; -E2BIG: too many blocks; or another
 * negative errno.
 */
int reach_find(const struct reach_request *request, struct reach_block **ret_blocks, size_t *ret_n,
	       struct reach_result *ret_result);
