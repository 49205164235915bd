/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/reach-chunks.h"

#include <stdbool.h>
#include <string.h>

enum {
	HEAD_BYTES = 16, /* bytes of a chunk before its block; their second word is the size */
	SIZE_AT = 8,
	CHUNK_BYTES_MIN = 32,
	FENCE_BYTES = 16, /* bytes of an empty chunk at the end of glibc's memory */
	/*
	 * The maximum size of freed chunks that glibc's caches keep. Chunks in the caches count as
	 * used. (If the program has set a higher limit, the larger ones are searched for pointers.)
	 */
	CACHED_BYTES_MAX = 1040,
	/*
	 * The maximum number of blocks within a chunk that the search passes over, because they
	 * were freed while the program ran. Memory of another allocator can look like a chunk with
	 * thousands of blocks. The search from each of these blocks would pass all the others.
	 */
	PASSED_MAX = 64,
};

#define FLAG_IN_USE  UINT64_C(1) /* the previous chunk is in use */
#define FLAGS_OTHERS UINT64_C(6) /* the chunk is mapped separately, or is in an arena for threads */

struct chunks {
	struct reach_memory *memory;
	const struct block_index *index;
	uint64_t page; /* address of the page in the buffer of `memory`; 1 = no page */
	size_t n_bytes;
};

/* The state of the chunk before the current one, as far as it is known. */
struct previous {
	enum {
		PREVIOUS_UNKNOWN,
		/* No chunk precedes AT: glibc's memory begins there. */
		PREVIOUS_NONE,
		PREVIOUS_BLOCK,
		PREVIOUS_FREE,
	} kind;
	uint64_t size;
};

/* Chunks that follow each other. */
struct chain {
	/* Last chunk with a known block, except the first chunk; 0 = no such chunk. */
	uint64_t landed;
	uint64_t end;  /* address behind the last chunk, if `is_whole` */
	bool is_whole; /* the chunks end as glibc ends its memory */
};

/* Reads the word at ADDRESS. An unreadable word is 0, which is no valid size. */
static int chunks_read_word(struct chunks *c, uint64_t address, uint64_t *ret)
{
	uint64_t page = address & ~(c->memory->page_bytes - 1);
	int r = 0;

	*ret = 0;
	if (page != c->page) {
		ssize_t n = reach_memory_read(c->memory, page, c->memory->page_bytes);

		r = n < 0 ? (int)n : reach_memory_check_time(c->memory);
		c->page = page;
		c->n_bytes = n < 0 ? 0 : (size_t)n;
	}
	if (address - page + sizeof(*ret) <= c->n_bytes)
		memcpy(ret, c->memory->buffer + (address - page), sizeof(*ret));
	return r;
}

/*
 * Returns the first block that begins at ADDRESS or later, and, like glibc's blocks, at a multiple
 * of the size of a chunk's head.
 */
static size_t chunks_block_from(const struct chunks *c, uint64_t address)
{
	const struct block_index *x = c->index;
	size_t i = block_index_from(x, address);

	while (i < x->n_blocks &&
	       (x->blocks[i].address < address || x->blocks[i].address % HEAD_BYTES))
		i++;
	return i;
}

/* Returns true if SIZE is the size of the first of the two empty chunks that end glibc's memory. */
static bool chunks_is_fence(uint64_t size)
{
	return (size & ~FLAG_IN_USE) == FENCE_BYTES;
}

/*
 * Checks whether the chunk AT, with the size word SIZE, agrees with the previous chunk P: whether P
 * is used, and if not, its size. Stores the answer in *RET. Memory of the program behind a chunk
 * does not agree.
 */
static int chunks_agree(struct chunks *c, uint64_t at, uint64_t size, const struct previous *p,
			bool *ret)
{
	uint64_t previous_size;
	int r;

	*ret = p->kind == PREVIOUS_UNKNOWN ||
	       ((size & FLAG_IN_USE) && (p->kind != PREVIOUS_FREE || p->size <= CACHED_BYTES_MAX));
	if (*ret || (size & FLAG_IN_USE) || p->kind != PREVIOUS_FREE)
		return 0;
	r = chunks_read_word(c, at, &previous_size);
	*ret = previous_size == p->size;
	return r;
}

/* Follows the chunks from AT up to at most TO. PREVIOUS is before the first one. */
static int chunks_follow(struct chunks *c, uint64_t at, uint64_t to, struct previous previous,
			 struct chain *ret)
{
	const struct block_range *blocks = c->index->blocks;
	size_t i = chunks_block_from(c, at + HEAD_BYTES), passed = 0;
	uint64_t first = at, size;
	int r;

	*ret = (struct chain){ .landed = 0 };
	for (;;) {
		bool is_known, agrees;

		if (at == to) {
			*ret = (struct chain){ ret->landed, to, true };
			return 0;
		}
		r = chunks_read_word(c, at + SIZE_AT, &size);
		if (r < 0 || to - at < CHUNK_BYTES_MIN)
			return r;
		r = chunks_agree(c, at, size, &previous, &agrees);
		if (r < 0 || !agrees)
			return r;
		if (chunks_is_fence(size)) {
			r = chunks_read_word(c, at + FENCE_BYTES + SIZE_AT, &size);
			ret->is_whole = size == (FENCE_BYTES | FLAG_IN_USE);
			ret->end = at + (uint64_t)2 * FENCE_BYTES;
			return r;
		}
		if (size & FLAGS_OTHERS)
			return 0;
		size &= ~FLAG_IN_USE;
		if (size % HEAD_BYTES || size < CHUNK_BYTES_MIN || size > to - at)
			return 0;
		for (; i < c->index->n_blocks && blocks[i].address < at + HEAD_BYTES; i++)
			if (++passed > PASSED_MAX)
				return 0;
		is_known = i < c->index->n_blocks && blocks[i].address == at + HEAD_BYTES;
		/*
		 * A block extends to the first word of the next chunk. A larger one does not fit
		 * this chunk.
		 */
		if (is_known && blocks[i].size > size - SIZE_AT)
			return 0;
		if (is_known && at != first) {
			ret->landed = at;
			passed = 0;
		}
		if (is_known)
			i++;
		previous = (struct previous){ is_known ? PREVIOUS_BLOCK : PREVIOUS_FREE, size };
		at += size;
	}
}

int reach_chunks_find_foreign(struct reach_memory *m, const struct block_index *index,
			      const struct root *heap, struct outbuf *foreign)
{
	struct chunks c = { .memory = m, .index = index, .page = 1 };
	uint64_t at = heap->from, from = at, begin = at;
	int r = 0;

	while (r == 0 && at < heap->to) {
		struct previous previous = { at == begin ? PREVIOUS_NONE : PREVIOUS_UNKNOWN, 0 };
		uint64_t own = at;
		struct chain chain;
		size_t i;

		r = chunks_follow(&c, at, heap->to, previous, &chain);
		if (r == 0 && (chain.is_whole || chain.landed))
			own = chain.is_whole ? chain.end : chain.landed;
		if (own > at && from < at)
			r = outbuf_append(foreign, &(struct reach_foreign){ from, at },
					  sizeof(struct reach_foreign));
		if (own > at)
			from = own;
		if (chain.is_whole)
			begin = own;
		i = chunks_block_from(&c, own + HEAD_BYTES + (chain.is_whole ? 0 : 1));
		at = i < index->n_blocks ? index->blocks[i].address - HEAD_BYTES : heap->to;
		r = r ?: reach_memory_check_time(m);
	}
	if (r == 0 && from < heap->to)
		r = outbuf_append(foreign, &(struct reach_foreign){ from, heap->to },
				  sizeof(struct reach_foreign));
	return r;
}
