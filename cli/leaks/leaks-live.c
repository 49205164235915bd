/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a recording for `kymo leaks` without an archive. It contains the allocations of the
 * selected processes, like a recording by `kymo record`, and is stored in a file without a name,
 * unless a name is given.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/leaks/leaks-view.h"
#include "cli/common/loaded-files.h"
#include "cli/record/record-job.h"
#include "cli/common/temporary-file.h"
#include "cli/common/verb.h"

/* Adds the files that the command maps, so that they get probes before it starts. */
static int leaks_add_files(struct record_options *o)
{
	struct memory_options *m = &o->session.memory;

	if (o->n_rest == 0)
		return 0;
	m->allocators.fds = calloc(ALLOCATOR_FILES_MAX, sizeof(*m->allocators.fds));
	if (!m->allocators.fds) {
		cli_error("out of memory");
		return -1;
	}
	m->allocators.n = loaded_files(o->rest[0], m->allocators.fds);
	return 0;
}

static int leaks_live_check(const struct record_options *o)
{
	if (!(o->session.categories & CATEGORIES_MEMORY))
		return cli_usage_error("-e must contain memory, fd, shm or threads");
	if (o->n_rest > 0 && capture_filter_is_set(&o->session.filter))
		return cli_usage_error("a command is watched with its children; -p and the other "
				       "filters are for running processes");
	return CLI_OK;
}

static int leaks_live_open_output(struct record_job *j)
{
	if (j->options.output)
		return 0;
	j->output.fd = temporary_file_open();
	j->output.path = strdup("the temporary archive");
	return j->output.fd < 0 || !j->output.path ? -1 : 0;
}

/* Opens the archive for reading from its beginning. */
static int leaks_live_reopen(int fd)
{
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		cli_error("cannot read the recording: %m");
	return again;
}

int leaks_record(struct record_job *j, int *ret_fd)
{
	struct session_options *o = &j->options.session;
	int r = record_options_check(&j->options);

	if (r != RECORD_OPTIONS_GO)
		return r;
	r = leaks_live_check(&j->options);
	if (r != CLI_OK)
		return r;
	snprintf(o->name, sizeof(o->name), "leaks_%d", getpid());
	o->no_perfetto_blobs = true;
	j->quiet = true;
	if (leaks_add_files(&j->options) < 0 || leaks_live_open_output(j) < 0)
		return record_job_exit(j, CLI_FAILED);
	r = record_job_run(j);
	if (r != CLI_OK && r != CLI_DAMAGE)
		return record_job_exit(j, r);
	if (j->is_empty)
		return record_job_exit(j, CLI_FAILED);
	*ret_fd = leaks_live_reopen(j->output.fd);
	return *ret_fd < 0 ? record_job_exit(j, CLI_FAILED) : r;
}
