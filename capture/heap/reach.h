/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks does a process point to? Those that nothing leads to any more are lost.
 *
 * As memcheck sees it: what is searched first is all that the process can write to, but the blocks
 * themselves (data, stacks, thread-local memory, what was mapped), and registers; then, what is in
 * the blocks that were found. A word that is the address of a block points to it. One that is
 * somewhere inside may be a coincidence, or the number of something: what only such ones lead to is
 * possibly lost. What only lost blocks lead to is lost with them, indirectly; of blocks that only
 * point to each other, one is lost.
 *
 * On the safe side, all in all: words that look like pointers are pointers. Memory that no known
 * block covers is searched in full, be it that of allocations from before anybody watched, or
 * chunks that were freed, whose old content is still there. Only where every block is known, the
 * heap outside them is free memory and is left out. Of a stack, what is below the stack pointer is
 * left out where that is known.
 *
 * Not seen: pointers in vector registers, in pages of shared memory that were swapped out, in
 * memory of devices; pointers that are kept in another form (compressed, xor-ed).
 *
 * While the process runs, a pointer may move from where nobody has looked yet to where somebody
 * has. Hence two searches, by the caller: what neither of them found is lost. A process that is
 * held meanwhile needs but one.
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
	uint64_t birth_ns; /* tells those at one address apart */
	uint32_t reach;    /* `enum reach` of writer/event.h */
	uint32_t pad;
};

struct reach_request {
	pid_t pid;
	/*
	 * Both run in the process that does it, once PID is held: they append struct reach_block,
	 * in any order, and struct rec_registers (NULL = nothing is known of the threads). Zero, or
	 * a negative errno that ends it all.
	 */
	int (*list_blocks)(struct outbuf *to, void *userdata);
	int (*list_threads)(struct outbuf *to, void *userdata);
	void *userdata;
	size_t blocks_max; /* of which there can be an answer */
	bool all_known;    /* no other block is in use */
	bool hold; /* the process stands still meanwhile; then its threads are known. If somebody
			    * else traces it, it goes on as he likes */
	bool as_owner; /* with no more rights than this user has: the kernel says whether he may */
	uid_t uid;
	gid_t gid;
	uint64_t timeout_ns;
};

struct reach_result {
	uint64_t searched_bytes; /* a block that was searched as one, too */
	uint64_t refused_bytes;  /* there, but not to be read */
	uint64_t held_ns;        /* how long the process stood still */
};

/*
 * Which of the blocks are reached: a new array that the caller frees, by address, of those that can
 * be (of two that overlap, one has been freed and nobody saw it: the elder one). It is done in a
 * process of its own: that can be ended when it hangs in the memory of another one, and the process
 * that it holds is free then. Blocks for the time that it takes. Returns 0; -ESRCH: the process has
 * ended; -ETIME: it took too long; -ENOTSUP: its words are not ours (a 32 bit program); -EPERM: we
 * may not; -E2BIG: too many blocks; or another negative errno.
 */
int reach_find(const struct reach_request *request, struct reach_block **ret_blocks, size_t *ret_n,
	       struct reach_result *ret_result);
