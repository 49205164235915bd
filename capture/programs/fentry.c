/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/fentry.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "base/cleanup.h"

/* Loads a program that does nothing. */
static int fentry_load_nothing(uint32_t btf_id)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = btf_id);

	return bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", insns, ARRAY_SIZE(insns), &opts);
}

bool fentry_works(const struct kernel_btf *btf, const char *function)
{
	struct kernel_btf_name hook = { function, BTF_KIND_FUNC, 0 };
	bool is_there = kernel_btf_find(btf, &hook, 1) == 0 && hook.id > 0;
	_cleanup_close_ int program = is_there ? fentry_load_nothing(hook.id) : -1;
	_cleanup_close_ int link = program >= 0 ? bpf_raw_tracepoint_open(NULL, program) : -1;

	return link >= 0;
}
