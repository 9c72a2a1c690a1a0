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
