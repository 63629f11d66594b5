#![no_main]

use mind_model::Text;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // A panic of the tokenizer library means an invalid file, not a fuzzing failure.
    std::panic::set_hook(Box::new(|info| {
        if !mind_driver::expected_panic::is_expected() {
            eprintln!("{info}");
            std::process::abort();
        }
    }));
    let Ok(text) = Text::new(data) else { return };
    let Ok(tokens) = text.encode("tea for two \u{e9}") else { return };
    drop(text.decode(&tokens));
});
