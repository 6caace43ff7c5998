//! Detects login pages (D85): a password field in the main content with little text beside its
//! form.
//!
//! Input: the tree and the survey. Output: whether the page exists to ask for a password. Ignores
//! forms in headers, navigation, side bars and dialogs, and forms beside some text on a page whose
//! title and headings do not name a login.

use html5ever::local_name;

use crate::dom::Dom;
use crate::survey::PageSurvey;
use crate::tag::Tag;

/// Maximum number of characters beside the form of a login page: [`MOST_BESIDE`] if the title or a
/// heading names a login, [`FEW_BESIDE`] if not.
const MOST_BESIDE: u32 = 400;
const FEW_BESIDE: u32 = 150;

/// Parts of words with which titles and headings name a login.
const LOGIN_WORDS: [&str; 20] = [
    "sign in",
    "sign-in",
    "signin",
    "log in",
    "log-in",
    "login",
    "log on",
    "logon",
    "password",
    "passwort",
    "anmeld",
    "einlog",
    "connexion",
    "connect",
    "identifi",
    "iniciar",
    "acceder",
    "accedi",
    "entrar",
    "member",
];

/// Maximum number of password fields that are checked.
const MOST_FIELDS: usize = 16;

/// Parts of the classes, ids and roles of elements around the content of a page.
const AROUND: [&str; 19] = [
    "header",
    "masthead",
    "topbar",
    "top-bar",
    "nav",
    "menu",
    "toolbar",
    "banner",
    "sidebar",
    "side-bar",
    "aside",
    "complementary",
    "widget",
    "footer",
    "contentinfo",
    "modal",
    "dialog",
    "popup",
    "dropdown",
];

/// Returns whether the page exists to ask for a password.
pub(crate) fn is_login(dom: &Dom, survey: &PageSurvey) -> bool {
    let Some(body) = dom.body else { return false };
    let mut fields =
        dom.subtree(body).filter(|at| is_password(dom, *at)).take(MOST_FIELDS).peekable();
    if fields.peek().is_none() {
        return false;
    }
    let main = dom.subtree(body).find(|at| is_main(dom, *at));
    // Without a main element, all text counts except the text of headers, menus and similar
    // elements.
    let around = if main.is_some() { 0 } else { n_around(dom, survey, body) };
    let all = survey.sum(dom, main.unwrap_or(body)).chars;
    let most = if names_login(dom) { MOST_BESIDE } else { FEW_BESIDE };
    fields.any(|field| {
        // Elements around the main element do not affect fields inside it.
        let mut inside_main = dom.ancestors(field).skip(1).take_while(|up| Some(*up) != main);
        let is_around = inside_main.any(|up| is_around(dom, up));
        let is_outside = main.is_some_and(|main| !dom.subtree(main).contains(&field));
        let form = dom.ancestors(field).find(|up| dom.item(*up).tag == Tag::Form);
        let inside = form.map_or(0, |form| survey.sum(dom, form).chars);
        let beside = all.saturating_sub(inside).saturating_sub(around);
        !is_around && !is_outside && beside <= most
    })
}

/// Returns whether the title or a heading of the page names a login.
fn names_login(dom: &Dom) -> bool {
    let is_name = |at: &u32| {
        let tag = dom.item(*at).tag;
        tag == Tag::Title || tag.heading().is_some()
    };
    (0..dom.len()).filter(is_name).take(16).any(|at| {
        let words = dom.words(at).to_lowercase();
        LOGIN_WORDS.iter().any(|word| words.contains(word))
    })
}

fn is_password(dom: &Dom, at: u32) -> bool {
    dom.item(at).tag == Tag::Input
        && dom
            .attr(at, &local_name!("type"))
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("password"))
}

fn is_main(dom: &Dom, at: u32) -> bool {
    dom.item(at).tag == Tag::Main
        || dom.attribute(at, "role").is_some_and(|role| role.eq_ignore_ascii_case("main"))
}

/// Returns whether an element surrounds the content of a page, by its tag, class, id or role.
fn is_around(dom: &Dom, at: u32) -> bool {
    match dom.item(at).tag {
        Tag::Header | Tag::Nav | Tag::Footer | Tag::Aside | Tag::Dialog | Tag::Template => true,
        Tag::Html | Tag::Body | Tag::Main => false,
        _ => {
            let said = ["class", "id", "role"].into_iter().filter_map(|it| dom.attribute(at, it));
            said.map(str::to_ascii_lowercase).any(|said| said.split_whitespace().any(names_around))
        }
    }
}

/// Returns whether a class, id or role says that its element surrounds the content. A part counts
/// if a word of the name begins or ends with it: `site-header`, `navbar` and `mainmenu` match,
/// `unavailable` does not. Names such as `has-sidebar` describe the content of an element and do
/// not match.
fn names_around(name: &str) -> bool {
    let first = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    if matches!(first, "has" | "no" | "with" | "without" | "is") && first.len() < name.len() {
        return false;
    }
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    AROUND.iter().any(|part| {
        name.match_indices(part).any(|(at, _)| {
            let begins = is_end(name.get(..at).and_then(|before| before.chars().next_back()));
            let ends = is_end(name.get(at + part.len()..).and_then(|rest| rest.chars().next()));
            begins || (ends && *part != "nav")
        })
    })
}

/// Returns the number of characters in the outermost elements that surround the content.
fn n_around(dom: &Dom, survey: &PageSurvey, body: u32) -> u32 {
    let mut n: u32 = 0;
    let mut at = body + 1;
    while at < dom.item(body).end {
        if dom.item(at).tag != Tag::Text && is_around(dom, at) {
            n = n.saturating_add(survey.sum(dom, at).chars);
            at = dom.item(at).end;
        } else {
            at += 1;
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn is_login_page(html: &str) -> bool {
        let dom = Dom::parse(html, &Limits::USUAL);
        is_login(&dom, &PageSurvey::of(&dom))
    }

    #[test] // D85
    fn tells_a_login_page_from_a_page_with_a_login_box() {
        let form = "<form><label>Password <input type=\"password\"></label></form>";
        let text = "The water rises twice a day. ".repeat(30);
        for (is_login, page) in [
            (true, format!("<body><h1>Sign in</h1>{form}")),
            (true, format!("<body><header>{text}</header><main><h1>Sign in</h1>{form}</main>")),
            (true, format!("<body><nav>{text}</nav><div><h1>Members</h1>{form}</div>")),
            (true, format!("<div class=\"layout has-sidebar\"><h1>Members</h1>{form}</div>")),
            (true, format!("<div class=\"page with-menu\"><main>{form}</main></div>")),
            (true, format!("<div id=\"header-wrap\"><main><h1>Members</h1>{form}</main></div>")),
            (true, format!("<div class=\"unavailable\"><h1>Members</h1>{form}</div>")),
            (false, format!("<div class=\"leftsidebar\">{form}</div><p>Open daily.</p>")),
            (false, format!("<div class=\"navbar\">{form}</div><p>Open daily.</p>")),
            (true, "<h1>Log in</h1><INPUT TYPE=Password>".to_owned()),
            (false, format!("<body><div id=top>{form}</div><h1>Tides</h1><p>{}", &text[..250])),
            (true, format!("<body><div id=top>{form}</div><h1>Log in</h1><p>{}", &text[..250])),
            (true, format!("<title>Member area</title><p>{}</p>{form}", &text[..250])),
            (false, format!("<body><header>{form}</header><main><p>Open daily.</p></main>")),
            (false, format!("<body><div id=\"site-header\">{form}</div><p>Open daily.</p>")),
            (false, format!("<body><div class=\"login-modal\">{form}</div><p>Open daily.</p>")),
            (false, format!("<body>{form}<main><p>Open daily.</p></main>")),
            (false, format!("<body><main><p>{text}</p>{form}</main>")),
            (false, format!("<body><aside>{form}</aside><p>{text}</p>")),
            (false, "<main><p>Write <code>&lt;input type=\"password\"></code>.</main>".to_owned()),
        ] {
            assert_eq!(is_login_page(&page), is_login, "{page}");
        }
    }
}
