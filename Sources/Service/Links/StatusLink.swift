package import StatusPage
package import System

/// A service's link to those who watch it in a browser.
package protocol StatusLink: AnyObject {
    /// Serves the page. A port that is in use is tried again; the log says so.
    ///
    /// - Throws: `Failure` where the page could never be served with these settings.
    func open(_ settings: StatusServerSettings, source: any StatusSource) throws(Failure)
    /// Something changed that a person who watches should see at once.
    func changed()
    func close()
}
