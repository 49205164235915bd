/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The golden records, each with one error.
 */
#include <string.h>

#include "base/outbuf.h"
#include "reader/fxt/fxt-check.h"
#include "tests/support/fixtures/fxt-golden.h"
#include "tests/support/unit.h"

struct row {
	enum golden record;
	unsigned word;
	uint64_t flip;          /* bits of the word that are inverted */
	enum fxt_finding_id id; /* the expected finding */
};

/* Reads the golden archive, with ROW's record changed if CHANGE; *RET gets its findings. */
static void check(const struct row *row, bool change, struct fxt_findings *ret)
{
	const struct fxt_record *record = NULL;
	struct fxt_reader *reader = NULL;
	struct outbuf b = { 0 };

	for (int i = 0; i < GOLDEN_MAX; i++) {
		struct golden_record g = golden_records[i];

		if (change && i == (int)row->record)
			g.words[row->word] ^= row->flip;
		assert_int_equal(outbuf_append(&b, g.words, 8 * g.n_words), 0);
	}
	assert_int_equal(fxt_reader_new_memory(&reader, b.data, b.size), 0);
	for (int i = 0; i <= (int)row->record; i++)
		assert_int_equal(fxt_reader_next(reader, &record), FXT_READER_RECORD);
	fxt_check_record(record, ret);
	fxt_reader_free(reader);
	outbuf_deinit(&b);
}

static bool has(const struct fxt_findings *f, enum fxt_finding_id id)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->list[i].id == id)
			return true;
	return false;
}

TEST(test_check_record)
{
	static const struct row rows[] = {
		{ GOLDEN_PROVIDER_INFO, 0, UINT64_C(1) << 60, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_PROVIDER_INFO, 2, UINT64_C(1) << 63, FXT_FINDING_PADDING },
		{ GOLDEN_PROVIDER_SECTION, 0, UINT64_C(1) << 63, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_PROVIDER_EVENT, 0, UINT64_C(1) << 56, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_PROVIDER_EVENT, 0, UINT64_C(1) << 52, FXT_FINDING_METADATA_UNKNOWN },
		{ GOLDEN_INITIALIZATION, 0, 0x10000, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_STRING, 0, 0x80000000, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_STRING, 1, 0x80, FXT_FINDING_UTF8 },
		{ GOLDEN_STRING, 0, 0x10000, FXT_FINDING_STRING_INDEX_0 },
		{ GOLDEN_THREAD, 0, 0x1000000, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_INSTANT, 0, UINT64_C(2) << 32, FXT_FINDING_STRING_UNDEFINED },
		{ GOLDEN_COUNTER, 0, 0x4000000, FXT_FINDING_THREAD_UNDEFINED },
		{ GOLDEN_DURATION_COMPLETE, 3, 0x1000, FXT_FINDING_COMPLETE_BACKWARDS },
		{ GOLDEN_FLOW_END, 0, 0x60000, FXT_FINDING_EVENT_UNKNOWN },
		{ GOLDEN_BLOB, 0, UINT64_C(1) << 47, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_BLOB, 1, UINT64_C(1) << 60, FXT_FINDING_PADDING },
		{ GOLDEN_USERSPACE_OBJECT, 0, UINT64_C(1) << 44, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_KERNEL_OBJECT, 3, 15, FXT_FINDING_PROCESS_TYPE },
		{ GOLDEN_KERNEL_OBJECT, 4, 1, FXT_FINDING_PROCESS_MISSING },
		{ GOLDEN_LEGACY_SWITCH, 0, UINT64_C(4) << 24, FXT_FINDING_THREAD_STATE },
		{ GOLDEN_SWITCH, 0, UINT64_C(6) << 36, FXT_FINDING_THREAD_STATE },
		{ GOLDEN_SWITCH, 0, UINT64_C(1) << 40, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_SWITCH, 4, 10, FXT_FINDING_ARG_UNKNOWN },
		{ GOLDEN_WAKEUP, 0, UINT64_C(1) << 36, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_LOG, 0, UINT64_C(1) << 40, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_MODULE, 0, UINT64_C(1) << 60, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_MMAP, 0, UINT64_C(1) << 47, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_BACKTRACE, 0, UINT64_C(1) << 36, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_LARGE_BLOB, 1, UINT64_C(1) << 44, FXT_FINDING_RESERVED_BITS },
		{ GOLDEN_LARGE_BLOB_BARE, 1, UINT64_C(1) << 32, FXT_FINDING_RESERVED_BITS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool error = fxt_finding_kinds[rows[i].id].severity == FXT_SEVERITY_ERROR;
		struct fxt_findings before, after;

		check(&rows[i], false, &before);
		check(&rows[i], true, &after);
		assert_int_equal(before.n_errors, 0);
		assert_int_equal(after.n_errors, error);
		assert_false(has(&before, rows[i].id));
		if (!has(&after, rows[i].id))
			fail_msg("row %zu: no %s", i, fxt_finding_kinds[rows[i].id].id);
		/* There is no other finding. */
		for (unsigned j = 0; j < after.n; j++)
			if (after.list[j].id != rows[i].id && !has(&before, after.list[j].id))
				fail_msg("row %zu: %s", i, fxt_finding_kinds[after.list[j].id].id);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
