//! In any steps and any pieces, with any bytes, the same is read.

use proptest::prelude::*;

use super::*;

#[test]
fn holds_no_more_than_a_window() {
    let long = |length: usize| format!(r#"{{"ph": "X", "name": "{}", "ts": 1}}"#, "x".repeat(length));
    for before in [0, 100_000, 700_000] {
        for (length, read) in [(3 * text::LONGEST, 7), (text::LONGEST + 1, 7), (text::LONGEST - 100, 8)] {
            let mut events = ordinary();
            events.insert(2, long(length));
            events.insert(0, long(before));
            let expected = (read, 8 - read, named(&[("one", 2), ("two", 1)]));
            assert_eq!(counts(&document(&events)), expected, "{length} behind {before}");
        }
    }
    let text = document(&ordinary());
    let padded = text.replacen(
        "\"schemaVersion\"",
        &format!("\"pad\": [\"{}\"], \"schemaVersion\"", "y]".repeat(text::LONGEST)),
        1,
    );
    assert_eq!(counts(&padded).0, 6);
}

#[test]
fn what_is_found_does_not_depend_on_the_window() {
    let mut events = ordinary();
    // It is of no use, whatever follows its category, so its rest is not looked at.
    events.insert(1, r#"{"ph": "X", "cat": "gpu_mtion": 1}}"#.to_owned());
    let text = document(&events);
    let whole = read_steps(text.as_bytes(), text::STEP).map(|(_, capture)| capture);
    for step in 1..100 {
        assert_eq!(read_steps(text.as_bytes(), step).map(|(_, capture)| capture), whole, "{step}");
    }
}

#[test]
fn can_be_interrupted() {
    let mut trace = Trace::default();
    let text = document(&vec![kernel("one", "1", "1"); 5000]);
    let grain = Grain { step: 1000, ..Grain::default() };
    let read = read_grains(source(text.as_bytes(), None), &mut trace, &|| true, grain);
    assert_eq!(read, Err(Error::Interrupted));
}

/// Takes some bytes out of a text.
fn lose(text: &mut Vec<u8>, (place, length): (usize, usize)) {
    let place = place % text.len();
    text.drain(place..(place + length).min(text.len() - 1).max(place));
}

proptest! {
    #[test]
    fn any_steps_give_the_same(
        step in 1_usize..200,
        cut in 0_usize..2000,
        fault in 0_usize..1000,
        byte: u8,
        lost in (any::<usize>(), 0_usize..40),
    ) {
        let mut text = document(&ordinary()).into_bytes();
        let place = fault % text.len();
        text[place] = byte;
        lose(&mut text, lost);
        text.truncate(text.len() - cut.min(text.len()) / 3);
        if fault % 3 == 0 {
            text.splice(0..0, *b"\xef\xbb\xbf");
        }
        let whole = read_steps(&text, text::STEP).map(|(trace, capture)| (summary_of(&trace), capture));
        let parts = read_steps(&text, step).map(|(trace, capture)| (summary_of(&trace), capture));
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn any_pieces_give_the_same(
        piece in 1_u64..2000,
        times in 1_usize..6,
        faults in prop::collection::vec((any::<usize>(), any::<u8>()), 0..4),
        lost in prop::collection::vec((any::<usize>(), 0_usize..80), 0..4),
        cut in 0_usize..4000,
    ) {
        let mut events = ordinary();
        // What looks like the beginning of an event, inside one.
        events.push(r#"{"ph": "X", "cat": "cpu_op", "args": {"list": [{"name": "a"}, {"name": "b"}], "x": 1}}"#.to_owned());
        let mut text = document(&vec![events; times].concat()).into_bytes();
        for (place, byte) in faults {
            let place = place % text.len();
            text[place] = byte;
        }
        for lost in lost {
            lose(&mut text, lost);
        }
        text.truncate(text.len() - cut.min(text.len()) / 4);
        let whole = read_steps(&text, text::STEP).map(|(trace, capture)| (summary_of(&trace), capture));
        let pieces = read_pieces(&text, piece).map(|(trace, capture)| (summary_of(&trace), capture));
        prop_assert_eq!(whole, pieces);
    }

    #[test]
    fn takes_any_bytes(text in prop::collection::vec(prop::sample::select(br#"{}[]":,\ X1"#.to_vec()), 0..80)) {
        let text = [br#"{"traceEvents":["#.as_slice(), &text].concat();
        let (_, capture) = read_steps(&text, 7).expect("a trace");
        prop_assert_eq!(capture.events_skipped, capture.skipped.iter().map(|skipped| skipped.count).sum::<u64>());
    }
}
