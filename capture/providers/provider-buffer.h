/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The manager's end of a provider's buffer (docs/architecture/providers.md). Makes the two files of
 * the buffer, copies records that the program has finished, and returns blocks to the program.
 *
 * The program can write anything into the data file at any time, so each word is loaded once, into
 * a copy. A read takes time for at most one copy of the buffer, and memory for one block. The data
 * file cannot shrink (seals), and the program cannot write the control file.
 *
 * This part knows the sizes of records, but not their contents: see provider-records.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "provider/provider-wire.h"

struct provider_buffer_options {
	enum provider_mode mode;
	uint32_t n_blocks;    /* at most PROVIDER_BLOCKS_MAX */
	uint32_t block_bytes; /* a power of two from PROVIDER_BLOCK_MIN to PROVIDER_BLOCK_MAX */
};

/*
 * The losses of a buffer so far. `garbage` counts what is wrong in the buffer; the other members
 * count losses.
 */
struct provider_losses {
	uint64_t full;        /* records without a free block */
	uint64_t large;       /* records that are too long */
	uint64_t overwritten; /* records that were overwritten (circular) */
	uint64_t durable;     /* strings, threads and names without room */
	uint64_t unfinished;  /* gaps, of one or more records that were never finished */
	uint64_t garbage;     /* blocks whose rest is no record, and blocks with a wrong end */
	uint64_t changed;     /* blocks that were overwritten while they were copied (circular) */
};

struct provider_buffer;

/* Results of a provider_record_fn that leave records in the buffer, for the next read. */
enum {
	PROVIDER_READ_LATER = 1, /* this record, and those behind it in its block */
	PROVIDER_READ_ENDS = 2,  /* this record, and all that follow */
};

/*
 * Takes a copy of a record of N_WORDS words, the size in its header. IS_DURABLE says that the
 * record is in the durable part. Returns 0; PROVIDER_READ_*, unless the record is durable or the
 * buffer is circular; or a negative errno, which ends the read.
 */
typedef int (*provider_record_fn)(void *userdata, const uint64_t *words, unsigned n_words,
				  bool is_durable);

/* Makes a buffer. Returns 0, -EINVAL, or a negative errno of memfd_create(), mmap() and so on. */
int provider_buffer_new(struct provider_buffer **ret,
			const struct provider_buffer_options *options);
struct provider_buffer *provider_buffer_free(struct provider_buffer *b);
DEFINE_CLEANUP(struct provider_buffer *, provider_buffer_free)

/* The descriptors to send with PROVIDER_START. The buffer keeps them. */
int provider_buffer_data_fd(const struct provider_buffer *b);
int provider_buffer_control_fd(const struct provider_buffer *b);

/*
 * Passes all new finished records to FN: first the records in the durable part, then those in the
 * blocks, in the order in which the program has taken the blocks. Blocks that are read to their end
 * return to the program (streaming). A circular buffer passes everything that it holds, each time.
 * IS_LAST: the program does not write any more, so unfinished records are skipped and counted.
 * Returns 0, the highest PROVIDER_READ_* of FN, -ENOMEM or a negative result of FN.
 */
int provider_buffer_read(struct provider_buffer *b, bool is_last, provider_record_fn fn,
			 void *userdata);

/*
 * Returns the losses so far. The results never decrease, even if the program decreases its
 * counters.
 */
void provider_buffer_losses(struct provider_buffer *b, struct provider_losses *ret);
