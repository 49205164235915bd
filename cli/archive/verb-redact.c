/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kymo redact: writes an archive without private data, so that it can be passed on. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/archive/edit-trace.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "edit/edit-redact.h"

/* The maximum size of a key; longer keys are truncated. */
enum { KEY_MAX = 4096 };

struct request {
	const char *key_path;
	uint8_t key[KEY_MAX];
	size_t key_size;
	bool keep_kernel;
	struct edit_trace_options edit;
};

/* Reads the key. Returns CLI_OK, or CLI_FAILED after an error message. */
static int verb_redact_read_key(struct request *q)
{
	_cleanup_close_ int fd = -1;
	ssize_t n;

	if (!q->key_path)
		return CLI_OK;
	fd = open(q->key_path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	n = fd < 0 ? -1 : read(fd, q->key, sizeof(q->key));
	if (n < 0)
		return cli_failed("cannot read the key %s: %m", q->key_path);
	if (n < EDIT_REDACT_KEY_MIN)
		return cli_failed("the key %s has %zd bytes, but needs at least %d; 'head -c 32 "
				  "/dev/urandom' makes one",
				  q->key_path, n, EDIT_REDACT_KEY_MIN);
	q->key_size = (size_t)n;
	return CLI_OK;
}

static int verb_redact_on_record(void *userdata, const struct fxt_record *record)
{
	return edit_redact_record(userdata, record);
}

static void verb_redact_report(const struct edit_redact_counts *counts,
			       const struct edit_trace *out, bool json)
{
	if (!json || out->to.file.standard) {
		fprintf(stderr,
			"%s: %s, %" PRIu64 " record%s; %" PRIu64 " text%s and %" PRIu64 " "
			"number%s replaced, %" PRIu64 " blob%s and %" PRIu64 " record%s of "
			"unknown type omitted\n",
			out->to.file.path, TEXT_SIZE(out->to.bytes), counts->copied.records,
			text_s(counts->copied.records), counts->texts, text_s(counts->texts),
			counts->numbers, text_s(counts->numbers), counts->blobs,
			text_s(counts->blobs), counts->copied.refused,
			text_s(counts->copied.refused));
		edit_trace_report_unknown(out->to.file.path,
					  &(struct edit_counts){ .arguments =
									 counts->copied.arguments,
								 .longer = counts->copied.longer });
		return;
	}
	json_print_pretty(JSON_ADD(edit_trace_json(out), JSON_OF(&counts->copied, records),
				   JSON_OF(counts, texts, numbers, blobs),
				   EDIT_TRACE_UNKNOWN(&counts->copied)));
}

static int verb_redact_run(const struct request *q, const char *from, const char *to)
{
	_cleanup_(open_trace_close) struct open_trace in = OPEN_TRACE_NULL;
	_cleanup_(edit_trace_close) struct edit_trace out = EDIT_TRACE_NULL;
	_cleanup_(edit_redact_freep) struct edit_redact *redact = NULL;
	struct edit_redact_options options = {
		.key = q->key_size ? q->key : NULL,
		.key_size = q->key_size,
		.keep_kernel = q->keep_kernel,
	};
	struct edit_redact_counts counts;
	int r = open_trace(&in, from) ?: edit_trace_open(&out, to, q->edit.force, &in, 1);

	if (r != CLI_OK)
		return r;
	r = edit_redact_new(&redact, &out.output, &options);
	r = r < 0 ? edit_trace_failed(&out, r)
		  : edit_trace_process_all(&out, &in, verb_redact_on_record, redact);
	r = r ?: edit_trace_finish(&out);
	if (r != CLI_OK)
		return r;
	edit_redact_get_counts(redact, &counts);
	verb_redact_report(&counts, &out, q->edit.json);
	return open_trace_finish(&in);
}

static int verb_redact(int argc, char **argv)
{
	struct request q = { 0 };
	const struct verb_option options[] = {
		OPTION_FLAG("keep-kernel", &q.keep_kernel),
		OPTION_TEXT("key", 0, &q.key_path),
		EDIT_TRACE_ROWS(&q.edit),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 2, VERB_ARGS_EDIT);

	if (r != VERB_OPTIONS_GO)
		return r;
	r = verb_redact_read_key(&q);
	return r == CLI_OK ? verb_redact_run(&q, argv[optind], argv[optind + 1]) : r;
}

const struct verb verb_redact_row = {
	.name = "redact",
	.synopsis = "[OPTION ...] FILE OUT",
	.what = "Make an archive without names, paths and texts",
	.examples = "  kymo redact t.fxt public.fxt\n  kymo redact --key secret t.fxt public.fxt\n",
	.options =
		"      --key=FILE     the key, a secret of at least 16 bytes (a random key); with the\n"
		"                     same key, a word has the same replacement in all archives\n"
		"      --keep-kernel  keep the names of kernel threads, interrupts and kernel\n"
		"                     functions\n" EDIT_TRACE_HELP
		"\nFILE is an archive, OUT the result; '-' is standard input and output.\n"
		"Ids, times and the kernel's version remain; kymo(1) lists the replaced data.\n",
	.run = verb_redact,
};
