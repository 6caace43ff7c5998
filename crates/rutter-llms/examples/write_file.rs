//! Writes a small llms.txt to stdout.

use std::io;

use rutter_llms::{LlmsHead, write_head, write_link, write_section};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let head = LlmsHead { title: "Port Selk", summary: "Tides and berths.", notes: &[] };
    write_head(&mut out, &head)?;
    write_section(&mut out, "Guides")?;
    write_link(&mut out, "Tides", "https://harbour.example/tides.html", "when the water is high")
}
