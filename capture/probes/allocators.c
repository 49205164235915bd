/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the functions and the places of their probes. The tables map names to meanings; the code of
 * the file determines the places. There are two exceptions:
 *
 * - In a file without its own malloc(), or whose operator new always calls malloc() (libstdc++ in a
 *   statically linked program), malloc() reports the block, and a call of operator new marks the
 *   block.
 * - A function that frees by calling another function of this file has no probe: otherwise, both
 *   functions would report the free.
 *
 * allocators-sandboxed.c protects against malicious files.
 */
#include "capture/probes/allocators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "capture/sandbox/sandbox.h"
#include "capture/probes/elf-image.h"
#include "capture/probes/function-walk.h"
#include "capture/probes/instruction.h"
#include "capture/probes/prologue.h"

enum {
	FUNCTIONS_MAX = 1024, /* maximum number of names, most of which are aliases */
	/* Maximum number of instructions of a function that only calls another function. */
	FORWARDER_MAX = 8,
};

/* ---- names ---- */

/*
 * EXITS_THROWS: an exception, or the cancellation of a thread, can leave the function. So the
 * function has no return probe.
 */
enum exits { EXITS_NORMAL, EXITS_THROWS };

struct named {
	const char *name;
	uint8_t function;
	uint8_t exits;
};

/* The C functions, which can have any of the prefixes. Sorted. */
static const struct named c_names[] = {
	{ "aligned_alloc", MEMORY_FN_ALIGNED_ALLOC },
	{ "calloc", MEMORY_FN_CALLOC },
	{ "cfree", MEMORY_FN_FREE },
	{ "dallocx", MEMORY_FN_DALLOCX },
	{ "free", MEMORY_FN_FREE },
	{ "free_aligned_sized", MEMORY_FN_FREE },
	{ "free_sized", MEMORY_FN_FREE },
	{ "malloc", MEMORY_FN_MALLOC },
	{ "mallocx", MEMORY_FN_MALLOCX },
	{ "memalign", MEMORY_FN_MEMALIGN },
	{ "posix_memalign", MEMORY_FN_POSIX_MEMALIGN },
	{ "pvalloc", MEMORY_FN_PVALLOC },
	{ "rallocx", MEMORY_FN_RALLOCX },
	{ "realloc", MEMORY_FN_REALLOC },
	{ "reallocarray", MEMORY_FN_REALLOCARRAY },
	{ "reallocf", MEMORY_FN_REALLOC },
	{ "sdallocx", MEMORY_FN_DALLOCX },
	{ "valloc", MEMORY_FN_VALLOC },
};

/*
 * Functions without prefixes. Sorted. A function that waits for a thread is a cancellation point:
 * the cancellation of a thread can leave it, too.
 */
static const struct named full_names[] = {
	{ "_ZdaPv", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdaPvRKSt9nothrow_t", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdaPvSt11align_val_t", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdaPvSt11align_val_tRKSt9nothrow_t", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdaPvm", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdaPvmSt11align_val_t", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdlPv", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdlPvRKSt9nothrow_t", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdlPvSt11align_val_t", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdlPvSt11align_val_tRKSt9nothrow_t", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdlPvm", MEMORY_FN_DELETE_DIRECT },
	{ "_ZdlPvmSt11align_val_t", MEMORY_FN_DELETE_DIRECT },
	{ "_Znam", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "_ZnamRKSt9nothrow_t", MEMORY_FN_NEW_DIRECT },
	{ "_ZnamSt11align_val_t", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", MEMORY_FN_NEW_DIRECT },
	{ "_Znwm", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "_ZnwmRKSt9nothrow_t", MEMORY_FN_NEW_DIRECT },
	{ "_ZnwmSt11align_val_t", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", MEMORY_FN_NEW_DIRECT },
	{ "mi_aligned_offset_recalloc", MEMORY_FN_REALLOCARRAY },
	{ "mi_aligned_recalloc", MEMORY_FN_REALLOCARRAY },
	{ "mi_calloc_aligned", MEMORY_FN_CALLOC },
	{ "mi_calloc_aligned_at", MEMORY_FN_CALLOC },
	{ "mi_free_aligned", MEMORY_FN_FREE },
	{ "mi_free_size", MEMORY_FN_FREE },
	{ "mi_free_size_aligned", MEMORY_FN_FREE },
	{ "mi_heap_alloc_new", MEMORY_FN_MEMALIGN, EXITS_THROWS }, /* (the size is second) */
	{ "mi_heap_alloc_new_n", MEMORY_FN_HEAP_CALLOC, EXITS_THROWS },
	{ "mi_heap_calloc", MEMORY_FN_HEAP_CALLOC },
	{ "mi_heap_calloc_aligned", MEMORY_FN_HEAP_CALLOC },
	{ "mi_heap_calloc_aligned_at", MEMORY_FN_HEAP_CALLOC },
	{ "mi_heap_destroy", MEMORY_FN_HEAP_DESTROY },
	{ "mi_heap_malloc", MEMORY_FN_MEMALIGN },
	{ "mi_heap_malloc_aligned", MEMORY_FN_MEMALIGN },
	{ "mi_heap_malloc_aligned_at", MEMORY_FN_MEMALIGN },
	{ "mi_heap_malloc_small", MEMORY_FN_MEMALIGN },
	{ "mi_heap_mallocn", MEMORY_FN_HEAP_CALLOC },
	{ "mi_heap_realloc", MEMORY_FN_HEAP_REALLOC },
	{ "mi_heap_realloc_aligned", MEMORY_FN_HEAP_REALLOC },
	{ "mi_heap_realloc_aligned_at", MEMORY_FN_HEAP_REALLOC },
	{ "mi_heap_reallocf", MEMORY_FN_HEAP_REALLOC },
	{ "mi_heap_reallocn", MEMORY_FN_HEAP_REALLOCARRAY },
	{ "mi_heap_recalloc", MEMORY_FN_HEAP_REALLOCARRAY },
	{ "mi_heap_recalloc_aligned", MEMORY_FN_HEAP_REALLOCARRAY },
	{ "mi_heap_recalloc_aligned_at", MEMORY_FN_HEAP_REALLOCARRAY },
	{ "mi_heap_rezalloc", MEMORY_FN_HEAP_REALLOC },
	{ "mi_heap_rezalloc_aligned", MEMORY_FN_HEAP_REALLOC },
	{ "mi_heap_rezalloc_aligned_at", MEMORY_FN_HEAP_REALLOC },
	{ "mi_heap_zalloc", MEMORY_FN_MEMALIGN },
	{ "mi_heap_zalloc_aligned", MEMORY_FN_MEMALIGN },
	{ "mi_heap_zalloc_aligned_at", MEMORY_FN_MEMALIGN },
	{ "mi_malloc_aligned", MEMORY_FN_MALLOC }, /* (the size is the first argument) */
	{ "mi_malloc_aligned_at", MEMORY_FN_MALLOC },
	{ "mi_malloc_small", MEMORY_FN_MALLOC },
	{ "mi_mallocn", MEMORY_FN_CALLOC },
	{ "mi_new", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "mi_new_aligned", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "mi_new_aligned_nothrow", MEMORY_FN_NEW_DIRECT },
	{ "mi_new_n", MEMORY_FN_CALLOC, EXITS_THROWS },
	{ "mi_new_nothrow", MEMORY_FN_NEW_DIRECT },
	{ "mi_new_realloc", MEMORY_FN_REALLOC, EXITS_THROWS },
	{ "mi_new_reallocn", MEMORY_FN_REALLOCARRAY, EXITS_THROWS },
	{ "mi_realloc_aligned", MEMORY_FN_REALLOC },
	{ "mi_realloc_aligned_at", MEMORY_FN_REALLOC },
	{ "mi_reallocn", MEMORY_FN_REALLOCARRAY },
	{ "mi_recalloc", MEMORY_FN_REALLOCARRAY },
	{ "mi_recalloc_aligned", MEMORY_FN_REALLOCARRAY },
	{ "mi_recalloc_aligned_at", MEMORY_FN_REALLOCARRAY },
	{ "mi_rezalloc", MEMORY_FN_REALLOC },
	{ "mi_rezalloc_aligned", MEMORY_FN_REALLOC },
	{ "mi_rezalloc_aligned_at", MEMORY_FN_REALLOC },
	{ "mi_zalloc", MEMORY_FN_MALLOC },
	{ "mi_zalloc_aligned", MEMORY_FN_MALLOC },
	{ "mi_zalloc_aligned_at", MEMORY_FN_MALLOC },
	{ "mi_zalloc_small", MEMORY_FN_MALLOC },
	{ "pthread_clockjoin_np", MEMORY_FN_PTHREAD_JOIN, EXITS_THROWS },
	{ "pthread_create", MEMORY_FN_PTHREAD_CREATE },
	{ "pthread_detach", MEMORY_FN_PTHREAD_DETACH },
	{ "pthread_join", MEMORY_FN_PTHREAD_JOIN, EXITS_THROWS },
	{ "pthread_timedjoin_np", MEMORY_FN_PTHREAD_JOIN, EXITS_THROWS },
	{ "pthread_tryjoin_np", MEMORY_FN_PTHREAD_JOIN },
	{ "shm_open", MEMORY_FN_SHM_OPEN },
	{ "shm_unlink", MEMORY_FN_SHM_UNLINK },
	{ "tc_delete", MEMORY_FN_DELETE_DIRECT },
	{ "tc_delete_aligned", MEMORY_FN_DELETE_DIRECT },
	{ "tc_delete_aligned_nothrow", MEMORY_FN_DELETE_DIRECT },
	{ "tc_delete_nothrow", MEMORY_FN_DELETE_DIRECT },
	{ "tc_delete_sized", MEMORY_FN_DELETE_DIRECT },
	{ "tc_delete_sized_aligned", MEMORY_FN_DELETE_DIRECT },
	{ "tc_deletearray", MEMORY_FN_DELETE_DIRECT },
	{ "tc_deletearray_aligned", MEMORY_FN_DELETE_DIRECT },
	{ "tc_deletearray_aligned_nothrow", MEMORY_FN_DELETE_DIRECT },
	{ "tc_deletearray_nothrow", MEMORY_FN_DELETE_DIRECT },
	{ "tc_deletearray_sized", MEMORY_FN_DELETE_DIRECT },
	{ "tc_deletearray_sized_aligned", MEMORY_FN_DELETE_DIRECT },
	{ "tc_malloc_skip_new_handler", MEMORY_FN_MALLOC },
	{ "tc_new", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "tc_new_aligned", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "tc_new_aligned_nothrow", MEMORY_FN_NEW_DIRECT },
	{ "tc_new_nothrow", MEMORY_FN_NEW_DIRECT },
	{ "tc_newarray", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "tc_newarray_aligned", MEMORY_FN_NEW_DIRECT, EXITS_THROWS },
	{ "tc_newarray_aligned_nothrow", MEMORY_FN_NEW_DIRECT },
	{ "tc_newarray_nothrow", MEMORY_FN_NEW_DIRECT },
	{ "thrd_detach", MEMORY_FN_PTHREAD_DETACH },
	{ "thrd_join", MEMORY_FN_PTHREAD_JOIN, EXITS_THROWS },
};

static const struct named *allocators_find_named(const struct named *names, size_t n_names,
						 const char *name, size_t n)
{
	size_t low = 0, high = n_names;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strncmp(names[middle].name, name, n);

		if (order == 0 && names[middle].name[n] != '\0')
			order = 1;
		if (order == 0)
			return &names[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const struct named *allocators_meaning(const char *name, size_t n)
{
	/*
	 * The prefix of glibc's internal names of replaceable functions, and the prefixes with
	 * which allocators can be built (_rjem_: in Rust programs).
	 */
	static const char *const prefixes[] = { "", "__libc_", "_rjem_", "je_", "mi_", "tc_" };
	const struct named *found =
		allocators_find_named(full_names, ARRAY_SIZE(full_names), name, n);

	for (size_t i = 0; !found && i < ARRAY_SIZE(prefixes); i++) {
		size_t m = strlen(prefixes[i]);

		if (n > m && strncmp(name, prefixes[i], m) == 0)
			found = allocators_find_named(c_names, ARRAY_SIZE(c_names), name + m,
						      n - m);
	}
	return found;
}

static bool allocators_is_thread_or_shm(uint32_t function)
{
	return function >= MEMORY_FN_PTHREAD_CREATE;
}

static bool allocators_is_cpp(uint32_t function)
{
	return function == MEMORY_FN_NEW_DIRECT || function == MEMORY_FN_DELETE_DIRECT;
}

static bool allocators_frees(uint32_t function)
{
	return function == MEMORY_FN_FREE || function == MEMORY_FN_DALLOCX ||
	       function == MEMORY_FN_DELETE_DIRECT || function == MEMORY_FN_HEAP_DESTROY;
}

/* ---- functions ---- */

struct function {
	uint64_t vaddr, bytes;
	const struct named *means;
	const char *name; /* in the file */
	size_t name_bytes;
	bool forwards; /* the function frees by calling another function of this file */
};

struct search {
	struct elf_image image;
	struct disassembler *disassembler; /* NULL = code of this machine is not supported */
	struct function functions[FUNCTIONS_MAX];
	size_t n;
	const struct function *self; /* the function whose code is being followed */
	struct allocator_list list;
	size_t room;
};

static int allocators_add_function(const char *name, size_t n, uint64_t vaddr, uint64_t bytes,
				   void *userdata)
{
	const struct named *means = allocators_meaning(name, n);
	struct search *s = userdata;

	if (!means)
		return 0;
	if (s->n == FUNCTIONS_MAX) {
		s->list.flags |= ALLOCATORS_FULL;
		return 1;
	}
	s->functions[s->n++] = (struct function){
		.vaddr = vaddr,
		.bytes = bytes,
		.means = means,
		.name = name,
		.name_bytes = n,
	};
	return 0;
}

/*
 * Sorts by address. Of several names for one address, C names come first (tcmalloc's free() is also
 * its operator delete), then shorter names, which are better known.
 */
DEFINE_ORDER(allocators_compare_functions, struct function,
	COMPARE(x->vaddr, y->vaddr)
		?: COMPARE(allocators_is_cpp(x->means->function), allocators_is_cpp(y->means->function))
		?: COMPARE(x->name_bytes, y->name_bytes)
		?: strncmp(x->name, y->name, x->name_bytes))

static void allocators_sort_functions(struct search *s)
{
	size_t n = 0;

	SORT(s->functions, s->n, allocators_compare_functions);
	for (size_t i = 0; i < s->n; i++) {
		if (n > 0 && s->functions[n - 1].vaddr == s->functions[i].vaddr)
			continue;
		s->functions[n++] = s->functions[i];
	}
	s->n = n;
}

static bool allocators_has_allocator(const struct search *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->functions[i].means->function == MEMORY_FN_MALLOC)
			return true;
	return false;
}

static const struct function *allocators_function_at(const struct search *s, uint64_t vaddr)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->functions[i].vaddr == vaddr)
			return &s->functions[i];
	return NULL;
}

/* ---- code ---- */

static struct function_walk allocators_new_walk(struct search *s, const struct function *f)
{
	s->self = f;
	return (struct function_walk){
		.image = &s->image,
		.disassembler = s->disassembler,
		.userdata = s,
	};
}

/* Returns true if VADDR is another function, which reports the block itself. */
static bool allocators_at_other(uint64_t vaddr, void *userdata)
{
	const struct search *s = userdata;
	const struct function *f =
		vaddr == s->self->vaddr ? NULL : allocators_function_at(s, vaddr);

	if (!f || f->forwards || allocators_is_thread_or_shm(f->means->function))
		return false;
	if (allocators_frees(s->self->means->function))
		return allocators_frees(f->means->function);
	return !allocators_frees(f->means->function) && !allocators_is_cpp(f->means->function);
}

/*
 * Finds functions that do nothing but call another function that frees, possibly after a test for
 * NULL.
 */
static int allocators_find_forwarders(struct search *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct function *f = &s->functions[i];
		struct function_walk walk = allocators_new_walk(s, f);
		int r;

		if (!allocators_frees(f->means->function))
			continue;
		walk.stop = allocators_at_other;
		r = function_walk(&walk, f->vaddr);
		if (r < 0)
			return r;
		f->forwards =
			walk.stopped && walk.n_calls == 0 && walk.n_instructions <= FORWARDER_MAX;
	}
	return 0;
}

/*
 * Returns true if the block of SELF can be the result of a call of FUNCTION. posix_memalign()
 * stores the address of its block in memory, where SELF can have changed it.
 */
static bool allocators_can_return(uint32_t self, uint32_t function)
{
	return !allocators_frees(function) && !allocators_is_thread_or_shm(function) &&
	       self != MEMORY_FN_POSIX_MEMALIGN && function != MEMORY_FN_POSIX_MEMALIGN;
}

static bool allocators_is_wanted_name(const char *name, void *userdata)
{
	const struct named *means = allocators_meaning(name, strlen(name));
	const struct search *s = userdata;

	return means && allocators_can_return(s->self->means->function, means->function);
}

static bool allocators_is_wanted_place(uint64_t vaddr, void *userdata)
{
	const struct search *s = userdata;
	const struct function *f =
		vaddr == s->self->vaddr ? NULL : allocators_function_at(s, vaddr);

	return f && allocators_can_return(s->self->means->function, f->means->function);
}

/*
 * Finds out whether the file has a malloc(), and whether all of its allocating functions return the
 * result of an allocating function of another file. In a library that only counts allocations, they
 * all do.
 */
static int allocators_find_calls_of_other(struct search *s)
{
	if (!allocators_has_allocator(s))
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct function *f = &s->functions[i];
		struct function_walk walk = allocators_new_walk(s, f);
		int r;

		if (allocators_frees(f->means->function) ||
		    allocators_is_thread_or_shm(f->means->function))
			continue;
		walk.stop = allocators_is_wanted_place;
		walk.wants = allocators_is_wanted_name;
		r = function_walk_returns_wanted(&walk, f->vaddr);
		if (r <= 0)
			return r;
	}
	s->list.flags |= ALLOCATORS_CALLS_OTHER;
	return 0;
}

/* ---- probes ---- */

static int allocators_add_probe(struct search *s, const struct function *f, uint64_t vaddr,
				uint32_t function, enum allocator_probe_kind kind)
{
	struct allocator_probe *probe;
	uint64_t offset;
	size_t n;

	if (!elf_image_code(&s->image, vaddr, &n, &offset))
		return 0;
	if (s->list.n == ALLOCATOR_PROBES_MAX) {
		s->list.flags |= ALLOCATORS_FULL;
		return 0;
	}
	if (GROW(s->list.probes, s->room, s->list.n + 1) < 0)
		return -ENOMEM;
	n = f->name_bytes < ALLOCATOR_NAME_MAX ? f->name_bytes : ALLOCATOR_NAME_MAX - 1;
	probe = &s->list.probes[s->list.n++];
	*probe = (struct allocator_probe){ .offset = offset, .function = function, .kind = kind };
	memcpy(probe->name, f->name, n);
	return 0;
}

static int allocators_add_entry(struct search *s, const struct function *f, uint32_t function,
				enum allocator_probe_kind kind)
{
	uint64_t vaddr;
	int r = prologue_find(&s->image, s->disassembler, f->vaddr, &vaddr);

	return r < 0 ? r : allocators_add_probe(s, f, vaddr, function, kind);
}

/*
 * Returns true if VADDR is in a function other than F. A path can lead there after a call that
 * never returns, or by a tail call. In both cases, that function has its own probes.
 */
static bool allocators_in_other(const struct search *s, const struct function *f, uint64_t vaddr)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct function *other = &s->functions[i];

		if (other != f && vaddr >= other->vaddr && vaddr - other->vaddr < other->bytes)
			return true;
	}
	return false;
}

/*
 * Adds the probes of a function that an exception can leave. Its result is recorded at its `ret`
 * instructions.
 */
static int allocators_add_throwing(struct search *s, const struct function *f)
{
	uint32_t function = f->means->function;
	bool is_new = function == MEMORY_FN_NEW_DIRECT;
	struct function_walk walk = allocators_new_walk(s, f);
	int r = 0;

	if (s->disassembler) {
		/*
		 * First, paths to functions that report the block themselves are excluded. If no
		 * other path returns, those functions report all blocks. Otherwise, all paths are
		 * included.
		 */
		walk.stop = is_new ? allocators_at_other : NULL;
		r = function_walk(&walk, f->vaddr);
		if (r == 0 && walk.stopped && walk.n_rets > 0) {
			walk.stop = NULL;
			r = function_walk(&walk, f->vaddr);
		}
		if (r < 0)
			return r;
	}
	if (walk.n_rets == 0) {
		if (!walk.stopped)
			s->list.flags |= ALLOCATORS_PARTIAL;
		return is_new ? allocators_add_entry(s, f, MEMORY_FN_NEW, ALLOCATOR_PROBE_ENTRY)
			      : 0;
	}
	r = allocators_add_entry(s, f, function, ALLOCATOR_PROBE_ENTRY);
	for (size_t i = 0; r == 0 && i < walk.n_rets; i++)
		if (!allocators_in_other(s, f, walk.rets[i]))
			r = allocators_add_probe(s, f, walk.rets[i], function, ALLOCATOR_PROBE_RET);
	return r;
}

static int allocators_add_probes(struct search *s, const struct function *f, bool own_malloc)
{
	uint32_t function = f->means->function;

	if (f->forwards || (function == MEMORY_FN_DELETE_DIRECT && !own_malloc))
		return 0;
	/*
	 * A file without an allocator of its own (libbsd) defines these functions for systems whose
	 * libc lacks them. Its functions call realloc(), which has its own probes.
	 */
	if ((function == MEMORY_FN_REALLOC || function == MEMORY_FN_REALLOCARRAY) && !own_malloc)
		return 0;
	if (function == MEMORY_FN_NEW_DIRECT && !own_malloc)
		return allocators_add_entry(s, f, MEMORY_FN_NEW, ALLOCATOR_PROBE_ENTRY);
	if (f->means->exits == EXITS_THROWS)
		return allocators_add_throwing(s, f);
	return allocators_add_entry(s, f, function,
				    allocators_frees(function) ? ALLOCATOR_PROBE_ENTRY
							       : ALLOCATOR_PROBE_SESSION);
}

/* Sorts by offset. A `ret` that several functions reach is kept once. */
DEFINE_ORDER(compare_probes, struct allocator_probe,
	COMPARE(x->offset, y->offset) ?: COMPARE(x->kind, y->kind)
		?: COMPARE(x->function, y->function))

static void allocators_sort_probes(struct allocator_list *l)
{
	size_t n = 0;

	SORT(l->probes, l->n, compare_probes);
	for (size_t i = 0; i < l->n; i++) {
		if (n > 0 && l->probes[n - 1].offset == l->probes[i].offset &&
		    l->probes[n - 1].kind == l->probes[i].kind)
			continue;
		l->probes[n++] = l->probes[i];
	}
	l->n = n;
}

static int allocators_search_image(struct search *s)
{
	size_t n_symbols;
	bool own_malloc;
	int r;

	if (s->image.foreign) {
		s->list.flags |= ALLOCATORS_FOREIGN;
		return 0;
	}
	if (s->image.is_static)
		s->list.flags |= ALLOCATORS_STATIC;
	if (s->image.go) {
		s->list.flags |= ALLOCATORS_GO;
		return 0;
	}
	elf_image_functions(&s->image, allocators_add_function, s, &n_symbols);
	if (n_symbols == 0)
		s->list.flags |= ALLOCATORS_NO_SYMBOLS;
	if (s->n == 0)
		return 0;
	allocators_sort_functions(s);
	own_malloc = allocators_has_allocator(s);
	if (s->image.header.e_machine == EM_X86_64) {
		r = disassembler_new(&s->disassembler) ?: elf_image_read_slots(&s->image)
			    ?: allocators_find_forwarders(s)
			    ?: allocators_find_calls_of_other(s);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < s->n; i++) {
		r = allocators_add_probes(s, &s->functions[i], own_malloc);
		if (r < 0)
			return r;
	}
	allocators_sort_probes(&s->list);
	return 0;
}

void allocator_list_deinit(struct allocator_list *l)
{
	free(l->probes);
	*l = (struct allocator_list){ 0 };
}

int allocators_find_in(const void *data, size_t n, struct allocator_list *ret)
{
	_cleanup_free_ struct search *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	r = elf_image_init(&s->image, data, n) ?: allocators_search_image(s);
	disassembler_free(s->disassembler);
	elf_image_deinit(&s->image);
	if (r == 0)
		*ret = s->list;
	else
		allocator_list_deinit(&s->list);
	return r;
}

int allocators_find(int fd, struct allocator_list *ret)
{
	size_t n;
	void *data;
	int r = sandbox_map_file(fd, &data, &n) ?: allocators_find_in(data, n, ret);

	munmap(data, n);
	return r;
}
