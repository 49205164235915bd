/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/table.h"

/* Fields of /proc/PID/stat, as proc_pid_stat(5) counts them. */
enum { FIELD_STATE = 3, FIELD_CODE = 26, FIELD_STACK = 28 };

/* Returns field NUMBER of TEXT, which begins with the state; NULL = there is no such field. */
static const char *provider_image_field(const char *text, unsigned number)
{
	for (unsigned i = FIELD_STATE; text && i < number; i++) {
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/*
 * The kernel places code and stack of each program at random, so two programs have different
 * numbers.
 */
uint64_t provider_image_read(const char *path)
{
	char text[1024];
	const char *state, *code, *end;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* (the name of the program is in parentheses, and can itself contain parentheses) */
	state = strrchr(text, ')');
	state = state && state[1] == ' ' ? state + 2 : NULL;
	code = provider_image_field(state, FIELD_CODE);
	end = provider_image_field(state, FIELD_STACK + 1);
	/* (0: a thread that ends, or executes a program, has no memory for a while) */
	if (!code || !end || strchr("ZXx", *state) || strncmp(code, "0 ", 2) == 0)
		return 0;
	return table_hash(code, (size_t)(end - code)) ?: 1;
}

uint64_t provider_image_of(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return provider_image_read(path);
}
