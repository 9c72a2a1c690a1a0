package import JSON

/// Provides the content of a page and handles its requests. All calls are made on the loop's thread.
///
/// The server does not know the subject of a page: it authorizes the client, limits the cost of answers, and passes
/// requests on.
package protocol PageSource: AnyObject {
    /// The page's own files, read once. They contain no secret, because a browser loads them before it has the token.
    var pageFiles: [PageFile] { get }
    /// `/status.json`, and the data of each live event. Each of the two is requested at most four times a second,
    /// regardless of the number of clients.
    func pageState() -> JSONValue
    /// `/metrics` in Prometheus' text format. Requested at most four times a second.
    func pageMetrics(_ clients: ClientCounters) -> String
    /// Answers a reading request; nil if the path does not exist.
    func read(_ request: PageRequest) -> PageAnswer?
    /// Executes a request of a client with the token; nil if the path does not exist.
    ///
    /// - Parameter body: A JSON object of at most 64 KiB.
    func change(_ path: String, _ body: JSONValue) -> PageAnswer?
}

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

/// A reading request.
package struct PageRequest {
    package let path: String
    /// The value after `?name=`; nil if there is none.
    package let argument: (_ name: String) -> String?

    package init(path: String, argument: @escaping (_ name: String) -> String?) {
        self.path = path
        self.argument = argument
    }
}

package enum PageAnswer: Hashable, Sendable {
    case json(JSONValue)
    /// The request was executed. The answer has no content.
    case done
    /// The reason, for the user. `status` is an HTTP status of 400 or more.
    case refused(status: UInt32, String)
}

extension PageFile {
    /// The files that all pages share: the style, the functions for drawing and sending, and the icon. `page.html`
    /// loads them by these paths.
    package static var shared: [PageFile] {
        [
            PageFile(path: "/base.js", type: "text/javascript; charset=utf-8", content: PackageResources.base_js),
            PageFile(path: "/page.css", type: "text/css; charset=utf-8", content: PackageResources.page_css),
            PageFile(path: "/icon.svg", type: "image/svg+xml", content: PackageResources.icon_svg),
        ]
    }
}
