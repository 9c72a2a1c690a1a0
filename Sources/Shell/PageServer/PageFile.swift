/// One file of a page.
package struct PageFile: Sendable {
    /// `/page.css`; `/` is the page itself.
    package var path: String
    /// The value of the header `Content-Type`.
    package var type: String
    package var content: [UInt8]

    package init(path: String, type: String, content: [UInt8]) {
        self.path = path
        self.type = type
        self.content = content
    }
}

extension PageFile {
    /// The files that all pages share: the style, the functions for drawing and sending, the dialog that adds a gateway, and the icon. `page.html`
    /// loads them by these paths.
    package static var shared: [PageFile] {
        [
            PageFile(path: "/base.js", type: "text/javascript; charset=utf-8", content: PackageResources.base_js),
            PageFile(path: "/card.js", type: "text/javascript; charset=utf-8", content: PackageResources.card_js),
            PageFile(path: "/page.css", type: "text/css; charset=utf-8", content: PackageResources.page_css),
            PageFile(path: "/icon.svg", type: "image/svg+xml", content: PackageResources.icon_svg),
        ]
    }
}
