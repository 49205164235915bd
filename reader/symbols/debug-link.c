/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/debug-link.h"

#include <byteswap.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { SECTION_MAX = 2 * PATH_MAX, PIECE = 128 * 1024 };

/* The checksum is not computed for larger files, since the whole file must be read for it. */
#define CHECKSUM_BYTES_MAX (INT64_C(2) << 30)

static const char alternate_section[] = ".gnu_debugaltlink";

/* Returns the 32-bit number at P in the byte order of F. */
static uint32_t debug_link_get_u32(const struct elf_file *f, const char *p)
{
	int order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	const char *ident = elf_getident(f->elf, NULL);
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return ident && ident[EI_DATA] != order ? bswap_32(value) : value;
}

bool debug_link_read(const struct elf_file *f, char *name, uint32_t *ret_crc)
{
	size_t n = 0, length, at;
	const char *link = elf_file_content(f, ".gnu_debuglink", SECTION_MAX, &n);

	if (!link)
		return false;
	length = strnlen(link, n);
	at = (length + 4) & ~(size_t)3; /* position after the NUL of the name, aligned */
	if (length == 0 || length > NAME_MAX || at + 4 > n || memchr(link, '/', length))
		return false;
	memcpy(name, link, length + 1);
	*ret_crc = debug_link_get_u32(f, link + at);
	return true;
}

int debug_link_checksum(int fd, uint32_t *ret_crc)
{
	_cleanup_free_ uint8_t *piece = malloc(PIECE);
	uLong crc = crc32(0, NULL, 0);
	off_t offset = 0;
	struct stat st;
	ssize_t n;

	if (!piece)
		return -ENOMEM;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > CHECKSUM_BYTES_MAX)
		return -EFBIG;
	while ((n = pread(fd, piece, PIECE, offset)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		crc = crc32(crc, piece, (uInt)n);
		offset += n;
	}
	*ret_crc = (uint32_t)crc;
	return 0;
}

bool debug_link_has_alternate(const struct elf_file *f)
{
	return elf_file_section(f, alternate_section, NULL) != NULL;
}

size_t debug_link_read_alternate(const struct elf_file *f, char *name, size_t room, uint8_t *id,
				 size_t id_room)
{
	size_t n = 0, length;
	const char *link = elf_file_content(f, alternate_section, SECTION_MAX, &n);

	if (!link)
		return 0;
	length = strnlen(link, n);
	if (length == 0 || length >= room || length + 1 >= n || n - length - 1 > id_room)
		return 0;
	memcpy(name, link, length + 1);
	memcpy(id, link + length + 1, n - length - 1);
	return n - length - 1;
}
