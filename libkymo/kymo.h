/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libkymo: reads archives and trace points, writes trace points, and queries them. libkymo(3) has
 * examples.
 *
 * Formats: archives are in the Fuchsia trace format, uncompressed or compressed (Snappy, gzip,
 * zstd, Brotli, columns). Their events and arguments are those of FXT-MAPPING.md, if kymo recorded
 * them. Trace points are in trace-db, in either layout. The language of queries is that of
 * `kymo query` (kymo(1)).
 *
 * Errors: functions that can fail return a negative errno: -ENOMEM; -EBADMSG, if the input is in
 * another format; -EINVAL, if an argument is not valid; or an error of read(). Invalid contents of
 * a file are not errors but damage: the data before it is returned, and the damage is reported.
 * Getters do not fail. An index out of range gives 0, NULL or "".
 *
 * Ownership: kymo_..._free() releases an object, accepts NULL, and returns NULL. Descriptors
 * and memory that are passed stay the caller's, and must exist as long as the object that reads
 * them. A returned pointer belongs to its object; each function says how long it is valid.
 *
 * Threads: the library has no global state. An object must not be used by two threads at the same
 * time, except struct kymo_points: any number of threads can read one, each with its own cursor
 * and its own query.
 *
 * Units: times are nanoseconds of the archive's clock. Sizes and offsets are bytes. Offsets are in
 * the uncompressed data.
 *
 * Text is unchanged from the file, followed by a NUL. It is not checked: it can contain control
 * characters and invalid UTF-8. Clean it before you print it.
 *
 * The library does not log, exit or open files by name. Objects are opaque and enums get new
 * values: ignore unknown ones.
 */
#ifndef KYMO_H
#define KYMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of the library, such as "0.2.0". Static. */
const char *kymo_version(void);

/* ---- archives (Fuchsia trace format) ---- */

typedef struct kymo_archive kymo_archive;

/* The event that was read last by kymo_archive_next(). */
typedef struct kymo_event kymo_event;

/* The results of kymo_archive_next(), besides negative errnos. */
enum kymo_step {
	KYMO_END = 0,
	KYMO_EVENT = 1,
	KYMO_DAMAGE = 2,
};

/* The kinds of events, from the records "Event record", "Scheduling record" and "Log record". */
enum kymo_event_kind {
	KYMO_EVENT_INSTANT = 0,
	KYMO_EVENT_COUNTER = 1,
	KYMO_EVENT_DURATION_BEGIN = 2,
	KYMO_EVENT_DURATION_END = 3,
	KYMO_EVENT_DURATION_COMPLETE = 4,
	KYMO_EVENT_ASYNC_BEGIN = 5,
	KYMO_EVENT_ASYNC_INSTANT = 6,
	KYMO_EVENT_ASYNC_END = 7,
	KYMO_EVENT_FLOW_BEGIN = 8,
	KYMO_EVENT_FLOW_STEP = 9,
	KYMO_EVENT_FLOW_END = 10,
	KYMO_EVENT_SWITCH = 16, /* a CPU switches to another thread */
	KYMO_EVENT_WAKEUP = 17, /* a thread is woken */
	KYMO_EVENT_LOG = 18,    /* a log message, whose text is the name */
};

/* The types of arguments: see "Argument types" in the specification of the format. */
enum kymo_argument_type {
	KYMO_ARGUMENT_NULL = 0,
	KYMO_ARGUMENT_INT32 = 1,
	KYMO_ARGUMENT_UINT32 = 2,
	KYMO_ARGUMENT_INT64 = 3,
	KYMO_ARGUMENT_UINT64 = 4,
	KYMO_ARGUMENT_DOUBLE = 5,
	KYMO_ARGUMENT_STRING = 6,
	KYMO_ARGUMENT_POINTER = 7,
	KYMO_ARGUMENT_KOID = 8,
	KYMO_ARGUMENT_BOOL = 9,
	KYMO_ARGUMENT_BLOB = 10,
};

/*
 * Start to read an archive: from FD, at its current position, or from the N bytes at P. Both wait
 * until the first bytes are there. They return 0 or a negative errno.
 */
int kymo_archive_open_fd(kymo_archive **ret, int fd);
int kymo_archive_open_memory(kymo_archive **ret, const void *p, size_t n);

kymo_archive *kymo_archive_free(kymo_archive *a);

/*
 * Reads up to the next event. Returns KYMO_EVENT; KYMO_DAMAGE, if unreadable bytes were skipped
 * before the next event; KYMO_END; or a negative errno. Records of other types are not returned,
 * but names and losses are collected from them.
 */
int kymo_archive_next(kymo_archive *a);

/*
 * Returns the event that the last kymo_archive_next() read; only valid after KYMO_EVENT. The event,
 * and all that its getters return, are valid until the next kymo_archive_next().
 */
const kymo_event *kymo_archive_event(const kymo_archive *a);

/*
 * Returns the error, after KYMO_DAMAGE; it is valid until the next kymo_archive_next(). *RET_OFFSET
 * is its offset, and *RET_BYTES the number of skipped bytes; both pointers can be NULL.
 */
const char *kymo_archive_damage(const kymo_archive *a, uint64_t *ret_offset, uint64_t *ret_bytes);

/*
 * Returns the compression of the file: "none", "snappy", "gzip", "zstd", "brotli", "columns".
 * Static.
 */
const char *kymo_archive_compression(const kymo_archive *a);

/*
 * Returns the number of events that the recorder lost, in the part of the archive that was read:
 * the sum of the events `lost` of category `kymo`. kymo_archive_full_buffers() returns how often a
 * provider's buffer was full; each time, an unknown number of events is missing.
 */
uint64_t kymo_archive_lost(const kymo_archive *a);
uint64_t kymo_archive_full_buffers(const kymo_archive *a);

/*
 * Returns the name of the process or thread with this koid ("Kernel object record"), in the part of
 * the archive that was read; NULL = unknown. Valid until the next kymo_archive_next().
 */
const char *kymo_archive_process_name(const kymo_archive *a, uint64_t process);
const char *kymo_archive_thread_name(const kymo_archive *a, uint64_t thread);

/* Returns the koid of the process of a thread, by the thread's koid; 0 = unknown. */
uint64_t kymo_archive_thread_process(const kymo_archive *a, uint64_t thread);

/*
 * Returns the Linux pid or tid that a koid stands for, in an archive that kymo recorded. (Pids can
 * be reused in a recording; koids are unique in an archive.)
 */
uint32_t kymo_koid_tid(uint64_t koid);

enum kymo_event_kind kymo_event_kind(const kymo_event *e);
uint64_t kymo_event_time_ns(const kymo_event *e);
/* Returns the end of a complete duration; for other events, their time. */
uint64_t kymo_event_end_ns(const kymo_event *e);

/* Returns the id of a counter, an asynchronous event or a flow; 0 for other events. */
uint64_t kymo_event_id(const kymo_event *e);

/* Return the category and the name of the event; "" = none. Switches and wakeups have neither. */
const char *kymo_event_category(const kymo_event *e);
const char *kymo_event_name(const kymo_event *e);

/*
 * Return the koids of the event's process and thread; 0 = unknown. For a switch, they are those of
 * the thread that is switched in; thread 0 is then the idle thread.
 */
uint64_t kymo_event_process(const kymo_event *e);
uint64_t kymo_event_thread(const kymo_event *e);

/* Returns the CPU of a switch or wakeup; -1 for other events. */
int kymo_event_cpu(const kymo_event *e);

/*
 * Return, for a switch, the thread that is switched out, and the state in which it is left
 * (ZX_THREAD_STATE); 0 for other events.
 */
uint64_t kymo_event_out_thread(const kymo_event *e);
unsigned kymo_event_out_state(const kymo_event *e);

/*
 * Returns the number of arguments of the event; their indices begin with 0. Damaged arguments are
 * left out.
 */
size_t kymo_event_arguments(const kymo_event *e);
const char *kymo_event_argument_name(const kymo_event *e, size_t i);
enum kymo_argument_type kymo_event_argument_type(const kymo_event *e, size_t i);

/* Returns the index of the first argument with this name; -1 = none. */
int kymo_event_find_argument(const kymo_event *e, const char *name);

/*
 * Return the value of argument I. Integers are converted as in C, also signed ones to uint64_t.
 * Pointers, koids and truth values are unsigned integers. Arguments of other types have the value
 * 0.
 */
uint64_t kymo_event_argument_unsigned(const kymo_event *e, size_t i);
int64_t kymo_event_argument_signed(const kymo_event *e, size_t i);
double kymo_event_argument_double(const kymo_event *e, size_t i); /* also converts integers */

/*
 * Returns the bytes of a string or blob, followed by a NUL. *RET_SIZE is their number without the
 * NUL; RET_SIZE can be NULL. Returns NULL and 0 for other types.
 */
const char *kymo_event_argument_bytes(const kymo_event *e, size_t i, size_t *ret_size);

/* ---- archives: many events at once ---- */

/*
 * The columns: arrays of the caller with an element for each event. An element has the value that
 * the function with the same name returns. Times are signed, so that differences can be computed; a
 * time that is too large (in archives of other programs) is INT64_MAX. Numbers have the byte order
 * of the machine.
 */
enum kymo_column {
	KYMO_COLUMN_TIME_NS = 0,    /* int64_t */
	KYMO_COLUMN_END_NS = 1,     /* int64_t */
	KYMO_COLUMN_KIND = 2,       /* uint8_t */
	KYMO_COLUMN_CPU = 3,        /* int32_t */
	KYMO_COLUMN_PROCESS = 4,    /* uint64_t */
	KYMO_COLUMN_THREAD = 5,     /* uint64_t */
	KYMO_COLUMN_OUT_THREAD = 6, /* uint64_t */
	KYMO_COLUMN_OUT_STATE = 7,  /* uint8_t */
	KYMO_COLUMN_ID = 8,         /* uint64_t */
	KYMO_COLUMN_CATEGORY = 9,   /* uint32_t: number of the text, for kymo_archive_text() */
	KYMO_COLUMN_NAME = 10,      /* uint32_t: the same */
};

/* The number of texts that are not stored, since there are 64 MiB of texts already. */
#define KYMO_NO_TEXT UINT32_MAX

/*
 * Sets the array of COLUMN for the next blocks. The array belongs to the caller, must be aligned
 * for its type, and must have an element for each event of a block. NULL = the column is not wanted
 * (the default). Returns 0, or -EINVAL if the library does not know the column.
 */
int kymo_archive_set_column(kymo_archive *a, enum kymo_column column, void *array);

/*
 * Limits the events that are returned from now on, also by kymo_archive_next(), to kinds whose bit
 * (1 << KIND) is in KINDS. Names and losses are still collected from all records.
 */
void kymo_archive_set_kinds(kymo_archive *a, uint64_t kinds);

/*
 * Reads up to N events (at least 1) into the columns. Returns KYMO_EVENT if N events were read;
 * otherwise what ended the block: a result of kymo_archive_next(), or -EINVAL. *RET_N is always the
 * number of events that were read. kymo_archive_event() is not valid afterwards.
 */
int kymo_archive_next_block(kymo_archive *a, size_t n, size_t *ret_n);

/*
 * Returns the text with number I in the columns, which is valid as long as the archive; "" for 0,
 * for KYMO_NO_TEXT, and for numbers from kymo_archive_texts() on. Equal texts have equal numbers.
 */
const char *kymo_archive_text(const kymo_archive *a, uint32_t i);
uint32_t kymo_archive_texts(const kymo_archive *a);

/* ---- trace points: writing (trace-db) ---- */

typedef struct kymo_writer kymo_writer;

enum kymo_layout {
	KYMO_LAYOUT_W16 = 0, /* as specified: numbers of 16 bits */
	KYMO_LAYOUT_W64 = 1, /* wider numbers; most programs use this layout */
};

enum kymo_format {
	KYMO_UNSIGNED = 0, /* 1 to 8 bytes */
	KYMO_SIGNED = 1,   /* 1, 2, 4 or 8 bytes */
	KYMO_FLOAT = 2,    /* 4 or 8 bytes */
	KYMO_POINTER = 3,  /* 1 to 8 bytes */
	KYMO_BLOB = 4,     /* any number of bytes; size 0 = each value has its own size */
};

int kymo_writer_new(kymo_writer **ret, enum kymo_layout layout);
kymo_writer *kymo_writer_free(kymo_writer *w);

/*
 * Add a name or a type. The name is copied. A type has an added name, by its number. All names and
 * types must be added before kymo_writer_begin(). The functions return the number of the name or
 * type, from 0, or -EINVAL, -EBUSY (after kymo_writer_begin()), -EMSGSIZE (too many), -ENOMEM.
 */
int kymo_writer_add_name(kymo_writer *w, const char *name);
int kymo_writer_add_type(kymo_writer *w, int name, enum kymo_format format, uint32_t size);

/*
 * Writes the names and types. A file without points is complete then. Returns 0; -EOVERFLOW, if the
 * layout cannot hold so many or so long ones; -EBUSY, if it was called before; or -ENOMEM.
 */
int kymo_writer_begin(kymo_writer *w);

/*
 * Add an entry to the current point, after its other entries. The size of a buffer applies to the
 * pointers that are added after it; size 0 removes the buffer. A statement must not be 0. If the
 * type of a blob has a size, N must be that size. The bytes of a blob must stay valid until
 * kymo_writer_end_point(). The functions return 0 or a negative errno; in that case,
 * kymo_writer_end_point() returns the same errno.
 */
int kymo_writer_statement(kymo_writer *w, uint64_t statement);
int kymo_writer_buffer(kymo_writer *w, uint64_t address, uint64_t size);
int kymo_writer_unsigned(kymo_writer *w, int name, int type, uint64_t value);
int kymo_writer_signed(kymo_writer *w, int name, int type, int64_t value);
int kymo_writer_float(kymo_writer *w, int name, int type, double value);
int kymo_writer_pointer(kymo_writer *w, int name, int type, uint64_t value);
int kymo_writer_blob(kymo_writer *w, int name, int type, const void *p, size_t n);
int kymo_writer_auxiliary(kymo_writer *w, uint64_t value);

/*
 * Writes the point, and starts the next one. Returns 0, or a negative errno, and then nothing is
 * written: -EINVAL, -EOVERFLOW (a value does not fit into its type or the layout), -EMSGSIZE (256
 * MiB were written but not taken), -ENOMEM.
 */
int kymo_writer_end_point(kymo_writer *w);

/*
 * kymo_writer_bytes() returns the bytes that were written, but not taken yet. They are valid until
 * the next call with W. kymo_writer_take() discards them. kymo_writer_flush() writes them to FD,
 * which can block, and takes them; it returns 0 or a negative errno of write().
 */
const void *kymo_writer_bytes(const kymo_writer *w, size_t *ret_size);
void kymo_writer_take(kymo_writer *w);
int kymo_writer_flush(kymo_writer *w, int fd);

/* ---- trace points: reading (trace-db) ---- */

/* All points of a file, in memory. */
typedef struct kymo_points kymo_points;

/* One point of a file. */
typedef struct kymo_point kymo_point;

/*
 * Load a file: from FD, up to its end, or from the N bytes at P. FD and P can be released
 * afterwards. The functions return 0 or a negative errno. A damaged file is no error: its points
 * before the damage are loaded.
 */
int kymo_points_load_fd(kymo_points **ret, int fd);
int kymo_points_load_memory(kymo_points **ret, const void *p, size_t n);

kymo_points *kymo_points_free(kymo_points *p);

/*
 * Returns the error of a damaged file; NULL = the file is complete. *RET_OFFSET is the offset of
 * the error; RET_OFFSET can be NULL.
 */
const char *kymo_points_damage(const kymo_points *p, uint64_t *ret_offset);

enum kymo_layout kymo_points_layout(const kymo_points *p);
uint64_t kymo_points_count(const kymo_points *p);

typedef struct kymo_cursor kymo_cursor;

/* Starts a walk over the points of P, which must exist longer than the cursor. Returns 0 or
 * -ENOMEM. */
int kymo_cursor_new(kymo_cursor **ret, const kymo_points *p);
kymo_cursor *kymo_cursor_free(kymo_cursor *c);

/*
 * Goes to the next point. Returns 1, 0 after the last one, or -ENOMEM. *RET is valid until the next
 * call.
 */
int kymo_cursor_next(kymo_cursor *c, const kymo_point **ret);

uint64_t kymo_point_number(const kymo_point *p);    /* number of the point, from 0 */
uint64_t kymo_point_statement(const kymo_point *p); /* 0 = the point has no statement */

size_t kymo_point_auxiliaries(const kymo_point *p);
uint64_t kymo_point_auxiliary(const kymo_point *p, size_t i);

/*
 * Returns the number of variables of the point; their indices begin with 0. Names and types are
 * valid as long as the points.
 */
size_t kymo_point_variables(const kymo_point *p);
const char *kymo_point_name(const kymo_point *p, size_t i);
const char *kymo_point_type(const kymo_point *p, size_t i);
enum kymo_format kymo_point_format(const kymo_point *p, size_t i);

/* Returns the index of the first variable with this name; -1 = none. */
int kymo_point_find(const kymo_point *p, const char *name);

/* Return the value of variable I. Integers and pointers are converted as in C. Variables of other
 * formats have the value 0. */
uint64_t kymo_point_unsigned(const kymo_point *p, size_t i);
int64_t kymo_point_signed(const kymo_point *p, size_t i);
double kymo_point_float(const kymo_point *p, size_t i); /* also converts integers */

/*
 * Returns the bytes of a blob, without a NUL after them, and their number in *RET_SIZE; NULL and 0
 * for other formats. The bytes are valid as long as the points.
 */
const void *kymo_point_blob(const kymo_point *p, size_t i, size_t *ret_size);

/*
 * Returns true if the size of the buffer to which pointer I points is known. *RET_SIZE is then the
 * number of bytes from the pointer to the end of the buffer.
 */
bool kymo_point_buffer_size(const kymo_point *p, size_t i, uint64_t *ret_size);

/* ---- queries ---- */

typedef struct kymo_query kymo_query;

/* A result: for each variable of a query, a value; together they make the query true. */
typedef struct kymo_result kymo_result;

int kymo_query_new(kymo_query **ret);
kymo_query *kymo_query_free(kymo_query *q);

/*
 * Declare a free variable, "NAME" or "NAME:TYPE,TYPE"; set the expression, after all declarations;
 * add a soft expression, after the expression. The functions return 0; -EBUSY, in another order or
 * after an expression that failed; -ENOMEM; or, with a text in kymo_query_error(), -EINVAL or
 * -E2BIG (too many soft expressions).
 */
int kymo_query_declare(kymo_query *q, const char *variable);
int kymo_query_set_expression(kymo_query *q, const char *expression);
int kymo_query_add_soft(kymo_query *q, const char *expression);

/* Limits the query to points for which statement & MASK equals STATEMENT. */
void kymo_query_set_statement(kymo_query *q, uint64_t statement, uint64_t mask);

/* Limits the query to one random point, which depends on SEED only; 0 = all points. */
void kymo_query_set_seed(kymo_query *q, uint32_t seed);

/* Limits the query to N results; 0 = all results. */
void kymo_query_set_limit(kymo_query *q, uint64_t n);

/* If KEEP, also returns results that have the same statement, names and types as an earlier
 * result. */
void kymo_query_set_keep_duplicates(kymo_query *q, bool keep);

/*
 * Returns the reason of the last -EINVAL or -E2BIG; "" = no error. *RET_AT is its position in the
 * text that was passed, in bytes; RET_AT can be NULL. Valid until the next call with Q.
 */
const char *kymo_query_error(const kymo_query *q, size_t *ret_at);

/*
 * Returns the number of variables of the query: free variables, and variables that its expressions
 * name. Their indices begin with 0.
 */
size_t kymo_query_variables(const kymo_query *q);
const char *kymo_query_variable_name(const kymo_query *q, size_t i);
bool kymo_query_variable_is_free(const kymo_query *q, size_t i);

/*
 * Gets each result. R and its points are valid until the function returns. If the function returns
 * another value than 0, the query ends.
 */
typedef int (*kymo_result_fn)(void *userdata, const kymo_result *r);

/*
 * Calls FN for each result, in the order of points. Returns 0, or the value with which FN ended the
 * query; -EINVAL (the points do not have a type of a free variable), -E2BIG (too many assignments
 * of a point, or too many joined points), both with kymo_query_error(); -EBUSY (after an
 * expression that failed); or -ENOMEM. A query can run several times. Without an expression, all
 * points match.
 */
int kymo_query_run(kymo_query *q, const kymo_points *p, kymo_result_fn fn, void *userdata);

/*
 * Returns the point of the result. kymo_result_earlier() is the earlier point, if the expression
 * joins points; otherwise NULL. kymo_result_earlier_nth() is also that of e2/ (N = 2) and of e3/
 * (N = 3).
 */
const kymo_point *kymo_result_point(const kymo_result *r);
const kymo_point *kymo_result_earlier(const kymo_result *r);
const kymo_point *kymo_result_earlier_nth(const kymo_result *r, unsigned n);

/*
 * Returns the point of variable I of the query, and the index of the variable in that point. For a
 * variable of `none`, which is in no point of the result, returns NULL and SIZE_MAX.
 */
const kymo_point *kymo_result_variable_point(const kymo_result *r, size_t i);
size_t kymo_result_variable(const kymo_result *r, size_t i);

#ifdef __cplusplus
}
#endif

#endif
