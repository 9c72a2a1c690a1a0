import RoomsApp

/// The ids that ESPresense's settings give to beacons.
struct NodeNames {
    /// By the names of the tags.
    private let ofTags: [String: String]
    /// Ids of several beacons. What is heard of such an id belongs to none of them.
    private let shared: Set<String>

    /// - Parameter all: Those of all beacons, even a neighbour's.
    init(ofTags: [String: String], all: some Sequence<String>) {
        self.ofTags = ofTags
        var (seen, shared): (Set<String>, Set<String>) = ([], [])
        for alias in all where !seen.insert(alias).inserted { shared.insert(alias) }
        self.shared = shared
    }

    /// Sentences for users.
    ///
    /// - Parameter unread: What arrives and counts for nothing. An id of several beacons is told with its own reason.
    func remarks(_ unread: UnreadMessages) -> [String] {
        var others = unread
        others.unknownIDs.removeAll { shared.contains($0) }
        let shown = ofTags.sorted { $0.key < $1.key }
        let calls = shown.filter { !shared.contains($0.value) }.map { "ESPresense nodes call \($0.key) '\($0.value)'" }
        return calls + shared.sorted().compactMap { confusion($0, shown.map { ($0.key, $0.value) }) } + others.remarks
    }

    private func confusion(_ alias: String, _ shown: [(tag: String, alias: String)]) -> String? {
        let tags = shown.filter { $0.alias == alias }.map(\.tag)
        guard !tags.isEmpty else { return nil }
        return
            "ESPresense's settings call several beacons '\(alias)', among them \(GatewayAdvice.list(tags)): what nodes hear of "
            + "this id counts for nothing, until each beacon has an id of its own there"
    }
}
