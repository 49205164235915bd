/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/mappings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/proc/bounded-read.h"
#include "capture/proc/task-state.h"
#include "capture/sandbox/local-devices.h"

enum {
	LINE_MAX_BYTES = MAPPING_PATH_BYTES + 256,
	LIST_BYTES_MAX = 16 << 20, /* the mappings of one process */
	KERNEL_PID = 2,
	NOTES_MAX = 64 << 10,
};

/* Where the kernel's half of the address space begins, which includes [vsyscall]. */
#define KERNEL_HALF (UINT64_C(1) << 63)

/* From linux/fs.h, since 6.11. */
struct procmap_query {
	uint64_t size, query_flags, query_addr, vma_start, vma_end, vma_flags, vma_page_size,
		vma_offset, inode;
	uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
	uint64_t vma_name_addr, build_id_addr;
};
#define PROCMAP_QUERY _IOWR('f', 17, struct procmap_query)

/* A record, followed by space for its path. */
struct room {
	union {
		struct rec_mapping rec;
		uint8_t bytes[sizeof(struct rec_mapping) + MAPPING_PATH_BYTES + 8];
	};
};

static FILE *mappings_open_file(const char *root, const char *path)
{
	char full[4096];

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return NULL;
	return fopen(full, "re");
}

static int mappings_pass_on(struct room *room, uint32_t pid, const char *path, mapping_fn fn,
			    void *userdata)
{
	struct rec_mapping *rec = &room->rec;
	size_t n = strlen(path);

	if (n >= MAPPING_PATH_BYTES)
		return 0;
	rec->path_bytes = (uint32_t)n;
	memcpy(rec->path, path, n);
	rec->head.size = (uint32_t)((sizeof(*rec) + n + 1 + 7) & ~(size_t)7);
	memset(rec->path + n, 0, rec->head.size - sizeof(*rec) - n);
	rec->head.kind = REC_MAPPING;
	rec->head.pid = rec->head.tid = pid;
	return fn(rec, userdata);
}

/* ---- processes ---- */

static void mappings_query_build_id(int fd, struct rec_mapping *rec)
{
	struct procmap_query q = {
		.size = sizeof(q),
		.query_addr = rec->start,
		.build_id_size = sizeof(rec->build_id),
		.build_id_addr = (uint64_t)(uintptr_t)rec->build_id,
	};

	if (ioctl(fd, PROCMAP_QUERY, &q) == 0 && q.vma_start == rec->start &&
	    q.build_id_size <= sizeof(rec->build_id))
		rec->build_id_bytes = q.build_id_size;
}

/*
 * Fills in REC from LINE. *RET_PATH is the path at the end of LINE. Returns false if the line is
 * invalid or the mapping is not executable.
 */
static bool mappings_parse_line(char *line, struct rec_mapping *rec, const char **ret_path)
{
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	char permissions[8];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &start,
		   &end, permissions, &offset, &major, &minor, &inode, &at) < 7 ||
	    at == 0 || !strchr(permissions, 'x') || end <= start || start & KERNEL_HALF)
		return false;
	*rec = (struct rec_mapping){
		.start = start,
		.bytes = end - start,
		.file_offset = offset,
		.device = (uint64_t)major << 20 | minor,
		.inode = inode,
	};
	line[strcspn(line, "\n")] = '\0';
	/* The name that the kernel uses in records of perf. */
	*ret_path = line[at] ? line + at : "//anon";
	return true;
}

static FILE *mappings_open_maps(const char *root, uint32_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	return mappings_open_file(root, path);
}

/*
 * Opens the list of mappings of process PID. If the list is empty, the main thread may have ended;
 * then the list of another thread is used.
 */
static FILE *mappings_open_maps_of_any(const char *root, uint32_t pid)
{
	FILE *f = mappings_open_maps(root, pid);
	pid_t task;
	int c;

	if (!f || *root)
		return f;
	c = fgetc(f);
	if (c != EOF)
		return ungetc(c, f), f;
	task = task_state_oldest((pid_t)pid);
	if (task == 0 || task == (pid_t)pid)
		return f;
	fclose(f);
	return mappings_open_maps(root, (uint32_t)task);
}

int mappings_of_process(const char *root, uint32_t pid, mapping_fn fn, void *userdata)
{
	uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + BOUNDED_READ_NS_MAX;
	struct local_devices local = { 0 };
	char line[LINE_MAX_BYTES];
	const char *name;
	struct room room;
	FILE *f;
	int r = 0;

	f = mappings_open_maps_of_any(root, pid);
	if (!f)
		return 0;
	while (r == 0 && fgets(line, sizeof(line), f)) {
		/*
		 * The process can always map more behind the last line, so the list may have no
		 * end.
		 */
		if (clock_read_ns(CLOCK_MONOTONIC) >= until_ns)
			r = -ETIME;
		if (r < 0 || !mappings_parse_line(line, &room.rec, &name))
			continue;
		if (room.rec.inode && local_devices_has(&local, root, room.rec.device))
			mappings_query_build_id(fileno(f), &room.rec);
		r = mappings_pass_on(&room, pid, name, fn, userdata);
	}
	fclose(f);
	return r;
}

static int mappings_keep(const struct rec_mapping *rec, void *userdata)
{
	return outbuf_append(userdata, rec, rec->head.size);
}

static int mappings_read_all(const char *root, uint32_t pid, struct outbuf *to)
{
	return mappings_of_process(root, pid, mappings_keep, to);
}

int mappings_of_process_bounded(const char *root, uint32_t pid, mapping_fn fn, void *userdata,
				uint64_t *cpu_ns_sum)
{
	_cleanup_(outbuf_deinit) struct outbuf list = { 0 };
	int error = bounded_read(root, pid, mappings_read_all, LIST_BYTES_MAX, &list, cpu_ns_sum);
	int r = 0;

	for (size_t at = 0; r == 0 && at < list.size;) {
		const struct rec_mapping *rec = (const struct rec_mapping *)(list.data + at);

		at += rec->head.size;
		r = fn(rec, userdata);
	}
	return r ?: error;
}

/* ---- the kernel ---- */

/* Finds the build id among the ELF notes of a file. */
static void mappings_read_build_id(const char *root, const char *path, struct rec_mapping *rec)
{
	enum { NT_GNU_BUILD_ID = 3 };
	_cleanup_free_ uint8_t *notes = malloc(NOTES_MAX);
	FILE *f = notes ? mappings_open_file(root, path) : NULL;
	size_t n, at = 0;

	if (!f)
		return;
	n = fread(notes, 1, NOTES_MAX, f);
	fclose(f);
	while (n - at >= 12) {
		uint32_t head[3]; /* bytes of the name, bytes of the content, type */
		uint64_t name, what, next;

		memcpy(head, notes + at, sizeof(head));
		name = at + sizeof(head);
		what = name + (((uint64_t)head[0] + 3) & ~UINT64_C(3));
		next = what + (((uint64_t)head[1] + 3) & ~UINT64_C(3));
		if (what + head[1] > n)
			return;
		if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && head[1] <= sizeof(rec->build_id)) {
			rec->build_id_bytes = head[1];
			memcpy(rec->build_id, notes + what, head[1]);
			return;
		}
		if (next >= n)
			return;
		at = next;
	}
}

/*
 * Finds _stext and _etext in kallsyms. This is slow: tens of thousands of names come before _etext.
 */
static struct kernel_text mappings_find_text(const char *root)
{
	struct kernel_text text = { 0 };
	char line[512], name[256], type;
	uint64_t address;
	FILE *f = mappings_open_file(root, "/proc/kallsyms");

	while (f && (!text.start || !text.end) && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "_stext") && !strstr(line, "_etext"))
			continue;
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, name) != 3)
			continue;
		/* The addresses are hidden from this process. */
		if (address == 0 && text.start == 0 && strcmp(name, "_stext") == 0)
			break;
		if (strcmp(name, "_stext") == 0)
			text.start = address;
		else if (strcmp(name, "_etext") == 0)
			text.end = address;
	}
	if (f)
		fclose(f);
	return text;
}

static int mappings_list_text(const char *root, const struct kernel_text *text, mapping_fn fn,
			      void *userdata)
{
	struct room room;

	if (text->end <= text->start || text->start == 0)
		return 0;
	room.rec = (struct rec_mapping){ .start = text->start, .bytes = text->end - text->start };
	mappings_read_build_id(root, "/sys/kernel/notes", &room.rec);
	return mappings_pass_on(&room, KERNEL_PID, "[kernel.kallsyms]", fn, userdata);
}

static int mappings_list_modules(const char *root, mapping_fn fn, void *userdata)
{
	char line[4096], name[64], path[160], shown[72];
	FILE *f = mappings_open_file(root, "/proc/modules");
	struct room room;
	uint64_t start, bytes;
	int r = 0;

	while (f && r == 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, name, &bytes, &start) !=
			    3 ||
		    start == 0 || bytes == 0 || strchr(name, '/'))
			continue;
		room.rec = (struct rec_mapping){ .start = start, .bytes = bytes };
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
		mappings_read_build_id(root, path, &room.rec);
		snprintf(shown, sizeof(shown), "[%s]", name);
		r = mappings_pass_on(&room, KERNEL_PID, shown, fn, userdata);
	}
	if (f)
		fclose(f);
	return r;
}

int mappings_of_kernel(const char *root, const struct kernel_text *text, mapping_fn fn,
		       void *userdata)
{
	struct kernel_text found = text ? *text : mappings_find_text(root);
	int r = mappings_list_text(root, &found, fn, userdata);

	return r < 0 ? r : mappings_list_modules(root, fn, userdata);
}
