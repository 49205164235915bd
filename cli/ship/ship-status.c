/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/ship/ship-status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/outbuf.h"
#include "base/text.h"
#include "cli/ship/ship-copy.h"

enum {
	SHIP_STATUS_BYTES_MAX = 16384,
	SHIP_STATUS_OLD_US = 60 * 1000000, /* it is written each 10 s */
};

const char *ship_status_directory(void)
{
	return secure_getenv("KYMO_SHIP_DIR") ?: SHIP_STATUS_DIRECTORY;
}

/* ---- file ---- */

/* The members in the file. */
static const struct {
	const char *name;
	size_t offset;
} ship_status_members[] = {
	{ "waiting", offsetof(struct ship_status, waiting) },
	{ "waiting_bytes", offsetof(struct ship_status, waiting_bytes) },
	{ "oldest_us", offsetof(struct ship_status, oldest_us) },
	{ "taken", offsetof(struct ship_status, taken) },
	{ "lost", offsetof(struct ship_status, lost) },
	{ "lost_bytes", offsetof(struct ship_status, lost_bytes) },
	{ "error_since_us", offsetof(struct ship_status, error_since_us) },
};

struct json_object *ship_status_json(const struct ship_status *s)
{
	return JSON_OBJECT(JSON_OF(s, waiting, waiting_bytes, oldest_us, taken, lost, lost_bytes),
			   JSON("error", json_from_text(s->error)),
			   JSON_OF(s, error_since_us, updated_us, is_old));
}

int ship_status_write(const struct ship_status *s, int dir_fd)
{
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };
	struct json_object *o = ship_status_json(s);
	int r = json_append(&text, o, JSON_C_TO_STRING_PRETTY) ?: outbuf_append(&text, "\n", 1);

	json_object_put(o);
	return r ?: ship_copy_put(dir_fd, SHIP_STATUS_FILE, &text, 0644);
}

static void ship_status_parse(const char *text, struct ship_status *ret)
{
	struct json_object *o = json_tokener_parse(text), *value;

	for (size_t i = 0; i < ARRAY_SIZE(ship_status_members); i++)
		if (json_object_object_get_ex(o, ship_status_members[i].name, &value))
			*(uint64_t *)((char *)ret + ship_status_members[i].offset) =
				json_object_get_uint64(value);
	if (json_object_object_get_ex(o, "error", &value) &&
	    json_object_is_type(value, json_type_string))
		text_clean(ret->error, sizeof(ret->error), json_object_get_string(value),
			   (size_t)json_object_get_string_len(value));
	json_object_put(o);
}

int ship_status_read(const char *name, struct ship_status *ret)
{
	char text[SHIP_STATUS_BYTES_MAX], path[PATH_MAX];
	_cleanup_close_ int fd = -1;
	uint64_t now_us = clock_read_ns(CLOCK_REALTIME) / 1000;
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s/" SHIP_STATUS_FILE, ship_status_directory(), name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	*ret = (struct ship_status){ 0 };
	ship_status_parse(text, ret);
	ret->updated_us =
		(uint64_t)st.st_mtim.tv_sec * 1000000 + (uint64_t)st.st_mtim.tv_nsec / 1000;
	ret->is_old = now_us > ret->updated_us && now_us - ret->updated_us > SHIP_STATUS_OLD_US;
	return 0;
}

/* ---- text ---- */

static const char *ship_status_time(char to[static 64], uint64_t us)
{
	time_t t = (time_t)(us / 1000000);
	struct tm tm;

	if (!localtime_r(&t, &tm) || strftime(to, 64, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		snprintf(to, 64, "?");
	return to;
}

void ship_status_print(const struct ship_status *s, const char *name)
{
	char when[64];

	printf("    export:   %" PRIu64 " chunk%s taken", s->taken, text_s(s->taken));
	if (s->waiting)
		printf(", %" PRIu64 " waiting (%s, the oldest since %s)", s->waiting,
		       TEXT_SIZE(s->waiting_bytes), ship_status_time(when, s->oldest_us));
	else
		printf(", none waiting");
	if (s->lost)
		printf(", %" PRIu64 " lost (%s, removed by the retention)", s->lost,
		       TEXT_SIZE(s->lost_bytes));
	putchar('\n');
	if (*s->error)
		printf("    waits:    %s (since %s)\n", s->error,
		       ship_status_time(when, s->error_since_us));
	if (s->is_old)
		printf("    waits:    no news since %s: is kymo-ship@%s.service running?\n",
		       ship_status_time(when, s->updated_us), name);
}
