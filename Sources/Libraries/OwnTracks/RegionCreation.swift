package import JSON
package import Regions

/// When a region was created (`wtst`), in contrast to when its description last changed (`tst`).
///
/// The member is kept among the extension members, where a `wtst` that came with a waypoint has always been. A region
/// whose creation is its `tst` has none.
extension Region {
    static let creationMember = "wtst"

    /// Epoch seconds: the value of `wtst` in a transition.
    package var creationTimestamp: Int64 { storedCreation ?? timestamp }

    /// The region with this time of creation, epoch seconds.
    package func created(at timestamp: Int64) -> Region {
        var region = self
        var members = extensionObject
        members[Self.creationMember] = timestamp == self.timestamp ? nil : .integer(timestamp)
        region.extensionMembers = members.isEmpty ? "" : JSONValue.object(members).text
        return region
    }

    /// Whether the waypoint had no time of creation or change: `tst` was missing, null or 0.
    package var hasNoTimestamp: Bool { timestamp == 0 }

    /// The result of a change of `old`, the region with the same `rid`.
    ///
    /// - A missing `tst` is that of `old`, or `now` for a new region.
    /// - The time of creation stays that of `old`, unless the change brings one.
    /// - A change without a difference leaves the region and its `tst` unchanged, as in the iOS app.
    ///
    /// - Parameter now: Epoch seconds; nil while the clock is not known.
    package func succeeding(_ old: Region?, now: Int64?) -> Region {
        var region = self
        if region.hasNoTimestamp { region.timestamp = old?.timestamp ?? now ?? 0 }
        guard let old else { return region }
        if region.storedCreation == nil { region = region.created(at: old.creationTimestamp) }
        var same = old
        same.timestamp = region.timestamp
        return same.created(at: old.creationTimestamp) == region ? old : region
    }

    /// This region's waypoint after a person changed some members. The others stay, such as the position, the time
    /// stamps and members that the gateway does not use.
    ///
    /// - Parameter changes: Members of a waypoint; null removes one. `tst` and `rid` are not changed.
    package func waypoint(changing changes: [String: JSONValue], base: NumberBase) -> JSONValue {
        var members = waypoint(base: base).object ?? [:]
        for (name, value) in changes where !["_type", "tst", "rid"].contains(name) {
            members[name] = value == .null ? nil : value
        }
        return .object(members)
    }

    private var storedCreation: Int64? {
        guard !extensionMembers.isEmpty else { return nil }
        return extensionObject[Self.creationMember]?.asNumber.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    }
}
