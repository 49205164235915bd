/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/tracing-program.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "reader/symbols/elf-file.h"

enum { NAMES_BYTES_MAX = 64 << 20 };

/* The name with its neighbours: names are separated by NUL. */
static const char tracing_program_name[] = "\0ptrace";

static bool tracing_program_has_name(const struct elf_file *f, const char *section)
{
	size_t n = 0;
	const void *names = elf_file_content(f, section, NAMES_BYTES_MAX, &n);

	return names && memmem(names, n, tracing_program_name, sizeof(tracing_program_name));
}

/*
 * Imported names are in .dynstr. A static program imports none, and can have that section, too: its
 * names are in .strtab.
 */
static bool tracing_program_is_one(const struct elf_file *f)
{
	bool is_static = !elf_file_section(f, ".interp", NULL);

	return tracing_program_has_name(f, ".dynstr") ||
	       (is_static && tracing_program_has_name(f, ".strtab"));
}

bool tracing_program(pid_t pid)
{
	_cleanup_(elf_file_freep) struct elf_file *f = NULL;
	_cleanup_close_ int fd = -1;
	const char *what;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && elf_file_open_fd(&f, TAKE_FD(fd), &what) == 0 &&
	       tracing_program_is_one(f);
}
