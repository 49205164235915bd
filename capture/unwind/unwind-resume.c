/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-resume.h"

#include <string.h>

#include "capture/unwind/unwind-process.h"

#define UNWIND_RESUME_WORD     sizeof(uint64_t)
#define UNWIND_RESUME_NO_FRAME UINT64_MAX

/*
 * After the return of a signal handler, bp, sp and ip are in struct ucontext, at these offsets from
 * SP.
 */
enum { SIGNAL_BP = 120, SIGNAL_SP = 160, SIGNAL_IP = 168 };

struct unwind_resume {
	struct unwind_kept *tables;
	int processes_fd;
	struct unwind_seen *seen;
	const struct rec_piece *piece;
	const struct unwind_process *process; /* mappings of the piece, or the current mappings */
	struct unwind_process now;
	const uint8_t *stack;
	uint64_t ip, sp, bp;
	bool exact;
	bool ran_out;
};

/* Reads the word at ADDRESS. Returns false if it is not in the copy. */
static bool unwind_resume_read(struct unwind_resume *r, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - r->piece->sp;

	if (r->piece->n_bytes >= sizeof(*ret) && at <= r->piece->n_bytes - sizeof(*ret)) {
		memcpy(ret, r->stack + at, sizeof(*ret));
		return true;
	}
	r->ran_out |= r->piece->n_bytes == r->piece->n_room && address > r->piece->sp &&
		      at < PIECE_BYTES_MAX;
	return false;
}

static uint64_t unwind_resume_word(struct unwind_resume *r, uint64_t address, uint64_t more)
{
	uint64_t word;

	return unwind_resume_read(r, address, &word) ? word + more : UNWIND_RESUME_NO_FRAME;
}

static const struct unwind_mapping *unwind_resume_search(const struct unwind_process *process,
							 uint64_t address)
{
	uint64_t page = address >> UNWIND_PAGE_SHIFT;

	for (uint32_t i = 0; i < process->n; i++) {
		const struct unwind_mapping *m = &process->mappings[i];

		if (page - UNWIND_WHERE_FIRST(m->where) < UNWIND_WHERE_N(m->where))
			return m;
	}
	return NULL;
}

/*
 * Replaces the mappings in the piece by the current ones. If the kernel has no hook for new
 * mappings, only walks learn mappings, so walks after this one can have learned more.
 */
static bool unwind_resume_learn(struct unwind_resume *r)
{
	if (r->process == &r->now ||
	    unwind_process_read(r->processes_fd, r->piece->head.pid, &r->now) < 0 ||
	    r->now.mm != r->piece->process.mm)
		return false;
	r->process = &r->now;
	return true;
}

/*
 * Finds the mapping at ADDRESS among the mappings that the kernel has reported to user space. Used
 * if neither the eBPF program nor later walks have learned this mapping.
 */
static const struct unwind_mapping *unwind_resume_see(struct unwind_resume *r, uint64_t address)
{
	struct unwind_mapping m;

	if (!r->seen || !unwind_seen_find(r->seen, r->tables->files, r->piece->head.pid, address,
					  r->piece->head.ts_ns, &m))
		return NULL;
	if (r->process != &r->now) {
		r->now = *r->process;
		r->process = &r->now;
	}
	if (r->now.n >= UNWIND_MAPPINGS_MAX)
		return NULL;
	r->now.mappings[r->now.n] = m;
	return &r->now.mappings[r->now.n++];
}

/*
 * Returns the address to look up. A return address can be the first byte after its function, so the
 * byte before it is looked up.
 */
static uint64_t unwind_resume_address(const struct unwind_resume *r)
{
	return r->exact ? r->ip : r->ip - 1;
}

/* Returns the mapping that contains ADDRESS. */
static const struct unwind_mapping *unwind_resume_mapping(struct unwind_resume *r, uint64_t address)
{
	const struct unwind_mapping *m = unwind_resume_search(r->process, address);

	if (!m && unwind_resume_learn(r))
		m = unwind_resume_search(r->process, address);
	return m ?: unwind_resume_see(r, address);
}

/* Returns the rule for ADDRESS in M. */
static uint32_t unwind_resume_rule(const struct unwind_resume *r, const struct unwind_mapping *m,
				   uint64_t address)
{
	uint64_t start = UNWIND_WHERE_FIRST(m->where) << UNWIND_PAGE_SHIFT;
	uint64_t first = (uint64_t)m->file_page << UNWIND_PAGE_SHIFT;
	uint16_t number = m->file, generation = m->generation;

	if (number == UNWIND_FILE_NONE) {
		if (start != r->piece->vdso)
			return UNWIND_NONE;
		number = UNWIND_FILE_VDSO;
		generation = 0;
	}
	return unwind_kept_find(r->tables, number, generation, address - start + first);
}

static uint64_t unwind_resume_cfa(struct unwind_resume *r, uint32_t rule)
{
	uint64_t offset =
		(uint64_t)((int64_t)UNWIND_RULE_OFFSET(rule) * (int64_t)UNWIND_RESUME_WORD);

	switch (UNWIND_RULE_KIND(rule)) {
	case UNWIND_SP:
	case UNWIND_CODE_SP:
		return r->sp + offset;
	case UNWIND_BP:
	case UNWIND_CODE_BP:
		return r->bp + offset;
	case UNWIND_SP_DEREF:
		return unwind_resume_word(r, r->sp + offset, 0);
	case UNWIND_SP_DEREF_8:
		return unwind_resume_word(r, r->sp + offset, UNWIND_RESUME_WORD);
	case UNWIND_BP_DEREF:
		return unwind_resume_word(r, r->bp + offset, 0);
	case UNWIND_BP_DEREF_8:
		return unwind_resume_word(r, r->bp + offset, UNWIND_RESUME_WORD);
	case UNWIND_PLT:
		return r->sp + UNWIND_RESUME_WORD +
		       ((r->ip & 15) >= (uint64_t)UNWIND_RULE_OFFSET(rule) ? UNWIND_RESUME_WORD
									   : 0);
	}
	if (UNWIND_IS_SP_FAR(rule))
		return r->sp + (uint64_t)UNWIND_SP_FAR_WORDS(rule) * UNWIND_RESUME_WORD;
	return UNWIND_RESUME_NO_FRAME;
}

/* Moves to the caller of the frame with CFA. Returns 0 or UNWIND_END_*. */
static int unwind_resume_caller(struct unwind_resume *r, uint64_t cfa, uint32_t bp_rule)
{
	uint64_t ip, bp = r->bp;

	/* The caller's frame is higher on the stack. */
	if (cfa == UNWIND_RESUME_NO_FRAME || cfa <= r->sp ||
	    !unwind_resume_read(r, cfa - UNWIND_RESUME_WORD, &ip))
		return UNWIND_END_MEMORY;
	if (bp_rule == UNWIND_BP_AT_BP)
		bp = unwind_resume_word(r, r->bp, 0);
	else if (bp_rule != UNWIND_BP_SAME)
		bp = unwind_resume_word(r, cfa - bp_rule * UNWIND_RESUME_WORD, 0);
	r->bp = bp;
	r->sp = cfa;
	r->ip = ip;
	r->exact = false;
	return 0;
}

static int unwind_resume_interrupted(struct unwind_resume *r)
{
	uint64_t bp, sp, ip;

	if (!unwind_resume_read(r, r->sp + SIGNAL_BP, &bp) ||
	    !unwind_resume_read(r, r->sp + SIGNAL_SP, &sp) ||
	    !unwind_resume_read(r, r->sp + SIGNAL_IP, &ip))
		return UNWIND_END_MEMORY;
	r->exact = ip != 0;
	/*
	 * The interrupted code has called address 0, so the return address of this call is on top
	 * of the stack. The eBPF programs handle this in the same way.
	 */
	if (!r->exact && (!unwind_resume_read(r, sp, &ip) || ip == 0))
		return UNWIND_END_MEMORY;
	r->bp = bp;
	r->sp = r->exact ? sp : sp + UNWIND_RESUME_WORD;
	r->ip = ip;
	return 0;
}

/* Returns the rule for the code at ADDRESS. */
static uint32_t unwind_resume_rule_at(struct unwind_resume *r, uint64_t address)
{
	const struct unwind_mapping *m = unwind_resume_mapping(r, address);

	return m ? unwind_resume_rule(r, m, address) : UNWIND_MISSING;
}

/*
 * Returns the call in the piece for the frame to which BP points; NULL = the eBPF program has not
 * stored a call for that frame.
 */
static const struct rec_piece_call *unwind_resume_call(const struct unwind_resume *r)
{
	for (uint32_t i = 0; i < r->piece->n_calls; i++)
		if (r->piece->calls[i].bp == r->bp)
			return &r->piece->calls[i];
	return NULL;
}

/*
 * Returns whether code without a table in M can return to the address RETURNS, to which the frame
 * pointer leads. The eBPF programs decide this by the call before that address
 * (unwind_judge_return()). They have put the calls of some frames into the piece. The code of other
 * frames is not in the piece, so for these frames, the return address must be in the same code
 * without a table.
 */
static bool unwind_resume_can_return(struct unwind_resume *r, const struct unwind_mapping *m,
				     uint64_t returns)
{
	const struct rec_piece_call *call = unwind_resume_call(r);
	const struct unwind_mapping *to;
	uint64_t target;
	uint32_t rule;

	if (!call) {
		to = unwind_resume_mapping(r, returns - 1);
		if (!to || to->file != m->file || to->generation != m->generation)
			return false;
		rule = unwind_resume_rule(r, to, returns - 1);
		return rule == UNWIND_NONE;
	}
	if (call->called <= PIECE_CALLED_BY_REGISTER)
		return call->called != 0;
	target = call->called;
	rule = unwind_resume_rule_at(r, target);
	if (rule != UNWIND_NONE && rule != UNWIND_MISSING && call->linked) {
		target = call->linked;
		rule = unwind_resume_rule_at(r, target);
	}
	return rule == UNWIND_NONE || UNWIND_IS_CODE(rule);
}

/* Moves to the caller of code without a table, which can keep frame pointers. */
static int unwind_resume_undescribed(struct unwind_resume *r, const struct unwind_mapping *m)
{
	uint64_t returns;

	if (r->bp == 0) {
		r->ip = 0;
		return 0;
	}
	if (r->bp < r->sp || r->bp % UNWIND_RESUME_WORD ||
	    !unwind_resume_read(r, r->bp + UNWIND_RESUME_WORD, &returns) ||
	    (returns != 0 && !unwind_resume_can_return(r, m, returns)))
		return UNWIND_END_TABLE;
	return unwind_resume_caller(r, r->bp + 2 * UNWIND_RESUME_WORD, 2) ? UNWIND_END_TABLE : 0;
}

/* Moves to the caller. At the end of the stack, IP becomes 0. Returns 0 or UNWIND_END_*. */
static int unwind_resume_step(struct unwind_resume *r, const struct unwind_mapping *m)
{
	uint32_t rule = unwind_resume_rule(r, m, unwind_resume_address(r));

	switch (UNWIND_RULE_KIND(rule)) {
	case UNWIND_MISSING:
		return UNWIND_END_TABLE;
	case UNWIND_UNPROVEN:
		return UNWIND_END_TABLE;
	case UNWIND_NONE:
		return unwind_resume_undescribed(r, m);
	case UNWIND_END:
		r->ip = 0;
		return 0;
	case UNWIND_SIGNAL:
		return unwind_resume_interrupted(r);
	case UNWIND_UNSUPPORTED:
		return UNWIND_END_UNSUPPORTED;
	}
	/* Such a rule needs a register, and the copy of the stack does not contain it. */
	if (UNWIND_RULE_KIND(rule) >= UNWIND_REGISTER(0) && !UNWIND_IS_CODE(rule))
		return UNWIND_END_UNSUPPORTED;
	return unwind_resume_caller(r, unwind_resume_cfa(r, rule), UNWIND_RULE_BP(rule));
}

/* Adds a frame. Returns 0 or UNWIND_END_*. */
static uint32_t unwind_resume_add(struct unwind_resumed *to,
				  uint64_t frames[static STACK_FRAMES_MAX], uint64_t ip)
{
	if (to->n_frames == STACK_FRAMES_MAX)
		return UNWIND_END_FULL;
	frames[to->n_frames++] = ip;
	return 0;
}

struct unwind_resumed unwind_resume(struct unwind_kept *tables, int processes_fd,
				    struct unwind_seen *seen, const struct rec_piece *piece,
				    const void *stack, uint64_t frames[static STACK_FRAMES_MAX])
{
	struct unwind_resume r = {
		.tables = tables,
		.processes_fd = processes_fd,
		.seen = seen,
		.process = &piece->process,
		.piece = piece,
		.stack = stack,
		.ip = piece->ip,
		.sp = piece->sp,
		.bp = piece->bp,
		.exact = piece->exact,
	};
	struct unwind_resumed ret = { .n_frames = piece->n_frames };
	bool is_known = !(piece->process.sequence & 1) || unwind_resume_learn(&r);
	const struct unwind_mapping *m;

	/* Mappings that were copied during a change are useless, so none are used. */
	if (!is_known) {
		r.now.n = 0;
		r.process = &r.now;
	}
	m = unwind_resume_mapping(&r, unwind_resume_address(&r));
	memcpy(frames, piece->frames, piece->n_frames * sizeof(*frames));
	if (!m)
		ret.end = is_known ? UNWIND_END_MAPPING : UNWIND_END_BUSY;
	else if (piece->frames[piece->n_frames - 1] != piece->ip)
		ret.end = unwind_resume_add(&ret, frames, piece->ip);
	while (ret.end == 0) {
		ret.end = unwind_resume_step(&r, m);
		if (ret.end || r.ip == 0)
			break;
		m = unwind_resume_mapping(&r, unwind_resume_address(&r));
		ret.end = m ? unwind_resume_add(&ret, frames, r.ip) : UNWIND_END_MAPPING;
	}
	ret.ran_out = ret.end != 0 && r.ran_out;
	return ret;
}

bool unwind_resume_can_improve(int end)
{
	return end == UNWIND_END_TABLE || end == UNWIND_END_MAPPING || end == UNWIND_END_BUSY;
}

unsigned unwind_resume_frames(const struct rec_piece *piece, const void *stack,
			      uint64_t frames[static STACK_FRAMES_MAX])
{
	struct unwind_resume r = { .piece = piece, .stack = stack, .sp = piece->sp };
	uint64_t at = piece->bp, next, returns;
	unsigned n = piece->n_frames;

	memcpy(frames, piece->frames, n * sizeof(*frames));
	/*
	 * The frame of a caller must be higher on the stack. The code before a return address
	 * cannot be checked, since it is not in the copy.
	 */
	for (; n < STACK_FRAMES_MAX && at >= r.sp; r.sp = at + 1, at = next) {
		if (!unwind_resume_read(&r, at, &next) ||
		    !unwind_resume_read(&r, at + UNWIND_RESUME_WORD, &returns) || returns == 0)
			break;
		frames[n++] = returns;
	}
	return n;
}
