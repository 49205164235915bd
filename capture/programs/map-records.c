/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/map-records.h"

#include <string.h>

#include <bpf/bpf.h>
#include <linux/perf_event.h>

/* Flags of linux/perf_event.h, since the installed headers may be older. */
enum { MISC_BUILD_ID = 1 << 14, MISC_COMM_EXEC = 1 << 13 };

struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, bytes, offset;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, inode_generation;
		};
		struct {
			uint8_t build_id_size, pad_0[3];
			uint8_t build_id[MAPPING_BUILD_ID_BYTES];
		};
	};
	uint32_t prot, flags;
	char path[];
};
_Static_assert(sizeof(struct mmap2) == 72, "the kernel's");

/* The end of each record (sample_id_all): its time, and the event that wrote it. */
struct tail {
	uint64_t ts_ns, event;
};

struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct lost {
	struct perf_event_header header;
	uint64_t id, count;
};

/*
 * Returns true if PID is the id of a process: a process in another pid namespace has id 0, and an
 * ended process has -1.
 */
static bool map_records_is_pid(uint32_t pid)
{
	return pid != 0 && pid <= INT32_MAX;
}

/* Sets the ids of the current record. Returns false if its process is unknown. */
static bool map_records_set_ids(struct map_records *m, uint32_t pid, uint32_t tid)
{
	const uint64_t process = pid, thread = tid;

	m->pid = pid;
	m->tid = tid;
	if (!map_records_is_pid(pid))
		return false;
	if (!m->translates)
		return true;
	if (m->ids_fd < 0 || bpf_map_lookup_elem(m->ids_fd, &process, &m->pid) < 0)
		return false;
	if (bpf_map_lookup_elem(m->ids_fd, &thread, &m->tid) < 0)
		m->tid = m->pid;
	return true;
}

static void map_records_fill_head(struct rec_head *head, uint64_t ts_ns, uint16_t kind, size_t size,
				  unsigned cpu, uint32_t pid, uint32_t tid)
{
	*head = (struct rec_head){
		.ts_ns = ts_ns,
		.size = (uint32_t)size,
		.kind = kind,
		.cpu = (uint16_t)cpu,
		.pid = pid,
		.tid = tid,
	};
}

/* Returns the record that waits for its other half, or is being made. */
static struct rec_mapping *map_records_half_of(struct map_records *m)
{
	return (struct rec_mapping *)m->room;
}

static int map_records_pass_on(struct map_records *m, map_record_fn fn, void *userdata)
{
	if (!m->waiting)
		return 0;
	m->waiting = false;
	return fn(&map_records_half_of(m)->head, userdata);
}

/*
 * Returns true if REC, from EVENT, has a build id instead of an inode. The kernel does not clear
 * the flag between two events. So if another program records build ids, records with an inode can
 * have the flag, too.
 */
static bool map_records_has_build_id(const struct map_records *m, const struct mmap2 *rec,
				     uint64_t event)
{
	return rec->header.misc & MISC_BUILD_ID && event != m->inode_event;
}

/* Returns true if REC is the other half of the waiting record. */
static bool map_records_is_other_half(const struct map_records *m, const struct mmap2 *rec,
				      bool build_id, size_t path_bytes)
{
	const struct rec_mapping *waiting = (const struct rec_mapping *)m->room;

	/* Both events report a file without a build id in the same way. */
	return m->waiting && !(build_id && m->has_build_id) && waiting->head.pid == m->pid &&
	       waiting->head.tid == m->tid && waiting->start == rec->start &&
	       waiting->bytes == rec->bytes && waiting->file_offset == rec->offset &&
	       waiting->path_bytes == path_bytes &&
	       memcmp(waiting->path, rec->path, path_bytes) == 0;
}

static void map_records_add_half(struct map_records *m, const struct mmap2 *rec, bool build_id)
{
	struct rec_mapping *waiting = map_records_half_of(m);

	if (build_id) {
		m->has_build_id = true;
		waiting->build_id_bytes = rec->build_id_size < MAPPING_BUILD_ID_BYTES
						  ? rec->build_id_size
						  : MAPPING_BUILD_ID_BYTES;
		memcpy(waiting->build_id, rec->build_id, waiting->build_id_bytes);
	} else {
		m->has_inode = true;
		waiting->device = (uint64_t)rec->major << 20 | rec->minor;
		waiting->inode = rec->inode;
	}
}

static int map_records_decode_mapping(struct map_records *m, const struct mmap2 *rec,
				      size_t path_room, const struct tail *tail, map_record_fn fn,
				      void *userdata)
{
	size_t path_bytes = strnlen(rec->path, path_room), size;
	struct rec_mapping *waiting = map_records_half_of(m);
	bool build_id = map_records_has_build_id(m, rec, tail->event);
	int r;

	if (!map_records_set_ids(m, rec->pid, rec->tid) || path_bytes == path_room ||
	    path_bytes >= MAPPING_PATH_BYTES || rec->bytes == 0 ||
	    rec->start > UINT64_MAX - rec->bytes)
		return 0;
	if (map_records_is_other_half(m, rec, build_id, path_bytes)) {
		map_records_add_half(m, rec, build_id);
		return map_records_pass_on(m, fn, userdata);
	}
	r = map_records_pass_on(m, fn, userdata);
	size = (sizeof(struct rec_mapping) + path_bytes + 1 + 7) & ~(size_t)7;
	memset(m->room, 0, size);
	map_records_fill_head(&waiting->head, tail->ts_ns, REC_MAPPING, size, m->cpu, m->pid,
			      m->tid);
	waiting->start = rec->start;
	waiting->bytes = rec->bytes;
	waiting->file_offset = rec->offset;
	waiting->path_bytes = (uint32_t)path_bytes;
	memcpy(waiting->path, rec->path, path_bytes);
	m->waiting = true;
	m->has_build_id = m->has_inode = false;
	map_records_add_half(m, rec, build_id);
	return r;
}

int map_records_decode(struct map_records *m, const void *data, size_t size, map_record_fn fn,
		       void *userdata, uint64_t *ret_lost)
{
	const struct perf_event_header *header = data;
	struct rec_new_image image;
	const struct comm *comm;
	struct tail tail;
	size_t body;
	int r;

	if (size < sizeof(*header) + sizeof(tail) || header->size != size)
		return 0;
	body = size - sizeof(tail);
	memcpy(&tail, (const char *)data + body, sizeof(tail));
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		if (body <= sizeof(struct mmap2))
			return 0;
		return map_records_decode_mapping(m, data, body - sizeof(struct mmap2), &tail, fn,
						  userdata);
	case PERF_RECORD_COMM:
		comm = data;
		if (body <= sizeof(*comm) || !(header->misc & MISC_COMM_EXEC) ||
		    !map_records_set_ids(m, comm->pid, comm->tid))
			return 0;
		r = map_records_pass_on(m, fn, userdata);
		map_records_fill_head(&image.head, tail.ts_ns, REC_NEW_IMAGE, sizeof(image), m->cpu,
				      m->pid, m->tid);
		return r < 0 ? r : fn(&image.head, userdata);
	case PERF_RECORD_LOST:
		if (body >= sizeof(struct lost))
			*ret_lost += ((const struct lost *)data)->count;
		return 0;
	default:
		return 0;
	}
}

bool map_records_lacks_inode(const struct rec_mapping *rec)
{
	return rec->inode == 0 && rec->path[0] != '[' && strcmp(rec->path, "//anon") != 0;
}

int map_records_flush(struct map_records *m, uint64_t before_ns, map_record_fn fn, void *userdata)
{
	return m->waiting && map_records_half_of(m)->head.ts_ns < before_ns
		       ? map_records_pass_on(m, fn, userdata)
		       : 0;
}
