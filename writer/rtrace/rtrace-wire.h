/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sp-rtrace text protocol: the format and limits of its lines.
 *
 * A report is text, with one record per line:
 *
 *	version=2.0, arch=x86_64, process=/usr/bin/demo, pid=42, filter=leaks, origin=kymo 0.1.0,
 *	& NAME : PATH                         an attached file
 *	@ MASK : NAME                         a context; MASK is hexadecimal
 *	<MASK> : TYPE (DESCRIPTION) [FLAG]    a kind of resource; MASK is one bit
 *	: PATH => 0xSTART-0xEND               a mapped file
 *	N. @MASKS [HH:MM:SS.mmm] NAME<TYPE>(SIZE) = 0xID	an allocation
 *	N. @MASKS [HH:MM:SS.mmm] NAME<TYPE>(0xID)		a deallocation
 *	TAB$NAME = VALUE                      an argument of the call
 *	TAB0xADDRESS TEXT                     a frame of its backtrace, the innermost one first
 *	                                      (an empty line ends the backtrace)
 *	## ...                                a comment; post-processing drops "# ..."
 *
 * Adjacent calls share the backtrace after them (the compressed form). The specification is vague.
 * Where the only reader in use (sp-rtrace's own post-processor) requires a certain form, that form
 * is written, and both forms are read. docs/architecture/rtrace.md describes the differences.
 */
#pragma once

#include <stdint.h>

/*
 * Maximum sizes, in bytes. Other readers have buffers of these sizes, and overflow some of them
 * without a check.
 */
enum {
	/* Maximum length of a line, with its line feed; longer lines are read in pieces. */
	RTRACE_LINE_MAX = 4095,
	/* Maximum length of a line that is written, without its line feed. */
	RTRACE_LINE_WRITE_MAX = 4000,
	RTRACE_HEADER_WRITE_MAX = 2000,
	RTRACE_NAME_MAX =
		/*
		 * Maximum length of names of functions, contexts and attachments; of descriptions,
		 * and of header values.
		 */
	500,
	RTRACE_TYPE_MAX = 100,
	RTRACE_ARG_NAME_MAX = 120,
};

/*
 * Limits of numbers: in other readers, indices and sizes are ints, and a time is an int of
 * milliseconds.
 */
#define RTRACE_INT_MAX      INT32_MAX
#define RTRACE_TIME_MAX_NS  ((uint64_t)INT32_MAX * 1000000)
#define RTRACE_PID_MAX      9999999
#define RTRACE_RESOURCE_MAX 32 /* number of bits of a mask */

/* All readers understand milliseconds; the specification requires microseconds. */
enum { RTRACE_TIME_DIGITS = 3, RTRACE_TIME_SPEC_DIGITS = 6 };

#define RTRACE_VERSION "2.0"

/* The keys of the header in order, and their names in reports of version 1. */
#define RTRACE_HEADER_KEYS(X)                                                                      \
	X(VERSION, "version")                                                                      \
	X(ARCH, "arch")                                                                            \
	X(TIMESTAMP, "timestamp")                                                                  \
	X(PROCESS, "process")                                                                      \
	X(PID, "pid")                                                                              \
	X(FILTER, "filter")                                                                        \
	X(DEPTH, "backtrace depth")                                                                \
	X(ORIGIN, "origin")
#define RTRACE_KEY_TIMESTAMP_V1 "time"

enum rtrace_key {
#define RTRACE_KEY(name, text) RTRACE_KEY_##name,
	RTRACE_HEADER_KEYS(RTRACE_KEY) RTRACE_KEY_MAX
#undef RTRACE_KEY
};

/* The filters of a report, in the order of the header. */
#define RTRACE_FILTERS(X)                                                                          \
	X(LEAKS, 0, "leaks")                                                                       \
	X(COMPRESS, 1, "compress")                                                                 \
	X(RESOLVE, 2, "resolve")

enum rtrace_filter {
#define RTRACE_FILTER(name, bit, text) RTRACE_FILTER_##name = 1 << (bit),
	RTRACE_FILTERS(RTRACE_FILTER)
#undef RTRACE_FILTER
};

/* The beginnings of records, and the separators of their parts. */
#define RTRACE_MAP_MARK     ": "
#define RTRACE_MAP_ARROW    " => "
#define RTRACE_CONTEXT_MARK "@ "
#define RTRACE_FILE_MARK    "& "
#define RTRACE_COLON        " : "
#define RTRACE_ARG_MARK     "\t$"
#define RTRACE_EQUALS       " = "
#define RTRACE_REFCOUNT     "refcount"
#define RTRACE_COMMENT      "## "
#define RTRACE_TEMPORARY    "# " /* a comment that the next post-processing drops */

/* The argument with a size that does not fit into the call, where it is then RTRACE_INT_MAX. */
#define RTRACE_ARG_SIZE "size"

/* The text for an address that is in no mapped file. */
#define RTRACE_FRAME_UNKNOWN "in ??"

/* The kinds of resources that tools know, and their names in these tools. */
#define RTRACE_RESOURCES(X)                                                                        \
	X(MEMORY, "memory", "memory allocation in bytes", 0)                                       \
	X(MEMTRANSFER, "memtransfer", "memory transfer operations in bytes", 0)                    \
	X(FD, "fd", "file descriptor", 0)                                                          \
	X(FP, "fp", "file pointer", 0)                                                             \
	X(SEGMENT, "segment", "shared memory segment", 1)                                          \
	X(ADDRESS, "address", "attached shared memory segment", 0)                                 \
	X(CONTROL, "control", "shared memory segment control", 0)                                  \
	X(PSHMMAP, "pshmmap", "private shared memory mapping", 0)                                  \
	X(FSHMMAP, "fshmmap", "file backed shared memory mapping", 0)                              \
	X(SHMMAP, "shmmap", "shared memory object mapping", 0)                                     \
	X(PSHMOBJ, "pshmobj", "shared memory object", 0)                                           \
	X(PSHMFD, "pshmfd", "shared memory object descriptor", 0)                                  \
	X(GOBJECT, "gobject", "GObject instance", 1)                                               \
	X(QOBJECT, "qobject", "QObject instance", 0)                                               \
	X(PTHREAD, "pthread_t", "joinable thread", 0)                                              \
	X(PTHREAD_DETACHED, "_pthread_t", "detached thread", 0)

enum rtrace_known_resource {
#define RTRACE_RESOURCE(name, type, description, refcount) RTRACE_KNOWN_##name,
	RTRACE_RESOURCES(RTRACE_RESOURCE) RTRACE_KNOWN_MAX
#undef RTRACE_RESOURCE
};
