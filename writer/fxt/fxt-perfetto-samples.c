/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Field numbers are from Perfetto's trace_packet.proto, interned_data.proto, profile_common.proto,
 * profile_packet.proto and perf_events.proto.
 *
 * A packet contains a sample, and those of its items (functions, frames, mappings, ...) that no
 * earlier packet of the batch has (interned_data). Ids of items count from 1, separately for each
 * kind of item.
 *
 * There are thousands of samples per second, and nearly all have a stack that is already in the
 * batch. So a stack's id is found by a single look-up, and the packet of such a sample is written
 * directly. This packet has no optional fields: no flag that it needs interned data, since a batch
 * is always read from its begin, and no CPU if the CPU is 0.
 */
#include "writer/fxt/fxt-perfetto-samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/protobuf.h"
#include "base/table.h"
#include "model/frames.h"
#include "writer/fxt/fxt-names.h"
#include "model/maps.h"

enum {
	TRACE_PACKET = 1, /* Trace.packet */

	/* TracePacket */
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_PERF_SAMPLE = 66,

	SEQUENCE_CLEARED = 1, /* SEQ_INCREMENTAL_STATE_CLEARED */
	CLOCK_BOOT = 6,       /* BUILTIN_CLOCK_BOOTTIME */

	/* TracePacketDefaults, PerfSampleDefaults, PerfEvents.Timebase */
	DEFAULTS_PERF_SAMPLE = 12,
	PERF_SAMPLE_TIMEBASE = 1,
	TIMEBASE_FREQUENCY = 2,
	TIMEBASE_COUNTER = 4,
	COUNTER_CPU_CLOCK = 1,
	COUNTER_CPU_CYCLES = 10,

	/* InternedData */
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_MAPPING_PATHS = 17,
	INTERNED_SOURCE_PATHS = 18,
	INTERNED_MAPPINGS = 19,

	/* (the first field of each item) */
	ITEM_IID = 1,

	/* InternedString, Mapping, Frame, Callstack */
	STRING_BYTES = 2,
	MAPPING_BUILD_ID = 2,
	MAPPING_START_OFFSET = 3,
	MAPPING_START = 4,
	MAPPING_END = 5,
	MAPPING_PATH = 7,
	MAPPING_EXACT_OFFSET = 8,
	FRAME_FUNCTION = 2,
	FRAME_MAPPING = 3,
	FRAME_REL_PC = 4,
	FRAME_SOURCE = 5,
	FRAME_LINE = 6,
	CALLSTACK_FRAMES = 2,

	/* PerfSample */
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK = 4,
	SAMPLE_CPU_MODE = 5,
	CPU_MODE_KERNEL = 1,
	CPU_MODE_USER = 2,
};

enum {
	SEQUENCE_ID = 1,
	BATCH_BYTES = 512 * 1024,
	BATCH_STACKS = 4096, /* more stacks would not fit into the cache of a CPU */
	TEXT_MAX = 255,      /* longer paths and names are truncated */
	/*
	 * Maximum number of frames of a sample, with inlined ones; further outer frames are dropped
	 */
	STACK_MAX = 1024,
	NAMES_MAX = 1 << 20, /* maximum number of addresses with names */
	/*
	 * Maximum size of a sample's packet without interned data: seven numbers and the heads of
	 * two messages
	 */
	PACKET_BYTES = 7 * PROTOBUF_NUMBER_MAX + 2 * PROTOBUF_HEAD_MAX,
};

/* The duration of a batch. The longer it is, the less often the same items are interned again. */
#define BATCH_NS UINT64_C(4000000000)

/* The items of one kind that were interned in this batch. */
struct interning {
	struct table known; /* hash -> iid */
	uint64_t last_iid;
};

/*
 * Kinds of items. STACK is a callstack.
 */
enum kind { FUNCTION, FRAME, BUILD_ID, PATH, SOURCE, MAPPING, STACK, KIND_MAX };

static const unsigned interned_fields[KIND_MAX] = {
	[FUNCTION] = INTERNED_FUNCTION_NAMES, [FRAME] = INTERNED_FRAMES,
	[BUILD_ID] = INTERNED_BUILD_IDS,      [PATH] = INTERNED_MAPPING_PATHS,
	[SOURCE] = INTERNED_SOURCE_PATHS,     [MAPPING] = INTERNED_MAPPINGS,
	[STACK] = INTERNED_CALLSTACKS,
};

/* A set of interned items, for the packets of one sequence. */
struct interned_set {
	struct interning items[KIND_MAX];
	uint64_t map_number, map_iid; /* mapping of the previous frame */
	struct outbuf fresh;          /* InternedData that no packet has yet */
	bool by_content;              /* equal mappings are one item, even of different times */
};

struct fxt_perfetto_samples {
	struct maps *maps;
	struct frames *frames;
	uint32_t frequency;
	bool cycles;

	struct outbuf batch;
	uint64_t first_ns, last_ns; /* times of the batch's samples */

	struct interned_set set;  /* of the batch; its `fresh` is that of the current sample */
	struct interned_set kept; /* of fxt_perfetto_samples_keep_stack() */
	uint64_t seed;            /* of the hashes: random, so no file can have collisions */
	uint64_t meaning;         /* counts changes of names, after which known stacks are new */
	int error;                /* the first error during interning */
};

int fxt_perfetto_samples_new(struct fxt_perfetto_samples **ret)
{
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s =
		calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	if (getrandom(&s->seed, sizeof(s->seed), GRND_NONBLOCK) < 0)
		s->seed = clock_boot_ns();
	s->kept.by_content = true;
	r = maps_new(&s->maps, MAPS_OF_NOW) ?: frames_new(&s->frames, NAMES_MAX);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

void fxt_perfetto_samples_next(struct fxt_perfetto_samples *s)
{
	for (size_t i = 0; i < KIND_MAX; i++) {
		table_clear(&s->set.items[i].known);
		s->set.items[i].last_iid = 0;
	}
	s->set.map_iid = 0;
	s->error = 0;
	outbuf_reset(&s->batch);
	outbuf_reset(&s->set.fresh);
}

struct fxt_perfetto_samples *fxt_perfetto_samples_free(struct fxt_perfetto_samples *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < KIND_MAX; i++) {
		table_deinit(&s->set.items[i].known);
		table_deinit(&s->kept.items[i].known);
	}
	outbuf_deinit(&s->batch);
	outbuf_deinit(&s->set.fresh);
	outbuf_deinit(&s->kept.fresh);
	maps_free(s->maps);
	frames_free(s->frames);
	return free_ptr(s);
}

/* ---- interning ---- */

static uint64_t fxt_perfetto_samples_hash_of(const struct fxt_perfetto_samples *s,
					     const void *bytes, size_t n)
{
	return table_hash_seeded(s->seed, bytes, n);
}

/*
 * Returns the iid of the N bytes at BYTES, the same for equal bytes in a batch. *RET_NEW = true if
 * the batch had no such bytes before. On failure, sets the error of S.
 */
static uint64_t fxt_perfetto_samples_intern(struct fxt_perfetto_samples *s, enum kind kind,
					    const void *bytes, size_t n, bool *ret_new)
{
	struct interning *t = &s->set.items[kind];
	uint64_t hash = fxt_perfetto_samples_hash_of(s, bytes, n),
		 iid = (uintptr_t)table_get(&t->known, hash);

	*ret_new = iid == 0;
	if (iid > 0)
		return iid;
	iid = ++t->last_iid;
	if (table_set(&t->known, hash, (void *)(uintptr_t)iid) < 0)
		s->error = -ENOMEM;
	return iid;
}

/* Begins an item of KIND with IID in the InternedData of the current sample. Returns its
 * position. */
static size_t fxt_perfetto_samples_begin_item(struct fxt_perfetto_samples *s, enum kind kind,
					      uint64_t iid)
{
	size_t item = protobuf_begin(&s->set.fresh, interned_fields[kind]);

	protobuf_add_u64(&s->set.fresh, ITEM_IID, iid);
	return item;
}

/* Interns N bytes as an InternedString. Returns its iid; 0 if N is 0. */
static uint64_t fxt_perfetto_samples_intern_bytes(struct fxt_perfetto_samples *s, enum kind kind,
						  const void *bytes, size_t n)
{
	uint64_t iid;
	size_t item;
	bool new;

	if (n == 0)
		return 0;
	iid = fxt_perfetto_samples_intern(s, kind, bytes, n, &new);
	if (new) {
		item = fxt_perfetto_samples_begin_item(s, kind, iid);
		protobuf_add_bytes(&s->set.fresh, STRING_BYTES, bytes, n);
		protobuf_end(&s->set.fresh, item);
	}
	return iid;
}

/* Interns a text, truncated at a character. */
static uint64_t fxt_perfetto_samples_intern_text(struct fxt_perfetto_samples *s, enum kind kind,
						 const char *text)
{
	size_t n = strnlen(text, TEXT_MAX + 1);

	if (n > TEXT_MAX)
		for (n = TEXT_MAX; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	return fxt_perfetto_samples_intern_bytes(s, kind, text, n);
}

/* Returns a hash of everything that the item of MAP contains. */
static uint64_t fxt_perfetto_samples_hash_map(const struct fxt_perfetto_samples *s,
					      const struct mapping *map)
{
	const uint64_t key[] = {
		map->start,
		map->size,
		map->file_offset,
		fxt_perfetto_samples_hash_of(s, map->path, strlen(map->path)),
		fxt_perfetto_samples_hash_of(s, map->build_id, map->build_id_size),
	};

	return fxt_perfetto_samples_hash_of(s, key, sizeof(key));
}

/* Interns MAP, and returns its iid. MAP NULL = the address is in no known mapping. */
static uint64_t fxt_perfetto_samples_intern_mapping(struct fxt_perfetto_samples *s,
						    const struct mapping *map)
{
	uint64_t number = map ? map->number : 0, key = number, iid, path, build_id = 0;
	size_t item;
	bool new;

	if (s->set.map_iid > 0 && s->set.map_number == number)
		return s->set.map_iid;
	if (map && s->set.by_content)
		key = fxt_perfetto_samples_hash_map(s, map);
	iid = fxt_perfetto_samples_intern(s, MAPPING, &key, sizeof(key), &new);
	s->set.map_number = number;
	s->set.map_iid = iid;
	if (!new)
		return iid;
	path = fxt_perfetto_samples_intern_text(s, PATH, map ? map->path : "[unknown]");
	if (map)
		build_id = fxt_perfetto_samples_intern_bytes(s, BUILD_ID, map->build_id,
							     map->build_id_size);
	item = fxt_perfetto_samples_begin_item(s, MAPPING, iid);
	protobuf_add_nonzero(&s->set.fresh, MAPPING_BUILD_ID, build_id);
	if (map) {
		protobuf_add_u64(&s->set.fresh, MAPPING_START_OFFSET, map->file_offset);
		protobuf_add_u64(&s->set.fresh, MAPPING_EXACT_OFFSET, map->file_offset);
		protobuf_add_u64(&s->set.fresh, MAPPING_START, map->start);
		protobuf_add_u64(&s->set.fresh, MAPPING_END, map->start + map->size);
	}
	protobuf_add_nonzero(&s->set.fresh, MAPPING_PATH, path);
	protobuf_end(&s->set.fresh, item);
	return iid;
}

/* Interns a frame. NAME can be NULL. */
static uint64_t fxt_perfetto_samples_intern_frame(struct fxt_perfetto_samples *s,
						  const struct mapping *map, uint64_t address,
						  const struct frame *name)
{
	const uint64_t key[] = {
		fxt_perfetto_samples_intern_mapping(s, map),
		map ? address - map->start + map->file_offset : address,
		name ? fxt_perfetto_samples_intern_text(s, FUNCTION, name->function) : 0,
		name ? fxt_perfetto_samples_intern_text(s, SOURCE, name->source) : 0,
		name ? name->line : 0,
	};
	bool new;
	uint64_t iid = fxt_perfetto_samples_intern(s, FRAME, key, sizeof(key), &new);
	size_t item;

	if (!new)
		return iid;
	item = fxt_perfetto_samples_begin_item(s, FRAME, iid);
	protobuf_add_u64(&s->set.fresh, FRAME_MAPPING, key[0]);
	protobuf_add_u64(&s->set.fresh, FRAME_REL_PC, key[1]);
	protobuf_add_nonzero(&s->set.fresh, FRAME_FUNCTION, key[2]);
	protobuf_add_nonzero(&s->set.fresh, FRAME_SOURCE, key[3]);
	protobuf_add_nonzero(&s->set.fresh, FRAME_LINE, key[4]);
	protobuf_end(&s->set.fresh, item);
	return iid;
}

/* Interns the frame that stands for the outer calls that a cut stack lacks. */
static uint64_t fxt_perfetto_samples_intern_cut(struct fxt_perfetto_samples *s)
{
	static const struct frame cut = { FRAMES_CUT_NAME, "", "", 0, 0 };

	return fxt_perfetto_samples_intern_frame(s, NULL, 0, &cut);
}

/* Stores the iids of EV's frames in STACK, innermost first. Returns their number. */
static size_t fxt_perfetto_samples_intern_frames(struct fxt_perfetto_samples *s,
						 const struct event *ev, uint64_t stack[STACK_MAX])
{
	size_t n = 0;

	for (unsigned i = 0; i < ev->sample.n_frames && n < STACK_MAX; i++) {
		uint64_t address = ev->sample.frames[i];
		uint32_t owner = maps_owner(s->maps, ev->pid, address);
		const struct mapping *map = maps_find(s->maps, owner, address, ev->ts_ns);
		const struct frame_list *names = frames_find(
			s->frames, owner, frames_code(address, maps_sample_returns(ev, i)));

		for (size_t j = 0; names && j < names->n && n < STACK_MAX; j++)
			stack[n++] =
				fxt_perfetto_samples_intern_frame(s, map, address, &names->list[j]);
		if (!names)
			stack[n++] = fxt_perfetto_samples_intern_frame(s, map, address, NULL);
	}
	if (!maps_sample_is_cut(ev))
		return n;
	/* (if STACK is full, the frame of a cut stack replaces the outermost frame) */
	n = n < STACK_MAX ? n : STACK_MAX - 1;
	stack[n] = fxt_perfetto_samples_intern_cut(s);
	return n + 1;
}

/* Adds the callstack IID with N frames. STACK has their iids, innermost first. */
static void fxt_perfetto_samples_add_callstack(struct fxt_perfetto_samples *s, uint64_t iid,
					       const uint64_t *stack, size_t n)
{
	size_t item = fxt_perfetto_samples_begin_item(s, STACK, iid);

	/* (callstacks are written outermost first) */
	while (n > 0)
		protobuf_add_u64(&s->set.fresh, CALLSTACK_FRAMES, stack[--n]);
	protobuf_end(&s->set.fresh, item);
}

/*
 * Interns the stack of EV and returns its iid; 0 = EV has no stack. The key has the stack's id or
 * addresses, and all that can change its frames: names and mappings. So the frames of known stacks
 * need not be looked up.
 */
static uint64_t fxt_perfetto_samples_intern_callstack(struct fxt_perfetto_samples *s,
						      const struct event *ev)
{
	const uint64_t *frames = ev->sample.frames;
	const unsigned n_frames = ev->sample.n_frames;
	uint64_t key[5] = { s->meaning, ev->sample.id }, stack[STACK_MAX], iid;
	bool in_kernel = false, in_user = false, new;

	if (n_frames == 0)
		return 0;
	if (!ev->sample.id)
		key[1] = fxt_perfetto_samples_hash_of(s, frames, n_frames * sizeof(*frames));
	for (unsigned i = 0; i < n_frames; i++)
		*(maps_is_kernel(frames[i]) ? &in_kernel : &in_user) = true;
	if (in_kernel)
		key[2] = maps_version(s->maps, FXT_KOID_KTHREADD);
	if (in_user) {
		key[3] = ev->pid;
		key[4] = maps_version(s->maps, ev->pid);
	}
	iid = fxt_perfetto_samples_intern(s, STACK, key, sizeof(key), &new);
	if (!new)
		return iid;
	fxt_perfetto_samples_add_callstack(s, iid, stack,
					   fxt_perfetto_samples_intern_frames(s, ev, stack));
	return iid;
}

/* Interns the stack of EV by its frames, and returns its iid. A stack without frames gets the frame
 * "[unknown stack]". */
static uint64_t fxt_perfetto_samples_intern_stack(struct fxt_perfetto_samples *s,
						  const struct event *ev)
{
	static const struct frame unknown = { "[unknown stack]", "", "", 0, 0 };
	uint64_t stack[STACK_MAX], iid;
	size_t n = ev ? fxt_perfetto_samples_intern_frames(s, ev, stack) : 0;
	bool new;

	if (n == 0)
		stack[n++] = fxt_perfetto_samples_intern_frame(s, NULL, 0, &unknown);
	iid = fxt_perfetto_samples_intern(s, STACK, stack, n * sizeof(*stack), &new);
	if (new)
		fxt_perfetto_samples_add_callstack(s, iid, stack, n);
	return iid;
}

int fxt_perfetto_samples_keep_stack(struct fxt_perfetto_samples *s, const struct event *ev,
				    uint64_t *ret)
{
	struct interned_set batch = s->set;
	int batch_error = s->error, r;

	s->set = s->kept;
	s->error = 0;
	*ret = fxt_perfetto_samples_intern_stack(s, ev);
	r = s->error < 0 || s->set.fresh.error < 0 ? -ENOMEM : 0;
	s->kept = s->set;
	s->set = batch;
	s->error = batch_error;
	return r;
}

struct outbuf *fxt_perfetto_samples_kept(struct fxt_perfetto_samples *s)
{
	return &s->kept.fresh;
}

/* ---- packets ---- */

static void fxt_perfetto_samples_add_defaults(struct fxt_perfetto_samples *s)
{
	size_t defaults, sample, timebase;

	defaults = protobuf_begin(&s->batch, PACKET_DEFAULTS);
	protobuf_add_u64(&s->batch, PACKET_CLOCK_ID, CLOCK_BOOT);
	sample = protobuf_begin(&s->batch, DEFAULTS_PERF_SAMPLE);
	timebase = protobuf_begin(&s->batch, PERF_SAMPLE_TIMEBASE);
	protobuf_add_nonzero(&s->batch, TIMEBASE_FREQUENCY, s->frequency);
	protobuf_add_u64(&s->batch, TIMEBASE_COUNTER,
			 s->cycles ? COUNTER_CPU_CYCLES : COUNTER_CPU_CLOCK);
	protobuf_end(&s->batch, timebase);
	protobuf_end(&s->batch, sample);
	protobuf_end(&s->batch, defaults);
}

/*
 * Writes the packet of a sample with the fields that every sample has to TO, which has enough room.
 * Returns the size in bytes.
 */
static size_t fxt_perfetto_samples_put_sample(const struct event *ev, uint64_t callstack,
					      uint8_t *to)
{
	uint8_t sample[PACKET_BYTES];
	size_t n = 0, size;

	size = ev->cpu ? protobuf_put_u64(sample, SAMPLE_CPU, ev->cpu) : 0;
	size += protobuf_put_u64(sample + size, SAMPLE_PID, ev->pid);
	size += protobuf_put_u64(sample + size, SAMPLE_TID, ev->tid);
	if (callstack != 0) {
		size += protobuf_put_u64(sample + size, SAMPLE_CALLSTACK, callstack);
		size += protobuf_put_u64(sample + size, SAMPLE_CPU_MODE,
					 maps_is_kernel(ev->sample.frames[0]) ? CPU_MODE_KERNEL
									      : CPU_MODE_USER);
	}
	n = protobuf_put_u64(to, PACKET_TIMESTAMP, ev->ts_ns);
	n += protobuf_put_u64(to + n, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	n += protobuf_put_head(to + n, PACKET_PERF_SAMPLE, size);
	memcpy(to + n, sample, size);
	return n + size;
}

static void fxt_perfetto_samples_add_packet(struct fxt_perfetto_samples *s, const struct event *ev,
					    uint64_t callstack, bool first)
{
	uint8_t all[PACKET_BYTES], *fields = all + PROTOBUF_HEAD_MAX;
	size_t n = fxt_perfetto_samples_put_sample(ev, callstack, fields), packet, head;
	uint8_t heading[PROTOBUF_HEAD_MAX];

	if (!first && s->set.fresh.size == 0) {
		head = protobuf_put_head(heading, TRACE_PACKET, n);
		memcpy(fields - head, heading, head);
		outbuf_append(&s->batch, fields - head, head + n);
		return;
	}
	packet = protobuf_begin(&s->batch, TRACE_PACKET);
	if (first) {
		protobuf_add_u64(&s->batch, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
		fxt_perfetto_samples_add_defaults(s);
	}
	if (s->set.fresh.size > 0)
		protobuf_add_bytes(&s->batch, PACKET_INTERNED_DATA, s->set.fresh.data,
				   s->set.fresh.size);
	outbuf_append(&s->batch, fields, n);
	protobuf_end(&s->batch, packet);
}

static int fxt_perfetto_samples_add_sample(struct fxt_perfetto_samples *s, const struct event *ev)
{
	bool first = s->batch.size == 0;
	uint64_t callstack;

	if (ev->sample.kind != SAMPLE_ON_CPU)
		return 0;
	if (first)
		s->first_ns = s->last_ns = ev->ts_ns;
	else if (ev->ts_ns > s->last_ns)
		s->last_ns = ev->ts_ns;
	outbuf_reset(&s->set.fresh);
	callstack = fxt_perfetto_samples_intern_callstack(s, ev);
	if (s->error == 0 && s->set.fresh.error == 0)
		fxt_perfetto_samples_add_packet(s, ev, callstack, first);
	if (s->error == 0 && s->set.fresh.error == 0 && s->batch.error == 0)
		return 0;
	/* The batch lacks the items that were interned last, so it cannot be continued. */
	fxt_perfetto_samples_next(s);
	return -ENOMEM;
}

const char *fxt_perfetto_samples_function(const struct fxt_perfetto_samples *s,
					  const struct event *ev, unsigned i)
{
	uint64_t address = ev->sample.frames[i];
	const struct frame_list *list =
		frames_find(s->frames, maps_owner(s->maps, ev->pid, address),
			    frames_code(address, maps_sample_returns(ev, i)));

	return list && list->n > 0 ? list->list[list->n - 1].function : "";
}

/* Returns the innermost function at the address of EV, an EVENT_FRAME. Its texts are NULL if there
 * is none. */
static struct frame fxt_perfetto_samples_innermost(const struct fxt_perfetto_samples *s,
						   const struct event *ev)
{
	const struct frame_list *list =
		frames_find(s->frames, ev->frame.process, ev->frame.address);

	return list && list->n > 0 ? list->list[0] : (struct frame){ 0 };
}

/*
 * Adds a name. Names come before the stacks that need them, so known stacks stay valid unless an
 * address gets another name. (Chunks of a recording repeat names.)
 */
static int fxt_perfetto_samples_add_frame(struct fxt_perfetto_samples *s, const struct event *ev)
{
	struct frame before = fxt_perfetto_samples_innermost(s, ev), now;
	int r = frames_add(s->frames, ev);

	now = fxt_perfetto_samples_innermost(s, ev);
	/* (equal texts are kept once) */
	if (ev->frame.depth == 0 && before.function &&
	    (before.function != now.function || before.source != now.source ||
	     before.module != now.module || before.line != now.line))
		s->meaning++;
	return r;
}

int fxt_perfetto_samples_add(struct fxt_perfetto_samples *s, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SAMPLE:
		return fxt_perfetto_samples_add_sample(s, ev);
	case EVENT_FRAME:
		return fxt_perfetto_samples_add_frame(s, ev);
	case EVENT_SAMPLING:
		s->frequency = ev->sampling.frequency;
		s->cycles = strcmp(ev->sampling.clock, "cycles") == 0;
		return 0;
	default:
		return maps_add(s->maps, ev);
	}
}

const struct outbuf *fxt_perfetto_samples_batch(const struct fxt_perfetto_samples *s, bool all)
{
	if (s->batch.size == 0)
		return NULL;
	return all || s->batch.size >= BATCH_BYTES || s->last_ns - s->first_ns >= BATCH_NS ||
			       s->set.items[STACK].last_iid >= BATCH_STACKS
		       ? &s->batch
		       : NULL;
}
