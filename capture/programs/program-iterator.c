/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/program-iterator.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

int program_iterator_open(struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd;
}

ssize_t program_iterator_read(int fd, void *buffer, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buffer, size);
	while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n < 0 ? -errno : n;
}
