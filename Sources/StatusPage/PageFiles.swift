/// The page's own files, made into answers once.
struct PageFiles {
    private let responses: [String: HTTPResponse]

    /// - Returns: nil if memory is short.
    init?() {
        guard
            let html = HTTPResponse(status: 200, type: "text/html; charset=utf-8", body: PackageResources.page_html),
            let style = HTTPResponse(status: 200, type: "text/css; charset=utf-8", body: PackageResources.page_css),
            let script = HTTPResponse(
                status: 200, type: "text/javascript; charset=utf-8", body: PackageResources.page_js),
            let icon = HTTPResponse(status: 200, type: "image/svg+xml", body: PackageResources.icon_svg)
        else { return nil }
        responses = ["/": html, "/page.css": style, "/page.js": script, "/icon.svg": icon]
    }

    subscript(path: String) -> HTTPResponse? { responses[path] }
}
