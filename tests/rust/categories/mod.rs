//! Kernels' categories: names of every family, which rule goes first, rules of the user's own, and their faults.

mod families;

use fastrnns_rs::error::Error;
use fastrnns_rs::trace::categories::{Categories, NAMES};
use proptest::prelude::*;

use self::families::families;

#[test]
fn every_family_has_its_category() {
    for categories in [Categories::built_in(), Categories::with_rules("# no rules of its own\n\n").unwrap()] {
        for (category, names) in families() {
            for name in names {
                assert_eq!(categories.of(name), category, "{name}");
            }
        }
        assert_eq!(categories.of(""), "other");
    }
}

#[test]
fn every_category_has_a_family_of_three_names_or_more() {
    let categories: Vec<_> = families().map(|(category, _)| category).collect();
    assert_eq!(categories, NAMES);
    assert!(families().all(|(_, names)| names.len() >= 3));
}

#[test]
fn what_a_kernel_is_given_does_not_change_what_it_is() {
    let categories = Categories::built_in();
    for argument in ["at::native::reduce_kernel", "fbgemm_gpu::gemm_softmax", "cudnn::conv2d", "ncclAllReduce"] {
        let name = |function: &str| format!("void at::native::{function}<4, {argument}<float>::operator()(int)>(T1)");
        assert_eq!(categories.of(&name("vectorized_elementwise_kernel")), "elementwise");
        assert_eq!(categories.of(&name("reduce_kernel")), "reduction");
        assert_eq!(categories.of(&name("CatArrayBatchedCopy")), "layout");
    }
}

#[test]
fn rules_of_the_user_go_first_and_the_first_of_them_decides() {
    let categories = Categories::with_rules(concat!(
        "\u{feff}# mine\r\n\r\n",
        "my_own_2   short:^my_kernel$\r\n",
        "  reduction  (?i)SGEMM_32x  \n",
        "gemm       sgemm_32x32\n",
        "second     Functor with spaces\n",
        "folded     short:Volta_[A-Z]+_64\\W?\n",
    ))
    .unwrap();
    let expected = [
        ("void a::my_kernel<int>(int)", "my_own_2"),
        ("void a::my_kernels<my_kernel>(int)", "other"),
        ("volta_sgemm_32x32_tn", "reduction"),
        ("f(Functor with spaces)", "second"),
        ("VOLTA_SGEMM_64", "folded"),
        ("volta_sgemm_128x32_tn", "gemm"),
    ];
    for (name, category) in expected {
        assert_eq!(categories.of(name), category, "{name}");
    }
}

#[test]
fn faults_have_their_line() {
    let faults = [
        ("gemm", 1, "missing regular expression: \"gemm\""),
        ("# fine\n\ngemm  short:\n", 3, "missing regular expression: \"gemm\""),
        ("gemm ok\nGemm x", 2, "invalid category: \"Gemm\""),
        ("a-b x", 1, "invalid category: \"a-b\""),
        ("2d x", 1, "invalid category: \"2d\""),
        ("gemm (unclosed", 1, "invalid regular expression: unclosed group"),
        ("gemm a(?=b)", 1, "look-around"),
        ("gemm short:[z-a]", 1, "invalid character class range"),
        ("gemm (?:a{1000}){1000}", 1, "size limit"),
    ];
    for (text, line, part) in faults {
        match Categories::with_rules(text) {
            Err(Error::BadCategories { line: at, reason }) => {
                assert_eq!(at, line, "{text}");
                assert!(reason.contains(part) && !reason.contains('\n'), "{reason}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

proptest! {
    #[test]
    fn any_name_has_a_category(name in "(_Z|_ZN)?([NLSIEK_]|St|[0-9]{1,20}|[a-zé<>(): ]|gemm|\\PC){0,20}") {
        prop_assert!(NAMES.contains(&Categories::built_in().of(&name)));
    }
}
