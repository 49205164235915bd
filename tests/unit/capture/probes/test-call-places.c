/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of probes for calls of functions, in a library that is built here and in the C
 * library; the file that a name means; and errors when nothing is found.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/probes/call-places.h"
#include "capture/options/program-file.h"
#include "tests/support/fixtures/commands.h"
#include "tests/support/unit.h"

#define SECOND UINT64_C(1000000000)

static char dir[] = "/tmp/kymo-test-call-places.XXXXXX";
static struct call_places places;

#define CC                                                                                         \
	"cc -O2 -fPIC -shared -fcf-protection -Wl,-z,lazy " SOURCE_ROOT                            \
	"/tests/support/loads/call-functions.c "

static int open_in_dir(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void need_compiler(void)
{
	if (command_in(dir, "command -v cc strip") != 0 || sizeof(void *) != 8) {
		print_message("skip: there is no C compiler here, or no binutils\n");
		skip();
	}
#if !defined(__x86_64__)
	print_message("skip: calls are recorded on x86-64 only\n");
	skip();
#endif
}

/* Searches PATTERN in the file NAME, and expects N functions. */
static void find(const char *name, const char *pattern, unsigned n_args, size_t n)
{
	const struct call_places_query query = { pattern, n_args };
	_cleanup_close_ int fd = open_in_dir(name);

	assert_true(fd >= 0);
	call_places_deinit(&places);
	assert_int_equal(call_places_find_sandboxed(fd, &query, 60 * SECOND, &places), 0);
	assert_int_equal(places.n, n);
}

/* All places are at code: each `ret` is one. */
static void assert_code(const char *name)
{
	_cleanup_close_ int fd = open_in_dir(name);
	uint8_t byte = 0;

	for (size_t i = 0; i < places.n; i++) {
		const struct call_place *p = &places.places[i];

		for (size_t k = 0; k < p->n_rets; k++) {
			assert_int_equal(pread(fd, &byte, 1, (off_t)p->rets[k]), 1);
			assert_true(byte == 0xc3 || byte == 0xc2 || byte == 0xf3);
		}
	}
}

TEST(test_functions)
{
	need_compiler();
	assert_int_equal(command_in(dir, CC "-o lib.so"), 0);
	find("lib.so", "leaf", 1, 1);
	assert_string_equal(places.places[0].name, "leaf");
	assert_int_equal(places.places[0].n_rets, 1);
	assert_int_equal(places.places[0].flags, CALL_PLACE_LEAF);
	assert_code("lib.so");
	find("lib.so", "many_ways", 2, 1);
	assert_true(places.places[0].n_rets >= 1);
	assert_code("lib.so");
	find("lib.so", "six_arguments", 6, 1);
	assert_int_equal(places.places[0].n_rets, 1);
	/* At its first instruction: later, five of six registers could have changed. */
	assert_code("lib.so");
}

/* A tail call: the return is that of the other function, or it is in another file. */
TEST(test_tail_calls)
{
	uint64_t ret;

	need_compiler();
	assert_int_equal(command_in(dir, CC "-o lib.so"), 0);
	find("lib.so", "leaf", 1, 1);
	ret = places.places[0].rets[0];
	find("lib.so", "last_in_another", 1, 1);
	assert_int_equal(places.places[0].n_rets, 1);
	assert_int_equal(places.places[0].rets[0], ret);
	find("lib.so", "leaves", 1, 1);
	assert_int_equal(places.places[0].n_rets, 0);
	assert_int_equal(places.places[0].flags, CALL_PLACE_PARTIAL);
}

/* Returns and jumps through thunks, which hide their destination from the processor. */
TEST(test_thunks)
{
	_cleanup_close_ int fd = -1;
	uint8_t byte = 0;

	need_compiler();
	if (command_in(
		    dir,
		    "printf 'int (*f)(int);\nint leaf(int n) { return n + 1; }\n"
		    "int jumps(int n) { return f(n + 1); }\n"
		    "__attribute__((noipa)) int other(int n) { return n * 3; }\n"
		    "int calls(int n) { return other(n) + 1; }\n' >thunks.c && "
		    "gcc -O2 -fcf-protection=none -mfunction-return=thunk -mindirect-branch=thunk "
		    "-fPIC -shared -o thunks.so thunks.c") != 0) {
		print_message("skip: there is no gcc with -mfunction-return=thunk\n");
		skip();
	}
	/* (the probe of its entry is at the jump to the thunk, so it has a return probe) */
	find("thunks.so", "leaf", 1, 1);
	assert_int_equal(places.places[0].flags, CALL_PLACE_LEAF);
	find("thunks.so", "calls", 1, 1);
	assert_int_equal(places.places[0].n_rets, 1);
	assert_int_equal(places.places[0].flags, 0);
	/* (the jump to the thunk: all functions share the `ret` in it) */
	fd = open_in_dir("thunks.so");
	assert_int_equal(pread(fd, &byte, 1, (off_t)places.places[0].rets[0]), 1);
	assert_true(byte == 0xe9 || byte == 0xeb);
	find("thunks.so", "jumps", 1, 1);
	assert_int_equal(places.places[0].n_rets, 0);
	assert_int_equal(places.places[0].flags & CALL_PLACE_PARTIAL, CALL_PLACE_PARTIAL);
}

/* A tail call to a function that is chosen at run time is an end, if no candidate calls. */
TEST(test_chosen)
{
	char unnamed[64];

	need_compiler();
	assert_int_equal(command_in(dir, CC "-o lib.so && strip -o bare.so lib.so"), 0);
	find("lib.so", "ends_in_chosen", 1, 1);
	assert_int_equal(places.places[0].n_tails, 1);
	assert_int_equal(places.places[0].n_rets, 0);
	assert_int_equal(places.places[0].flags, CALL_PLACE_LEAF);
	find("lib.so", "ends_in_caller", 1, 1);
	assert_int_equal(places.places[0].n_tails, 0);
	assert_int_equal(places.places[0].flags, CALL_PLACE_PARTIAL);
	/* Nor may one that was not read to its end, or that must have its own return address. */
	find("lib.so", "ends_in_half", 1, 1);
	assert_int_equal(places.places[0].n_tails, 0);
	assert_int_equal(places.places[0].flags, CALL_PLACE_PARTIAL);
	find("lib.so", "fragile_ends_in_chosen", 6, 1);
	assert_int_equal(places.places[0].n_tails, 0);
	assert_int_equal(places.places[0].flags & (CALL_PLACE_PARTIAL | CALL_PLACE_FRAGILE),
			 CALL_PLACE_PARTIAL | CALL_PLACE_FRAGILE);
	/* A jump to a computed address in its own body is no exit; each of them must be one. */
	find("lib.so", "ends_inside", 1, 1);
	assert_int_equal(places.places[0].n_tails, 1);
	find("lib.so", "ends_in_*d", 1, 6);
	for (size_t i = 0; i < places.n; i++)
		assert_int_equal(places.places[i].n_tails, 0);
	find("lib.so", "ends_in_late", 1, 1);
	assert_int_equal(places.places[0].n_tails, 0);
	/* The name of such a function means all candidates. */
	find("lib.so", "chosen", 1, 1);
	assert_string_equal(places.places[0].name, "choose_me");
	assert_int_equal(places.places[0].n_rets, 1);
	find("bare.so", "chosen", 1, 1);
	snprintf(unnamed, sizeof(unnamed), "chosen@0x%jx", (uintmax_t)places.places[0].begin);
	assert_string_equal(places.places[0].name, unnamed);
	/* Which is a name of this function, and of no other. */
	find("bare.so", unnamed, 1, 1);
	assert_string_equal(places.places[0].name, unnamed);
	find("bare.so", unnamed, 6, 1);
	find("lib.so", unnamed, 1, 1);
	assert_string_equal(places.places[0].name, "choose_me");
	find("bare.so", "chosen@0x1", 1, 0);
	assert_int_equal(places.flags & (CALL_PLACES_NO_START | CALL_PLACES_INDIRECT),
			 CALL_PLACES_NO_START);
	find("bare.so", "leaf@0x1", 1, 0);
	find("bare.so", "chosen@0x", 1, 0);
}

/*
 * A jump through a table of glibc's streams leads to a function of the same column, wherever the
 * file has the addresses.
 */
TEST(test_streams)
{
	static const char *const ways[] = { "no", "" };

	need_compiler();
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		assert_int_equal(
			command_in(dir, CC "-Wl,-z,%spack-relative-relocs -o lib.so", ways[i]), 0);
		find("lib.so", "ends_in_*stream", 1, 2);
		for (size_t k = 0; k < places.n; k++) {
			assert_int_equal(places.places[k].n_rets, 2);
			/* (programs can have tables of their own) */
			assert_int_equal(places.places[k].flags, CALL_PLACE_PARTIAL);
		}
		assert_code("lib.so");
		find("lib.so", "ends_in_other_table", 1, 1);
		assert_int_equal(places.places[0].n_rets, 0);
		assert_int_equal(places.places[0].flags, CALL_PLACE_PARTIAL);
	}
}

/* A jump to the begin is no call. */
TEST(test_loops)
{
	need_compiler();
	assert_int_equal(command_in(dir, CC "-o lib.so"), 0);
	find("lib.so", "turns", 1, 1);
	assert_int_equal(places.places[0].flags, CALL_PLACE_LEAF | CALL_PLACE_LOOPS);
	assert_int_equal(places.places[0].n_rets, 1);
	find("lib.so", "many_ways", 2, 1);
	assert_int_equal(places.places[0].flags & CALL_PLACE_LOOPS, 0);
	/* (the cheap place for the probe would be the jump of the loop) */
	find("lib.so", "counts_down", 1, 1);
	assert_int_equal(places.places[0].entry, places.places[0].begin);
	assert_int_equal(places.places[0].flags, CALL_PLACE_LEAF);
}

/* A return at the entry has no place of its own: a leaf function has a return probe instead. */
TEST(test_returns_at_once)
{
	need_compiler();
	assert_int_equal(command_in(dir, CC "-o lib.so"), 0);
	find("lib.so", "at_once", 1, 1);
	assert_int_equal(places.places[0].flags, CALL_PLACE_LEAF);
	assert_int_equal(places.places[0].n_rets, 0);
}

TEST(test_names)
{
	need_compiler();
	assert_int_equal(command_in(dir, CC "-o lib.so"), 0);
	find("lib.so", "also_known_as", 1, 1);
	assert_string_equal(places.places[0].name, "also_known_as");
	find("lib.so", "*known_as", 1, 1);
	assert_string_equal(places.places[0].name, "known_as");
	find("lib.so", "l*f", 1, 1);
	find("lib.so", "lea*", 1, 2);
	find("lib.so", "lea?", 1, 1);
}

static void assert_explained(const char *pattern, const char *text)
{
	char why[512];

	assert_true(call_places_explain(&places, 0, "lib.so", pattern, why, sizeof(why)));
	assert_string_equal(why, text);
}

TEST(test_explained)
{
	char why[512];

	need_compiler();
	assert_int_equal(command_in(dir, CC "-o lib.so && cp lib.so bare.so && strip bare.so"), 0);
	find("lib.so", "laef", 1, 0);
	assert_explained("laef", "lib.so has no function 'laef'; did you mean 'leaf'?");
	find("lib.so", "nothing_like_that", 1, 0);
	assert_explained("nothing_like_that", "lib.so has no function 'nothing_like_that'");
	find("lib.so", "chosen_unseen", 1, 0);
	assert_explained("chosen_unseen",
			 "'chosen_unseen' in lib.so stands for one of several functions, which is "
			 "chosen when the program runs; it can be outside of the file, so it "
			 "is unknown; use its own name");
	find("lib.so", "chosen_uns*", 1, 0);
	assert_explained("chosen_uns*",
			 "'chosen_uns*' in lib.so stands for one of several functions, which is "
			 "chosen when the program runs; record it by its full name");
	find("lib.so", "chosen_outside", 1, 0);
	assert_explained(
		"chosen_outside",
		"'chosen_outside' in lib.so stands for a function of the kernel's vDSO, "
		"'__vdso_chosen_outside', which is in no file and has no probe; the one in "
		"lib.so is not called");
	/* An old version of the function itself does not hide that. */
	find("lib.so", "choose", 1, 1);
	find("lib.so", "choose*", 1, 24);
	places.flags |= CALL_PLACES_INDIRECT;
	assert_true(call_places_explain(&places, 0, "lib.so", "chosen", why, sizeof(why)));
	assert_false(call_places_explain(&places, 0, "lib.so", "choose*", why, sizeof(why)));
	find("bare.so", "leaf", 1, 1);
	find("bare.so", "nothing_like_that", 1, 0);
	assert_explained("nothing_like_that",
			 "lib.so has no function 'nothing_like_that' among those that it exports; "
			 "others have no names (it is stripped)");
	assert_int_equal(command_in(dir,
				    "printf 'int main(void) { return 0; }' >m.c && cc -O1 -static "
				    "-o bare m.c && strip bare"),
			 0);
	find("bare", "leaf", 1, 0);
	assert_explained(
		"leaf",
		"lib.so has no symbols (it is stripped): its functions have no names; compile it without -s, or install its debug symbols");
	assert_true(call_places_explain(NULL, -ENOEXEC, "x", "f", why, sizeof(why)));
	assert_string_equal(why, "x: is neither a program nor a library");
}

/* The number of returns of place I that place K has, too. */
static size_t count_shared(size_t i, size_t k)
{
	size_t n = 0;

	for (size_t a = 0; a < places.places[i].n_rets; a++)
		for (size_t b = 0; b < places.places[k].n_rets; b++)
			n += places.places[i].rets[a] == places.places[k].rets[b];
	return n;
}

/*
 * A cold part belongs to the function that jumps to it, or to which it jumps back. Static functions
 * of several files can have one name.
 */
TEST(test_cold_parts)
{
	static const struct {
		const char *name;
		size_t n, n_rets;
		uint32_t partial;
	} rows[] = {
		{ "jumps", 2, 2, 0 },
		{ "returns", 2, 2, 0 },
		/* (no jump shows whose the part is, which the handler of an exception reaches) */
		{ "handles", 2, 1, CALL_PLACE_PARTIAL },
		{ "alone", 1, 2, 0 },
	};

	need_compiler();
	assert_int_equal(
		command_in(dir,
			   "code() { printf '.type %%s, @function\\n%%s: nop\\n%%s\\nret\\n.size "
			   "%%s, .-%%s\\n' $1 $1 \"$2\" $1 $1; }\n"
			   "for f in 1 2; do {\n"
			   "echo .text; code jumps 'js jumps.cold'\n"
			   "code returns 'r:'; code handles\n"
			   "[ $f = 2 ] || code alone\n"
			   "echo '.section .text.unlikely, \"ax\"'; code jumps.cold\n"
			   "code returns.cold 'js r'; code handles.cold\n"
			   "[ $f = 2 ] || code alone.cold\n"
			   "} >c$f.s; done\n"
			   "cc -shared -nostdlib -o cold.so c1.s c2.s"),
		0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		find("cold.so", rows[i].name, 1, rows[i].n);
		for (size_t k = 0; k < places.n; k++) {
			assert_int_equal(places.places[k].n_rets, rows[i].n_rets);
			assert_int_equal(places.places[k].flags & CALL_PLACE_PARTIAL,
					 rows[i].partial);
		}
		if (places.n == 2)
			assert_int_equal(count_shared(0, 1), 0);
	}
}

/* If there are too many cold parts, some of a function can be missing. */
TEST(test_many_cold_parts)
{
	static const struct {
		unsigned n;
		uint32_t partial;
	} rows[] = { { 65535, 0 }, { 65536, CALL_PLACE_PARTIAL } };

	need_compiler();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(
			command_in(dir,
				   "printf '.macro part\\n.type c\\\\@.cold, @function\\n"
				   "c\\\\@.cold: ret\\n.size c\\\\@.cold, 1\\n.endm\\n"
				   ".type f.cold, @function\\nf.cold: ret\\n.size f.cold, 1\\n"
				   ".type f, @function\\nf: nop\\nret\\n.size f, 2\\n"
				   ".rept %u\\npart\\n.endr\\n' >m.s && "
				   "cc -shared -nostdlib -o many.so m.s",
				   rows[i].n),
			0);
		find("many.so", "f", 1, 1);
		assert_int_equal(places.places[0].flags & CALL_PLACE_PARTIAL, rows[i].partial);
		assert_int_equal(places.places[0].n_rets, 2);
	}
}

/* A file that is no program; damage anywhere gives an error or is harmless. */
TEST(test_damaged)
{
	const struct call_places_query query = { "l*", 1 };
	_cleanup_close_ int fd = -1;
	struct call_places got = { 0 };
	uint8_t *data, *copy;
	off_t n;

	need_compiler();
	assert_int_equal(call_places_find_in("text", 4, &query, &got), -ENOEXEC);
	assert_int_equal(command_in(dir, CC "-o lib.so"), 0);
	fd = open_in_dir("lib.so");
	n = lseek(fd, 0, SEEK_END);
	data = mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(data != MAP_FAILED);
	for (size_t i = 0; i < 200; i++) {
		size_t cut = (size_t)n * i / 200;

		copy = malloc(cut + 1);
		memcpy(copy, data, cut);
		copy[i % 64 < cut ? i % 64 : 0] ^= 0x5a;
		if (call_places_find_in(copy, cut, &query, &got) == 0) {
			assert_true(got.n <= CALL_PLACES_MAX);
			call_places_deinit(&got);
		}
		free(copy);
	}
	munmap(data, (size_t)n);
}

/* The answer of the other process is checked. */
TEST(test_valid)
{
	struct call_place place = { .entry = 16, .rets = { 32 }, .n_rets = 1, .name = "f" };
	struct call_places p = { .places = &place, .n = 1 };

	assert_true(call_places_are_valid(&p, 64));
	assert_false(call_places_are_valid(&p, 32));
	place.rets[0] = 16;
	assert_false(call_places_are_valid(&p, 64));
	place.rets[0] = 32;
	strcpy(place.name, "a b");
	assert_false(call_places_are_valid(&p, 64));
	strcpy(place.name, "f");
	place.n_rets = CALL_RETS_MAX + 1;
	assert_false(call_places_are_valid(&p, 64));
	place.n_rets = 1;
	place.flags = 1 << 20;
	assert_false(call_places_are_valid(&p, 64));
	place.flags = 0;
	place.begin = 64;
	assert_false(call_places_are_valid(&p, 64));
	place.begin = 0;
	p.flags = 1 << 20;
	assert_false(call_places_are_valid(&p, 64));
	p.flags = 0;
	p.n_refused = 1;
	assert_false(call_places_are_valid(&p, 64));
	strcpy(p.refused[0], "g");
	assert_true(call_places_are_valid(&p, 64));
	p.n_refused = CALL_PLACES_MAX + 1;
	assert_false(call_places_are_valid(&p, 64));
}

TEST(test_files)
{
	char path[512], link[600];
	_cleanup_close_ int fd = -1;

	assert_int_equal(program_file_find("/bin/a", NULL, NULL, path, sizeof(path)), 0);
	assert_string_equal(path, "/bin/a");
	assert_int_equal(program_file_find("/bin/a", NULL, NULL, path, 6), -ENAMETOOLONG);
	assert_int_equal(program_file_find("sh", "/nowhere", "/:/bin", path, sizeof(path)), 0);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(program_file_find("no-such-program", PROGRAM_FILE_CACHE, "/bin", path,
					   sizeof(path)),
			 -ENOENT);
	if (access(PROGRAM_FILE_CACHE, R_OK) < 0)
		return;
	assert_int_equal(
		program_file_find("libc.so.6", PROGRAM_FILE_CACHE, NULL, path, sizeof(path)), 0);
	/* The library that this test runs with, and not that of another architecture. */
	snprintf(link, sizeof(link), "grep -F \"$(readlink -f %s)\" /proc/self/maps", path);
	assert_int_equal(command_in(dir, "%s", link), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(program_file_library("libc", PROGRAM_FILE_CACHE, path, sizeof(path)), 0);
	assert_string_equal(path, "libc.so.6");
	assert_int_equal(program_file_library("lib", PROGRAM_FILE_CACHE, path, sizeof(path)),
			 -ENOENT);
	assert_int_equal(program_file_library("/libc", PROGRAM_FILE_CACHE, path, sizeof(path)),
			 -ENOENT);
	assert_int_equal(program_file_library("libc", PROGRAM_FILE_CACHE, path, 4), -ENAMETOOLONG);
}

/* A damaged list of libraries. */
TEST(test_cache_damaged)
{
	char cache[64], path[64];
	uint8_t bytes[48 + 24] = "glibc-ld.so.cache1.1";
	FILE *f;

	snprintf(cache, sizeof(cache), "%s/cache", dir);
	for (int i = 20; i < 72; i++) {
		memset(bytes + 20, 0, sizeof(bytes) - 20);
		bytes[20] = 0xff;
		bytes[48] = bytes[49] = 3;
		bytes[i] ^= 0xff;
		f = fopen(cache, "we");
		assert_non_null(f);
		assert_int_equal(fwrite(bytes, 1, sizeof(bytes), f), sizeof(bytes));
		fclose(f);
		assert_int_equal(program_file_find("nothing", cache, NULL, path, sizeof(path)),
				 -ENOENT);
		assert_int_equal(program_file_library("nothing", cache, path, sizeof(path)),
				 -ENOENT);
	}
}

/* Searches RANGE, and expects N places, and FLAGS. */
static void find_range(const char *name, struct call_places_range range, size_t n, uint32_t flags)
{
	const struct call_places_query query = { .pattern = "ns::f(int)",
						 .n_args = 6,
						 .range = range };
	_cleanup_close_ int fd = open_in_dir(name);

	assert_true(fd >= 0);
	call_places_deinit(&places);
	assert_int_equal(call_places_find_sandboxed(fd, &query, 60 * SECOND, &places), 0);
	assert_int_equal(places.n, n);
	assert_int_equal(places.flags & (CALL_PLACES_NO_START | CALL_PLACES_NO_POINT), flags);
}

/* Also in a file without symbols, whose tables of exceptions contain the begins of functions. */
TEST(test_ranges)
{
	struct call_places_range range = { .is_used = true, .bytes = 6 };
	uint32_t n_rets;

	need_compiler();
	assert_int_equal(command_in(dir, CC "-o ranges.so && strip -o bare.so ranges.so"), 0);
	find("ranges.so", "many_ways", 6, 1);
	range.begin = places.places[0].entry;
	range.bytes = 64;
	n_rets = places.places[0].n_rets;
	assert_true(n_rets > 0);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "bare.so" : "ranges.so";

		range.is_point = false;
		range.at = 0;
		find_range(name, range, 1, 0);
		assert_string_equal(places.places[0].name, "-");
		assert_int_equal(places.places[0].entry, range.begin);
		assert_true(places.places[0].n_rets > 0);
		range.is_point = true;
		find_range(name, range, 1, 0);
		assert_int_equal(places.places[0].flags, CALL_PLACE_POINT);
		assert_int_equal(places.places[0].n_rets, 0);
		range.begin++;
		find_range(name, range, 0, CALL_PLACES_NO_START);
		range.begin--;
	}
	range.begin = 0;
	find_range("ranges.so", range, 0, CALL_PLACES_NO_START);
}

/* Between instructions, there is no probe. */
TEST(test_points)
{
	struct call_places_range range = { .is_used = true, .is_point = true, .bytes = 32 };
	unsigned n = 0;

	need_compiler();
	assert_int_equal(command_in(dir, CC "-o points.so"), 0);
	find("points.so", "leaf", 6, 1);
	range.begin = places.places[0].entry;
	for (range.at = 0; range.at < 16; range.at++) {
		const struct call_places_query query = { .pattern = "leaf", .range = range };
		_cleanup_close_ int fd = open_in_dir("points.so");

		call_places_deinit(&places);
		assert_int_equal(call_places_find_sandboxed(fd, &query, 60 * SECOND, &places), 0);
		n += places.n == 1;
		assert_int_equal(places.n == 0, (places.flags & CALL_PLACES_NO_POINT) != 0);
		if (places.n)
			assert_int_equal(places.places[0].entry, range.begin + range.at);
	}
	/* (the function has several instructions, of more than one byte) */
	assert_in_range(n, 2, 12);
}

/* A probe on a locked instruction would never fire. */
TEST(test_refused_point)
{
	struct call_places_range range = { .is_used = true, .is_point = true, .bytes = 10 };
	char why[512];

	need_compiler();
	assert_int_equal(command_in(dir, CC "-o points.so"), 0);
	find("points.so", "locked", 6, 1);
	range.begin = places.places[0].begin;
	for (range.at = 0; range.at <= 3; range.at += 3) {
		const struct call_places_query query = { .pattern = "locked", .range = range };
		_cleanup_close_ int fd = open_in_dir("points.so");

		call_places_deinit(&places);
		assert_int_equal(call_places_find_sandboxed(fd, &query, 60 * SECOND, &places), 0);
		assert_int_equal(places.n, range.at == 0);
		assert_int_equal(places.flags & CALL_PLACES_REFUSED,
				 range.at == 0 ? 0 : CALL_PLACES_REFUSED);
	}
	assert_true(call_places_explain(&places, 0, "f", "locked", why, sizeof(why)));
	assert_non_null(strstr(why, "no probe on the instruction"));
}

/* Likewise, if the function has no other place for it. A pattern leaves it out. */
TEST(test_refused_entry)
{
	static const char *const names[] = { "locked_first", "prefixed" };
	char why[512];

	need_compiler();
	assert_int_equal(command_in(dir, CC "-o lib.so"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		find("lib.so", names[i], 1, 0);
		assert_true(call_places_explain(&places, 0, "f", names[i], why, sizeof(why)));
		assert_non_null(strstr(why, "no probe on the instruction"));
	}
	find("lib.so", "locked*", 1, 1);
	assert_string_equal(places.places[0].name, "locked");
	assert_int_equal(places.flags, CALL_PLACES_REFUSED);
	assert_int_equal(places.n_refused, 1);
	assert_string_equal(places.refused[0], "locked_first");
}

FIXTURE(set_up)
{
	return mkdtemp(dir) ? 0 : -1;
}

FIXTURE(tear_down)
{
	call_places_deinit(&places);
	return command_in("/", "rm -rf %s", dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),       cmocka_unit_test(test_tail_calls),
		cmocka_unit_test(test_returns_at_once), cmocka_unit_test(test_names),
		cmocka_unit_test(test_explained),       cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_valid),           cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_points),          cmocka_unit_test(test_files),
		cmocka_unit_test(test_refused_point),   cmocka_unit_test(test_cache_damaged),
		cmocka_unit_test(test_thunks),          cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_streams),         cmocka_unit_test(test_loops),
		cmocka_unit_test(test_refused_entry),   cmocka_unit_test(test_cold_parts),
		cmocka_unit_test(test_many_cold_parts),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
