/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result contains nothing that identifies, and still contains the activity.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/edit-parts.h"
#include "tests/support/unit.h"

static const char key[] = "0123456789abcdef", other_key[] = "0123456789abcdeX";

static const char *const secrets[] = { "alice",    "payroll", "salaries",     "mybox",   "secretd",
				       "hidden",   "whisper", "topic",        "vault",   "private",
				       "BUILDID!", "noname",  "record --all", "deepfile" };

static struct fxt_out_arg string_arg(const char *name, const char *text)
{
	return (struct fxt_out_arg){ FXT_ARG_STRING, fxt_interned(name),
				     .text = fxt_interned(text) };
}

#define DEVICE UINT64_C(0xdec1de) /* of a secret file, and its inode */
#define INODE  UINT64_C(0x1234567890abcd)

/* Maps the same file twice. The second time, the file system is unknown. */
static void put_mapping(struct source *s, uint64_t ts, uint64_t inode)
{
	const struct fxt_out_arg mapping[] = {
		string_arg("path", "/home/alice/payroll"),
		{ FXT_ARG_UINT64, fxt_interned("size"), .u64 = 0x5000 },
		{ FXT_ARG_UINT64, fxt_interned("device"), .u64 = inode ? DEVICE : 0 },
		{ FXT_ARG_UINT64, fxt_interned("inode"), .u64 = inode },
	};

	put_event_args(s, ts, 100, "profile", "mapping", mapping, 4);
}

/* Each kind of record, with a secret in each possible place. */
static void make(struct source *s)
{
	const struct fxt_out_arg start[] = {
		string_arg("host", "mybox"),      string_arg("command", "record --all"),
		string_arg("kernel", "6.1.0-12"), string_arg("machine", "x86_64"),
		string_arg("version", "0.1"),
	};
	const struct fxt_out_arg process[] = {
		{ FXT_ARG_KOID, fxt_interned("parent"), .u64 = 1 },
		{ FXT_ARG_UINT32, fxt_interned("uid"), .u32 = 1000 },
		string_arg("command_line", "payroll --of /home/alice/salaries"),
	};
	const struct fxt_out_arg exec[] = { string_arg("file", "/home/alice/payroll") };
	const struct fxt_out_arg mark[] = { string_arg("text", "whisper") };
	const struct fxt_out_arg context = string_arg("context", "softirq");
	const struct fxt_out_arg foreign[] = {
		string_arg("hidden", "vault"),
		{ FXT_ARG_UINT64, fxt_interned("topic"), .u64 = 123456789 },
		{ FXT_ARG_INT32, fxt_interned("n"), .i32 = 4711 },
		{ FXT_ARG_DOUBLE, fxt_interned("d"), .f64 = 47.11 },
		{ FXT_ARG_BLOB, fxt_interned("b"), .blob = { "private", 7 } },
		{ FXT_ARG_BOOL, fxt_interned("yes"), .boolean = true },
	};

	source_init(s);
	put_event_args(s, 10, FXT_KOID_KYMO, "kymo", "session_start", start, 5);
	put_task(s, FXT_KOID_KYMO, "kymo", 0);
	put_task(s, FXT_KOID_KTHREADD, "kthreadd", 0);
	put_thread(s, FXT_KOID_KTHREADD, 30, "kworker/0:1");
	OK(fxt_write_kernel_object(&s->w, &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, 100,
								       fxt_interned("payroll"),
								       process, 3 }));
	put_event_args(s, 20, 100, "process", "exec", exec, 1);
	put_mapping(s, 21, INODE);
	put_mapping(s, 22, INODE);
	put_mapping(s, 23, INODE + 1);
	put_mapping(s, 24, 0);
	put_event_args(s, 30, FXT_KOID_KYMO, "kymo", "mark", mark, 1);
	put_switch(s, 40, 0, 100, 0, FXT_STATE_BLOCKED);
	OK(fxt_write_wakeup(&s->w, &(struct fxt_wakeup){ 41, 0, 100, &context, 1 }));
	OK(fxt_write_provider_info(&s->w, &s->app, "secretd"));
	put_event_args(s, 50, 100, "noname", "deepfile", foreign, 6);
	OK(fxt_write_log(&s->w, &(struct fxt_log){ 60, { 100, 100 }, "whisper alice", 13 }));
	OK(fxt_write_blob(&s->w, &(struct fxt_blob){ fxt_interned("vault"), FXT_BLOB_DATA,
						     "private", 7 }));
	OK(fxt_write_large_blob(&s->w, &(struct fxt_large_blob){ .category = fxt_interned("hidden"),
								 .name = fxt_interned("vault"),
								 .data = "private",
								 .size = 7 }));
	OK(fxt_write_module(&s->w,
			    &(struct fxt_module){
				    70, { 100, 100 }, 1, "/home/alice/deepfile", "BUILDID!", 8 }));
	OK(fxt_write_userspace_object(
		&s->w, &(struct fxt_userspace_object){ .pointer = 4096,
						       .process = { 100, 100 },
						       .name = fxt_interned("salaries") }));
}

static bool holds(const struct outbuf *bytes, const char *text)
{
	return memmem(bytes->data, bytes->size, text, strlen(text)) != NULL;
}

static void redact(const struct source *s, const char *with, bool keep_kernel,
		   struct edit_output *ret)
{
	redact_bytes(&s->bytes,
		     &(struct edit_redact_options){ with, with ? strlen(with) : 0, keep_kernel },
		     ret);
}

/* The bytes themselves are searched. */
TEST(test_redact_nothing_left)
{
	struct edit_output out;
	struct source s;

	make(&s);
	for (unsigned keep = 0; keep < 2; keep++) {
		redact(&s, NULL, keep, &out);
		for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
			assert_true(holds(&s.bytes, secrets[i]));
			if (holds(&out.bytes, secrets[i]))
				fail_msg("'%s' is still there", secrets[i]);
		}
		assert_int_equal(holds(&out.bytes, "kworker"), keep);
		assert_false(memmem(out.bytes.data, out.bytes.size, &(uint64_t){ 123456789 }, 8));
		assert_false(memmem(out.bytes.data, out.bytes.size, &(uint64_t){ DEVICE }, 8));
		assert_false(memmem(out.bytes.data, out.bytes.size, &(uint64_t){ INODE }, 8));
		edit_output_deinit(&out);
	}
	source_deinit(&s);
}

/* Times, ids, kymo's own words and numbers, and versions are no secrets and stay. */
TEST(test_redact_what_stays)
{
	_cleanup_free_ char *text = NULL;
	struct edit_output out;
	struct source s;

	make(&s);
	redact(&s, key, false, &out);
	text = edited_text(&out.bytes);
	assert_null(strstr(text, "damage"));
	assert_line(text, "kymo: 40 cpu0 100>0 blocked");
	assert_int_equal(count_lines(text, "kymo: 41 wake 100 @0"), 1);
	assert_int_equal(count_lines(text, "context:string=softirq"), 1);
	assert_line(text, "kymo: process 4194304 'kymo'");
	assert_int_equal(count_lines(text, "kernel:string=6.1.0-12 machine:string=x86_64 "
					   "version:string=0.1"),
			 1);
	assert_int_equal(count_lines(text, "parent:koid=1 uid:uint32=1000 command_line:string="),
			 1);
	assert_int_equal(count_lines(text, "kymo: 20 instant process/exec 100/100 file:string=/"),
			 1);
	assert_int_equal(count_lines(text, ":bool=1"), 1);
	assert_int_equal(count_lines(text, "blob="), 1);
	assert_int_equal(count_lines(text, ": object 1000 '"), 1);
	edit_output_deinit(&out);
	source_deinit(&s);
}

/* The line of the mapping at TS, from its size on. */
static char *mapping_at(const char *text, const char *ts)
{
	char mark[64];
	const char *line;

	snprintf(mark, sizeof(mark), "kymo: %s instant profile/mapping", ts);
	line = strstr(text, mark);
	line = line ? strstr(line, "size:uint64=20480 device:uint64=") : NULL;
	assert_non_null(line);
	return strndup(line, strcspn(line, "\n"));
}

/* The identity of mapped files stays visible, and so do their sizes. */
TEST(test_redact_files)
{
	_cleanup_free_ char *text = NULL, *first = NULL, *same = NULL, *other = NULL, *none = NULL;
	struct edit_output out;
	struct source s;

	make(&s);
	redact(&s, key, false, &out);
	text = edited_text(&out.bytes);
	first = mapping_at(text, "21");
	same = mapping_at(text, "22");
	other = mapping_at(text, "23");
	none = mapping_at(text, "24");
	assert_string_equal(first, same);
	assert_string_not_equal(first, other);
	assert_string_equal(none, "size:uint64=20480 device:uint64=0 inode:uint64=0");
	edit_output_deinit(&out);
	source_deinit(&s);
}

/* The word in line PART of TEXT, behind MARK, up to any of ENDS. */
static void word_of(const char *text, const char *part, const char *mark, const char *ends,
		    char *to)
{
	const char *line = strstr(text, part), *word = line ? strstr(line, mark) : NULL;

	assert_non_null(word);
	word += strlen(mark);
	snprintf(to, 64, "%.*s", (int)strcspn(word, ends), word);
	assert_int_equal(strlen(to), 10);
}

/* A word has the same replacement everywhere, and in another archive with the same key. */
TEST(test_redact_consistent)
{
	char name[64], command[64], again[64];
	struct edit_output out, same, different;
	struct source s;

	make(&s);
	redact(&s, key, false, &out);
	redact(&s, key, false, &same);
	redact(&s, other_key, false, &different);
	assert_int_equal(out.bytes.size, same.bytes.size);
	assert_memory_equal(out.bytes.data, same.bytes.data, out.bytes.size);
	{
		_cleanup_free_ char *text = edited_text(&out.bytes);
		_cleanup_free_ char *other = edited_text(&different.bytes);

		word_of(text, "process 100", "'", "'", name);
		word_of(text, "process 100", "command_line:string=", " ", command);
		assert_string_equal(name, command);
		word_of(other, "process 100", "'", "'", again);
		assert_string_not_equal(name, again);
		/* /home/alice/payroll */
		assert_true(strstr(strstr(text, "file:string=/"), name) != NULL);
	}
	edit_output_deinit(&out);
	edit_output_deinit(&same);
	edit_output_deinit(&different);
	source_deinit(&s);
}

/* A module's name gets longer with its words, and still fits into its record. */
TEST(test_redact_long_names)
{
	static char path[FXT_MODULE_NAME_MAX + 1], text[FXT_STRING_BYTES_MAX + 1];
	_cleanup_free_ char *words = NULL;
	struct edit_output out;
	struct source s;

	for (unsigned i = 0; i < FXT_MODULE_NAME_MAX; i++)
		path[i] = i % 2 ? 'x' : '/';
	for (unsigned i = 0; i < FXT_STRING_BYTES_MAX; i++)
		text[i] = i % 2 ? 'x' : ' ';
	source_init(&s);
	as_app(&s);
	OK(fxt_write_module(&s.w, &(struct fxt_module){ 70, { 5, 5 }, 1, path, "\1", 1 }));
	OK(fxt_write_log(&s.w, &(struct fxt_log){ 80, { 5, 5 }, text, FXT_STRING_BYTES_MAX }));
	redact(&s, key, false, &out);
	words = edited_text(&out.bytes);
	assert_int_equal(count_lines(words, ": 70 module 1 /"), 1);
	assert_int_equal(count_lines(words, ": 80 log  "), 1);
	assert_null(strstr(words, "damage"));
	edit_output_deinit(&out);
	source_deinit(&s);
}

/* How a call was left is no secret. The function, and the texts of its arguments, are. */
TEST(test_redact_calls)
{
	const struct edit_redact_options redacted = { .key = key, .key_size = sizeof(key) - 1 };
	static const char *const left_by[] = { "cut", "open", "exec" };
	const struct edit_cut_options from = { .from_ns = 150,
					       .to_ns = UINT64_MAX,
					       .absolute = true };
	struct edit_cut_counts counts;
	struct edit_output part, result;
	_cleanup_free_ char *text = NULL;
	struct source s;

	make_small(&s, "salaries", 1);
	for (size_t i = 1; i < ARRAY_SIZE(left_by); i++) {
		const struct fxt_out_arg args[] = { string_arg("path", "vault"),
						    string_arg("left by", left_by[i]) };

		put_complete(&s, 160 + i, 200, "calls", "payroll", args, 2);
	}
	cut_bytes(&s.bytes, &from, &part, &counts);
	redact_bytes(&part.bytes, &redacted, &result);
	text = edited_text(&result.bytes);
	assert_null(strstr(text, "salaries"));
	assert_null(strstr(text, "payroll"));
	assert_null(strstr(text, "vault"));
	for (size_t i = 0; i < ARRAY_SIZE(left_by); i++) {
		char is[64];

		snprintf(is, sizeof(is), "left by:string=%s", left_by[i]);
		assert_int_equal(count_lines(text, is), 1);
	}
	edit_output_deinit(&result);
	edit_output_deinit(&part);
	source_deinit(&s);
}

TEST(test_redact_short_key)
{
	struct edit_redact *r = NULL;
	struct edit_output out;

	OK(edit_output_init(&out));
	assert_int_equal(edit_redact_new(&r, &out, &(struct edit_redact_options){ key, 15, false }),
			 -22);
	edit_output_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_redact_nothing_left),
		cmocka_unit_test(test_redact_what_stays),
		cmocka_unit_test(test_redact_files),
		cmocka_unit_test(test_redact_consistent),
		cmocka_unit_test(test_redact_long_names),
		cmocka_unit_test(test_redact_calls),
		cmocka_unit_test(test_redact_short_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
