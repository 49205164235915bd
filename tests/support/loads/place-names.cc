// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions whose symbols contain more than their names in the source: clones, tags of the ABI,
// arguments of templates and of Rust's generic functions.
#include <cstdio>

#define KEEP(x) __asm__ volatile("" ::"r"(x) : "memory")

// Called with one value only, from here only: gcc makes a clone of it with fewer arguments.
extern "C" {
static __attribute__((noinline)) int cloned(const char *text, int n)
{
	volatile int copy = n;

	KEEP(text);
	return copy + 1;
}
}

__attribute__((noinline, abi_tag("v2"))) int tagged(int n)
{
	KEEP(n);
	return n + 2;
}

template <typename T> __attribute__((noinline)) T twice(T value)
{
	KEEP(&value);
	return value + value;
}

// Rust's name of a::generic::<i32>
extern "C" __attribute__((noinline)) int generic(int n) __asm__("_RINvC1a7genericlE");

int generic(int n)
{
	KEEP(n);
	return n + 3;
}

// Classes that are passed by their address, and two that are not.
struct Ended {
	int v;
	long w;
	~Ended();
};

Ended::~Ended()
{
	KEEP(this);
}

struct Copied {
	int v;
	Copied(int n) : v(n)
	{
	}
	Copied(const Copied &other) : v(other.v + 1)
	{
	}
};

struct Moved {
	int v;
	Moved(int n) : v(n)
	{
	}
	Moved(const Moved &) = delete;
	Moved(Moved &&other) : v(other.v)
	{
	}
};

struct Outer {
	long before;
	Ended inner[1];
	int behind;
};

struct Derived : Copied {
	int u;
	Derived(int n) : Copied(n), u(n)
	{
	}
};

struct Virtual {
	int v;
	virtual int get()
	{
		return v;
	}
};

struct Plain {
	int v;
	long w;
	Plain(int n) : v(n), w(n)
	{
	}
	Plain(const Plain &) = default;
	Plain(Plain &, int);
	~Plain() = default;
};

template <typename T> struct Box {
	T v;
	Box(T n) : v(n)
	{
	}
	template <typename U> Box(const Box<U> &other) : v(other.v)
	{
	}
	__attribute__((noinline)) T plus(T n) const
	{
		KEEP(this);
		return v + n;
	}
};

struct Bits {
	int x;
	unsigned f : 4;
	int s : 5;
	long y : 40;
};

struct ManyBits {
	Bits b;
	long last;
};

#define PASS(name, type)                                                                           \
	__attribute__((noinline)) int name(type what, int n)                                       \
	{                                                                                          \
		KEEP(&what);                                                                       \
		return n;                                                                          \
	}

PASS(pass_ended, Ended)
PASS(pass_copied, Copied)
PASS(pass_moved, Moved)
PASS(pass_outer, Outer)
PASS(pass_derived, Derived)
PASS(pass_virtual, Virtual)
PASS(pass_plain, Plain)
PASS(pass_box, Box<int>)
PASS(pass_bits, Bits)
PASS(pass_many_bits, ManyBits)

__attribute__((noinline)) __int128 wide(int k, __int128 n, bool yes)
{
	KEEP(&n);
	return yes ? n : k;
}

__attribute__((noinline)) int wide_late(long a, long b, long c, long d, long e, __int128 n, long f)
{
	KEEP(&n);
	return (int)(a + b + c + d + e + f);
}

// Also called with one value only. The clone has the structure where it was.
struct HasWide {
	__int128 a;
	long m;
};

HasWide *volatile has_wide;

static __attribute__((noinline)) int part_of_clone(HasWide what, int n)
{
	has_wide = &what;
	return n;
}

// A name with other letters than those of ASCII.
__attribute__((noinline)) int größe(int n)
{
	KEEP(n);
	return n + 4;
}

volatile unsigned __int128 wide_all;

__attribute__((noinline)) unsigned __int128 wide_sum(unsigned __int128 a, unsigned __int128 b)
{
	wide_all += a;
	return a + b;
}

int main(int argc, char **argv)
{
	int sum = (int)wide_sum(static_cast<unsigned __int128>(argc) << 64 | 3, 4);
	Virtual dynamic;

	dynamic.v = argc;
	sum += pass_ended({ argc, 2 }, argc) + pass_copied(argc, argc) + pass_moved(argc, argc) +
	       pass_outer({ argc, { { 1, 2 } }, 3 }, argc) + pass_derived(argc, argc) +
	       pass_virtual(dynamic, argc) + pass_plain(argc, argc) + pass_box(argc, argc) +
	       pass_bits({ argc, 2, -3, 4 }, argc) +
	       pass_many_bits({ { argc, 2, -3, 4 }, 5 }, argc) + (int)wide(argc, argc, true) +
	       wide_late(argc, 1, 2, 3, 4, argc, 5) + part_of_clone({ argc, 1 }, 7) +
	       part_of_clone({ argc, 2 }, 7);

	sum += Box<int>(argc).plus(2) + größe(argc);
	for (int i = 0; i < 3; i++)
		sum += cloned(argv[0], 7) + tagged(argc) + twice(argc) + generic(argc);
	printf("%d\n", sum);
	return 0;
}
