/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Functions of Python in user stacks (docs/architecture/python.md). bpf/record.h has the
 * record of a code object.
 *
 * The frames of the interpreter follow the native frames of a stack, innermost first, each as one
 * word. Addresses have neither of the two highest bits, so these bits can mark the words of Python
 * and some native frames.
 */
#pragma once

#if !defined(__bpf__)
#include <linux/types.h>
#endif

#define PYTHON_LAYOUTS_MAX    8
#define PYTHON_LAYOUT_UNKNOWN 0xffffffffu /* in place of a number */

/*
 * The places of the data that a walk reads, in the interpreters of a version: offsets in
 * structures, in bytes. A row for each version is in capture/unwind/python-layouts.h.
 */
struct python_layout {
	/* of _PyRuntime: the thread that has the lock, and the key of pthread_getspecific() */
	__u16 runtime_current, runtime_key;
	/* of PyThreadState: pthread_self(), and the innermost C frame of the interpreter */
	__u16 thread_id, thread_cframe;
	/* of that C frame: the innermost frame of Python, and the next C frame */
	__u16 cframe_current, cframe_previous;
	/* of a frame */
	__u16 frame_code, frame_previous, frame_instruction;
	/* of a code object, which begins like any object, and of its type's size */
	__u16 object_type, code_units, code_first_line, code_instructions;
	__u16 code_file, code_name, code_qualname, code_lines;
	/* of a str */
	__u16 text_length, text_hash, text_state, text_ascii, text_wide;
	/* of a bytes */
	__u16 bytes_length, bytes_data;
};
_Static_assert(sizeof(struct python_layout) == 48, "ABI");

/* The interpreter in a file. Addresses are as in the file's table. */
#define PYTHON_CODE_PARTS 2
struct python_file {
	/* The number of the layout, from 1 on; 0 = no interpreter */
	__u32 layout;
	__u32 passed;    /* 1: a walk has passed an interpreter whose layout is unknown */
	__u64 runtime;   /* _PyRuntime */
	__u64 code_type; /* PyCode_Type */
	/* the parts of the function that executes the code of Python */
	struct {
		__u32 begin, end;
	} parts[PYTHON_CODE_PARTS];
};

/*
 * A native frame of the function that executes the code of Python has this bit. Addresses of user
 * space are smaller than PYTHON_NATIVE_END.
 */
#define PYTHON_EVAL       (1ull << 62)
#define PYTHON_NATIVE_END (1ull << 47)
/* The innermost native frame with PYTHON_EVAL can also have these bits. */
#define PYTHON_IS_BARE    (1ull << 61) /* may have no Python frame: its function begins or ends */
#define PYTHON_IS_SHORT   (1ull << 60) /* the stack's outermost native frames are missing */
#define PYTHON_EVAL_FLAGS (PYTHON_EVAL | PYTHON_IS_BARE | PYTHON_IS_SHORT)

/* A frame of Python. */
#define PYTHON_WORD       (1ull << 63)
#define PYTHON_WORD_MASK  (3ull << 62)
#define PYTHON_IS_ENTRY   (1ull << 61) /* the last frame that its native frame executes */
#define PYTHON_IS_CUT     (1ull << 60) /* the last word: it stands for functions that are missing */
#define PYTHON_UNIT_SHIFT 43
#define PYTHON_UNIT_MAX   0x1ffffu /* the maximum number of a code unit; this value = unknown */
/* The id of the code object, from REC_PYTHON_CODE; 0 = unreadable. */
#define PYTHON_ID_MASK ((1ull << PYTHON_UNIT_SHIFT) - 1)

/* ---- numbers of stacks ---- */

#define PYTHON_COUNT_STACKS 0 /* an interpreter with a known layout executes Python */
/* of these: */
#define PYTHON_COUNT_NO_THREAD  1 /* the state of the thread was not found */
#define PYTHON_COUNT_UNREADABLE 2 /* a frame was not readable, so its callers are missing */
#define PYTHON_COUNT_FULL       3 /* there was no room for all frames */
#define _PYTHON_COUNTS          4
