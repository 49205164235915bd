/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The golden records, each with one thing made wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/outbuf.h"
#include "reader/fxt/fxt-check.h"
#include "tests/support/fxt-golden.h"

struct row {
	enum golden record;
	unsigned word;
	uint64_t flip; /* these bits of the word are turned over */
	bool warning;
	const char *what; /* part of what is to be said */
};

/* Reads the golden archive with ROW's record changed; *RET is what is found in that one. */
static void check(const struct row *row, struct fxt_findings *ret)
{
	const struct fxt_record *record = NULL;
	struct fxt_reader *reader = NULL;
	struct outbuf b = { 0 };

	for (int i = 0; i < GOLDEN_MAX; i++) {
		struct golden_record g = golden_records[i];

		if (i == (int)row->record)
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

static void test_check_record(void **state)
{
	static const struct row rows[] = {
		{ GOLDEN_PROVIDER_INFO, 0, UINT64_C(1) << 60, false, "reserved" },
		{ GOLDEN_PROVIDER_INFO, 2, UINT64_C(1) << 63, true, "padding" },
		{ GOLDEN_PROVIDER_SECTION, 0, UINT64_C(1) << 63, false, "reserved" },
		{ GOLDEN_PROVIDER_EVENT, 0, UINT64_C(1) << 56, false, "reserved" },
		{ GOLDEN_PROVIDER_EVENT, 0, UINT64_C(1) << 52, true, "unknown kind" },
		{ GOLDEN_INITIALIZATION, 0, 0x10000, false, "reserved" },
		{ GOLDEN_STRING, 0, 0x80000000, false, "reserved" },
		{ GOLDEN_STRING, 1, 0x80, false, "not UTF-8" },
		{ GOLDEN_STRING, 0, 0x10000, true, "index 0" },
		{ GOLDEN_THREAD, 0, 0x1000000, false, "reserved" },
		{ GOLDEN_INSTANT, 0, UINT64_C(2) << 32, false, "string that was not registered" },
		{ GOLDEN_COUNTER, 0, 0x4000000, false, "thread that was not registered" },
		{ GOLDEN_DURATION_COMPLETE, 3, 0x1000, false, "ends before it begins" },
		{ GOLDEN_FLOW_END, 0, 0x60000, true, "unknown type" },
		{ GOLDEN_BLOB, 0, UINT64_C(1) << 47, false, "reserved" },
		{ GOLDEN_BLOB, 1, UINT64_C(1) << 60, true, "padding" },
		{ GOLDEN_USERSPACE_OBJECT, 0, UINT64_C(1) << 44, false, "reserved" },
		{ GOLDEN_KERNEL_OBJECT, 3, 12, false, "not a koid" },
		{ GOLDEN_KERNEL_OBJECT, 4, 1, true, "without its process" },
		{ GOLDEN_LEGACY_SWITCH, 0, UINT64_C(4) << 24, false, "thread state over 5" },
		{ GOLDEN_SWITCH, 0, UINT64_C(6) << 36, false, "thread state over 5" },
		{ GOLDEN_SWITCH, 0, UINT64_C(1) << 40, false, "reserved" },
		{ GOLDEN_SWITCH, 4, 10, true, "unknown type" },
		{ GOLDEN_WAKEUP, 0, UINT64_C(1) << 36, false, "reserved" },
		{ GOLDEN_LOG, 0, UINT64_C(1) << 40, false, "reserved" },
		{ GOLDEN_MODULE, 0, UINT64_C(1) << 60, false, "reserved" },
		{ GOLDEN_MMAP, 0, UINT64_C(1) << 47, false, "reserved" },
		{ GOLDEN_BACKTRACE, 0, UINT64_C(1) << 36, false, "reserved" },
		{ GOLDEN_LARGE_BLOB, 1, UINT64_C(1) << 44, false, "reserved" },
		{ GOLDEN_LARGE_BLOB_BARE, 1, UINT64_C(1) << 32, false, "reserved" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fxt_findings findings;

		check(&rows[i], &findings);
		if (findings.n != 1 || !strstr(findings.list[0].what, rows[i].what) ||
		    findings.list[0].warning != rows[i].warning)
			fail_msg("row %zu: %u findings, the first: %s", i, findings.n,
				 findings.n ? findings.list[0].what : "none");
		assert_int_equal(findings.n_errors, !rows[i].warning);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
