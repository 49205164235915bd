/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo snapshot: writes the data of a flight recorder, or puts the live blocks of processes into
 * the archive of a running session. With --all, the flight recorders of all collections write their
 * files.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/service/client-options.h"
#include "cli/common/output-file.h"
#include "cli/common/packed-output.h"
#include "cli/common/verb.h"
#include "writer/fxt/fxt-writer.h"

struct job {
	const struct client_options *options;
	struct bus_client *client;
	const char *name, *path; /* name and path of the session */
	bool is_flight, watches; /* watches: the session records allocations */
	enum pack_method packed; /* compression of its data */
};

static bool verb_snapshot_watches(const struct session_view *v)
{
	struct json_object *list;
	uint32_t bits, all = 0;

	if (!v->options || !json_object_object_get_ex(v->options, "categories", &list) ||
	    !json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		if (categories_parse(json_object_get_string(json_object_array_get_idx(list, i)),
				     &bits, NULL, NULL) == 0)
			all |= bits;
	}
	return all & CATEGORIES_MEMORY;
}

/* Determines the kind of the session. */
static int verb_snapshot_inspect(struct job *j)
{
	_cleanup_(session_view_deinit) struct session_view v = { 0 };

	if (bus_client_view(j->client, j->path, &v) < 0)
		return client_failed(j->client);
	j->is_flight = session_view_is_flight(&v);
	j->watches = verb_snapshot_watches(&v);
	if (pack_parse(session_view_option(&v, "compress"), &j->packed) < 0)
		j->packed = PACK_NONE;
	return CLI_OK;
}

/* Writes a snapshot to a file. The service writes directly into the file. */
static int verb_snapshot_write_file(struct job *j)
{
	_cleanup_(output_file_deinit) struct output_file file = OUTPUT_FILE_NULL;

	if (output_file_open(j->options->output, pack_ops(j->packed)->suffix, j->options->force,
			     &file) < 0)
		return CLI_FAILED;
	output_file_watch_signals(&file);
	if (output_file_begin(&file) < 0 ||
	    bus_client_request_snapshot(j->client, j->path, file.fd) < 0 ||
	    bus_client_wait_snapshot(j->client) < 0) {
		client_failed(j->client);
		output_file_fail(&file);
		return CLI_FAILED;
	}
	if (output_file_keep(&file) < 0)
		return CLI_FAILED;
	if (!file.standard)
		fprintf(stderr, "%s: snapshot of %s\n", file.path, j->name);
	return CLI_OK;
}

/* Copies all data from FD. */
static int verb_snapshot_copy(int fd, struct packed_output *to)
{
	static uint8_t bytes[64 << 10];
	ssize_t n;
	int r = 0;

	while (r == 0 && ((n = read(fd, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)))
		r = n > 0 ? packed_output_write(to, bytes, (size_t)n) : 0;
	if (r == 0 && n < 0) {
		cli_error("cannot read from the service: %m");
		r = -errno;
	}
	return r;
}

/*
 * Writes a compressed snapshot. The service writes to this process, and this process compresses the
 * data.
 */
static int verb_snapshot_write_packed(struct job *j)
{
	_cleanup_(packed_output_deinit) struct packed_output to = PACKED_OUTPUT_NULL;
	const struct packed_output_args args = {
		.path = j->options->output,
		.force = j->options->force,
		.method = j->options->compress,
		.whole = fxt_whole_records,
	};
	_cleanup_close_ int from = -1;
	int fds[2], r;

	if (packed_output_open(&to, &args) < 0)
		return CLI_FAILED;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return cli_failed("cannot create a pipe: %m");
	from = fds[0];
	r = bus_client_request_snapshot(j->client, j->path, fds[1]);
	close(fds[1]);
	if (r < 0)
		return client_failed(j->client);
	if (verb_snapshot_copy(from, &to) < 0)
		return CLI_FAILED;
	if (bus_client_wait_snapshot(j->client) < 0)
		return client_failed(j->client);
	if (!to.file.standard)
		fprintf(stderr, "%s: snapshot of %s\n", to.file.path, j->name);
	return packed_output_finish(&to) < 0 ? CLI_FAILED : CLI_OK;
}

static int verb_snapshot_flight(struct job *j)
{
	if (!j->is_flight)
		return cli_failed(
			"session '%s' is not a flight recorder: its archive is already being "
			"written; omit -o to add its live blocks to it",
			j->name);
	if (j->options->compress != PACK_NONE && j->packed != PACK_NONE)
		return cli_failed("session '%s' is already compressed with %s: omit --compress",
				  j->name, pack_ops(j->packed)->name);
	return j->options->compress == PACK_NONE ? verb_snapshot_write_file(j)
						 : verb_snapshot_write_packed(j);
}

static int verb_snapshot_memory(struct job *j)
{
	if (!j->watches)
		return cli_failed("session '%s' does not record allocations%s", j->name,
				  j->is_flight ? "; -o FILE writes the content of the flight "
						 "recorder"
					       : ", and is not a flight recorder");
	return bus_client_snapshot_memory(j->client, j->path) < 0 ? client_failed(j->client)
								  : CLI_OK;
}

/* Makes all collections write snapshots. The service chooses their files. */
static int verb_snapshot_all(const struct client_options *o)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	uint32_t written, passed_over;
	int r = client_connect(o, &c);

	if (r != CLI_OK)
		return r;
	if (bus_client_snapshot_all(c, o->reason ?: "requested", &written, &passed_over) < 0)
		return client_failed(c);
	if (written + passed_over == 0)
		cli_error("no collection runs a flight recorder: nothing was written");
	else
		fprintf(stderr, "%u written, %u skipped (interval not over)\n", written,
			passed_over);
	return CLI_OK;
}

static int verb_snapshot_check_all(const struct client_options *o)
{
	if (o->all && (o->n_rest || o->output || o->force || o->compress))
		return cli_usage_error("--all: collections determine their files, so NAME and -o "
				       "are not possible");
	if (o->reason && !o->all)
		return cli_usage_error("--reason needs --all");
	if (!o->all && o->n_rest != 1)
		return cli_usage_error("expected the NAME of a session, or --all");
	return CLI_OK;
}

static int verb_snapshot(int argc, char **argv)
{
	_cleanup_(bus_client_freep) struct bus_client *c = NULL;
	_cleanup_free_ char *path = NULL;
	struct client_options o;
	struct job j = { .options = &o };
	int r = client_options_parse(argc, argv, CLIENT_OUTPUT | CLIENT_ALL, &o);

	if (r != CLIENT_OPTIONS_GO)
		return r;
	r = verb_snapshot_check_all(&o);
	if (r != CLI_OK)
		return r;
	if (o.all)
		return verb_snapshot_all(&o);
	if (!o.output && (o.force || o.compress))
		return cli_usage_error("--force and --compress need -o FILE");
	r = client_find(&o, o.rest[0], &c, &path);
	if (r != CLI_OK)
		return r;
	j.client = c;
	j.name = o.rest[0];
	j.path = path;
	r = verb_snapshot_inspect(&j);
	if (r != CLI_OK)
		return r;
	return o.output ? verb_snapshot_flight(&j) : verb_snapshot_memory(&j);
}

const struct verb verb_snapshot_row = {
	.name = "snapshot",
	.synopsis = "NAME|--all [-o FILE] [OPTION ...]",
	.what = "Write the content of a flight recorder, or the allocated blocks of a session",
	.examples = "  kymo snapshot box -o box.fxt\n  kymo snapshot web\n",
	.options =
		"  -o, --output=FILE  write the content of a flight recorder; '-' is standard output.\n"
		"                     Without this option, write the blocks that are allocated\n"
		"                     now into the archive of the session\n"
		"      --all          write the files of all collections' flight recorders\n"
		"      --reason=TEXT  the reason, for a mark in these files\n"
		"      --compress[=METHOD]  compress it: zstd (the default), columns,\n"
		"                     snappy or gzip\n"
		"      --force        replace an existing file\n" CLIENT_OPTIONS_HELP,
	.run = verb_snapshot,
};
