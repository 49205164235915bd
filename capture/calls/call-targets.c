/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-targets.h"

#include <asm/ptrace.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/calls/call-lists.h"
#include "capture/calls/call-messages.h"
#include "capture/calls/call-packs.h"
#include "model/calls/call-structs.h"
#include "model/calls/call-syscalls.h"
#include "base/outbuf.h"
#include "base/value.h"

enum { WHY_MAX = CALL_FILE_MAX + 2 * CALL_FUNCTION_MAX + CALL_PLACE_NAME_MAX + 512 };

/* The time limit for one file. The largest browsers take a second. */
#define FIND_TIMEOUT_NS UINT64_C(20000000000)

static int call_targets_refuse(int error, const char *why, char **reterr_text)
{
	*reterr_text = strdup(why);
	return error;
}

static int call_source_count_syscall(const struct call_syscall *call, void *userdata)
{
	size_t *n = userdata;

	(void)call;
	++*n;
	return 0;
}

static int call_source_compare_syscall(const struct call_syscall *call, void *userdata)
{
	value_nearest_try(userdata, call->name);
	return 0;
}

static int call_source_count_syscalls(struct call_source *source, char **reterr_text)
{
	struct value_nearest near = { .text = source->spec.function, .distance = VALUE_NEAR };
	char why[WHY_MAX];

	call_syscall_match(source->spec.function, call_source_count_syscall, &source->n);
	if (source->n > 0)
		return 0;
	call_syscall_match("*", call_source_compare_syscall, &near);
	snprintf(why, sizeof(why), "there is no system call '%s'%s%s%s", source->spec.function,
		 near.nearest ? "; did you mean '" : "", near.nearest ?: "",
		 near.nearest ? "'?" : "");
	return call_targets_refuse(-ENOENT, why, reterr_text);
}

/*
 * Returns true if source I is the first one with its file, so that the file must be searched for
 * switches of stacks.
 */
static bool call_source_refuses_switches(const struct call_options *o, size_t i)
{
	struct stat st, other;

	if (!o->fast_returns || o->force_fast_returns)
		return false;
	for (size_t k = 0; k < i && fstat(o->files.fds[i], &st) == 0; k++)
		if (fstat(o->files.fds[k], &other) == 0 && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return false;
	return true;
}

static int call_source_find(struct call_source *source, const struct call_options *o, size_t i,
			    char **reterr_text)
{
	struct call_places_query query = {
		.pattern = source->spec.function,
		.refuses_switches = call_source_refuses_switches(o, i),
	};
	struct call_spec_error error;
	char why[WHY_MAX];
	int r = call_spec_parse(o->specs[i], &source->spec, &error);

	if (r < 0)
		return call_targets_refuse(r, error.why, reterr_text);
	if (call_spec_is_syscall(&source->spec))
		return call_source_count_syscalls(source, reterr_text);
	query.n_args = call_spec_n_registers(&source->spec);
	query.range = (struct call_places_range){
		.is_used = source->spec.range.is_used,
		.is_point = source->spec.range.is_point,
		.begin = source->spec.range.begin,
		.bytes = source->spec.range.bytes,
		.at = source->spec.range.at,
	};
	r = call_places_find_sandboxed(o->files.fds[i], &query, FIND_TIMEOUT_NS, &source->places);
	if (call_places_explain(&source->places, r, source->spec.file, source->spec.function, why,
				sizeof(why)))
		return call_targets_refuse(r ?: -ENOENT, why, reterr_text);
	source->n = source->places.n;
	return r;
}

static int call_source_check_owner(const struct call_source *source, int fd, uint32_t uid,
				   char **reterr_text)
{
	char why[WHY_MAX];
	struct stat st;

	if (fstat(fd, &st) == 0 && st.st_uid == uid)
		return 0;
	snprintf(why, sizeof(why),
		 "%s is not your own file: users who may not trace the system can record "
		 "only calls of their own programs and libraries",
		 source->spec.file);
	return call_targets_refuse(-EPERM, why, reterr_text);
}

/*
 * Gives TARGET the known arguments of its function. This is for a specification that has a pattern
 * and no arguments.
 */
static int call_target_find_known(struct call_target *target, const char *file)
{
	char text[CALL_FUNCTION_MAX + CALL_FILE_MAX + 8];
	struct call_spec_error error;

	target->known = calloc(1, sizeof(*target->known));
	if (!target->known)
		return -ENOMEM;
	snprintf(text, sizeof(text), "%s:%s", file, target->name);
	/* Names from other languages do not parse. They have no known arguments. */
	if (call_spec_parse(text, target->known, &error) < 0)
		return 0;
	target->known->limit = target->spec->limit;
	target->spec = target->known;
	return 0;
}

/* Adds the next target of SOURCE. Returns NULL if there is no memory. */
static struct call_target *call_targets_add(struct call_targets *t,
					    const struct call_source *source, const char *name)
{
	struct call_target *target = &t->list[t->n++];

	target->spec = &source->spec;
	target->name = strdup(name);
	if (!target->name)
		return NULL;
	if (source->spec.implied && call_spec_is_glob(&source->spec) &&
	    call_target_find_known(target, source->spec.file) < 0)
		return NULL;
	return target;
}

/*
 * Writes to TO the name of the system call that libc's function NAME makes with its own arguments.
 */
static void call_target_libc_name(const char *name, char to[static CALL_FUNCTION_MAX])
{
	size_t n = strlen(name);

	if (n > 2 && strcmp(name + n - 2, "64") == 0)
		n -= 2;
	snprintf(to, CALL_FUNCTION_MAX, "%.*s", (int)n, name);
}

/*
 * Returns true if records of calls of the function SPEC contain all values of VARIANT: the same
 * registers in the same order, and no other memory.
 */
static bool call_target_has_all(const struct call_spec *spec, const struct call_spec *variant)
{
	if (variant->n_args > spec->n_args || call_spec_has_locations(variant))
		return false;
	for (size_t i = 0; i < variant->n_args; i++)
		if (call_type_is_memory(&variant->args[i].type) &&
		    !call_type_is_memory(&spec->args[i].type))
			return false;
	return true;
}

static int call_target_parse_variant(const struct call_target *target, const char *call,
				     const struct call_variant *row, struct call_spec *ret)
{
	char text[CALL_SPEC_TEXT_MAX];
	struct call_spec_error error;

	snprintf(text, sizeof(text), CALL_SYSCALL_FILE ":%s%s", call, row->signature);
	if (call_spec_parse(text, ret, &error) < 0)
		return -EINVAL;
	if (target->place) {
		ret->ret = target->spec->ret;
		ret->ret_reason = target->spec->ret_reason;
	}
	return 0;
}

/* Adds variants to a system call with its known arguments, or to libc's function for it. */
static int call_target_add_variants(struct call_target *target)
{
	const struct call_variant *rows;
	char call[CALL_FUNCTION_MAX];
	size_t n;
	int r;

	call_target_libc_name(target->name, call);
	rows = call_variants_of(target->place ? call : target->name, &n);
	if (!rows || !target->spec->implied)
		return 0;
	target->variants = calloc(n, sizeof(*target->variants));
	if (!target->variants)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct call_target_variant *v = &target->variants[target->n_variants];

		v->row = &rows[i];
		r = call_target_parse_variant(target, rows[i].call, v->row, &v->spec);
		if (r < 0)
			return r;
		if (!target->place || call_target_has_all(target->spec, &v->spec))
			target->n_variants++;
	}
	return 0;
}

const struct call_spec *call_target_spec(const struct call_target *target,
					 const __u64 args[static CALL_ARGUMENTS])
{
	for (size_t i = 0; i < target->n_variants; i++) {
		const struct call_target_variant *v = &target->variants[i];

		if ((args[v->row->arg] & v->row->mask) == v->row->value &&
		    (!v->row->and_arg || (uint32_t)args[v->row->and_arg] == v->row->and_value))
			return &v->spec;
	}
	return target->spec;
}

struct call_targets_numbering {
	struct call_targets *targets;
	const struct call_source *source;
};

static int call_targets_number_syscall(const struct call_syscall *call, void *userdata)
{
	const struct call_targets_numbering *n = userdata;
	struct call_target *target = call_targets_add(n->targets, n->source, call->name);

	if (!target)
		return -ENOMEM;
	target->syscall = (int)call->number;
	return call_target_add_variants(target);
}

static int call_targets_number(struct call_targets *t, struct call_source *source)
{
	source->first = t->n;
	if (call_spec_is_syscall(&source->spec))
		return call_syscall_match(source->spec.function, call_targets_number_syscall,
					  &(struct call_targets_numbering){ t, source }) < 0
			       ? -ENOMEM
			       : 0;
	for (size_t i = 0; i < source->places.n; i++) {
		const char *name = source->spec.range.is_used ? source->spec.function
							      : source->places.places[i].name;
		struct call_target *target = call_targets_add(t, source, name);

		if (!target)
			return -ENOMEM;
		target->place = &source->places.places[i];
		if (call_target_add_variants(target) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- functions with several specifications ---- */

static bool call_targets_same_file(int one, int other)
{
	struct stat a, b;

	return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Returns how specific SOURCE is: an exact name counts for more than arguments. */
static int call_source_specificity(const struct call_source *source)
{
	return 2 * !call_spec_is_glob(&source->spec) + !source->spec.implied;
}

static bool call_source_is_limited(const struct call_source *source)
{
	return source->spec.condition.op != CALL_OP_NONE || source->spec.limit;
}

/*
 * Returns true if source A of T leaves the functions that are in both sources to source B. This
 * needs B to record all calls of these functions: B has neither a condition nor a limit, or the two
 * specifications are equal.
 */
static bool call_targets_yields(const struct call_targets *t, const struct call_options *o,
				size_t a, size_t b)
{
	const struct call_source *one = &t->sources[a], *other = &t->sources[b];
	int says = call_source_specificity(one) - call_source_specificity(other);

	if (call_source_is_limited(other))
		return a > b && strcmp(o->specs[a], o->specs[b]) == 0;
	return call_source_is_limited(one) || says < 0 || (says == 0 && a > b);
}

static bool call_source_has(const struct call_source *source, const struct call_place *place)
{
	for (size_t i = 0; i < source->places.n; i++) {
		const struct call_place *other = &source->places.places[i];

		/*
		 * The two places belong to one function if their beginnings or entries are equal.
		 * The entry depends on the arguments that a specification names. The beginnings
		 * differ if a second symbol is in the prologue of the function.
		 */
		if ((other->begin == place->begin || other->entry == place->entry) &&
		    ((other->flags ^ place->flags) & CALL_PLACE_POINT) == 0)
			return true;
	}
	return false;
}

/* Removes duplicate functions, so that each call is recorded once. */
static void call_targets_drop_doubles(struct call_targets *t, const struct call_options *o)
{
	for (size_t a = 0; a < t->n_sources; a++)
		for (size_t b = 0; b < t->n_sources; b++) {
			struct call_source *source = &t->sources[a];
			size_t n = 0;

			if (a == b || !call_targets_yields(t, o, a, b) ||
			    call_spec_is_syscall(&source->spec) ||
			    call_spec_is_syscall(&t->sources[b].spec) ||
			    !call_targets_same_file(o->files.fds[a], o->files.fds[b]))
				continue;
			for (size_t i = 0; i < source->places.n; i++)
				if (!call_source_has(&t->sources[b], &source->places.places[i]))
					source->places.places[n++] = source->places.places[i];
			source->n = source->places.n = n;
		}
}

int call_targets_new(const struct session_options *options, struct call_targets **ret,
		     char **reterr_text)
{
	const struct call_options *o = &options->calls;
	_cleanup_(call_targets_freep) struct call_targets *t = calloc(1, sizeof(*t));
	size_t n = 0;
	int r = 0;

	if (!t)
		return -ENOMEM;
	t->sources = calloc(o->n_specs, sizeof(*t->sources));
	if (!t->sources)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < o->n_specs; i++) {
		r = call_source_find(&t->sources[t->n_sources++], o, i, reterr_text);
		if (r == 0 && options->own && options->own_uid != 0 &&
		    !call_spec_is_syscall(&t->sources[i].spec))
			r = call_source_check_owner(&t->sources[i], o->files.fds[i],
						    options->own_uid, reterr_text);
	}
	if (r < 0)
		return r;
	call_targets_drop_doubles(t, o);
	for (size_t i = 0; i < t->n_sources; i++)
		n += t->sources[i].n;
	if (n > CALL_FUNCTIONS_MAX)
		return call_targets_refuse(-E2BIG, "more than 4096 functions match", reterr_text);
	t->list = calloc(n, sizeof(*t->list));
	if (!t->list)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < t->n_sources; i++)
		r = call_targets_number(t, &t->sources[i]);
	if (r == 0)
		*ret = TAKE_PTR(t);
	return r;
}

char *call_targets_refused(const struct call_targets *t, size_t i)
{
	_cleanup_(outbuf_deinit) struct outbuf names = { 0 };
	const struct call_source *source = i < t->n_sources ? &t->sources[i] : NULL;
	const struct call_places *p = source ? &source->places : NULL;
	size_t n;
	char *text;

	if (!p || p->n_refused == 0)
		return NULL;
	n = p->n_refused < CALL_REFUSED_NAMES_MAX ? p->n_refused : CALL_REFUSED_NAMES_MAX;
	for (size_t k = 0; k < n; k++)
		outbuf_print(&names, "%s'%s'", k ? ", " : "", p->refused[k]);
	if (p->n_refused > n)
		outbuf_print(&names, " and %zu more", p->n_refused - n);
	if (names.error < 0 ||
	    asprintf(&text,
		     "'%s' leaves out %.*s of %s: the kernel cannot probe an instruction with a "
		     "prefix (lock, cs, ds, es or ss)",
		     source->spec.function, (int)names.size, (const char *)names.data,
		     source->spec.file) < 0)
		return NULL;
	return text;
}

struct call_targets *call_targets_free(struct call_targets *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n; i++) {
		free(t->list[i].name);
		free(t->list[i].known);
		free(t->list[i].variants);
	}
	for (size_t i = 0; i < t->n_sources; i++)
		call_places_deinit(&t->sources[i].places);
	free(t->list);
	free(t->sources);
	return free_ptr(t);
}

#if defined(__x86_64__)
#define AT(member) offsetof(struct pt_regs, member)

/* Indexed by DWARF's register numbers. */
static const uint8_t register_places[CALL_REGISTERS] = {
	AT(rax), AT(rdx), AT(rcx), AT(rbx), AT(rsi), AT(rdi), AT(rbp), AT(rsp), AT(r8),
	AT(r9),  AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15), AT(rip),
};

/* The DWARF numbers of the argument registers. */
static const uint8_t argument_registers[CALL_ARG_REGISTERS] = { 5, 4, 1, 2, 8, 9 };
#else
/* These tables are not used, since code for other machines is not read. */
static const uint8_t register_places[CALL_REGISTERS];
static const uint8_t argument_registers[CALL_ARG_REGISTERS];
#endif

static struct call_origin call_target_origin(const struct call_arg *arg, size_t i)
{
	const struct call_location *l = &arg->location;

	if (!l->is_explicit)
		return (struct call_origin){ .kind = CALL_ORIGIN_REGISTER,
					     .register_at =
						     register_places[argument_registers[i]] };
	return (struct call_origin){ .kind = l->kind,
				     .shift = l->shift,
				     .width = l->width,
				     .is_signed = call_type_is_signed(&arg->type),
				     .register_at = register_places[l->reg],
				     .index_at = register_places[l->index],
				     .scale = l->scale,
				     .bytes = (uint8_t)(arg->type.bits / 8),
				     .offset = l->offset };
}

static void call_target_set_origins(const struct call_spec *spec, struct call_watch *watch)
{
	if (!call_spec_has_locations(spec))
		return;
	watch->n_origins = (uint32_t)spec->n_args;
	for (size_t i = 0; i < spec->n_args; i++)
		watch->origins[i] = call_target_origin(&spec->args[i], i);
}

bool call_target_has_result(const struct call_target *target)
{
	const struct call_spec *spec = target->spec;

	/* System calls always have a result. */
	return !target->place || (!spec->ret_reason && spec->ret.form != CALL_FLOAT &&
				  spec->ret.form != CALL_VOID && !call_type_is_wide(&spec->ret));
}

/*
 * Selects the bytes to copy from the memory at argument ARG of TARGET, at the return (IS_OUT) or at
 * the entry.
 */
static struct call_memory call_target_memory(const struct call_target *target, uint8_t arg,
					     bool is_out)
{
	const struct call_spec *spec = target->spec;
	const struct call_type *type = &spec->args[arg].type;
	struct call_memory memory = { .arg = arg,
				      .kind = call_list_memory(type),
				      .count_arg = type->count_arg,
				      .count = type->count };
	const struct call_struct *layout = call_struct_by_number(type->layout);
	/* If the count itself is in memory, the maximum is copied. */
	bool is_counted = type->is_counted && spec->args[type->count_arg].type.form != CALL_STRUCT;

	memory.unit = layout || !call_target_has_result(target);
	if (call_type_is_message(type))
		call_message_memory(type, is_out, &memory);
	if (memory.kind > CALL_MEMORY_STRING || call_type_is_message(type))
		return memory;
	if (!layout)
		return memory;
	if (type->is_array)
		memory.unit = (uint8_t)(layout->bytes < UINT8_MAX ? layout->bytes : UINT8_MAX);
	else if (!layout->is_sized || !is_counted)
		memory.count = layout->bytes;
	return memory;
}

/* Selects the memory of TARGET's result that is copied. */
static void call_target_set_result(const struct call_target *target, struct call_watch *watch)
{
	const struct call_type *type = &target->spec->ret;
	const struct call_struct *layout = call_struct_by_number(type->layout);

	if (!target->place || target->spec->ret_reason || target->spec->range.is_point)
		return;
	watch->result_unit = type->count;
	switch (type->form) {
	case CALL_STR:
		watch->result = CALL_RESULT_STRING;
		break;
	case CALL_STRUCT:
		watch->result = CALL_RESULT_MEMORY;
		watch->result_unit = layout ? layout->bytes : 0;
		break;
	case CALL_BUF:
	case CALL_POINTED:
		watch->result = CALL_RESULT_MEMORY;
		break;
	case CALL_SLICE:
		watch->result = CALL_RESULT_SLICE;
		break;
	case CALL_VIEW:
		watch->result = CALL_RESULT_VIEW;
		break;
	default:
		watch->result_unit = 0;
		break;
	}
}

/* If TARGET has more arguments in memory than a record has texts, they share two packs. */
static void call_target_set_pack(const struct call_target *target, struct call_watch *watch)
{
	struct call_pack_plan plan;

	if (!call_pack_plan(target->spec, &plan))
		return;
	for (uint8_t i = 0; i < plan.n; i++) {
		watch->texts[i] = call_target_memory(target, plan.args[i], false);
		watch->texts[i].kind = call_pack_memory(&target->spec->args[plan.args[i]].type);
		watch->pack_max[i] = plan.max[i];
	}
	watch->n_packed = plan.n;
	watch->n_packed_outs = plan.n_outs;
	watch->n_texts = 1;
	watch->n_outs = plan.n_outs > 0;
}

struct call_watch call_target_watch(const struct call_target *target)
{
	const struct call_spec *spec = target->spec;
	const struct call_condition *c = &spec->condition;
	struct call_watch watch = { .op = c->op,
				    .op_arg = c->arg,
				    .op_value = c->value,
				    .is_point = spec->range.is_point,
				    .limit = spec->limit,
				    .loops = target->place &&
					     target->place->flags & CALL_PLACE_LOOPS };
	uint8_t args[CALL_TEXTS_MAX], n_in, n;

	if (c->op != CALL_OP_NONE) {
		const struct call_type *type = &spec->args[c->arg].type;

		watch.op_shift = (uint8_t)(64 - type->bits);
		watch.op_signed = call_type_is_signed(type);
	}
	n = call_spec_slots(spec, args, &n_in);
	for (uint8_t slot = 0; slot < n; slot++)
		watch.texts[slot] = call_target_memory(target, args[slot], slot >= n_in);
	call_target_set_origins(spec, &watch);
	call_target_set_result(target, &watch);
	watch.n_texts = n_in;
	watch.n_outs = n - n_in;
	call_target_set_pack(target, &watch);
	return watch;
}
