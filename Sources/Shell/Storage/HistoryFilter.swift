/// Which transitions a reader wants.
package struct HistoryFilter: Hashable, Sendable {
    package var tracker: String?
    /// A `rid` or a name.
    package var region: String?
    /// Epoch seconds, included.
    package var since: Int64?
    /// Epoch seconds, not included.
    package var until: Int64?
    /// At most this many, the newest of them. The store bounds them itself: see `StoreSettings.historyLimit`.
    package var limit: Int

    package init(
        tracker: String? = nil, region: String? = nil, since: Int64? = nil, until: Int64? = nil, limit: Int = .max
    ) {
        self.tracker = tracker
        self.region = region
        self.since = since
        self.until = until
        self.limit = limit
    }
}
