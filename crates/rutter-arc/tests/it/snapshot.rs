//! Tests of snapshots: normal form, privacy, findings, prose.

use proptest::prelude::*;
use rutter_arc::snapshot::{AnnotatedElement, AnnotatedPage, ArcSnapshot, snapshot};
use rutter_finding::Finding;
use serde_json::{Value, json};

/// An annotated page built by a test: depth, element, attributes, text.
#[derive(Default)]
struct Page {
    text: String,
    elements: Vec<Owned>,
}

struct Owned {
    depth: usize,
    name: &'static str,
    attributes: Vec<(String, String)>,
    text: std::ops::Range<usize>,
    label: Option<&'static str>,
    target: Option<String>,
}

impl Page {
    /// Adds an element; `attributes` is `name=value; name=value`; a name
    /// after `@` is an HTML attribute, any other an ARC attribute.
    fn add(mut self, depth: usize, name: &'static str, attributes: &str, text: &str) -> Self {
        let attributes: Vec<(String, String)> = attributes
            .split("; ")
            .filter(|it| !it.is_empty())
            .map(|it| {
                let (name, value) = it.split_once('=').unwrap();
                let is_own = name.starts_with('@');
                let name = if is_own { name[1..].to_owned() } else { format!("data-ai-{name}") };
                (name, value.to_owned())
            })
            .collect();
        let find = |name: &str| attributes.iter().find(|(key, _)| key == name);
        let target = find("src").or_else(|| find("href"));
        let target = target.map(|(_, path)| format!("https://harbour.example{path}"));
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text.push_str(text);
        let text = start..self.text.len();
        // The text of an element includes the elements inside it.
        let mut wanted = depth;
        for outer in self.elements.iter_mut().rev() {
            if outer.depth < wanted {
                outer.text.end = text.end;
                wanted = outer.depth;
            }
        }
        self.elements.push(Owned { depth, name, attributes, text, label: None, target });
        self
    }

    fn label(mut self, label: &'static str) -> Self {
        self.elements.last_mut().unwrap().label = Some(label);
        self
    }

    fn snapshot(&self) -> (ArcSnapshot, Vec<Finding>) {
        let keywords = ["harbour".to_owned(), "Tides".to_owned()];
        let elements = self.elements.iter().map(|element| AnnotatedElement {
            name: element.name,
            depth: element.depth,
            attributes: &element.attributes,
            text: element.text.clone(),
            is_hidden: false,
            label: element.label,
            target: element.target.as_deref(),
        });
        let document = AnnotatedPage {
            url: "https://harbour.example/join/signup.html",
            title: Some("Join the harbour"),
            description: Some("How to join."),
            language: Some("en"),
            keywords: &keywords,
            text: &self.text,
            elements: elements.collect(),
        };
        let mut findings = Vec::new();
        let snapshot = snapshot(&document, &mut findings).unwrap();
        (snapshot, findings)
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.snapshot().0.to_json()).unwrap()
    }

    fn codes(&self) -> Vec<&'static str> {
        self.snapshot().1.iter().map(|finding| finding.rule.code).collect()
    }
}

fn signup() -> Page {
    Page::default()
        .add(0, "body", "page=signup; intent=register_user; category=Tides", "")
        .add(1, "h1", "heading=title", "Create Your Account")
        .add(1, "p", "summary=intro", "Berth  your boat.")
        .add(1, "form", "section=registration_form; type=Form; purpose=onboarding; context=personal", "")
        .add(2, "label", "label=email_label; context=none", "Your e-mail")
        .add(2, "input", "field=email; context=personal; behavior=auto_save; @type=Email; @required=; @value=jo@port.org", "")
        .add(2, "input", "field=password; context=sensitive; @type=password; @aria-label=Secret", "")
        .label("Password")
        .add(2, "button", "role=submit; event=onClick; action=create_account; transition=fade_in", "Join")
}

#[test] // ARC-016 ARC-027 D59 D62
fn form_has_the_expected_normal_form() {
    let page = signup();
    assert_eq!(
        page.json(),
        json!({
            "page": "signup",
            "url": "https://harbour.example/join/signup.html",
            "language": "en",
            "title": "Create Your Account",
            "summary": "Berth your boat.",
            "tags": ["Tides", "harbour"],
            "ai_context": ["personal", "sensitive"],
            "intent": "register_user",
            "category": "Tides",
            "intro": "Berth your boat.",
            "sections": [{
                "name": "registration_form",
                "type": "Form",
                "purpose": "onboarding",
                "context": "personal",
                "fields": [
                    {"field": "email", "type": "email", "context": "personal",
                     "behavior": "auto_save", "required": true},
                    {"field": "password", "label": "Password", "type": "password",
                     "context": "sensitive"},
                ],
                "actions": [{"role": "submit", "event": "onClick", "action": "create_account",
                             "transition": "fade_in"}],
                "marks": [{"of": "email_label", "context": "none"}],
                "withheld": ["label"],
            }],
        })
    );
    let (snapshot, findings) = page.snapshot();
    assert!(snapshot.needs_auth());
    assert_eq!(snapshot.contexts(), ["personal", "sensitive"]);
    assert!(findings.iter().all(|finding| finding.rule.code == "AR099"), "{findings:?}");
}

#[test] // ARC-054
fn summary_and_tags_come_from_the_snapshot() {
    let (snapshot, _) = signup().snapshot();
    assert_eq!(snapshot.summary(), Some("Berth your boat."));
    assert_eq!(snapshot.tags(), ["Tides", "harbour"]);
    let plain = Page::default().add(0, "section", "section=a; type=A; intent=b", "");
    let (snapshot, _) = plain.snapshot();
    assert_eq!(snapshot.summary(), Some("How to join."));
    assert_eq!(plain.json()["title"], "Join the harbour");
    // Without a page name, the URL gives the name.
    assert_eq!(
        (&plain.json()["page"], &plain.json()["page_inferred"]),
        (&json!("signup"), &json!(true))
    );
}

#[test] // D62
fn parts_are_nested_by_level() {
    let page = Page::default()
        .add(0, "main", "page=shop", "")
        .add(1, "section", "section=pricing; type=Offer; purpose=sale; link=boat", "")
        .add(2, "div", "group=plan; depends=cart; rel=parent", "")
        .add(3, "h2", "heading=name", "Basic")
        .add(3, "h2", "heading=name", "Plus")
        .add(3, "p", "content=type", "Kind")
        .add(3, "p", "content=", "Words")
        .add(3, "div", "subgroup=tier", "")
        .add(4, "img", "media=hero; @src=/boat.jpg; @alt=A boat", "")
        .add(1, "div", "block=banner; ref=boat; state=ready; trigger=scroll", "")
        .add(2, "img", "media=one; @src=/1.jpg", "")
        .add(2, "img", "media=two; @src=/2.jpg; @alt=Two", "")
        .add(2, "a", "link=articles; source=cms; @href=/news", "All news");
    assert_eq!(
        page.json()["sections"],
        json!([{
            "name": "pricing", "type": "Offer", "purpose": "sale", "link": "boat",
            "linked": {"boat": "banner"},
            "groups": [{
                "name": "plan", "depends_on": "cart", "rel": "parent",
                "name_text": ["Basic", "Plus"], "type_text": "Kind", "content": "Words",
                "subgroups": [{"name": "tier", "media": "https://harbour.example/boat.jpg"}],
            }],
        }])
    );
    assert_eq!(
        page.json()["blocks"],
        json!([{
            "name": "banner", "ref": "boat", "state": "ready", "trigger": "scroll",
            "media": [{"name": "one", "url": "https://harbour.example/1.jpg"},
                      {"name": "two", "url": "https://harbour.example/2.jpg", "alt": "Two"}],
            "links": [{"name": "articles", "title": "All news",
                       "url": "https://harbour.example/news", "source": "cms"}],
        }])
    );
    assert_eq!(page.codes(), [""; 0]);
}

#[test] // ARC-025 D59
fn field_values_and_private_text_are_not_exported() {
    let page = Page::default()
        .add(0, "body", "page=account", "")
        .add(1, "div", "content=about", "Public words")
        .add(2, "span", "context=personal; heading=who", "Jo Sailor")
        .add(2, "textarea", "field=note; context=educational", "typed by a user")
        .add(2, "p", "visibility=hidden; content=x", "never seen")
        .add(1, "div", "section=billing; type=T; intent=i; context=financial", "")
        .add(2, "p", "content=iban", "DE00 1234")
        .add(2, "img", "media=card; @src=/card.png; @alt=1234", "")
        .add(2, "a", "link=invoice; @href=/invoice/77", "Invoice 77")
        .add(2, "input", "role=pay; action=pay; @type=text; @value=4111", "");
    let text = page.snapshot().0.to_json();
    for private in [
        "Jo Sailor",
        "typed by",
        "never seen",
        "DE00",
        "card.png",
        "1234",
        "Invoice 77",
        "invoice/77",
        "4111",
    ] {
        assert!(!text.contains(private), "{private} in {text}");
        assert!(!page.snapshot().0.narrative().contains(private), "{private}");
    }
    // The title of the page may repeat withheld text.
    let titled = Page::default().add(0, "h1", "heading=who; context=personal", "Join the harbour");
    assert_eq!(titled.json().get("title"), None);
    assert_eq!(page.json()["about"], "Public words");
    assert_eq!(page.json()["ai_context"], json!(["financial", "personal"]));
    assert!(!page.snapshot().0.needs_auth());
    assert_eq!(page.json()["sections"][0]["withheld"], json!(["iban", "card", "invoice", "label"]));
}

#[test] // ARC-027
fn annotation_mistakes_are_reported() {
    for (page, code) in [
        (Page::default().add(0, "p", "page=a", "").add(0, "p", "page=b", ""), "AR090"),
        (Page::default().add(0, "p", "group=a", ""), "AR091"),
        (Page::default().add(0, "p", "subgroup=a", ""), "AR091"),
        (Page::default().add(0, "p", "sektion=a", ""), "AR093"),
        (Page::default().add(0, "p", "block=", ""), "AR094"),
        (Page::default().add(0, "p", "field= ; context=none", ""), "AR094"),
        (Page::default().add(0, "p", "section=a; purpose=b", ""), "AR095"),
        (Page::default().add(0, "p", "section=a; type=b", ""), "AR096"),
        (Page::default().add(0, "input", "field=email", ""), "AR097"),
        (Page::default().add(0, "p", "block=a; link=nowhere", ""), "AR098"),
        (Page::default().add(0, "p", "content=a; context=personal", ""), "AR099"),
    ] {
        assert!(page.codes().contains(&code), "{code}: {:?}", page.codes());
    }
    let deep = (0..5).fold(Page::default(), |page, n| page.add(n, "div", "block=b", ""));
    assert_eq!(deep.codes(), ["AR092", "AR092"]);
    let group = Page::default().add(0, "p", "group=a", "").add(0, "p", "subgroup=b", "").json();
    assert_eq!(
        group["sections"],
        json!([{"name": "_", "groups": [{"name": "a"}, {"name": "_", "subgroups": [{"name": "b"}]}]}])
    );
}

#[test]
fn snapshot_of_hostile_page_is_bounded() {
    let text = "word ".repeat(2000);
    let nested =
        (0..300).fold(Page::default(), |page, n| page.add(n, "div", "block=b; content=c", &text));
    let (snapshot, _) = nested.snapshot();
    assert!(snapshot.to_json().len() < 2 << 20);
    assert!(rutter_page::nesting_depth(&snapshot.to_json()) < 100);
    assert_eq!(nested.json()["truncated"], true);
    let empty = AnnotatedPage::default();
    assert!(rutter_arc::snapshot::snapshot(&empty, &mut ()).is_none());
}

/// All names that the prose must contain.
fn names(value: &Value, out: &mut Vec<String>) {
    let push = |value: &Value, name: &str, out: &mut Vec<String>| {
        out.extend(value.get(name).and_then(Value::as_str).map(str::to_owned));
    };
    for list in ["sections", "groups", "subgroups", "blocks"] {
        for part in value.get(list).and_then(Value::as_array).into_iter().flatten() {
            push(part, "name", out);
            names(part, out);
        }
    }
    for field in value.get("fields").and_then(Value::as_array).into_iter().flatten() {
        for name in ["field", "label", "context", "behavior"] {
            push(field, name, out);
        }
    }
    for action in value.get("actions").and_then(Value::as_array).into_iter().flatten() {
        for name in ["role", "event", "action", "label", "intent"] {
            push(action, name, out);
        }
    }
}

proptest! {
    #[test] // E.1, narrative mode
    fn prose_names_every_part_field_and_action(
        elements in prop::collection::vec((0_usize..4, 0_usize..8, "[a-z]{3,9}", any::<bool>()), 1..25),
    ) {
        let mut page = Page::default();
        let mut depth = 0;
        for (wanted, kind, name, is_rich) in elements {
            depth = wanted.min(depth + 1).min(if page.elements.is_empty() { 0 } else { 9 });
            let more = if is_rich { "; intent=go; state=ready; context=none" } else { "" };
            let (element, attributes) = match kind {
                0 => ("section", format!("section={name}{more}")),
                1 => ("div", format!("group={name}{more}")),
                2 => ("div", format!("subgroup={name}{more}")),
                3 => ("div", format!("block={name}{more}")),
                4 => ("input", format!("field={name}; context=billing; behavior=b{name}")),
                5 => ("button", format!("role={name}; action=do_{name}{more}")),
                6 => ("a", format!("event=on{name}; link={name}; @href=/{name}")),
                _ => ("p", format!("summary={name}{more}")),
            };
            page = page.add(depth, element, &attributes, &format!("Text of {name}"));
        }
        let (snapshot, _) = page.snapshot();
        let prose = snapshot.narrative();
        let mut wanted = Vec::new();
        names(&page.json(), &mut wanted);
        for name in wanted {
            prop_assert!(prose.contains(&name), "{} not in {}", name, prose);
        }
        // The same page gives the same bytes, and they fit into an entry.
        prop_assert_eq!(snapshot.to_json(), page.snapshot().0.to_json());
        prop_assert!(snapshot.to_object().is_some());
    }
}

#[test]
fn prose_has_complete_sentences() {
    let page = Page::default()
        .add(0, "body", "page=signup; intent=register_user", "")
        .add(1, "h1", "heading=title", "Create Your Account")
        .add(1, "form", "section=registration; type=Form; purpose=onboarding", "")
        .add(2, "input", "field=email; context=personal; @type=email; @required=", "")
        .label("E-mail")
        .add(2, "button", "role=submit; action=create_account", "Join");
    assert_eq!(
        page.snapshot().0.narrative(),
        "This is the page signup, titled \"Create Your Account\". \
         Its address is https://harbour.example/join/signup.html. How to join. \
         Its topics are harbour and Tides. It deals with personal data. \
         It has the intent register_user.\n\n\
         The section registration. It has the type Form, the purpose onboarding. \
         It asks for email, \"E-mail\", which must be filled in, with the type email, \
         the context personal. \
         It offers the action \"Join\", with the role submit, the action create_account.\n"
    );
}

#[test] // ARC-010 E.3.1
fn prose_names_fields_that_are_written_as_texts() {
    let prose = |json: &str| {
        let raw = rutter_page::RawJson::parse(json).unwrap();
        rutter_arc::snapshot::narrative(&rutter_page::RawObject::new(raw).unwrap()).unwrap()
    };
    // The snapshot of E.3.1.
    let narrative_text = prose(
        r#"{ "page": "signup", "title": "Create Your Account", "sections": [
            { "name": "registration_form", "fields": ["email","password"], "intent": "register_user" } ] }"#,
    );
    assert_eq!(
        narrative_text,
        "This is the page signup, titled \"Create Your Account\".\n\n\
         The section registration_form. It has the intent register_user. \
         It asks for email. It asks for password.\n"
    );
    // Parts from other writers may be texts, single values, or named by another member.
    let narrative_text = prose(
        r#"{ "page": "p", "sections": ["intro", { "name": "form", "fields": { "name": "iban" },
            "actions": ["Send", { "name": "Reset" }], "links": "help", "media": ["clock"],
            "marks": ["table"] }], "blocks": "footer" }"#,
    );
    for name in ["intro", "form", "iban", "Send", "Reset", "help", "clock", "table", "footer"] {
        assert!(narrative_text.contains(name), "{name} not in {narrative_text}");
    }
}
