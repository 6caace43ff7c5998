//! Requests to a served folder; the case is a path or the value of a field.

use std::hint::black_box;
use std::sync::OnceLock;

use http::Request;
use rutter_serve::{PeerAddress, Site, SiteSettings};
use tokio::runtime::Runtime;
use tower_service::Service;

/// A folder with two files, and the runtime of the server.
fn site() -> &'static (Site, Runtime) {
    static SITE: OnceLock<(Site, Runtime)> = OnceLock::new();
    SITE.get_or_init(|| {
        let folder = std::env::temp_dir().join("rutter-growth-site");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.html"), "<p>page").unwrap();
        std::fs::write(folder.join("b.bin"), [0; 4096]).unwrap();
        let settings = SiteSettings { rate: None, ..SiteSettings::new(folder) };
        let site = Site::open(settings, Vec::new()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        (site, runtime)
    })
}

/// Requests a target with one field; the first line names the field, or is
/// empty for a case that is the target itself.
pub(crate) fn request(bytes: &[u8]) {
    let (name, value) = std::str::from_utf8(bytes).unwrap().split_once('\n').unwrap();
    let target = if name.is_empty() { value } else { "/b.bin" };
    let mut request = Request::builder().uri(target).header("host", "a");
    if !name.is_empty() {
        request = request.header(name, value);
    }
    // `http` itself rejects some values.
    let Ok(request) = request.extension(PeerAddress([192, 0, 2, 1].into())).body(()) else {
        return;
    };
    let (site, runtime) = site();
    let mut site = site.clone();
    let Ok(response) = runtime.block_on(site.call(request));
    black_box(response.status());
}
