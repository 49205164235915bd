/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes records that a reader has found into another archive.
 *
 * Nothing of the source's tables is taken over: strings, threads and providers are registered anew,
 * so that records can be left out, moved and changed one by one, and nothing in the result refers
 * to what is not there. What a record says is kept, but for:
 *
 *	- times become nanoseconds (1,000,000,000 ticks per second)
 *	- references that lead nowhere become the text "(lost)" and the pseudo-thread "unknown"; but
 *	  for the names that every archive of kymo has at fixed places, which are known without
 *	  their records
 *	- text becomes valid UTF-8 of at most FXT_STRING_BYTES_MAX bytes
 *	- arguments that cannot be read, are of a type that is not known, or not of the one that
 *	  readers insist on (weights, wakers, processes of threads), are left out
 *	- words behind a record's contents, which the specification does not know, are left out
 *
 * Each of these but the first is counted. A record of no known type cannot be copied, since
 * nobody knows what in it is a reference; it is counted, too.
 */
#pragma once

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "reader/fxt/fxt-reader.h"
#include "writer/event.h"
#include "writer/fxt/fxt-writer.h"

/*
 * One archive that is being made, of one or several sources. All copies into it live until it is
 * done.
 */
struct edit_output {
	struct outbuf bytes; /* whole records, to be taken away between calls */
	const struct fxt_out_provider *current;
	uint32_t next_provider; /* the lowest id that no provider has */
};

/* The output lives as long as its copies. Writes the magic number. Returns 0 or -ENOMEM. */
int edit_output_init(struct edit_output *out);
void edit_output_deinit(struct edit_output *out);

/* What a text is in its record. */
enum edit_text {
	EDIT_TEXT_PROVIDER, /* its name */
	EDIT_TEXT_CATEGORY,
	EDIT_TEXT_NAME, /* of an event, object or blob */
	EDIT_TEXT_MODULE,
	EDIT_TEXT_LOG,
	EDIT_TEXT_ARG_NAME,
	EDIT_TEXT_ARG,
};

/* What edit_rules.text() returns to leave a text as it is. */
#define EDIT_TEXT_AS_IT_IS SIZE_MAX

/* Changes on the way. A function may be NULL. */
struct edit_rules {
	void *userdata;

	/* Another koid in place of KOID, wherever one stands. */
	uint64_t (*koid)(void *userdata, uint64_t koid);

	/*
	 * Puts another text in place of the N bytes at TEXT to TO, which has room for
	 * FXT_STRING_BYTES_MAX, and returns its length, or EDIT_TEXT_AS_IT_IS. Both are valid
	 * UTF-8. ARG_NAME is that of the argument's name (enum fxt_name, 0 = not known, or no
	 * argument). Is not asked for empty text, nor for names of fxt-names.h that are a category,
	 * an event's or an argument's name. RECORD is NULL for a provider's name.
	 */
	size_t (*text)(void *userdata, const struct fxt_record *record, enum edit_text what,
		       int arg_name, const char *text, size_t n, char *to);

	/* Changes ARG, whose name is NAME (enum fxt_name, 0 = not known). False: it is left out. */
	bool (*arg)(void *userdata, const struct fxt_record *record, int name,
		    struct fxt_out_arg *arg);

	/*
	 * An argument that RECORD gets behind its own: fills *RET but for its name, and returns
	 * that (enum fxt_name); 0 = none. Of a record that has no room for it it is left out.
	 */
	int (*more)(void *userdata, const struct fxt_record *record, struct fxt_out_arg *ret);

	int64_t shift_ns;   /* is added to all times, as edit_shift_ns() does */
	uint32_t shift_cpu; /* to all cpus of scheduling records */

	/*
	 * Each record with the strings and threads that it needs before it, to be kept as
	 * edit-kept.h says. The output is no archive.
	 */
	bool apart;
};

struct edit_counts {
	uint64_t records;          /* written; without those that only fill tables */
	uint64_t strings, threads; /* references that led nowhere */
	uint64_t texts;            /* mended or cut */
	uint64_t arguments;        /* left out, since they could not be read */
	uint64_t refused; /* records: of unknown type or kind, or the format cannot hold them */
	uint64_t longer;  /* records that had words behind their contents, which were left out */
};

/* NS later by SHIFT, kept within 64 bits. */
uint64_t edit_shift_ns(uint64_t ns, int64_t shift);

/*
 * Adds to TO what MORE says was mended or left out, for one that came before it; not its records,
 * which are in TO again.
 */
void edit_counts_add(struct edit_counts *to, const struct edit_counts *more);

struct edit_copy;

/* Makes copies into OUT by RULES (borrowed, both; RULES may be NULL). Returns 0 or -ENOMEM. */
int edit_copy_new(struct edit_copy **ret, struct edit_output *out, const struct edit_rules *rules);
struct edit_copy *edit_copy_free(struct edit_copy *c);
DEFINE_CLEANUP(struct edit_copy *, edit_copy_free)

/*
 * Copies RECORD as one of provider FROM (record->provider, unless the record was kept meanwhile).
 * Records that fill tables, or say where a section begins, are only looked at: what they say
 * shows in the records that need it. Returns 0, or -ENOMEM or -EMSGSIZE for lack of room in the
 * output, which sticks.
 */
int edit_copy_record(struct edit_copy *c, const struct fxt_provider *from,
		     const struct fxt_record *record);

/*
 * Writes an event of kymo's own, unchanged by rules: into the source's provider "kymo" if there is
 * one, else into a provider of that name. Returns as above, or -EINVAL.
 */
int edit_copy_event(struct edit_copy *c, const struct event *ev);

/*
 * From now on samples, and what is said about them, go into Perfetto's packets, too. Of what is
 * copied as a record edit_copy_gather() has to know: EV is what that record says.
 * edit_copy_packets() writes what is left. Both return as edit_copy_record().
 */
void edit_copy_make_packets(struct edit_copy *c);
int edit_copy_gather(struct edit_copy *c, const struct event *ev);
int edit_copy_packets(struct edit_copy *c);

/* A switch that is in no record, but that a timeline needs. */
struct edit_switch {
	uint64_t ts_ns;
	uint32_t cpu;
	uint64_t out_tid, in_tid; /* 0 = idle */
	int32_t out_weight, in_weight;
};

/* Writes SW, synthetic, into kymo's own provider; its koids, time and cpu are changed by rules as a
 * record's are. Returns as edit_copy_record(). */
int edit_copy_switch(struct edit_copy *c, const struct edit_switch *sw);

/*
 * Names KOID, an object of TYPE (FXT_OBJECT_*), a thread one of process PID, in kymo's own
 * provider. Returns as edit_copy_record().
 */
int edit_copy_name(struct edit_copy *c, unsigned type, uint64_t koid, uint64_t pid,
		   const char *name);

/*
 * Where in the output the words begin that the last edit_copy_record() has written for its record.
 */
size_t edit_copy_last(const struct edit_copy *c);

/*
 * The provider of that record, as it is called at that time: readers give it another name when it
 * is introduced again. Lives as long as C; only its name and id are set.
 */
const struct fxt_provider *edit_copy_from(const struct edit_copy *c);

const struct edit_counts *edit_copy_counts(const struct edit_copy *c);

/* Whether the source has a provider that kymo wrote. */
bool edit_copy_is_kymo(const struct fxt_provider *from);

/* Whether RECORD has samples as Perfetto's packets, whose times and koids nobody here converts. */
bool edit_copy_is_packets(const struct fxt_record *record);
