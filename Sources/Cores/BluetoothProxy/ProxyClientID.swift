/// One connection of a client, in either direction. No two connections of a run have the same.
package struct ProxyClientID: Hashable, Sendable {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }
}
