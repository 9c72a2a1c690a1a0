/// How a user names an adapter.
package enum AdapterName: Hashable, Sendable {
    /// `hciN`
    case index(UInt16)
    case address(UInt64)
}
