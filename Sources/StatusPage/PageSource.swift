package import JSON

/// What a page shows, and where its wishes go. All calls come on the loop's thread.
///
/// The server knows nothing of the subject of a page: it checks who asks, bounds what the answer costs, and passes on.
package protocol PageSource: AnyObject {
    /// The page's own files, asked for once. They hold no secret: a browser loads them before it has the token.
    var pageFiles: [PageFile] { get }
    /// `/status.json`, and the data of each live event. Asked for at most four times a second for each of the two, however
    /// many clients there are.
    func pageState() -> JSONValue
    /// `/metrics` in Prometheus' text format. Asked for at most four times a second.
    func pageMetrics(_ clients: ClientCounters) -> String
    /// Answers a request that reads; nil: there is nothing at this path.
    func read(_ request: PageRequest) -> PageAnswer?
    /// Carries out what a client with the token asked for; nil: there is nothing at this path.
    ///
    /// - Parameter body: A JSON object of at most 64 KiB.
    func change(_ path: String, _ body: JSONValue) -> PageAnswer?
}

/// One file of a page.
package struct PageFile: Sendable {
    /// `/page.css`; `/` is the page itself.
    package var path: String
    /// As in the header `Content-Type`.
    package var type: String
    package var content: [UInt8]

    package init(path: String, type: String, content: [UInt8]) {
        self.path = path
        self.type = type
        self.content = content
    }
}

/// A request that reads.
package struct PageRequest {
    package let path: String
    /// The value behind `?name=`; nil: there is none.
    package let argument: (_ name: String) -> String?

    package init(path: String, argument: @escaping (_ name: String) -> String?) {
        self.path = path
        self.argument = argument
    }
}

package enum PageAnswer: Hashable, Sendable {
    case json(JSONValue)
    /// What was asked for is done, and there is nothing to show.
    case done
    /// The reason, for the person who asked. `status` is an HTTP status from 400 on.
    case refused(status: UInt32, String)
}

extension PageFile {
    /// What all pages share: the style, the functions that draw and send, and the icon. `page.html` loads them by these paths.
    package static var shared: [PageFile] {
        [
            PageFile(path: "/base.js", type: "text/javascript; charset=utf-8", content: PackageResources.base_js),
            PageFile(path: "/page.css", type: "text/css; charset=utf-8", content: PackageResources.page_css),
            PageFile(path: "/icon.svg", type: "image/svg+xml", content: PackageResources.icon_svg),
        ]
    }
}
