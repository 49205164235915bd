/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/statement-table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/common/verb.h"
#include "writer/pack/pack.h"

enum { BYTES_MAX = 64 << 20, TEXT_MAX = 4096, FIELDS = 8 };

void statement_table_deinit(struct statement_table *t)
{
	free(t->list);
	table_deinit(&t->by_id);
	text_set_deinit(&t->texts);
}

const struct trace_statement *statement_table_get(const struct statement_table *t, uint64_t id)
{
	uintptr_t number = id ? (uintptr_t)table_get(&t->by_id, id) : 0;

	return number ? &t->list[number - 1] : NULL;
}

/* Returns the name of the table beside TRACE: "DIR/w-17.tdb.gz" has "DIR/w-17.statements". */
static char *statement_table_path(const char *trace)
{
	size_t n = strlen(trace) - strlen(pack_ops(pack_of_suffix(trace))->suffix), stem = n;
	char *path;

	while (stem > 0 && trace[stem - 1] != '.' && trace[stem - 1] != '/')
		stem--;
	if (stem > 0 && trace[stem - 1] == '.')
		n = stem - 1;
	return asprintf(&path, "%.*s.statements", (int)n, trace) < 0 ? NULL : path;
}

/* Keeps a readable copy of FIELD; "-" means that the text is unknown. */
static bool statement_table_keep(struct statement_table *t, const char **to, const char *field)
{
	char text[TEXT_MAX];

	text_clean(text, sizeof(text), field, strlen(field));
	*to = text_set_keep(&t->texts, strcmp(text, "-") == 0 ? "" : text);
	return *to != NULL;
}

/* Adds a LINE: id, name, caller, source, line, address, build id and module. */
static int statement_table_add(struct statement_table *t, char *line)
{
	struct trace_statement s = { 0 };
	char *fields[FIELDS], *end;
	uint64_t id, number;

	for (size_t i = 0; i < FIELDS; i++)
		if (!(fields[i] = strsep(&line, "\t")))
			return -EBADMSG;
	errno = 0;
	id = strtoull(fields[0], &end, 16);
	if (line || errno || strncmp(fields[0], "0x", 2) != 0 || *end || id == 0 ||
	    text_parse_u64(fields[4], UINT32_MAX, &number) < 0)
		return -EBADMSG;
	s.line = (uint32_t)number;
	if (!statement_table_keep(t, &s.name, fields[1]) ||
	    !statement_table_keep(t, &s.caller, fields[2]) ||
	    !statement_table_keep(t, &s.source, fields[3]) ||
	    !statement_table_keep(t, &s.build_id, fields[6]) ||
	    !statement_table_keep(t, &s.module, fields[7]) ||
	    GROW(t->list, t->room, t->n + 1) < 0 ||
	    table_set(&t->by_id, id, (void *)(uintptr_t)(t->n + 1)) < 0)
		return -ENOMEM;
	t->list[t->n++] = s;
	return 0;
}

static int statement_table_read(struct statement_table *t, const char *path, FILE *from)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0, bytes = 0;
	ssize_t n;
	int r = 0;

	for (unsigned number = 1; (n = getline(&line, &room, from)) > 0; number++) {
		bytes += (size_t)n;
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		r = bytes > BYTES_MAX ? -EBADMSG : statement_table_add(t, line);
		if (r == -EBADMSG) {
			cli_error("%s: line %u is not a statement; the rest is not read", path,
				  number);
			return CLI_DAMAGE;
		}
		if (r < 0)
			return cli_failed("out of memory");
	}
	return ferror(from) ? cli_failed("cannot read '%s': %s", path, strerror(errno)) : CLI_OK;
}

int statement_table_load(struct statement_table *t, const char *trace)
{
	_cleanup_free_ char *path = statement_table_path(trace);
	struct stat st;
	FILE *from;
	int r, fd;

	if (!path)
		return cli_failed("out of memory");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
		return CLI_OK;
	if (fd < 0)
		return cli_error("cannot read '%s', so functions and lines are unknown: %s", path,
				 strerror(errno)),
		       CLI_DAMAGE;
	/* (a line of a huge file could have any length) */
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > BYTES_MAX) {
		close(fd);
		return cli_error("%s: it is not a table of statements, so functions and lines are "
				 "unknown",
				 path),
		       CLI_DAMAGE;
	}
	from = fdopen(fd, "r");
	if (!from) {
		close(fd);
		return cli_failed("out of memory");
	}
	t->found = true;
	r = statement_table_read(t, path, from);
	fclose(from);
	return r;
}
