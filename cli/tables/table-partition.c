/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-partition.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "cli/common/verb.h"

/*
 * Appends HOST, escaped as Hive does it. A dot at its begin is escaped, too, since it would hide
 * the directory.
 */
static void table_partition_put_host(struct outbuf *to, const char *host)
{
	for (const char *p = host; *p; p++) {
		if (isalnum((unsigned char)*p) || *p == '-' || *p == '_' || (*p == '.' && p > host))
			outbuf_append(to, p, 1);
		else
			outbuf_print(to, "%%%02X", (unsigned char)*p);
	}
}

/* Creates the directories above the last one in PATH. The first N bytes exist already. */
static int table_partition_make_parents(char *path, size_t n)
{
	for (char *p = path + n; (p = strchr(p, '/')); p++) {
		int r;

		*p = '\0';
		r = mkdir(path, 0777);
		if (r < 0 && errno != EEXIST)
			return cli_failed("cannot create the directory %s: %m", path);
		*p = '/';
	}
	return CLI_OK;
}

int table_partition_append(struct outbuf *to, const char *host, uint64_t real_ns, struct tm *ret)
{
	time_t seconds = (time_t)(real_ns / UINT64_C(1000000000));
	char time[64];

	if (!gmtime_r(&seconds, ret))
		return -ERANGE;
	outbuf_append(to, "host=", strlen("host="));
	table_partition_put_host(to, host);
	return outbuf_append(to, time, strftime(time, sizeof(time), "/date=%Y-%m-%d/hour=%H", ret));
}

int table_partition_make(const char *base, const char *host, uint64_t real_ns, char **ret)
{
	struct outbuf path = { 0 };
	char time[32];
	struct tm tm;
	int r;

	outbuf_print(&path, "%s/", base);
	if (table_partition_append(&path, host, real_ns, &tm) == -ERANGE) {
		outbuf_deinit(&path);
		return cli_failed("the clock of the archive is wrong, so that there is no date");
	}
	outbuf_append(&path, time, strftime(time, sizeof(time), "/part=%M%S", &tm) + 1);
	if (path.error) {
		outbuf_deinit(&path);
		return cli_failed("out of memory");
	}
	r = table_partition_make_parents((char *)path.data, strlen(base));
	if (r != CLI_OK)
		outbuf_deinit(&path);
	else
		*ret = (char *)path.data;
	return r;
}
