// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions with a first argument of many types, which is passed in registers of any kind or in
// memory, and the numbers 1 to 6 behind it; and functions with such results.
#define KEEP(x) __asm__ volatile("" ::"r"(x) : "memory")

struct Empty {
};

struct Doubles {
	double v[2];
};

struct FloatsFirst {
	float v[2];
	int i;
};

struct alignas(16) Aligned {
	int x;
};

union Floats {
	double d;
	float f;
};

union Mixed {
	double d;
	long i;
};

union Large {
	char c[24];
};

struct LongDouble {
	long double x;
};

struct LongDoubleFirst {
	long double x;
	int y;
};

struct __attribute__((packed)) Packed {
	char c;
	long i;
};

struct WideBits {
	__int128 a : 40;
	unsigned __int128 b : 30;
	__int128 c : 100;
};

struct Nested {
	struct {
		char c[3];
		struct {
			double v;
		} inner[1];
	} outer;
};

struct Deep {
	struct {
		struct {
			struct {
				struct {
					int n;
				} e;
			} d;
		} c;
	} b;
};

struct Class {
	virtual int get();
	int x;
};

int Class::get()
{
	return x;
}

struct Ended {
	long x;
	~Ended();
};

Ended::~Ended()
{
	KEEP(this);
}

struct Single {
	int n;
};

struct Pair {
	int a, b;
};

struct Double {
	double d;
};

typedef int Vector __attribute__((vector_size(16)));
typedef int (Class::*MemberFunction)();
typedef int Class::*Member;

#define NOINLINE __attribute__((noinline))

#define PASS(name, type)                                                                           \
	NOINLINE int pass_##name(type what, int n, int a, int b, int c, int d, int e)              \
	{                                                                                          \
		KEEP(&what);                                                                       \
		return n + a + b + c + d + e;                                                      \
	}

#define ALL(X)                                                                                     \
	X(empty, Empty)                                                                            \
	X(doubles, Doubles)                                                                        \
	X(floats_first, FloatsFirst)                                                               \
	X(aligned, Aligned)                                                                        \
	X(union_floats, Floats)                                                                    \
	X(union_mixed, Mixed)                                                                      \
	X(union_large, Large)                                                                      \
	X(long_double_in, LongDouble)                                                              \
	X(long_double_first, LongDoubleFirst)                                                      \
	X(packed, Packed)                                                                          \
	X(wide_bits, WideBits)                                                                     \
	X(nested, Nested)                                                                          \
	X(vector, Vector)                                                                          \
	X(complex, _Complex double)                                                                \
	X(complex_float, _Complex float)                                                           \
	X(complex_long, _Complex long double)                                                      \
	X(float128, __float128)                                                                    \
	X(long_double, long double)                                                                \
	X(null, decltype(nullptr))                                                                 \
	X(member_function, MemberFunction)                                                         \
	X(member, Member)

ALL(PASS)

// An argument with a larger alignment, behind three words on the stack.
NOINLINE int pass_on_stack(Large, LongDoubleFirst what, int n)
{
	return n + what.y;
}

// It has memory on the stack, and maybe no frame pointer.
NOINLINE int pass_late(int n, int a, int b, int c, int d, int e, int g, int h)
{
	volatile int memory[100];

	for (int i = 0; i < 100; i++)
		memory[i] = n + i;
	KEEP(memory);
	return memory[a] + b + c + d + e + g + h;
}

#define RETURN(name, type, ...)                                                                    \
	NOINLINE type return_##name(int n)                                                         \
	{                                                                                          \
		type r = { __VA_ARGS__ };                                                          \
		return r;                                                                          \
	}

RETURN(single, Single, n)
RETURN(pair, Pair, n, n)
RETURN(double, Double, 1)
RETURN(floats, Floats, 1)
RETURN(large, Large, { 1 })
RETURN(long_double, LongDouble, 1)
RETURN(long_double_first, LongDoubleFirst, 1, n)
RETURN(packed, Packed, 1, n)
RETURN(ended, Ended, n)
RETURN(empty, Empty)
RETURN(deep, Deep, n)
RETURN(vector, Vector, n)
RETURN(complex, _Complex double, 1)
RETURN(complex_long, _Complex long double, 1)
RETURN(wide, __int128, n)
RETURN(member, Member, &Class::x)

NOINLINE Mixed return_mixed(int n)
{
	Mixed r;

	r.i = n;
	return r;
}

#define CALL(name, type)                                                                           \
	{                                                                                          \
		type what = {};                                                                    \
		sum += pass_##name(what, 1, 2, 3, 4, 5, 6);                                        \
	}

int main()
{
	int sum = 0;

	ALL(CALL)
	sum += pass_on_stack({}, { 1, 3 }, 2) + pass_late(1, 2, 3, 4, 5, 6, 7, 8);
	sum += return_single(7).n + return_pair(7).a + (int)return_large(7).c[0];
	return_double(7);
	return_floats(7);
	return_long_double(7);
	return_long_double_first(7);
	return_packed(7);
	return_ended(7);
	return_empty(7);
	return_deep(7);
	return_vector(7);
	return_complex(7);
	return_complex_long(7);
	return_wide(7);
	return_member(7);
	return_mixed(7);
	return sum == 0;
}
