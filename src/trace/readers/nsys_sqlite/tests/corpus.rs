//! Captures from the field, where `FASTRNNS_CORPUS` names them.

use super::*;

#[test]
fn captures_from_the_field_are_read_as_sqlite_reads_them() {
    let Some(corpus) = std::env::var_os("FASTRNNS_CORPUS") else { return };
    let mut count = 0;
    for entry in fs::read_dir(PathBuf::from(corpus).join("nsys")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "sqlite") {
            continue;
        }
        count += 1;
        pages::assert_same(&path);
        let warnings = read(&path).unwrap().warnings;
        assert!(warnings.is_empty(), "{warnings:?}");
    }
    assert!(count > 0, "FASTRNNS_CORPUS holds no nsys/*.sqlite");
}
