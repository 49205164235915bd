/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The frames of Python of the current task. All memory is read without waiting: data that is not
 * present is unknown. The verifier checks each function once; functions get their state by a
 * pointer, so that the verifier does not track the values.
 */
#include "bpf/python.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/unwind.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* User space increments this number when it forgets the code objects that were sent. */
__u32 python_generation = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PYTHON_LAYOUTS_MAX);
	__type(key, __u32);
	__type(value, struct python_layout);
} python_layouts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, _PYTHON_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} python_counts SEC(".maps");

/*
 * The code objects that a CPU has sent. An element is one word, so any context can change it. An
 * object is in one of two neighbouring elements. The first of the two has the object that was sent
 * later.
 */
#define PYTHON_SENT_BITS 12

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 << PYTHON_SENT_BITS);
	__type(key, __u32);
	__type(value, __u64);
} python_sent SEC(".maps");

/* The place of thread-specific data in glibc's struct pthread, at the thread pointer. */
#define PYTHON_GLIBC_DATA   0x310
#define PYTHON_GLIBC_KEYS   32 /* with greater keys, the data is elsewhere */
#define PYTHON_GLIBC_STRIDE 16
#define PYTHON_GLIBC_VALUE  8

/* The interpreter of a stack, and the walk through the frames of a thread in it. */
struct python_walk {
	__u64 shift; /* address in the table of the interpreter's file minus address */
	__u64 frame; /* the next one; 0 = none */
	/*
	 * the C frame outside that of `frame`; the current Python frame of `caller` has called the
	 * chain of `frame`
	 */
	__u64 caller;
	__u64 outer; /* the C frame of the thread's first interpreter, which is walked next; 0 =
		      * none */
	__u64 code;  /* the code object of the last frame; 0 = there was no frame */
	__u64 id;    /* its id */
	__u64 now_ns;
	__u16 file; /* of the interpreter; UNWIND_FILE_NONE = not found yet */
	/*
	 * (numbers are small, since a walk is on the stack, which all eBPF programs of a call chain
	 * share)
	 */
	__u8 layout;
	__u8 is_memory; /* records go into the ring of allocations */
	__u8 first;     /* the number of the innermost marked frame, from 1 on; 0 = none */
	/* 1 = the innermost native frame, if it is marked, has no frame of Python */
	__u8 is_bare;
	__u8 pad_0[2];
};

__noinline int python_count(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&python_counts, &what);

	if (n)
		__sync_fetch_and_add(n, 1);
	return 0;
}

#if defined(__TARGET_ARCH_x86)
/* Returns the word at ADDRESS; 0 if it is unreadable. */
static __always_inline __u64 python_word(__u64 address)
{
	__u64 word;

	return bpf_probe_read_user(&word, sizeof(word), (const void *)address) < 0 ? 0 : word;
}

static __always_inline const struct python_layout *python_layout_of(const struct python_walk *w)
{
	__u32 number = w->layout;

	return bpf_map_lookup_elem(&python_layouts, &number);
}

static __always_inline const struct unwind_file *python_file_of(const struct python_walk *w)
{
	__u32 number = w->file;

	return bpf_map_lookup_elem(&unwind_files, &number);
}

/* ---- code objects ---- */

/*
 * Copies the str at ADDRESS into the ROOM bytes at TO: its begin, or its end if FROM_END. Returns
 * the number of bytes, or 0 if the str is unreadable. *RET_KIND is the size of a character in
 * bytes, and *RET_IS_CUT is 1 if there are more bytes.
 */
static __always_inline __u32 python_copy_text(const struct python_layout *l, __u64 address,
					      __u8 *to, const __u32 room, const bool from_end,
					      __u8 *ret_kind, __u8 *ret_is_cut)
{
	__u64 length = python_word(address + l->text_length), n;
	__u32 state = (__u32)python_word(address + l->text_state), kind = state >> 2 & 7;
	bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;

	*ret_kind = kind;
	*ret_is_cut = 0;
	if (!is_compact || kind == 0 || length > 1 << 20)
		return 0;
	n = length * kind;
	*ret_is_cut = n > room;
	address += is_ascii ? l->text_ascii : l->text_wide;
	if (from_end && n > room)
		address += n - room;
	if (n > room)
		n = room;
	barrier_var(n);
	if (n > room)
		return 0;
	return bpf_probe_read_user(to, n, (const void *)address) < 0 ? 0 : n;
}

/* Fills REC with the texts of code object CODE. Returns 1 if the name is readable, otherwise 0. */
__noinline int python_fill(struct rec_python_code *rec, const struct python_walk *w, __u64 code)
{
	const struct python_layout *l;

	if (!rec || !w)
		return 0;
	l = python_layout_of(w);
	if (!l)
		return 0;
	rec->first_line = (__u32)python_word(code + l->code_first_line);
	rec->n_name =
		python_copy_text(l, python_word(code + l->code_qualname), rec->name,
				 PYTHON_NAME_BYTES, false, &rec->name_kind, &rec->name_is_cut);
	rec->n_file = python_copy_text(l, python_word(code + l->code_file), rec->file,
				       PYTHON_FILE_BYTES, true, &rec->file_kind, &rec->file_is_cut);
	return rec->n_name > 0;
}

/*
 * Sends the code object of W as ID, with at most ROOM of the N bytes of its table of LINES. Returns
 * 0 if there is no room in the ring, 1 if the name was not readable, 2 otherwise.
 */
static __always_inline int python_send_part(const struct python_walk *w,
					    const struct python_layout *l, __u64 id, __u64 lines,
					    __u64 n, const __u32 room)
{
	__u32 ring = w->is_memory ? REC_RING_MEMORY : REC_RING_STACKS;
	__u16 kind = w->is_memory ? REC_HEAP_PYTHON_CODE : REC_PYTHON_CODE;
	struct rec_python_code *rec = rec_reserve_spare(ring, sizeof(*rec) + room, 1, w->now_ns);
	int is_named;

	if (!rec)
		return 0;
	rec_fill_head(&rec->head, w->now_ns, kind, sizeof(*rec) + room, bpf_get_current_task_btf());
	if (n > room)
		n = room;
	barrier_var(n);
	if (n > room ||
	    bpf_probe_read_user(rec->lines, n, (const void *)(lines + l->bytes_data)) < 0)
		n = 0;
	rec->id = id;
	rec->n_lines = n;
	is_named = python_fill(rec, w, w->code);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 1 + (is_named != 0);
}

/*
 * Sends the code object of W as ID. If there is no room for all of its table of lines, the begin of
 * the table is sent. Returns like python_send_part().
 */
static __always_inline int python_send(const struct python_walk *w, const struct python_layout *l,
				       __u64 id)
{
	__u64 lines = python_word(w->code + l->code_lines);
	__u64 n = python_word(lines + l->bytes_length);
	int sent = 0;

	if (n > PYTHON_LINES_BYTES(1))
		sent = python_send_part(w, l, id, lines, n, PYTHON_LINES_BYTES(2));
	if (!sent && n > PYTHON_LINES_BYTES(0))
		sent = python_send_part(w, l, id, lines, n, PYTHON_LINES_BYTES(1));
	return sent ?: python_send_part(w, l, id, lines, n, PYTHON_LINES_BYTES(0));
}

/*
 * The number of words that the id of a text without a hash contains from the begin, and again from
 * the end, of the text.
 */
#define PYTHON_HASH_WORDS 4

/*
 * Adds the str at ADDRESS to H: its length and its hash, or its begin and its end if it has no hash
 * yet. (The qualified names of methods never get a hash.)
 */
__noinline __u64 python_hash_text(const struct python_walk *w, __u64 h, __u64 address)
{
	const struct python_layout *l = w ? python_layout_of(w) : NULL;
	__u64 length, hash, n;
	__u32 state;

	if (!l)
		return h;
	length = python_word(address + l->text_length);
	hash = python_word(address + l->text_hash);
	h = stack_mix(stack_mix(h, address), length);
	if (hash != (__u64)-1)
		return stack_mix(h, hash);
	if (length > 1 << 20)
		return h;
	state = (__u32)python_word(address + l->text_state);
	n = length * (state >> 2 & 7);
	address += state >> 6 & 1 ? l->text_ascii : l->text_wide;
	/* Other objects can follow a text, so only its own bytes count. */
	if (n < sizeof(n))
		return stack_mix(h, python_word(address) & ((1ull << 8 * n) - 1));
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i <= PYTHON_HASH_WORDS; i++) {
		if (i * sizeof(n) > n)
			break;
		h = stack_mix(h, python_word(address + (i - 1) * sizeof(n)));
		h = stack_mix(h, python_word(address + n - i * sizeof(n)));
	}
	return h;
}

/*
 * Returns the id of W's code object, and sends it unless this CPU has sent it. The id is a hash of
 * the object's contents, so other code at the same address has another id. Returns 0 if the object
 * is unreadable, or is not a code object, or could not be sent.
 */
__noinline __u64 python_code(const struct python_walk *w)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct python_layout *l;
	const struct unwind_file *f;
	__u64 h, code, lines, id, key, *latest, *other;
	__u32 slot, next;
	int sent;

	if (!w)
		return 0;
	l = python_layout_of(w);
	f = python_file_of(w);
	code = w->code;
	if (!l || !f || python_word(code + l->object_type) != f->python.code_type - w->shift)
		return 0;
	lines = python_word(code + l->code_lines);
	h = stack_mix(stack_seed, (__u64)BPF_CORE_READ(p, mm));
	h = stack_mix(stack_mix(h, code), python_word(code + l->code_units));
	h = stack_mix(h, (__u32)python_word(code + l->code_first_line));
	h = stack_mix(stack_mix(h, lines), python_word(lines + l->bytes_length));
	h = stack_mix(h, python_word(lines + l->bytes_data));
	h = python_hash_text(w, h, python_word(code + l->code_qualname));
	h = python_hash_text(w, h, python_word(code + l->code_name));
	h = python_hash_text(w, h, python_word(code + l->code_file));
	id = h & PYTHON_ID_MASK ?: 1;
	key = stack_mix(h, (__u64) * (volatile __u32 *)&python_generation << 1 | w->is_memory);
	slot = key >> (64 - PYTHON_SENT_BITS) & ~1u;
	next = slot + 1;
	latest = bpf_map_lookup_elem(&python_sent, &slot);
	other = bpf_map_lookup_elem(&python_sent, &next);
	if (!latest || !other)
		return 0;
	if (*(volatile __u64 *)latest == key || *(volatile __u64 *)other == key)
		return id;
	sent = python_send(w, l, id);
	if (!sent)
		return 0;
	/*
	 * (without a name, the object is not marked as sent, since its name can be readable next
	 * time)
	 */
	if (sent == 1)
		return id;
	*(volatile __u64 *)other = *(volatile __u64 *)latest;
	*(volatile __u64 *)latest = key;
	return id;
}

/* ---- frames ---- */

/* Moves W to the current frame of CFRAME. */
static __always_inline void python_enter(struct python_walk *w, const struct python_layout *l,
					 __u64 cframe)
{
	w->frame = python_word(cframe + l->cframe_current);
	w->caller = python_word(cframe + l->cframe_previous);
}

/*
 * Moves W to the next frame. Returns the frame at which W was, as a word without an id; 0 = that
 * frame is unreadable. The last frame of a chain is the one whose caller is the current frame of
 * the next C frame. (The interpreter's own mark is_entry is also on frames of generators that were
 * not called: throw() enters an exception into them.)
 */
__noinline __u64 python_next(struct python_walk *w)
{
	const struct python_layout *l = w ? python_layout_of(w) : NULL;
	__u64 frame, unit, previous;
	bool is_entry;

	if (!l)
		return 0;
	frame = w->frame;
	w->code = python_word(frame + l->frame_code);
	if (!w->code || bpf_probe_read_user(&previous, sizeof(previous),
					    (const void *)(frame + l->frame_previous)) < 0)
		return 0;
	unit = python_word(frame + l->frame_instruction) - (w->code + l->code_instructions);
	/* (a function that has just been called is before its first unit) */
	unit = (__s64)unit < 0 ? 0 : unit >> 1;
	if (unit > PYTHON_UNIT_MAX)
		unit = PYTHON_UNIT_MAX;
	is_entry = !previous || previous == python_word(w->caller + l->cframe_current);
	if (is_entry)
		w->caller = python_word(w->caller + l->cframe_previous);
	w->frame = previous;
	if (!previous && w->outer) {
		python_enter(w, l, w->outer);
		w->outer = 0;
	}
	return PYTHON_WORD | (is_entry ? PYTHON_IS_ENTRY : 0) | unit << PYTHON_UNIT_SHIFT;
}

/* ---- threads ---- */

/*
 * The function that executes Python puts its C frame into the thread's state, and then stores the
 * current Python frame in this C frame. The first bytes of the function's code save registers, and
 * the code just after them does both steps. The C frame is in the first bytes of the function's
 * stack frame.
 */
#define PYTHON_PROLOGUE_BYTES 0x10
#define PYTHON_BEGIN_BYTES    0x100
#define PYTHON_CFRAME_BYTES   0x180
#define PYTHON_UNREADABLE     1 /* an address of no frame */

/* Returns true if one of the REGS has VALUE. */
static __always_inline bool python_is_in_register(const struct pt_regs *regs, __u64 value)
{
	return value == regs->ax || value == regs->cx || value == regs->dx || value == regs->di ||
	       value == regs->r8 || value == regs->r9 || value == regs->r10 || value == regs->r11;
}

/*
 * As python_is_in_register(), for the registers in which the interpreter's function keeps its
 * frame.
 */
static __always_inline bool python_is_frame_in_register(const struct pt_regs *regs, __u64 value)
{
	return value == regs->si || value == regs->bx || value == regs->bp || value == regs->r12 ||
	       value == regs->r13 || value == regs->r14 || value == regs->r15;
}

/*
 * Moves W to the current frame of CFRAME, the innermost C frame of the thread. If the function may
 * not have stored its current frame yet, the stored value is valid only if a register of the
 * function has it. Otherwise W begins at the C frame of the caller, if a register still has that C
 * frame or its current frame; if not, no frame is readable.
 */
static __always_inline void python_enter_innermost(struct python_walk *w,
						   const struct python_layout *l,
						   const struct unwind_file *f, __u64 cframe)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 inside = regs->ip + w->shift - f->python.parts[0].begin, caller, frame;

	python_enter(w, l, cframe);
	/*
	 * True if the function executes, and has not put its C frame into the state yet, or has
	 * removed it again. (If the function does not execute, this means nothing.)
	 */
	w->is_bare = inside < PYTHON_PROLOGUE_BYTES || cframe - regs->sp >= PYTHON_CFRAME_BYTES;
	if (w->is_bare || inside >= PYTHON_BEGIN_BYTES ||
	    python_is_frame_in_register(regs, w->frame))
		return;
	w->is_bare = 1;
	caller = w->caller;
	frame = python_word(caller + l->cframe_current);
	if (python_is_in_register(regs, caller) || (frame && python_is_in_register(regs, frame)))
		python_enter(w, l, caller);
	else
		w->frame = PYTHON_UNREADABLE;
}

/*
 * Returns true if CFRAME, the innermost C frame of a state, can be one of this thread. SELF is the
 * thread pointer. A state has the number of the thread that has made it, and another thread can use
 * it. So the C frame must be on the stack of this thread: below its thread pointer, or for the
 * first thread, whose stack is the highest one, anywhere above its stack pointer. A state without
 * frames of Python has a C frame of its own, which is the outermost one.
 */
static __always_inline bool python_is_own(const struct python_layout *l, __u64 cframe, __u64 self)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 sp = regs->sp, end = self > sp ? self : PYTHON_NATIVE_END;

	return (cframe >= sp && cframe < end) || !python_word(cframe + l->cframe_previous);
}

/*
 * Sets the innermost frames of the thread. A thread can be in two interpreters at a time. Then the
 * current state of the thread is not the state that the thread stores under the key of the runtime.
 * Returns false if the state is not found.
 */
__noinline bool python_find_thread(struct python_walk *w)
{
	const struct python_layout *l = w ? python_layout_of(w) : NULL;
	const struct unwind_file *f = w ? python_file_of(w) : NULL;
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 self = BPF_CORE_READ(p, thread.fsbase), runtime, inner, first, cframe;
	__u32 key;

	if (!l || !f)
		return false;
	runtime = f->python.runtime - w->shift;
	inner = python_word(runtime + l->runtime_current);
	if (!inner || python_word(inner + l->thread_id) != self)
		inner = 0;
	key = (__u32)python_word(runtime + l->runtime_key);
	first = key < PYTHON_GLIBC_KEYS
			? python_word(self + PYTHON_GLIBC_DATA + key * PYTHON_GLIBC_STRIDE +
				      PYTHON_GLIBC_VALUE)
			: 0;
	if (!first || python_word(first + l->thread_id) != self)
		first = 0;
	cframe = python_word(inner + l->thread_cframe);
	if (!inner || inner == first || !python_is_own(l, cframe, self)) {
		inner = first;
		first = 0;
		cframe = python_word(inner + l->thread_cframe);
	}
	if (!inner)
		return false;
	w->outer = first ? python_word(first + l->thread_cframe) : 0;
	python_enter_innermost(w, l, f, cframe);
	if (!w->frame && w->outer) {
		python_enter(w, l, w->outer);
		w->outer = 0;
	}
	return true;
}

/* ---- stacks ---- */

/* Notes the interpreter of W if the frame at ADDRESS is in an interpreter. AT is a work area. */
static __always_inline void python_find_file(struct python_walk *w, struct unwind_walk *at,
					     __u64 address)
{
	const struct unwind_file *f;
	__u32 number;

	at->ip = address;
	if (address - at->start >= at->bytes && unwind_find_mapping(at) != 0)
		return;
	number = at->file;
	f = bpf_map_lookup_elem(&unwind_files, &number);
	if (!f || !f->python.layout || f->python.layout == PYTHON_LAYOUT_UNKNOWN)
		return;
	w->file = number;
	w->layout = f->python.layout - 1;
	w->shift = at->shift;
}

/* Returns the frame ADDRESS with its mark. NUMBER is its number in the stack, from 1 on. */
__noinline __u64 python_mark(struct python_walk *w, struct unwind_walk *at, __u64 address,
			     __u32 number)
{
	const struct unwind_file *f;

	if (!w || !at)
		return address;
	if (w->file == UNWIND_FILE_NONE)
		python_find_file(w, at, address);
	f = python_file_of(w);
	if (!f)
		return address;
	for (__u32 i = 0; i < PYTHON_CODE_PARTS; i++) {
		__u64 begin = f->python.parts[i].begin, end = f->python.parts[i].end;

		if (address + w->shift - begin > end - begin || end <= begin ||
		    address >= PYTHON_NATIVE_END)
			continue;
		if (!w->first)
			w->first = number;
		return address | PYTHON_EVAL;
	}
	return address;
}

/* Returns the next word of W. 0 = there are no more frames. */
static __always_inline __u64 python_next_word(struct python_walk *w)
{
	__u64 word, code = w->code;

	if (!w->frame)
		return 0;
	word = python_next(w);
	if (!word) {
		python_count(PYTHON_COUNT_UNREADABLE);
		w->frame = 0;
		return PYTHON_WORD | PYTHON_IS_CUT;
	}
	/* (a function that calls itself) */
	if (w->code != code)
		w->id = python_code(w);
	return word | w->id;
}

/* Marks a stride of frames, from number I on. There are N frames, at most MAX. */
static __always_inline void python_mark_stride(struct python_walk *w, struct unwind_walk *at,
					       __u64 *frames, __u64 i, __u32 n, const __u32 max)
{
#pragma clang loop unroll(disable)
	for (__u32 k = 0; k < STACK_STRIDE; k++, i++) {
		barrier_var(i);
		if (i >= n || i >= max)
			break;
		frames[i] = python_mark(w, at, frames[i], i + 1);
	}
}

__noinline int python_mark_record(struct python_walk *w, struct unwind_walk *at,
				  struct rec_stack *to, __u32 i, __u32 n)
{
	if (w && at && to)
		python_mark_stride(w, at, to->frames, i, n, STACK_FRAMES_MAX);
	return 0;
}

__noinline int python_mark_memory(struct python_walk *w, struct unwind_walk *at,
				  struct memory_stack *to, __u32 i, __u32 n)
{
	if (w && at && to)
		python_mark_stride(w, at, to->frames, i, n, MEMORY_FRAMES_MAX);
	return 0;
}

/* Appends a stride of frames. Returns the new number of frames. */
static __always_inline __u32 python_append_stride(struct python_walk *w, __u64 *frames, __u64 n,
						  const __u32 max)
{
#pragma clang loop unroll(disable)
	for (__u32 k = 0; k < STACK_STRIDE; k++) {
		__u64 word;

		barrier_var(n);
		if (n >= max)
			break;
		word = python_next_word(w);
		if (!word)
			break;
		frames[n++] = word;
	}
	return n;
}

__noinline __u32 python_append_record(struct python_walk *w, struct rec_stack *to, __u32 n)
{
	return w && to ? python_append_stride(w, to->frames, n, STACK_FRAMES_MAX) : n;
}

__noinline __u32 python_append_memory(struct python_walk *w, struct memory_stack *to, __u32 n)
{
	return w && to ? python_append_stride(w, to->frames, n, MEMORY_FRAMES_MAX) : n;
}

/*
 * Native frames can use this number of a stack's MAX frames. The rest is for frames of Python, if
 * there are any.
 */
#define PYTHON_NATIVE_MAX(max) ((max) / 4 * 3)
#define PYTHON_DEPTH_MAX       (STACK_FRAMES_MAX - PYTHON_NATIVE_MAX(STACK_FRAMES_MAX))

/* Returns the number of frames that W will find, at most MAX or PYTHON_DEPTH_MAX. */
__noinline __u32 python_depth(const struct python_walk *w, __u32 max)
{
	const struct python_layout *l = w ? python_layout_of(w) : NULL;
	__u64 frame, outer;
	__u32 n = 0;

	if (!l)
		return 0;
	frame = w->frame;
	outer = w->outer ? python_word(w->outer + l->cframe_current) : 0;
#pragma clang loop unroll(disable)
	for (; n < PYTHON_DEPTH_MAX; n++) {
		if (n >= max || !frame)
			break;
		frame = python_word(frame + l->frame_previous);
		if (!frame) {
			frame = outer;
			outer = 0;
		}
	}
	return n;
}

/*
 * Adds flags about the native FRAMES, which readers need, to the innermost marked frame. IS_SHORT:
 * true = the outermost native frames were removed.
 */
static __always_inline void python_describe_native(const struct python_walk *w, __u64 *frames,
						   bool is_short, const __u32 max)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 at = (__u64)w->first - 1;

	barrier_var(at);
	if (at >= max)
		return;
	/* (the address of an interrupted function is not a return address) */
	if (at == 0 && w->is_bare && frames[0] == (regs->ip | PYTHON_EVAL))
		frames[0] |= PYTHON_IS_BARE;
	if (is_short)
		frames[at] |= PYTHON_IS_SHORT;
}

/* Adds a frame that stands for missing ones to the N FRAMES, if there is room. */
static __always_inline __u32 python_cut(__u64 *frames, __u64 n, const __u32 max)
{
	barrier_var(n);
	if (n < max)
		frames[n++] = PYTHON_WORD | PYTHON_IS_CUT;
	return n;
}

/*
 * Adds the frames of Python to the N frames in RECORD or MEMORY (one of the two is NULL), which has
 * room for MAX frames. If there are many native frames, the outermost ones are removed to make
 * room, unless no marked frame would be left. If frames are missing, the stack has MAX frames, or a
 * frame PYTHON_IS_CUT, so that readers know this.
 */
static __always_inline __u32 python_add(struct python_walk *w, struct unwind_walk *at,
					struct rec_stack *record, struct memory_stack *memory,
					__u32 n, const __u32 max)
{
	const __u32 native_max = PYTHON_NATIVE_MAX(max);
	bool is_full = false;

	at->bytes = at->exact = at->copies = 0;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < max; i += STACK_STRIDE) {
		if (i >= n)
			break;
		if (record)
			python_mark_record(w, at, record, i, n);
		else
			python_mark_memory(w, at, memory, i, n);
	}
	if (!w->first)
		return n;
	python_count(PYTHON_COUNT_STACKS);
	if (!python_find_thread(w)) {
		python_count(PYTHON_COUNT_NO_THREAD);
		return n;
	}
	if (n > native_max) {
		__u32 room = max - python_depth(w, max - native_max);

		is_full = n > room;
		if (is_full && w->first > room) {
			python_count(PYTHON_COUNT_FULL);
			return python_cut(record ? record->frames : memory->frames, n, max);
		}
		if (is_full)
			n = room;
	}
	python_describe_native(w, record ? record->frames : memory->frames, is_full, max);
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < STACK_STRIDES(max); i++) {
		if (!w->frame)
			break;
		n = record ? python_append_record(w, record, n)
			   : python_append_memory(w, memory, n);
	}
	if (w->frame) {
		is_full = true;
		if (record)
			record->frames[max - 1] = PYTHON_WORD | PYTHON_IS_CUT;
		else
			memory->frames[max - 1] = PYTHON_WORD | PYTHON_IS_CUT;
	}
	if (is_full)
		python_count(PYTHON_COUNT_FULL);
	return n;
}
#endif

__noinline __u32 python_add_record(struct unwind_walk *at, struct rec_stack *to, __u32 n,
				   __u64 now_ns)
{
#if defined(__TARGET_ARCH_x86)
	struct python_walk w = { .now_ns = now_ns, .file = UNWIND_FILE_NONE };

	if (at && to)
		return python_add(&w, at, to, NULL, n, STACK_FRAMES_MAX);
#endif
	return n;
}

__noinline __u32 python_add_memory(struct unwind_walk *at, struct memory_stack *to, __u32 n,
				   __u64 now_ns)
{
#if defined(__TARGET_ARCH_x86)
	struct python_walk w = { .now_ns = now_ns, .file = UNWIND_FILE_NONE, .is_memory = 1 };

	if (at && to)
		return python_add(&w, at, NULL, to, n, MEMORY_FRAMES_MAX);
#endif
	return n;
}
