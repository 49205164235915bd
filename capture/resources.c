/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/resources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/table.h"

/* Those of which neither is younger than the kernel's interface. */
#define MREMAP_KEEPS_OLD       4 /* MREMAP_DONTUNMAP */
#define CLOSE_RANGE_IS_CLOEXEC 4 /* CLOSE_RANGE_CLOEXEC */
#define FD_KIND_CLOEXEC        1 /* MFD_CLOEXEC, FAN_CLOEXEC, FSOPEN_CLOEXEC, ... */

enum state {
	STATE_LIVES,
	STATE_GONE,   /* since gone_ns */
	STATE_BEFORE, /* it was there before the watch, or somebody else made it */
};

/* What has a number or an address of its own. */
struct thing {
	uint64_t id, size;
	uint64_t gone_ns;
	struct origin origin;
	enum state state;
	bool cloexec;
	bool listed; /* by the list that is being read */
	char text[MEMORY_BLOCK_TEXT_BYTES];
};

struct thread {
	uint64_t handle; /* pthread_t; 0 = not known yet */
	uint32_t tid;    /* 0 = not known, or given out again */
	bool ended, detached;
	struct origin origin;
};

struct resources {
	struct resources_sink sink;
	struct table things[RESOURCE_MAX]; /* id + 1 -> struct thing, owned; of fd, segment, ... */
	struct ranges mappings;
	struct ranges listed;   /* mappings that the list that is being read has named */
	struct table by_handle; /* pthread_t -> struct thread, owned */
	struct table
		by_tid; /* tid -> the same, until the tid is free; those without handle: owned */
	struct table being_made;    /* tid of the maker + 1 -> the same */
	struct table moves;         /* tid + 1 -> struct move, owned: a mremap() that has begun */
	struct table sums;          /* hash -> struct resource_sums, owned */
	struct rec_listing listing; /* its beginning, while one is being read */
	const struct rec_resource *call; /* that is being looked at */
	bool remade;                     /* what is made now was there: it is no other allocation */
	uint64_t n_full, n_unmatched;
	uint64_t page_bytes;
	int error;
};

struct move {
	uint64_t begun_ns;
};

/* ---- what a call that makes descriptors says ---- */

struct maker {
	int8_t cloexec_arg; /* which argument has the flag; -1: it is always set */
	uint32_t cloexec_flag;
	const char *kind;
};

static const struct maker makers[RESOURCE_OP_MAX] = {
	[RESOURCE_OP_OPEN] = { 1, O_CLOEXEC, NULL },
	[RESOURCE_OP_OPENAT] = { 2, O_CLOEXEC, NULL },
	[RESOURCE_OP_OPENAT2] = { 2, O_CLOEXEC, NULL },
	[RESOURCE_OP_SOCKET] = { 1, O_CLOEXEC, "socket" },
	[RESOURCE_OP_SOCKETPAIR] = { 2, O_CLOEXEC, "socket" },
	[RESOURCE_OP_ACCEPT] = { 0, 0, "socket" },
	[RESOURCE_OP_ACCEPT4] = { 3, O_CLOEXEC, "socket" },
	[RESOURCE_OP_PIPE] = { 0, 0, "pipe" },
	[RESOURCE_OP_PIPE2] = { 2, O_CLOEXEC, "pipe" },
	[RESOURCE_OP_DUP3] = { 2, O_CLOEXEC, NULL },
	[RESOURCE_OP_EPOLL_CREATE] = { 0, 0, "eventpoll" },
	[RESOURCE_OP_EPOLL_CREATE1] = { 0, O_CLOEXEC, "eventpoll" },
	[RESOURCE_OP_EVENTFD] = { 0, 0, "eventfd" },
	[RESOURCE_OP_EVENTFD2] = { 1, O_CLOEXEC, "eventfd" },
	[RESOURCE_OP_SIGNALFD] = { 0, 0, "signalfd" },
	[RESOURCE_OP_SIGNALFD4] = { 3, O_CLOEXEC, "signalfd" },
	[RESOURCE_OP_TIMERFD_CREATE] = { 1, O_CLOEXEC, "timerfd" },
	[RESOURCE_OP_INOTIFY_INIT] = { 0, 0, "inotify" },
	[RESOURCE_OP_INOTIFY_INIT1] = { 0, O_CLOEXEC, "inotify" },
	[RESOURCE_OP_MEMFD_CREATE] = { 1, FD_KIND_CLOEXEC, "memfd" },
	[RESOURCE_OP_USERFAULTFD] = { 0, O_CLOEXEC, "userfaultfd" },
	[RESOURCE_OP_PERF_EVENT_OPEN] = { 0, 0, "perf_event" },
	[RESOURCE_OP_BPF] = { -1, 0, "bpf" },
	[RESOURCE_OP_IO_URING_SETUP] = { -1, 0, "io_uring" },
	[RESOURCE_OP_PIDFD_OPEN] = { -1, 0, "pidfd" },
	[RESOURCE_OP_PIDFD_GETFD] = { -1, 0, "of another process" },
	[RESOURCE_OP_MEMFD_SECRET] = { 0, O_CLOEXEC, "secretmem" },
	[RESOURCE_OP_FANOTIFY_INIT] = { 0, FD_KIND_CLOEXEC, "fanotify" },
	[RESOURCE_OP_MQ_OPEN] = { -1, 0, NULL },
	[RESOURCE_OP_LANDLOCK] = { -1, 0, "landlock" },
	[RESOURCE_OP_OPEN_BY_HANDLE_AT] = { 2, O_CLOEXEC, "file" },
	[RESOURCE_OP_FSOPEN] = { 1, FD_KIND_CLOEXEC, "fscontext" },
	[RESOURCE_OP_FSPICK] = { 2, FD_KIND_CLOEXEC, "fscontext" },
	[RESOURCE_OP_FSMOUNT] = { 1, FD_KIND_CLOEXEC, "mount" },
	[RESOURCE_OP_OPEN_TREE] = { 2, O_CLOEXEC, "mount" },
	[RESOURCE_OP_SECCOMP] = { -1, 0, "seccomp" },
	[RESOURCE_OP_RECVMSG] = { 1, 1, "by a message" },
	[RESOURCE_OP_RECVMMSG] = { 1, 1, "by a message" },
};

static bool is_copy(uint32_t operation)
{
	return operation == RESOURCE_OP_DUP || operation == RESOURCE_OP_DUP2 ||
	       operation == RESOURCE_OP_DUP3 || operation == RESOURCE_OP_FCNTL;
}

static bool is_cloexec(const struct rec_resource *rec)
{
	const struct maker *maker = &makers[rec->operation];

	if (rec->operation == RESOURCE_OP_FCNTL)
		return rec->args[1] == F_DUPFD_CLOEXEC;
	return maker->cloexec_arg < 0 || rec->args[maker->cloexec_arg] & maker->cloexec_flag;
}

/* ---- sums ---- */

struct sums_key {
	uint64_t stack, resource;
};

static struct resource_sums *sums_of(struct resources *r, enum resource resource, uint64_t stack)
{
	const struct sums_key key = { stack, resource };
	uint64_t hash = table_hash(&key, sizeof(key));
	struct resource_sums *sums = table_get(&r->sums, hash);

	if (sums)
		return sums;
	if (r->sums.n_used >= RESOURCES_MAX)
		return NULL;
	sums = calloc(1, sizeof(*sums));
	if (!sums || table_set(&r->sums, hash, sums) < 0) {
		free(sums);
		return NULL;
	}
	sums->resource = resource;
	sums->stack = stack;
	return sums;
}

struct resource_sums *resources_next_sums(const struct resources *r, size_t *pos)
{
	return table_next(&r->sums, pos);
}

static int fail(struct resources *r, int error)
{
	if (r->error == 0)
		r->error = error;
	return error;
}

static int made(struct resources *r, const struct resource_block *block)
{
	struct resource_sums *sums = sums_of(r, block->resource, block->origin.stack);

	if (!sums)
		return fail(r, -ENOMEM);
	sums->blocks++;
	sums->bytes += block->size;
	if (!r->remade) {
		sums->allocations++;
		sums->allocated_bytes += block->size;
	}
	sums->changed = true;
	return r->sink.made ? fail(r, r->sink.made(block, r->call, r->sink.userdata)) : 0;
}

static int freed(struct resources *r, const struct resource_block *block)
{
	struct resource_sums *sums = sums_of(r, block->resource, block->origin.stack);

	if (!sums)
		return fail(r, -ENOMEM);
	sums->blocks -= sums->blocks > 0;
	sums->bytes -= sums->bytes < block->size ? sums->bytes : block->size;
	sums->changed = true;
	return r->sink.freed ? fail(r, r->sink.freed(block, r->call, r->sink.userdata)) : 0;
}

/* ---- things ---- */

static struct resource_block block_of(enum resource resource, const struct thing *thing)
{
	return (struct resource_block){
		.resource = resource,
		.id = thing->id,
		.size = thing->size,
		.origin = thing->origin,
		.text = thing->text,
	};
}

static struct thing *find(const struct resources *r, enum resource resource, uint64_t id)
{
	return id == UINT64_MAX ? NULL : table_get(&r->things[resource], id + 1);
}

static bool lives(const struct thing *thing)
{
	return thing && thing->state == STATE_LIVES;
}

/* Makes room by forgetting what is gone. */
static void forget_gone(struct resources *r, enum resource resource)
{
	struct table left = { 0 };
	struct thing *thing;
	size_t pos = 0;

	while ((thing = table_next(&r->things[resource], &pos)))
		if (thing->state != STATE_GONE && table_set(&left, thing->id + 1, thing) < 0) {
			table_deinit(&left);
			return;
		}
	pos = 0;
	while ((thing = table_next(&r->things[resource], &pos)))
		if (thing->state == STATE_GONE)
			free(thing);
	table_deinit(&r->things[resource]);
	r->things[resource] = left;
}

/* The entry of ID, made if there is none; NULL without room, counted. */
static struct thing *entry(struct resources *r, enum resource resource, uint64_t id)
{
	struct thing *thing = find(r, resource, id);

	if (thing || id == UINT64_MAX)
		return thing;
	if (r->things[resource].n_used >= RESOURCES_MAX)
		forget_gone(r, resource);
	thing = r->things[resource].n_used < RESOURCES_MAX ? calloc(1, sizeof(*thing)) : NULL;
	if (!thing || table_set(&r->things[resource], id + 1, thing) < 0) {
		free(thing);
		r->n_full++;
		return NULL;
	}
	thing->id = id;
	thing->state = STATE_GONE;
	return thing;
}

static int end_thing(struct resources *r, enum resource resource, struct thing *thing,
		     uint64_t ts_ns)
{
	const struct resource_block block = block_of(resource, thing);
	enum state was = thing->state;

	thing->state = STATE_GONE;
	thing->gone_ns = ts_ns;
	if (was == STATE_BEFORE)
		r->n_unmatched++;
	return was == STATE_LIVES ? freed(r, &block) : 0;
}

/* Something new, in the place of what was there, if we have not seen that go. */
static struct thing *make_thing(struct resources *r, enum resource resource, uint64_t id,
				uint64_t size)
{
	const struct rec_resource *rec = r->call;
	struct thing *thing = entry(r, resource, id);

	if (!thing)
		return NULL;
	end_thing(r, resource, thing, rec->head.ts_ns);
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

static int say_thing(struct resources *r, enum resource resource, const struct thing *thing)
{
	const struct resource_block block = block_of(resource, thing);

	return made(r, &block);
}

static void lose(struct resources *r, enum resource resource, uint64_t id)
{
	struct thing *thing = find(r, resource, id);

	if (thing && thing->state != STATE_GONE)
		end_thing(r, resource, thing, r->call->head.ts_ns);
}

/* ---- descriptors ---- */

static const char *shm_name(const char *path)
{
	const size_t n = strlen(RESOURCE_SHM_FOLDER);

	return strncmp(path, RESOURCE_SHM_FOLDER, n) == 0 ? path + n : NULL;
}

static uint64_t shm_id(const char *name)
{
	uint64_t id = table_hash(name, strlen(name));

	return id == UINT64_MAX ? 1 : id;
}

static void describe_fd(const struct resources *r, struct thing *thing)
{
	const struct rec_resource *rec = r->call;
	const char *kind = makers[rec->operation].kind;
	const struct thing *of;

	if (is_copy(rec->operation)) {
		of = find(r, RESOURCE_FD, (uint32_t)rec->args[0]);
		snprintf(thing->text, sizeof(thing->text), "%s", of ? of->text : "");
	} else if (rec->operation == RESOURCE_OP_MEMFD_CREATE) {
		snprintf(thing->text, sizeof(thing->text), "memfd:%s", rec->text);
	} else {
		snprintf(thing->text, sizeof(thing->text), "%s", kind ? kind : rec->text);
	}
}

static int make_fd(struct resources *r, int64_t fd)
{
	struct thing *thing;

	if (fd < 0 || fd > INT32_MAX)
		return 0;
	thing = make_thing(r, RESOURCE_FD, (uint64_t)fd, 1);
	if (!thing)
		return 0;
	describe_fd(r, thing);
	thing->cloexec = is_cloexec(r->call);
	return say_thing(r, RESOURCE_FD, thing);
}

/* A path below RESOURCE_SHM_FOLDER was opened: an object, if that has made it. */
static void open_shm(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	const char *name = shm_name(rec->text);
	uint64_t flags = rec->operation == RESOURCE_OP_OPEN    ? rec->args[1]
			 : rec->operation == RESOURCE_OP_CREAT ? O_CREAT
							       : rec->args[2];
	struct thing *thing;

	if (!name || !*name || !(flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE)
		return;
	thing = find(r, RESOURCE_SHM, shm_id(name));
	if (thing && thing->state != STATE_GONE)
		return;
	thing = make_thing(r, RESOURCE_SHM, shm_id(name), 0);
	if (!thing)
		return;
	snprintf(thing->text, sizeof(thing->text), "%s", name);
	say_thing(r, RESOURCE_SHM, thing);
}

static void unlink_shm(struct resources *r)
{
	const char *name = shm_name(r->call->text);

	if (name)
		lose(r, RESOURCE_SHM, shm_id(name));
}

/* The size of an object is set through a descriptor of it. */
static void truncate_shm(struct resources *r)
{
	const struct thing *fd = find(r, RESOURCE_FD, (uint32_t)r->call->args[0]);
	const char *name = lives(fd) ? shm_name(fd->text) : NULL;
	struct thing *shm = name ? find(r, RESOURCE_SHM, shm_id(name)) : NULL;

	if (!lives(shm))
		return;
	r->remade = true;
	end_thing(r, RESOURCE_SHM, shm, r->call->head.ts_ns);
	shm->state = STATE_LIVES;
	shm->size = r->call->args[1];
	say_thing(r, RESOURCE_SHM, shm);
	r->remade = false;
}

static void close_range_of(struct resources *r, uint64_t first, uint64_t last, uint64_t flags)
{
	struct thing *thing;
	size_t pos = 0;

	while ((thing = table_next(&r->things[RESOURCE_FD], &pos))) {
		if (thing->id < first || thing->id > last || thing->state == STATE_GONE)
			continue;
		if (flags & CLOSE_RANGE_IS_CLOEXEC)
			thing->cloexec = true;
		else
			end_thing(r, RESOURCE_FD, thing, r->call->head.ts_ns);
	}
}

static int receive_fds(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	int32_t fds[RESOURCE_FDS_MAX];
	uint64_t n = rec->args[0];
	int error = 0;

	if (n > RESOURCE_FDS_MAX)
		return 0;
	memcpy(fds, rec->text, sizeof(fds));
	for (uint64_t i = 0; error == 0 && i < n; i++)
		error = make_fd(r, fds[i]);
	return error;
}

/* ---- mappings ---- */

static void mapping_changed(const struct range *range, bool is_made, void *userdata)
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
		made(r, &block);
	else
		freed(r, &block);
}

static uint64_t whole_pages(const struct resources *r, uint64_t bytes)
{
	uint64_t pages = bytes / r->page_bytes + (bytes % r->page_bytes != 0);

	return pages * r->page_bytes;
}

/* Whether START with BYTES are addresses at all. */
static bool is_range(uint64_t start, uint64_t bytes)
{
	return bytes > 0 && start + bytes > start && bytes < UINT64_MAX / 2;
}

static int unmap(struct resources *r, uint64_t start, uint64_t bytes)
{
	const struct ranges_sink sink = { mapping_changed, r };
	int error;

	if (!is_range(start, bytes))
		return 0;
	r->remade = true;
	error = ranges_remove(&r->mappings, start, start + bytes, UINT64_MAX, &sink);
	r->remade = false;
	return error;
}

static int map(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	const struct ranges_sink sink = { mapping_changed, r };
	uint64_t start = (uint64_t)rec->result, bytes = whole_pages(r, rec->args[0]);
	const struct thing *fd = find(r, RESOURCE_FD, (uint32_t)rec->args[2]);
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
	int error = unmap(r, start, bytes);

	if (error < 0 || rec->args[3] || !is_range(start, bytes))
		return error;
	if (!(rec->args[1] & MAP_ANONYMOUS) && lives(fd))
		snprintf(range.text, sizeof(range.text), "%.*s", RANGE_TEXT_BYTES - 1, fd->text);
	return ranges_add(&r->mappings, &range, &sink);
}

static int munmap_all(struct resources *r)
{
	uint64_t start = r->call->args[0], bytes = r->call->args[1];
	struct thing *thing;
	size_t pos = 0;

	if (start % r->page_bytes || !is_range(start, bytes))
		return 0;
	bytes = whole_pages(r, bytes);
	while ((thing = table_next(&r->things[RESOURCE_ATTACHMENT], &pos)))
		if (lives(thing) && thing->id >= start && thing->id - start < bytes)
			end_thing(r, RESOURCE_ATTACHMENT, thing, r->call->head.ts_ns);
	return unmap(r, start, bytes);
}

static int begin_move(struct resources *r)
{
	uint64_t key = (uint64_t)r->call->head.tid + 1;
	struct move *move = table_get(&r->moves, key);

	if (!move && r->moves.n_used < RESOURCES_MAX) {
		move = calloc(1, sizeof(*move));
		if (!move || table_set(&r->moves, key, move) < 0) {
			free(move);
			return -ENOMEM;
		}
	}
	if (move)
		move->begun_ns = r->call->head.ts_ns;
	return 0;
}

static int move_mapping(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	struct move *begun = table_remove(&r->moves, (uint64_t)rec->head.tid + 1);
	const struct ranges_sink sink = { mapping_changed, r };
	const struct ranges_move move = {
		.from = rec->args[0],
		.bytes = whole_pages(r, rec->args[1]),
		.to = (uint64_t)rec->result,
		.new_bytes = whole_pages(r, rec->args[2]),
		.begun_ns = begun ? begun->begun_ns : rec->head.ts_ns,
		.keep = rec->args[3] & MREMAP_KEEPS_OLD,
	};
	int error;

	free(begun);
	if (!is_range(move.from, move.bytes ? move.bytes : 1) || !is_range(move.to, move.new_bytes))
		return 0;
	r->remade = !move.keep && move.bytes;
	error = ranges_move(&r->mappings, &move, &sink);
	r->remade = false;
	return error;
}

/* ---- System V shared memory ---- */

static void get_segment(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	uint64_t id = (uint32_t)rec->result;
	struct thing *thing = find(r, RESOURCE_SEGMENT, id);

	if ((thing && thing->state != STATE_GONE) ||
	    ((uint32_t)rec->args[0] != IPC_PRIVATE && !(rec->args[2] & IPC_CREAT)))
		return;
	thing = make_thing(r, RESOURCE_SEGMENT, id, rec->args[1]);
	if (!thing)
		return;
	if ((uint32_t)rec->args[0] != IPC_PRIVATE)
		snprintf(thing->text, sizeof(thing->text), "key 0x%08x", (uint32_t)rec->args[0]);
	say_thing(r, RESOURCE_SEGMENT, thing);
}

static void attach(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	const struct thing *segment = find(r, RESOURCE_SEGMENT, (uint32_t)rec->args[0]);
	struct thing *thing = make_thing(r, RESOURCE_ATTACHMENT, (uint64_t)rec->result,
					 segment ? segment->size : 0);

	if (!thing)
		return;
	snprintf(thing->text, sizeof(thing->text), "segment %u", (uint32_t)rec->args[0]);
	say_thing(r, RESOURCE_ATTACHMENT, thing);
}

/* ---- threads ---- */

static struct resource_block thread_block(const struct thread *t)
{
	return (struct resource_block){
		.resource = RESOURCE_THREAD,
		.id = t->handle,
		.origin = t->origin,
		.text = "",
	};
}

/* It has ended, and now somebody has to join it. */
static bool is_left(const struct thread *t)
{
	return t->handle && t->ended && !t->detached;
}

static int say_if_left(struct resources *r, const struct thread *t)
{
	const struct resource_block block = thread_block(t);

	return is_left(t) ? made(r, &block) : 0;
}

static void forget_tid(struct resources *r, struct thread *t)
{
	if (t->tid && table_get(&r->by_tid, t->tid) == t)
		table_remove(&r->by_tid, t->tid);
	t->tid = 0;
}

static int forget_thread(struct resources *r, struct thread *t)
{
	const struct resource_block block = thread_block(t);
	int error = is_left(t) ? freed(r, &block) : 0;

	forget_tid(r, t);
	if (t->handle)
		table_remove(&r->by_handle, t->handle);
	free(t);
	return error;
}

/* One that never got a handle: pthread_create() has failed behind the fork, or was not seen to return. */
static void forget_unfinished(struct resources *r, uint32_t maker_tid)
{
	struct thread *t = table_remove(&r->being_made, (uint64_t)maker_tid + 1);

	if (t && !t->handle)
		forget_thread(r, t);
}

static int fork_thread(struct resources *r)
{
	uint32_t maker = r->call->head.tid, tid = (uint32_t)r->call->args[0];
	struct thread *t, *other;

	forget_unfinished(r, maker);
	if (tid == 0)
		return 0;
	other = table_get(&r->by_tid, tid);
	if (other && !other->handle)
		return 0;
	if (other)
		forget_tid(r, other);
	if (r->by_tid.n_used >= RESOURCES_MAX) {
		r->n_full++;
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t || table_set(&r->by_tid, tid, t) < 0) {
		free(t);
		return -ENOMEM;
	}
	t->tid = tid;
	if (table_set(&r->being_made, (uint64_t)maker + 1, t) < 0)
		return forget_thread(r, t), -ENOMEM;
	return 0;
}

/* Whether attributes say that a thread is made detached; WORDS are their first, second and fourth. */
static bool says_detached(const __u64 words[3])
{
	/* musl's begin with the size of the stack, glibc's with a priority; and then a policy */
	bool is_musl = (uint32_t)words[0] > 1000;

	return is_musl ? (uint32_t)words[2] != 0 : words[1] & 1;
}

static int create_thread(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	struct thread *t = table_remove(&r->being_made, (uint64_t)rec->head.tid + 1);
	struct thread *other = table_get(&r->by_handle, rec->args[0]);
	int error = 0;

	if (!t || rec->args[0] == 0)
		return t ? forget_thread(r, t) : 0;
	if (other)
		error = forget_thread(r, other);
	t->detached |= says_detached(&rec->args[1]);
	if (error < 0 || t->detached || r->by_handle.n_used >= RESOURCES_MAX) {
		r->n_full += !t->detached;
		return forget_thread(r, t);
	}
	if (table_set(&r->by_handle, rec->args[0], t) < 0)
		return forget_thread(r, t), -ENOMEM;
	t->handle = rec->args[0];
	t->origin = (struct origin){
		.since_ns = rec->head.ts_ns,
		.stack = rec->stack,
		.tid = rec->head.tid,
		.operation = rec->operation,
		.context = rec->context,
	};
	return say_if_left(r, t);
}

static int end_thread(struct resources *r)
{
	struct thread *t;

	forget_unfinished(r, r->call->head.tid);
	t = table_get(&r->by_tid, r->call->head.tid);
	if (!t || t->ended)
		return 0;
	t->ended = true;
	if (!t->handle)
		return 0;
	/* Its number may be given out again. */
	forget_tid(r, t);
	return say_if_left(r, t);
}

static int release_thread(struct resources *r)
{
	struct thread *t = table_get(&r->by_handle, r->call->args[0]), *self;

	if (t)
		return forget_thread(r, t);
	self = table_get(&r->by_tid, r->call->head.tid);
	/* It detaches itself before its maker has returned. */
	if (self && !self->handle && r->call->operation == RESOURCE_OP_THREAD_DETACH)
		self->detached = true;
	else
		r->n_unmatched++;
	return 0;
}

/* ---- calls ---- */

static int on_call(struct resources *r)
{
	const struct rec_resource *rec = r->call;
	struct thing *thing;

	switch (rec->operation) {
	case RESOURCE_OP_OPEN:
	case RESOURCE_OP_OPENAT:
	case RESOURCE_OP_OPENAT2:
	case RESOURCE_OP_CREAT:
		open_shm(r);
		return make_fd(r, rec->result);
	case RESOURCE_OP_PIPE:
	case RESOURCE_OP_PIPE2:
	case RESOURCE_OP_SOCKETPAIR:
		make_fd(r, (int64_t)rec->args[0]);
		return make_fd(r, (int64_t)rec->args[1]);
	case RESOURCE_OP_RECVMSG:
	case RESOURCE_OP_RECVMMSG:
		return receive_fds(r);
	case RESOURCE_OP_SETFD:
		thing = find(r, RESOURCE_FD, (uint32_t)rec->args[0]);
		if (thing)
			thing->cloexec = rec->args[1];
		return 0;
	case RESOURCE_OP_CLOSE:
		lose(r, RESOURCE_FD, (uint32_t)rec->args[0]);
		return 0;
	case RESOURCE_OP_CLOSE_RANGE:
		close_range_of(r, (uint32_t)rec->args[0], (uint32_t)rec->args[1], rec->args[2]);
		return 0;
	case RESOURCE_OP_MMAP:
		return map(r);
	case RESOURCE_OP_MUNMAP:
		return munmap_all(r);
	case RESOURCE_OP_MREMAP_BEGIN:
		return begin_move(r);
	case RESOURCE_OP_MREMAP:
		return move_mapping(r);
	case RESOURCE_OP_SHMGET:
		get_segment(r);
		return 0;
	case RESOURCE_OP_SHMAT:
		attach(r);
		return 0;
	case RESOURCE_OP_SHMDT:
		lose(r, RESOURCE_ATTACHMENT, rec->args[0]);
		return 0;
	case RESOURCE_OP_SHMCTL:
		lose(r, RESOURCE_SEGMENT, (uint32_t)rec->args[0]);
		return 0;
	case RESOURCE_OP_UNLINK:
	case RESOURCE_OP_UNLINKAT:
		unlink_shm(r);
		return 0;
	case RESOURCE_OP_FTRUNCATE:
		truncate_shm(r);
		return 0;
	case RESOURCE_OP_THREAD_FORK:
		return fork_thread(r);
	case RESOURCE_OP_THREAD_CREATE:
		return create_thread(r);
	case RESOURCE_OP_THREAD_JOIN:
	case RESOURCE_OP_THREAD_DETACH:
		return release_thread(r);
	case RESOURCE_OP_THREAD_END:
		return end_thread(r);
	default:
		return rec->operation > 0 && rec->operation <= RESOURCE_OP_FD_LAST
			       ? make_fd(r, rec->result)
			       : 0;
	}
}

int resources_record(struct resources *r, const struct rec_resource *rec)
{
	int error;

	r->error = 0;
	r->call = rec;
	error = on_call(r);
	r->call = NULL;
	return error < 0 ? error : r->error;
}

/* ---- what the kernel lists ---- */

static bool is_listed(const struct resources *r, enum resource resource)
{
	return r->listing.resources >> resource & 1;
}

static void begin_listing(struct resources *r, const struct rec_listing *rec)
{
	struct thing *thing;

	r->listing = *rec;
	r->listed.n = 0;
	for (enum resource i = 0; i < RESOURCE_MAX; i++)
		for (size_t pos = 0; (thing = table_next(&r->things[i], &pos));)
			thing->listed = false;
}

/* What the books have from before the list was begun and the list has not, is gone. */
static void end_unlisted(struct resources *r, enum resource resource)
{
	struct thing *thing;
	size_t pos = 0;

	while ((thing = table_next(&r->things[resource], &pos)))
		if (!thing->listed && thing->state != STATE_GONE &&
		    thing->origin.since_ns < r->listing.head.ts_ns)
			end_thing(r, resource, thing, r->listing.head.ts_ns);
}

static int unmap_unlisted(struct resources *r)
{
	const struct ranges_sink sink = { mapping_changed, r };
	uint64_t begun_ns = r->listing.head.ts_ns, from = 0;
	int error = 0;

	r->remade = true;
	for (size_t i = 0; error == 0 && i <= r->listed.n; i++) {
		uint64_t to = i < r->listed.n ? r->listed.list[i].start : UINT64_MAX;

		error = ranges_remove(&r->mappings, from, to, begun_ns - 1, &sink);
		from = i < r->listed.n ? r->listed.list[i].end : UINT64_MAX;
	}
	r->remade = false;
	return error;
}

int resources_listing(struct resources *r, const struct rec_listing *rec)
{
	int error = 0;

	r->error = 0;
	if (!rec->ends) {
		begin_listing(r, rec);
		return 0;
	}
	for (enum resource i = 0; !r->listing.first && i < RESOURCE_MAX; i++)
		if (is_listed(r, i))
			end_unlisted(r, i);
	if (!r->listing.first && is_listed(r, RESOURCE_MAPPING))
		error = unmap_unlisted(r);
	r->listing = (struct rec_listing){ 0 };
	return error < 0 ? error : r->error;
}

/* A mapping: it lives, and what it is of is known. */
static int found_mapping(struct resources *r, const struct rec_found *rec)
{
	const struct range range = { .start = rec->id, .end = rec->id + rec->size };
	struct range *at = ranges_from(&r->mappings, range.start);

	if (!is_range(rec->id, rec->size))
		return 0;
	for (; at < r->mappings.list + r->mappings.n && at->start < range.end; at++)
		if (at->origin.since_ns < r->listing.head.ts_ns && rec->text[0])
			snprintf(at->text, sizeof(at->text), "%.*s", RANGE_TEXT_BYTES - 1,
				 rec->text);
	return ranges_add(&r->listed, &range, NULL);
}

/* It was there before, or is another's: none of ours. */
static int disown(struct resources *r, enum resource resource, struct thing *thing)
{
	int error = lives(thing) ? end_thing(r, resource, thing, r->listing.head.ts_ns) : 0;

	thing->state = STATE_BEFORE;
	return error;
}

static int found_known(struct resources *r, const struct rec_found *rec, struct thing *thing)
{
	enum resource resource = rec->resource;

	thing->listed = true;
	if (rec->foreign)
		return disown(r, resource, thing);
	if (thing->state != STATE_LIVES || thing->origin.since_ns >= r->listing.head.ts_ns)
		return 0;
	if (rec->text[0] && resource == RESOURCE_FD)
		snprintf(thing->text, sizeof(thing->text), "%s", rec->text);
	if (!rec->size || thing->size == rec->size)
		return 0;
	r->remade = true;
	end_thing(r, resource, thing, r->listing.head.ts_ns);
	thing->state = STATE_LIVES;
	thing->size = rec->size;
	say_thing(r, resource, thing);
	r->remade = false;
	return 0;
}

/* Nobody has said that it was made. */
static int found_unknown(struct resources *r, const struct rec_found *rec, uint64_t id)
{
	enum resource resource = rec->resource;
	struct thing *thing;

	/* What others may have made. */
	if (!r->listing.first && resource != RESOURCE_FD)
		return 0;
	thing = entry(r, resource, id);
	if (!thing)
		return 0;
	thing->listed = true;
	thing->size = rec->size;
	thing->origin = (struct origin){ .since_ns = r->listing.head.ts_ns };
	snprintf(thing->text, sizeof(thing->text), "%s", rec->text);
	thing->state = r->listing.first ? STATE_BEFORE : STATE_LIVES;
	return r->listing.first ? 0 : say_thing(r, resource, thing);
}

int resources_found(struct resources *r, const struct rec_found *rec)
{
	uint64_t id = rec->resource == RESOURCE_SHM ? shm_id(rec->text) : rec->id;
	struct thing *thing;
	int error;

	r->error = 0;
	if (rec->resource >= RESOURCE_MAX || !is_listed(r, rec->resource))
		return 0;
	if (rec->resource == RESOURCE_MAPPING)
		return found_mapping(r, rec);
	thing = find(r, rec->resource, id);
	/* It went after the list was begun, which may have seen it before. */
	if (thing && thing->state == STATE_GONE && thing->gone_ns >= r->listing.head.ts_ns)
		return 0;
	error = thing && thing->state != STATE_GONE ? found_known(r, rec, thing)
						    : found_unknown(r, rec, id);
	return error < 0 ? error : r->error;
}

/* ---- what lives ---- */

/* A standard one that the program has put in its place; and what exec passes on in good faith, or not. */
static bool is_meant(const struct thing *fd, bool execed)
{
	bool standard = fd->id <= STDERR_FILENO;

	if (execed)
		return standard || fd->cloexec;
	return standard && (fd->origin.operation == RESOURCE_OP_DUP2 ||
			    fd->origin.operation == RESOURCE_OP_DUP3);
}

static int each_thing(struct resources *r, bool execed, resources_block_fn fn, void *userdata)
{
	struct resource_block block;
	const struct thing *thing;
	int error = 0;

	for (enum resource i = 0; i < RESOURCE_MAX; i++)
		for (size_t pos = 0; error == 0 && (thing = table_next(&r->things[i], &pos));) {
			if (!lives(thing) || (i == RESOURCE_FD && is_meant(thing, execed)))
				continue;
			block = block_of(i, thing);
			error = fn(&block, userdata);
		}
	return error;
}

int resources_each(struct resources *r, bool execed, resources_block_fn fn, void *userdata)
{
	int error = each_thing(r, execed, fn, userdata);
	const struct thread *thread;
	struct resource_block block;
	size_t pos = 0;

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
	while (error == 0 && (thread = table_next(&r->by_handle, &pos))) {
		block = thread_block(thread);
		error = is_left(thread) ? fn(&block, userdata) : 0;
	}
	return error;
}

uint64_t resources_full(const struct resources *r)
{
	return r->n_full + r->mappings.n_full;
}

uint64_t resources_unmatched(const struct resources *r)
{
	return r->n_unmatched;
}

/* ---- life ---- */

int resources_new(const struct resources_sink *sink, struct resources **ret)
{
	struct resources *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	if (sink)
		r->sink = *sink;
	r->mappings.n_max = r->listed.n_max = RESOURCES_MAX;
	r->page_bytes = (uint64_t)getpagesize();
	*ret = r;
	return 0;
}

static void free_all(struct table *t)
{
	size_t pos = 0;
	void *p;

	while ((p = table_next(t, &pos)))
		free(p);
	table_deinit(t);
}

/* Those without a handle are only here. */
static void free_nameless(struct resources *r)
{
	struct thread *t;
	size_t pos = 0;

	while ((t = table_next(&r->by_tid, &pos)))
		if (!t->handle)
			free(t);
	table_deinit(&r->by_tid);
}

struct resources *resources_free(struct resources *r)
{
	if (!r)
		return NULL;
	for (enum resource i = 0; i < RESOURCE_MAX; i++)
		free_all(&r->things[i]);
	free_nameless(r);
	free_all(&r->by_handle);
	free_all(&r->moves);
	free_all(&r->sums);
	table_deinit(&r->being_made);
	ranges_deinit(&r->mappings);
	ranges_deinit(&r->listed);
	free(r);
	return NULL;
}
