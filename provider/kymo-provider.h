/* SPDX-License-Identifier: MIT */
/*
 * libkymo-provider: a program's own events in the archives of kymo.
 *
 *     KYMO_CATEGORY(render);
 *
 *     int main(void)
 *     {
 *             kymo_provider_start("my-program");
 *             ...
 *             kymo_scope(render, "frame", kymo_int("number", n));
 *             kymo_instant(render, "vsync");
 *             kymo_counter(render, "queue", 0, kymo_unsigned("length", length));
 *     }
 *
 * A category is off until a recording asks for it (`kymo record -e app:render`). An event of a
 * category that is off costs one load and one branch; its arguments are not evaluated. An event of
 * a category that is on is written into memory that is shared with the recorder, without a lock, a
 * system call or an allocation, from any thread and from signal handlers. There are two exceptions:
 * the first event of a thread makes a system call for the thread id, and an event that needs a new
 * block takes longer.
 *
 * Names of events and arguments must be string literals, or other texts that never change. Names of
 * at most KYMO_NAME_MAX bytes are written once per recording; longer names are written with each
 * event.
 *
 * The functions never fail in a way that a program needs to handle. Events that do not fit are
 * counted, and the recording shows the number.
 *
 * A process that fork() made records nothing until it calls kymo_provider_start().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KYMO_NAME_MAX    1024
#define KYMO_NAME_INLINE 0x8000

/*
 * A text that is registered once. The library sets `ref`. If `ref` is KYMO_NAME_INLINE from the
 * start, the text is not registered, but written with each event, and must exist only during the
 * call.
 */
struct kymo_name {
	const char *text;
	uint32_t length;
	uint32_t ref;
};

#define KYMO_NAME(text)                                                                            \
	{                                                                                          \
		text, (uint32_t)(sizeof("" text) - 1), 0                                           \
	}

/* A category. The library sets the members. */
struct kymo_category {
	uint32_t sessions; /* a bit for each recording that records the category */
	struct kymo_name name;
	struct kymo_category *next;
};

enum kymo_argument_type {
	KYMO_ARGUMENT_NULL = 0,
	KYMO_ARGUMENT_INT32 = 1,
	KYMO_ARGUMENT_UINT32 = 2,
	KYMO_ARGUMENT_INT64 = 3,
	KYMO_ARGUMENT_UINT64 = 4,
	KYMO_ARGUMENT_DOUBLE = 5,
	KYMO_ARGUMENT_TEXT = 6,
	KYMO_ARGUMENT_POINTER = 7,
	KYMO_ARGUMENT_KOID = 8,
	KYMO_ARGUMENT_BOOL = 9,
	KYMO_ARGUMENT_BLOB = 10,
};

struct kymo_argument {
	struct kymo_name *name;
	uint32_t type; /* enum kymo_argument_type */
	uint32_t size; /* of a text or blob */
	union {
		uint64_t bits;
		double number;
		const void *data; /* only read during the call */
	} value;
};

enum kymo_event_type {
	KYMO_INSTANT = 0,
	KYMO_COUNTER = 1,
	KYMO_BEGIN = 2,
	KYMO_END = 3,
	KYMO_COMPLETE = 4,
	KYMO_ASYNC_BEGIN = 5,
	KYMO_ASYNC_INSTANT = 6,
	KYMO_ASYNC_END = 7,
	KYMO_FLOW_BEGIN = 8,
	KYMO_FLOW_STEP = 9,
	KYMO_FLOW_END = 10,
};

/* ---- the provider ---- */

/*
 * Starts the provider of this process, with NAME (of which at most 63 bytes are used). The provider
 * has a thread, which waits for recordings, blocks all signals, and never wakes up without a
 * recording. The recording service can start later than the program. Returns 0, or a negative errno
 * if the program cannot be recorded. Further calls do nothing, except in a child after fork(). Must
 * not be called from signal handlers.
 */
int kymo_provider_start(const char *name);

/* Ends the provider: all events are off then. Must not be called from signal handlers. */
void kymo_provider_stop(void);

/* ---- categories ---- */

void kymo_category_add(struct kymo_category *category);
void kymo_category_remove(struct kymo_category *category);

/*
 * Defines the category ID; must be used in one file, at file scope. The category exists as long as
 * the program or the shared library that contains it. Other files use KYMO_CATEGORY_DECLARE().
 */
#define KYMO_CATEGORY(id) KYMO_CATEGORY_NAMED(id, #id)
#define KYMO_CATEGORY_NAMED(id, text)                                                              \
	struct kymo_category kymo_category_##id = { 0, KYMO_NAME(text), 0 };                       \
	__attribute__((constructor)) static void kymo_category_begin_##id(void)                    \
	{                                                                                          \
		kymo_category_add(&kymo_category_##id);                                            \
	}                                                                                          \
	__attribute__((destructor)) static void kymo_category_end_##id(void)                       \
	{                                                                                          \
		kymo_category_remove(&kymo_category_##id);                                         \
	}                                                                                          \
	KYMO_CATEGORY_DECLARE(id)
#define KYMO_CATEGORY_DECLARE(id) extern struct kymo_category kymo_category_##id

/* True if a recording records the category. */
#define kymo_is_on(id)                                                                             \
	__builtin_expect(__atomic_load_n(&kymo_category_##id.sessions, __ATOMIC_RELAXED) != 0, 0)

/* ---- arguments: kymo_int("name", value) and so on ---- */

static inline struct kymo_argument kymo_argument_make(struct kymo_name *name, uint32_t type,
						      uint32_t size, uint64_t bits)
{
	struct kymo_argument a;

	a.name = name;
	a.type = type;
	a.size = size;
	a.value.bits = bits;
	return a;
}

static inline struct kymo_argument kymo_argument_int(struct kymo_name *name, int64_t v)
{
	return kymo_argument_make(name, v == (int32_t)v ? KYMO_ARGUMENT_INT32 : KYMO_ARGUMENT_INT64,
				  0, (uint64_t)v);
}

static inline struct kymo_argument kymo_argument_unsigned(struct kymo_name *name, uint64_t v)
{
	return kymo_argument_make(
		name, v == (uint32_t)v ? KYMO_ARGUMENT_UINT32 : KYMO_ARGUMENT_UINT64, 0, v);
}

static inline struct kymo_argument kymo_argument_double(struct kymo_name *name, double v)
{
	struct kymo_argument a = kymo_argument_make(name, KYMO_ARGUMENT_DOUBLE, 0, 0);

	a.value.number = v;
	return a;
}

static inline struct kymo_argument kymo_argument_data(struct kymo_name *name, uint32_t type,
						      const void *data, size_t size)
{
	struct kymo_argument a =
		kymo_argument_make(name, type, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size, 0);

	a.value.data = data;
	return a;
}

#define KYMO_ARGUMENT_(name, call)                                                                 \
	__extension__({                                                                            \
		static struct kymo_name kymo_argument_name_ = KYMO_NAME(name);                     \
		call;                                                                              \
	})
#define kymo_null(name)                                                                            \
	KYMO_ARGUMENT_(name, kymo_argument_make(&kymo_argument_name_, KYMO_ARGUMENT_NULL, 0, 0))
#define kymo_int(name, v)      KYMO_ARGUMENT_(name, kymo_argument_int(&kymo_argument_name_, v))
#define kymo_unsigned(name, v) KYMO_ARGUMENT_(name, kymo_argument_unsigned(&kymo_argument_name_, v))
#define kymo_double(name, v)   KYMO_ARGUMENT_(name, kymo_argument_double(&kymo_argument_name_, v))
#define kymo_bool(name, v)                                                                         \
	KYMO_ARGUMENT_(name, kymo_argument_make(&kymo_argument_name_, KYMO_ARGUMENT_BOOL, 0,       \
						(v) ? 1 : 0))
#define kymo_pointer(name, v)                                                                      \
	KYMO_ARGUMENT_(name, kymo_argument_make(&kymo_argument_name_, KYMO_ARGUMENT_POINTER, 0,    \
						(uint64_t)(uintptr_t)(v)))
/* A thread of this program, by its tid, or a track. */
#define kymo_koid(name, v)                                                                         \
	KYMO_ARGUMENT_(name, kymo_argument_make(&kymo_argument_name_, KYMO_ARGUMENT_KOID, 0, v))
/* TEXT ends with a NUL. */
#define kymo_text(name, text)                                                                      \
	KYMO_ARGUMENT_(name, const char *kymo_text_ = (text);                                      \
		       kymo_argument_data(&kymo_argument_name_, KYMO_ARGUMENT_TEXT, kymo_text_,    \
					  kymo_text_ ? strlen(kymo_text_) : 0))
#define kymo_bytes(name, data, size)                                                               \
	KYMO_ARGUMENT_(name,                                                                       \
		       kymo_argument_data(&kymo_argument_name_, KYMO_ARGUMENT_BLOB, data, size))

/* ---- events ---- */

/* For the macros below, not to be called directly. TRACK 0 = the calling thread. */
void kymo_event_write(struct kymo_category *category, unsigned type, uint64_t track,
		      struct kymo_name *name, uint64_t value, const struct kymo_argument *args,
		      unsigned n_args);
void kymo_log_write(struct kymo_category *category, uint64_t track, const char *text, size_t size);
void kymo_blob_write(struct kymo_category *category, struct kymo_name *name, const void *data,
		     size_t size);
void kymo_object_write(struct kymo_category *category, uint64_t pointer, struct kymo_name *name,
		       const struct kymo_argument *args, unsigned n_args);

/* Returns the present time, for kymo_complete(). Its unit depends on the recording. */
uint64_t kymo_now(void);

#define KYMO_EVENT_(type, id, track, name_text, value, ...)                                        \
	do {                                                                                       \
		if (kymo_is_on(id)) {                                                              \
			static struct kymo_name kymo_name_ = KYMO_NAME(name_text);                 \
			__extension__ const struct kymo_argument kymo_args_[] = { __VA_ARGS__ };   \
			kymo_event_write(                                                          \
				&kymo_category_##id, type, track, &kymo_name_, value, kymo_args_,  \
				(unsigned)(sizeof(kymo_args_) / sizeof(struct kymo_argument)));    \
		}                                                                                  \
	} while (0)

/*
 * Events of the calling thread, in category ID; up to 15 arguments follow. The arguments of a
 * duration can be in its kymo_begin() or in its kymo_end(). The number `counter`, `async` or `flow`
 * joins events with one name. kymo_complete() writes a duration from START, an earlier kymo_now(),
 * to now.
 */
#define kymo_instant(id, name, ...) KYMO_EVENT_(KYMO_INSTANT, id, 0, name, 0, ##__VA_ARGS__)
#define kymo_begin(id, name, ...)   KYMO_EVENT_(KYMO_BEGIN, id, 0, name, 0, ##__VA_ARGS__)
#define kymo_end(id, name, ...)     KYMO_EVENT_(KYMO_END, id, 0, name, 0, ##__VA_ARGS__)
#define kymo_complete(id, name, start, ...)                                                        \
	KYMO_EVENT_(KYMO_COMPLETE, id, 0, name, start, ##__VA_ARGS__)
#define kymo_counter(id, name, counter, ...)                                                       \
	KYMO_EVENT_(KYMO_COUNTER, id, 0, name, counter, ##__VA_ARGS__)
#define kymo_async_begin(id, name, async, ...)                                                     \
	KYMO_EVENT_(KYMO_ASYNC_BEGIN, id, 0, name, async, ##__VA_ARGS__)
#define kymo_async_instant(id, name, async, ...)                                                   \
	KYMO_EVENT_(KYMO_ASYNC_INSTANT, id, 0, name, async, ##__VA_ARGS__)
#define kymo_async_end(id, name, async, ...)                                                       \
	KYMO_EVENT_(KYMO_ASYNC_END, id, 0, name, async, ##__VA_ARGS__)
#define kymo_flow_begin(id, name, flow, ...)                                                       \
	KYMO_EVENT_(KYMO_FLOW_BEGIN, id, 0, name, flow, ##__VA_ARGS__)
#define kymo_flow_step(id, name, flow, ...)                                                        \
	KYMO_EVENT_(KYMO_FLOW_STEP, id, 0, name, flow, ##__VA_ARGS__)
#define kymo_flow_end(id, name, flow, ...)                                                         \
	KYMO_EVENT_(KYMO_FLOW_END, id, 0, name, flow, ##__VA_ARGS__)

/*
 * An event of TYPE (enum kymo_event_type) on a track: kymo_on(track, KYMO_INSTANT, id, "name", 0)
 */
#define kymo_on(track, type, id, name, value, ...)                                                 \
	KYMO_EVENT_(type, id, track, name, value, ##__VA_ARGS__)

/* Writes TEXT as a line of a log, without a line end. */
#define kymo_log(id, text)                                                                         \
	do {                                                                                       \
		if (kymo_is_on(id)) {                                                              \
			const char *kymo_log_ = (text);                                            \
			kymo_log_write(&kymo_category_##id, 0, kymo_log_, strlen(kymo_log_));      \
		}                                                                                  \
	} while (0)

/* Writes a piece of a stream of bytes, of at most 30,000 bytes. Readers join the pieces with the
 * same name. */
#define kymo_blob(id, name_text, data, size)                                                       \
	do {                                                                                       \
		if (kymo_is_on(id)) {                                                              \
			static struct kymo_name kymo_name_ = KYMO_NAME(name_text);                 \
			kymo_blob_write(&kymo_category_##id, &kymo_name_, data, size);             \
		}                                                                                  \
	} while (0)

/* Writes a label and arguments for the object at POINTER, to which arguments of events can
 * refer. */
#define kymo_object(id, pointer, name_text, ...)                                                   \
	do {                                                                                       \
		if (kymo_is_on(id)) {                                                              \
			static struct kymo_name kymo_name_ = KYMO_NAME(name_text);                 \
			__extension__ const struct kymo_argument kymo_args_[] = { __VA_ARGS__ };   \
			kymo_object_write(                                                         \
				&kymo_category_##id, (uint64_t)(uintptr_t)(pointer), &kymo_name_,  \
				kymo_args_,                                                        \
				(unsigned)(sizeof(kymo_args_) / sizeof(struct kymo_argument)));    \
		}                                                                                  \
	} while (0)

/* ---- threads ---- */

/*
 * Names the calling thread; or makes a track, a row of the timeline that is no thread, such as a
 * queue of a device. Recordings that start later also get the names, up to 1,000 of them.
 * kymo_track_new() returns the track; 0 = there are too many. Must not be called from signal
 * handlers before kymo_provider_start().
 */
void kymo_thread_name(const char *name);
uint64_t kymo_track_new(const char *name);

/* ---- scopes ---- */

struct kymo_scope {
	struct kymo_category *category; /* NULL = was off at the begin */
	struct kymo_name *name;
};

static inline void kymo_scope_end(struct kymo_scope *scope)
{
	if (__builtin_expect(scope->category != 0, 0))
		kymo_event_write(scope->category, KYMO_END, 0, scope->name, 0, 0, 0);
}

#ifdef __cplusplus
}

namespace kymo
{
/* Ends a duration at the end of its scope, also when an exception passes. */
class scope : public kymo_scope
{
      public:
	explicit scope(const kymo_scope &begun) : kymo_scope(begun)
	{
	}
	~scope()
	{
		kymo_scope_end(this);
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
};
} // namespace kymo
#endif

#define KYMO_SCOPE_NAME_(number)  KYMO_SCOPE_NAME2_(number)
#define KYMO_SCOPE_NAME2_(number) kymo_scope_number_##number
#define KYMO_SCOPE_BEGIN_(id, name_text, ...)                                                      \
	__extension__({                                                                            \
		static struct kymo_name kymo_name_ = KYMO_NAME(name_text);                         \
		struct kymo_scope kymo_scope_ = { 0, &kymo_name_ };                                \
		if (kymo_is_on(id)) {                                                              \
			__extension__ const struct kymo_argument kymo_args_[] = { __VA_ARGS__ };   \
			kymo_event_write(                                                          \
				&kymo_category_##id, KYMO_BEGIN, 0, &kymo_name_, 0, kymo_args_,    \
				(unsigned)(sizeof(kymo_args_) / sizeof(struct kymo_argument)));    \
			kymo_scope_.category = &kymo_category_##id;                                \
		}                                                                                  \
		kymo_scope_;                                                                       \
	})

/* A duration from here to the end of the enclosing block. */
#ifdef __cplusplus
#define kymo_scope(id, name_text, ...)                                                             \
	::kymo::scope KYMO_SCOPE_NAME_(__COUNTER__)(KYMO_SCOPE_BEGIN_(id, name_text, ##__VA_ARGS__))
#else
#define kymo_scope(id, name_text, ...)                                                             \
	__attribute__((cleanup(kymo_scope_end), unused)) struct kymo_scope KYMO_SCOPE_NAME_(       \
		__COUNTER__) = KYMO_SCOPE_BEGIN_(id, name_text, ##__VA_ARGS__)
#endif
