/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/resource-lists.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/outbuf.h"
#include "capture/heap/heap-records.h"
#include "capture/options/options.h"
#include "capture/proc/bounded-read.h"

enum { LIST_BYTES_MAX = 64 << 20 };

/* An object of shared memory. */
struct shm_object {
	uint64_t size;
	uint32_t uid;
	/*
	 * The name is cut where the records of system calls cut it, so that both names are equal.
	 */
	char name[REC_RESOURCE_TEXT_BYTES - sizeof(RESOURCE_SHM_DIRECTORY) + 1];
};

/* A list that is being sent. */
struct sending {
	const struct resource_list *list;
	const struct memory_sink *sink;
	uint32_t resources; /* a bit for each resource whose list was readable */
	DIR *fds;
	struct outbuf objects;   /* struct shm_object */
	struct outbuf maps_text; /* of `maps` */
	FILE *maps, *segments;
};

static struct rec_head resource_list_head_of(const struct sending *s, uint16_t kind, uint32_t size)
{
	return (struct rec_head){
		.ts_ns = clock_boot_ns(),
		.size = size,
		.kind = kind,
		.pid = s->list->pid,
		.tid = s->list->pid,
	};
}

static int resource_list_send_listing(const struct sending *s, bool ends)
{
	const struct rec_listing rec = {
		.head = resource_list_head_of(s, REC_LISTING, sizeof(rec)),
		.instance = s->list->instance,
		.resources = s->resources,
		.first = s->list->first,
		.ends = ends,
	};

	return s->sink->emit(&rec.head, s->sink->userdata);
}

static struct rec_found resource_list_found_of(const struct sending *s, uint32_t resource,
					       uint64_t id, uint64_t size)
{
	return (struct rec_found){
		.head = resource_list_head_of(s, REC_FOUND, sizeof(struct rec_found)),
		.id = id,
		.size = size,
		.instance = s->list->instance,
		.resource = resource,
	};
}

static int resource_list_send_found(const struct sending *s, const struct rec_found *rec)
{
	return s->sink->emit(&rec->head, s->sink->userdata);
}

/* ---- opening ---- */

static void resource_list_open_path(char path[static 64], const struct sending *s, const char *what)
{
	snprintf(path, 64, "/proc/%" PRIu32 "/%s", s->list->pid, what);
}

static bool resource_list_has_bit(const struct sending *s, uint32_t resource)
{
	return s->resources >> resource & 1;
}

static void resource_list_add_bit(struct sending *s, uint32_t resource)
{
	s->resources |= UINT32_C(1) << resource;
}

/*
 * Returns true if the process is in the IPC namespace of this process: /proc/sysvipc shows only the
 * segments in the namespace of the process that reads it.
 */
static bool resource_list_has_our_ipc(const struct sending *s)
{
	struct stat own, its;
	char path[64];

	resource_list_open_path(path, s, "ns/ipc");
	return stat("/proc/self/ns/ipc", &own) == 0 && stat(path, &its) == 0 &&
	       own.st_ino == its.st_ino && own.st_dev == its.st_dev;
}

/* A bounded_read_fn for the list of mappings: a thread of the process can have its lock. */
static int resource_list_read_maps(const char *root, uint32_t pid, struct outbuf *to)
{
	_cleanup_close_ int fd = -1;
	char path[64], part[4096];
	ssize_t n = 0;
	int r = 0;

	(void)root;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (r == 0 && (n = read(fd, part, sizeof(part))) > 0)
		r = outbuf_append(to, part, (size_t)n);
	return r ?: n < 0 ? -errno : 0;
}

/* Returns 0 or a negative errno; an object that has just been removed is left out. */
static int resource_list_add_object(int directory, const char *name, struct outbuf *to)
{
	struct shm_object object = { 0 };
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	object.size = (uint64_t)st.st_size;
	object.uid = st.st_uid;
	snprintf(object.name, sizeof(object.name), "%.*s", (int)sizeof(object.name) - 1, name);
	return outbuf_append(to, &object, sizeof(object));
}

/* A bounded_read_fn for shared memory: in the process, the directory can be on FUSE. */
static int resource_list_read_objects(const char *root, uint32_t pid, struct outbuf *to)
{
	const struct dirent *entry;
	char path[64];
	int r = 0;
	DIR *dir;

	(void)root;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root" RESOURCE_SHM_DIRECTORY, pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (r == 0) {
		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			r = -errno;
			break;
		}
		r = resource_list_add_object(dirfd(dir), entry->d_name, to);
	}
	closedir(dir);
	return r;
}

/* Returns true if FN has read everything. */
static bool resource_list_read(const struct sending *s, bounded_read_fn fn, struct outbuf *ret)
{
	return bounded_read("", s->list->pid, fn, LIST_BYTES_MAX, ret, s->sink->helper_cpu_ns) == 0;
}

static void resource_list_open_all(struct sending *s)
{
	char path[64];

	if (s->list->categories & CATEGORY_FD) {
		resource_list_open_path(path, s, "fd");
		s->fds = opendir(path);
		if (s->fds)
			resource_list_add_bit(s, MEMORY_RESOURCE_FD);
	}
	if (!(s->list->categories & CATEGORY_SHM))
		return;
	if (resource_list_read(s, resource_list_read_maps, &s->maps_text) && s->maps_text.size)
		s->maps = fmemopen(s->maps_text.data, s->maps_text.size, "r");
	if (s->maps) {
		resource_list_add_bit(s, MEMORY_RESOURCE_MAPPING);
		resource_list_add_bit(s, MEMORY_RESOURCE_ATTACHMENT);
	}
	s->segments = resource_list_has_our_ipc(s) ? fopen("/proc/sysvipc/shm", "re") : NULL;
	if (s->segments)
		resource_list_add_bit(s, MEMORY_RESOURCE_SEGMENT);
	if (resource_list_read(s, resource_list_read_objects, &s->objects))
		resource_list_add_bit(s, MEMORY_RESOURCE_SHM);
}

static void resource_list_close_all(struct sending *s)
{
	if (s->fds)
		closedir(s->fds);
	outbuf_deinit(&s->objects);
	if (s->maps)
		fclose(s->maps);
	outbuf_deinit(&s->maps_text);
	if (s->segments)
		fclose(s->segments);
}

/* ---- reading ---- */

static int resource_list_send_fds(const struct sending *s)
{
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && (entry = readdir(s->fds))) {
		struct rec_found rec;
		char *end;
		unsigned long fd = strtoul(entry->d_name, &end, 10);

		if (*end || end == entry->d_name)
			continue;
		rec = resource_list_found_of(s, MEMORY_RESOURCE_FD, fd, 1);
		if (readlinkat(dirfd(s->fds), entry->d_name, rec.text, sizeof(rec.text) - 1) < 0)
			rec.text[0] = '\0';
		r = resource_list_send_found(s, &rec);
	}
	return r;
}

/* Sends a line of /proc/PID/maps. */
static int resource_list_send_mapping(const struct sending *s, const char *line)
{
	struct rec_found rec;
	uint64_t start, end;
	int at = 0, r;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &start, &end, &at) != 2 ||
	    at == 0)
		return 0;
	rec = resource_list_found_of(s, MEMORY_RESOURCE_MAPPING, start, end - start);
	snprintf(rec.text, sizeof(rec.text), "%.*s", (int)strcspn(line + at, "\n"), line + at);
	r = resource_list_send_found(s, &rec);
	if (r < 0 || strncmp(rec.text, "/SYSV", strlen("/SYSV")) != 0)
		return r;
	rec.resource = MEMORY_RESOURCE_ATTACHMENT;
	rec.text[0] = '\0';
	return resource_list_send_found(s, &rec);
}

/* Sends a line of /proc/sysvipc/shm. */
static int resource_list_send_segment(const struct sending *s, const char *line)
{
	struct rec_found rec;
	uint64_t id, bytes;
	uint32_t maker, uid;

	if (sscanf(line, "%*d %" SCNu64 " %*o %" SCNu64 " %" SCNu32 " %*u %*u %" SCNu32, &id,
		   &bytes, &maker, &uid) != 4)
		return 0; /* the heading */
	if (s->list->own && uid != s->list->uid)
		return 0;
	rec = resource_list_found_of(s, MEMORY_RESOURCE_SEGMENT, id, bytes);
	rec.foreign = maker != s->list->pid;
	return resource_list_send_found(s, &rec);
}

static int resource_list_send_lines(const struct sending *s, FILE *f,
				    int (*send_line)(const struct sending *s, const char *line))
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	int r = 0;

	while (r == 0 && getline(&line, &room, f) > 0)
		r = send_line(s, line);
	return r;
}

static int resource_list_send_objects(const struct sending *s)
{
	const struct shm_object *list = (const struct shm_object *)s->objects.data;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->objects.size / sizeof(*list); i++) {
		struct rec_found rec;

		if (s->list->own && list[i].uid != s->list->uid)
			continue;
		rec = resource_list_found_of(s, MEMORY_RESOURCE_SHM, 0, list[i].size);
		snprintf(rec.text, sizeof(rec.text), "%s", list[i].name);
		r = resource_list_send_found(s, &rec);
	}
	return r;
}

int resource_list_send(const struct resource_list *list, const struct memory_sink *sink)
{
	struct sending s = { .list = list, .sink = sink };
	int r;

	resource_list_open_all(&s);
	r = resource_list_send_listing(&s, false);
	if (r == 0 && resource_list_has_bit(&s, MEMORY_RESOURCE_FD))
		r = resource_list_send_fds(&s);
	if (r == 0 && resource_list_has_bit(&s, MEMORY_RESOURCE_MAPPING))
		r = resource_list_send_lines(&s, s.maps, resource_list_send_mapping);
	if (r == 0 && resource_list_has_bit(&s, MEMORY_RESOURCE_SEGMENT))
		r = resource_list_send_lines(&s, s.segments, resource_list_send_segment);
	if (r == 0 && resource_list_has_bit(&s, MEMORY_RESOURCE_SHM))
		r = resource_list_send_objects(&s);
	r = r ?: resource_list_send_listing(&s, true);
	resource_list_close_all(&s);
	return r;
}
