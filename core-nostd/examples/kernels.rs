//! The digests of this machine's inner loops, one a line, as a board prints them.
use kibitzer_core::net::infer::self_test::{LENGTHS, Product, WIDTH, digest, digest_of};

fn main() {
    for columns in LENGTHS {
        let digest = digest(columns).expect("one of the lengths");
        println!("columns {columns} {digest:016x}");
    }
    for tokens in [64, 1] {
        let mut memory = vec![0; Product::words(tokens)];
        let mut outputs = vec![0; tokens * WIDTH];
        Product::new(tokens, &mut memory).expect("memory enough").run(&mut outputs);
        println!("product {tokens} {WIDTH} {WIDTH} {:016x}", digest_of(&outputs));
    }
}
