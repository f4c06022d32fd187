//! Short name of a function, without the rest of its signature.

/// The function's own name in a demangled signature: `foo` of `void a::(anonymous namespace)::foo<int>(float*)`.
///
/// It is part of `full`, and all of it where `full` is no signature: a mangled name, `Memcpy HtoD (Pageable -> Device)`,
/// a text whose brackets do not match.
pub fn short_name(full: &str) -> &str {
    let signature = full.find(" [clone ").map_or(full, |end| &full[..end]);
    Scan::of(signature).and_then(|(start, end)| full.get(start..end)).filter(|name| !name.is_empty()).unwrap_or(full)
}

/// The function's own name where `name` is mangled as on Linux: `foo` of `_ZN1a3fooIiEEvPf`.
pub(crate) fn mangled_short_name(name: &str) -> Option<&str> {
    let encoding = name.strip_prefix("_Z")?;
    let (mut rest, nested) = match encoding.strip_prefix('N') {
        Some(inner) => (inner.trim_start_matches(['r', 'V', 'K', 'R', 'O']), true),
        None => (encoding, false),
    };
    let mut last = None;
    loop {
        // An `L` before a name says that it is known in its own file only; `St` is `std`; `S_` and `S0_` repeat a part.
        rest = rest.strip_prefix('L').unwrap_or(rest);
        if let Some(repeated) = rest.strip_prefix('S') {
            let named = repeated.starts_with(|c: char| c.is_ascii_lowercase());
            rest = if named { &repeated[1..] } else { repeated.split_once('_')?.1 };
            continue;
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else { return last };
        last = Some(rest.get(digits..digits.checked_add(length)?)?);
        rest = &rest[digits + length..];
        if !nested {
            return last;
        }
    }
}

/// One pass over a signature, left to right. Only text outside all brackets decides.
struct Scan<'a> {
    text: &'a [u8],
    /// Brackets not yet closed.
    open: Vec<u8>,
    /// Start of the current part of the qualified name.
    start: usize,
    /// End of that part, once its template arguments or a tag were seen.
    end: Option<usize>,
    /// The part that had parameters behind it.
    function: Option<(usize, usize)>,
    /// True if that part is an operator, which may hold spaces, colons and a type.
    operator: bool,
    /// End of the last operator's symbol, at any depth.
    symbol_end: usize,
    /// True after a space: a return type, or no signature at all.
    spaced: bool,
}

impl<'a> Scan<'a> {
    fn of(signature: &'a str) -> Option<(usize, usize)> {
        let text = signature.as_bytes();
        let (open, start, end, function) = (Vec::new(), 0, None, None);
        Scan { text, open, start, end, function, operator: false, symbol_end: 0, spaced: false }.run()
    }

    fn run(mut self) -> Option<(usize, usize)> {
        let mut at = 0;
        while at < self.text.len() {
            at = self.step(at)?;
        }
        if !self.open.is_empty() {
            return None;
        }
        // Words without parameters are no signature, unless template arguments end them; nor are parameters alone.
        let signature = (!self.spaced || self.text.ends_with(b">")) && self.text.get(self.start) != Some(&b'(');
        self.function.or_else(|| signature.then_some((self.start, self.end.unwrap_or(self.text.len()))))
    }

    /// Reads the text at `at`; returns the next place, or `None` if the brackets do not match.
    fn step(&mut self, at: usize) -> Option<usize> {
        let outside = self.open.is_empty();
        match self.text[at] {
            b'o' if self.begins_operator(at) => {
                self.operator |= outside;
                self.symbol_end = self.after_operator(at);
                return Some(self.symbol_end);
            }
            b'<' if self.before(at) == Some(b')') && at != self.symbol_end => {
                // Less-than or a shift: demanglers put operands in brackets, and no template's name ends with one.
                return Some(at + self.text[at..].iter().take_while(|&&b| b == b'<').count());
            }
            b'>' => self.close_angle(at)?,
            b')' => self.close(b'(')?,
            b']' => self.close(b'[')?,
            b'}' => self.close(b'{')?,
            bracket @ (b'<' | b'(' | b'[' | b'{') => {
                if outside {
                    self.enter(at, bracket);
                }
                self.open.push(bracket);
            }
            b' ' if outside && !self.operator => {
                self.spaced = true;
                self.begin(at + 1);
            }
            b':' if outside && !self.operator && self.text.get(at + 1) == Some(&b':') => {
                // What had parameters encloses what follows: `f(int)::{lambda()#1}::operator()() const`.
                self.function = None;
                self.begin(at + 2);
                return Some(at + 2);
            }
            _ => {}
        }
        Some(at + 1)
    }

    fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).map(|place| self.text[place])
    }

    fn begin(&mut self, at: usize) {
        self.start = at;
        self.end = None;
    }

    /// A bracket outside of all others opens: it may end the name.
    fn enter(&mut self, at: usize, bracket: u8) {
        if at == self.start || bracket == b'{' {
            return;
        }
        let spaces = self.text[self.start..at].iter().rev().take_while(|&&b| b == b' ').count();
        let end = *self.end.get_or_insert(at - spaces);
        if bracket == b'(' {
            if self.operator || self.before(at) != Some(b')') {
                self.function = Some((self.start, end));
            }
            self.operator = false;
        }
    }

    fn close(&mut self, bracket: u8) -> Option<()> {
        // A `<` that is still open here compared: `(a<b)`.
        while self.open.last() == Some(&b'<') {
            self.open.pop();
        }
        (self.open.pop() == Some(bracket)).then_some(())
    }

    fn close_angle(&mut self, at: usize) -> Option<()> {
        if self.before(at) == Some(b'-') {
            return Some(());
        }
        match self.open.last() {
            Some(b'<') => self.open.pop().map(|_| ()),
            // Greater-than: `((8)>(0))`.
            Some(_) => Some(()),
            None => None,
        }
    }

    fn begins_operator(&self, at: usize) -> bool {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        self.text[at..].starts_with(b"operator")
            && !self.before(at).is_some_and(word)
            && !self.text.get(at + 8).copied().is_some_and(word)
    }

    /// Returns the end of the symbol of an operator; of `operator bool` and `operator new`, the word.
    fn after_operator(&self, at: usize) -> usize {
        let word = at + "operator".len();
        let spaces = self.text[word..].iter().take_while(|&&b| b == b' ').count();
        let symbol = &self.text[word + spaces..];
        // Longest first. `<` before a template argument needs no care: demanglers part them by a space.
        let known: [&[u8]; 14] =
            [b"()", b"[]", b"<=>", b"<<=", b">>=", b"->*", b"<<", b">>", b"<=", b">=", b"->", b"<", b">", b"\"\""];
        known.iter().find(|known| symbol.starts_with(known)).map_or(word, |known| word + spaces + known.len())
    }
}
