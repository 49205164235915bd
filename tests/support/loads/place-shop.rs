// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions of Rust. The compiler removes an argument of one, since all callers are known. Those in
// `pass` have arguments and results whose places Rust does not fix, and others.
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
fn main() {
    println!("{} {}", pass::numbers(1, "a", (1, 2, 3), 2), pass::option(1, Some(2), 3));
    println!("{:?} {} {}", pass::array(1), pass::text(2), pass::string(1, String::from("b"), 2));
    let mut c = shop::Counter { value: 1 };
    let n = std::env::args().count() as i64;
    let mut sum = 0;
    for i in 0..5 { sum += c.add(n + i, 2) + shop::label("hello", i as usize) as i64; }
    println!("{}", sum);
}
