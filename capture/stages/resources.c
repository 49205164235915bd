/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/resources-tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/options/options.h"
#include "capture/programs/descriptor-calls.h"

/* Flags of the kernel that headers of older C libraries lack. */
#define MREMAP_KEEPS_OLD       4 /* MREMAP_DONTUNMAP */
#define CLOSE_RANGE_IS_CLOEXEC 4 /* CLOSE_RANGE_CLOEXEC */

struct move {
	uint64_t begun_ns;
};

/* ---- sums ---- */

struct sums_key {
	uint64_t stack, resource;
};

static struct resource_sums *resources_sums_of(struct resources *r, enum resource resource,
					       uint64_t stack)
{
	const struct sums_key key = { stack, resource };
	uint64_t hash = table_hash(&key, sizeof(key));
	struct resource_sums *sums = table_get(&r->sums, hash);

	if (sums)
		return sums;
	if (r->sums.n_used >= RESOURCES_MAX)
		return NULL;
	sums = table_make(&r->sums, hash, sizeof(*sums));
	if (sums) {
		sums->resource = resource;
		sums->stack = stack;
	}
	return sums;
}

struct resource_sums *resources_next_sums(const struct resources *r, size_t *pos)
{
	return table_next(&r->sums, pos);
}

static int resources_fail(struct resources *r, int error)
{
	if (r->error == 0)
		r->error = error;
	return error;
}

static int resources_made(struct resources *r, const struct resource_block *block)
{
	struct resource_sums *sums = resources_sums_of(r, block->resource, block->origin.stack);

	if (!sums)
		return resources_fail(r, -ENOMEM);
	sums->blocks++;
	sums->bytes += block->size;
	if (!r->remade) {
		sums->allocations++;
		sums->allocated_bytes += block->size;
	}
	sums->changed = true;
	return r->sink.made ? resources_fail(r, r->sink.made(block, r->call, r->sink.userdata)) : 0;
}

static int resources_freed(struct resources *r, const struct resource_block *block)
{
	struct resource_sums *sums = resources_sums_of(r, block->resource, block->origin.stack);

	if (!sums)
		return resources_fail(r, -ENOMEM);
	sums->blocks -= sums->blocks > 0;
	sums->bytes -= sums->bytes < block->size ? sums->bytes : block->size;
	sums->changed = true;
	return r->sink.freed ? resources_fail(r, r->sink.freed(block, r->call, r->sink.userdata))
			     : 0;
}

/* ---- things ---- */

static struct resource_block resources_block_of(enum resource resource, const struct thing *thing)
{
	return (struct resource_block){
		.resource = resource,
		.id = thing->id,
		.size = thing->size,
		.origin = thing->origin,
		.text = thing->text,
	};
}

struct thing *resources_find(const struct resources *r, enum resource resource, uint64_t id)
{
	return id == UINT64_MAX ? NULL : table_get(&r->things[resource], id + 1);
}

/* Makes room by removing the entries of things that no longer exist. */
static void resources_forget_gone(struct resources *r, enum resource resource)
{
	struct table left = { 0 };
	struct thing *thing;

	for (size_t pos = 0; (thing = table_next(&r->things[resource], &pos));)
		if (thing->state != STATE_GONE && table_set(&left, thing->id + 1, thing) < 0) {
			table_deinit(&left);
			return;
		}
	for (size_t pos = 0; (thing = table_next(&r->things[resource], &pos));)
		if (thing->state == STATE_GONE)
			free(thing);
	table_deinit(&r->things[resource]);
	r->things[resource] = left;
}

struct thing *resources_entry(struct resources *r, enum resource resource, uint64_t id)
{
	struct thing *thing = resources_find(r, resource, id);

	if (thing || id == UINT64_MAX)
		return thing;
	if (r->things[resource].n_used >= RESOURCES_MAX)
		resources_forget_gone(r, resource);
	if (r->things[resource].n_used < RESOURCES_MAX)
		thing = table_make(&r->things[resource], id + 1, sizeof(*thing));
	if (!thing) {
		r->n_full++;
		return NULL;
	}
	thing->id = id;
	thing->state = STATE_GONE;
	return thing;
}

int resources_end(struct resources *r, enum resource resource, struct thing *thing, uint64_t ts_ns)
{
	const struct resource_block block = resources_block_of(resource, thing);
	enum thing_state was = thing->state;

	thing->state = STATE_GONE;
	thing->gone_ns = ts_ns;
	if (was == STATE_BEFORE)
		r->n_unmatched++;
	return was == STATE_LIVES ? resources_freed(r, &block) : 0;
}

/* Makes a new thing. The new thing replaces an old one whose release was missed. */
static struct thing *resources_make_thing(struct resources *r, enum resource resource, uint64_t id,
					  uint64_t size)
{
	const struct rec_resource *rec = r->call;
	struct thing *thing = resources_entry(r, resource, id);

	if (!thing)
		return NULL;
	resources_end(r, resource, thing, rec->head.ts_ns);
	thing->size = size;
	thing->state = STATE_LIVES;
	thing->cloexec = false;
	thing->text[0] = '\0';
	thing->origin = (struct origin){
		.since_ns = rec->head.ts_ns,
		.stack = rec->stack,
		.tid = rec->head.tid,
		.operation = rec->operation,
		.context = rec->context,
	};
	return thing;
}

int resources_write(struct resources *r, enum resource resource, const struct thing *thing)
{
	const struct resource_block block = resources_block_of(resource, thing);

	return resources_made(r, &block);
}

void resources_resize(struct resources *r, enum resource resource, struct thing *thing,
		      uint64_t size, uint64_t ts_ns)
{
	r->remade = true;
	resources_end(r, resource, thing, ts_ns);
	thing->state = STATE_LIVES;
	thing->size = size;
	resources_write(r, resource, thing);
	r->remade = false;
}

static void resources_lose(struct resources *r, enum resource resource, uint64_t id)
{
	struct thing *thing = resources_find(r, resource, id);

	if (thing && thing->state != STATE_GONE)
		resources_end(r, resource, thing, r->call->head.ts_ns);
}

/* ---- descriptors ---- */

static const char *resources_shm_name(const char *path)
{
	const size_t n = strlen(RESOURCE_SHM_DIRECTORY);

	return strncmp(path, RESOURCE_SHM_DIRECTORY, n) == 0 ? path + n : NULL;
}

uint64_t resources_shm_id(const char *name)
{
	uint64_t id = table_hash(name, strlen(name));

	return id == UINT64_MAX ? 1 : id;
}

static void resources_describe_fd(const struct resources *r, struct thing *thing)
{
	const struct rec_resource *rec = r->call;
	const char *kind = descriptor_call_kind(rec->operation);
	const struct thing *of;

	if (descriptor_call_copies(rec->operation)) {
		of = resources_find(r, RESOURCE_FD, (uint32_t)rec->args[0]);
		snprintf(thing->text, sizeof(thing->text), "%s", of ? of->text : "");
	} else if (rec->operation == RESOURCE_OP_MEMFD_CREATE) {
		snprintf(thing->text, sizeof(thing->text), "memfd:%s", rec->text);
	} else {
		snprintf(thing->text, sizeof(thing->text), "%s", kind ? kind : rec->text);
	}
}

static int resources_make_fd(struct resources *r, int64_t fd)
{
	struct thing *thing;

	if (fd < 0 || fd > INT32_MAX)
		return 0;
	thing = resources_make_thing(r, RESOURCE_FD, (uint64_t)fd, 1);
	if (!thing)
		return 0;
	resources_describe_fd(r, thing);
	thing->cloexec = descriptor_call_is_cloexec(r->call);
	return resources_write(r, RESOURCE_FD, thing);
}

/* Called when a path below RESOURCE_SHM_DIRECTORY was opened, which may have made an object. */
static void resources_open_shm(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	const char *name = resources_shm_name(rec->text);
	uint64_t flags = rec->operation == RESOURCE_OP_OPEN    ? rec->args[1]
			 : rec->operation == RESOURCE_OP_CREAT ? O_CREAT
							       : rec->args[2];
	struct thing *thing;

	if (!name || !*name || !(flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
		return;
	thing = resources_find(r, RESOURCE_SHM, resources_shm_id(name));
	if (thing && thing->state != STATE_GONE)
		return;
	thing = resources_make_thing(r, RESOURCE_SHM, resources_shm_id(name), 0);
	if (!thing)
		return;
	snprintf(thing->text, sizeof(thing->text), "%s", name);
	resources_write(r, RESOURCE_SHM, thing);
}

static void resources_unlink_shm(struct resources *r)
{
	const char *name = resources_shm_name(r->call->text);

	if (name)
		resources_lose(r, RESOURCE_SHM, resources_shm_id(name));
}

/* Called when the size of an object is set through one of its descriptors. */
static void resources_truncate_shm(struct resources *r)
{
	const struct thing *fd = resources_find(r, RESOURCE_FD, (uint32_t)r->call->args[0]);
	const char *name = thing_lives(fd) ? resources_shm_name(fd->text) : NULL;
	struct thing *shm = name ? resources_find(r, RESOURCE_SHM, resources_shm_id(name)) : NULL;

	if (!thing_lives(shm))
		return;
	resources_resize(r, RESOURCE_SHM, shm, r->call->args[1], r->call->head.ts_ns);
}

static void resources_close_range_of(struct resources *r, uint64_t first, uint64_t last,
				     uint64_t flags)
{
	struct thing *thing;

	for (size_t pos = 0; (thing = table_next(&r->things[RESOURCE_FD], &pos));) {
		if (thing->id < first || thing->id > last || thing->state == STATE_GONE)
			continue;
		if (flags & CLOSE_RANGE_IS_CLOEXEC)
			thing->cloexec = true;
		else
			resources_end(r, RESOURCE_FD, thing, r->call->head.ts_ns);
	}
}

static int resources_receive_fds(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	int32_t fds[RESOURCE_FDS_MAX];
	uint64_t n = rec->args[0];
	int error = 0;

	if (n > RESOURCE_FDS_MAX)
		return 0;
	memcpy(fds, rec->text, sizeof(fds));
	for (uint64_t i = 0; error == 0 && i < n; i++)
		error = resources_make_fd(r, fds[i]);
	return error;
}

/* ---- mappings ---- */

static void resources_mapping_changed(const struct range *range, bool is_made, void *userdata)
{
	struct resources *r = userdata;
	const struct resource_block block = {
		.resource = RESOURCE_MAPPING,
		.id = range->start,
		.size = range->end - range->start,
		.origin = range->origin,
		.text = range->text,
	};

	if (is_made)
		resources_made(r, &block);
	else
		resources_freed(r, &block);
}

static uint64_t resources_whole_pages(const struct resources *r, uint64_t bytes)
{
	uint64_t pages = bytes / r->page_bytes + (bytes % r->page_bytes != 0);

	return pages * r->page_bytes;
}

int resources_unmap(struct resources *r, uint64_t start, uint64_t end, uint64_t until_ns)
{
	const struct ranges_sink sink = { resources_mapping_changed, r };
	int error;

	r->remade = true;
	error = ranges_remove(&r->mappings, start, end, until_ns, &sink);
	r->remade = false;
	return error;
}

static int resources_unmap_event(struct resources *r, uint64_t start, uint64_t bytes)
{
	return resources_is_range(start, bytes)
		       ? resources_unmap(r, start, start + bytes, UINT64_MAX)
		       : 0;
}

static int resources_map(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	const struct ranges_sink sink = { resources_mapping_changed, r };
	uint64_t start = (uint64_t)rec->result, bytes = resources_whole_pages(r, rec->args[0]);
	const struct thing *fd = resources_find(r, RESOURCE_FD, (uint32_t)rec->args[2]);
	struct range range = {
		.start = start,
		.end = start + bytes,
		.origin = {
			.since_ns = rec->head.ts_ns,
			.stack = rec->stack,
			.tid = rec->head.tid,
			.operation = rec->operation,
			.context = rec->context,
		},
	};
	int error = resources_unmap_event(r, start, bytes);

	if (error < 0 || rec->args[3] || !resources_is_range(start, bytes))
		return error;
	if (!(rec->args[1] & MAP_ANONYMOUS) && thing_lives(fd))
		snprintf(range.text, sizeof(range.text), "%.*s", RANGE_TEXT_BYTES - 1, fd->text);
	return ranges_add(&r->mappings, &range, &sink);
}

static int resources_munmap_all(struct resources *r)
{
	uint64_t start = r->call->args[0], bytes = r->call->args[1];
	struct thing *thing;

	if (start % r->page_bytes || !resources_is_range(start, bytes))
		return 0;
	bytes = resources_whole_pages(r, bytes);
	for (size_t pos = 0; (thing = table_next(&r->things[RESOURCE_ATTACHMENT], &pos));)
		if (thing_lives(thing) && thing->id >= start && thing->id - start < bytes)
			resources_end(r, RESOURCE_ATTACHMENT, thing, r->call->head.ts_ns);
	return resources_unmap_event(r, start, bytes);
}

static int resources_begin_move(struct resources *r)
{
	uint64_t key = (uint64_t)r->call->head.tid + 1;
	struct move *move = table_get(&r->moves, key);

	if (!move && r->moves.n_used >= RESOURCES_MAX)
		return 0;
	move = table_make(&r->moves, key, sizeof(*move));
	if (!move)
		return -ENOMEM;
	move->begun_ns = r->call->head.ts_ns;
	return 0;
}

static int resources_move_mapping(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	struct move *begun = table_remove(&r->moves, (uint64_t)rec->head.tid + 1);
	const struct ranges_sink sink = { resources_mapping_changed, r };
	const struct ranges_move move = {
		.from = rec->args[0],
		.bytes = resources_whole_pages(r, rec->args[1]),
		.to = (uint64_t)rec->result,
		.new_bytes = resources_whole_pages(r, rec->args[2]),
		.begun_ns = begun ? begun->begun_ns : rec->head.ts_ns,
		.keep = rec->args[3] & MREMAP_KEEPS_OLD,
	};
	int error;

	free(begun);
	if (!resources_is_range(move.from, move.bytes ? move.bytes : 1) ||
	    !resources_is_range(move.to, move.new_bytes))
		return 0;
	r->remade = !move.keep && move.bytes;
	error = ranges_move(&r->mappings, &move, &sink);
	r->remade = false;
	return error;
}

/* ---- System V shared memory ---- */

static void resources_get_segment(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	uint64_t id = (uint32_t)rec->result;
	struct thing *thing = resources_find(r, RESOURCE_SEGMENT, id);

	if ((thing && thing->state != STATE_GONE) ||
	    ((uint32_t)rec->args[0] != IPC_PRIVATE && !(rec->args[2] & IPC_CREAT)))
		return;
	thing = resources_make_thing(r, RESOURCE_SEGMENT, id, rec->args[1]);
	if (!thing)
		return;
	if ((uint32_t)rec->args[0] != IPC_PRIVATE)
		snprintf(thing->text, sizeof(thing->text), "key 0x%08x", (uint32_t)rec->args[0]);
	resources_write(r, RESOURCE_SEGMENT, thing);
}

static void resources_attach(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	const struct thing *segment = resources_find(r, RESOURCE_SEGMENT, (uint32_t)rec->args[0]);
	struct thing *thing = resources_make_thing(r, RESOURCE_ATTACHMENT, (uint64_t)rec->result,
						   segment ? segment->size : 0);

	if (!thing)
		return;
	snprintf(thing->text, sizeof(thing->text), "segment %u", (uint32_t)rec->args[0]);
	resources_write(r, RESOURCE_ATTACHMENT, thing);
}

/* ---- calls ---- */

static int resources_on_thread_left(const struct resource_block *block, bool is_left,
				    void *userdata)
{
	return is_left ? resources_made(userdata, block) : resources_freed(userdata, block);
}

static int resources_on_call(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	struct thing *thing;

	switch (rec->operation) {
	case RESOURCE_OP_OPEN:
	case RESOURCE_OP_OPENAT:
	case RESOURCE_OP_OPENAT2:
	case RESOURCE_OP_CREAT:
		resources_open_shm(r);
		return resources_make_fd(r, rec->result);
	case RESOURCE_OP_PIPE:
	case RESOURCE_OP_PIPE2:
	case RESOURCE_OP_SOCKETPAIR:
		resources_make_fd(r, (int64_t)rec->args[0]);
		return resources_make_fd(r, (int64_t)rec->args[1]);
	case RESOURCE_OP_RECVMSG:
	case RESOURCE_OP_RECVMMSG:
		return resources_receive_fds(r);
	case RESOURCE_OP_IOCTL:
		return resources_make_fd(r, rec->result);
	case RESOURCE_OP_SETFD:
		thing = resources_find(r, RESOURCE_FD, (uint32_t)rec->args[0]);
		if (thing)
			thing->cloexec = rec->args[1];
		return 0;
	case RESOURCE_OP_CLOSE:
		resources_lose(r, RESOURCE_FD, (uint32_t)rec->args[0]);
		return 0;
	case RESOURCE_OP_CLOSE_RANGE:
		resources_close_range_of(r, (uint32_t)rec->args[0], (uint32_t)rec->args[1],
					 rec->args[2]);
		return 0;
	case RESOURCE_OP_MMAP:
		return resources_map(r);
	case RESOURCE_OP_MUNMAP:
		return resources_munmap_all(r);
	case RESOURCE_OP_MREMAP_BEGIN:
		return resources_begin_move(r);
	case RESOURCE_OP_MREMAP:
		return resources_move_mapping(r);
	case RESOURCE_OP_SHMGET:
		resources_get_segment(r);
		return 0;
	case RESOURCE_OP_SHMAT:
		resources_attach(r);
		return 0;
	case RESOURCE_OP_SHMDT:
		resources_lose(r, RESOURCE_ATTACHMENT, rec->args[0]);
		return 0;
	case RESOURCE_OP_SHMCTL:
		resources_lose(r, RESOURCE_SEGMENT, (uint32_t)rec->args[0]);
		return 0;
	case RESOURCE_OP_UNLINK:
	case RESOURCE_OP_UNLINKAT:
		resources_unlink_shm(r);
		return 0;
	case RESOURCE_OP_FTRUNCATE:
		resources_truncate_shm(r);
		return 0;
	case RESOURCE_OP_THREAD_FORK:
	case RESOURCE_OP_THREAD_CREATE:
	case RESOURCE_OP_THREAD_JOIN:
	case RESOURCE_OP_THREAD_DETACH:
	case RESOURCE_OP_THREAD_END:
		return thread_table_record(&r->threads, rec);
	default:
		return rec->operation > 0 && rec->operation <= RESOURCE_OP_FD_LAST
			       ? resources_make_fd(r, rec->result)
			       : 0;
	}
}

int resources_record(struct resources *r, const struct rec_resource *rec)
{
	int error;

	r->error = 0;
	r->call = rec;
	error = resources_on_call(r);
	r->call = NULL;
	return error < 0 ? error : r->error;
}

/* ---- live resources ---- */

/*
 * Returns true if FD is open on purpose: a standard descriptor that the program has replaced. At
 * exec, also true for each standard descriptor, and for descriptors that exec closes.
 */
static bool resources_is_meant(const struct thing *fd, bool execed)
{
	bool standard = fd->id <= STDERR_FILENO;

	if (execed)
		return standard || fd->cloexec;
	return standard && (fd->origin.operation == RESOURCE_OP_DUP2 ||
			    fd->origin.operation == RESOURCE_OP_DUP3);
}

static int resources_each_thing(struct resources *r, bool execed, resources_block_fn fn,
				void *userdata)
{
	struct resource_block block;
	const struct thing *thing;
	int error = 0;

	for (enum resource i = 0; i < RESOURCE_MAX; i++)
		for (size_t pos = 0; error == 0 && (thing = table_next(&r->things[i], &pos));) {
			if (!thing_lives(thing) ||
			    (i == RESOURCE_FD && resources_is_meant(thing, execed)))
				continue;
			block = resources_block_of(i, thing);
			error = fn(&block, userdata);
		}
	return error;
}

int resources_each(struct resources *r, bool execed, resources_block_fn fn, void *userdata)
{
	int error = resources_each_thing(r, execed, fn, userdata);
	struct resource_block block;

	for (size_t i = 0; error == 0 && i < r->mappings.n; i++) {
		const struct range *range = &r->mappings.list[i];

		block = (struct resource_block){
			.resource = RESOURCE_MAPPING,
			.id = range->start,
			.size = range->end - range->start,
			.origin = range->origin,
			.text = range->text,
		};
		error = fn(&block, userdata);
	}
	return error == 0 ? thread_table_each(&r->threads, fn, userdata) : error;
}

uint64_t resources_full(const struct resources *r)
{
	return r->n_full + r->threads.n_full + r->mappings.n_full;
}

uint64_t resources_unmatched(const struct resources *r)
{
	return r->n_unmatched + r->threads.n_unmatched;
}

/* ---- new and free ---- */

int resources_new(const struct resources_sink *sink, struct resources **ret)
{
	struct resources *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	if (sink)
		r->sink = *sink;
	r->mappings.n_max = r->listed.n_max = RESOURCES_MAX;
	r->page_bytes = (uint64_t)getpagesize();
	r->threads.left = resources_on_thread_left;
	r->threads.userdata = r;
	*ret = r;
	return 0;
}

struct resources *resources_free(struct resources *r)
{
	if (!r)
		return NULL;
	for (enum resource i = 0; i < RESOURCE_MAX; i++)
		table_deinit_free(&r->things[i]);
	thread_table_deinit(&r->threads);
	table_deinit_free(&r->moves);
	table_deinit_free(&r->sums);
	ranges_deinit(&r->mappings);
	ranges_deinit(&r->listed);
	return free_ptr(r);
}

const char *resources_of_categories(uint32_t categories, char *to, size_t size)
{
	static const struct {
		uint32_t category;
		enum resource resource;
	} rows[] = {
		{ CATEGORY_MEMORY, RESOURCE_MEMORY },  { CATEGORY_FD, RESOURCE_FD },
		{ CATEGORY_SHM, RESOURCE_MAPPING },    { CATEGORY_SHM, RESOURCE_SEGMENT },
		{ CATEGORY_SHM, RESOURCE_ATTACHMENT }, { CATEGORY_SHM, RESOURCE_SHM },
		{ CATEGORY_THREADS, RESOURCE_THREAD },
	};
	size_t used = 0;

	*to = '\0';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (categories & rows[i].category)
			used += (size_t)snprintf(to + used, size - used, "%s%s", used ? "," : "",
						 resource_names[rows[i].resource]);
	return to;
}
