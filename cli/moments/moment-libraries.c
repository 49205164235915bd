/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/moments/moment-libraries.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	LIST_AT = 4096,
	LIST_BYTES_MAX = 8 << 10,
	HEADERS_MAX = 128,
	DYNAMIC_BYTES_MAX = 16384,
};

/* The part of struct link_map that debuggers use. */
struct moment_libraries_entry {
	uint64_t bias, name, dynamic, next, previous;
};

_Static_assert(sizeof(struct r_debug) == 40, "as in the process");

/* The headers of a file. */
struct moment_libraries_file {
	int fd;
	Elf64_Ehdr head;
	Elf64_Phdr headers[HEADERS_MAX];
	/* The segment of .dynamic, and the first loaded segment; NULL = no such segment. */
	const Elf64_Phdr *dynamic, *first;
};

void moment_libraries_deinit(struct moment_libraries *l)
{
	outbuf_deinit(&l->head);
	outbuf_deinit(&l->dynamic);
	outbuf_deinit(&l->list);
}

/* ---- files ---- */

static bool libraries_read(int fd, void *to, size_t n, uint64_t offset)
{
	return pread(fd, to, n, (off_t)offset) == (ssize_t)n;
}

static int libraries_open(struct moment_libraries_file *f, const char *path)
{
	f->dynamic = f->first = NULL;
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0 || !libraries_read(f->fd, &f->head, sizeof(f->head), 0) ||
	    memcmp(f->head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    f->head.e_ident[EI_CLASS] != ELFCLASS64 || f->head.e_phentsize != sizeof(Elf64_Phdr) ||
	    f->head.e_phnum > HEADERS_MAX ||
	    !libraries_read(f->fd, f->headers, f->head.e_phnum * sizeof(Elf64_Phdr),
			    f->head.e_phoff))
		return -ENOEXEC;
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		if (f->headers[i].p_type == PT_DYNAMIC)
			f->dynamic = &f->headers[i];
		if (f->headers[i].p_type == PT_LOAD && !f->first)
			f->first = &f->headers[i];
	}
	return f->dynamic && f->first ? 0 : -ENOEXEC;
}

/* ---- memory made from files ---- */

/*
 * Makes the memory of the program's section .dynamic. One of its entries points to the list of
 * libraries.
 */
static int libraries_make_dynamic(struct moment_libraries *l, const struct moment_libraries_file *f)
{
	uint64_t n = f->dynamic->p_filesz;
	bool leads = false;
	Elf64_Dyn *entries;

	if (n > DYNAMIC_BYTES_MAX)
		return -ENOEXEC;
	entries = outbuf_reserve(&l->dynamic, n);
	if (!entries)
		return -ENOMEM;
	if (!libraries_read(f->fd, entries, n, f->dynamic->p_offset))
		return -ENOEXEC;
	l->dynamic.size = n;
	for (size_t i = 0; i < n / sizeof(*entries); i++)
		if (entries[i].d_tag == DT_DEBUG) {
			entries[i].d_un.d_ptr = LIST_AT;
			leads = true;
		}
	return leads ? 0 : -ENOEXEC;
}

static int libraries_make_head(struct moment_libraries *l, const struct moment_libraries_file *f,
			       uint64_t bias)
{
	uint64_t n = f->head.e_phoff + f->head.e_phnum * sizeof(Elf64_Phdr);

	/* (the program headers must follow the ELF header, where linkers write them) */
	if (f->head.e_phoff != sizeof(f->head) || n > f->first->p_filesz || f->first->p_offset != 0)
		return -ENOEXEC;
	l->head_at = bias + f->first->p_vaddr;
	l->dynamic_at = bias + f->dynamic->p_vaddr;
	return outbuf_append(&l->head, &f->head, sizeof(f->head))
		       ?: outbuf_append(&l->head, f->headers, n - sizeof(f->head));
}

/* Adds an entry with its name to the list of libraries. */
static int libraries_add(struct moment_libraries *l, const struct moment_libraries_file *f,
			 uint64_t bias, const char *name, uint64_t *previous, bool is_last)
{
	uint64_t at = l->list_at + l->list.size, bytes = (strlen(name) + 8) & ~UINT64_C(7);
	struct moment_libraries_entry entry = {
		.bias = bias,
		.name = at + sizeof(entry),
		.dynamic = bias + f->dynamic->p_vaddr,
		.next = is_last ? 0 : at + sizeof(entry) + bytes,
		.previous = *previous,
	};
	int r = outbuf_append(&l->list, &entry, sizeof(entry))
			?: outbuf_append(&l->list, name, strlen(name));

	*previous = at;
	return r ?: outbuf_append(&l->list, "\0\0\0\0\0\0\0", bytes - strlen(name));
}

static int libraries_make_list(struct moment_libraries *l, struct moment_libraries_file *f,
			       uint64_t bias, const struct tfile_script_file *libraries, size_t n)
{
	const struct r_debug debug = {
		.r_version = 1,
		.r_map = (struct link_map *)(uintptr_t)(LIST_AT + sizeof(debug)),
		.r_state = RT_CONSISTENT,
	};
	uint64_t previous = 0;
	int r;

	l->list_at = LIST_AT;
	r = outbuf_append(&l->list, &debug, sizeof(debug))
		    ?: libraries_add(l, f, bias, "", &previous, n == 0);
	for (size_t i = 0; r == 0 && i < n; i++) {
		close_fd(f->fd);
		r = libraries_open(f, libraries[i].path)
			    ?: libraries_add(l, f, libraries[i].bias, libraries[i].path, &previous,
					     i + 1 == n);
	}
	return r == 0 && l->list.size > LIST_BYTES_MAX ? -ENOEXEC : r;
}

int moment_libraries_make(struct moment_libraries *ret, const struct tfile_script_file *program,
			  const struct tfile_script_file *libraries, size_t n)
{
	struct moment_libraries made = { 0 };
	struct moment_libraries_file f;
	int r = libraries_open(&f, program->path) ?: libraries_make_head(&made, &f, program->bias)
			?: libraries_make_dynamic(&made, &f)
			?: libraries_make_list(&made, &f, program->bias, libraries, n);

	close_fd(f.fd);
	if (r == 0)
		*ret = made;
	else
		moment_libraries_deinit(&made);
	return r;
}
