/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of a provider, checked one by one, and written to an archive by the FXT writer.
 *
 * Nothing of a record is copied without a check: the record is parsed by the reader's tables, each
 * argument is read, and a new record is written, with strings and threads of the archive's tables.
 * A record that is not exactly as the specification says is garbage: it is skipped and counted, and
 * so are metadata, records of other types than a provider may write, dangling references, threads
 * of other processes, and times outside the session.
 *
 * Memory: the texts of the durable part, which is bounded, and the tables of a reader and a writer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "writer/fxt/fxt-writer.h"

/* Facts about the program, and the wishes of the session. */
struct provider_rules {
	void *userdata;
	uint64_t pid; /* the koid of the process */

	/*
	 * Sets *RET to the koid of THREAD of the program: a tid, or a track. Returns false if the
	 * program has no such thread.
	 */
	bool (*koid)(void *userdata, uint64_t thread, uint64_t *ret);

	/*
	 * Notes the name, of N bytes, that the program gives thread KOID. Returns 0 or -ENOMEM.
	 * NULL = nothing is noted.
	 */
	int (*named)(void *userdata, uint64_t koid, const char *name, size_t n);

	/* Sets *RET to the time of STAMP in nanoseconds. Returns false for a wrong stamp. */
	bool (*time)(void *userdata, uint64_t stamp, uint64_t *ret);

	/* Whether the session records the category. NULL = all. */
	bool (*category)(void *userdata, const char *name, size_t n);
};

struct provider_record_counts {
	uint64_t written;
	uint64_t garbage;
	uint64_t filtered; /* records of categories that the session does not record */
};

struct provider_records;

/*
 * Makes a provider of the archive, with an unused ID, the name NAME, and a copy of RULES. Returns 0
 * or -ENOMEM.
 */
int provider_records_new(struct provider_records **ret, uint32_t id, const char *name,
			 const struct provider_rules *rules);
struct provider_records *provider_records_free(struct provider_records *p);
DEFINE_CLEANUP(struct provider_records *, provider_records_free)

/*
 * Writes the record of N_WORDS words, which is the size in its header, to W, with section records
 * as needed; or counts it as garbage. IS_DURABLE says that the record is in the durable part of the
 * buffer, in which strings, threads and names are. Returns 0, or the error of the output.
 */
int provider_records_add(struct provider_records *p, struct fxt_writer *w, const uint64_t *words,
			 unsigned n_words, bool is_durable);

/*
 * Writes to W, in the section of the provider, that the program could not write some records.
 * Returns 0, or the error of the output.
 */
int provider_records_lost(struct provider_records *p, struct fxt_writer *w);

/*
 * Introduces the provider in the head of a chunk, with the names of its threads and tracks so far,
 * unless it has written nothing. W continues with its own provider. Returns 0, or the error of the
 * output.
 */
int provider_records_head(const struct provider_records *p, struct fxt_writer *w);

/* Begins a new chunk: strings and threads are registered again. Returns 0 or -ENOMEM. */
int provider_records_forget(struct provider_records *p);

const struct provider_record_counts *provider_records_counts(const struct provider_records *p);
