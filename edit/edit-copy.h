/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes records that a reader has found into another archive.
 *
 * Nothing of the source's tables is kept: strings, threads and providers are registered anew. So
 * records can be left out, moved and changed one by one, and the result has no dangling references.
 * The content of a record is kept, except:
 *
 * - Times become nanoseconds (1,000,000,000 ticks per second).
 * - Dangling references become the text "(lost)" and the pseudo-thread "unknown". Exceptions are
 *   the names at fixed places in every kymo archive, which are known without their records.
 * - Text becomes valid UTF-8 of at most FXT_STRING_BYTES_MAX bytes.
 * - Arguments are left out if they are unreadable, of an unknown type, or not of the type that
 *   readers require (weights, wakers, processes of threads).
 * - Words after a record's contents, which the specification does not know, are left out.
 *
 * All these changes except the first are counted. A record of unknown type cannot be copied, since
 * its references are unknown. It is counted, too.
 */
#pragma once

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "reader/fxt/fxt-reader.h"
#include "model/event.h"
#include "writer/fxt/fxt-writer.h"

/*
 * An archive in the making, from one or several sources. Each struct edit_copy that writes to it
 * must live until it is finished.
 */
struct edit_output {
	struct outbuf bytes; /* whole records; the caller takes them between calls */
	const struct fxt_out_provider *current;
	uint32_t next_provider; /* the lowest unused id */
};

/*
 * Writes the magic number to OUT. OUT must live as long as the copies that write to it. Returns 0
 * or -ENOMEM.
 */
int edit_output_init(struct edit_output *out);
void edit_output_deinit(struct edit_output *out);

/* The role of a text in its record. */
enum edit_text {
	EDIT_TEXT_PROVIDER, /* name of a provider */
	EDIT_TEXT_CATEGORY,
	EDIT_TEXT_NAME, /* name of an event, object or blob */
	EDIT_TEXT_MODULE,
	EDIT_TEXT_LOG,
	EDIT_TEXT_ARG_NAME,
	EDIT_TEXT_ARG,
};

/* The result of edit_rules.text() that leaves a text unchanged. */
#define EDIT_TEXT_AS_IT_IS SIZE_MAX

/* Changes during the copy. A function can be NULL. */
struct edit_rules {
	void *userdata;

	/* Replaces KOID, wherever it occurs. */
	uint64_t (*koid)(void *userdata, uint64_t koid);

	/*
	 * Writes a replacement for the N bytes at TEXT to TO, where FXT_STRING_BYTES_MAX bytes fit.
	 * Returns the length of the replacement, or EDIT_TEXT_AS_IT_IS. TEXT and the replacement
	 * are valid UTF-8. ARG_NAME is the name of the text's argument (enum fxt_name, 0 = unknown,
	 * or no argument). Not called for empty text, nor for names of fxt-names.h that are the
	 * name of a category, an event or an argument. RECORD is NULL for a provider's name.
	 */
	size_t (*text)(void *userdata, const struct fxt_record *record, enum edit_text what,
		       int arg_name, const char *text, size_t n, char *to);

	/*
	 * Changes ARG with the name NAME (enum fxt_name, 0 = unknown). Returns false if ARG is left
	 * out.
	 */
	bool (*arg)(void *userdata, const struct fxt_record *record, int name,
		    struct fxt_out_arg *arg);

	/*
	 * Additional argument number N, from 0, for RECORD: fills *RET except for its name, and
	 * returns the name (enum fxt_name); 0 = no more arguments. If the record has no room for
	 * more arguments, they are left out.
	 */
	int (*more)(void *userdata, const struct fxt_record *record, unsigned n,
		    struct fxt_out_arg *ret);

	int64_t shift_ns;   /* added to all times, like by edit_shift_ns() */
	uint32_t shift_cpu; /* added to all cpus of scheduling records */

	/*
	 * Writes each record after its own string and thread records, in the form that edit-kept.h
	 * describes. The output is not an archive.
	 */
	bool apart;

	/*
	 * Texts with NUL bytes are cleaned, and arguments without a name, or with the name of an
	 * earlier argument, are left out.
	 */
	bool mends;
};

struct edit_counts {
	/* Number of records that were written, without the records that only fill tables. */
	uint64_t records;
	uint64_t strings, threads; /* dangling references to strings and threads */
	uint64_t texts;            /* texts that were made valid or cut */
	uint64_t arguments;        /* left out: unreadable, of a wrong type, unnamed, or repeated */
	uint64_t refused; /* records of unknown type or kind, or that the format cannot contain */
	uint64_t longer;  /* records with words after their contents, which were left out */
};

/* NS plus SHIFT, kept within 64 bits. */
uint64_t edit_shift_ns(uint64_t ns, int64_t shift);

/*
 * Adds the repairs and losses that an earlier copy counted in MORE to TO. The records in MORE are
 * not added, since TO counts the same records again.
 */
void edit_counts_add(struct edit_counts *to, const struct edit_counts *more);

struct edit_copy;

/*
 * Creates a copy that writes to OUT and applies RULES (both borrowed; RULES may be NULL). Returns 0
 * or -ENOMEM.
 */
int edit_copy_new(struct edit_copy **ret, struct edit_output *out, const struct edit_rules *rules);
struct edit_copy *edit_copy_free(struct edit_copy *c);
DEFINE_CLEANUP(struct edit_copy *, edit_copy_free)

/*
 * Copies RECORD, of provider FROM (record->provider, unless the record was kept meanwhile). Records
 * that fill tables or begin a section are only read: their content appears in the records that need
 * it. Returns 0, or -ENOMEM or -EMSGSIZE if the output has no more room; later calls then return
 * the same error.
 */
int edit_copy_record(struct edit_copy *c, const struct fxt_provider *from,
		     const struct fxt_record *record);

/*
 * Writes an event of kymo, unchanged by rules: into the source's provider "kymo" if there is one,
 * otherwise into a new provider "kymo". Returns like edit_copy_record(), or -EINVAL.
 */
int edit_copy_event(struct edit_copy *c, const struct event *ev);

/* Introduces the provider of edit_copy_event(), for readers that look for it at the begin of the
 * archive. Returns like edit_copy_record(). */
int edit_copy_begin(struct edit_copy *c);

/*
 * From now on, samples and related events are also written as Perfetto's packets.
 * edit_copy_gather() must be called with the event EV of each related record that is copied.
 * edit_copy_packets() writes the remaining packets. Both functions return like edit_copy_record().
 */
void edit_copy_make_packets(struct edit_copy *c);
int edit_copy_gather(struct edit_copy *c, const struct event *ev);
int edit_copy_packets(struct edit_copy *c);

/* A switch that the timeline needs, but for which no record exists. */
struct edit_switch {
	uint64_t ts_ns;
	uint32_t cpu;
	uint64_t out_tid, in_tid; /* 0 = idle */
	int32_t out_weight, in_weight;
};

/*
 * Writes SW as a synthetic switch into kymo's own provider. Rules change its koids, time and cpu as
 * in records. Returns as edit_copy_record().
 */
int edit_copy_switch(struct edit_copy *c, const struct edit_switch *sw);

/*
 * Writes EV, which no struct event describes, into kymo's own provider, unchanged by rules. Its
 * texts are interned or inline. Returns as edit_copy_record().
 */
int edit_copy_raw_event(struct edit_copy *c, const struct fxt_event *ev);

/*
 * Names KOID, an object of TYPE (FXT_OBJECT_*), in kymo's own provider. If KOID is a thread, PID is
 * its process. Returns like edit_copy_record().
 */
int edit_copy_name(struct edit_copy *c, unsigned type, uint64_t koid, uint64_t pid,
		   const char *name);

/*
 * Returns the position, in the output, of the record itself that the last edit_copy_record() wrote.
 */
size_t edit_copy_last(const struct edit_copy *c);

/*
 * Returns the provider of the record that edit_copy_last() refers to. Its name is the name at the
 * time of that record, since readers rename a provider that is introduced again. It lives as long
 * as C; only its name and id are set.
 */
const struct fxt_provider *edit_copy_from(const struct edit_copy *c);

const struct edit_counts *edit_copy_counts(const struct edit_copy *c);

/* Returns true if FROM is a provider that kymo wrote. */
bool edit_copy_is_kymo(const struct fxt_provider *from);

/*
 * Returns true if RECORD contains samples as Perfetto's packets. The times and koids in these
 * packets are not converted.
 */
bool edit_copy_is_packets(const struct fxt_record *record);
