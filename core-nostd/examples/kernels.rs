//! The digests of this machine's inner loops, one a line, as a board prints them.
use kibitzer_core::net::infer::self_test::{LENGTHS, PRODUCTS, Product, WIDTH, digest, digest_of};

fn main() {
    for columns in LENGTHS {
        let digest = digest(columns).expect("one of the lengths");
        println!("columns {columns} {digest:016x}");
    }
    for (tokens, width) in PRODUCTS {
        let mut memory = vec![0; Product::words(tokens)];
        let mut outputs = vec![0; tokens * WIDTH];
        Product::new(tokens, width, &mut memory)
            .expect("memory enough")
            .run(&mut outputs)
            .expect("in memory");
        let digest = digest_of(&outputs);
        println!("product {tokens} {} {WIDTH} {WIDTH} {digest:016x}", width.bits());
    }
}
