/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator-calls: calls each allocation function that it is linked with, at least once, and mark()
 * before and after each call, for a tracer that steps through it. At the start it stops with
 * SIGTRAP, with the address of mark() in the first argument register.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "bpf/record.h"

#define WEAK __attribute__((weak))

void *aligned_alloc(size_t, size_t) WEAK;
void *memalign(size_t, size_t) WEAK;
void *valloc(size_t) WEAK;
void *pvalloc(size_t) WEAK;
void *reallocarray(void *, size_t, size_t) WEAK;
void *mallocx(size_t, int) WEAK;
void *rallocx(void *, size_t, int) WEAK;
void dallocx(void *, int) WEAK;
void sdallocx(void *, size_t, int) WEAK;
void *mi_heap_get_default(void) WEAK;
void *mi_heap_calloc(void *, size_t, size_t) WEAK;
void *mi_heap_malloc_aligned(void *, size_t, size_t) WEAK;
void *mi_heap_realloc(void *, void *, size_t) WEAK;
void *mi_heap_reallocn(void *, void *, size_t, size_t) WEAK;
void *new_one(size_t) __asm__("_Znwm") WEAK;
void *new_many(size_t) __asm__("_Znam") WEAK;
void *new_aligned(size_t, size_t) __asm__("_ZnwmSt11align_val_t") WEAK;
void *new_nothrow(size_t, const char *) __asm__("_ZnwmRKSt9nothrow_t") WEAK;
void *new_aligned_nothrow(size_t, size_t,
			  const char *) __asm__("_ZnwmSt11align_val_tRKSt9nothrow_t") WEAK;
void delete_one(void *) __asm__("_ZdlPv") WEAK;
void delete_many(void *) __asm__("_ZdaPv") WEAK;
void delete_sized(void *, size_t) __asm__("_ZdlPvm") WEAK;
void delete_aligned(void *, size_t) __asm__("_ZdlPvSt11align_val_t") WEAK;

void mark(uint64_t function, uint64_t first, uint64_t second, uint64_t result);

/* FUNCTION is about to be called, or (0) has returned. */
__attribute__((noinline)) void mark(uint64_t function, uint64_t first, uint64_t second,
				    uint64_t result)
{
	__asm__ volatile("" : : "r"(function), "r"(first), "r"(second), "r"(result) : "memory");
}

#define BEFORE(function, first, second) mark(function, (uint64_t)(first), (uint64_t)(second), 0)

static void *after(void *p)
{
	mark(0, 0, 0, (uint64_t)p);
	return p;
}

/* The function, the expected values of its first and second argument, and the call. */
#define RUN(function, first, second, call)                                                         \
	({                                                                                         \
		BEFORE(function, first, second);                                                   \
		after(call);                                                                       \
	})
#define RUN_FREE(function, p, call)                                                                \
	do {                                                                                       \
		BEFORE(function, p, 0);                                                            \
		call;                                                                              \
		after(NULL);                                                                       \
	} while (0)

static void call_c(size_t n)
{
	void *a, *b = NULL;

	a = RUN(MEMORY_FN_MALLOC, n, 0, malloc(n));
	RUN_FREE(MEMORY_FN_FREE, a, free(a));
	a = RUN(MEMORY_FN_CALLOC, n, 3, calloc(n, 3));
	a = RUN(MEMORY_FN_REALLOC, a, n * 2, realloc(a, n * 2));
	if (reallocarray)
		a = RUN(MEMORY_FN_REALLOCARRAY, a, n, reallocarray(a, n, 5));
	RUN_FREE(MEMORY_FN_FREE, a, free(a));
	BEFORE(MEMORY_FN_POSIX_MEMALIGN, &b, 64);
	mark(0, 0, 0, (uint64_t)posix_memalign(&b, 64, n));
	RUN_FREE(MEMORY_FN_FREE, b, free(b));
	if (aligned_alloc)
		free(RUN(MEMORY_FN_ALIGNED_ALLOC, 64, n * 64, aligned_alloc(64, n * 64)));
	if (memalign)
		free(RUN(MEMORY_FN_MEMALIGN, 128, n, memalign(128, n)));
	if (valloc)
		free(RUN(MEMORY_FN_VALLOC, n, 0, valloc(n)));
	if (pvalloc && !mallocx) /* jemalloc leaves it to glibc */
		free(RUN(MEMORY_FN_PVALLOC, n, 0, pvalloc(n)));
}

static void call_jemalloc(size_t n)
{
	void *a;

	if (!mallocx || !rallocx || !dallocx || !sdallocx)
		return;
	a = RUN(MEMORY_FN_MALLOCX, n, 0, mallocx(n, 0));
	a = RUN(MEMORY_FN_RALLOCX, a, n * 2, rallocx(a, n * 2, 0));
	RUN_FREE(MEMORY_FN_DALLOCX, a, dallocx(a, 0));
	a = RUN(MEMORY_FN_MALLOCX, n, 0, mallocx(n, 0));
	RUN_FREE(MEMORY_FN_DALLOCX, a, sdallocx(a, n, 0));
}

static void call_mimalloc(size_t n)
{
	void *a, *heap;

	if (!mi_heap_get_default || !mi_heap_calloc || !mi_heap_malloc_aligned ||
	    !mi_heap_realloc || !mi_heap_reallocn)
		return;
	heap = mi_heap_get_default();
	free(RUN(MEMORY_FN_MEMALIGN, heap, n, mi_heap_malloc_aligned(heap, n, 64)));
	a = RUN(MEMORY_FN_HEAP_CALLOC, heap, n, mi_heap_calloc(heap, n, 3));
	a = RUN(MEMORY_FN_HEAP_REALLOC, heap, a, mi_heap_realloc(heap, a, n * 2));
	free(RUN(MEMORY_FN_HEAP_REALLOCARRAY, heap, a, mi_heap_reallocn(heap, a, n, 5)));
}

static void call_cpp(size_t n)
{
	void *a;

	if (!new_one || !new_many || !new_aligned || !new_nothrow || !new_aligned_nothrow ||
	    !delete_one || !delete_many || !delete_sized || !delete_aligned)
		return;
	a = RUN(MEMORY_FN_NEW_DIRECT, n, 0, new_one(n));
	RUN_FREE(MEMORY_FN_DELETE_DIRECT, a, delete_one(a));
	a = RUN(MEMORY_FN_NEW_DIRECT, n, 0, new_many(n));
	RUN_FREE(MEMORY_FN_DELETE_DIRECT, a, delete_many(a));
	a = RUN(MEMORY_FN_NEW_DIRECT, n, 0, new_nothrow(n, ""));
	RUN_FREE(MEMORY_FN_DELETE_DIRECT, a, delete_sized(a, n));
	a = RUN(MEMORY_FN_NEW_DIRECT, n, 64, new_aligned(n, 64));
	RUN_FREE(MEMORY_FN_DELETE_DIRECT, a, delete_aligned(a, 64));
	a = RUN(MEMORY_FN_NEW_DIRECT, n, 64, new_aligned_nothrow(n, 64, ""));
	RUN_FREE(MEMORY_FN_DELETE_DIRECT, a, delete_aligned(a, 64));
}

static void *run_thread(void *p)
{
	return p;
}

static void call_threads(void)
{
	pthread_t thread;

	BEFORE(MEMORY_FN_PTHREAD_CREATE, &thread, 0);
	mark(0, 0, 0, (uint64_t)pthread_create(&thread, NULL, run_thread, NULL));
	BEFORE(MEMORY_FN_PTHREAD_JOIN, thread, 0);
	mark(0, 0, 0, (uint64_t)pthread_join(thread, NULL));
	BEFORE(MEMORY_FN_PTHREAD_CREATE, &thread, 0);
	mark(0, 0, 0, (uint64_t)pthread_create(&thread, NULL, run_thread, NULL));
	BEFORE(MEMORY_FN_PTHREAD_DETACH, thread, 0);
	mark(0, 0, 0, (uint64_t)pthread_detach(thread));
}

static void call_all(size_t n)
{
	call_c(n);
	call_jemalloc(n);
	call_mimalloc(n);
	call_cpp(n);
}

int main(void)
{
	/* The first call of each function goes through the dynamic linker. */
	call_all(24);
#if defined(__x86_64__)
	__asm__ volatile("int3" : : "D"(mark));
#endif
	call_all(24);
	call_all(40000);
	call_threads();
	return 0;
}
