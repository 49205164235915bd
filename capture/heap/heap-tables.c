/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/heap-tables.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "capture/heap/heap-records.h"
#include "capture/programs/collector.h"

enum { BATCH = 1024, BATCH_MAX = 1 << 20, FORGET_BYTES = 4 << 20 };

/* The reported sums of a stack. */
struct sums {
	struct memory_stack_key key;
	uint64_t allocations, frees, allocated_bytes, freed_bytes;
};

void heap_tables_init(struct memory_tables *t, const struct collector_memory *own)
{
	*t = (struct memory_tables){ .stacks_fd = own->stacks_fd,
				     .blocks_fd = own->blocks_fd,
				     .n_copied = own->n_copied };
}

void heap_tables_deinit(struct memory_tables *t)
{
	table_deinit_free(&t->sums);
}

/* ---- maps ---- */

struct batch {
	uint8_t *keys, *values;
	uint32_t room;
};

static int heap_tables_make_room(struct batch *b, const struct memory_map *map, uint32_t n)
{
	uint8_t *keys = reallocarray(b->keys, n, map->key_size), *values;

	if (!keys)
		return -ENOMEM;
	b->keys = keys;
	values = reallocarray(b->values, n, map->value_size);
	if (!values)
		return -ENOMEM;
	b->values = values;
	b->room = n;
	return 0;
}

static int heap_tables_each_in_batch(const struct batch *b, const struct memory_map *map,
				     uint32_t n, memory_element_fn fn, void *userdata)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = fn(b->keys + i * map->key_size, b->values + i * map->value_size, userdata);
	return r;
}

int memory_map_each(const struct memory_map *map, memory_element_fn fn, void *userdata)
{
	uint64_t token = 0; /* position in the map, opaque */
	struct batch b = { 0 };
	bool begun = false;
	int error = 0, r = heap_tables_make_room(&b, map, BATCH);

	while (r == 0 && error == 0) {
		uint32_t n = b.room;

		error = bpf_map_lookup_batch(map->fd, begun ? &token : NULL, &token, b.keys,
					     b.values, &n, NULL);
		if (error == -ENOSPC && b.room < BATCH_MAX) {
			/*
			 * A bucket has more elements than the buffers have room for: enlarge the
			 * buffers.
			 */
			error = 0;
			r = heap_tables_make_room(&b, map, 2 * b.room);
			continue;
		}
		if (error < 0 && error != -ENOENT)
			break;
		begun = true;
		r = heap_tables_each_in_batch(&b, map, n, fn, userdata);
	}
	free(b.keys);
	free(b.values);
	return r ? r : error == -ENOENT ? 0 : error;
}

static struct memory_map heap_tables_stacks_of(const struct memory_tables *t)
{
	return (struct memory_map){ t->stacks_fd, sizeof(struct memory_stack_key),
				    sizeof(struct memory_stack) };
}

static struct memory_map heap_tables_blocks_of(const struct memory_tables *t)
{
	return (struct memory_map){ t->blocks_fd, sizeof(struct memory_key),
				    sizeof(struct memory_block) };
}

/* ---- records ---- */

/* The state of one pass over a table. */
struct pass {
	struct memory_tables *tables;
	const struct heap_images *images;
	const struct memory_sink *sink;
	uint64_t ts_ns;
	bool live;                /* selects live images instead of finished ones */
	uint32_t foreign_entries; /* see heap_tables_forget() */
	struct outbuf keys;       /* keys that are to be removed */
	bool copied;              /* selects the copied stacks instead of the others */
	struct outbuf *kept;      /* receives struct kept or struct kept_stack; borrowed */
};

/* A copy of a block. */
struct kept {
	struct memory_key key;
	struct memory_block block;
};

static struct heap_image *heap_tables_image_of(const struct pass *p, uint32_t instance)
{
	return heap_images_get(p->images, instance);
}

static struct rec_head heap_tables_head_of(const struct pass *p, const struct heap_image *image,
					   uint16_t kind, uint32_t size)
{
	uint64_t ended_ns = image->process.ended_ns, since_ns = image->process.since_ns;
	uint64_t ts_ns = ended_ns && ended_ns < p->ts_ns ? ended_ns : p->ts_ns;

	return (struct rec_head){
		/*
		 * The record's time is not after the end of the process, and not before its begin:
		 * a program can begin and end after the time of the report was read. Readers would
		 * not find its watch at that time, and drop the record.
		 */
		.ts_ns = ts_ns > since_ns ? ts_ns : since_ns,
		.size = size,
		.kind = kind,
		.pid = image->process.pid,
		.tid = image->process.pid,
	};
}

static int heap_tables_emit(const struct pass *p, const struct rec_head *rec)
{
	return p->sink->emit(rec, p->sink->userdata);
}

/*
 * Returns the time at which the addresses of STACK were valid. At the time of its report, another
 * library can be at these addresses.
 */
static uint64_t heap_tables_stack_ns(const struct heap_image *image,
				     const struct memory_stack *stack, uint64_t now_ns)
{
	uint64_t since_ns = stack->since_ns;

	if (since_ns < image->process.since_ns)
		since_ns = image->process.since_ns;
	return since_ns < now_ns ? since_ns : now_ns;
}

static int heap_tables_emit_stack(const struct pass *p, const struct heap_image *image,
				  const struct memory_stack_key *key,
				  const struct memory_stack *stack)
{
	struct rec_named rec = {
		.head = heap_tables_head_of(p, image, REC_NAMED, sizeof(rec)),
		.id = key->id,
		.instance = key->instance,
		.n_frames = (uint16_t)stack->n_frames,
		.is_copied = stack->is_copied != 0,
	};

	if (stack->n_frames == 0 || stack->n_frames > MEMORY_FRAMES_MAX)
		return -EBADMSG;
	rec.head.ts_ns = heap_tables_stack_ns(image, stack, rec.head.ts_ns);
	memcpy(rec.frames, stack->frames, rec.n_frames * sizeof(*rec.frames));
	return heap_tables_emit(p, &rec.head);
}

static uint64_t heap_tables_key(const struct memory_stack_key *key)
{
	return table_hash(key, sizeof(*key));
}

static int heap_tables_on_stack(const void *key_bytes, const void *value, void *userdata)
{
	const struct memory_stack_key *key = key_bytes;
	const struct memory_stack *stack = value;
	struct pass *p = userdata;
	const struct heap_image *image = heap_tables_image_of(p, key->instance);
	struct sums *sums = table_get(&p->tables->sums, heap_tables_key(key));
	struct rec_usage rec;
	int r = 0;

	if (!image || !image->announced)
		return 0;
	if (!sums) {
		r = heap_tables_emit_stack(p, image, key, stack);
		if (r < 0)
			return r;
		sums = table_make(&p->tables->sums, heap_tables_key(key), sizeof(*sums));
		if (!sums)
			return -ENOMEM;
		sums->key = *key;
	}
	/*
	 * The calls of other resources are counted here, but capture/stages/resources.h tracks the
	 * live resources.
	 */
	if (key->resource != MEMORY_RESOURCE_MEMORY)
		return 0;
	if (sums->allocations == stack->allocations && sums->frees == stack->frees &&
	    sums->allocated_bytes == stack->allocated_bytes &&
	    sums->freed_bytes == stack->freed_bytes)
		return 0;
	rec = (struct rec_usage){
		.head = heap_tables_head_of(p, image, REC_USAGE, sizeof(rec)),
		.stack = key->id,
		.allocations = stack->allocations,
		.allocated_bytes = stack->allocated_bytes,
		.frees = stack->frees,
		.freed_bytes = stack->freed_bytes,
		.instance = key->instance,
		.resource = key->resource,
	};
	r = heap_tables_emit(p, &rec.head);
	if (r < 0)
		return r;
	sums->allocations = rec.allocations;
	sums->allocated_bytes = rec.allocated_bytes;
	sums->frees = rec.frees;
	sums->freed_bytes = rec.freed_bytes;
	return 0;
}

int heap_tables_usage(struct memory_tables *t, const struct heap_images *images, uint64_t ts_ns,
		      const struct memory_sink *sink)
{
	struct pass p = { .tables = t, .images = images, .sink = sink, .ts_ns = ts_ns };
	const struct memory_map map = heap_tables_stacks_of(t);

	return memory_map_each(&map, heap_tables_on_stack, &p);
}

static bool heap_tables_is_part(const struct pass *p, const struct heap_image *image)
{
	return p->live ? image->lives : image->goes;
}

static int heap_tables_keep_block(const void *key_bytes, const void *value, void *userdata)
{
	struct pass *p = userdata;
	struct heap_image *image;
	struct kept kept;

	memcpy(&kept.key, key_bytes, sizeof(kept.key));
	memcpy(&kept.block, value, sizeof(kept.block));
	image = heap_tables_image_of(p, kept.key.instance);
	if (!image || !heap_tables_is_part(p, image) || kept.block.ts_ns > p->ts_ns)
		return 0;
	image->n_blocks++;
	return outbuf_append(p->kept, &kept, sizeof(kept));
}

static int heap_tables_count_block(const void *key_bytes, const void *value, void *userdata)
{
	const struct memory_key *key = key_bytes;
	struct heap_image *image = heap_tables_image_of(userdata, key->instance);

	if (image && image->ended)
		image->n_blocks++;
	return 0;
}

static int heap_tables_count_stack(const void *key_bytes, const void *value, void *userdata)
{
	const struct memory_stack_key *key = key_bytes;
	struct heap_image *image = heap_tables_image_of(userdata, key->instance);

	if (!image || !image->ended)
		return 0;
	image->n_stacks++;
	image->n_allocated += key->resource == MEMORY_RESOURCE_MEMORY;
	return 0;
}

static int heap_tables_emit_block(const void *key_bytes, const void *value, void *userdata)
{
	const struct memory_key *key = key_bytes;
	struct pass *p = userdata;
	const struct heap_image *image = heap_tables_image_of(p, key->instance);
	struct rec_block rec;

	if (!image || !heap_tables_is_part(p, image))
		return 0;
	rec = (struct rec_block){
		.head = heap_tables_head_of(p, image, REC_BLOCK, sizeof(rec)),
		.id = key->id,
		.instance = key->instance,
		.resource = key->resource,
	};
	memcpy(&rec.block, value, sizeof(rec.block));
	if (key->resource == MEMORY_RESOURCE_MEMORY)
		rec.reach = memory_image_reach_of(image, key->id, rec.block.ts_ns);
	return heap_tables_emit(p, &rec.head);
}

static int heap_tables_emit_snapshot(const struct pass *p, const struct heap_image *image)
{
	const struct rec_snapshot rec = {
		.head = heap_tables_head_of(p, image, REC_SNAPSHOT, sizeof(rec)),
		.blocks = image->n_blocks,
		.instance = image->process.instance,
		.final = p->live                                        ? 0
			 : image->process.flags & MEMORY_PROCESS_EXECED ? SNAPSHOT_EXECED
									: SNAPSHOT_FINAL,
	};

	return heap_tables_emit(p, &rec.head);
}

static int heap_tables_emit_snapshots(const struct pass *p)
{
	const struct heap_image *image;
	int r = 0;

	for (size_t pos = 0; r == 0 && (image = table_next(&p->images->by_instance, &pos));)
		if (heap_tables_is_part(p, image))
			r = heap_tables_emit_snapshot(p, image);
	return r;
}

static void heap_tables_begin_counting(const struct heap_images *images)
{
	struct heap_image *image;

	for (size_t pos = 0; (image = table_next(&images->by_instance, &pos));)
		image->n_blocks = image->n_stacks = 0;
}

int heap_tables_count(struct memory_tables *t, const struct heap_images *images)
{
	struct pass p = { .tables = t, .images = images };
	const struct memory_map blocks = heap_tables_blocks_of(t),
				stacks = heap_tables_stacks_of(t);
	struct heap_image *image;
	int r;

	heap_tables_begin_counting(images);
	/* Only this pass resets the count, which is used after other passes. */
	for (size_t pos = 0; (image = table_next(&images->by_instance, &pos));)
		image->n_allocated = 0;
	r = memory_map_each(&blocks, heap_tables_count_block, &p);
	return r < 0 ? r : memory_map_each(&stacks, heap_tables_count_stack, &p);
}

int heap_tables_snapshot(struct memory_tables *t, const struct heap_images *images, uint64_t ts_ns,
			 const struct memory_sink *sink)
{
	struct pass p = { .tables = t, .images = images, .sink = sink, .ts_ns = ts_ns };
	const struct memory_map map = heap_tables_blocks_of(t);
	int r;

	heap_tables_begin_counting(images);
	r = memory_map_each(&map, heap_tables_count_block, &p) ?: heap_tables_emit_snapshots(&p);
	return r < 0 ? r : memory_map_each(&map, heap_tables_emit_block, &p);
}

int heap_tables_keep(struct memory_tables *t, const struct heap_images *images, uint64_t until_ns,
		     struct outbuf *kept)
{
	struct pass p = {
		.tables = t, .images = images, .ts_ns = until_ns, .live = true, .kept = kept
	};
	const struct memory_map map = heap_tables_blocks_of(t);

	heap_tables_begin_counting(images);
	return memory_map_each(&map, heap_tables_keep_block, &p);
}

int heap_tables_emit_kept(const struct heap_images *images, uint64_t ts_ns,
			  const struct outbuf *kept, const struct memory_sink *sink)
{
	const struct pass p = { .images = images, .sink = sink, .ts_ns = ts_ns, .live = true };
	const struct kept *list = (const struct kept *)kept->data;
	int r = heap_tables_emit_snapshots(&p);

	for (size_t i = 0; r == 0 && i < kept->size / sizeof(*list); i++)
		r = heap_tables_emit_block(&list[i].key, &list[i].block, (void *)&p);
	return r;
}

/* ---- image by image ---- */

/* A copy of a stack, with its sums. */
struct kept_stack {
	struct memory_stack_key key;
	struct memory_stack stack;
};

void memory_gathered_deinit(struct memory_gathered *gathered)
{
	outbuf_deinit(&gathered->stacks);
	outbuf_deinit(&gathered->blocks);
}

static int heap_tables_keep_stack(const void *key_bytes, const void *value, void *userdata)
{
	struct pass *p = userdata;
	struct heap_image *image;
	struct kept_stack kept;

	memcpy(&kept.key, key_bytes, sizeof(kept.key));
	memcpy(&kept.stack, value, sizeof(kept.stack));
	image = heap_tables_image_of(p, kept.key.instance);
	return image && heap_tables_is_part(p, image) ? outbuf_append(p->kept, &kept, sizeof(kept))
						      : 0;
}

DEFINE_ORDER(stack_by_instance, struct kept_stack, COMPARE(x->key.instance, y->key.instance))

DEFINE_ORDER(block_by_instance, struct kept, COMPARE(x->key.instance, y->key.instance))

int heap_tables_gather(struct memory_tables *t, const struct heap_images *images,
		       struct memory_gathered *ret)
{
	struct pass p = { .tables = t, .images = images, .ts_ns = UINT64_MAX };
	const struct memory_map blocks = heap_tables_blocks_of(t),
				stacks = heap_tables_stacks_of(t);
	int r;

	heap_tables_begin_counting(images);
	p.kept = &ret->blocks;
	r = memory_map_each(&blocks, heap_tables_keep_block, &p);
	p.kept = &ret->stacks;
	r = r ?: memory_map_each(&stacks, heap_tables_keep_stack, &p);
	if (r < 0)
		return r;
	SORT((struct kept *)ret->blocks.data, ret->blocks.size / sizeof(struct kept),
	     block_by_instance);
	SORT((struct kept_stack *)ret->stacks.data, ret->stacks.size / sizeof(struct kept_stack),
	     stack_by_instance);
	return 0;
}

int heap_tables_emit_gathered(struct memory_tables *t, const struct heap_images *images,
			      const struct heap_image *image, uint64_t ts_ns,
			      struct memory_gathered *g, const struct memory_sink *sink)
{
	struct pass p = { .tables = t, .images = images, .sink = sink, .ts_ns = ts_ns };
	const struct kept_stack *stacks = (const struct kept_stack *)g->stacks.data;
	const struct kept *blocks = (const struct kept *)g->blocks.data;
	uint32_t instance = image->process.instance;
	int r = 0;

	for (; r == 0 && g->stacks_at < g->stacks.size / sizeof(*stacks) &&
	       stacks[g->stacks_at].key.instance == instance;
	     g->stacks_at++)
		r = heap_tables_on_stack(&stacks[g->stacks_at].key, &stacks[g->stacks_at].stack,
					 &p);
	r = r ?: heap_tables_emit_snapshot(&p, image);
	for (; r == 0 && g->blocks_at < g->blocks.size / sizeof(*blocks) &&
	       blocks[g->blocks_at].key.instance == instance;
	     g->blocks_at++)
		r = heap_tables_emit_block(&blocks[g->blocks_at].key, &blocks[g->blocks_at].block,
					   &p);
	return r;
}

/* ---- removing ---- */

/* Returns true if the entries of INSTANCE are to be removed. */
static bool heap_tables_is_forgotten(const struct pass *p, uint32_t instance)
{
	const struct heap_image *image = heap_tables_image_of(p, instance);

	return image ? image->goes : instance <= p->foreign_entries;
}

/* Notes KEY, which is to be removed. Returns 1 when the list is full. */
static int heap_tables_keep_key(struct pass *p, const void *key, size_t size)
{
	int r = outbuf_append(&p->keys, key, size);

	return r == 0 && p->keys.size >= FORGET_BYTES ? 1 : r;
}

static int heap_tables_keep_block_key(const void *key_bytes, const void *value, void *userdata)
{
	const struct memory_key *key = key_bytes;
	struct pass *p = userdata;

	return heap_tables_is_forgotten(p, key->instance)
		       ? heap_tables_keep_key(p, key, sizeof(*key))
		       : 0;
}

/*
 * Removes copied stacks separately from the other stacks, so that each removed key can be counted.
 */
static int heap_tables_keep_stack_key(const void *key_bytes, const void *value, void *userdata)
{
	const struct memory_stack_key *key = key_bytes;
	const struct memory_stack *stack = value;
	struct pass *p = userdata;

	if (!heap_tables_is_forgotten(p, key->instance) || (stack->is_copied != 0) != p->copied)
		return 0;
	free(table_remove(&p->tables->sums, heap_tables_key(key)));
	return heap_tables_keep_key(p, key, sizeof(*key));
}

/* Notes that N stacks were removed, which makes room if they were copied stacks. */
static void heap_tables_count_removed(const struct pass *p, size_t n)
{
	if (p->copied && n > 0)
		__atomic_fetch_sub(p->tables->n_copied, (int32_t)n, __ATOMIC_RELAXED);
}

/*
 * Removes the collected keys from AT on, one by one. If a key is missing, a call has removed it
 * before that call failed: nothing else removes keys.
 */
static int heap_tables_delete_singly(const struct pass *p, const struct memory_map *map, size_t at)
{
	int r = 0;

	for (; r == 0 && at < p->keys.size; at += map->key_size) {
		r = bpf_map_delete_elem(map->fd, p->keys.data + at);
		r = r == -ENOENT ? 0 : r;
		heap_tables_count_removed(p, r == 0);
	}
	return r;
}

/* Removes the collected keys from MAP. Returns 0, or a negative errno if some are left. */
static int heap_tables_delete_keys(const struct pass *p, const struct memory_map *map)
{
	for (size_t at = 0; at < p->keys.size;) {
		uint32_t n = (uint32_t)((p->keys.size - at) / map->key_size);
		int error = bpf_map_delete_batch(map->fd, p->keys.data + at, &n, NULL);

		/* After an error, the number of removed keys is unknown. */
		if (error < 0 && error != -ENOENT)
			return heap_tables_delete_singly(p, map, at);
		heap_tables_count_removed(p, n);
		at += (n + (error == -ENOENT)) * map->key_size;
	}
	return 0;
}

/* Removes the keys from MAP that FN collects. */
static int heap_tables_remove_keys(struct pass *p, const struct memory_map *map,
				   memory_element_fn fn)
{
	int r, error;

	do {
		r = memory_map_each(map, fn, p);
		error = heap_tables_delete_keys(p, map);
		outbuf_reset(&p->keys);
	} while (r == 1 && error == 0);
	outbuf_deinit(&p->keys);
	return error < 0 ? error : r;
}

int heap_tables_forget(struct memory_tables *t, const struct heap_images *images,
		       uint32_t foreign_entries)
{
	struct pass p = { .tables = t, .images = images, .foreign_entries = foreign_entries };
	const struct memory_map blocks = heap_tables_blocks_of(t),
				stacks = heap_tables_stacks_of(t);
	int r = heap_tables_remove_keys(&p, &blocks, heap_tables_keep_block_key);

	r = r < 0 ? r : heap_tables_remove_keys(&p, &stacks, heap_tables_keep_stack_key);
	p.copied = true;
	return r < 0 || __atomic_load_n(t->n_copied, __ATOMIC_RELAXED) == 0
		       ? r
		       : heap_tables_remove_keys(&p, &stacks, heap_tables_keep_stack_key);
}
