// SPDX-License-Identifier: GPL-2.0-or-later
//
// Functions of Rust. The compiler removes an argument of one, since all callers are known.
mod shop {
    pub struct Counter { pub value: i64 }
    impl Counter {
        #[inline(never)]
        pub fn add(&mut self, by: i64, often: u32) -> i64 { self.value += by * often as i64; self.value }
    }
    #[inline(never)]
    pub fn label(text: &str, n: usize) -> usize { text.len() + n }
}
fn main() {
    let mut c = shop::Counter { value: 1 };
    let n = std::env::args().count() as i64;
    let mut sum = 0;
    for i in 0..5 { sum += c.add(n + i, 2) + shop::label("hello", i as usize) as i64; }
    println!("{}", sum);
}
