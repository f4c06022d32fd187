//! The function's own name in signatures of every shape, and in what is none.

use fastrnns_rs::trace::short_name;
use proptest::prelude::*;

#[test]
fn it_is_the_function_without_what_surrounds_it() {
    let expected = [
        ("void at::native::(anonymous namespace)::foo<int, bar(baz)>(int)", "foo"),
        ("void at::native::<unnamed>::foo<(int)4, <unnamed>::T<<unnamed>::half>>(T1 *, const T2 &)", "foo"),
        ("foo(float*, int)", "foo"),
        ("foo()", "foo"),
        ("unsigned long a::foo(unsigned long)", "foo"),
        ("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, 7>(Params<int const>)", "kernel"),
        ("std::enable_if<(((8)>(0)))&&a::exists<b>::c, void>::type a::foo<b, 8>(b*, long)", "foo"),
        ("std::enable_if<((1)<<(3))<(9), void>::type foo<3>(int)", "foo"),
        ("void foo<(a<b), 3>(int)", "foo"),
        ("decltype (({parm#1}->x)+(y)) foo<int>(int)", "foo"),
        ("void foo<decltype(nullptr), &(a::silu<c10::Half>)>(int)", "foo"),
        ("void foo<int>(int) const", "foo"),
        ("void foo<int>(int) [clone .kd]", "foo"),
        ("foo(int) [clone .isra.0] [clone .cold]", "foo"),
        ("foo[abi:cxx11](int)", "foo"),
        ("void foo<int>", "foo"),
        ("a::b<int>::foo", "foo"),
        ("void op::foo<int=128, bool=1>(int)", "foo"),
        ("void größe::зерно<int>(int)", "зерно"),
        // Operators and lambdas have names too.
        ("foo(at::X&)::{lambda(float)#1}::operator()(float) const", "operator()"),
        ("void foo(at::X &)::[lambda(float) (instance 1)]::operator ()<int>(float) const", "operator ()"),
        ("auto a::{lambda(auto:1)#1}::operator()<int>(int) const", "operator()"),
        ("foo(int)::'lambda'(float)::operator()(float) const", "operator()"),
        ("bool a::operator< <int>(a::x<int> const&)", "operator<"),
        ("std::ostream& a::operator<< <int>(std::ostream&, int)", "operator<<"),
        ("a::b::operator->() const", "operator->"),
        ("bool a::operator>=(int, int)", "operator>="),
        ("a::b::operator==(int)", "operator=="),
        ("a::b::operator unsigned long() const", "operator unsigned long"),
        ("operator new(unsigned long)", "operator new"),
        ("operator\"\" _km(long)", "operator\"\" _km"),
        ("void run<a::operator< , &b::operator->>(int)", "run"),
        ("void my_operator<int>(int)", "my_operator"),
        ("void operator_2<int>(int)", "operator_2"),
    ];
    for (full, short) in expected {
        assert_eq!(short_name(full), short, "{full}");
    }
}

#[test]
fn what_is_no_signature_stays_as_it_is() {
    let names = [
        "",
        "volta_sgemm_128x32_nt",
        "triton_poi_fused_add_0",
        "Cijk_Ailk_Bljk_SB_MT64x64x16.kd",
        "_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi",
        "Memcpy HtoD (Pageable -> Device)",
        "Memset (Device)",
        "[CUDA memcpy HtoD]",
        "CopyHostToDevice",
        "two words",
        "a < b",
        "void at::foo<4, at::bar<flo",
        "foo(int))",
        "foo<int>>(int)",
        "foo(]",
        "(anonymous namespace)",
        "(int)",
        "::",
        "::(int)",
        "void (*foo(int))(float)",
        "<string>",
        "<",
        ">",
        "->",
        "operator",
        " ",
        " [clone .kd]",
    ];
    for name in names {
        assert_eq!(short_name(name), name);
    }
}

/// n² steps would never end here.
#[test]
fn a_hostile_name_takes_no_longer_than_its_length() {
    for part in ["<", "(", ")", ">", "(<", "a<", "operator<", "operator ", "operator", " (", "::", "[", "é", "f(", ")<"]
    {
        let name = part.repeat(1_000_000 / part.len());
        assert!(!short_name(&name).is_empty());
    }
}

proptest! {
    #[test]
    fn it_is_always_part_of_the_name_and_never_nothing(
        name in "([a-zé:<>() *&\\[\\]{}'#,.~=-]|::|operator|lambda| const| \\[clone|\\PC){1,40}",
    ) {
        let short = short_name(&name);
        prop_assert!(!short.is_empty());
        prop_assert!(name.contains(short));
    }

    #[test]
    fn the_function_of_any_signature_is_found(
        returned in "(void |unsigned long |a::b<int>::type )?",
        spaces in "((a|b2)::|\\(anonymous namespace\\)::|<unnamed>::){0,3}",
        function in "[a-z_][a-z0-9_]{0,12}",
        arguments in "(<(int|a::b<c>|\\(int\\)4|&\\(f<g>\\)|x\\(y&\\)::\\{lambda\\(\\)#1\\})(, d<e> ?)?>)?",
        parameters in "\\((|int|T2|a::b<c>\\*, int|x const&|void \\(\\*\\)\\(int\\))\\)",
        behind in "( const)?( \\[clone \\.kd\\])?",
    ) {
        prop_assume!(function != "operator");
        let full = format!("{returned}{spaces}{function}{arguments}{parameters}{behind}");
        prop_assert_eq!(short_name(&full), function);
    }
}
