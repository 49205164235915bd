/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/program-iterator.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

static int program_iterator_open_with(struct bpf_program *prog,
				      const struct bpf_iter_attach_opts *options)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, options);
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd;
}

int program_iterator_open(struct bpf_program *prog)
{
	return program_iterator_open_with(prog, NULL);
}

int program_iterator_open_process(struct bpf_program *prog, uint32_t pid)
{
	union bpf_iter_link_info info = { .task.tid = pid };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info,
		    .link_info_len = sizeof(info));

	return program_iterator_open_with(prog, &options);
}

ssize_t program_iterator_read(int fd, void *buffer, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buffer, size);
	while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n < 0 ? -errno : n;
}
