//! Every output format of a comparison, word for word, and with texts that try to break out of each.

mod hostile;
mod junit;
mod markdown;
mod problems;
mod sample;
mod table;

use fastrnns_rs::error::Error;
use fastrnns_rs::report::comparison::{FORMATS, render};
use serde_json::{Value, json};

use self::sample::{document, whole};

fn rendered(document: &Value, format: &str) -> String {
    render(&document.to_string(), format).expect("the comparison is sound")
}

#[test]
fn json_is_the_same_document_in_the_same_order() {
    let text = rendered(&whole(), "json");
    let after: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(after.to_string(), whole().to_string());
    assert!(text.starts_with("{\n  \"schema\": \"fastrnns-rs/comparison\",\n"), "{text}");
    assert!(text.contains("\n  \"kernels\": [],\n") && text.ends_with("\n}\n"), "{text}");
}

#[test]
fn formats_are_those_of_the_command_line() {
    let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(names, ["table", "json", "markdown", "junit"]);
    assert_eq!(render("{}", "xml"), Err(Error::UnknownFormat { name: "xml".to_owned() }));
}

#[test]
fn what_is_not_a_comparison_is_refused_in_one_line() {
    let mut damaged = vec![json!({}), json!({ "rows": 3 }), json!([])];
    for (pointer, value) in [
        ("/rows/0/verdict", json!("better")),
        ("/rows/0/phase", json!("sideways")),
        ("/rows/0/ratio", json!("1.0")),
        ("/rows/0/baseline/n_processes", json!(-1)),
        ("/method/margin_source", json!(null)),
        ("/counts/none", json!(null)),
        ("/warnings", json!({})),
    ] {
        let mut document = whole();
        *document.pointer_mut(pointer).expect("there is such a key") = value;
        damaged.push(document);
    }
    let sound = whole().to_string();
    let texts: Vec<String> = damaged.iter().map(Value::to_string).collect();
    for format in FORMATS {
        let broken = ["", "[", "\0", "{\"rows\": NaN}", &sound[..sound.len() / 2], &sound.replace("1.047", "1e999")];
        for text in broken {
            let error = render(text, format.name).expect_err(text);
            assert!(error.to_string().starts_with("not a comparison: "), "{error}");
        }
        for text in texts.iter().filter(|_| format.name != "json") {
            let error = render(text, format.name).expect_err(text).to_string();
            assert!(error.starts_with("not a comparison: ") && !error.contains('\n'), "{error}");
        }
    }
}

#[test]
fn a_forced_comparison_says_so_first() {
    let mut forced = document(&[]);
    forced["method"]["forced"] = json!(true);
    let said = "FORCED: the two sides do not match, and were compared all the same";
    assert!(rendered(&forced, "table").starts_with(&format!("{said}\n")));
    let headline = format!("<!-- fastrnns-rs comparison -->\n### {said}. 0 slower, 0 faster");
    assert!(rendered(&forced, "markdown").starts_with(&headline));
    let xml = rendered(&forced, "junit");
    assert!(xml.contains(&format!("<testsuite name=\"{said}: old.json → new.json\" tests=\"0\"")), "{xml}");
    assert!(xml.contains("<property name=\"forced\" value=\"true\"/>"), "{xml}");
    for format in FORMATS.iter().filter(|format| format.name != "json") {
        assert!(!rendered(&document(&[]), format.name).contains("FORCED"), "{}", format.name);
    }
}
