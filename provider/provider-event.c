/* SPDX-License-Identifier: MIT */
/*
 * Writes records. A record is first measured, then reserved in the buffer of each session that
 * records its category, and written there. Nothing here locks, allocates or calls the kernel,
 * except for the first event of a thread.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "provider/provider-state.h"

#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define PROVIDER_HAS_RSEQ 1
#endif

#ifdef __x86_64__
#include <x86intrin.h>
#endif

enum { PROVIDER_BLOB_MAX = 30000 };

/* (with this TLS model, no memory is allocated, even if a signal handler uses the variable
 * first) */
static __thread struct provider_thread {
	uint32_t epoch;
	uint32_t tid;
	uint32_t index; /* 0 = inline */
} provider_thread __attribute__((tls_model("initial-exec")));

/* The names of threads and tracks, which are kept for sessions that start later. */
static struct provider_named {
	uint64_t thread; /* tid or track */
	uint32_t epoch;  /* the epoch of the process to which the thread belongs */
	uint32_t string;
	uint32_t complete;
} named[PROVIDER_NAMED_MAX];

static uint32_t n_named;
static uint64_t n_tracks;

/* ---- the place and the time ---- */

/* Returns the slot of this CPU. If the thread has just moved to another CPU, this costs time, but
 * is no error. */
static inline unsigned provider_event_slot(void)
{
#ifdef PROVIDER_HAS_RSEQ
	if (provider_likely(__rseq_size)) {
		uint32_t cpu;

		__asm__ volatile("movl %%fs:(%1), %0" : "=r"(cpu) : "r"(__rseq_offset));
		return cpu % PROVIDER_SLOTS;
	}
#endif
	return (unsigned)sched_getcpu() % PROVIDER_SLOTS;
}

static inline uint64_t provider_event_now(void)
{
	struct timespec ts;

#ifdef __x86_64__
	if (provider_likely(provider_state->clock == PROVIDER_CLOCK_TSC))
		return __rdtsc();
#endif
	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

uint64_t kymo_now(void)
{
	return provider_state ? provider_event_now() : 0;
}

/* ---- threads ---- */

static void provider_event_append(unsigned sessions, const uint64_t *words, unsigned n)
{
	for (unsigned i = 0; i < PROVIDER_SESSIONS; i++) {
		struct provider_session *s = &provider_state->sessions[i];

		if (!(sessions >> i & 1) || !provider_session_enter(s))
			continue;
		provider_session_append(s, words, n);
		provider_session_leave(s);
	}
}

static void provider_event_append_thread(unsigned sessions, uint32_t index, uint32_t tid)
{
	uint64_t words[3] = { fxt_put_record_type(FXT_RECORD_THREAD) | fxt_put_record_words(3) |
				      fxt_put_thread_index(index),
			      0, tid };

	provider_event_append(sessions, words, 3);
}

static __attribute__((noinline)) void provider_event_register_thread(uint32_t epoch)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid), index = 0;

	if (__atomic_load_n(&provider_state->n_threads, __ATOMIC_RELAXED) < PROVIDER_THREADS)
		index = __atomic_add_fetch(&provider_state->n_threads, 1, __ATOMIC_RELAXED);
	if (index > PROVIDER_THREADS)
		index = 0;
	if (index > 0) {
		__atomic_store_n(&provider_state->threads[index], tid, __ATOMIC_SEQ_CST);
		provider_event_append_thread(
			__atomic_load_n(&provider_state->active, __ATOMIC_SEQ_CST), index, tid);
	}
	provider_thread.tid = tid;
	provider_thread.index = index;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	provider_thread.epoch = epoch;
}

static inline const struct provider_thread *provider_event_thread(void)
{
	uint32_t epoch = provider_state->epoch;

	if (!provider_likely(provider_thread.epoch == epoch))
		provider_event_register_thread(epoch);
	return &provider_thread;
}

/* ---- texts ---- */

static __attribute__((noinline)) void provider_event_intern(struct kymo_name *name)
{
	uint32_t none = 0, id = provider_strings_intern(name->text, name->length);

	/* If another thread was faster, its value stays, since it may be in use already. */
	__atomic_compare_exchange_n(&name->ref, &none, id ? id : PROVIDER_INLINE, false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Registers NAME. Returns the number of words that NAME needs in the record. */
static inline unsigned provider_event_name_words(struct kymo_name *name)
{
	if (!provider_likely(__atomic_load_n(&name->ref, __ATOMIC_ACQUIRE)))
		provider_event_intern(name);
	if (provider_likely(__atomic_load_n(&name->ref, __ATOMIC_RELAXED) < PROVIDER_INLINE))
		return 0;
	return (unsigned)fxt_stream_words(name->length);
}

static inline uint32_t provider_event_ref(const struct kymo_name *name)
{
	uint32_t ref = __atomic_load_n(&name->ref, __ATOMIC_RELAXED);

	if (provider_likely(ref < PROVIDER_INLINE))
		return ref;
	return name->length ? PROVIDER_INLINE | name->length : 0;
}

static uint64_t *provider_event_put_bytes(uint64_t *p, const void *data, uint32_t size)
{
	unsigned n = (unsigned)fxt_stream_words(size);

	if (n == 0)
		return p;
	p[n - 1] = 0;
	memcpy(p, data, size);
	return p + n;
}

static inline uint64_t *provider_event_put_name(uint64_t *p, const struct kymo_name *name)
{
	if (provider_likely(__atomic_load_n(&name->ref, __ATOMIC_RELAXED) < PROVIDER_INLINE))
		return p;
	return provider_event_put_bytes(p, name->text, name->length);
}

/* ---- arguments ---- */

static const uint8_t argument_words[] = {
	[KYMO_ARGUMENT_NULL] = 1,  [KYMO_ARGUMENT_INT32] = 1,   [KYMO_ARGUMENT_UINT32] = 1,
	[KYMO_ARGUMENT_INT64] = 2, [KYMO_ARGUMENT_UINT64] = 2,  [KYMO_ARGUMENT_DOUBLE] = 2,
	[KYMO_ARGUMENT_TEXT] = 1,  [KYMO_ARGUMENT_POINTER] = 2, [KYMO_ARGUMENT_KOID] = 2,
	[KYMO_ARGUMENT_BOOL] = 1,  [KYMO_ARGUMENT_BLOB] = 1,
};

static inline bool provider_event_has_data(const struct kymo_argument *a)
{
	return a->type == KYMO_ARGUMENT_TEXT || a->type == KYMO_ARGUMENT_BLOB;
}

static inline uint64_t provider_event_argument_words(const struct kymo_argument *a)
{
	uint64_t n;

	if (a->type >= sizeof(argument_words))
		return FXT_RECORD_WORDS_MAX + 1;
	n = argument_words[a->type] + provider_event_name_words(a->name);
	return provider_event_has_data(a) ? n + fxt_stream_words(a->size) : n;
}

static inline uint64_t *provider_event_put_argument(uint64_t *p, const struct kymo_argument *a,
						    uint64_t words)
{
	uint64_t head = a->type | words << 4 | (uint64_t)provider_event_ref(a->name) << 16;

	switch (argument_words[a->type] == 2 ? KYMO_ARGUMENT_INT64 : a->type) {
	case KYMO_ARGUMENT_INT64:
		*p = head;
		p = provider_event_put_name(p + 1, a->name);
		*p++ = a->value.bits;
		return p;
	case KYMO_ARGUMENT_TEXT:
		*p = head | (a->size ? (uint64_t)(PROVIDER_INLINE | a->size) << 32 : 0);
		break;
	case KYMO_ARGUMENT_BLOB:
		*p = head | (uint64_t)a->size << 32;
		break;
	default: /* (the bits of a null argument are 0) */
		*p = head | a->value.bits << 32;
		return provider_event_put_name(p + 1, a->name);
	}
	p = provider_event_put_name(p + 1, a->name);
	return provider_event_put_bytes(p, a->value.data, a->size);
}

/* Returns the number of words of all arguments; if there are too many arguments, more words than a
 * record can have. */
static inline uint64_t provider_event_measure(const struct kymo_argument *args, unsigned n_args)
{
	uint64_t words = 0;

	if (n_args > FXT_ARGS_MAX)
		return FXT_RECORD_WORDS_MAX + 1;
	for (unsigned i = 0; i < n_args; i++)
		words += provider_event_argument_words(&args[i]);
	return words;
}

static inline uint64_t *provider_event_put_arguments(uint64_t *p, const struct kymo_argument *args,
						     unsigned n_args)
{
	for (unsigned i = 0; i < n_args; i++)
		p = provider_event_put_argument(p, &args[i],
						provider_event_argument_words(&args[i]));
	return p;
}

/* ---- records ---- */

/* Reserves a record of WORDS words in SLOT of session I, and marks the record as busy. Returns NULL
 * if there is no room (the loss is counted). */
static inline uint64_t *provider_event_reserve(unsigned i, unsigned slot, uint64_t words)
{
	struct provider_session *s = &provider_state->sessions[i];
	uint64_t *p;

	if (!provider_likely(words <= FXT_RECORD_WORDS_MAX))
		return provider_session_reserve_slow(s, slot,
						     (FXT_RECORD_WORDS_MAX + 1) * FXT_WORD_BYTES);
	p = provider_session_reserve(s, slot, words * FXT_WORD_BYTES);
	if (!p)
		return NULL;
	__atomic_store_n(p, PROVIDER_BUSY_BITS | words << 4, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return p;
}

/* Finishes the record at P. */
static inline void provider_event_finish(uint64_t *p, uint64_t head)
{
	__atomic_store_n(p, head, __ATOMIC_RELEASE);
}

/* True if a word follows the arguments of an event of TYPE: an id, or the end of a complete
 * event. */
static inline bool provider_event_has_value(unsigned type)
{
	return type == KYMO_COUNTER || type >= KYMO_COMPLETE;
}

#define FOR_EACH_SESSION(i, sessions)                                                              \
	for (unsigned left_ = (sessions), i; left_ && (i = (unsigned)__builtin_ctz(left_), true);  \
	     left_ &= left_ - 1)

/* Writes an inline thread: a process, which is always 0, and ID, that of a thread or track. */
static inline uint64_t *provider_event_put_thread(uint64_t *q, uint64_t id)
{
	*q++ = 0;
	*q++ = id;
	return q;
}

void kymo_event_write(struct kymo_category *category, unsigned type, uint64_t track,
		      struct kymo_name *name, uint64_t value, const struct kymo_argument *args,
		      unsigned n_args)
{
	uint32_t sessions = __atomic_load_n(&category->sessions, __ATOMIC_ACQUIRE);
	const struct provider_thread *t;
	uint64_t now, words, head, *p, *q;
	unsigned index, slot;

	if (!sessions || type > KYMO_FLOW_END)
		return;
	t = provider_event_thread();
	index = track ? 0 : t->index;
	words = 2 + (index ? 0 : 2) + provider_event_name_words(&category->name) +
		provider_event_name_words(name) + provider_event_measure(args, n_args) +
		(unsigned)provider_event_has_value(type);
	head = FXT_RECORD_EVENT | words << 4 | (uint64_t)type << 16 | (uint64_t)n_args << 20 |
	       (uint64_t)index << 24 | (uint64_t)provider_event_ref(&category->name) << 32 |
	       (uint64_t)provider_event_ref(name) << 48;
	slot = provider_event_slot();
	now = provider_event_now();
	FOR_EACH_SESSION(i, sessions)
	{
		p = provider_event_reserve(i, slot, words);
		if (!p)
			continue;
		p[1] = type == KYMO_COMPLETE ? value : now;
		q = p + 2;
		if (!index)
			q = provider_event_put_thread(q, track ? track : t->tid);
		q = provider_event_put_name(q, &category->name);
		q = provider_event_put_name(q, name);
		q = provider_event_put_arguments(q, args, n_args);
		if (provider_event_has_value(type))
			*q = type == KYMO_COMPLETE ? now : value;
		provider_event_finish(p, head);
	}
}

void kymo_log_write(struct kymo_category *category, uint64_t track, const char *text, size_t size)
{
	uint32_t sessions = __atomic_load_n(&category->sessions, __ATOMIC_ACQUIRE);
	const struct provider_thread *t;
	uint64_t now, words, *p, *q;
	unsigned index, slot;

	if (!sessions)
		return;
	t = provider_event_thread();
	index = track ? 0 : t->index;
	words = 2 + (index ? 0 : 2) +
		(size > FXT_STRING_BYTES_MAX ? FXT_RECORD_WORDS_MAX : fxt_stream_words(size));
	slot = provider_event_slot();
	now = provider_event_now();
	FOR_EACH_SESSION(i, sessions)
	{
		p = provider_event_reserve(i, slot, words);
		if (!p)
			continue;
		p[1] = now;
		q = p + 2;
		if (!index)
			q = provider_event_put_thread(q, track ? track : t->tid);
		provider_event_put_bytes(q, text, (uint32_t)size);
		provider_event_finish(p, FXT_RECORD_LOG | words << 4 | (uint64_t)size << 16 |
						 (uint64_t)index << 32);
	}
}

void kymo_blob_write(struct kymo_category *category, struct kymo_name *name, const void *data,
		     size_t size)
{
	uint32_t sessions = __atomic_load_n(&category->sessions, __ATOMIC_ACQUIRE);
	uint64_t words, *p, *q;

	if (!sessions)
		return;
	words = 1 + provider_event_name_words(name) +
		(size > PROVIDER_BLOB_MAX ? FXT_RECORD_WORDS_MAX : fxt_stream_words(size));
	/* Pieces of a stream have no times, so they all go into one slot, where they stay in
	 * order. */
	FOR_EACH_SESSION(i, sessions)
	{
		p = provider_event_reserve(i, 0, words);
		if (!p)
			continue;
		q = provider_event_put_name(p + 1, name);
		provider_event_put_bytes(q, data, (uint32_t)size);
		provider_event_finish(
			p, FXT_RECORD_BLOB | words << 4 | (uint64_t)provider_event_ref(name) << 16 |
				   (uint64_t)size << 32 | fxt_put_blob_type(FXT_BLOB_DATA));
	}
}

void kymo_object_write(struct kymo_category *category, uint64_t pointer, struct kymo_name *name,
		       const struct kymo_argument *args, unsigned n_args)
{
	uint32_t sessions = __atomic_load_n(&category->sessions, __ATOMIC_ACQUIRE);
	uint64_t words, *p, *q;
	unsigned slot;

	if (!sessions)
		return;
	words = 3 + provider_event_name_words(name) + provider_event_measure(args, n_args);
	slot = provider_event_slot();
	FOR_EACH_SESSION(i, sessions)
	{
		p = provider_event_reserve(i, slot, words);
		if (!p)
			continue;
		p[1] = pointer;
		p[2] = 0;
		q = provider_event_put_name(p + 3, name);
		provider_event_put_arguments(q, args, n_args);
		provider_event_finish(p, FXT_RECORD_USERSPACE_OBJECT | words << 4 |
						 (uint64_t)provider_event_ref(name) << 24 |
						 (uint64_t)n_args << 40);
	}
}

/* ---- names of threads ---- */

static void provider_event_append_name(unsigned sessions, uint64_t thread, uint32_t string)
{
	uint32_t process = provider_strings_intern("process", 7);
	uint64_t words[4] = { fxt_put_record_type(FXT_RECORD_KERNEL_OBJECT) |
				      fxt_put_record_words(4) |
				      fxt_put_kernel_object_type(FXT_OBJECT_THREAD) |
				      fxt_put_kernel_object_name(string) |
				      fxt_put_kernel_object_n_args(1),
			      thread, fxt_arg64(FXT_ARG_KOID, process), 0 };

	provider_event_append(sessions, words, 4);
}

static void provider_event_name_thread(uint64_t thread, const char *name)
{
	size_t length = strlen(name);
	uint32_t i, string = provider_strings_intern(
			    name, length > KYMO_NAME_MAX ? KYMO_NAME_MAX : (uint32_t)length);

	if (!string)
		return;
	/* (if a thread is named again, it has two entries, and the later one counts) */
	i = __atomic_load_n(&n_named, __ATOMIC_RELAXED) < PROVIDER_NAMED_MAX
		    ? __atomic_fetch_add(&n_named, 1, __ATOMIC_RELAXED)
		    : PROVIDER_NAMED_MAX;
	if (i < PROVIDER_NAMED_MAX) {
		named[i].thread = thread;
		named[i].epoch = provider_state->epoch;
		named[i].string = string;
		__atomic_store_n(&named[i].complete, 1, __ATOMIC_SEQ_CST);
	}
	provider_event_append_name(__atomic_load_n(&provider_state->active, __ATOMIC_SEQ_CST),
				   thread, string);
}

void kymo_thread_name(const char *name)
{
	if (provider_init() == 0)
		provider_event_name_thread((uint32_t)syscall(SYS_gettid), name);
}

uint64_t kymo_track_new(const char *name)
{
	uint64_t track;

	if (provider_init() < 0 ||
	    __atomic_load_n(&n_tracks, __ATOMIC_RELAXED) >= PROVIDER_NAMED_MAX)
		return 0;
	track = PROVIDER_TRACK | __atomic_add_fetch(&n_tracks, 1, __ATOMIC_RELAXED);
	provider_event_name_thread(track, name);
	return track;
}

void provider_event_begin(unsigned i)
{
	uint32_t n = __atomic_load_n(&n_named, __ATOMIC_ACQUIRE);

	for (uint32_t index = 1; index <= PROVIDER_THREADS; index++) {
		uint32_t tid = __atomic_load_n(&provider_state->threads[index], __ATOMIC_SEQ_CST);

		if (tid)
			provider_event_append_thread(1U << i, index, tid);
	}
	for (uint32_t k = 0; k < n && k < PROVIDER_NAMED_MAX; k++)
		if (__atomic_load_n(&named[k].complete, __ATOMIC_SEQ_CST) &&
		    (named[k].thread & PROVIDER_TRACK || named[k].epoch == provider_state->epoch ||
		     named[k].epoch == 0))
			provider_event_append_name(1U << i, named[k].thread, named[k].string);
}
