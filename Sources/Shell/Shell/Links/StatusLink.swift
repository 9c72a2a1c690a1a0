package import PageServer
package import System

/// A service's link to the status page.
package protocol StatusLink: AnyObject {
    /// Serves the page at one more entrance. If the port or socket is in use, the link logs it and tries again.
    ///
    /// - Throws: `Failure` if the page can never be served with these settings.
    func open(_ settings: StatusServerSettings, source: any PageSource) throws(Failure)
    /// Why the page is not served although it is wanted, and what to do; nil: nothing is in its way.
    var pageProblem: (text: String, remedy: String)? { get }
    /// Something changed that the status page shows at once.
    func changed()
    func close()
}
