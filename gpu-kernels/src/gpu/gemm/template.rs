//! Lines of WGSL repeated for registers, which have names and no indices.

/// Writes out the lines of the form `each i in COUNT, j in 4: …{i}…{j}…`, once for every value
/// of the variables, the last one fastest. A count is a number or one of `counts`.
pub fn expand(text: &str, counts: &[(&str, usize)]) -> String {
    let mut out = String::with_capacity(2 * text.len());
    for line in text.lines() {
        match line.trim_start().strip_prefix("each ").and_then(|rest| rest.split_once(": ")) {
            None => push(&mut out, line),
            Some((variables, body)) => repeat(&mut out, variables, body, counts),
        }
    }
    out
}

fn repeat(out: &mut String, variables: &str, body: &str, counts: &[(&str, usize)]) {
    let (first, rest) = match variables.split_once(", ") {
        Some((first, rest)) => (first, Some(rest)),
        None => (variables, None),
    };
    let (name, count) = first.split_once(" in ").expect("`each` says what it counts");
    let named = counts.iter().find(|(known, _)| *known == count).map(|&(_, n)| n);
    let count = named.unwrap_or_else(|| count.parse().expect("a count is known or a number"));
    for i in 0..count {
        let body = body.replace(&format!("{{{name}}}"), &i.to_string());
        match rest {
            None => push(out, &body),
            Some(rest) => repeat(out, rest, &body, counts),
        }
    }
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_repeated_for_every_value() {
        let text = "a;\n  each i in ROWS, j in 2: r{i}_{j} = {i};\nb;";
        let expected = "a;\nr0_0 = 0;\nr0_1 = 0;\nr1_0 = 1;\nr1_1 = 1;\nr2_0 = 2;\nr2_1 = 2;\nb;\n";
        assert_eq!(expand(text, &[("ROWS", 3)]), expected);
    }
}
