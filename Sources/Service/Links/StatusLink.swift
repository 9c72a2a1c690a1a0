package import StatusPage
package import System

/// A service's link to the status page.
package protocol StatusLink: AnyObject {
    /// Serves the page. A port that is in use is tried again; the log says so.
    ///
    /// - Throws: `Failure` where the page could never be served with these settings.
    func open(_ settings: StatusServerSettings, source: any PageSource) throws(Failure)
    /// Something changed that the status page shows at once.
    func changed()
    func close()
}
