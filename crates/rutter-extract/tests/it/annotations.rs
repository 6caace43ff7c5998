//! What is known of elements with `data-ai-*` attributes.

use rutter_extract::html;

use crate::options;

#[test] // D59
fn annotated_elements_have_label_target_and_hidden_parts() {
    let page = b"<html><body><form data-ai-section=a><p>Shown</p><p hidden>not shown</p>
        <textarea>typed</textarea>
        <label for=mail>E-mail <b>address</b></label><input id=mail type=email data-ai-field=mail>
        <label>Port <select data-ai-field=port><option>North</select></label>
        <div style='display:none'><input data-ai-field=trap></div>
        <img data-ai-media=hero src=boat.png><a data-ai-link=x href='/news'>News</a></form>
        <p hidden>outside</p>";
    let extraction = html(page, &options("https://harbour.example/docs/page.html"));
    let found: Vec<_> = extraction
        .annotated
        .iter()
        .map(|it| {
            let words = &extraction.visible_text[it.text.clone()];
            let target = it.target.as_deref().unwrap_or_default();
            (it.depth, it.element.as_str(), it.label.as_deref(), it.is_hidden, words, target)
        })
        .collect();
    let inner = [
        (1, "p", None, true, "not shown", ""),
        (1, "textarea", None, false, "typed", ""),
        (1, "input", Some("E-mail address"), false, "", ""),
        (1, "select", Some("Port"), false, "North", ""),
        (1, "div", None, true, "", ""),
        (2, "input", None, true, "", ""),
        (1, "img", None, false, "", "https://harbour.example/docs/boat.png"),
        (1, "a", None, false, "News", "https://harbour.example/news"),
    ];
    assert_eq!(found.get(1..).unwrap_or_default(), inner);
    assert_eq!(found.first().map(|it| (it.0, it.1, it.3)), Some((0, "form", false)));
}
