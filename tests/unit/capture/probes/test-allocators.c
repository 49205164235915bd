/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that are found in programs that are built here, in running programs, and in files
 * that are no programs. test-allocator-calls.c checks the places of probes.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/probes/allocator-cache.h"
#include "capture/probes/allocators.h"
#include "tests/support/fixtures/commands.h"
#include "tests/support/fixtures/own-directory.h"
#include "tests/support/unit.h"
#include "tests/support/valgrind.h"

#define command(...) assert_int_equal(command_in(own_directory(), __VA_ARGS__), 0)

static bool have(const char *name)
{
	return command_in(own_directory(), "command -v %s", name) == 0;
}

static int open_in_dir(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", own_directory(), name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Calls both interfaces, which must agree. */
static int find(const char *name, struct allocator_list *ret)
{
	_cleanup_close_ int fd = open_in_dir(name);
	struct allocator_list sandboxed = { 0 };
	int r, r_sandboxed;

	assert_true(fd >= 0);
	*ret = (struct allocator_list){ 0 };
	r = allocators_find(fd, ret);
	r_sandboxed = allocators_find_sandboxed(fd, ALLOCATORS_NS_MAX, &sandboxed);
	assert_int_equal(r, r_sandboxed);
	assert_int_equal(ret->n, sandboxed.n);
	assert_int_equal(ret->flags, sandboxed.flags);
	if (sandboxed.n > 0)
		assert_memory_equal(ret->probes, sandboxed.probes,
				    sandboxed.n * sizeof(sandboxed.probes[0]));
	allocator_list_deinit(&sandboxed);
	return r;
}

static const struct allocator_probe *probe_of(const struct allocator_list *l, uint32_t function,
					      enum allocator_probe_kind kind)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->probes[i].function == function && l->probes[i].kind == kind)
			return &l->probes[i];
	}
	return NULL;
}

static void need_compiler(void)
{
	if (!have("cc") || !have("strip") || !have("objcopy")) {
		print_message("skip: there is no C compiler here, or no binutils\n");
		skip();
	}
}

#define SAMPLE SOURCE_ROOT "/tests/support/loads/allocator-calls.c"
#define CC     "cc -O1 -fno-builtin -I" SOURCE_ROOT " " SAMPLE " "

/* ---- files ---- */

static void assert_c_functions(const struct allocator_list *l)
{
	assert_non_null(probe_of(l, MEMORY_FN_MALLOC, ALLOCATOR_PROBE_SESSION));
	assert_non_null(probe_of(l, MEMORY_FN_CALLOC, ALLOCATOR_PROBE_SESSION));
	assert_non_null(probe_of(l, MEMORY_FN_REALLOC, ALLOCATOR_PROBE_SESSION));
	assert_non_null(probe_of(l, MEMORY_FN_POSIX_MEMALIGN, ALLOCATOR_PROBE_SESSION));
	assert_non_null(probe_of(l, MEMORY_FN_FREE, ALLOCATOR_PROBE_ENTRY));
	assert_null(probe_of(l, MEMORY_FN_FREE, ALLOCATOR_PROBE_SESSION));
}

TEST(test_static)
{
	struct allocator_list l;

	need_compiler();
	if (command_in(own_directory(), CC "-static -o fixed") != 0) {
		print_message("skip: programs cannot be linked statically here\n");
		skip();
	}
	assert_int_equal(find("fixed", &l), 0);
	assert_int_equal(l.flags, ALLOCATORS_STATIC);
	assert_c_functions(&l);
	assert_non_null(probe_of(&l, MEMORY_FN_PTHREAD_CREATE, ALLOCATOR_PROBE_SESSION));
	allocator_list_deinit(&l);

	command("strip -o fixed-stripped fixed");
	assert_int_equal(find("fixed-stripped", &l), 0);
	assert_int_equal(l.flags, ALLOCATORS_STATIC | ALLOCATORS_NO_SYMBOLS);
	assert_int_equal(l.n, 0);

	command(CC "-static-pie -o fixed-pie && strip -o fixed-pie-stripped fixed-pie");
	assert_int_equal(find("fixed-pie", &l), 0);
	assert_int_equal(l.flags, ALLOCATORS_STATIC);
	assert_c_functions(&l);
	allocator_list_deinit(&l);
	assert_int_equal(find("fixed-pie-stripped", &l), 0);
	assert_true(l.flags & ALLOCATORS_STATIC);
	assert_int_equal(l.n, 0);
}

TEST(test_dynamic)
{
	struct allocator_list l;

	need_compiler();
	command(CC "-o dynamic");
	assert_int_equal(find("dynamic", &l), 0);
	assert_int_equal(l.flags & ALLOCATORS_STATIC, 0);
	assert_int_equal(l.n, 0);
	command(CC
		"-m32 -o short 2>/dev/null || "
		"{ cp dynamic short && printf '\\001' | dd of=short bs=1 seek=4 conv=notrunc; }");
	assert_int_equal(find("short", &l), 0);
	assert_int_equal(l.flags, ALLOCATORS_FOREIGN);
	assert_int_equal(l.n, 0);
}

/* A library that is stripped except for its exports. */
TEST(test_library)
{
	struct allocator_list l;

	need_compiler();
	command("echo 'void *je_malloc(unsigned long n) { return n ? \"\" : 0; }"
		" void *tc_malloc(unsigned long) __attribute__((alias(\"je_malloc\")));"
		" void mi_free(void *p) { *(char *)p = 1; } void dont_malloc(void) {}"
		" static void hidden(void) {} void mallocate(void) { hidden(); }'"
		" >library.c && cc -O1 -shared -fPIC library.c -o library && strip library");
	assert_int_equal(find("library", &l), 0);
	assert_int_equal(l.flags, 0);
	assert_int_equal(l.n, 2);
	assert_string_equal(probe_of(&l, MEMORY_FN_MALLOC, ALLOCATOR_PROBE_SESSION)->name,
			    "je_malloc");
	assert_string_equal(probe_of(&l, MEMORY_FN_FREE, ALLOCATOR_PROBE_ENTRY)->name, "mi_free");
	allocator_list_deinit(&l);
}

/*
 * A library that adds functions to libc's, as libbsd does. Without probes, a program that loads it
 * late is watched completely all the same.
 */
TEST(test_additions)
{
	struct allocator_list l;

	need_compiler();
	command("echo '#include <stdlib.h>\n"
		"void *reallocf(void *p, size_t n) { void *q = realloc(p, n);"
		" if (!q && n) free(p); return q; }"
		" void *reallocarray(void *p, size_t n, size_t m) { return realloc(p, n * m); }'"
		" >additions.c && cc -O1 -shared -fPIC additions.c -o additions");
	assert_int_equal(find("additions", &l), 0);
	assert_int_equal(l.flags, 0);
	assert_int_equal(l.n, 0);
}

TEST(test_go)
{
	struct allocator_list l;

	need_compiler();
	command("echo 'void *malloc(unsigned long n) { return (void *)n; } int main(void) { return 0; }'"
		" >go.c && cc -fno-builtin go.c -o not-go && echo go >information &&"
		" objcopy --add-section .go.buildinfo=information not-go go");
	assert_int_equal(find("not-go", &l), 0);
	assert_int_equal(l.flags, 0);
	assert_int_equal(l.n, 1);
	allocator_list_deinit(&l);
	assert_int_equal(find("go", &l), 0);
	assert_int_equal(l.flags, ALLOCATORS_GO);
	assert_int_equal(l.n, 0);
}

#if defined(__x86_64__)
/*
 * Written in assembly: operator new in its variants, with and without malloc(), and their tail
 * calls. Labels at section begins define the offsets.
 */
static const char source[] =
	".macro function name\n .globl \\name\n .type \\name, @function\n \\name:\n.endm\n"
	".text\n"
	"function malloc\n push %rbx\n mov %rdi, %rax\n pop %rbx\n ret\n"
	/* always malloc(): marks only */
	"function _Znam\n push %rbx\n call malloc\n pop %rbx\n ret\n"
	/* its own code, or malloc() by a tail call */
	"function _Znwm\n test %rdi, %rdi\n jz 1f\n mov %rdi, %rax\n ret\n 1: jmp slow\n"
	".type slow, @function\n slow: push %rbx\n call malloc\n pop %rbx\n repz ret\n"
	/* ends by a jump through a register: its end is unknown */
	"function _ZnwmSt11align_val_t\n mov %rdi, %rax\n jmp *%rcx\n"
	"function _ZnwmRKSt9nothrow_t\n mov $1, %eax\n push %rbx\n pop %rbx\n ret\n"
	/* a jump back to the place of the probe: the probe stays at the begin */
	"function calloc\n xor %eax, %eax\n 1: jz 2f\n jmp 1b\n 2: ret\n"
	"function free\n test %rdi, %rdi\n jz 1f\n movb $1, (%rdi)\n 1: ret\n"
	/* they only call another function */
	"function cfree\n jmp free\n"
	"function _ZdlPv\n test %rdi, %rdi\n jz 1f\n jmp free\n 1: ret\n"
	/* it does more */
	"function _ZdlPvm\n cmp $64, %rsi\n ja 1f\n movb $1, (%rdi)\n movb $1, 1(%rdi)\n"
	" movb $1, 2(%rdi)\n movb $1, 3(%rdi)\n movb $1, 4(%rdi)\n movb $1, 5(%rdi)\n"
	" movb $1, 6(%rdi)\n ret\n 1: jmp free\n"
	".section .note.GNU-stack,\"\",@progbits\n";

TEST(test_by_hand)
{
	static const struct {
		uint32_t function, kind;
		unsigned n;
	} expected[] = {
		{ MEMORY_FN_MALLOC, ALLOCATOR_PROBE_SESSION, 1 },
		{ MEMORY_FN_NEW, ALLOCATOR_PROBE_ENTRY, 2 },        /* _Znam, aligned */
		{ MEMORY_FN_NEW_DIRECT, ALLOCATOR_PROBE_ENTRY, 1 }, /* _Znwm */
		{ MEMORY_FN_NEW_DIRECT, ALLOCATOR_PROBE_RET, 2 },
		{ MEMORY_FN_NEW_DIRECT, ALLOCATOR_PROBE_SESSION, 1 }, /* nothrow */
		{ MEMORY_FN_CALLOC, ALLOCATOR_PROBE_SESSION, 1 },
		{ MEMORY_FN_FREE, ALLOCATOR_PROBE_ENTRY, 1 },
		{ MEMORY_FN_DELETE_DIRECT, ALLOCATOR_PROBE_ENTRY, 1 }, /* sized */
	};
	struct allocator_list l;
	char path[256];
	unsigned sum = 0;
	FILE *f;

	need_compiler();
	snprintf(path, sizeof(path), "%s/by-hand.s", own_directory());
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(source, f);
	fclose(f);
	command("cc -shared -nostdlib -Wl,-Bsymbolic by-hand.s -o by-hand");
	assert_int_equal(find("by-hand", &l), 0);
	assert_int_equal(l.flags, ALLOCATORS_PARTIAL);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		unsigned n = 0;

		for (size_t k = 0; k < l.n; k++)
			n += l.probes[k].function == expected[i].function &&
			     l.probes[k].kind == expected[i].kind;
		if (n != expected[i].n)
			print_error("function %u, kind %u: %u\n", expected[i].function,
				    expected[i].kind, n);
		assert_int_equal(n, expected[i].n);
		sum += n;
	}
	assert_int_equal(l.n, sum);
	/* the bytes there: xor eax, eax; test rdi, rdi; jz */
	{
		_cleanup_close_ int fd = open_in_dir("by-hand");
		uint8_t at[2];

		assert_int_equal(
			pread(fd, at, 1,
			      (off_t)probe_of(&l, MEMORY_FN_CALLOC, ALLOCATOR_PROBE_SESSION)
				      ->offset),
			1);
		assert_int_equal(at[0], 0x31);
		assert_int_equal(
			pread(fd, at, 1,
			      (off_t)probe_of(&l, MEMORY_FN_FREE, ALLOCATOR_PROBE_ENTRY)->offset),
			1);
		assert_int_equal(at[0], 0x74);
		for (size_t i = 0; i < l.n; i++) {
			if (l.probes[i].kind != ALLOCATOR_PROBE_RET)
				continue;
			assert_int_equal(pread(fd, at, 2, (off_t)l.probes[i].offset), 2);
			assert_true(at[0] == 0xc3 || (at[0] == 0xf3 && at[1] == 0xc3));
		}
	}
	allocator_list_deinit(&l);
}
#else
TEST(test_by_hand)
{
	skip();
}
#endif

/* A library that only calls malloc() of another one has no blocks of its own. */
TEST(test_calls_other)
{
	static const struct {
		const char *source;
		uint32_t flags;
	} rows[] = {
		{ "void *je_malloc(size_t n) { return malloc(n); }", ALLOCATORS_CALLS_OTHER },
		{ "int n_calls; void *tc_malloc(size_t n) { void *p = malloc(n); n_calls++; return p; }",
		  ALLOCATORS_CALLS_OTHER },
		{ "static char all[4096]; static size_t used;"
		  "void *je_malloc(size_t n) { used += n; return all + used - n; }"
		  "void *others(void) { return malloc(7); }",
		  0 },
		/* one of two */
		{ "static char all[4096]; void *je_malloc(size_t n) { return malloc(n); }"
		  "void *tc_malloc(size_t n) { return all + n; }",
		  0 },
		{ "void *others(void) { return malloc(7); }", 0 },
		/* a header */
		{ "void *je_malloc(size_t n) { return (char *)malloc(n + 16) + 16; }", 0 },
		{ "void *je_malloc(size_t n) { char *p = malloc(n + 16); return p ? p + 16 : p; }",
		  0 },
		/* a pool, and malloc() only for large or small sizes */
		{ "static char all[4096]; static size_t used;"
		  "void *je_malloc(size_t n) { if (n > 64) return malloc(n);"
		  "used += n; return all + used - n; }",
		  0 },
		{ "void *pool(size_t n); void *je_malloc(size_t n)"
		  "{ return n > 64 ? pool(n) : malloc(n); }",
		  0 },
		/* ... or for other functions */
		{ "static char all[4096]; void *je_malloc(size_t n) { return malloc(n); }"
		  "void *je_calloc(size_t n, size_t m) { return all + n * m; }",
		  0 },
		{ "static char all[4096]; void *je_malloc(size_t n) { return malloc(n); }"
		  "void *_Znwm(size_t n) { return all + n; }",
		  0 },
		{ "int je_posix_memalign(void **p, size_t a, size_t n) {"
		  "int r = posix_memalign(p, a, n + 16); *p = (char *)*p + 16; return r; }"
		  "void *je_malloc(size_t n) { return malloc(n); }",
		  0 },
		/* all of them call others, one of them again if the first call fails */
		{ "int n_calls, reclaim(void); void *je_malloc(size_t n) { void *p;"
		  "while (!(p = malloc(n))) if (!reclaim()) abort(); n_calls++; return p; }"
		  "void *je_calloc(size_t n, size_t m) { return calloc(n, m); }"
		  "void *je_memalign(size_t a, size_t n) { return aligned_alloc(a, n); }"
		  "void *_Znwm(size_t n) { return je_malloc(n); }"
		  "void je_free(void *p) { n_calls--; free(p); }",
		  ALLOCATORS_CALLS_OTHER },
	};
	struct allocator_list l;
	char path[256];

	need_compiler();
#if !defined(__x86_64__)
	skip();
#endif
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/calls.c", own_directory());
		f = fopen(path, "we");
		assert_non_null(f);
		fprintf(f, "#include <stdlib.h>\n%s\n", rows[i].source);
		fclose(f);
		command("cc -O1 -fPIC -shared -fno-builtin calls.c -o calls");
		assert_int_equal(find("calls", &l), 0);
		assert_int_equal(l.flags, rows[i].flags);
		allocator_list_deinit(&l);
	}
}

TEST(test_no_program)
{
	_cleanup_close_ int directory = open("/", O_RDONLY | O_CLOEXEC);
	struct allocator_list l;
	int pipe_fds[2];

	need_compiler();
	command("echo text >text; : >empty; head -c 4 /bin/sh >four; head -c 63 /bin/sh >head");
	command("cp /bin/sh wild && printf '\\377\\377\\377\\377\\377\\377\\377\\177' |"
		" dd of=wild bs=1 seek=40 conv=notrunc");
	command("echo 'int x;' >object.c && cc -c object.c -o object");
	assert_int_equal(find("text", &l), -ENOEXEC);
	assert_int_equal(find("empty", &l), -ENOEXEC);
	assert_int_equal(find("four", &l), -ENOEXEC);
	assert_int_equal(find("head", &l), -EBADMSG);
	assert_int_equal(find("object", &l), -ENOEXEC);
	/* sections far beyond the end */
	if (find("wild", &l) == 0)
		assert_int_equal(l.n, 0);
	assert_int_equal(allocators_find_sandboxed(directory, ALLOCATORS_NS_MAX, &l), -ENOEXEC);
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(allocators_find_sandboxed(pipe_fds[0], ALLOCATORS_NS_MAX, &l), -ENOEXEC);
	assert_int_equal(allocators_find_sandboxed(-1, ALLOCATORS_NS_MAX, &l), -EBADF);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* The same table of symbols many times: reading a file has a time limit. */
TEST(test_slow)
{
	enum { SECTIONS = 60000, SYMBOLS = 1 << 20 };
	_cleanup_free_ Elf64_Shdr *sections = calloc(SECTIONS, sizeof(*sections));
	_cleanup_close_ int fd = memfd_create("slow", MFD_CLOEXEC);
	const off_t at = 4096 + (off_t)SYMBOLS * (off_t)sizeof(Elf64_Sym);
	struct allocator_list l;
	_cleanup_close_ int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head;

	assert_true(sections && fd >= 0 && self >= 0);
	assert_int_equal(read(self, &head, sizeof(head)), sizeof(head));
	head.e_phnum = 0;
	head.e_shnum = SECTIONS;
	head.e_shstrndx = 1;
	head.e_shoff = (Elf64_Off)at;
	sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = 2048, .sh_size = 8 };
	for (int i = 2; i < SECTIONS; i++)
		sections[i] = (Elf64_Shdr){
			.sh_type = SHT_SYMTAB,
			.sh_offset = 4096,
			.sh_size = SYMBOLS * sizeof(Elf64_Sym),
			.sh_link = 1,
			.sh_entsize = sizeof(Elf64_Sym),
			.sh_addralign = 8,
		};
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(pwrite(fd, sections, SECTIONS * sizeof(*sections), at),
			 SECTIONS * sizeof(*sections));
	assert_int_equal(allocators_find_sandboxed(fd, 50000000, &l), -ETIME);
}

/* ---- invalid answers of the other process ---- */

TEST(test_validity)
{
	struct allocator_probe probes[2] = {
		{ .offset = 10, .function = MEMORY_FN_MALLOC, .kind = 1, .name = "malloc" },
		{ .offset = 20, .function = MEMORY_FN_FREE, .kind = 0, .name = "free" },
	};
	struct allocator_list l = { .probes = probes, .n = 2 };

	assert_true(allocator_list_is_valid(&l, 21));
	assert_false(allocator_list_is_valid(&l, 20));
	l.flags = ALLOCATORS_ALL + 1;
	assert_false(allocator_list_is_valid(&l, 21));
	l.flags = ALLOCATORS_ALL;
	assert_true(allocator_list_is_valid(&l, 21));
	l.n = ALLOCATOR_PROBES_MAX + 1;
	assert_false(allocator_list_is_valid(&l, UINT64_MAX));
	l.n = 2;
	probes[0].offset = 30;
	assert_false(allocator_list_is_valid(&l, 100));
	probes[0].offset = 20;
	assert_false(allocator_list_is_valid(&l, 100)); /* unsorted kinds */
	probes[0].kind = 0;
	assert_false(allocator_list_is_valid(&l, 100)); /* twice */
	probes[1].kind = 2;
	assert_true(allocator_list_is_valid(&l, 100));
	probes[1].kind = 3;
	assert_false(allocator_list_is_valid(&l, 100));
	probes[1].kind = 1;
	probes[1].function = 0;
	assert_false(allocator_list_is_valid(&l, 100));
	probes[1].function = MEMORY_FN_MAX;
	assert_false(allocator_list_is_valid(&l, 100));
	probes[1].function = MEMORY_FN_FREE;
	probes[1].name[0] = '\0';
	assert_false(allocator_list_is_valid(&l, 100));
	strcpy(probes[1].name, "a\nb");
	assert_false(allocator_list_is_valid(&l, 100));
	memset(probes[1].name, 'x', sizeof(probes[1].name));
	assert_false(allocator_list_is_valid(&l, 100));
}

/* ---- processes ---- */

struct seen {
	unsigned n, with_malloc, deleted;
	ino_t inodes[256];
	int end_with;
};

static int see(const struct allocator_file *file, void *userdata)
{
	struct seen *s = userdata;
	struct stat st;

	assert_int_equal(file->error, 0);
	assert_int_equal(fstat(file->fd, &st), 0);
	assert_int_equal(st.st_ino, file->inode);
	assert_int_equal(st.st_dev, file->device);
	assert_int_equal(file->path[0], '/');
	for (unsigned i = 0; i < s->n; i++)
		assert_int_not_equal(s->inodes[i], st.st_ino);
	assert_true(s->n < 256);
	s->inodes[s->n++] = st.st_ino;
	s->with_malloc += probe_of(file->list, MEMORY_FN_MALLOC, ALLOCATOR_PROBE_SESSION) != NULL;
	s->deleted += strstr(file->path, " (deleted)") != NULL;
	return s->end_with;
}

TEST(test_self)
{
	_cleanup_(allocator_cache_freep) struct allocator_cache *cache = NULL;
	struct seen s = { 0 }, again = { 0 }, first = { .end_with = -EDOM };

	assert_int_equal(allocator_cache_new(ALLOCATORS_NS_MAX, &cache), 0);
	assert_int_equal(allocators_of_process(getpid(), cache, see, &s), 0);
	assert_true(s.n >= 2);
	assert_true(s.with_malloc >= 1);
	assert_int_equal(allocator_cache_reads(cache), s.n);
	assert_int_equal(allocators_of_process(getpid(), cache, see, &again), 0);
	assert_int_equal(again.n, s.n);
	assert_int_equal(again.with_malloc, s.with_malloc);
	assert_int_equal(allocator_cache_reads(cache), s.n);
	assert_int_equal(allocators_of_process(getpid(), NULL, see, &first), -EDOM);
	assert_int_equal(first.n, 1);
}

/* Its file is deleted; only its mapping leads to it. */
TEST(test_deleted)
{
	struct seen s = { 0 };
	char path[256], text[128];
	int fd, r;
	pid_t pid;

	need_compiler();
	if (geteuid() != 0) {
		print_message("skip: only root may open what is mapped\n");
		skip();
	}
	command("cp $(command -v sleep) sleeper && cp sleeper keep");
	snprintf(path, sizeof(path), "%s/sleeper", own_directory());
	pid = fork();
	if (pid == 0) {
		execl(path, "sleeper", "600", (char *)NULL);
		_exit(99);
	}
	/* until it has executed the other program, and loaded it */
	for (r = 0; r < 6000; r++) {
		char name[64];

		snprintf(name, sizeof(name), "/proc/%d/syscall", pid);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		text[0] = '\0';
		if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 &&
		    strncmp(text, "230 ", 4) == 0)
			r = 10000;
		close_fd(fd);
		usleep(10000);
	}
	command("rm sleeper");
	assert_int_equal(allocators_of_process(pid, NULL, see, &s), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(s.deleted, 1);
	assert_int_equal(s.with_malloc, 1);
	/* its process is gone */
	s = (struct seen){ 0 };
	assert_int_equal(allocators_of_process(pid, NULL, see, &s), 0);
	assert_int_equal(s.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_static),      cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_library),     cmocka_unit_test(test_additions),
		cmocka_unit_test(test_go),          cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_calls_other), cmocka_unit_test(test_no_program),
		cmocka_unit_test(test_slow),        cmocka_unit_test(test_validity),
		cmocka_unit_test(test_self),        cmocka_unit_test(test_deleted),
	};

	if (under_valgrind()) {
		printf("skip: valgrind cannot follow where system calls are forbidden\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, own_directory_set_up, own_directory_tear_down);
}
