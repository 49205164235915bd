// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions of Rust. The compiler removes an argument of one, since all callers are known. Those in
// `pass` have arguments and results whose places Rust does not fix, and others. `convention` has
// functions of both conventions, with and without mangled names; their names do not tell which.
mod shop {
    pub struct Counter { pub value: i64 }
    impl Counter {
        #[inline(never)]
        pub fn add(&mut self, by: i64, often: u32) -> i64 { self.value += by * often as i64; self.value }
    }
    #[inline(never)]
    pub fn label(text: &str, n: usize) -> usize { text.len() + n }
}
mod pass {
    #[inline(never)]
    pub fn numbers(n: i32, pair: &str, what: (u32, u32, u32), a: i32) -> i32 { n + a + (pair.len() as u32 + what.0) as i32 }
    #[inline(never)]
    pub fn string(n: i32, what: String, a: i32) -> i32 { n + a + what.len() as i32 }
    #[inline(never)]
    pub fn option(n: i32, what: Option<u64>, a: i32) -> i32 { n + a + what.is_some() as i32 }
    #[inline(never)]
    pub fn array(n: i32) -> [u64; 2] { [n as u64; 2] }
    #[inline(never)]
    pub fn text(n: i32) -> String { n.to_string() }
}
mod convention {
    pub struct Big { pub a: u64, pub b: u64, pub c: u64 }
    pub struct Own { pub v: i32 }
    impl Own {
        #[inline(never)]
        pub fn texts(&self, a: &str, b: &str, c: &str, n: i32) -> i32 { self.v + n + (a.len() + b.len() + c.len()) as i32 }
        #[inline(never)]
        pub fn full(&self, a: &str, b: &str, n: i32, c: &str, m: i32) -> i32 { self.v + n + m + (a.len() + b.len() + c.len()) as i32 }
    }
    #[inline(never)]
    pub extern "C" fn callback(big: Big, n: i32) -> i32 { n + (big.a + big.c) as i32 }
    #[no_mangle]
    #[inline(never)]
    pub fn unmangled(big: Big, n: i32) -> i32 { n + (big.a + big.c) as i32 }
}
fn main() {
    let own = convention::Own { v: 1 };
    println!("{} {}", own.texts("a", "b", "c", 2), own.full("a", "b", 2, "c", 3));
    println!("{}", convention::callback(convention::Big { a: 1, b: 2, c: 3 }, 4));
    println!("{}", convention::unmangled(convention::Big { a: 1, b: 2, c: 3 }, 4));
    println!("{} {}", pass::numbers(1, "a", (1, 2, 3), 2), pass::option(1, Some(2), 3));
    println!("{:?} {} {}", pass::array(1), pass::text(2), pass::string(1, String::from("b"), 2));
    let mut c = shop::Counter { value: 1 };
    let n = std::env::args().count() as i64;
    let mut sum = 0;
    for i in 0..5 { sum += c.add(n + i, 2) + shop::label("hello", i as usize) as i64; }
    println!("{}", sum);
}
