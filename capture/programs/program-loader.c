/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf reads the BTF for relocations from a file. Here, that file is in memory. To find the hook
 * of a program, libbpf still parses the kernel's own BTF, except for an eBPF program that attaches
 * to another eBPF program. So all eBPF programs are first declared to attach to another one. The
 * callbacks for their sections then correct this, and set the number of the hook.
 */
#include "capture/programs/program-loader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "bpf/record.h"

enum { HOOK_NAME_BYTES = 128, CAST_NAMES = 2 };

struct hook {
	const char *section; /* owned by libbpf */
	char name[HOOK_NAME_BYTES];
};

struct program_loader {
	int fd; /* a file in memory with the extracted BTF */
	char path[32];
	struct hook *hooks;
	struct kernel_btf_name *found; /* the hook of each program; then the names for casts */
	size_t n;
	uint32_t cast_function, cast_type; /* numbers in the kernel's BTF; 0 = unavailable */
};

/* The callbacks get no pointer to the loader, so they use this pointer. */
static __thread const struct program_loader *program_loader_now;

/*
 * The sections whose programs have a hook in the kernel's BTF, and the prefix of the hook's name
 * there.
 */
static const struct {
	const char *section, *prefix;
	uint32_t kind;
	enum bpf_attach_type type;
} program_loader_rows[] = {
	{ "tp_btf", "btf_trace_", BTF_KIND_TYPEDEF, BPF_TRACE_RAW_TP },
	{ "fentry", "", BTF_KIND_FUNC, BPF_TRACE_FENTRY },
	{ "iter", "bpf_iter_", BTF_KIND_FUNC, BPF_TRACE_ITER },
};

/* ---- casts ---- */

/* The function, and a type for it. */
static const struct kernel_btf_name program_loader_cast_names[CAST_NAMES] = {
	{ "bpf_rdonly_cast", BTF_KIND_FUNC, 0 },
	{ "seqcount", BTF_KIND_STRUCT, 0 },
};

static bool program_loader_is_cast(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == 0 && insn->imm == CAST_CALL;
}

static struct bpf_insn program_loader_cast(uint32_t function)
{
	return (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
				  .src_reg = BPF_PSEUDO_KFUNC_CALL,
				  .imm = (int32_t)function };
}

/*
 * Returns true if the kernel accepts a program at HOOK that calls FUNCTION with TYPE, and then
 * reads 4 bytes. Without a JIT compiler, the kernel refuses all such calls.
 */
static bool program_loader_tries_cast(uint32_t hook, uint32_t function, uint32_t type)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = (int32_t)type },
		program_loader_cast(function),
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = hook);
	_cleanup_close_ int fd =
		bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", insns, ARRAY_SIZE(insns), &opts);

	return fd >= 0;
}

/* Sets the function and the type for casts, if the kernel accepts them. */
static void program_loader_find_cast(struct program_loader *l)
{
	const struct kernel_btf_name *names = l->found + l->n;
	uint32_t hook = 0;

	for (size_t i = 0; i < l->n && hook == 0; i++)
		if (strncmp(l->hooks[i].section, "tp_btf/", strlen("tp_btf/")) == 0)
			hook = l->found[i].id;
	if (hook == 0 || names[0].id == 0 || names[1].id == 0 ||
	    !program_loader_tries_cast(hook, names[0].id, names[1].id))
		return;
	l->cast_function = names[0].id;
	l->cast_type = names[1].id;
}

/* Replaces the calls with the number CAST_CALL in PROG. */
static int program_loader_replace_casts(const struct program_loader *l, struct bpf_program *prog)
{
	const struct bpf_insn *insns = bpf_program__insns(prog);
	size_t n = bpf_program__insn_cnt(prog), n_casts = 0;
	_cleanup_free_ struct bpf_insn *copy = NULL;

	for (size_t i = 0; l->cast_function && i < n; i++)
		n_casts += program_loader_is_cast(&insns[i]);
	if (n_casts == 0)
		return 0;
	copy = calloc(n, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		copy[i] = program_loader_is_cast(&insns[i]) ? program_loader_cast(l->cast_function)
							    : insns[i];
	return bpf_program__set_insns(prog, copy, n);
}

uint32_t program_loader_cast_type(const struct program_loader *l)
{
	return l->cast_type;
}

/* ---- callbacks ---- */

static int program_loader_on_load(struct bpf_program *prog, struct bpf_prog_load_opts *opts,
				  long cookie)
{
	const struct program_loader *l = program_loader_now;
	const char *section = bpf_program__section_name(prog);

	for (size_t i = 0; l && i < l->n; i++) {
		if (l->found[i].id == 0 || strcmp(l->hooks[i].section, section) != 0)
			continue;
		opts->attach_prog_fd = 0;
		opts->attach_btf_id = l->found[i].id;
		return program_loader_replace_casts(l, prog);
	}
	return -ESRCH;
}

static int program_loader_on_attach(const struct bpf_program *prog, long cookie,
				    struct bpf_link **ret)
{
	*ret = cookie == BPF_TRACE_ITER ? bpf_program__attach_iter(prog, NULL)
					: bpf_program__attach_trace(prog);
	return *ret ? 0 : -errno;
}

static int program_loader_registered;

/* Called once for all objects, because libbpf's list of sections has no lock. */
static void program_loader_register(void)
{
	char section[16];

	for (size_t i = 0; i < ARRAY_SIZE(program_loader_rows); i++) {
		LIBBPF_OPTS(libbpf_prog_handler_opts, opts,
			    .cookie = (long)program_loader_rows[i].type,
			    .prog_prepare_load_fn = program_loader_on_load,
			    .prog_attach_fn = program_loader_on_attach);
		int r;

		snprintf(section, sizeof(section), "%s+", program_loader_rows[i].section);
		r = libbpf_register_prog_handler(section, BPF_PROG_TYPE_TRACING,
						 program_loader_rows[i].type, &opts);
		if (r < 0)
			program_loader_registered = r;
	}
}

/* ---- before loading ---- */

int program_loader_new(struct program_loader **ret, const char **ret_path)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	_cleanup_(program_loader_freep) struct program_loader *l = calloc(1, sizeof(*l));

	pthread_once(&once, program_loader_register);
	if (!l)
		return -ENOMEM;
	l->fd = memfd_create("kernel-btf", MFD_CLOEXEC);
	if (program_loader_registered < 0)
		return program_loader_registered;
	if (l->fd < 0)
		return -errno;
	snprintf(l->path, sizeof(l->path), "/proc/self/fd/%d", l->fd);
	*ret_path = l->path;
	*ret = TAKE_PTR(l);
	return 0;
}

/* Finds the hook of PROG, if it has one in the kernel's BTF. */
static bool program_loader_hook(const struct bpf_program *prog, struct hook *ret,
				struct kernel_btf_name *ret_name)
{
	const char *section = bpf_program__section_name(prog);

	for (size_t i = 0; i < ARRAY_SIZE(program_loader_rows); i++) {
		size_t n = strlen(program_loader_rows[i].section);

		if (strncmp(section, program_loader_rows[i].section, n) != 0 || section[n] != '/')
			continue;
		ret->section = section;
		snprintf(ret->name, sizeof(ret->name), "%s%s", program_loader_rows[i].prefix,
			 section + n + 1);
		*ret_name = (struct kernel_btf_name){ ret->name, program_loader_rows[i].kind, 0 };
		return true;
	}
	return false;
}

static int program_loader_find_hooks(struct program_loader *l, const struct kernel_btf *btf,
				     struct bpf_object *object)
{
	struct bpf_program *prog;
	size_t n = 0;
	int r = 0;

	bpf_object__for_each_program(prog, object) n++;
	l->hooks = calloc(n ? n : 1, sizeof(*l->hooks));
	l->found = calloc(n + CAST_NAMES, sizeof(*l->found));
	if (!l->hooks || !l->found)
		return -ENOMEM;
	bpf_object__for_each_program(prog, object) if (r == 0 &&
						       program_loader_hook(prog, &l->hooks[l->n],
									   &l->found[l->n]))
	{
		l->n++;
		r = bpf_program__set_attach_target(prog, l->fd, NULL);
	}
	memcpy(l->found + l->n, program_loader_cast_names, sizeof(program_loader_cast_names));
	r = r ?: kernel_btf_find(btf, l->found, l->n + CAST_NAMES);
	if (r == 0)
		program_loader_find_cast(l);
	return r;
}

/* Lists the names of all types in OBJECT, as the kernel has them: without ___flavor. */
static int program_loader_type_names(const struct bpf_object *object, char ***ret, size_t *ret_n)
{
	const struct btf *own = bpf_object__btf(object);
	uint32_t n_types = own ? btf__type_cnt(own) : 0;
	char **names = calloc(n_types + 1, sizeof(*names));
	size_t n = 0;

	*ret = names;
	*ret_n = 0;
	if (!names)
		return -ENOMEM;
	for (uint32_t id = 1; id < n_types; id++) {
		const struct btf_type *t = btf__type_by_id(own, id);
		const char *name = btf__name_by_offset(own, t->name_off), *flavor;

		if (!name || !*name || btf_is_func(t) || btf_is_var(t) || btf_is_datasec(t))
			continue;
		flavor = strstr(name, "___");
		names[n] = flavor ? strndup(name, (size_t)(flavor - name)) : strdup(name);
		if (!names[n++])
			return -ENOMEM;
		*ret_n = n;
	}
	return 0;
}

static int program_loader_write(const struct program_loader *l, const struct outbuf *extract)
{
	size_t used = 0;

	while (used < extract->size) {
		ssize_t n = write(l->fd, extract->data + used, extract->size - used);

		if (n < 0)
			return -errno;
		used += (size_t)n;
	}
	return 0;
}

int program_loader_prepare(struct program_loader *l, const struct kernel_btf *btf,
			   struct bpf_object *object)
{
	_cleanup_(outbuf_deinit) struct outbuf extract = { 0 };
	char **names = NULL;
	size_t n = 0;
	int r = program_loader_find_hooks(l, btf, object)
			?: program_loader_type_names(object, &names, &n);

	r = r ?: kernel_btf_extract(btf, (const char *const *)names, n, &extract)
		    ?: program_loader_write(l, &extract);
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
	program_loader_now = l;
	return r;
}

struct program_loader *program_loader_free(struct program_loader *l)
{
	if (!l)
		return NULL;
	if (program_loader_now == l)
		program_loader_now = NULL;
	close_fd(l->fd);
	free(l->hooks);
	free(l->found);
	return free_ptr(l);
}
