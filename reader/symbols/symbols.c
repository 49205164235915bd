/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A module is a source of names: a file (identified by its build id, or by inode and path), the
 * vdso, the kernel, or the map of a process. The struct module is small and is never freed before
 * the end. Its content is the data that was read. If all contents exceed the memory limit, the
 * least recently used ones are freed. A module that was not found is not searched again for the
 * same process, but another process may have it.
 */
#include "reader/symbols/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "reader/symbols/find-file.h"
#include "reader/symbols/kernel-symbols.h"
#include "reader/symbols/module-file.h"
#include "reader/symbols/perf-map.h"
#include "reader/symbols/symbol-absence.h"
#include "reader/symbols/text-pool.h"

enum module_kind { MODULE_FILE, MODULE_VDSO, MODULE_KERNEL, MODULE_PERF_MAP };

/* The identity of a module. It is hashed and compared as bytes, so padding must be zero. */
struct identity {
	uint64_t kind;
	uint64_t number; /* a map: its pid; a file without a build id: its inode */
	uint64_t device;
	uint64_t lives;   /* a map, or a vdso without a build id: 1 = the process still exists */
	uint64_t earlier; /* a file without a build id: 1 = the file before its last write */
	uint64_t path;    /* a file without a build id: its path's address in the text pool */
	uint64_t n_build_id;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
};

struct module {
	struct module *next; /* next module with the same hash */
	struct identity identity;
	const char *name; /* name of the module in reports of problems */
	/* The content; only one of these is set, or none. */
	struct module_file *file;
	struct kernel_symbols *kernel;
	struct perf_map *map;
	uint64_t bytes;      /* size of the content */
	uint64_t bytes_read; /* size of the content just after it was read; look-ups increase it */
	/* Modules with content, sorted by last use. */
	struct module *newer, *older;
	struct table absent_for; /* processes that do not have the module: symbols_absence_key() */
	uint64_t rejected_ns;    /* the last time of a mapping whose file was found unsuitable */
};

struct symbols {
	struct symbols_options options; /* owns its texts */
	struct find_places places;
	struct text_pool texts;
	struct table modules; /* hash -> struct module */
	struct module *newest, *oldest;
	uint64_t bytes;
	struct symbol_problem problems[SYMBOLS_PROBLEMS_MAX];
	size_t n_problems;
	uint64_t n_met; /* number of problems so far, with repetitions */
	int error;      /* -ENOMEM in functions that cannot return it */
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
};

/* ---- problems ---- */

static void symbols_add_problem(void *userdata, const char *file, const char *what)
{
	struct symbols *s = userdata;
	const char *name = text_pool_add(&s->texts, file, strlen(file));

	if (!name) {
		s->error = -ENOMEM;
		return;
	}
	s->n_met++;
	for (size_t i = 0; i < s->n_problems; i++)
		if (s->problems[i].file == name && s->problems[i].what == what)
			return;
	if (s->n_problems < SYMBOLS_PROBLEMS_MAX)
		s->problems[s->n_problems++] = (struct symbol_problem){
			.file = name,
			.what = what,
		};
}

const struct symbol_problem *symbols_next_problem(const struct symbols *s, size_t *pos)
{
	return *pos < s->n_problems ? &s->problems[(*pos)++] : NULL;
}

/* ---- contents ---- */

static void symbols_unlink_module(struct symbols *s, struct module *m)
{
	*(m->newer ? &m->newer->older : &s->newest) = m->older;
	*(m->older ? &m->older->newer : &s->oldest) = m->newer;
	m->newer = m->older = NULL;
}

static void symbols_link_newest(struct symbols *s, struct module *m)
{
	m->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = m;
	s->newest = m;
}

static bool symbols_has_content(const struct module *m)
{
	return m->file || m->kernel || m->map;
}

static void symbols_drop_content(struct symbols *s, struct module *m)
{
	symbols_unlink_module(s, m);
	m->file = module_file_free(m->file);
	m->kernel = kernel_symbols_free(m->kernel);
	m->map = perf_map_free(m->map);
	s->bytes -= m->bytes;
	m->bytes = 0;
}

/* Updates the size of M, which may have grown. Frees contents of other modules if the limit is
 * exceeded. */
static void symbols_account(struct symbols *s, struct module *m)
{
	uint64_t bytes = 0;

	if (m->file)
		bytes = module_file_bytes(m->file);
	else if (m->kernel)
		bytes = kernel_symbols_bytes(m->kernel);
	else if (m->map)
		bytes = perf_map_bytes(m->map);
	s->bytes += bytes - m->bytes;
	m->bytes = bytes;
	while (s->bytes > s->options.memory_limit && s->oldest != m)
		symbols_drop_content(s, s->oldest);
}

/*
 * Must be called after M was used. If M alone exceeds the limit, and has grown to more than twice
 * its size since it was read, its content is freed, and read again for the next address. (If it has
 * grown less, it would soon be as large again.)
 */
static void symbols_settle(struct symbols *s, struct module *m)
{
	symbols_account(s, m);
	if (m->bytes > s->options.memory_limit && m->bytes / 2 > m->bytes_read)
		symbols_drop_content(s, m);
}

static int symbols_read_content(struct symbols *s, struct module *m,
				const struct symbol_query *query)
{
	struct module_file_options options = {
		.lines = s->options.lines,
		.memory_limit = s->options.memory_limit,
		.problem = symbols_add_problem,
		.userdata = s,
	};
	const char *what = NULL;
	int r = 0;

	switch ((enum module_kind)m->identity.kind) {
	case MODULE_FILE:
		r = module_file_open(&m->file, &s->places, query, &options);
		break;
	case MODULE_VDSO:
		r = module_file_open_vdso(&m->file, query, &options);
		break;
	case MODULE_KERNEL:
		r = kernel_symbols_open(&m->kernel, &s->options, &what);
		break;
	case MODULE_PERF_MAP:
		r = perf_map_open(&m->map, &s->places, query, s->options.perf_map_dir, &what);
		break;
	}
	if (r == -EBADMSG && what)
		symbols_add_problem(s, m->name, what);
	return r == -ENOMEM ? r : 0;
}

/* Returns the reason why nothing was found for QUERY, and a remedy; NULL = no reason worth a
 * report. */
static const char *symbols_absence(const struct module *m, const struct symbol_query *query)
{
	switch ((enum module_kind)m->identity.kind) {
	case MODULE_FILE:
		return symbol_absence_of_file(query);
	case MODULE_PERF_MAP:
		return symbol_absence_of_map(query);
	default:
		return NULL;
	}
}

/* The key of QUERY's process in absent_for; all ended processes share one key, since they have no
 * files of their own. */
static uint64_t symbols_absence_key(const struct symbol_query *query)
{
	return query->lives ? (uint64_t)query->pid + 1 : 1;
}

/*
 * Notes that nothing was found for QUERY. If the search has not MET (= reported) a problem, reports
 * the absence as a problem.
 */
static int symbols_set_absent(struct symbols *s, struct module *m, const struct symbol_query *query,
			      bool met)
{
	const char *what = met ? NULL : symbols_absence(m, query);

	if (what)
		symbols_add_problem(s, m->name, what);
	if (met && query->mapping.mapped_ns > m->rejected_ns)
		m->rejected_ns = query->mapping.mapped_ns;
	return table_set(&m->absent_for, symbols_absence_key(query), m);
}

/* Returns true if M was not found before, and a search for QUERY cannot have another result. */
static bool symbols_is_absent(const struct module *m, const struct symbol_query *query)
{
	/* (a file that was written too late for an earlier mapping can be the file of a later
	 * mapping) */
	return table_get(&m->absent_for, symbols_absence_key(query)) &&
	       (m->rejected_ns == 0 || query->mapping.mapped_ns <= m->rejected_ns ||
		m->identity.n_build_id > 0);
}

/* Reads the content of M if it can be found. Returns 0 or -ENOMEM. */
static int symbols_load(struct symbols *s, struct module *m, const struct symbol_query *query)
{
	uint64_t n_met = s->n_met;
	int r;

	if (symbols_has_content(m)) {
		if (s->newest != m) {
			symbols_unlink_module(s, m);
			symbols_link_newest(s, m);
		}
		return 0;
	}
	if (symbols_is_absent(m, query))
		return 0;
	r = symbols_read_content(s, m, query);
	if (r < 0)
		return r;
	if (!symbols_has_content(m))
		return symbols_set_absent(s, m, query, s->n_met != n_met);
	symbols_link_newest(s, m);
	symbols_account(s, m);
	m->bytes_read = m->bytes;
	return s->error;
}

/* ---- modules ---- */

static struct module *symbols_module_free(struct module *m)
{
	if (!m)
		return NULL;
	module_file_free(m->file);
	kernel_symbols_free(m->kernel);
	perf_map_free(m->map);
	table_deinit(&m->absent_for);
	return free_ptr(m);
}

static bool symbols_has_build_id(const struct symbol_mapping *mapping)
{
	return mapping->build_id && mapping->n_build_id > 0 &&
	       mapping->n_build_id <= SYMBOL_BUILD_ID_MAX;
}

/* A memfd with a build id is a program or a library. Other code in a memfd can be that of a
 * run-time compiler. */
bool symbols_is_of_file(const struct symbol_mapping *mapping)
{
	return find_is_file(mapping->path) ||
	       (symbol_absence_is_memfd(mapping->path) && symbols_has_build_id(mapping));
}

static enum module_kind symbols_kind_of(const struct symbol_query *query)
{
	const char *path = query->mapping.path;

	if (query->kernel)
		return MODULE_KERNEL;
	if (path && strcmp(path, "[vdso]") == 0)
		return MODULE_VDSO;
	return symbols_is_of_file(&query->mapping) ? MODULE_FILE : MODULE_PERF_MAP;
}

/* Fills *RET for QUERY. *RET_NAME is the module's name in problem reports. Returns 0 or -ENOMEM. */
static int symbols_identify(struct symbols *s, const struct symbol_query *query,
			    struct identity *ret, const char **ret_name)
{
	const struct symbol_mapping *mapping = &query->mapping;
	char map_name[32];

	memset(ret, 0, sizeof(*ret));
	ret->kind = symbols_kind_of(query);
	switch (ret->kind) {
	case MODULE_KERNEL:
		*ret_name = "[kernel]";
		return 0;
	case MODULE_VDSO:
		/* A vdso that matched one query matches others. Different vdsos have different
		 * build ids. */
		*ret_name = "[vdso]";
		break;
	case MODULE_PERF_MAP:
		snprintf(map_name, sizeof(map_name), "perf-%u.map", query->pid);
		*ret_name = text_pool_add(&s->texts, map_name, strlen(map_name));
		ret->number = query->pid;
		ret->lives = query->lives;
		return *ret_name ? 0 : -ENOMEM;
	default:
		*ret_name = text_pool_add(&s->texts, mapping->path, strlen(mapping->path));
		if (!*ret_name)
			return -ENOMEM;
		break;
	}
	if (symbols_has_build_id(mapping)) {
		ret->n_build_id = mapping->n_build_id;
		memcpy(ret->build_id, mapping->build_id, mapping->n_build_id);
	} else if (ret->kind == MODULE_FILE) {
		ret->number = mapping->inode;
		ret->device = mapping->device;
		ret->path = (uint64_t)(uintptr_t)*ret_name;
	} else {
		ret->lives = query->lives;
	}
	return 0;
}

/*
 * Finds or adds the module of QUERY. EARLIER = the content of the file before its last write is
 * meant. Returns 0 with *RET, or -ENOMEM.
 */
static int symbols_find_module(struct symbols *s, const struct symbol_query *query, bool earlier,
			       struct module **ret)
{
	struct identity identity;
	struct module *m, *first;
	const char *name;
	uint64_t hash;
	int r = symbols_identify(s, query, &identity, &name);

	if (r < 0)
		return r;
	identity.earlier = earlier;
	hash = table_hash(&identity, sizeof(identity));
	first = table_get(&s->modules, hash);
	for (m = first; m; m = m->next)
		if (memcmp(&m->identity, &identity, sizeof(identity)) == 0)
			break;
	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		m->identity = identity;
		m->name = name;
		m->next = first;
		r = table_set(&s->modules, hash, m);
		if (r < 0) {
			free(m);
			return r;
		}
	}
	*ret = m;
	return 0;
}

/* ---- object ---- */

static int symbols_copy_text(const char **text, const char *otherwise)
{
	if (!*text && !otherwise)
		return 0;
	*text = strdup(*text ? *text : otherwise);
	return *text ? 0 : -ENOMEM;
}

/* Replaces the texts of O by copies. After a failure, texts that were not copied are NULL. */
static int symbols_own_texts(struct symbols_options *o)
{
	const struct {
		const char **text;
		const char *otherwise;
	} rows[] = {
		{ &o->kallsyms, NULL },       { &o->kernel_notes, NULL },
		{ &o->kernel_modules, NULL }, { &o->kernel_module_dir, NULL },
		{ &o->perf_map_dir, "/tmp" },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (r == 0)
			r = symbols_copy_text(rows[i].text, rows[i].otherwise);
		else
			*rows[i].text = NULL;
	}
	return r;
}

static void symbols_free_texts(struct symbols_options *o)
{
	free((char *)o->kallsyms);
	free((char *)o->kernel_notes);
	free((char *)o->kernel_modules);
	free((char *)o->kernel_module_dir);
	free((char *)o->perf_map_dir);
}

int symbols_new(struct symbols **ret, const struct symbols_options *options)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	r = find_places_init(&s->places, options);
	if (r < 0) {
		free(s);
		return r;
	}
	s->options = *options;
	/* These texts are stored in the places. */
	s->options.sysroot = NULL;
	s->options.debug_dirs = NULL;
	r = symbols_own_texts(&s->options);
	if (r < 0) {
		symbols_free(s);
		return r;
	}
	if (s->options.memory_limit == 0)
		s->options.memory_limit = SYMBOLS_MEMORY_DEFAULT;
	*ret = s;
	return 0;
}

struct symbols *symbols_free(struct symbols *s)
{
	struct module *m, *next;

	if (!s)
		return NULL;
	for (size_t pos = 0; (m = table_next(&s->modules, &pos));)
		for (; m; m = next) {
			next = m->next;
			symbols_module_free(m);
		}
	table_deinit(&s->modules);
	text_pool_deinit(&s->texts);
	find_places_deinit(&s->places);
	symbols_free_texts(&s->options);
	return free_ptr(s);
}

uint64_t symbols_memory(const struct symbols *s)
{
	return s->bytes;
}

/* ---- look-up ---- */

static const char *symbol_text(struct symbols *s, const char *name, size_t n, const char *suffix)
{
	const char *text = text_pool_add_symbol(&s->texts, name, n, suffix);

	if (!text)
		s->error = -ENOMEM;
	return text;
}

static const char *symbols_plain_text(struct symbols *s, const char *from, size_t n)
{
	const char *text = text_pool_add(&s->texts, from, n);

	if (!text)
		s->error = -ENOMEM;
	return text;
}

/* Returns the last component of PATH, without " (deleted)"; "[anon]" for "//anon". */
static const char *symbols_module_text(struct symbols *s, const char *path)
{
	const char *slash;

	if (!path || path[0] == '\0')
		return NULL;
	if (strcmp(path, "//anon") == 0)
		path = "[anon]";
	slash = strrchr(path, '/');
	if (slash && slash[1] != '\0')
		path = slash + 1;
	return symbols_plain_text(s, path, text_path_length(path));
}

/* Resolves an address in a file: fills the frames and returns their number. */
static size_t symbols_resolve_in_file(struct symbols *s, struct module *m,
				      const struct symbol_query *query, uint64_t address)
{
	struct dwarf_frame frames[SYMBOL_FRAMES_MAX];
	struct symbol_found symbol;
	const char *what = NULL;
	uint64_t vaddr;
	bool has_symbol;
	size_t n;

	s->frames[0].unsure = module_file_is_unsure(m->file);
	if (!module_file_address(m->file, &query->mapping, address, &vaddr))
		return 1;
	has_symbol = module_file_symbol(m->file, vaddr, &symbol);
	/* A signal can interrupt a function at its first instruction; the byte before is padding
	 * then. (If a call is before, the address is rather the return address in a caller without
	 * a name.) */
	if (!has_symbol && address != query->address &&
	    module_file_symbol(m->file, vaddr + 1, &symbol) && symbol.offset == 0 &&
	    !module_file_can_follow_call(m->file, vaddr + 1)) {
		has_symbol = true;
		address = query->address;
		vaddr++;
	}
	n = module_file_frames(m->file, vaddr, frames, SYMBOL_FRAMES_MAX, &what);
	if (what)
		symbols_add_problem(s, m->name, what);
	if (n == 0) {
		frames[0] = (struct dwarf_frame){ 0 };
		n = 1;
	}
	for (size_t i = 0; i < n; i++) {
		struct symbol_frame *frame = &s->frames[i];
		const struct dwarf_frame *from = &frames[i];

		*frame = s->frames[0];
		frame->inlined = i + 1 < n;
		frame->function =
			from->function ? symbol_text(s, from->function, strlen(from->function), "")
				       : NULL;
		frame->source = from->source
					? symbols_plain_text(s, from->source, strlen(from->source))
					: NULL;
		frame->line = from->line;
		frame->offset = has_symbol ? symbol.offset + (query->address - address) : 0;
	}
	/* The symbol's name can say more than the name in the debug information ("foo.cold"). */
	if (has_symbol && n < SYMBOL_FRAMES_MAX)
		s->frames[n - 1].function =
			symbol_text(s, symbol.name, symbol.n, symbol.plt ? "@plt" : "");
	/* (a signal handler returns to the begin of this code, and ADDRESS is one byte before
	 * that) */
	if (!has_symbol && !s->frames[n - 1].function &&
	    module_file_is_sigreturn(m->file, vaddr + (query->address - address)))
		s->frames[n - 1].function = "__restore_rt";
	return n;
}

static void symbols_resolve_in_kernel(struct symbols *s, struct module *m,
				      const struct symbol_query *query, uint64_t address)
{
	struct symbol_frame *frame = &s->frames[0];
	struct kernel_found found;
	const char *what = NULL;
	char module[64];
	int r = kernel_symbols_find(m->kernel, &query->mapping, address, &found, &what);

	if (what)
		symbols_add_problem(s, query->mapping.path ? query->mapping.path : m->name, what);
	if (r <= 0)
		return;
	frame->function = symbols_plain_text(s, found.symbol.name, found.symbol.n);
	frame->offset = found.symbol.offset + (query->address - address);
	frame->unsure = found.unsure;
	if (found.module[0] != '\0') {
		snprintf(module, sizeof(module), "[%s]", found.module);
		frame->module = symbols_plain_text(s, module, strlen(module));
	}
}

static void symbols_resolve_in_map(struct symbols *s, struct module *m,
				   const struct symbol_query *query, uint64_t address)
{
	struct symbol_frame *frame = &s->frames[0];
	uint64_t offset;
	size_t n;
	const char *name = perf_map_find(m->map, address, &n, &offset);

	if (perf_map_is_reused(m->map, address))
		symbols_add_problem(
			s, m->name,
			"it names several functions at the same addresses without times, so "
			"these addresses have no name");
	if (!name)
		return;
	if (perf_map_is_late(m->map, query->mapping.mapped_ns))
		symbols_add_problem(
			s, m->name,
			"it was created after code that it names was recorded, so addresses whose "
			"function was replaced in between have the name of the later function");
	frame->function = symbol_text(s, name, n, "");
	frame->module = m->name;
	frame->offset = offset + (query->address - address);
	frame->unsure = perf_map_is_unsure(m->map);
}

/* Copies QUERY without invalid parts to *RET_CLEAN, and loads its module. Returns 0 or -ENOMEM. */
static int symbols_find_loaded(struct symbols *s, const struct symbol_query *query,
			       struct symbol_query *ret_clean, struct module **ret)
{
	int r;

	*ret_clean = *query;
	if (!symbols_has_build_id(&query->mapping)) {
		ret_clean->mapping.build_id = NULL;
		ret_clean->mapping.n_build_id = 0;
	}
	r = symbols_find_module(s, ret_clean, false, ret) ?: symbols_load(s, *ret, ret_clean);
	/* The file that was read was written after QUERY's mapping: look for its earlier
	 * content. */
	if (r == 0 && (*ret)->file && (*ret)->identity.n_build_id == 0 &&
	    module_file_is_later((*ret)->file, query->mapping.mapped_ns))
		r = symbols_find_module(s, ret_clean, true, ret)
			    ?: symbols_load(s, *ret, ret_clean);
	return r;
}

/*
 * Like symbols_find_loaded(), but only for return addresses in programs. Returns 1, 0 if QUERY is
 * none, or a negative errno.
 */
static int symbols_find_caller(struct symbols *s, const struct symbol_query *query,
			       struct symbol_query *ret_clean, struct module **ret)
{
	s->error = 0;
	if (query->kernel || !query->is_return || query->address == 0)
		return 0;
	return symbols_find_loaded(s, query, ret_clean, ret) ?: 1;
}

/* Finds the name of the function that the call before QUERY's return address names. Returns 1 with
 * *RET, 0 if it is unknown, or -ENOMEM. */
static int symbols_name_of(struct symbols *s, const struct module *m,
			   const struct symbol_query *query, const char **ret)
{
	struct symbol_found symbol;
	uint64_t vaddr, target;

	/* Look up the byte before, since a return address can be directly after the last mapped
	 * byte. */
	if (!module_file_address(m->file, &query->mapping, query->address - 1, &vaddr) ||
	    !module_file_call(m->file, vaddr + 1, &target))
		return 0;
	*ret = "";
	if (!module_file_symbol(m->file, target, &symbol))
		return 1;
	/* No call leads into the middle of a function, so the bytes before the address are no
	 * call. */
	if (symbol.offset != 0)
		return 0;
	*ret = symbol_text(s, symbol.name, symbol.n, symbol.plt ? "@plt" : "");
	return s->error < 0 ? s->error : 1;
}

int symbols_called(struct symbols *s, const struct symbol_query *query, const char **ret)
{
	struct symbol_query clean;
	struct module *m;
	int r = symbols_find_caller(s, query, &clean, &m);

	if (r <= 0)
		return r;
	r = m->file ? symbols_name_of(s, m, &clean, ret) : 0;
	if (symbols_has_content(m))
		symbols_settle(s, m);
	return r;
}

int symbols_begins(struct symbols *s, const struct symbol_query *query)
{
	struct symbol_query clean;
	struct module *m;
	uint64_t vaddr;
	int r = symbols_find_caller(s, query, &clean, &m);

	if (r <= 0)
		return r;
	if (!m->file || module_file_is_unsure(m->file))
		r = -ENOENT;
	else
		r = module_file_address(m->file, &clean.mapping, clean.address - 1, &vaddr)
			    ? module_file_begins(m->file, vaddr + 1)
			    : 0;
	if (symbols_has_content(m))
		symbols_settle(s, m);
	return r;
}

int symbols_resolve(struct symbols *s, const struct symbol_query *query,
		    const struct symbol_frame **ret, size_t *ret_n)
{
	uint64_t address = query->address - (query->is_return && query->address > 0);
	const struct symbol_mapping *mapping = &query->mapping;
	struct symbol_query clean;
	struct module *m;
	size_t n = 1;
	int r;

	s->error = 0;
	s->frames[0] = (struct symbol_frame){ 0 };
	r = symbols_find_loaded(s, query, &clean, &m);
	if (r < 0)
		return r;
	if (query->kernel && (!mapping->path || strncmp(mapping->path, "[kernel", 7) == 0))
		s->frames[0].module = m->name;
	else
		s->frames[0].module = symbols_module_text(s, mapping->path);
	if (m->file)
		n = symbols_resolve_in_file(s, m, &clean, address);
	else if (m->kernel)
		symbols_resolve_in_kernel(s, m, &clean, address);
	else if (m->map)
		symbols_resolve_in_map(s, m, &clean, address);
	if (symbols_has_content(m))
		symbols_settle(s, m);
	*ret = s->frames;
	*ret_n = n;
	return s->error;
}
