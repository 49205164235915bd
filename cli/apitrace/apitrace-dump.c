/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apitrace/apitrace-dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "cli/apitrace/apitrace-json.h"
#include "cli/common/verb.h"

/* ---- options ---- */

void apitrace_dump_options_deinit(struct apitrace_dump_options *o)
{
	apitrace_numbers_deinit(&o->set);
	if (o->has_grep)
		regfree(&o->grep);
}

int apitrace_dump_take_set(void *userdata, char *value)
{
	struct apitrace_dump_options *o = userdata;
	int r = apitrace_numbers_add(&o->set, value);

	o->used = "--calls";
	if (r == -ENOMEM)
		return cli_failed("out of memory");
	return r == 0 ? CLI_OK
		      : cli_usage_error("--calls: '%s' is not a set of calls, such as 5, 2-4,10- "
					"or */frame",
					value);
}

int apitrace_dump_take_grep(void *userdata, char *value)
{
	struct apitrace_dump_options *o = userdata;

	o->used = "--grep";
	if (o->has_grep)
		regfree(&o->grep);
	o->has_grep = regcomp(&o->grep, value, REG_EXTENDED | REG_NOSUB) == 0;
	return o->has_grep ? CLI_OK
			   : cli_usage_error("--grep: '%s' is not a regular expression", value);
}

/* Sets an option that takes "yes" or "no"; without a value, it is "yes". */
static int apitrace_dump_take_switch(struct apitrace_dump_options *o, const char *name, char *value,
				     bool negate, bool *to)
{
	static const char *const words[] = { "no", "yes", "false", "true", "0", "1" };

	o->used = name;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (value && strcmp(value, words[i]) != 0)
			continue;
		*to = (value ? i % 2 : 1) != negate;
		return CLI_OK;
	}
	return cli_usage_error("%s: '%s' must be yes or no", name, value);
}

int apitrace_dump_take_threads(void *userdata, char *value)
{
	struct apitrace_dump_options *o = userdata;

	return apitrace_dump_take_switch(o, "--thread-ids", value, false, &o->text.thread_ids);
}

int apitrace_dump_take_numbers(void *userdata, char *value)
{
	struct apitrace_dump_options *o = userdata;

	return apitrace_dump_take_switch(o, "--call-nos", value, true, &o->text.no_numbers);
}

int apitrace_dump_take_names(void *userdata, char *value)
{
	struct apitrace_dump_options *o = userdata;

	return apitrace_dump_take_switch(o, "--arg-names", value, true, &o->text.no_arg_names);
}

int apitrace_dump_take_lines(void *userdata, char *value)
{
	struct apitrace_dump_options *o = userdata;

	return apitrace_dump_take_switch(o, "--multiline", value, true, &o->text.one_line);
}

int apitrace_dump_take_verbose(void *userdata, char *value)
{
	struct apitrace_dump_options *o = userdata;

	o->used = "--verbose";
	o->verbose = true;
	return CLI_OK;
}

int apitrace_dump_take_blobs(void *userdata, char *value)
{
	struct apitrace_dump_options *o = userdata;

	o->used = "--blobs";
	o->blobs = true;
	return CLI_OK;
}

/* ---- blobs in files ---- */

struct blob_files {
	uint64_t no; /* number of the call */
	unsigned n;  /* number of blobs of the call that were written */
	bool failed; /* a file could not be written, and an error was printed */
};

/* Creates a new file. Does not overwrite files or follow links. */
static bool apitrace_dump_blob_files_write(const char *name, const struct apitrace_text *blob)
{
	_cleanup_close_ int fd =
		open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	for (size_t at = 0; fd >= 0 && at < blob->n;) {
		ssize_t n = write(fd, blob->bytes + at, blob->n - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		at += (size_t)n;
	}
	return fd >= 0;
}

/* Prints the name of a file, in the style of `apitrace dump`, and writes BLOB to the file. */
static void apitrace_dump_blob_files_put(void *userdata, struct outbuf *to,
					 const struct apitrace_text *blob)
{
	struct blob_files *f = userdata;
	char name[64];
	int n = snprintf(name, sizeof(name), "blob_call%" PRIu64, f->no);

	if (f->n > 0)
		n += snprintf(name + n, sizeof(name) - (size_t)n, "_%u", f->n);
	snprintf(name + n, sizeof(name) - (size_t)n, ".bin");
	f->n++;
	outbuf_print(to, "blob(\"%s\")", name);
	if (f->failed || apitrace_dump_blob_files_write(name, blob))
		return;
	cli_error("cannot write %s: %m", name);
	f->failed = true;
}

/* ---- output ---- */

static bool apitrace_dump_is_wanted(const struct apitrace_dump_options *o,
				    const struct apitrace_call *call)
{
	if (!o->verbose && !o->json && apitrace_is_query(call))
		return false;
	if (!apitrace_numbers_has(&o->set, call))
		return false;
	/* (names end with a NUL) */
	return !o->has_grep || regexec(&o->grep, call->function->name.bytes, 0, NULL, 0) == 0;
}

/*
 * Returns the property that follows BEFORE in the order of names; BEFORE NULL = the first one.
 * Among properties of one name, the last one counts, as in `apitrace dump`.
 */
static const struct apitrace_property *apitrace_dump_next(const struct apitrace_header *h,
							  const struct apitrace_property *before)
{
	const struct apitrace_property *next = NULL;

	for (size_t i = 0; i < h->n_properties; i++) {
		const struct apitrace_property *p = &h->properties[i];

		if (before && strcmp(p->name.bytes, before->name.bytes) <= 0)
			continue;
		if (!next || strcmp(p->name.bytes, next->name.bytes) <= 0)
			next = p;
	}
	return next;
}

static int apitrace_dump_header(struct outbuf *b, const struct apitrace_header *h,
				const struct apitrace_dump_options *o)
{
	const struct apitrace_property *p = NULL;
	int r = 0;

	if (o->json) {
		json_print_line(apitrace_json_header(h));
		return 0;
	}
	/* (like apitrace, this omits the properties if functions are searched) */
	while (!o->has_grep && r == 0 && (p = apitrace_dump_next(h, p)))
		r = apitrace_text_property(b, p, &o->text);
	return r;
}

static int apitrace_dump_print(struct outbuf *b)
{
	if (b->size > 0)
		fwrite(b->data, 1, b->size, stdout);
	outbuf_reset(b);
	return CLI_OK;
}

int apitrace_dump(struct open_trace *t, const struct apitrace_dump_options *o)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct apitrace_text_options text = o->text;
	struct blob_files files = { 0 };
	const struct apitrace_call *call;
	int r = apitrace_dump_header(&b, apitrace_reader_header(t->calls), o);

	text.blob = o->blobs ? apitrace_dump_blob_files_put : NULL;
	text.userdata = &files;
	while (r == 0 && !files.failed && (r = open_trace_next_call(t, &call)) > 0) {
		r = 0;
		files.no = call->no;
		files.n = 0;
		if (!apitrace_dump_is_wanted(o, call))
			continue;
		if (o->json)
			json_print_line(apitrace_json_call(call));
		else
			r = apitrace_text_call(&b, call, &text);
		apitrace_dump_print(&b);
		/* If the reader of standard output has closed the pipe, this is no failure. */
		if (ferror(stdout))
			return CLI_OK;
	}
	apitrace_dump_print(&b);
	if (r == -ENOMEM || r == -EMSGSIZE)
		return cli_failed("%s: out of memory", t->name);
	return r < 0 || files.failed ? CLI_FAILED : open_trace_finish(t);
}
