/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of the apitrace call trace format, versions 0 to 6:
 *
 *	trace = version [semantic_version property* ""] event*	(the bracket from version 6 on)
 *
 * Integers are varints with seven bits per byte, the lowest first. Strings consist of their length
 * and their bytes. Floats are little-endian. A signature (function, struct, enum, bitmask, stack
 * frame) is an id, followed by a body at its first occurrence in the file. Each of the five kinds
 * has its own ids. An unknown byte ends the trace: the format does not allow skipping anything, and
 * so cannot be extended.
 */
#pragma once

enum {
	APITRACE_VERSION_OLD_ENUMS = 2,  /* last version in which an enum has only one entry */
	APITRACE_VERSION_THREADS = 4,    /* first version in which enter events have a thread */
	APITRACE_VERSION_PROPERTIES = 6, /* first version with properties */
	APITRACE_VERSION_MAX = 6,        /* version that is written */
};

enum apitrace_event {
	APITRACE_EVENT_ENTER = 0,
	APITRACE_EVENT_LEAVE = 1,
};

enum apitrace_detail {
	APITRACE_DETAIL_END = 0,
	APITRACE_DETAIL_ARG = 1,
	APITRACE_DETAIL_RET = 2,
	APITRACE_DETAIL_THREAD = 3,
	APITRACE_DETAIL_BACKTRACE = 4,
	APITRACE_DETAIL_FLAGS = 5,
};

enum apitrace_frame_detail {
	APITRACE_FRAME_END = 0,
	APITRACE_FRAME_MODULE = 1,
	APITRACE_FRAME_FUNCTION = 2,
	APITRACE_FRAME_FILE = 3,
	APITRACE_FRAME_LINE = 4,
	APITRACE_FRAME_OFFSET = 5,
};

enum apitrace_type {
	APITRACE_NULL = 0x00,
	APITRACE_FALSE = 0x01,
	APITRACE_TRUE = 0x02,
	APITRACE_SINT = 0x03, /* the magnitude of a negative number */
	APITRACE_UINT = 0x04,
	APITRACE_FLOAT = 0x05,
	APITRACE_DOUBLE = 0x06,
	APITRACE_STRING = 0x07,
	APITRACE_BLOB = 0x08,
	APITRACE_ENUM = 0x09,
	APITRACE_BITMASK = 0x0a,
	APITRACE_ARRAY = 0x0b,
	APITRACE_STRUCT = 0x0c,
	APITRACE_POINTER = 0x0d,
	APITRACE_REPR = 0x0e, /* two values: for people, and for programs */
	APITRACE_WSTRING = 0x0f,
};

/* Flags of a call. */
enum { APITRACE_FLAG_FAKE = 1 };
