/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All edits of foreign archives. The reader must accept each result, and the check must find no
 * error in the result, except states that the format does not define: these are copied from the
 * input.
 *
 * Inputs of the corpus go through all edits. The fuzzer is more effective if each input goes
 * through one edit, which its bytes select: any change of an input selects another edit, and the
 * fuzzer tries hundreds of changes.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"
#include "edit/edit-cut.h"
#include "edit/edit-merge.h"
#include "edit/edit-redact.h"
#include "edit/edit-repair.h"
#include "edit/edit-symbolize.h"
#include "reader/fxt/fxt-check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum way { REPAIR, CUT_TIME, CUT_PROCESS, CUT_CPU, REDACT, MERGE, SYMBOLIZE, PARTS, WAYS };

static const char key[EDIT_REDACT_KEY_MIN];

/* Checks that BYTES are read without damage, and that no record breaks a rule. */
static void check(const struct outbuf *bytes)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	int r = fxt_reader_new_memory(&reader, bytes->data, bytes->size);

	assert(r == 0);
	while ((r = fxt_reader_next(reader, &record)) > 0) {
		struct fxt_findings findings;

		if (r == FXT_READER_DAMAGE) {
			fprintf(stderr, "at %llu: %s\n",
				(unsigned long long)fxt_reader_damage(reader)->offset,
				fxt_reader_damage(reader)->what);
			abort();
		}
		fxt_check_record(record, &findings);
		for (unsigned i = 0; i < findings.n; i++)
			findings.n_errors -= findings.list[i].id == FXT_FINDING_THREAD_STATE;
		if (findings.n_errors == 0)
			continue;
		fprintf(stderr, "at %llu: %s\n", (unsigned long long)record->offset,
			fxt_finding_kinds[findings.list[0].id].text);
		abort();
	}
	assert(r == FXT_READER_END);
}

static int repair(struct edit_output *out, struct fxt_reader *reader)
{
	_cleanup_(edit_repair_freep) struct edit_repair *repair = NULL;
	const struct fxt_record *record;
	int r = edit_repair_new(&repair, out), outcome;

	while (r == 0 && (outcome = fxt_reader_next(reader, &record)) > 0)
		r = outcome == FXT_READER_RECORD
			    ? edit_repair_record(repair, record)
			    : edit_repair_damage(repair, fxt_reader_damage(reader));
	return r == 0 ? edit_repair_finish(repair) : r;
}

static int cut(struct edit_output *out, struct fxt_reader *reader,
	       const struct edit_cut_options *options)
{
	_cleanup_(edit_cut_freep) struct edit_cut *cut = NULL;
	const struct fxt_record *record;
	int r = edit_cut_new(&cut, out, options), outcome;

	while (r == 0 && (outcome = fxt_reader_next(reader, &record)) > 0)
		if (outcome == FXT_READER_RECORD)
			r = edit_cut_record(cut, record);
	return r == 0 ? edit_cut_finish(cut) : r;
}

static int redact(struct edit_output *out, struct fxt_reader *reader)
{
	const struct edit_redact_options options = { key, sizeof(key), false };
	_cleanup_(edit_redact_freep) struct edit_redact *redact = NULL;
	const struct fxt_record *record;
	int r = edit_redact_new(&redact, out, &options), outcome;

	while (r == 0 && (outcome = fxt_reader_next(reader, &record)) > 0)
		if (outcome == FXT_READER_RECORD)
			r = edit_redact_record(redact, record);
	return r;
}

/* Merges the archives at A and B. */
static int merge(struct edit_output *out, const uint8_t *a, size_t a_size, const uint8_t *b,
		 size_t b_size)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *first = NULL;
	_cleanup_(fxt_reader_freep) struct fxt_reader *second = NULL;
	_cleanup_(edit_merge_freep) struct edit_merge *merge = NULL;
	const struct fxt_record *record;
	int input, outcome, r = edit_merge_new(&merge, out, 2, NULL);

	if (r < 0 || fxt_reader_new_memory(&first, a, a_size) != 0 ||
	    fxt_reader_new_memory(&second, b, b_size) != 0)
		return r;
	while ((r = edit_merge_step(merge, &input)) >= 0) {
		if (r > 0)
			continue;
		if (input < 0)
			return 0;
		while ((outcome = fxt_reader_next(input == 0 ? first : second, &record)) ==
		       FXT_READER_DAMAGE)
			;
		if (outcome == FXT_READER_END)
			edit_merge_end(merge, (unsigned)input);
		else if ((r = edit_merge_put(merge, (unsigned)input, record)) < 0)
			return r;
	}
	return r;
}

/* Reads READER's archive to its end. Returns the time in the middle between its first and last
 * event. */
static uint64_t find_middle(struct fxt_reader *reader)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	const struct fxt_record *record;
	int outcome;

	while ((outcome = fxt_reader_next(reader, &record)) > 0) {
		if (outcome != FXT_READER_RECORD || !fxt_record_has_time(record))
			continue;
		first_ns = record->ts_ns < first_ns ? record->ts_ns : first_ns;
		last_ns = record->ts_ns > last_ns ? record->ts_ns : last_ns;
	}
	return last_ns > first_ns ? first_ns + (last_ns - first_ns) / 2 : last_ns;
}

/*
 * Cuts DATA into two parts, and merges them. If DATA is a recording of kymo, the second part
 * continues the first one.
 */
static int parts(struct edit_output *out, struct fxt_reader *reader, const uint8_t *data,
		 size_t size)
{
	uint64_t middle_ns = find_middle(reader);
	struct edit_output halves[2];
	int r = 0;

	for (unsigned i = 0; r == 0 && i < 2; i++) {
		const struct edit_cut_options options = { .from_ns = i ? middle_ns : 0,
							  .to_ns = i ? UINT64_MAX : middle_ns,
							  .absolute = true };
		_cleanup_(fxt_reader_freep) struct fxt_reader *again = NULL;

		r = edit_output_init(&halves[i]);
		assert(r == 0 && fxt_reader_new_memory(&again, data, size) == 0);
		r = cut(&halves[i], again, &options);
		check(&halves[i].bytes);
	}
	if (r == 0)
		r = merge(out, halves[0].bytes.data, halves[0].bytes.size, halves[1].bytes.data,
			  halves[1].bytes.size);
	for (unsigned i = 0; i < 2; i++)
		edit_output_deinit(&halves[i]);
	return r;
}

/* Even addresses have names; every fourth one has an inlined function. */
static int find_names(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	static const struct frame frames[] = {
		{ "inlined", "a.c", "a", 1, 0 },
		{ "outer", "a.c", "a", 2, 1 },
	};

	(void)userdata;
	*ret = frames;
	return place->address & 1 ? 0 : place->address & 2 ? 2 : 1;
}

static int symbolize(struct edit_output *out, struct fxt_reader *reader)
{
	static const struct profile_names names = { .find = find_names };
	const struct edit_symbolize_options options = { .names = &names };
	_cleanup_(edit_symbolize_freep) struct edit_symbolize *s = NULL;
	const struct fxt_record *record;
	const char *what;
	int r = edit_symbolize_new(&s, out, &options), outcome;

	while (r == 0 && (outcome = fxt_reader_next(reader, &record)) > 0)
		if (outcome == FXT_READER_RECORD)
			r = edit_symbolize_record(s, record, &what);
	return r == 0 ? edit_symbolize_finish(s) : r;
}

static int edit(enum way way, struct edit_output *out, struct fxt_reader *reader,
		const uint8_t *data, size_t size)
{
	static const uint32_t pids[] = { 2, 100, 1000 };
	static const bool cpus[] = { true, false, true };

	switch (way) {
	case CUT_TIME:
		return cut(out, reader,
			   &(struct edit_cut_options){ .from_ns = 1000, .to_ns = 100000 });
	case CUT_PROCESS:
		return cut(
			out, reader,
			&(struct edit_cut_options){
				.to_ns = UINT64_MAX, .absolute = true, .pids = pids, .n_pids = 3 });
	case CUT_CPU:
		return cut(out, reader,
			   &(struct edit_cut_options){
				   .from_ns = 1, .to_ns = UINT64_MAX, .cpus = cpus, .n_cpus = 3 });
	case REDACT:
		return redact(out, reader);
	case MERGE:
		return merge(out, data, size, data, size);
	case PARTS:
		return parts(out, reader, data, size);
	case SYMBOLIZE:
		return symbolize(out, reader);
	default:
		return repair(out, reader);
	}
}

static void go(enum way way, const uint8_t *data, size_t size)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	struct edit_output out;

	if (fxt_reader_new_memory(&reader, data, size) != 0 || edit_output_init(&out) < 0)
		return;
	assert(edit(way, &out, reader, data, size) == 0);
	check(&out.bytes);
	edit_output_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef FUZZ_ONE_WAY
	go((enum way)(table_hash(data, size) % WAYS), data, size);
#else
	for (enum way way = 0; way < WAYS; way++)
		go(way, data, size);
#endif
	return 0;
}
