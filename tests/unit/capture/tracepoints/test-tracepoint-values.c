/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layouts of tracepoints, their conditions, and the fields of events.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/options/tracepoint-own.h"
#include "capture/programs/decode.h"
#include "capture/tracepoints/tracepoint-values.h"
#include "tests/support/unit.h"

#define LINE(declaration, offset, size, is_signed)                                                 \
	"\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

static const char mixed[] = "name: t\nID: 7\nformat:\n" LINE("int common_pid", 4, 4, 1)
	LINE("short low", 8, 2, 1) LINE("bool yes", 10, 1, 0) LINE("u8 cpu", 11, 1, 0)
		LINE("__data_loc char[] path", 12, 4, 0) LINE("void * at", 16, 8, 0)
			LINE("char comm[4]", 24, 4, 0) LINE("int list[3]", 28, 12, 1)
				LINE("__rel_loc char[] tail", 40, 4, 0) LINE("u8 mac[4]", 44, 4, 0)
					LINE("s64 least", 48, 8, 1);

static struct tracepoint_format format;
static struct tracepoint point;
static struct rec_tracepoint rec;
static struct tracepoint_values values;
static char why[VALUE_WHY_MAX];

static int init_with(const char *text, const char *system, const char *conditions)
{
	struct tracepoint_spec spec;
	char full[256];

	snprintf(full, sizeof(full), "%s:t%s", system, conditions);
	assert_int_equal(tracepoint_spec_parse(full, &spec, why), 0);
	assert_int_equal(tracepoint_format_parse(text, strlen(text), &format), 0);
	tracepoint_deinit(&point);
	*why = '\0';
	return tracepoint_init(&point, &format, system, &spec, why);
}

static void init(const char *conditions)
{
	if (init_with(mixed, "test", conditions) < 0)
		fail_msg("%s: %s", conditions, why);
}

static void refuse(const char *conditions, const char *words)
{
	assert_int_equal(init_with(mixed, "test", conditions), -EINVAL);
	if (!strstr(why, words))
		fail_msg("%s: '%s' lacks '%s'", conditions, why, words);
}

static void put(uint32_t offset, const void *data, size_t n)
{
	memcpy(rec.data + offset - TRACEPOINT_HEAD_BYTES, data, n);
}

/* Adds dynamic data to the record. */
static void put_dynamic(unsigned i, const char *data, uint16_t n)
{
	memcpy(rec.data + rec.bytes, data, n);
	rec.dynamic_bytes[i] = n;
	rec.bytes += TRACEPOINT_ROUND((uint32_t)n);
}

/* Makes an event with values at the limits. */
static void make(void)
{
	const int16_t low = -32768;
	const uint64_t at = UINT64_MAX;
	const int32_t list[] = { -1, 0, INT32_MAX };
	const int64_t least = INT64_MIN;

	rec = (struct rec_tracepoint){ .bytes = TRACEPOINT_ROUND(point.layout.fixed_bytes) };
	put(8, &low, sizeof(low));
	put(10, "\2\377", 2);
	put(16, &at, sizeof(at));
	put(24, "four", 4);
	put(28, list, sizeof(list));
	put(44, "\1\2\376\377", 4);
	put(48, &least, sizeof(least));
	put_dynamic(0, "/bin/\377x", 8);
	put_dynamic(1, "", 0);
	rec.head = (struct rec_head){ .size = REC_TRACEPOINT_BYTES(rec.bytes),
				      .kind = REC_TRACEPOINT };
}

static const struct call_value *value_of(const char *name)
{
	for (unsigned i = 0; i < values.n; i++)
		if (strcmp(values.list[i].name, name) == 0)
			return &values.list[i];
	fail_msg("there is no %s", name);
	return NULL;
}

static void assert_text(const char *name, const char *text)
{
	assert_int_equal(value_of(name)->form, CALL_VALUE_TEXT);
	assert_string_equal(value_of(name)->text, text);
}

TEST(test_values)
{
	init("");
	assert_int_equal(point.layout.fixed_bytes, 48);
	assert_int_equal(point.layout.n_dynamic, 2);
	assert_int_equal(point.layout.dynamic[0].offset, 12);
	assert_int_equal(point.layout.dynamic[1].offset, 40);
	assert_int_equal(point.layout.dynamic[1].is_relative, 1);
	make();
	assert_ptr_equal(decode_record(&rec, rec.head.size), &rec);
	assert_true(tracepoint_values_fill(&values, &point, &rec));
	assert_int_equal(values.n, 10);
	assert_int_equal(value_of("low")->form, CALL_VALUE_INT);
	assert_int_equal(value_of("low")->i64, -32768);
	assert_int_equal(value_of("yes")->form, CALL_VALUE_BOOL);
	assert_true(value_of("yes")->yes);
	assert_int_equal(value_of("field cpu")->form, CALL_VALUE_UINT);
	assert_int_equal(value_of("field cpu")->u64, 255);
	assert_text("path", "/bin/\357\277\275x");
	assert_int_equal(value_of("at")->form, CALL_VALUE_POINTER);
	assert_int_equal(value_of("at")->u64, UINT64_MAX);
	assert_text("comm", "four");
	assert_text("list", "-1, 0, 2147483647");
	assert_text("tail", "");
	assert_text("mac", "0102feff");
	assert_int_equal(value_of("least")->i64, INT64_MIN);
}

TEST(test_cut_text)
{
	static char text[TRACEPOINT_DYNAMIC_BYTES];
	char expected[TRACEPOINT_DYNAMIC_BYTES + 4];

	memset(text, 'x', sizeof(text));
	snprintf(expected, sizeof(expected), "%.*s...", (int)sizeof(text), text);
	init("");
	make();
	rec.bytes = TRACEPOINT_ROUND(point.layout.fixed_bytes);
	put_dynamic(0, text, sizeof(text));
	rec.is_cut = 1;
	assert_true(tracepoint_values_fill(&values, &point, &rec));
	assert_text("path", expected);
	/* The text ends before the limit: only bytes after it were cut off. */
	rec.data[TRACEPOINT_ROUND(point.layout.fixed_bytes) + 1] = '\0';
	assert_true(tracepoint_values_fill(&values, &point, &rec));
	assert_text("path", "x");
}

/* A record that is shorter than the format requires is refused, and not read beyond its end. */
TEST(test_short)
{
	init("");
	make();
	for (uint32_t n = 0; n < rec.bytes; n += 8) {
		_cleanup_free_ struct rec_tracepoint *cut = malloc(REC_TRACEPOINT_BYTES(n));

		assert_non_null(cut);
		memcpy(cut, &rec, REC_TRACEPOINT_BYTES(n));
		cut->bytes = n;
		cut->head.size = REC_TRACEPOINT_BYTES(n);
		assert_false(tracepoint_values_fill(&values, &point, cut));
	}
	rec.dynamic_bytes[1] = 9;
	assert_false(tracepoint_values_fill(&values, &point, &rec));
}

TEST(test_decode)
{
	struct rec_tracepoint wrong;

	init("");
	make();
	wrong = rec;
	wrong.tracepoint = TRACEPOINTS_MAX;
	assert_null(decode_record(&wrong, wrong.head.size));
	wrong = rec;
	wrong.actor = TRACEPOINT_BY_IRQ + 1;
	assert_null(decode_record(&wrong, wrong.head.size));
	wrong = rec;
	wrong.bytes += 8;
	assert_null(decode_record(&wrong, wrong.head.size));
	wrong = rec;
	wrong.dynamic_bytes[3] = TRACEPOINT_DYNAMIC_BYTES + 1;
	assert_null(decode_record(&wrong, wrong.head.size));
}

TEST(test_many_fields)
{
	static char text[8192];
	size_t n = (size_t)sprintf(text, "name: t\nID: 7\n");

	for (int i = 0; i < 20; i++)
		n += (size_t)sprintf(text + n, "\tfield:u8 f%d;\toffset:%d;\tsize:1;\tsigned:0;\n",
				     i, 8 + i);
	/* Beyond the limit of bytes. */
	sprintf(text + n, "\tfield:u8 far;\toffset:%d;\tsize:1;\tsigned:0;\n",
		TRACEPOINT_HEAD_BYTES + TRACEPOINT_FIXED_MAX);
	assert_int_equal(init_with(text, "test", ""), 0);
	assert_true(point.is_partial);
	rec = (struct rec_tracepoint){ .bytes = 24 };
	for (int i = 0; i < 20; i++)
		rec.data[i] = (uint8_t)i;
	assert_true(tracepoint_values_fill(&values, &point, &rec));
	assert_int_equal(values.n, EVENT_TRACEPOINT_ARGS_MAX);
	assert_int_equal(values.list[12].u64, 12);
	assert_text("more fields", "f13=13 f14=14 f15=15 f16=16 f17=17 f18=18 f19=19 ...");
}

TEST(test_many_dynamic)
{
	static char text[1024];
	size_t n = (size_t)sprintf(text, "name: t\nID: 7\n");

	for (int i = 0; i <= TRACEPOINT_DYNAMIC_MAX; i++)
		n += (size_t)sprintf(
			text + n,
			"\tfield:__data_loc char[] f%d;\toffset:%d;\tsize:4;\tsigned:0;\n", i,
			8 + 4 * i);
	assert_int_equal(init_with(text, "test", ""), 0);
	assert_int_equal(point.layout.n_dynamic, TRACEPOINT_DYNAMIC_MAX);
	assert_true(point.is_partial);
	/* System calls have no dynamic data for eBPF programs. */
	assert_int_equal(init_with(text, "syscalls", ""), 0);
	assert_int_equal(point.layout.n_dynamic, 0);
	assert_int_equal(point.layout.fixed_bytes, 0);
	assert_false(point.is_partial);
	assert_int_equal(init_with(text, "syscalls", "[f1==\"x\"]"), -EINVAL);
}

TEST(test_conditions)
{
	const struct tracepoint_condition *c = point.layout.conditions;

	init("[low>=-32768 && comm!=\"four\" && path==\"/bin\" && tail==\"\"]");
	c = point.layout.conditions;
	assert_int_equal(point.layout.n_conditions, 4);
	assert_int_equal(c[0].form, TRACEPOINT_NUMBER);
	assert_int_equal(c[0].offset, 8);
	assert_int_equal(c[0].bytes, 2);
	assert_int_equal(c[0].is_signed, 1);
	assert_int_equal(c[0].op, CALL_OP_GE);
	assert_int_equal(c[0].value, (uint64_t)-32768);
	assert_int_equal(c[1].form, TRACEPOINT_TEXT);
	assert_int_equal(c[1].bytes, 5); /* an unterminated text, and a NUL */
	assert_string_equal((const char *)c[1].text, "four");
	assert_int_equal(c[2].form, TRACEPOINT_DYNAMIC_TEXT);
	assert_int_equal(c[2].is_relative, 0);
	assert_int_equal(c[3].is_relative, 1);
	init("[at==0xffffffffffffffff && yes==1 && least==-9223372036854775808]");
}

TEST(test_wrong_conditions)
{
	refuse("[lo==1]", "test:t has no field 'lo'; did you mean 'low'?");
	refuse("[zzzzzz==1]", "its fields are low, yes, cpu, path");
	refuse("[common_pid==1]", "no field");
	refuse("[low==32768]", "numbers from -32768 to 32767");
	refuse("[low==-32769]", "numbers from -32768 to 32767");
	refuse("[yes==-1]", "numbers from 0 to 255");
	refuse("[cpu==256]", "numbers from 0 to 255");
	refuse("[at==-1]", "numbers from 0 to 18446744073709551615");
	refuse("[least==9223372036854775808]",
	       "numbers from -9223372036854775808 to 9223372036854775807");
	refuse("[low==\"x\"]", "is not a text");
	refuse("[mac==\"x\"]", "is not a text");
	refuse("[comm==1]", "is a text");
	refuse("[path==1]", "is a text");
	refuse("[list==1]", "neither a number nor a text");
	refuse("[mac==1]", "neither a number nor a text");
}

static int tear_down(void **state)
{
	(void)state;
	tracepoint_deinit(&point);
	return 0;
}

/* The name of a reason follows the fields. A reason without a name has none. */
TEST(test_reasons)
{
	static const char text[] = "name: t\nID: 7\nformat:\n" LINE("int reason", 8, 4, 1) LINE(
		"u32 n", 12, 4, 0) "print fmt: __print_symbolic(REC->reason, { -3, \"GONE\" })\n";
	const int32_t known = -3, unknown = 4;

	assert_int_equal(init_with(text, "test", ""), 0);
	assert_int_equal(tracepoint_symbols_parse(text, strlen(text), &point.reasons), 0);
	rec = (struct rec_tracepoint){ .bytes = 8 };
	put(8, &known, sizeof(known));
	assert_true(tracepoint_values_fill(&values, &point, &rec));
	assert_int_equal(values.n, 3);
	assert_text("reason_name", "GONE");
	put(8, &unknown, sizeof(unknown));
	assert_true(tracepoint_values_fill(&values, &point, &rec));
	assert_int_equal(values.n, 2);
}

/* The formats of kymo's own tracepoints are those of their records. */
TEST(test_own)
{
	const struct tracepoint_fault fault = {
		.address = 0x7f0000001000,
		.ip = 5,
		.inode = 6,
		.offset = 4096,
		.device = 0x803,
		.file = 4u << 16 | (TRACEPOINT_HEAD_BYTES + sizeof(fault)),
		.major = 1,
		.mapped = 1,
	};
	const struct tracepoint_rtt rtt = {
		.sport = 80, .dport = 5000, .srtt = 1234, .total_retrans = 3
	};

	assert_int_equal(init_with(tracepoint_own[TRACEPOINT_OWN_FAULT].format, "kymo", ""), 0);
	assert_string_equal(point.name, "kymo:page_fault");
	assert_int_equal(TRACEPOINT_ROUND(point.layout.fixed_bytes), sizeof(fault));
	rec = (struct rec_tracepoint){ .bytes = sizeof(fault) };
	memcpy(rec.data, &fault, sizeof(fault));
	put_dynamic(0, "/a/b", 4);
	assert_true(tracepoint_values_fill(&values, &point, &rec));
	assert_int_equal(value_of("address")->u64, fault.address);
	assert_int_equal(value_of("device")->u64, 0x803);
	assert_true(value_of("major")->yes && value_of("mapped")->yes);
	assert_text("file", "/a/b");

	assert_int_equal(init_with(tracepoint_own[TRACEPOINT_OWN_RTT].format, "kymo", "[srtt>9]"),
			 0);
	assert_int_equal(TRACEPOINT_ROUND(point.layout.fixed_bytes), sizeof(rtt));
	rec = (struct rec_tracepoint){ .bytes = sizeof(rtt) };
	memcpy(rec.data, &rtt, sizeof(rtt));
	assert_true(tracepoint_values_fill(&values, &point, &rec));
	assert_int_equal(value_of("sport")->u64, 80);
	assert_int_equal(value_of("srtt")->u64, 1234);
	assert_int_equal(value_of("total_retrans")->u64, 3);
}

/* Sets and patterns of names select them; a pattern of systems means those of the kernel. */
TEST(test_own_selection)
{
	static const struct {
		const char *spec;
		bool fault, rtt;
	} rows[] = {
		{ "faults", true, false },        { "net[sport==1]", false, true },
		{ "kymo:*", true, true },         { "kymo:tcp_rtt[srtt>5]", false, true },
		{ "*:page_fault", false, false }, { "signals", false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *specs[] = { (char *)(uintptr_t)rows[i].spec };
		const struct session_options o = { .tracepoints = { .specs = specs,
								    .n_specs = 1 } };

		assert_int_equal(tracepoint_own_is_selected(&o, TRACEPOINT_OWN_FAULT),
				 rows[i].fault);
		assert_int_equal(tracepoint_own_is_selected(&o, TRACEPOINT_OWN_RTT), rows[i].rtt);
	}
	assert_int_equal(tracepoint_own_find("tcp_rtt"), TRACEPOINT_OWN_RTT);
	assert_int_equal(tracepoint_own_find("rtt"), TRACEPOINT_OWN_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),          cmocka_unit_test(test_own),
		cmocka_unit_test(test_own_selection),    cmocka_unit_test(test_values),
		cmocka_unit_test(test_cut_text),         cmocka_unit_test(test_short),
		cmocka_unit_test(test_decode),           cmocka_unit_test(test_many_fields),
		cmocka_unit_test(test_many_dynamic),     cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_wrong_conditions),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
