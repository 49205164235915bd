/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-locals.h"

#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/value.h"
#include "reader/places/place-expression.h"
#include "reader/places/place-types.h"
#include "reader/places/places-parts.h"

enum { SCOPES_MAX = 64, NAME_MAX_BYTES = 256, GLOBAL_LOOKUPS_MAX = 4 * 1000 * 1000 };

/* A block or function that contains the address. */
struct scope {
	Dwarf_Die die;
	bool is_function; /* a function, inlined or not */
};

struct search {
	struct places *places;
	const struct place_query *query;
	Dwarf_Die unit, function;
	struct scope scopes[SCOPES_MAX]; /* outermost first */
	size_t n_scopes;
	size_t frame; /* index of the innermost function */
	struct place_locals found;
	size_t room;
	struct value_nearest nearest;
	char nearest_name[NAME_MAX_BYTES];
	size_t n_visited;
	char *why;
	size_t size;
	bool finds_removed; /* also find global variables that are optimised out */
	bool is_cut;        /* a look-up has reached the limit of global variables */
};

void place_locals_deinit(struct place_locals *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->list[i].name);
		free(l->list[i].type);
		free(l->list[i].shape);
	}
	free(l->list);
	*l = (struct place_locals){ 0 };
}

/* ---- scopes ---- */

/* Finds the block or inlined function directly below PARENT that contains the address. */
static bool locals_inner(const struct search *s, Dwarf_Die *parent, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);

		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
		     tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
		    places_has_code(&die, s->query->vaddr)) {
			*ret = die;
			return true;
		}
	} while (places_next(&die));
	return false;
}

static bool locals_find_scopes(struct search *s)
{
	Dwarf_Die die;

	if (!places_unit(s->places, s->query->vaddr, &s->unit) ||
	    !places_function(s->places, s->query->vaddr, &s->function))
		return false;
	die = s->function;
	do {
		bool is_function = s->n_scopes == 0 || dwarf_tag(&die) == DW_TAG_inlined_subroutine;

		if (is_function)
			s->frame = s->n_scopes;
		s->scopes[s->n_scopes++] = (struct scope){ die, is_function };
	} while (s->n_scopes < SCOPES_MAX && locals_inner(s, &die, &die));
	return true;
}

/* ---- conversion ---- */

/* Makes the shape of a variable of TYPE at LOCATION, with PREFIX before the type. Returns 0 or
 * -ENOMEM. */
static int locals_shape(const struct place_location *location, const char *prefix, Dwarf_Die *type,
			char **ret)
{
	struct outbuf text = { .limit = PLACE_SHAPE_MAX };
	int r;

	for (size_t i = 0; i < location->n_gaps; i++)
		outbuf_print(&text, "!%u+%u;", location->gaps[i].at, location->gaps[i].n);
	if (*location->formula)
		outbuf_print(&text, "(%s)", location->formula);
	outbuf_print(&text, "%s", prefix);
	if (type)
		r = place_type_shape(type, &text);
	else
		r = outbuf_print(&text, "u1");
	/* If the type has too many parts, its bytes are printed. */
	if (r == -EMSGSIZE) {
		text.error = 0;
		r = outbuf_print(&text, "x%" PRIu64, place_type_bytes(type));
	}
	if (r == 0) {
		*ret = strndup((const char *)text.data, text.size);
		r = *ret ? 0 : -ENOMEM;
	}
	outbuf_deinit(&text);
	return r;
}

static bool locals_is_string(const char *shape)
{
	return strcmp(shape, "p8c1") == 0 || strcmp(shape, "p8h1") == 0;
}

/* If V is a pointer to characters, adds a load of the string there. */
static void locals_add_string(struct place_variable *v)
{
	struct place_load load = v->loads[0];

	if (v->n_loads != 1 || !locals_is_string(v->shape) || !place_load_follow(&load))
		return;
	load.is_string = true;
	load.bytes = PLACE_STRING_BYTES_MAX;
	v->loads[v->n_loads++] = load;
}

static struct place_variable *locals_add(struct search *s, const char *name, enum place_scope scope)
{
	struct place_variable *v;

	if (GROW(s->found.list, s->room, s->found.n + 1) < 0)
		return NULL;
	v = &s->found.list[s->found.n];
	*v = (struct place_variable){ .name = strdup(name), .scope = scope };
	if (!v->name)
		return NULL;
	s->found.n++;
	return v;
}

static int locals_set_type(struct place_variable *v, Dwarf_Die *die)
{
	char name[PLACE_TYPE_NAME_MAX];

	place_type_name(die, name);
	v->type = strdup(name);
	return v->type ? 0 : -ENOMEM;
}

static enum place_reason locals_locate(const struct search *s, Dwarf_Die *die, Dwarf_Die *type,
				       struct place_location *ret)
{
	const struct place_context context = {
		.places = s->places,
		.function = (Dwarf_Die *)&s->function,
		.vaddr = s->query->vaddr,
	};
	uint64_t bytes = place_type_bytes(type);

	if (bytes == 0)
		return PLACE_REASON_SIZE;
	return place_expression_locate(&context, die, bytes, ret);
}

/*
 * Adds 1 to the value of LOAD: from the index of the last element to the number of elements.
 * Returns false if LOAD cannot express this.
 */
static bool locals_add_one(struct place_load *load)
{
	if (!load->is_value) {
		if (load->bytes != sizeof(uint64_t) || load->n_steps == PLACE_STEPS_MAX)
			return false;
		load->steps[load->n_steps++] = 0;
		load->is_value = true;
	}
	if (load->n_steps)
		load->steps[load->n_steps - 1]++;
	else
		load->offset++;
	return true;
}

/* Finds the number of elements of the array TYPE, which is known only at run time, as a load. */
static enum place_reason locals_array_count(const struct place_context *context, Dwarf_Die *type,
					    struct place_load *ret)
{
	Dwarf_Die range, next;
	enum place_reason reason;

	if (dwarf_child(type, &range) != 0 || dwarf_tag(&range) != DW_TAG_subrange_type)
		return PLACE_REASON_SIZE;
	next = range;
	if (places_next(&next))
		return PLACE_REASON_SIZES;
	if (dwarf_hasattr(&range, DW_AT_count))
		return place_expression_number(context, &range, DW_AT_count, ret);
	reason = place_expression_number(context, &range, DW_AT_upper_bound, ret);
	return reason ?: locals_add_one(ret) ? PLACE_REASON_NONE : PLACE_REASON_SIZE;
}

/* Completes V for DIE, an array of TYPE whose size is known only at run time. Returns 0 or
 * -ENOMEM. */
static int locals_collect_array(struct search *s, struct place_variable *v, Dwarf_Die *die,
				Dwarf_Die *type)
{
	const struct place_context context = { s->places, &s->function, s->query->vaddr };
	struct place_location location;
	uint64_t element;
	Dwarf_Die target;

	if (dwarf_tag(type) != DW_TAG_array_type || !place_type_of(type, &target) ||
	    (element = place_type_bytes(&target)) == 0 || element > PLACE_LOAD_BYTES_MAX) {
		v->reason = PLACE_REASON_SIZE;
		return 0;
	}
	v->reason = place_expression_locate(&context, die, element, &location)
			    ?: locals_array_count(&context, type, &v->count.load);
	if (!v->reason && (location.n_loads != 1 || location.loads[0].is_value))
		v->reason = PLACE_REASON_SIZE;
	if (v->reason)
		return 0;
	v->count.is_used = true;
	v->count.is_signed = true;
	v->count.element_bytes = (uint32_t)element;
	v->loads[0] = location.loads[0];
	v->loads[0].bytes = (uint32_t)(PLACE_LOAD_BYTES_MAX / element * element);
	v->n_loads = 1;
	return locals_shape(&location, "a0", &target, &v->shape);
}

/* Adds the variable DIE with NAME. */
static int locals_collect(struct search *s, Dwarf_Die *die, const char *name,
			  enum place_scope scope)
{
	struct place_location location;
	struct place_variable *v;
	Dwarf_Die type;
	int r;

	if (s->found.n == PLACE_VARIABLES_MAX)
		return 0;
	v = locals_add(s, name, scope);
	r = v ? locals_set_type(v, die) : -ENOMEM;
	if (r < 0)
		return r;
	v->reason = place_type_of(die, &type) ? locals_locate(s, die, &type, &location)
					      : PLACE_REASON_NO_TYPE;
	if (v->reason == PLACE_REASON_SIZE)
		return locals_collect_array(s, v, die, &type);
	if (v->reason)
		return 0;
	memcpy(v->loads, location.loads, sizeof(v->loads));
	v->n_loads = location.n_loads;
	r = locals_shape(&location, "", &type, &v->shape);
	if (r == 0 && s->query->strings)
		locals_add_string(v);
	return r;
}

/* ---- look-up of names ---- */

static bool locals_is_variable(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_formal_parameter || tag == DW_TAG_variable;
}

static enum place_scope locals_scope_of(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_formal_parameter ? PLACE_ARGUMENT : PLACE_LOCAL;
}

static bool locals_is_named(struct search *s, Dwarf_Die *die, const char *name)
{
	const char *its = place_die_name(die);

	if (!its)
		return false;
	if (strcmp(its, name) == 0)
		return true;
	if (value_nearest_try(&s->nearest, its))
		snprintf(s->nearest_name, sizeof(s->nearest_name), "%s", its);
	return false;
}

/* Adds the variables of SCOPE that are of the kind WANTED. Returns 0 or -ENOMEM. */
static int locals_collect_scope(struct search *s, const struct scope *scope,
				enum place_scope wanted)
{
	Dwarf_Die parent = scope->die, die;
	int r = 0;

	if (dwarf_child(&parent, &die) != 0)
		return 0;
	do {
		const char *name = locals_is_variable(&die) ? place_die_name(&die) : NULL;

		if (name && locals_scope_of(&die) == wanted)
			r = locals_collect(s, &die, name, wanted);
	} while (r == 0 && places_next(&die));
	return r;
}

/* Adds the variables of the innermost function that are of the kind WANTED, those of the innermost
 * block first. */
static int locals_collect_all(struct search *s, enum place_scope wanted)
{
	int r = 0;

	for (size_t i = s->n_scopes; r == 0 && i > s->frame; i--)
		r = locals_collect_scope(s, &s->scopes[i - 1], wanted);
	return r;
}

static bool locals_find_in(struct search *s, Dwarf_Die *parent, const char *name, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die) != 0)
		return false;
	do {
		if (locals_is_variable(&die) && locals_is_named(s, &die, name)) {
			*ret = die;
			return true;
		}
	} while (places_next(&die));
	return false;
}

/*
 * Returns true if DIE defines a global variable, and does not only declare it. A variable that is
 * optimised out has no location; it counts only if finds_removed is set.
 */
static bool locals_is_defined(const struct search *s, Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_location) || dwarf_hasattr(die, DW_AT_const_value) ||
	       (s->finds_removed && !dwarf_hasattr(die, DW_AT_declaration));
}

/* Finds the global variable NAME below PARENT, a unit or namespace. "a::b" is b in the namespace
 * a. */
static bool locals_find_global(struct search *s, Dwarf_Die *parent, const char *name,
			       Dwarf_Die *ret, unsigned depth)
{
	const char *colons = strstr(name, "::");
	Dwarf_Die die;

	if (depth == SCOPES_MAX || dwarf_child(parent, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		const char *its;

		/* (the outer calls of this function then also stop here) */
		if (s->n_visited++ >= (s->query->globals_max ?: GLOBAL_LOOKUPS_MAX)) {
			s->is_cut = true;
			return false;
		}
		if (!colons && tag == DW_TAG_variable && locals_is_defined(s, &die) &&
		    locals_is_named(s, &die, name)) {
			*ret = die;
			return true;
		}
		if (tag != DW_TAG_namespace)
			continue;
		its = place_die_name(&die);
		/* Look for "a::b" also outside of a: the DIE of a variable that is defined outside
		 * of its namespace is outside, too. */
		if ((!colons && locals_find_global(s, &die, name, ret, depth + 1)) ||
		    (colons && its && strlen(its) == (size_t)(colons - name) &&
		     memcmp(its, name, strlen(its)) == 0 &&
		     locals_find_global(s, &die, colons + 2, ret, depth + 1)))
			return true;
	} while (places_next(&die));
	return colons ? locals_find_global(s, parent, colons + 2, ret, depth + 1) : false;
}

static bool locals_find_in_own_unit(struct search *s, const char *name, bool removed,
				    Dwarf_Die *ret)
{
	s->finds_removed = removed;
	s->n_visited = 0;
	return !s->is_cut && locals_find_global(s, &s->unit, name, ret, 0);
}

static bool locals_find_in_units(struct search *s, const char *name, bool removed, Dwarf_Die *ret)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;

	s->finds_removed = removed;
	s->n_visited = 0;
	while (!s->is_cut &&
	       dwarf_get_units(s->places->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile && locals_find_global(s, &die, name, ret, 0))
			return true;
	return false;
}

static bool locals_find_name(struct search *s, const char *name, Dwarf_Die *ret,
			     enum place_scope *ret_scope)
{
	for (size_t i = s->n_scopes; i > 0; i--)
		if (locals_find_in(s, &s->scopes[i - 1].die, name, ret)) {
			*ret_scope = locals_scope_of(ret);
			return true;
		}
	*ret_scope = PLACE_GLOBAL;
	/*
	 * (a variable of the same unit hides variables of other units, even if it is optimised out)
	 */
	s->is_cut = false;
	return locals_find_in_own_unit(s, name, false, ret) ||
	       locals_find_in_own_unit(s, name, true, ret) ||
	       locals_find_in_units(s, name, false, ret) ||
	       locals_find_in_units(s, name, true, ret);
}

static int locals_no_variable(struct search *s, const char *name)
{
	if (s->is_cut)
		snprintf(s->why, s->size,
			 "there are too many global variables and functions in %s to find '%s'",
			 s->places->path, name);
	else
		snprintf(s->why, s->size, "there is no variable '%s' at 0x%" PRIx64 "%s%s%s", name,
			 s->query->vaddr, *s->nearest_name ? "; did you mean '" : "",
			 s->nearest_name, *s->nearest_name ? "'?" : "");
	return -ENOENT;
}

static int locals_find_or_fail(struct search *s, const char *name, Dwarf_Die *ret,
			       enum place_scope *ret_scope)
{
	s->nearest = (struct value_nearest){ .text = name, .distance = VALUE_NEAR };
	*s->nearest_name = '\0';
	return locals_find_name(s, name, ret, ret_scope) ? 0 : locals_no_variable(s, name);
}

/* ---- targets of pointers ---- */

/* "*NAME", "*NAME@64", "*NAME@OTHER" */
struct memory_item {
	char pointer[NAME_MAX_BYTES], other[NAME_MAX_BYTES];
	uint64_t n; /* number of elements; 0 = none given, or the value of OTHER */
};

static int locals_bad_item(struct search *s, const char *item, const char *what)
{
	snprintf(s->why, s->size, "'%.100s': %s", item, what);
	return -EINVAL;
}

static int locals_parse_memory(struct search *s, const char *item, struct memory_item *ret)
{
	size_t n = strcspn(item + 1, "@");
	const char *behind = item + 1 + n;
	char *end;

	*ret = (struct memory_item){ 0 };
	if (n == 0 || n >= sizeof(ret->pointer))
		return locals_bad_item(s, item, "the name of a pointer is missing after '*'");
	memcpy(ret->pointer, item + 1, n);
	if (*behind == '\0')
		return 0;
	behind++;
	if (!isdigit((unsigned char)*behind)) {
		if (snprintf(ret->other, sizeof(ret->other), "%s", behind) <= 0)
			return locals_bad_item(s, item, "the number of elements is missing");
		return 0;
	}
	ret->n = strtoull(behind, &end, 0);
	if (*end || ret->n == 0 || ret->n > PLACE_LOAD_BYTES_MAX)
		return locals_bad_item(s, item, "the number of elements must be 1 to 65536");
	return 0;
}

/* Sets *RET to the number of elements, which is the value of the variable OTHER at run time.
 * Returns 0 or a negative errno. */
static int locals_find_count(struct search *s, const char *item, const char *other,
			     uint32_t element, struct place_count *ret)
{
	struct place_location location;
	enum place_scope scope;
	Dwarf_Die die, type;
	enum place_reason reason;
	char *shape = NULL;
	int r = locals_find_or_fail(s, other, &die, &scope);

	if (r < 0)
		return r;
	if (!place_type_of(&die, &type))
		return locals_bad_item(s, item, "the number of elements is not a number");
	reason = locals_locate(s, &die, &type, &location);
	if (reason)
		return locals_bad_item(s, item, place_reason_text(reason));
	r = locals_shape(&location, "", &type, &shape);
	if (r < 0)
		return r;
	if (!strchr("iuech", *shape) || location.n_loads != 1 || location.loads[0].bytes > 8)
		r = locals_bad_item(s, item, "the number of elements is not an integer");
	else
		*ret = (struct place_count){ .is_used = true,
					     .is_signed = *shape == 'i' || *shape == 'c',
					     .element_bytes = element,
					     .load = location.loads[0] };
	free(shape);
	return r;
}

/* Finds the target of a pointer or reference TYPE, or the element of an array TYPE. Returns false
 * for other types. */
static bool locals_target(Dwarf_Die *type, Dwarf_Die *ret, bool *ret_has_type, bool *ret_is_array)
{
	int tag = dwarf_tag(type);

	*ret_is_array = tag == DW_TAG_array_type;
	*ret_has_type = place_type_of(type, ret);
	return *ret_is_array || tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static int locals_collect_memory(struct search *s, const char *item)
{
	struct place_location location;
	struct place_variable *v;
	struct memory_item m;
	enum place_scope scope;
	Dwarf_Die die, type, target;
	bool has_type, is_array;
	uint64_t element, bytes;
	char prefix[32] = "";
	int r = locals_parse_memory(s, item, &m) ?: locals_find_or_fail(s, m.pointer, &die, &scope);

	if (r < 0)
		return r;
	if (!place_type_of(&die, &type) || !locals_target(&type, &target, &has_type, &is_array))
		return locals_bad_item(s, item, "this is no pointer");
	element = has_type ? place_type_bytes(&target) : 1;
	v = locals_add(s, item, PLACE_MEMORY);
	r = v ? locals_set_type(v, &type) : -ENOMEM;
	if (r < 0)
		return r;
	v->reason = locals_locate(s, &die, &type, &location);
	if (!v->reason && (element == 0 || element > PLACE_LOAD_BYTES_MAX))
		v->reason = PLACE_REASON_SIZE;
	if (!v->reason && (*location.formula || location.n_loads != 1 ||
			   (!is_array && !place_load_follow(&location.loads[0]))))
		v->reason = PLACE_REASON_COMPLEX;
	if (v->reason)
		return 0;
	bytes = element * (m.n ?: 1);
	if (*m.other || bytes > PLACE_LOAD_BYTES_MAX)
		bytes = PLACE_LOAD_BYTES_MAX / element * element;
	if (*m.other)
		r = locals_find_count(s, item, m.other, (uint32_t)element, &v->count);
	v->loads[0] = location.loads[0];
	v->loads[0].bytes = (uint32_t)bytes;
	v->n_loads = 1;
	if (m.n || *m.other)
		snprintf(prefix, sizeof(prefix), "a%" PRIu64, *m.other ? 0 : bytes);
	return r ?: locals_shape(&location, prefix, has_type ? &target : NULL, &v->shape);
}

/* ---- query ---- */

static int locals_collect_item(struct search *s, const char *item)
{
	enum place_scope scope;
	Dwarf_Die die;
	int r;

	if (strcmp(item, "args") == 0)
		return locals_collect_all(s, PLACE_ARGUMENT);
	if (strcmp(item, "locals") == 0)
		return locals_collect_all(s, PLACE_LOCAL);
	if (*item == '*')
		return locals_collect_memory(s, item);
	if (!*item || strlen(item) >= NAME_MAX_BYTES)
		return locals_bad_item(s, item, "this is not the name of a variable");
	r = locals_find_or_fail(s, item, &die, &scope);
	return r < 0 ? r : locals_collect(s, &die, item, scope);
}

/* Writes to WHY why the variables at VADDR are unknown. Returns -ENODATA. */
static int locals_no_data(const struct places *p, uint64_t vaddr, char *why, size_t size)
{
	const char *split = places_split_file(p, vaddr);

	if (split)
		snprintf(why, size,
			 "the debug information of %s is in another file (%s), which kymo does not "
			 "read, so its variables are unknown: build without -gsplit-dwarf",
			 p->path, split);
	else
		snprintf(why, size,
			 "%s has no debug information%s, so its variables are unknown%s%s", p->path,
			 p->dwarf ? " for this address" : "", *places_problem(p) ? ": " : "",
			 places_problem(p));
	return -ENODATA;
}

int place_locals_find(struct places *p, const struct place_query *query, struct place_locals *ret,
		      char *why, size_t size)
{
	_cleanup_free_ struct search *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return -ENOMEM;
	*s = (struct search){ .places = p, .query = query, .why = why, .size = size };
	if (!p->dwarf || !locals_find_scopes(s))
		return locals_no_data(p, query->vaddr, why, size);
	for (size_t i = 0; r == 0 && i < query->n_items; i++)
		r = locals_collect_item(s, query->items[i]);
	if (r == 0)
		*ret = s->found;
	else
		place_locals_deinit(&s->found);
	return r;
}
