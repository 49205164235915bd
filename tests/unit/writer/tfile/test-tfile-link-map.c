/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link map of a process whose memory is made here: a correct one, and those of a hostile
 * program.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "writer/tfile/tfile-link-map.h"

/* Addresses, all in the only piece of memory. */
enum {
	BASE = 0x10000,
	BYTES = 0x40000,
	LINKED = 0x1000, /* the address at which the program was linked */
	BIAS = BASE - LINKED,
	DYNAMIC = 0x12000,
	DEBUG = 0x13000,
	MAP = 0x14000, /* one link_map each 0x100 */
	NAMES = 0x20000,
};

struct image {
	uint8_t *bytes; /* owned */
	Elf64_Ehdr *header;
	Elf64_Phdr *segments;
	Elf64_Dyn *dynamic;
};

static void *image_at(const struct image *i, uint64_t address)
{
	return i->bytes + (address - BASE);
}

static void image_put(const struct image *i, uint64_t address, uint64_t value)
{
	memcpy(image_at(i, address), &value, sizeof(value));
}

static int image_read(void *userdata, uint64_t address, void *to, size_t n)
{
	const struct image *i = userdata;

	if (address < BASE || address + n > BASE + BYTES)
		return -EFAULT;
	memcpy(to, image_at(i, address), n);
	return 0;
}

/* Adds entry NO with the name NAME. NEXT is the address of the next one. */
static void image_add(const struct image *i, unsigned no, const char *name, uint64_t next)
{
	uint64_t at = MAP + no * 0x100, text = NAMES + no * 0x1000;

	image_put(i, at, 0);
	image_put(i, at + 8, text);
	image_put(i, at + 16, DYNAMIC);
	image_put(i, at + 24, next);
	image_put(i, at + 32, 0);
	strcpy(image_at(i, text), name);
}

/* A relocated program, with itself and two libraries in its list. */
static void image_init(struct image *i)
{
	i->bytes = calloc(1, BYTES);
	assert_non_null(i->bytes);
	i->header = image_at(i, BASE);
	memcpy(i->header->e_ident, ELFMAG, SELFMAG);
	i->header->e_ident[EI_CLASS] = ELFCLASS64;
	i->header->e_ident[EI_DATA] = ELFDATA2LSB;
	i->header->e_phoff = sizeof(*i->header);
	i->header->e_phentsize = sizeof(Elf64_Phdr);
	i->header->e_phnum = 2;
	i->segments = image_at(i, BASE + sizeof(*i->header));
	i->segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = LINKED };
	i->segments[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
				       .p_vaddr = DYNAMIC - BIAS,
				       .p_memsz = 3 * sizeof(Elf64_Dyn) };
	i->dynamic = image_at(i, DYNAMIC);
	i->dynamic[0].d_tag = DT_NEEDED;
	i->dynamic[1].d_tag = DT_DEBUG;
	i->dynamic[1].d_un.d_ptr = DEBUG;
	image_put(i, DEBUG, 1);
	image_put(i, DEBUG + 8, MAP);
	image_add(i, 0, "", MAP + 0x100);
	image_add(i, 1, "/lib/libc.so.6", MAP + 0x200);
	image_add(i, 2, "/lib/ld.so", 0);
}

static void image_deinit(struct image *i)
{
	free(i->bytes);
}

#define IMAGE(name)                                                                                \
	_cleanup_(image_deinit) struct image name;                                                 \
	image_init(&(name))

static void assert_block(const struct tfile_link_map *m, size_t no, uint64_t address, uint32_t n)
{
	assert_true(no < m->n_blocks);
	assert_int_equal(m->blocks[no].address, address);
	assert_int_equal(m->blocks[no].bytes, n);
}

/* Finds it. No block overlaps another, and all are readable. */
static void find(struct image *i, struct tfile_link_map *ret)
{
	uint64_t end = 0;

	assert_int_equal(tfile_link_map_find(ret, image_read, i, BASE), 0);
	for (size_t k = 0; k < ret->n_blocks; k++) {
		assert_true(k == 0 || ret->blocks[k].address > end);
		end = ret->blocks[k].address + ret->blocks[k].bytes;
		assert_in_range(end, BASE, BASE + BYTES);
	}
}

static void assert_missing(const struct tfile_link_map *m, const char *what)
{
	assert_non_null(m->missing);
	assert_string_equal(m->missing, what);
}

TEST(test_finds)
{
	struct tfile_link_map m = { 0 };
	IMAGE(i);

	find(&i, &m);
	assert_null(m.missing);
	assert_int_equal(m.bias, BIAS);
	assert_int_equal(m.n_libraries, 3);
	assert_int_equal(m.n_blocks, 9);
	assert_block(&m, 0, BASE, sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
	assert_block(&m, 1, DYNAMIC, 48);
	assert_block(&m, 2, DEBUG, 40);
	assert_block(&m, 3, MAP, 40);
	assert_block(&m, 5, MAP + 0x200, 40);
	assert_block(&m, 6, NAMES, 8);
	assert_block(&m, 7, NAMES + 0x1000, 16);
	assert_block(&m, 8, NAMES + 0x2000, 16);
	tfile_link_map_deinit(&m);
}

/* dlmopen(): the second version of the struct has further lists. */
TEST(test_namespaces)
{
	struct tfile_link_map m = { 0 };
	IMAGE(i);

	image_put(&i, DEBUG, 2);
	image_put(&i, DEBUG + 40, DEBUG + 0x100);
	image_put(&i, DEBUG + 0x100, 2);
	image_put(&i, DEBUG + 0x108, MAP + 0x300);
	image_add(&i, 3, "/lib/other.so", 0);
	find(&i, &m);
	assert_null(m.missing);
	assert_int_equal(m.n_libraries, 4);
	assert_block(&m, 2, DEBUG, 48);
	tfile_link_map_deinit(&m);
	/* a loop of lists */
	image_put(&i, DEBUG + 0x128, DEBUG);
	find(&i, &m);
	assert_missing(&m, "the list of libraries is a loop");
	assert_int_equal(m.n_libraries, 4);
	tfile_link_map_deinit(&m);
}

TEST(test_touching_blocks_are_joined)
{
	struct tfile_link_map m = { 0 };
	IMAGE(i);

	/* the first entry's name begins behind it, the second one's is in the third entry */
	image_put(&i, MAP + 8, MAP + 40);
	image_put(&i, MAP + 0x108, MAP + 0x220);
	find(&i, &m);
	assert_int_equal(m.n_libraries, 3);
	assert_block(&m, 3, MAP, 48);
	assert_block(&m, 5, MAP + 0x200, 40);
	assert_int_equal(m.n_blocks, 7);
	tfile_link_map_deinit(&m);
}

TEST(test_loop)
{
	struct tfile_link_map m = { 0 };
	IMAGE(i);

	image_put(&i, MAP + 0x200 + 24, MAP);
	find(&i, &m);
	assert_missing(&m, "the list of libraries is a loop");
	assert_int_equal(m.n_libraries, 3);
	assert_int_equal(m.n_blocks, 9);
	tfile_link_map_deinit(&m);
}

TEST(test_unreadable)
{
	struct tfile_link_map m = { 0 };
	IMAGE(i);

	image_put(&i, MAP + 0x100 + 24, 0xdead0000);
	find(&i, &m);
	assert_missing(&m, "the list of libraries cannot be read");
	assert_int_equal(m.n_libraries, 2);
	tfile_link_map_deinit(&m);
	/* a name without an end; the list continues behind it */
	image_put(&i, MAP + 0x100 + 24, MAP + 0x200);
	memset(image_at(&i, NAMES + 0x1000), 'x', BYTES - (NAMES + 0x1000 - BASE));
	image_put(&i, MAP + 0x208, NAMES);
	find(&i, &m);
	assert_missing(&m, "the name of a library cannot be read");
	assert_int_equal(m.n_libraries, 3);
	tfile_link_map_deinit(&m);
	i.dynamic[1].d_un.d_ptr = UINT64_MAX - 8;
	find(&i, &m);
	assert_missing(&m, "struct r_debug cannot be read");
	assert_int_equal(m.n_blocks, 2);
	tfile_link_map_deinit(&m);
	i.dynamic[1].d_un.d_ptr = 0;
	find(&i, &m);
	assert_missing(&m, "the dynamic linker has not started");
	tfile_link_map_deinit(&m);
	i.segments[1].p_memsz = UINT64_MAX;
	find(&i, &m);
	assert_missing(&m, "the program's .dynamic is too large");
	tfile_link_map_deinit(&m);
	i.segments[1].p_type = PT_NOTE;
	find(&i, &m);
	assert_missing(&m, "the program has no shared libraries");
	assert_int_equal(m.n_blocks, 1);
	tfile_link_map_deinit(&m);
}

/* Memory in which each entry leads to another, forever. */
static int endless_read(void *userdata, uint64_t address, void *to, size_t n)
{
	uint64_t *words = to;

	if (address < 0x100000)
		return image_read(userdata, address, to, n);
	if (n != 40) {
		memset(to, 0, n);
		return 0;
	}
	memset(to, 0, n);
	words[1] = 0x200000;
	words[3] = address + 64;
	return 0;
}

TEST(test_endless)
{
	struct tfile_link_map m = { 0 };
	IMAGE(i);

	image_put(&i, DEBUG + 8, 0x100000);
	assert_int_equal(tfile_link_map_find(&m, endless_read, &i, BASE), 0);
	assert_missing(&m, "too many libraries");
	assert_int_equal(m.n_libraries, TFILE_LINK_MAP_LIBRARIES_MAX);
	tfile_link_map_deinit(&m);
}

TEST(test_no_program)
{
	struct tfile_link_map m = { 0 };
	IMAGE(i);

	i.header->e_phnum = 129;
	assert_int_equal(tfile_link_map_find(&m, image_read, &i, BASE), -ENOEXEC);
	i.header->e_phnum = 2;
	i.header->e_phoff = UINT64_MAX;
	assert_int_equal(tfile_link_map_find(&m, image_read, &i, BASE), -ENOEXEC);
	i.header->e_phoff = sizeof(*i.header);
	i.segments[0].p_type = PT_NULL;
	assert_int_equal(tfile_link_map_find(&m, image_read, &i, BASE), -ENOEXEC);
	i.header->e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(tfile_link_map_find(&m, image_read, &i, BASE), -ENOEXEC);
	assert_int_equal(tfile_link_map_find(&m, image_read, &i, 0), -ENOEXEC);
	assert_null(m.blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_touching_blocks_are_joined),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_no_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
