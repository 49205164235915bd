/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads an uncompressed call trace, versions 0 to 6, in one pass and bounded memory.
 *
 * Calls are returned in the order in which they end. Calls that never end follow at the end, as in
 * the format's own tools. The format does not allow skipping anything, so damage ends the trace.
 * All data before the damage are returned first; open calls are returned as incomplete calls.
 *
 * Sizes in the file are not trusted: memory is allocated for bytes that have arrived. A string or
 * blob can have 256 MiB, a call 512 MiB, all signatures 256 MiB. All open calls can have 256 MiB;
 * beyond that, the oldest one is returned as incomplete.
 */
#pragma once

#include "base/cleanup.h"
#include "base/input.h"
#include "reader/apitrace/apitrace-finding.h"
#include "writer/apitrace/apitrace-model.h"

/* The positive results of apitrace_reader_new_*(). */
enum apitrace_alien {
	APITRACE_ALIEN_EMPTY = 1, /* the input has no bytes */
	/* An unknown version; apitrace_head_version() returns it. */
	APITRACE_ALIEN_VERSION,
};

/* The results of apitrace_reader_next(), apart from negative errnos. */
enum apitrace_outcome {
	APITRACE_END = 0,
	APITRACE_CALL = 1,
	APITRACE_DAMAGE = 2, /* returned once; the calls that were open follow */
};

struct apitrace_header {
	uint64_t version, semantic_version;
	const struct apitrace_property *properties; /* properties in the order of the file */
	size_t n_properties;
};

struct apitrace_reader;

/*
 * Returns true if the N unpacked bytes at P can be the beginning of a call trace. With 32 bytes or
 * more (if the trace has as many), the answer is reliable.
 */
bool apitrace_is_stream(const uint8_t *p, size_t n);

/* Returns the version of the format with which the N > 0 bytes at P begin. */
uint64_t apitrace_head_version(const uint8_t *p, size_t n);

/*
 * Start to read a call trace, from the callback READ or from the N bytes at P (borrowed). FINDING
 * can be NULL. The header is read now, up to its end or to damage. Return 0, an enum
 * apitrace_alien, or a negative errno.
 */
int apitrace_reader_new_source(struct apitrace_reader **ret, input_read_fn read, void *source,
			       apitrace_finding_fn finding, void *userdata);
int apitrace_reader_new_memory(struct apitrace_reader **ret, const void *p, size_t n,
			       apitrace_finding_fn finding, void *userdata);

struct apitrace_reader *apitrace_reader_free(struct apitrace_reader *r);
DEFINE_CLEANUP(struct apitrace_reader *, apitrace_reader_free)

const struct apitrace_header *apitrace_reader_header(const struct apitrace_reader *r);

/*
 * Reads the next call. Returns an enum apitrace_outcome or a negative errno. *RET is valid until
 * the next call; signatures are valid as long as the reader.
 */
int apitrace_reader_next(struct apitrace_reader *r, const struct apitrace_call **ret);

/* Returns the damage, after APITRACE_DAMAGE. */
const struct apitrace_damage *apitrace_reader_damage(const struct apitrace_reader *r);

/* Returns the number of bytes of the unpacked stream that were read. */
uint64_t apitrace_reader_offset(const struct apitrace_reader *r);
